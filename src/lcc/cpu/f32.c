/* SPDX-License-Identifier: MIT */
/* Tiles of the score map, shared out over threads: each stages a tile's samples, then scores its
 * rows. */
#include "lcc/cpu/f32.h"

#include <stdlib.h>

#include "integers.h"
#include "lcc/cpu/f32_staged.h"
#include "lcc/cpu/simd/f32.h"
#include "lcc/peak_scan.h"
#include "lcc/tiles.h"

enum { TILE_WIDTH = 4 * TM_F32_BLOCK, TILE_HEIGHT = 16 };

/* Where staged samples would take more bytes than this, tiles have one row of windows. */
#define LARGE_TILE ((int64_t)64 << 20)

/* One thread makes so many products in less time than others need to wake. */
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
    tm_f32_staged staged;
    uint8_t *touched; /* of a row of windows */
} tile;

/* Finds which windows of a row have a pixel that the frame's mask leaves out. */
static void find_touched(const run *r, const tile *t, int64_t y)
{
    const tm_geometry *g = &r->job->geometry;
    const tm_template *tmpl = r->job->tmpl;
    const tm_image *frame = &r->job->frame;
    const int64_t left = t->staged.x - g->pad_x, top = y - g->pad_y;

    memset(t->touched, 0, (size_t)t->staged.width);
    for (int64_t v = larger(0, -top); v < tmpl->height && top + v < frame->height; v++) {
        const uint8_t *row = frame->mask + (top + v) * frame->mask_stride;
        const int64_t last = smaller(left + t->staged.width + tmpl->width - 1, frame->width);
        for (int64_t x = larger(left, 0); x < last; x++) {
            for (int64_t u = 0; !row[x] && u < tmpl->width; u++) {
                const int64_t i = x - left - u;
                if (i >= 0 && i < t->staged.width &&
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
        map = (float *)(void *)((char *)map + y * target->map.stride) + t->staged.x;
    for (int64_t u = 0; u < t->staged.width; u += TM_F32_BLOCK) {
        const int count = (int)smaller(TM_F32_BLOCK, t->staged.width - u);
        const int64_t x = t->staged.x + u, position = y * job->geometry.map_width + x;
        tm_value values[TM_F32_BLOCK];
        tm_f32_block block;

        tm_f32_staged_sums(&t->staged, x, y, &block);
        if (!job->frame.mask)
            tm_f32_staged_values(&t->staged, &block, x, y, 0, count, values);
        for (int i = 0; i < count; i++) {
            const bool skip = job->frame.mask && t->touched[u + i];
            if (skip)
                values[i] = skipped;
            else if (job->frame.mask)
                tm_f32_staged_values(&t->staged, &block, x, y, i, 1, values);
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
    free(t->staged.samples);
    free(t->staged.columns);
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
    t->staged = tm_f32_staged_of(r->job, r->block, TILE_WIDTH, r->height);
    t->staged.samples = malloc((size_t)tm_f32_staged_samples(&t->staged) * sizeof(double));
    t->staged.columns = malloc((size_t)tm_f32_staged_columns(&t->staged) * sizeof(double));
    t->touched = malloc(TILE_WIDTH);
    if (t->staged.samples && t->staged.columns && t->touched)
        return t;
    end(context, t);
    return NULL;
}

static void match_tile(void *context, void *memory, const tm_tile *at, tm_candidate *best)
{
    const run *r = context;
    tile *t = memory;
    tm_f32_staged *staged = &t->staged;

    staged->x = at->x;
    staged->y = at->y;
    staged->width = at->width;
    staged->height = at->height;
    tm_f32_stage(staged);
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

    const tm_f32_staged staged = tm_f32_staged_of(job, block, TILE_WIDTH, r.height);
    if (tm_f32_staged_samples(&staged) * (int64_t)sizeof(double) > LARGE_TILE)
        r.height = 1;
    const tm_tiles tiles = {.across = ceil_div(g->map_width, TILE_WIDTH),
                            .down = ceil_div(g->map_height, r.height),
                            .width = TILE_WIDTH,
                            .height = r.height};
    return tm_tiles_match(
        job, &tiles, work > SMALL_JOB ? threads : 1,
        &(tm_tile_work){.context = &r, .begin = begin, .match = match_tile, .end = end});
}
