/* SPDX-License-Identifier: MIT */
/* Tiles of the score map, each a patch, shared out over threads. */
#include "lcc/cpu/f32.h"

#include <omp.h>
#include <stdlib.h>

#include "integers.h"
#include "lcc/cpu/f32_patch.h"
#include "lcc/cpu/simd/f32.h"
#include "lcc/peak_scan.h"

enum { TILE_WIDTH = 4 * TM_F32_BLOCK, TILE_HEIGHT = 16 };

/* Staged samples beyond this many bytes: one row of windows at a time. */
#define LARGE_TILE ((int64_t)64 << 20)

/* Products that one thread does in less time than others need to wake. */
#define SMALL_JOB 2e5

void tm_f32_block_c(const tm_f32_view *view, tm_f32_block *block)
{
    f32_block(view, block);
}

typedef struct run {
    tm_f32_block_fn *block;
    tm_job *job;
    int64_t across, down, height; /* tiles; rows of one */
    tm_peak_grid grid;
    int64_t next;
    bool failed;
} run;

typedef struct tile {
    tm_f32_patch patch;
    uint8_t *touched; /* of a row of windows */
} tile;

/* Which windows of a row have a pixel that the frame's mask leaves out. */
static void find_touched(const run *r, const tile *t, int64_t y)
{
    const tm_geometry *g = &r->job->geometry;
    const tm_template *tmpl = r->job->tmpl;
    const tm_image *frame = &r->job->frame;
    const int64_t left = t->patch.x - g->pad_x, top = y - g->pad_y;

    memset(t->touched, 0, (size_t)t->patch.width);
    for (int64_t v = larger(0, -top); v < tmpl->height && top + v < frame->height; v++) {
        const uint8_t *row = frame->mask + (top + v) * frame->mask_stride;
        const int64_t last = smaller(left + t->patch.width + tmpl->width - 1, frame->width);
        for (int64_t x = larger(left, 0); x < last; x++) {
            for (int64_t u = 0; !row[x] && u < tmpl->width; u++) {
                const int64_t i = x - left - u;
                if (i >= 0 && i < t->patch.width &&
                    (!tmpl->mask || tmpl->mask[v * tmpl->width + u]))
                    t->touched[i] = 1;
            }
        }
    }
}

static void run_row(const run *r, const tile *t, const tm_job *target, int64_t y,
                    tm_candidate *best)
{
    const tm_job *job = r->job;
    tm_f32_block block;

    if (job->frame.mask)
        find_touched(r, t, y);
    for (int64_t u = 0; u < t->patch.width; u++) {
        const int64_t x = t->patch.x + u;
        const int i = (int)(u % TM_F32_BLOCK);
        if (i == 0)
            tm_f32_patch_sums(&t->patch, x, y, &block);
        const bool skipped = job->frame.mask && t->touched[u];
        const tm_value value = skipped ? tm_skipped_value(job->metric)
                                       : tm_f32_patch_value(&t->patch, &block, x, y, i);
        const tm_candidate candidate = {value.rank, y * job->geometry.map_width + x};
        tm_job_store(target, x, y, &value);
        if (!skipped && tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

static bool allocate(const run *r, tile *t)
{
    t->patch = tm_f32_patch_of(r->job, r->block, TILE_WIDTH, r->height);
    t->patch.samples = malloc((size_t)tm_f32_patch_samples(&t->patch) * sizeof(double));
    t->patch.columns = malloc((size_t)tm_f32_patch_columns(&t->patch) * sizeof(double));
    t->touched = malloc(TILE_WIDTH);
    return t->patch.samples && t->patch.columns && t->touched;
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
        tm_f32_patch *p = &t.patch;
        p->x = i % r->across * TILE_WIDTH;
        p->y = i / r->across * r->height;
        p->width = smaller(TILE_WIDTH, g->map_width - p->x);
        p->height = smaller(r->height, g->map_height - p->y);
        fits = !scan || tm_peak_scan_begin(scan, &r->grid, i % r->across, i / r->across);
        if (!fits)
            break;
        tm_f32_patch_stage(p);
        for (int64_t y = p->y; y < p->y + p->height; y++) {
            run_row(r, &t, scan ? tm_peak_scan_row(scan) : r->job, y, &best);
            if (scan)
                tm_peak_scan_row_done(scan);
        }
    }
    free(t.patch.samples);
    free(t.patch.columns);
    free(t.touched);
    tm_peak_scan_free(&peaks);
#pragma omp critical(tm_f32_merge)
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

tm_status tm_f32_match(tm_f32_block_fn *block, tm_job *job, int threads)
{
    const tm_geometry *g = &job->geometry;
    const double work = (double)(g->map_width * g->map_height) * (double)job->tmpl->n;
    run r = {.block = block, .job = job, .height = TILE_HEIGHT};

    const tm_f32_patch patch = tm_f32_patch_of(job, block, TILE_WIDTH, r.height);
    if (tm_f32_patch_samples(&patch) * (int64_t)sizeof(double) > LARGE_TILE)
        r.height = 1;
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
