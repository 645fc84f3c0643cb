/* SPDX-License-Identifier: MIT */
/* Certified search of one template's best match: the bounds of all cell windows, then the windows of
 * those that the bounds do not rule out. cells.h has the words.
 *
 *     bound.cu      a bound for each cell window, and each tile's greatest
 *     survivors.cu  a first best by the greatest; lists the cell windows that are left, and scores
 *                   their windows
 *
 * A bound b is a byte: no window that its cell window serves scores more than b / 254. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_CERTIFIED_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_CERTIFIED_CUH

#include "lcc/cuda/certified/cells.h"
#include "lcc/cuda/device.cuh"

#define TM_CERTIFIED_TILE_WIDTH 128 /* cell windows of a block of bound.cu; its rows: */
#define TM_CERTIFIED_TILE_HEIGHT 32
#define TM_CERTIFIED_BIG_TILE_HEIGHT 16 /* of cells of more than TM_CERTIFIED_SMALL pixels across */
#define TM_CERTIFIED_SMALL 4

/* A template on the device. eps, delta, most_part, scale and error are the greatest of all shifts. */
typedef struct tm_certified_level {
    tm_cells cells;
    int groups, pairs;      /* of four shifts, and of two rows of cells: of fragments */
    const uint4 *fragments; /* [group][pair][lane], of the product's first matrix */
    const uint32_t *words;  /* the taps, rows of row_words, with zeros at their ends */
    int row_words;
    float eps, delta, most_part, scale;
    float error; /* what cells' roundings by 1/2 add to a product at most */
} tm_certified_level;

/* Zeros before a launch, and left so by it. */
typedef struct tm_certified_state {
    unsigned long long best;   /* order and position, so that the greatest is the best */
    unsigned long long scored; /* windows */
    unsigned listed;           /* cell windows that are left */
    unsigned done;             /* blocks */
} tm_certified_state;

/* What a launch writes beside its best. */
typedef struct tm_certified_count {
    int64_t scored;   /* windows */
    int64_t too_many; /* not 0: cell windows were left, best is wrong */
} tm_certified_count;

/* All pointers are device memory. */
typedef struct tm_certified_job : tm_device_windows {
    tm_certified_level level;
    int64_t n, sum;
    float variance;
    int cells_across, cells_down; /* cell windows of the map */
    int tile_height, tiles_x;     /* of bound.cu's tiles */
    int64_t pitch_bounds;         /* a multiple of 128 */
    uint8_t *bounds;
    tm_certified_state *state;
    uint32_t *tops; /* a tile's greatest bound, and where in the tile: its row and column, 8 bits each */
    uint32_t *list; /* of bounds, at most: */
    uint32_t most_listed;
    tm_candidate *best;
    tm_certified_count *count;
} tm_certified_job;

/* The cell windows of a map of less than 2^31 windows, and the memory for them. job: windows and
 * level are set. */
void tm_certified_cover(tm_certified_job *job);
size_t tm_certified_bytes(const tm_certified_job *job);
void tm_certified_place(tm_certified_job *job, void *memory); /* state first */

/* Rows [first, end) of cell windows, of which all those before have been bounded. */
cudaError_t tm_certified_bound(const tm_certified_job *job, int first, int end,
                               cudaStream_t stream);
cudaError_t tm_certified_survivors(const tm_certified_job *job, int multiprocessors,
                                   cudaStream_t stream);

#ifdef __CUDACC__
/* The launch's best score so far, or 0. */
static __device__ __forceinline__ float tm_certified_best(const tm_certified_job &j)
{
    const unsigned long long best = __ldcg(&j.state->best);
    const int order = (int)((unsigned)(best >> 32) ^ 0x80000000u);
    return order > 0 ? tm_score_of_order(order) : 0.0f;
}

/* The greatest bound that rules out a score of at least best. */
static __device__ __forceinline__ int tm_certified_threshold(float best)
{
    return best > 0 ? (int)(254.0f * best * (1 - 0x1p-20f)) : -1;
}

#endif

#endif
