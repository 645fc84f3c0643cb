/* SPDX-License-Identifier: MIT */
/* How the products of planes with templates become maps of their sums. */
#ifndef TMATCH_CUDA_PRODUCTS_CUH
#define TMATCH_CUDA_PRODUCTS_CUH

#include "cuda/cache.cuh"
#include "cuda/plugin.h"
#include "lcc/cuda/planes/planes.cuh"

/* The ways to make them, the fastest first. Each may be refused but the last. */
typedef enum tm_products_way {
    TM_PRODUCTS_MERGED,  /* all in one launch; those that fit 32 bits together share a map */
    TM_PRODUCTS_32_BITS, /* a launch and a map of 32 bits each */
    TM_PRODUCTS_64_BITS  /* a launch and a map of 64 bits each */
} tm_products_way;

typedef struct tm_products_plan {
    tm_products_way way;
    int maps;
    int order[TM_MAX_PRODUCTS]; /* in which the products are made */
    struct {
        int map;           /* that it is added to: one of its sum and shift */
        bool ends;         /* it is the last one of its map */
    } of[TM_MAX_PRODUCTS]; /* by product */
} tm_products_plan;

tm_products_plan tm_products_plan_make(const tm_job *job, const tm_plane_products *products,
                                       tm_products_way way);

/* The windows of a band, in the first plane. */
tm_device_windows tm_band_windows(const tm_job *job, const tm_planes_score *band);

/* Brings the groups of all products' templates to the device; wide: with the form for wide templates. Not
 * supported where there is so little memory that one of them had to make room for another. */
cudaError_t tm_products_fetch(tm_cuda *cuda, const tm_plane_products *products, bool wide, tm_group **groups);

/* Makes the products of a band and sets the band's maps to them. cudaErrorNotSupported: the
 * way is refused. */
cudaError_t tm_products_run(tm_cuda *cuda, const tm_job *job, const tm_plane_products *products,
                            const tm_products_plan *plan, tm_planes_score *band);

#endif
