/* SPDX-License-Identifier: MIT */
/* Windows of planes of bytes that need not be scored, by the products with a template's direction (lcc/direction.h). */
#ifndef TMATCH_LCC_CUDA_PLANES_BOUND_CUH
#define TMATCH_LCC_CUDA_PLANES_BOUND_CUH

#include "lcc/cuda/planes/planes.cuh"
#include "lcc/direction.h"

/* The sum of a patch's samples, and that of their squares. */
typedef struct tm_patch {
    uint32_t sum, squares;
} tm_patch;

/* The order of what a cell's windows score at most by the direction; and what the sum of products is divided by for that, or less. */
typedef struct tm_cell {
    int order;
    float divisor;
} tm_cell;

/* A map whose windows are bounded. All pointers are device memory. */
typedef struct tm_planes_bound {
    tm_device_windows windows; /* in the first channel's plane */
    int64_t plane;             /* bytes from one channel's plane to the next */
    int channels;
    const int32_t *tops; /* the greatest sum of products of each 8 windows of a row; */
    int64_t tops_stride; /* elements between its rows */
    tm_patch *patches;   /* of each channel, tm_patches_across x tm_patches_down */
    tm_cell *cells;      /* tm_cells_across x tm_cells_down */
    double length;       /* the direction's */
    tm_direction_core core;
    tm_planes_list list; /* whose found->best becomes the order of a score that some window reaches by the direction */
    bool early;          /* see early.cuh */
} tm_planes_bound;

/* Patches of a channel cover all windows' pixels, cells all windows. */
static inline __host__ __device__ int64_t tm_patches_across(const tm_device_windows &w)
{
    return (w.map_width + w.width - 1 + TM_PATCH - 1) / TM_PATCH;
}

static inline __host__ __device__ int64_t tm_patches_down(const tm_device_windows &w)
{
    return (w.map_height + w.height - 1 + TM_PATCH - 1) / TM_PATCH;
}

static inline __host__ __device__ int64_t tm_cells_across(const tm_device_windows &w)
{
    return (w.map_width + TM_PATCH - 1) / TM_PATCH;
}

static inline __host__ __device__ int64_t tm_cells_down(const tm_device_windows &w)
{
    return (w.map_height + TM_PATCH - 1) / TM_PATCH;
}

/* Adds up the patches, which may be while the kernel before runs: the one before that has made the planes. */
cudaError_t tm_patches_launch(const tm_planes_bound *bound, cudaStream_t stream);

/* Lists the windows that may be the best one, once tops are there; if they are too many, some are missing, and found->listed says so. */
cudaError_t tm_planes_bound_launch(const tm_planes_bound *bound, cudaStream_t stream);

#endif
