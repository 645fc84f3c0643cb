/* SPDX-License-Identifier: MIT */
/* Certified search in poses. family.h has the bound, docs/exactness.md its proof.
 *
 *     bound.cu      for each window of a class at most what any of its members can score there: the products with
 *                   all basis templates in one launch
 *     survivors.cu  a first best from the greatest of these; the members that can still matter in a window, each by
 *                   its own bound; their exact scores, and the best of all
 *
 * The host waits for nothing in between. */
#ifndef TMATCH_LCC_CUDA_POSES_POSES_CUH
#define TMATCH_LCC_CUDA_POSES_POSES_CUH

#include "lcc/cuda/device.cuh"
#include "lcc/cuda/poses/products.cuh"
#include "lcc/family.h"

enum {
    TM_POSE_TILE_HEIGHT = 16, /* rows of windows of a block of bound.cu */
    TM_POSE_SLACK = 128, /* columns beyond the last window's that bound.cu may read, and */
    TM_POSE_SLACK_ROWS = 2,
};

/* A member's picture. Its rows are of whole words, with zeros at their ends. */
typedef struct tm_pose_picture {
    const uint32_t *taps;   /* its samples, 0 where pixels do not count */
    const uint32_t *counts; /* 255 where they do */
    int width, height, row_words;
    int left, top;          /* of the core's box in it */
    int x, y, end_x, end_y; /* where its corner may lie in the frame: from (x, y) to before the end */
    unsigned pose, pixels, sum;
    float variance;
    float error;  /* its class's */
    double share; /* likewise */
} tm_pose_picture;

/* A class on the device; K is its number of basis templates, padded with ones of zeros. */
typedef struct tm_pose_level {
    int basis;   /* K / TM_POSE_COLUMNS */
    int width, height, row_words, steps; /* of the core's box; of 32 columns */
    int run_count, count, padded;        /* members, and with others that have no coordinates */
    unsigned pixels;
    const uint2 *fragments;   /* [row][step][K / 8][lane], of the product's second matrix */
    const uint32_t *words;    /* 255 where the core is, then for each basis template q + 128: rows of row_words */
    const tm_family_run *runs;
    const float *solve;       /* K x K */
    const float *coordinates; /* K + 1 rows of members: coordinates, and the rests */
    const float *radius;      /* K / 2 */
    unsigned first; /* of the job's pictures */
    float rest, error, root; /* root: of the number of pixels */
    int x, y;                /* of the first window's corner in the frame */
    int across, down;        /* windows, */
    unsigned first_window;   /* in the order of all classes' */
    float *most;             /* a window's bound, but for TM_FAMILY_ROUNDING and error */
    uint32_t *tops;          /* the window of a tile's greatest */
    int tiles_across, tiles;
    int first_tile; /* in the order of all classes' */
} tm_pose_level;

/* A picture at a place, which passed in the bounds. */
typedef struct tm_pose_pair {
    int x, y; /* of its corner in the frame */
    unsigned picture;
    int value; /* order of the bound, then of the score; INT_MIN: it was not made, for others score more */
} tm_pose_pair;

/* Zeros before a search. */
typedef struct tm_pose_state {
    unsigned long long best;  /* the best score so far, by tm_pose_biased, and below it 32 bits: the window, or none */
    unsigned long long first; /* the first of the best pairs: the complement of tm_pose_place */
    unsigned looked;          /* windows whose members were to be looked at, which may be too many */
    unsigned listed;          /* pairs, of which the list may hold fewer */
    unsigned found;           /* that reach the floor; likewise */
    unsigned scored;
} tm_pose_state;

/* All pointers are device memory. */
typedef struct tm_pose_job {
    const uint8_t *frame; /* its first sample; zeros surround it */
    size_t pitch;         /* a multiple of 128 */
    const uint2 *sums;    /* of the samples before one in its row, and of their squares, likewise */
    const tm_pose_picture *pictures;
    int floor; /* order: pairs that reach it are found; INT_MAX: the best alone */
    tm_pose_pair *list, *found;
    tm_pose_pair *guesses; /* of each tile; NULL: they are not asked for */
    unsigned most_looked, most_listed, most_found;
    tm_pose_state *state;
} tm_pose_job;

/* An order as a number without sign; 0 is below all. */
TM_HOST_DEVICE unsigned tm_pose_biased(int order)
{
    return (unsigned)order ^ 0x80000000u;
}

TM_HOST_DEVICE int tm_pose_best_of(unsigned long long best)
{
    return (int)((unsigned)(best >> 32) ^ 0x80000000u);
}

/* A pair's place among those of equal scores, for centres from -2^16 to 2^20 - 2^16 - 1 halves of a pixel. */
TM_HOST_DEVICE unsigned long long tm_pose_place(int x, int y, int width, int height, unsigned pose)
{
    const unsigned long long down = (unsigned)(2 * y + height - 1 + (1 << 16)),
                             right = (unsigned)(2 * x + width - 1 + (1 << 16));
    return down << 44 | right << 24 | pose;
}

/* rows x columns of samples from plane on, columns a multiple of 128; sums is of as many. */
cudaError_t tm_poses_sum_rows(const uint8_t *plane, size_t pitch, int64_t rows, uint2 *sums, cudaStream_t stream);

/* The bounds of one class, whose level is on the host. */
cudaError_t tm_poses_bound(const tm_pose_job *job, const tm_pose_level *level, cudaStream_t stream);

/* After the bounds of all classes: a first best, class by class, and twice what is around it; then for each class
 * what is left; and then the scores and the best of all. */
cudaError_t tm_poses_guess(const tm_pose_job *job, const tm_pose_level *level, cudaStream_t stream);
cudaError_t tm_poses_climb(const tm_pose_job *job, const tm_pose_level *level, cudaStream_t stream);
cudaError_t tm_poses_list(const tm_pose_job *job, const tm_pose_level *level, double share, cudaStream_t stream);
cudaError_t tm_poses_score(const tm_pose_job *job, int multiprocessors, cudaStream_t stream);

#endif
