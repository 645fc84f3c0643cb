/* SPDX-License-Identifier: MIT */
/* Bundles of a large template's poses: sums of a frame's pixels over cells, what any bundle can score at most in each
 * window of these, and the bundles that pass. pose_large.h says what they are, family.h has the bound. */
#ifndef TMATCH_LCC_CUDA_POSES_LARGE_CUH
#define TMATCH_LCC_CUDA_POSES_LARGE_CUH

#include "lcc/cuda/device.cuh"
#include "lcc/cuda/poses/products.cuh"
#include "lcc/pose_large_device.h"
#include "lcc/pose_place.h"

enum {
    TM_LARGE_ROWS = 1,   /* of cells below a window's that may be read */
    TM_LARGE_PADDED = 4, /* numbers of a bundle behind its coordinates, of which the first is the rest */
};

/* A frame of cells on the device, and its windows. */
typedef struct tm_large_cells {
    int x, y, width, height; /* as tm_cell_frame's */
    uint8_t *means, *rests;  /* the first cell's; zeros surround them */
    int64_t first_sum;       /* of its row's sums */
    int first_x, first_y, across, down;
    unsigned first; /* window, in the order of all frames of cells */
} tm_large_cells;

/* A class on the device; K is its number of basis templates, padded with ones of zeros. All pointers are device memory. */
typedef struct tm_large_level {
    int basis;  /* K / TM_POSE_COLUMNS */
    int height, steps; /* of the core's box */
    int side, count; /* of a cell; bundles */
    unsigned pixels; /* cells of the core */
    float error;
    const tm_family_run *runs; /* the core's cells */
    int run_count;
    const uint2 *fragments; /* of the basis templates, for tm_pose_multiply */
    const float *solve;   /* K x K */
    const float *coordinates; /* K + TM_LARGE_PADDED of each bundle: coordinates, and the rest */
    const uint8_t *planes; /* of each frame rows of means, then of rests, */
    size_t pitch;
    int64_t rows;
    unsigned *cell_sums; /* and for each row of both the sums of what cells sum up to before one, and of the squares of that */
    unsigned long long *cell_squares;
    tm_large_cells cells[TM_LARGE_FRAMES];
    int frames;
    unsigned windows;
    int columns, reach, margin_x, margin_y; /* of the class's box; cells that it has beside the core's */
    const int *ends;    /* of its rows: where cells begin, then where they end */
    double most_share, most_rest, spread; /* the class's */
    const uint64_t *squares; /* as the look's, */
    int squares_across, squares_down;
    double *energies; /* of each window's cells, in pixels */
    unsigned *sums;   /* of its pixels */
    float *p;    /* K + 1 rows of all windows: their coordinates, and rests; at first, as int, the products */
    float *most; /* of each window: the greatest bound, but for what roundings add; and whose it is */
    int *best;
} tm_large_level;

/* The most windows of a frame of cells. */
static inline unsigned tm_large_most_windows(const tm_large_level *l)
{
    int most = 0;
    for (int i = 0; i < l->frames; i++)
        most = l->cells[i].across * l->cells[i].down > most ? l->cells[i].across * l->cells[i].down : most;
    return (unsigned)most;
}

/* Zeros before windows are listed. */
typedef struct tm_large_state {
    unsigned long long bundles;
    unsigned passed, padding;
} tm_large_state;

/* The cells of all of the level's frames, of a plane of 8 bits. */
cudaError_t tm_large_make_cells(const tm_large_level *level, const uint8_t *plane, size_t pitch, int width, int height,
                               cudaStream_t stream);

/* What is of windows. */
cudaError_t tm_large_bound(const tm_large_level *level, cudaStream_t stream);

/* What bounds must reach: see tm_large_list. */
typedef struct tm_large_asked {
    float least;
    double angle, core;
} tm_large_asked;

/* Lists windows that bundles pass in, with how many; then these. */
cudaError_t tm_large_find(const tm_large_level *level, const tm_large_asked *least, tm_large_state *state,
                          tm_large_passed *passed, cudaStream_t stream);
cudaError_t tm_large_fill(const tm_large_level *level, const tm_large_passed *passed, unsigned count, int *bundles,
                          float *bounds, cudaStream_t stream);

/* A template, packed, and what counts of it. */
typedef struct tm_large_template {
    const uint8_t *samples, *mask; /* mask: NULL if there is none */
    int width, height;
    int64_t distance; /* the disc's, or INT64_MAX */
} tm_large_template;

/* A pose of it, with its places. */
typedef struct tm_large_picture {
    tm_pose_steps steps;
    int width, height;
    unsigned first, count;
} tm_large_picture;

/* Adds what is summed up at places of pictures, which are at most so wide and high, to sums. frame: its first sample, with
 * zeros around it, as far as the pictures reach and eight columns more. */
cudaError_t tm_large_sum_places(const tm_large_template *tmpl, const tm_large_picture *pictures, size_t count, int width,
                                int height, const tm_large_place *places, const uint8_t *frame, size_t pitch,
                                tm_large_sums *sums, cudaStream_t stream);

#endif
