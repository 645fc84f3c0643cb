/* SPDX-License-Identifier: MIT */
#include "match/plan.h"

#include <math.h>
#include <string.h>

#include "match/costs.h"

/* Below this, looking for a tiling takes as long as the match. */
#define TRIVIAL_MS 0.1

static double direct_ns(const tm_direct_costs *costs, const tm_geometry *g, double width)
{
    return width * (double)g->map_height *
           (costs->window + (double)g->template_height *
                                (costs->row + (double)g->template_width * costs->tap));
}

/* The direct algorithm's tiles are at most 512 wide and whole blocks of 64. */
static double blocks_width(const tm_geometry *g)
{
    int64_t across = (g->map_width + 511) / 512;
    return (double)(across * (((g->map_width + across - 1) / across + 63) / 64 * 64));
}

/* Jobs that the direct algorithm gives to one thread end within TRIVIAL_MS. */
static double cpu_direct_ms(const tm_site *site, const tm_geometry *g)
{
    const tm_direct_costs *costs = tm_cpu_direct_costs;
    while (costs->kernels && strcmp(costs->kernels, site->kernels) != 0)
        costs++;
    double ms = direct_ns(costs, g, blocks_width(g)) * 1e-6;
    return ms < TRIVIAL_MS ? ms : ms / site->threads;
}

static double cuda_scale(const tm_site *site)
{
    return (double)TM_CUDA_FITTED_MULTIPROCESSORS / site->cuda.multiprocessors;
}

/* Windows that a multiprocessor makes on the tensor cores: tiles of 256 x 16, in
 * rounds of one block a multiprocessor, or two where there are so many tiles and
 * shared memory allows. */
static double tensor_windows(const tm_geometry *g, int multiprocessors)
{
    int64_t w = g->template_width, h = g->template_height;
    int64_t tiles = (g->map_width + 255) / 256 * ((g->map_height + 15) / 16);
    int64_t sums = (256 + w + 2) / 4;
    int64_t bytes = 16 * (16 * (2 * sums + 1) + 2 * sums) + (h + 15) * (256 + (w + 22) / 16 * 16);
    int64_t blocks = bytes < 112 * 1024 && tiles > multiprocessors ? 2 : 1;
    int64_t slots = blocks * multiprocessors;
    return (double)((tiles + slots - 1) / slots * blocks * 256 * 16);
}

static double cuda_direct_ms(const tm_site *site, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    double h = (double)g->template_height;

    if (!site->cuda.tensor_cores || job->tmpl->n > TM_TENSOR_TAPS)
        return direct_ns(&tm_cuda_direct_costs, g, (double)g->map_width) * 1e-6 * cuda_scale(site) +
               TM_CUDA_TENSOR_CALL_NS * 1e-6;
    double window = TM_CUDA_TENSOR_WINDOW_NS +
                    h * (TM_CUDA_TENSOR_ROW_NS +
                         (double)((g->template_width + 22) / 16) * TM_CUDA_TENSOR_STEP_NS);
    return (tensor_windows(g, site->cuda.multiprocessors) * window + TM_CUDA_TENSOR_CALL_NS) * 1e-6;
}

static const char *plan_cpu_fft(tm_plan *plan, const tm_site *site, const tm_geometry *g)
{
#if TM_HAVE_FFTW
    tm_fft_costs costs = tm_cpu_fft_costs;
    double memory_ns = TM_CPU_FFT_MEMORY_NS * (site->threads + 1);

    costs.memory_ns = memory_ns / TM_CPU_FFT_FRAMES;
    if (site->fft_bytes) { /* a tile for each thread and the template's, with their margins */
        const int64_t points = site->fft_bytes / (16 * (site->threads + 2));
        costs.max_points = points < costs.max_points ? points : costs.max_points;
    }
    /* a column's sums are kept in 32 bits */
    if (g->template_height > 65536 || !tm_fft_tile_map(&plan->tiling, g, &costs, site->threads))
        return "the template is too long for a transform";
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
    (void)plan, (void)site, (void)g;
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

static const char *plan_cuda_fft(tm_plan *plan, const tm_site *site, const tm_geometry *g)
{
    double h = (double)g->template_height, windows = (double)g->map_width * (double)g->map_height;
    tm_fft_costs costs = tm_cuda_fft_costs;

    while (costs.count && costs.lengths[costs.count - 1].length > site->cuda.longest_fft)
        costs.count--;
    /* the kernel for window sums wants some columns more than the template has */
    if (g->template_width > 8000 || !tm_fft_tile_map(&plan->tiling, g, &costs, 1))
        return "the template is too long for the device's transforms";
    double sums_ms = windows * h * TM_CUDA_WINDOW_ROW_NS * 1e-6;
    plan->fft_ms = (plan->tiling.ms * (site->cuda.fast_double ? 1 : TM_CUDA_SLOW_DOUBLE) + sums_ms) *
                       cuda_scale(site) +
                   (TM_CUDA_FFT_CALL_NS + h * TM_CUDA_FFT_SERIAL_NS) * 1e-6;
    return NULL;
}

static const char *plan_fft(tm_plan *plan, const tm_site *site, const tm_job *job)
{
    const char *fault = site->device == TM_DEVICE_CUDA
                            ? plan_cuda_fft(plan, site, &job->geometry)
                            : plan_cpu_fft(plan, site, &job->geometry);
    if (!fault &&
        tm_fft_error_bound(&plan->tiling, greatest_plane(job->tmpl)) >= TM_FFT_MAX_ERROR)
        fault = "rounding to the exact sums cannot be guaranteed at this size";
    if (fault)
        plan->fft_ms = INFINITY;
    return fault;
}

void tm_plan_make(tm_plan *plan, const tm_site *site, const tm_job *job, tm_algorithm wanted)
{
    *plan = (tm_plan){.algorithm = TM_ALGORITHM_DIRECT, .fft_ms = INFINITY};
    plan->direct_ms = site->device == TM_DEVICE_CUDA ? cuda_direct_ms(site, job)
                                                     : cpu_direct_ms(site, &job->geometry);
    double trivial_ms = site->device == TM_DEVICE_CUDA ? TM_CUDA_FFT_CALL_NS * 1e-6 : TRIVIAL_MS;
    if (wanted == TM_ALGORITHM_FFT || plan->direct_ms >= trivial_ms)
        plan->fault = plan_fft(plan, site, job);
    if (wanted == TM_ALGORITHM_FFT ||
        (wanted == TM_ALGORITHM_AUTO && plan->fft_ms < plan->direct_ms))
        plan->algorithm = TM_ALGORITHM_FFT;
    plan->ms = plan->algorithm == TM_ALGORITHM_FFT ? plan->fft_ms : plan->direct_ms;
}

double tm_plan_cuda_start_ms(void)
{
    return TM_CUDA_START_MS;
}
