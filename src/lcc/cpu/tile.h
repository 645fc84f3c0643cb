/* SPDX-License-Identifier: MIT */
/* How the direct algorithm makes a tile of the score map. */
#ifndef TMATCH_LCC_CPU_TILE_H
#define TMATCH_LCC_CPU_TILE_H

#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/direct.h"
#include "lcc/peak_scan.h"
#include "lcc/planes.h"
#include "lcc/tiles.h"

enum { TM_ROWS_AHEAD = 6 };

/* One thread's memory, grown by that thread, so that it lies near it. */
struct tm_cpu_scratch {
    _Alignas(128) tm_memory memory;
};

/* Hands out aligned parts of a memory. A first pass, with memory NULL, finds the size that it must
 * have. */
typedef struct tm_carver {
    char *memory;
    size_t used;
} tm_carver;

static inline void *carve(tm_carver *carver, int64_t size)
{
    void *part = carver->memory ? carver->memory + carver->used : NULL;
    carver->used += (size_t)round_up(size + TM_SLACK, 64);
    return part;
}

/* How many columns of [x, x + count) of frame row y lie left of the frame, or all where the
 * row is not in it, and how many lie inside. */
static inline int64_t columns_left(const tm_image *frame, int64_t x, int64_t y, int64_t count)
{
    return y < 0 || y >= frame->height ? count : smaller(larger(-x, 0), count);
}

static inline int64_t columns_inside(const tm_image *frame, int64_t x, int64_t count, int64_t left)
{
    return larger(smaller(count - left, frame->width - x - left), 0);
}

/* Copies columns [x, x + count) of frame row y, with zeros outside the frame.
 * Rows are too short and too far apart for the processor to see the next one
 * coming, so one some rows on is asked for. */
static inline void stage_row(uint8_t *to, const tm_image *frame, int64_t x, int64_t y,
                             int64_t count)
{
    int64_t left = columns_left(frame, x, y, count);
    int64_t inside = columns_inside(frame, x, count, left);

    memset(to, 0, (size_t)left);
    if (inside) {
        const uint8_t *from = frame->samples + y * frame->stride + x + left;
        if (y + TM_ROWS_AHEAD < frame->height) {
            for (int64_t i = 0; i < inside; i += 64)
                __builtin_prefetch(from + TM_ROWS_AHEAD * frame->stride + i);
        }
        memcpy(to + left, from, (size_t)inside);
    }
    memset(to + left + inside, 0, (size_t)(count - left - inside));
}

/* Templates of at most TM_PACKED_TAPS: 32-bit sums, all in the kernels.
 * packed is the template. */
tm_candidate tm_tile_32(const tm_cpu_kernels *kernels, char *memory, const tm_job *job,
                        const tm_packed_taps *packed, const tm_tile *tile);
size_t tm_tile_32_size(const tm_job *job, int64_t width, int64_t height);

/* All other plain templates: 64-bit sums, which are made part by part. */
tm_candidate tm_tile_64(const tm_cpu_kernels *kernels, char *memory, const tm_job *job,
                        const tm_tile *tile);
size_t tm_tile_64_size(const tm_job *job, int64_t width, int64_t height);

/* Where a source's values are, and the greatest that they can be, times its factor. */
typedef struct tm_tile_source {
    enum { TM_OF_PRODUCT, TM_OF_PLANE, TM_OF_SQUARES } of;
    int index;
    double most;
} tm_tile_source;

/* How tiles make the sums of a job of planes. Sums over whole windows are
 * those of the planes and of their squares, weighted. */
typedef struct tm_tile_planes {
    tm_plane_products products;
    tm_scorer scorer;
    int packed_count;
    tm_packed_taps packed[TM_SAMPLE_PLANES + 1];
    int product_packed[TM_MAX_PRODUCTS];
    bool correlated[TM_TILE_PLANES], slid[TM_TILE_PLANES];
    int64_t weight[TM_SUMS][TM_TILE_PLANES];
    int64_t square_weight[TM_TILE_PLANES]; /* in S_FF */
    tm_source_row row; /* but for what differs from tile to tile and row to row */
    tm_tile_source source[TM_SOURCES];
    bool rejects;
    tm_reject reject;
} tm_tile_planes;

void tm_tile_planes_make(tm_tile_planes *planes, const tm_job *job);
/* Fills packed. memory has tm_tile_planes_taps_size bytes and stays. */
size_t tm_tile_planes_taps_size(const tm_job *job);
void tm_tile_planes_pack(tm_tile_planes *planes, const tm_cpu_kernels *kernels, const tm_job *job,
                         char *memory);

/* The best of a tile so far, a distance with the sign changed. Skipped positions
 * do not beat what it starts from. */
typedef struct tm_planes_best {
    float score;
    int64_t integer, position;
} tm_planes_best;

#define TM_NO_PLANES_BEST                                                                          \
    {                                                                                              \
        -FLT_MAX, -INT64_MAX, INT64_MAX                                                            \
    }

/* A tile's rows, one after the other. */
typedef struct tm_planes_row {
    const tm_job *job;
    const tm_tile_planes *planes;
    tm_source_row row;
    tm_reject reject;
    uint8_t *pass; /* a byte for each block */
    int width;     /* windows */
    tm_planes_best best;
} tm_planes_row;

/* Scores and ranks the windows from (x, y) on, whose sources the row has. */
void tm_planes_row_score(const tm_cpu_kernels *kernels, tm_planes_row *row, int64_t x, int64_t y,
                         tm_peak_scan *scan);
tm_candidate tm_planes_row_best(const tm_planes_row *row);

/* Sets reject by the row and its sources, for jobs whose metric is LCC. */
void tm_reject_make(tm_tile_planes *planes);
/* Lets windows that score less than this be rejected. */
void tm_reject_set(tm_reject *reject, float least);

/* A job and how its sums are made. */
typedef struct tm_planes_job {
    const tm_job *job;
    tm_tile_planes planes;
} tm_planes_job;

/* Templates of at most TM_PACKED_TAPS, of any job; or of up to TM_SHARED_MASK jobs that share a mask,
 * of which what the mask makes is made once. Writes each job's best. */
void tm_tile_of_planes(const tm_cpu_kernels *kernels, char *memory, const tm_planes_job *jobs,
                       int count, const tm_tile *tile, tm_candidate *best);
size_t tm_tile_of_planes_size(const tm_planes_job *jobs, int count, int64_t width, int64_t height);

#endif
