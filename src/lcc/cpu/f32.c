/* SPDX-License-Identifier: MIT */
/* Tiles of the score map, each a patch, shared out over threads. */
#include "lcc/cpu/f32.h"

#include <stdlib.h>

#include "integers.h"
#include "lcc/cpu/f32_patch.h"
#include "lcc/cpu/simd/f32.h"
#include "lcc/peak_scan.h"
#include "lcc/tiles.h"

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
    int64_t height; /* of a tile */
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
    const tm_value skipped = tm_skipped_value(job->metric);
    float *map = target->map.data;

    if (job->frame.mask)
        find_touched(r, t, y);
    if (map)
        map = (float *)(void *)((char *)map + y * target->map.stride) + t->patch.x;
    for (int64_t u = 0; u < t->patch.width; u += TM_F32_BLOCK) {
        const int count = (int)smaller(TM_F32_BLOCK, t->patch.width - u);
        const int64_t x = t->patch.x + u, position = y * job->geometry.map_width + x;
        tm_value values[TM_F32_BLOCK];
        tm_f32_block block;

        tm_f32_patch_sums(&t->patch, x, y, &block);
        if (!job->frame.mask)
            tm_f32_patch_values(&t->patch, &block, x, y, 0, count, values);
        for (int i = 0; i < count; i++) {
            const bool skip = job->frame.mask && t->touched[u + i];
            if (skip)
                values[i] = skipped;
            else if (job->frame.mask)
                tm_f32_patch_values(&t->patch, &block, x, y, i, 1, values);
            const tm_candidate candidate = {values[i].rank, position + i};
            if (map)
                map[u + i] = values[i].score;
            if (!skip && tm_candidate_beats(candidate, *best))
                *best = candidate;
        }
    }
}

static void end(void *context, void *memory)
{
    tile *t = memory;
    (void)context;
    free(t->patch.samples);
    free(t->patch.columns);
    free(t->touched);
    free(t);
}

static void *begin(void *context, int thread)
{
    const run *r = context;
    tile *t = calloc(1, sizeof *t);

    (void)thread;
    if (!t)
        return NULL;
    t->patch = tm_f32_patch_of(r->job, r->block, TILE_WIDTH, r->height);
    t->patch.samples = malloc((size_t)tm_f32_patch_samples(&t->patch) * sizeof(double));
    t->patch.columns = malloc((size_t)tm_f32_patch_columns(&t->patch) * sizeof(double));
    t->touched = malloc(TILE_WIDTH);
    if (t->patch.samples && t->patch.columns && t->touched)
        return t;
    end(context, t);
    return NULL;
}

static void match_tile(void *context, void *memory, const tm_tile *at, tm_candidate *best)
{
    const run *r = context;
    tile *t = memory;
    tm_f32_patch *p = &t->patch;

    p->x = at->x;
    p->y = at->y;
    p->width = at->width;
    p->height = at->height;
    tm_f32_patch_stage(p);
    for (int64_t y = at->y; y < at->y + at->height; y++) {
        run_row(r, t, at->scan ? tm_peak_scan_row(at->scan) : r->job, y, best);
        if (at->scan)
            tm_peak_scan_row_done(at->scan);
    }
}

tm_status tm_f32_match(tm_f32_block_fn *block, tm_job *job, int threads)
{
    const tm_geometry *g = &job->geometry;
    const double work = (double)(g->map_width * g->map_height) * (double)job->tmpl->n;
    run r = {.block = block, .job = job, .height = TILE_HEIGHT};

    const tm_f32_patch patch = tm_f32_patch_of(job, block, TILE_WIDTH, r.height);
    if (tm_f32_patch_samples(&patch) * (int64_t)sizeof(double) > LARGE_TILE)
        r.height = 1;
    const tm_tiles tiles = {.across = ceil_div(g->map_width, TILE_WIDTH),
                            .down = ceil_div(g->map_height, r.height),
                            .width = TILE_WIDTH,
                            .height = r.height};
    return tm_tiles_match(
        job, &tiles, work > SMALL_JOB ? threads : 1,
        &(tm_tile_work){.context = &r, .begin = begin, .match = match_tile, .end = end});
}
