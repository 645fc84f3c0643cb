/* SPDX-License-Identifier: MIT */
#include "match/plan.h"

#include <math.h>
#include <string.h>

#include "fft/f32.h"
#include "lcc/cpu/f32_patch.h"
#include "lcc/planes.h"
#include "cuda/schedule.h"
#include "match/costs.h"

/* Below this, looking for a tiling takes as long as the match. */
#define TRIVIAL_MS 0.1

/* For rows of a map that are taken to be so wide. */
static double direct_ns(const tm_direct_costs *costs, const tm_geometry *g, double width,
                        int64_t rows)
{
    return width * (double)rows *
           (costs->window + (double)g->template_height *
                                (costs->row + (double)g->template_width * costs->tap));
}

/* The direct algorithm's tiles are at most 512 wide and whole blocks of 64. */
static double blocks_width(const tm_geometry *g)
{
    int64_t across = (g->map_width + 511) / 512;
    return (double)(across * (((g->map_width + across - 1) / across + 63) / 64 * 64));
}

static tm_direct_costs costs_of(const tm_direct_costs *costs, const char *kernels)
{
    while (costs->kernels && strcmp(costs->kernels, kernels) != 0)
        costs++;
    return *costs;
}

static tm_direct_costs cpu_f32_costs(const char *kernels, const tm_job *job)
{
    const tm_metric metric = job->metric;
    const int sums = tm_needs_s_f(metric) ? 2
                     : metric == TM_METRIC_CCORR_NORMED || metric == TM_METRIC_SQDIFF_NORMED;
    const int channels = job->tmpl->channels;
    tm_direct_costs costs = costs_of(tm_cpu_f32_costs, kernels);

    costs.window = channels * (costs.window + sums * TM_CPU_F32_SUM_NS);
    costs.row = channels * (costs.row + sums * TM_CPU_F32_SUM_ROW_NS);
    costs.tap *= channels * (job->tmpl->mask ? 1 + sums : 1);
    return costs;
}

/* Jobs that the direct algorithm gives to one thread end within TRIVIAL_MS. */
static double cpu_direct_ms(const tm_site *site, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_direct_costs costs = tm_job_is_f32(job) ? cpu_f32_costs(site->kernels, job)
                                                     : costs_of(tm_cpu_direct_costs, site->kernels);
    double ms = direct_ns(&costs, g, blocks_width(g), g->map_height) * 1e-6;
    return ms < TRIVIAL_MS ? ms : ms / site->threads;
}

static double cuda_scale(const tm_site *site)
{
    return (double)TM_CUDA_FITTED_MULTIPROCESSORS / site->cuda.multiprocessors;
}

/* What a multiprocessor makes on the tensor cores: tiles of 256 x 16, in rounds of one
 * block a multiprocessor, or two where there are so many tiles and shared memory
 * allows. */
typedef struct tensor_load {
    double windows;
    int64_t blocks;
} tensor_load;

static tensor_load tensor_load_of(const tm_geometry *g, int64_t rows, int multiprocessors)
{
    int64_t w = g->template_width, h = g->template_height;
    int64_t tiles = (g->map_width + 255) / 256 * ((rows + 15) / 16);
    int64_t sums = (256 + w + 2) / 4;
    int64_t bytes = 16 * (16 * (2 * sums + 1) + 2 * sums) + (h + 15) * (256 + (w + 22) / 16 * 16);
    int64_t blocks = bytes < 112 * 1024 && tiles > multiprocessors ? 2 : 1;
    int64_t slots = blocks * multiprocessors;
    return (tensor_load){(double)((tiles + slots - 1) / slots * blocks * 256 * 16), blocks};
}

static double cuda_f32_ms(const tm_site *site, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    return direct_ns(&tm_cuda_f32_costs, g, (double)g->map_width, rows) * 1e-6 *
               job->tmpl->channels * cuda_scale(site) *
               (site->cuda.fast_double ? 1 : TM_CUDA_SLOW_DOUBLE) +
           TM_CUDA_TENSOR_CALL_NS * 1e-6;
}

/* The job's correlations of planes, each of which costs so much of one of 8-bit gray. */
static double cuda_terms(const tm_job *job, double cost)
{
    tm_plane_products products;

    if (tm_job_is_plain(job) || tm_job_is_f32(job))
        return 1;
    tm_plane_products_make(&products, job, tm_mask_plane(job->tmpl));
    return products.count * cost;
}

/* One correlation of 8-bit gray, for rows of the map; or what makes all of floats. */
static double cuda_launch_ms(const tm_site *site, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    double h = (double)g->template_height;

    if (tm_job_is_f32(job))
        return cuda_f32_ms(site, job, rows);
    if (!site->cuda.tensor_cores || job->tmpl->n > TM_TENSOR_TAPS)
        return direct_ns(&tm_cuda_direct_costs, g, (double)g->map_width, rows) * 1e-6 *
                   cuda_scale(site) +
               TM_CUDA_TENSOR_CALL_NS * 1e-6;
    const tensor_load load = tensor_load_of(g, rows, site->cuda.multiprocessors);
    const double step = load.blocks > 1 ? TM_CUDA_TENSOR_STEP_NS : TM_CUDA_TENSOR_LONE_STEP_NS;
    double window = TM_CUDA_TENSOR_WINDOW_NS +
                    h * (TM_CUDA_TENSOR_ROW_NS + (double)((g->template_width + 22) / 16) * step);
    return (load.windows * window + TM_CUDA_TENSOR_CALL_NS) * 1e-6;
}

static tm_chunks cuda_chunks(const tm_site *site, const tm_job *job)
{
    return tm_chunks_make(job, site->map != TM_TRANSFER_NONE,
                          site->chunks ? site->cuda.chunk_bytes : 0);
}

/* How long a row of the frame and of the map take to cross the bus. */
typedef struct cuda_rows {
    double in_ms, out_ms;
} cuda_rows;

static cuda_rows cuda_rows_of(const tm_site *site, const tm_chunks *chunks)
{
    return (cuda_rows){(double)chunks->frame_row_bytes * tm_cuda_in_ns[site->frame] * 1e-6,
                       (double)chunks->map_row_bytes * tm_cuda_out_ns[site->map] * 1e-6};
}

static double cuda_together(const tm_site *site)
{
    return site->together ? (double)site->together : 1;
}

/* A template's share of the copies, by themselves. */
static double cuda_copies_ms(const tm_site *site, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_chunks chunks = cuda_chunks(site, job);
    const cuda_rows r = cuda_rows_of(site, &chunks);
    return ((double)g->frame_height * r.in_ms + (double)g->map_height * r.out_ms) /
           cuda_together(site);
}

/* A template's share of the call: each chunk is launched when its rows are there and
 * the chunk before is done, and comes back when it is done itself. */
static double cuda_direct_ms(const tm_site *site, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_chunks chunks = cuda_chunks(site, job);
    const cuda_rows r = cuda_rows_of(site, &chunks);
    const double together = cuda_together(site),
                 launches = together * cuda_terms(job, TM_CUDA_DIRECT_PRODUCT);
    double launched = 0, back = 0, rests = 0;

    for (int64_t first = 0, end; first < g->map_height; first = end) {
        end = tm_chunks_end(&chunks, first);
        const double there = (double)tm_chunks_needed(&chunks, end) * r.in_ms + rests;
        launched = fmax(launched, there) + launches * cuda_launch_ms(site, job, end - first);
        back = fmax(back, launched) + (double)(end - first) * r.out_ms;
        if (site->frame != TM_TRANSFER_NONE)
            rests += TM_CUDA_CHUNK_COPY_NS * 1e-6;
        if (end < g->map_height)
            launched += TM_CUDA_CHUNK_LAUNCH_NS * 1e-6;
    }
    return back / together;
}

#if TM_HAVE_FFTW
/* What the FFT holds in memory: tiles of each thread, spectra of all, and bytes of
 * each thread besides. */
typedef struct held_memory {
    int tiles, spectra;
    int64_t patch;
} held_memory;

/* What transforms of floats cost, whose lengths go to memory. */
static tm_fft_costs f32_costs(const tm_job *job, tm_fft_length *lengths, held_memory *held)
{
    tm_fft_costs costs = tm_cpu_fft_costs;
    tm_fft_f32 f32;

    tm_fft_f32_make(&f32, job);
    held->tiles = tm_fft_f32_tiles(&f32);
    held->spectra = tm_fft_f32_spectra(&f32);
    const tm_f32_patch patch = tm_f32_patch_of(job, NULL, TM_FFT_PATCH, 1);
    held->patch = tm_f32_patch_samples(&patch) * (int64_t)sizeof(double);
    for (int i = 0; i < costs.count; i++)
        lengths[i] = (tm_fft_length){costs.lengths[i].length,
                                     costs.lengths[i].ns / 2 * tm_fft_f32_transforms(&f32)};
    costs.lengths = lengths;
    costs.window_ns = TM_CPU_F32_WINDOW_NS + TM_CPU_F32_SLIDE_NS * f32.slides;
    costs.max_points /= held->tiles;
    return costs;
}
#endif

static const char *plan_cpu_fft(tm_plan *plan, const tm_site *site, const tm_job *job)
{
#if TM_HAVE_FFTW
    const tm_geometry *g = &job->geometry;
    tm_fft_costs costs = tm_cpu_fft_costs;
    tm_fft_length lengths[sizeof tm_cpu_fft_lengths / sizeof *tm_cpu_fft_lengths];
    held_memory held = {1, 1, 0};
    if (tm_job_is_f32(job))
        costs = f32_costs(job, lengths, &held);
    double memory_ns = TM_CPU_FFT_MEMORY_NS * (site->threads * held.tiles + held.spectra);

    costs.memory_ns = memory_ns / TM_CPU_FFT_FRAMES;
    if (site->fft_bytes) { /* tiles for each thread and the template's, with their margins */
        const int64_t points = (site->fft_bytes - site->threads * held.patch) /
                               (16 * (site->threads * held.tiles + held.spectra + 1));
        costs.max_points = points < costs.max_points ? points : costs.max_points;
    }
    /* a column's sums are kept in 32 bits */
    if (g->template_height > 65536 || !tm_fft_tile_map(&plan->tiling, g, &costs, site->threads))
        return site->fft_bytes ? "transforms as long as the template do not fit in the memory limit"
                               : "the template is too long for a transform";
    double points = (double)plan->tiling.length_x * plan->tiling.length_y;
    double start_ms = (TM_CPU_FFT_START_NS + points * memory_ns) * 1e-6;
    plan->fft_ms = plan->tiling.ms + (TM_CPU_FFT_CALL_NS - points * costs.memory_ns) * 1e-6;
    /* Started once it would have paid for the start: at most twice the better
     * choice is spent, however many frames come. */
    if (!site->started && site->missed_ms < start_ms) {
        if (plan->fft_ms < plan->direct_ms)
            plan->missed_ms = plan->direct_ms - plan->fft_ms;
        plan->fft_ms += start_ms - site->missed_ms;
    }
    return NULL;
#else
    (void)plan, (void)site, (void)job;
    return "this build has no FFT for the CPU";
#endif
}

/* The template that is transformed, or the plane of it with the greatest norm. */
static const tm_template *greatest_plane(const tm_template *t)
{
    const tm_template *greatest = t->planes ? t->planes[0] : t;
    for (int i = 1; i < t->plane_count; i++) {
        if (t->planes[i]->sum_sq > greatest->sum_sq)
            greatest = t->planes[i];
    }
    return greatest;
}

static const char *plan_cuda_fft(tm_plan *plan, const tm_site *site, const tm_job *job,
                                 bool by_cufft)
{
    const tm_geometry *g = &job->geometry;
    double h = (double)g->template_height, windows = (double)g->map_width * (double)g->map_height;
    tm_fft_costs costs = by_cufft ? tm_cufft_costs : tm_cuda_fft_costs;

    if (tm_job_is_f32(job) && job->tmpl->mask)
        return "on a GPU floats are matched directly under a template's mask";
    while (!by_cufft && costs.count && costs.lengths[costs.count - 1].length > site->cuda.longest_fft)
        costs.count--;
    if (g->template_width > site->cuda.widest_fft || !tm_fft_tile_map(&plan->tiling, g, &costs, 1))
        return "the template is too long for the device's transforms";
    plan->tiling.by_cufft = by_cufft;
    double sums_ms = windows * h * TM_CUDA_WINDOW_ROW_NS * 1e-6;
    if (tm_job_is_f32(job)) {
        plan->tiling.ms *= job->tmpl->channels;
        sums_ms = windows * job->tmpl->channels * 1e-6 *
                  (TM_CUDA_F32_SUMS_NS + (double)job->tmpl->n * TM_CUDA_F32_SUMS_TAP_NS);
    }
    plan->fft_ms =
        (plan->tiling.ms * (site->cuda.fast_double ? 1 : TM_CUDA_SLOW_DOUBLE) + sums_ms) *
            cuda_scale(site) * cuda_terms(job, TM_CUDA_FFT_PRODUCT) +
        (TM_CUDA_FFT_CALL_NS + h * TM_CUDA_FFT_SERIAL_NS) * 1e-6 + cuda_copies_ms(site, job);
    return NULL;
}

static const char *plan_fft(tm_plan *plan, const tm_site *site, const tm_job *job, bool by_cufft)
{
    const char *fault = site->device == TM_DEVICE_CUDA
                            ? plan_cuda_fft(plan, site, job, by_cufft)
                            : plan_cpu_fft(plan, site, job);
    if (!fault && !tm_job_is_f32(job) &&
        tm_fft_error_bound(&plan->tiling, greatest_plane(job->tmpl)) >= TM_FFT_MAX_ERROR)
        fault = "rounding to the exact sums cannot be guaranteed at this size";
    if (fault)
        plan->fft_ms = INFINITY;
    return fault;
}

/* Whether the direct algorithm is done before FFT could be. */
static bool is_trivial(const tm_plan *plan, const tm_site *site, const tm_job *job)
{
    if (site->device != TM_DEVICE_CUDA)
        return plan->direct_ms < TRIVIAL_MS;
    return plan->direct_ms - cuda_copies_ms(site, job) < TM_CUDA_FFT_CALL_NS * 1e-6;
}

void tm_plan_make(tm_plan *plan, const tm_site *site, const tm_job *job, tm_algorithm wanted)
{
    *plan = (tm_plan){.algorithm = TM_ALGORITHM_DIRECT, .fft_ms = INFINITY};
    plan->direct_ms = site->device == TM_DEVICE_CUDA ? cuda_direct_ms(site, job)
                                                     : cpu_direct_ms(site, job);
    const bool by_fft = wanted == TM_ALGORITHM_FFT || wanted == TM_ALGORITHM_CUFFT;
    if (by_fft || !is_trivial(plan, site, job))
        plan->fault = plan_fft(plan, site, job, wanted == TM_ALGORITHM_CUFFT);
    if (by_fft ||
        (wanted == TM_ALGORITHM_AUTO && plan->fft_ms < plan->direct_ms))
        plan->algorithm = TM_ALGORITHM_FFT;
    plan->ms = plan->algorithm == TM_ALGORITHM_FFT ? plan->fft_ms : plan->direct_ms;
}

double tm_plan_cuda_start_ms(void)
{
    return TM_CUDA_START_MS;
}
