/* SPDX-License-Identifier: MIT */
/* Certified search of one template's best match: the bounds of all cell windows, then the windows of
 * those that the bounds do not rule out. cells.h has the words.
 *
 *     cells.cu      the sums of the frame's cells, for all templates of one size; but not of the smallest cells
 *     bound.cu      a bound for each cell window, and each tile's greatest
 *     small_bound.cu    the same of the smallest cells, from the frame's pixels
 *     sweep.cu          and all that comes after them, but peaks, in one kernel
 *     survivors.cu  a first best by the greatest; and the scores of the cell windows' windows that are left
 *     list.cu       lists the cell windows that are left, after finer bounds where those were rough
 *     climb.cu      some peaks, for a cut, instead of a first best
 *     place.cu      the memory of it all
 *
 * Bounds are bytes: cells.h says what they mean. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_CERTIFIED_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_CERTIFIED_CUH

#include "lcc/cuda/certified/cells.h"
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/early.cuh"
#include "lcc/cuda/tensor/tensor.h"

#define TM_CERTIFIED_TILE_WIDTH 128 /* cell windows of a block of bound.cu; its rows: */
#define TM_CERTIFIED_TILE_HEIGHT 32
#define TM_CERTIFIED_TILE_COLUMNS (TM_CERTIFIED_TILE_WIDTH + 16) /* of cells below a tile */
#define TM_CERTIFIED_BIG_TILE_HEIGHT 16 /* of cells of more than TM_CERTIFIED_SMALL pixels across */
#define TM_CERTIFIED_SMALL 4
#define TM_CERTIFIED_PARTS 8     /* of a tile, a warp's each */
#define TM_CERTIFIED_CLIMBED 256 /* peaks */
#define TM_CERTIFIED_FIRSTS 64   /* cell windows, from which a first best comes */

/* The most rows of pixels that the windows of a cell window have together, where cells are the smallest. */
#define TM_SWEEP_LINES_MOST ((TM_CELLS_MOST + 2) * TM_CELLS_SMALLEST)

/* Coarse templates on the device. */
typedef struct tm_certified_coarse {
    int templates, groups;  /* of four */
    const uint4 *fragments; /* [group][row of cells][lane], of the product's first matrix */
    const float *limits;    /* of tm_cells_set */
    float factor;           /* a bound is this times a product's square over what the cells' sums have of spread */
    float error;            /* what cells' roundings add to a product at most */
    float least;            /* what a score has to be for a bound of 1 to rule it out */
} tm_certified_coarse;

/* A template on the device. */
typedef struct tm_certified_level {
    tm_cells cells;
    tm_cells_rounding rounding;
    int pairs; /* of two rows of cells */
    tm_certified_coarse rough; /* one for several shifts, where that saves products, */
    tm_certified_coarse fine;  /* and one for each shift, for the cell windows that rough ones leave */
    float ratio;               /* of fine's factor to rough's; 0: both are the same */
    const uint32_t *words;     /* the taps, rows of row_words, with zeros at their ends */
    int row_words;
    const uint2 *sweep_fragments; /* of the smallest cells: [row of pixels][lane], of sweep.cu's second matrix; else NULL */
    bool narrow; /* what the cells' sums have of spread has 32 bits */
} tm_certified_level;

/* Zeros before a launch, and left so by it. */
typedef struct tm_certified_state {
    unsigned long long best;   /* order and position, so that the greatest is the best */
    unsigned long long scored; /* windows */
    unsigned listed;           /* cell windows that are left */
    unsigned tiled;            /* tiles of the tensor cores that have some of their windows */
    unsigned done;             /* blocks */
    unsigned climbed;          /* peaks found by climbing */
    unsigned given_up;         /* not 0: by a block of a sweep */
    tm_candidate of_tiles;     /* their best */
    /* The greatest bound of tile i and every TM_CERTIFIED_FIRSTS-th one after it, that tile's number, and where in it as in
     * part_tops. */
    unsigned long long firsts[TM_CERTIFIED_FIRSTS];
} tm_certified_state;

/* A launch's memory begins with it. */
typedef struct tm_certified_learned {
    alignas(256) tm_certified_state state;
    alignas(256) tm_candidate climbed[TM_CERTIFIED_CLIMBED]; /* some peaks of the map */
} tm_certified_learned;

/* What a launch writes beside its best. */
typedef struct tm_certified_count {
    int64_t scored;   /* windows */
    int32_t too_many; /* not 0: cell windows were left, or windows not written, and best may be wrong */
    int32_t many;     /* not 0: all windows could have been scored as quickly */
} tm_certified_count;

/* Where windows that score so much are written, in any order; those beyond the capacity are counted. */
typedef struct tm_certified_reaching {
    int least;                 /* order */
    unsigned long long *count; /* 0 before a launch; NULL: the best alone is asked for */
    unsigned long long *keys;  /* order and position, so that the greatest is the best; some of them twice */
    uint64_t capacity;
} tm_certified_reaching;

/* All pointers are device memory. */
typedef struct tm_certified_job : tm_device_windows {
    tm_certified_level level;
    int64_t n, sum;
    float variance;
    int cells_across, cells_down; /* cell windows of the map */
    int tile_height, tiles_x;     /* of bound.cu's tiles */
    int64_t pitch_bounds;         /* a multiple of 128 */
    int64_t pitch_cells;          /* a multiple of 16 */
    uint16_t *cells;              /* sums of cells; beyond the frame's, 0; NULL where they are not kept */
    uint8_t *bounds; /* rough ones; fine ones of the cell windows in the list */
    float *factors;  /* what a product's square is multiplied by for a rough bound; NULL where there are no others */
    tm_certified_state *state;
    uint32_t *part_tops; /* of a part of a tile, the greatest bound, and where in the tile: its row and column, 8 bits each */
    uint32_t *list; /* of bounds, at most so many; NULL where a sweep goes without one */
    uint32_t most_listed;
    tm_tensor_list tiles; /* that have windows of the list; parts are 0 before a launch, and left so by it */
    int tiles_down;       /* 0: no tiles can be made */
    tm_certified_reaching reaching; /* with them, no tiles are made */
    tm_candidate *climbed;          /* of the state's memory */
    int known;                      /* order that is reached elsewhere: windows of less need not be found */
    tm_candidate *best;
    tm_certified_count *count;
    bool early; /* kernels may be launched while the one before ends */
} tm_certified_job;

/* Whether one kernel does all that comes after the bounds, without a list and without tiles. */
static inline bool tm_certified_sweeps(const tm_certified_job *job)
{
    return job->level.cells.size == TM_CELLS_SMALLEST;
}

/* The cell windows of a map of less than 2^31 windows, and the memory for them. job: windows and
 * level are set. */
void tm_certified_cover(tm_certified_job *job);
size_t tm_certified_bytes(const tm_certified_job *job);
void tm_certified_place(tm_certified_job *job, void *memory);
size_t tm_certified_cleared(const tm_certified_job *job); /* the first bytes of memory that have to be zeros */
int tm_certified_tiles(const tm_certified_job *job);      /* of bound.cu */

/* Rows [first, end) of cell windows, of which all those before have been bounded: the cells that they
 * need beside those before, if they are kept, and their bounds. */
cudaError_t tm_certified_cells(const tm_certified_job *job, int first, int end, cudaStream_t stream);
cudaError_t tm_certified_bound(const tm_certified_job *job, int first, int end,
                               cudaStream_t stream);
cudaError_t tm_certified_small_bound(const tm_certified_job *job, int first, int end,
                                     cudaStream_t stream);
/* A first best, or peaks, of which one is; the list of cell windows that are left; then, after the listed tiles if
 * they may be scored, the windows of the list, and the launch's best. */
cudaError_t tm_certified_first(const tm_certified_job *job, int multiprocessors, cudaStream_t stream);
cudaError_t tm_certified_climb(const tm_certified_job *job, int multiprocessors, cudaStream_t stream);
cudaError_t tm_certified_list(const tm_certified_job *job, int multiprocessors, cudaStream_t stream);
cudaError_t tm_certified_score(const tm_certified_job *job, int multiprocessors, cudaStream_t stream);
/* All of this but peaks, for the smallest cells. It gives up where about most_listed cell windows are left, or more. */
cudaError_t tm_certified_sweep(const tm_certified_job *job, int multiprocessors, cudaStream_t stream);

/* Whether tm_certified_job's early may be set. */
bool tm_certified_can_be_early(void);

#ifdef __CUDACC__
/* Order and position of a window, so that the greatest is the best. */
static __host__ __device__ __forceinline__ int tm_certified_order(unsigned long long key)
{
    return (int)((unsigned)(key >> 32) ^ 0x80000000u);
}

static __device__ __forceinline__ unsigned tm_certified_position(unsigned long long key)
{
    return 0xffffffffu - (unsigned)key;
}

/* What a window has to score to matter where the launch has found this one: its score, or what is known elsewhere, or less where
 * windows are written that score less; or 0. */
static __device__ __forceinline__ float tm_certified_least_by(const tm_certified_job &j, unsigned long long best)
{
    int order = max(tm_certified_order(best), j.known);
    if (j.reaching.count)
        order = min(order, j.reaching.least);
    return order > 0 ? tm_score_of_order(order) : 0.0f;
}

/* The same by the launch's best so far. */
static __device__ __forceinline__ float tm_certified_least(const tm_certified_job &j)
{
    return tm_certified_least_by(j, __ldcg(&j.state->best));
}

/* The greatest bound that rules out a score of at least so much, at least 0, for all of a warp. */
static __device__ __forceinline__ int tm_certified_threshold(const tm_certified_coarse &coarse, float least)
{
    unsigned out = 0;
#pragma unroll
    for (int i = 0; i < 256; i += 32) {
        const int bound = i + (int)(threadIdx.x & 31);
        out += bound < TM_CELLS_LIMITS && __ldg(coarse.limits + min(bound, TM_CELLS_LIMITS - 1)) < least;
    }
    return max((int)tm_warp_sum(out) - 1, 0);
}

#endif

#endif
