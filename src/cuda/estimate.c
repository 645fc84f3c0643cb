/* SPDX-License-Identifier: MIT */
#include "cuda/estimate.h"

#include <math.h>

#include "cuda/costs.h"
#include "cuda/group_costs.h"
#include "cuda/scales.h"
#include "cuda/schedule.h"
#include "fft/tiling.h"
#include "integers.h"
#include "lcc/cuda/certified/cells.h"
#include "lcc/cuda/planes/limits.h"
#include "lcc/cuda/tensor/limits.h"
#include "lcc/cuda/tensor/tall_layout.h"
#include "lcc/planes.h"

static const tm_rates *rates_of(const tm_cuda_conditions *c)
{
    static const tm_rates usual = TM_USUAL_RATES;
    return c->rates ? c->rates : &usual;
}

/* What a multiprocessor makes on the tensor cores, in rounds of one block, or of two where there
 * are so many tiles and shared memory allows. */
typedef struct tensor_load {
    double windows;
    int64_t blocks;
} tensor_load;

static tensor_load tensor_load_of(const tm_cuda_conditions *c, const tm_geometry *g, int64_t rows)
{
    const int64_t w = g->template_width, h = g->template_height;
    const int multiprocessors = c->traits.multiprocessors;
    const bool pack = tm_mma_packs(w, h), narrow = pack && tm_mma_is_narrow(w);
    const tm_mma_layout l = tm_mma_layout_of(TM_MMA_TILE_WIDTH, w, h, narrow, pack);
    const int64_t bytes = l.rows + l.sums + TM_MMA_FIXED_BYTES;
    const int64_t tiles =
        ceil_div(g->map_width, TM_MMA_TILE_WIDTH) * ceil_div(rows, TM_MMA_TILE_HEIGHT);
    const bool several = tm_tensor_blocks_that_fit(c->traits.shared_memory, bytes) > 1;
    const int64_t blocks = several && tiles > multiprocessors ? 2 : 1;

    return (tensor_load){(double)(ceil_div(tiles, blocks * multiprocessors) * blocks *
                                  TM_MMA_TILE_WIDTH * TM_MMA_TILE_HEIGHT),
                         blocks};
}

static double f32_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    return tm_direct_ns(&tm_cuda_f32_costs, g, (double)g->map_width, rows) * 1e-6 *
               job->tmpl->channels * tm_scale_of(&c->traits) * rates_of(c)->floats *
               (c->traits.fast_double ? 1 : TM_CUDA_SLOW_DOUBLE) +
           TM_CUDA_TENSOR_CALL_NS * 1e-6;
}

/* How many matches of 8-bit gray the job is worth: its products of planes cost so much of one each. */
static double products_of(const tm_job *job, double cost)
{
    tm_plane_products products;

    if (tm_job_is_plain(job) || tm_job_is_f32(job))
        return 1;
    tm_plane_products_make(&products, job, tm_mask_plane(job->tmpl));
    return products.count * cost;
}

enum { TALL_TILE = TM_TALL_TILE_WIDTH * TM_TALL_TILE_HEIGHT }; /* windows */

/* How many products of planes these are; of 16 bits half as many where the template is rounded. */
static double tall_products_of(const tm_job *job)
{
    const tm_template *t = job->tmpl;
    const bool rounded = t->rounded && t->rounded_sine <= TM_ROUNDED_MOST_SINE && t->width <= TM_RUNS_MOST_WIDTH &&
                         t->height <= TM_RUNS_MOST_HEIGHT && job->metric == TM_METRIC_LCC && !job->map.data && !job->peaks;
    return products_of(job, 1) / (rounded ? 2 : 1);
}

/* Whether wgmma_tall.cu makes the products, or of planes wgmma_tall_planes.cu; and in which parts of the template. */
static bool find_tall(const tm_cuda_conditions *c, const tm_job *job, tm_tall_division *parts)
{
    const tm_geometry *g = &job->geometry;
    const int64_t w = g->template_width, h = g->template_height;
    const double windows = (double)g->map_width * (double)g->map_height;

    if (!c->traits.groups || tm_mma_is_narrow(w) || tm_job_is_f32(job))
        return false;
    if (!tm_job_is_plain(job))
        return tm_tall_divide_planes(parts, c->traits.shared_memory, w, h, (int)tall_products_of(job), false);
    return job->metric == TM_METRIC_LCC && c->together <= 1 && windows >= 0.5 * TALL_TILE * c->traits.multiprocessors &&
           tm_tall_divide_gray(parts, c->traits.shared_memory, w, h) &&
           tm_tall_partial_bytes_of(parts, g->map_width, g->map_height) <= TM_TALL_MOST_PARTIAL_BYTES;
}

/* How long all products and scores take so. */
static double tall_rows_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows, const tm_tall_division *parts)
{
    const int64_t tiles = ceil_div(job->geometry.map_width, TM_TALL_TILE_WIDTH) * ceil_div(rows, TM_TALL_TILE_HEIGHT);
    const double windows = (double)(ceil_div(tiles, c->traits.multiprocessors) * TALL_TILE);
    const double product = tm_tall_division_units(parts) * TM_CUDA_TALL_UNIT_NS;
    const double sums = tm_job_is_plain(job) ? TM_CUDA_TENSOR_WINDOW_NS : TM_CUDA_TALL_PLANES_WINDOW_NS;

    return (windows * tm_clock_scale(&c->traits) *
                (sums * rates_of(c)->windows + tall_products_of(job) * product * rates_of(c)->products) +
            TM_CUDA_TENSOR_CALL_NS) *
           1e-6;
}

/* How long the kernels take for so many rows of the map: of one product, or of all in tall tiles and for floats. */
static double launch_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    double h = (double)g->template_height;
    tm_tall_division parts;

    if (tm_job_is_f32(job))
        return f32_ms(c, job, rows);
    if (find_tall(c, job, &parts))
        return tall_rows_ms(c, job, rows, &parts);
    if (!c->traits.tensor_cores || job->tmpl->n > TM_TENSOR_TAPS)
        return tm_direct_ns(&tm_cuda_direct_costs, g, (double)g->map_width, rows) * 1e-6 *
                   tm_scale_of(&c->traits) * rates_of(c)->plain +
               TM_CUDA_TENSOR_CALL_NS * 1e-6;
    const tensor_load load = tensor_load_of(c, g, rows);
    const double step = load.blocks > 1 ? TM_CUDA_TENSOR_STEP_NS : TM_CUDA_TENSOR_LONE_STEP_NS;
    const double sums = (TM_CUDA_TENSOR_WINDOW_NS + h * TM_CUDA_TENSOR_ROW_NS) * tm_clock_scale(&c->traits);
    const double products = h * (double)((g->template_width + 22) / 16) * step * tm_product_scale(&c->traits);
    return (load.windows * (sums * rates_of(c)->windows + products * rates_of(c)->products) +
            TM_CUDA_TENSOR_CALL_NS) *
           1e-6;
}

/* Whether the bounds of all cell windows have numbers of 32 bits, in rows of whole tiles. */
static bool bounds_fit(const tm_geometry *g, const tm_cells *cells)
{
    const int64_t across = round_up(g->map_width / cells->size + 1, 128), down = g->map_height / cells->size + 257;
    return across * down <= UINT32_MAX;
}

const char *tm_cuda_certified_fault(const tm_device_traits *traits, const tm_job *job)
{
    const char *fault = tm_certified_fault(job);
    const tm_geometry *g = &job->geometry;
    tm_cells cells;

    return fault              ? fault
           : !traits->certified ? "the device has none"
           : job->peaks && !job->cutter && tm_peak_list_least(job->peaks) < tm_score_order(TM_CUDA_CERTIFIED_FLOOR)
               ? "on a GPU it is for higher scores"
           : job->tmpl->flat  ? "the template is flat"
           : g->map_width * g->map_height > INT32_MAX ? "the map is too large"
           : !tm_cells_choose(&cells, g->template_width, g->template_height)
               ? "the template is too small or too narrow"
           : !bounds_fit(g, &cells) ? "the map is too large"
                                    : NULL;
}

/* What certified search takes for so many rows of the map. Where its bounds say too little, all
 * windows are scored after them. */
static double certified_launch_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    const double all = launch_ms(c, job, rows);
    tm_cells cells;

    if (!tm_cells_choose(&cells, g->template_width, g->template_height))
        return INFINITY;
    const tm_cells_costs *costs =
        cells.size == TM_CELLS_SMALLEST ? &tm_cuda_small_certified_costs : &tm_cuda_certified_costs;
    const double area = (double)cells.size * cells.size,
                 products = ceil(area / 4) * ((cells.down + 1) / 2) * 2,
                 count = (double)g->map_width * (double)rows / area;
    const double ns = costs->call + count * tm_scale_of(&c->traits) * rates_of(c)->windows *
                                        (costs->cell + products * costs->product);
    return ns * 1e-6 + all * (tm_cells_eps(&cells, job->tmpl) > TM_CUDA_CERTIFIED_EPS ? 1 : costs->scored);
}

static tm_chunks chunks_of(const tm_cuda_conditions *c, const tm_job *job)
{
    return tm_chunks_make(job, c->map != TM_TRANSFER_NONE,
                          c->chunks ? c->traits.chunk_bytes : 0);
}

/* How long a row of the frame and of the map take to cross the bus. */
typedef struct row_times {
    double in_ms, out_ms;
} row_times;

static row_times row_times_of(const tm_cuda_conditions *c, const tm_chunks *chunks)
{
    const double rates[] = {1, rates_of(c)->pinned, rates_of(c)->pageable};
    return (row_times){(double)chunks->frame_row_bytes * tm_cuda_in_ns[c->frame] * rates[c->frame] * 1e-6,
                       (double)chunks->map_row_bytes * tm_cuda_out_ns[c->map] * rates[c->map] * 1e-6};
}

static double together_of(const tm_cuda_conditions *c)
{
    return c->together ? (double)c->together : 1;
}

/* How long the copies take, divided by the templates that use them. */
static double copies_ms(const tm_cuda_conditions *c, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_chunks chunks = chunks_of(c, job);
    const row_times r = row_times_of(c, &chunks);
    return ((double)g->frame_height * r.in_ms + (double)g->map_height * r.out_ms) /
           together_of(c);
}

/* How long the kernels for some rows of a job's map take. */
typedef double rows_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows);

/* How long the call takes, divided by its templates, which are launched so many times: each chunk is launched when its
 * rows are there and the chunk before is done, and comes back when it is done itself. */
static double call_ms(const tm_cuda_conditions *c, const tm_job *job, double launches, rows_ms *kernels_ms)
{
    const tm_geometry *g = &job->geometry;
    const tm_chunks chunks = chunks_of(c, job);
    const row_times r = row_times_of(c, &chunks);
    double launched = 0, back = 0, rests = 0;

    for (int64_t first = 0, end; first < g->map_height; first = end) {
        end = tm_chunks_end(&chunks, first);
        const double there = (double)tm_chunks_needed(&chunks, end) * r.in_ms + rests;
        launched = fmax(launched, there) + launches * kernels_ms(c, job, end - first);
        back = fmax(back, launched) + (double)(end - first) * r.out_ms;
        if (c->frame != TM_TRANSFER_NONE)
            rests += TM_CUDA_CHUNK_COPY_NS * 1e-6;
        if (end < g->map_height)
            launched += TM_CUDA_CHUNK_LAUNCH_NS * 1e-6;
    }
    return back / together_of(c);
}

/* All templates that the job is launched with, as a group. */
static double group_rows_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    const double windows = together_of(c) * (double)g->map_width * (double)rows;
    return tm_cuda_group_ns((double)g->template_width, (double)g->template_height, windows) * tm_scale_of(&c->traits) *
           rates_of(c)->windows * 1e-6;
}

static double direct_ms(const tm_cuda_conditions *c, const tm_job *job, bool certified)
{
    const tm_geometry *g = &job->geometry;
    tm_tall_division parts;

    if (!certified && job->metric == TM_METRIC_LCC &&
        tm_cuda_has_groups(&c->traits, (double)g->template_width, (double)g->template_height, (int64_t)c->together))
        return call_ms(c, job, 1, group_rows_ms);
    const double products = find_tall(c, job, &parts) ? 1 : products_of(job, TM_CUDA_DIRECT_PRODUCT);
    return call_ms(c, job, together_of(c) * products, certified ? certified_launch_ms : launch_ms);
}

/* By FFT, with the tiling that the job has. */
static double fft_rows_ms(const tm_cuda_conditions *c, const tm_job *job, int64_t rows)
{
    const double h = (double)job->geometry.template_height,
                 share = (double)rows / (double)job->geometry.map_height,
                 windows = (double)job->geometry.map_width * (double)rows;
    double transforms_ms = job->tiling->ms * share, sums_ms = windows * h * TM_CUDA_WINDOW_ROW_NS * 1e-6;

    if (tm_job_is_f32(job)) {
        transforms_ms *= job->tmpl->channels;
        sums_ms = windows * job->tmpl->channels * 1e-6 *
                  (TM_CUDA_F32_SUMS_NS + (double)job->tmpl->n * TM_CUDA_F32_SUMS_TAP_NS);
    }
    return (transforms_ms * tm_fft_scale(&c->traits) + sums_ms * tm_scale_of(&c->traits)) * rates_of(c)->fft *
           products_of(job, TM_CUDA_FFT_PRODUCT);
}

static const char *estimate_fft(tm_estimate *estimate, const tm_cuda_conditions *c,
                                const tm_job *job, bool by_cufft)
{
    const tm_geometry *g = &job->geometry;
    const double call_ns = TM_CUDA_FFT_CALL_NS + (double)g->template_height * TM_CUDA_FFT_SERIAL_NS;
    tm_fft_costs costs = by_cufft ? tm_cufft_costs : tm_cuda_fft_costs;
    tm_cuda_conditions alone = *c;
    tm_job tiled = *job;

    if (tm_job_is_f32(job) && job->tmpl->mask)
        return "on a GPU floats are matched directly under a template's mask";
    while (!by_cufft && costs.count && costs.lengths[costs.count - 1].length > c->traits.longest_fft)
        costs.count--;
    if (g->template_width > c->traits.widest_fft || !tm_fft_tile_map(&estimate->tiling, g, &costs, 1))
        return "the template is too long for the device's transforms";
    estimate->tiling.by_cufft = by_cufft;
    tiled.tiling = &estimate->tiling;
    alone.together = 1; /* the others of its size find the frame there */
    const double kernels_ms = fft_rows_ms(c, &tiled, g->map_height);
    estimate->fft_ms = kernels_ms + (call_ms(&alone, &tiled, 1, fft_rows_ms) - kernels_ms) / together_of(c) + call_ns * 1e-6;
    return NULL;
}

/* What it takes to find the best of the map's peaks, where all windows are scored. */
static double peaks_of(const tm_cuda_conditions *c, const tm_job *job)
{
    return (double)job->geometry.map_width * (double)job->geometry.map_height * TM_CUDA_PEAKS_NS * 1e-6 *
           tm_scale_of(&c->traits) * rates_of(c)->windows;
}

void tm_cuda_estimate(tm_estimate *estimate, const tm_cuda_conditions *c, const tm_job *job,
                      tm_algorithm wanted, tm_strategy strategy)
{
    const bool by_cufft = wanted == TM_ALGORITHM_CUFFT;

    *estimate = (tm_estimate){.direct_ms = direct_ms(c, job, false),
                              .fft_ms = INFINITY,
                              .certified_ms = INFINITY,
                              .certified_fault = tm_cuda_certified_fault(&c->traits, job)};
    if (!estimate->certified_fault && strategy != TM_STRATEGY_EXHAUSTIVE)
        estimate->certified_ms = direct_ms(c, job, true) + (job->cutter ? TM_CUDA_CERTIFIED_CUT_NS * 1e-6 : 0);
    const double peaks_ms = job->cutter ? peaks_of(c, job) : 0;
    estimate->direct_ms += peaks_ms;
    if (!by_cufft && wanted != TM_ALGORITHM_FFT &&
        estimate->direct_ms - copies_ms(c, job) < TM_CUDA_FFT_CALL_NS * 1e-6)
        return;
    estimate->fault = estimate_fft(estimate, c, job, by_cufft);
    estimate->fft_ms += peaks_ms;
    if (!estimate->fault)
        estimate->fault = tm_fft_fault(&estimate->tiling, job);
    if (estimate->fault)
        estimate->fft_ms = INFINITY;
    /* Where too many windows are left all are scored directly, which then costs more than FFT. */
    if (strategy == TM_STRATEGY_AUTO && estimate->fft_ms < estimate->direct_ms) {
        estimate->certified_ms = INFINITY;
        if (!estimate->certified_fault)
            estimate->certified_fault = "FFT is quicker where too many windows are left";
    }
}

/* False where the thread was given up. */
static bool find_transfer(tm_transfer *transfer, const tm_pinned_memory *pinned, const void *rows,
                          ptrdiff_t stride, int64_t count, int64_t row_bytes)
{
    bool is_pinned = false;
    if (!pinned->holds(pinned->context, rows, stride, count, (size_t)row_bytes, &is_pinned))
        return false;
    *transfer = is_pinned ? TM_TRANSFER_PINNED : TM_TRANSFER_PAGEABLE;
    return true;
}

/* Whether memory is pinned is asked only where that may decide. False where the thread was given up. */
static bool find_conditions(tm_cuda_conditions *c, const tm_device_traits *traits, const tm_rates *rates,
                            const tm_job *jobs, size_t index, size_t count, const tm_pinned_memory *pinned)
{
    const tm_job *job = &jobs[index];
    const tm_geometry *g = &job->geometry;
    const tm_chunks chunks = tm_chunks_make(job, job->map.data, traits->chunk_bytes);

    *c = (tm_cuda_conditions){.traits = *traits,
                              .rates = rates,
                              .frame = TM_TRANSFER_PAGEABLE,
                              .chunks = tm_chunks_end(&chunks, 0) < g->map_height,
                              .together = tm_group_size(job, count - index)};
    if (chunks.map_row_bytes)
        c->map = TM_TRANSFER_PAGEABLE;
    if (chunks.map_row_bytes && c->chunks) {
        if (!find_transfer(&c->map, pinned, job->map.data, job->map.stride, g->map_height,
                           chunks.map_row_bytes))
            return false;
        c->chunks = c->map == TM_TRANSFER_PINNED;
    }
    if (job->on_device || tm_frame_is_there(jobs, index))
        c->frame = TM_TRANSFER_NONE;
    else if (c->chunks)
        return find_transfer(&c->frame, pinned, job->frame.samples, job->frame.stride, g->frame_height,
                             tm_image_row_bytes(&job->frame));
    return true;
}

void tm_cuda_estimate_jobs(tm_estimate *estimates, const tm_device_traits *traits, const tm_rates *rates,
                           const tm_job *jobs, size_t count,
                           const tm_estimate_request *request, const tm_pinned_memory *pinned)
{
    tm_cuda_conditions c = {0};
    size_t end = 0; /* of the jobs that share a launch */

    for (size_t i = 0; i < count; i++) {
        const bool first = i == end;
        if (first) {
            if (!find_conditions(&c, traits, request->rates ? request->rates : rates, jobs, i, count,
                                 pinned))
                return;
            end += c.together;
        }
        if (!first && jobs[i].tmpl->sum_sq <= jobs[i - 1].tmpl->sum_sq)
            estimates[i] = estimates[i - 1];
        else
            tm_cuda_estimate(&estimates[i], &c, &jobs[i], request->algorithm, request->strategy);
    }
}
