/* SPDX-License-Identifier: MIT */
/* Tiles of the score map, shared out over threads. Each is staged in binary64, for
 * centred metrics with the mean of the frame there taken off. */
#include "lcc/cpu/real.h"

#include <omp.h>
#include <stdlib.h>

#include "integers.h"
#include "lcc/cpu/simd/reals.h"
#include "lcc/peak_scan.h"

enum { TILE_WIDTH = 4 * TM_REAL_BLOCK, TILE_HEIGHT = 16 };

/* Staged samples beyond this many bytes: one row of windows at a time. */
#define LARGE_TILE ((int64_t)64 << 20)

/* Products that one thread does in less time than others need to wake. */
#define SMALL_JOB 2e5

void tm_real_block_c(const tm_real_view *view, tm_real_block *block)
{
    real_block(view, block);
}

typedef struct run {
    tm_real_block_fn *block;
    tm_job *job;
    tm_real_scorer scorer;
    int64_t across, down, height; /* tiles; rows of one */
    int64_t rows, stride;         /* staged */
    tm_peak_grid grid;
    int64_t next;
    bool failed;
} run;

typedef struct tile {
    int64_t x, y, width, height;
    double *samples, *columns;
    uint8_t *touched; /* of a row of windows */
} tile;

/* The mean of the frame's samples below the tile. */
static double pivot_of(const run *r, const tile *t, int c)
{
    const tm_geometry *g = &r->job->geometry;
    const int64_t left = larger(t->x - g->pad_x, 0), top = larger(t->y - g->pad_y, 0);
    const int64_t right = smaller(t->x - g->pad_x + t->width + g->template_width - 1, g->frame_width);
    const int64_t bottom =
        smaller(t->y - g->pad_y + t->height + g->template_height - 1, g->frame_height);
    double sum = 0;

    if (!tm_needs_s_f(r->job->metric))
        return 0;
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = left; x < right; x++)
            sum += (double)tm_real_sample(&r->job->frame, x, y, c);
    return sum / (double)((right - left) * (bottom - top));
}

static void stage(const run *r, const tile *t)
{
    const tm_geometry *g = &r->job->geometry;
    for (int c = 0; c < r->job->tmpl->channels; c++) {
        const double pivot = pivot_of(r, t, c);
        for (int64_t v = 0; v < t->height + g->template_height - 1; v++) {
            double *to = t->samples + (c * r->rows + v) * r->stride;
            const int64_t x = t->x - g->pad_x, y = t->y - g->pad_y + v;
            for (int64_t u = 0; u < r->stride; u++)
                to[u] = (double)tm_real_sample(&r->job->frame, x + u, y, c) - pivot;
        }
    }
}

/* Which windows of a row have a pixel that the frame's mask leaves out. */
static void find_touched(const run *r, const tile *t, int64_t y)
{
    const tm_geometry *g = &r->job->geometry;
    const tm_template *tmpl = r->job->tmpl;
    const tm_image *frame = &r->job->frame;
    const int64_t left = t->x - g->pad_x, top = y - g->pad_y;

    memset(t->touched, 0, (size_t)t->width);
    for (int64_t v = larger(0, -top); v < tmpl->height && top + v < frame->height; v++) {
        const uint8_t *row = frame->mask + (top + v) * frame->mask_stride;
        const int64_t last = smaller(left + t->width + tmpl->width - 1, frame->width);
        for (int64_t x = larger(left, 0); x < last; x++) {
            for (int64_t u = 0; !row[x] && u < tmpl->width; u++) {
                const int64_t i = x - left - u;
                if (i >= 0 && i < t->width && (!tmpl->mask || tmpl->mask[v * tmpl->width + u]))
                    t->touched[i] = 1;
            }
        }
    }
}

static tm_value value_of(const run *r, const tm_real_block *b, int64_t x, int64_t y, int i)
{
    tm_real_sums sums = {.products = b->products[i], .s_ff = b->s_ff[i]};
    double score;
    for (int c = 0; c < r->job->tmpl->channels; c++)
        tm_real_centre(&r->scorer, &sums, c, b->s_f[c][i]);
    if (!tm_real_score_of(&r->scorer, &sums, &score))
        score = tm_real_window(r->job, x, y);
    return tm_real_value(r->job->metric, score);
}

static void run_row(const run *r, const tile *t, const tm_job *target, int64_t y,
                    tm_candidate *best)
{
    const tm_job *job = r->job;
    const tm_template *tmpl = job->tmpl;
    const bool centred = tm_needs_s_f(job->metric), distance = tm_is_distance(job->metric);
    tm_real_view view = {.stride = (ptrdiff_t)r->stride,
                         .plane = (ptrdiff_t)(r->rows * r->stride),
                         .taps = centred ? tmpl->real->taps : tmpl->real->samples,
                         .mask = tmpl->mask,
                         .w = tmpl->width,
                         .h = tmpl->height,
                         .channels = tmpl->channels,
                         .distance = distance,
                         .sums = centred,
                         .squares = centred || job->metric == TM_METRIC_CCORR_NORMED ||
                                    job->metric == TM_METRIC_SQDIFF_NORMED,
                         .columns = t->columns};
    tm_real_block block;

    if (job->frame.mask)
        find_touched(r, t, y);
    for (int64_t x = 0; x < t->width; x++) {
        const int i = (int)(x % TM_REAL_BLOCK);
        if (i == 0) {
            view.samples = t->samples + (y - t->y) * r->stride + x;
            r->block(&view, &block);
        }
        const bool skipped = job->frame.mask && t->touched[x];
        const tm_value value = skipped ? tm_skipped_value(job->metric)
                                       : value_of(r, &block, t->x + x, y, i);
        const tm_candidate candidate = {value.rank, y * job->geometry.map_width + t->x + x};
        tm_job_store(target, t->x + x, y, &value);
        if (!skipped && tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

static bool allocate(const run *r, tile *t)
{
    const int64_t channels = r->job->tmpl->channels;
    t->samples = malloc((size_t)(channels * r->rows * r->stride) * sizeof(double));
    t->columns = malloc((size_t)(r->stride + TM_REAL_BLOCK) * sizeof(double));
    t->touched = malloc(TILE_WIDTH);
    return t->samples && t->columns && t->touched;
}

static void run_tiles(run *r)
{
    const tm_geometry *g = &r->job->geometry;
    tm_peak_scan peaks = {0}, *scan = r->job->peaks ? &peaks : NULL;
    tm_candidate best = TM_NO_CANDIDATE;
    tile t = {0};
    bool fits = allocate(r, &t);

    while (fits) {
        int64_t i;
#pragma omp atomic capture
        i = r->next++;
        if (i >= r->across * r->down)
            break;
        t.x = i % r->across * TILE_WIDTH;
        t.y = i / r->across * r->height;
        t.width = smaller(TILE_WIDTH, g->map_width - t.x);
        t.height = smaller(r->height, g->map_height - t.y);
        fits = !scan || tm_peak_scan_begin(scan, &r->grid, i % r->across, i / r->across);
        if (!fits)
            break;
        stage(r, &t);
        for (int64_t y = t.y; y < t.y + t.height; y++) {
            run_row(r, &t, scan ? tm_peak_scan_row(scan) : r->job, y, &best);
            if (scan)
                tm_peak_scan_row_done(scan);
        }
    }
    free(t.samples);
    free(t.columns);
    free(t.touched);
    tm_peak_scan_free(&peaks);
#pragma omp critical(tm_real_merge)
    {
        r->failed = r->failed || !fits;
        if (tm_candidate_beats(best, r->job->best))
            r->job->best = best;
    }
}

/* The tiles are the cells. */
static bool init_grid(run *r)
{
    const tm_geometry *g = &r->job->geometry;
    if (!tm_peak_grid_init(&r->grid, r->job, r->across, r->down))
        return false;
    for (int64_t i = 0; i <= r->across; i++)
        r->grid.x.at[i] = smaller(i * TILE_WIDTH, g->map_width);
    for (int64_t i = 0; i <= r->down; i++)
        r->grid.y.at[i] = smaller(i * r->height, g->map_height);
    return true;
}

tm_status tm_real_match(tm_real_block_fn *block, tm_job *job, int threads)
{
    const tm_geometry *g = &job->geometry;
    const double work = (double)(g->map_width * g->map_height) * (double)job->tmpl->n;
    run r = {.block = block,
             .job = job,
             .scorer = tm_real_scorer_make(job->tmpl, job->metric),
             .height = TILE_HEIGHT};

    r.stride = TILE_WIDTH + round_up(g->template_width, TM_REAL_BLOCK);
    const int64_t row = r.stride * job->tmpl->channels * (int64_t)sizeof(double);
    if (row * (r.height + g->template_height) > LARGE_TILE)
        r.height = 1;
    r.rows = r.height + g->template_height - 1;
    r.across = ceil_div(g->map_width, TILE_WIDTH);
    r.down = ceil_div(g->map_height, r.height);
    job->best = (tm_candidate)TM_NO_CANDIDATE;
    r.failed = job->peaks && !init_grid(&r);
    if (!r.failed) {
#pragma omp parallel num_threads(threads) if (threads > 1 && work > SMALL_JOB)
        run_tiles(&r);
    }
    if (job->peaks) {
        r.failed = r.failed || !tm_peak_grid_finish(&r.grid);
        tm_peak_grid_free(&r.grid);
    }
    return r.failed ? TM_ERR_MEMORY : TM_OK;
}
