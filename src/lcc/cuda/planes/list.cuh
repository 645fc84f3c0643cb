/* SPDX-License-Identifier: MIT */
/* Windows that scores with a rounded template (lcc/rounded.h), or bounds of these, leave to be scored with the template itself. */
#ifndef TMATCH_LCC_CUDA_PLANES_LIST_CUH
#define TMATCH_LCC_CUDA_PLANES_LIST_CUH

#include "lcc/cuda/device.cuh"
#include "lcc/rounded.h"

/* What a frame's launches have found so far, on the device. */
typedef struct tm_planes_found {
    int best; /* order of the best score, or of one that some window reaches */
    unsigned done; /* blocks of tm_listed_launch */
    unsigned long long listed; /* windows; above TM_PLANES_LISTED some are missing */
    unsigned long long top;    /* of windows that are bounded (bound.cuh), the cell of the best score, behind its order; 0: there is none */
    int exact;                 /* order of the best score with the template itself */
} tm_planes_found;

#define TM_NOTHING_FOUND {INT_MIN, 0, 0, 0, INT_MIN}

/* The order of that score, or of one that is no less, and the position. */
typedef struct tm_listed {
    int order;
    unsigned position;
} tm_listed;

/* On the device. */
typedef struct tm_planes_list {
    tm_listed *of; /* NULL: there is none, and scores are final */
    tm_planes_found *found;
    tm_rounding rounding;
} tm_planes_list;

/* Room for more than all windows of what a launch's blocks take first, when no good score is known yet: these may be of
 * interest where a frame is flat or changes slowly. */
enum { TM_PLANES_LISTED = 1 << 21 };

#ifdef __CUDACC__
/* Takes so many places of the list, and puts a window in one of them, if there is room. */
static __device__ __forceinline__ unsigned long long tm_list_take(const tm_planes_list &list, unsigned count)
{
    return atomicAdd(&list.found->listed, (unsigned long long)count);
}

static __device__ __forceinline__ void tm_list_put(const tm_planes_list &list, unsigned long long at, int order, int64_t position)
{
    if (at < TM_PLANES_LISTED)
        list.of[at] = {order, (unsigned)position};
}

/* The order of a score to reach. 0 or less: any score will do. */
static __device__ __forceinline__ int tm_list_order(float limit)
{
    return limit > 0 ? tm_score_order(limit) : INT_MIN;
}

/* The order that a window must have to be of interest, where such a best one is known; and where such a score with the template itself is. */
static __device__ __forceinline__ int tm_list_least(const tm_planes_list &list, int best)
{
    return tm_list_order(tm_rounded_limit(list.rounding, tm_score_of_order(best)));
}

static __device__ __forceinline__ int tm_list_least_of_exact(const tm_planes_list &list, int exact)
{
    const float score = tm_score_of_order(exact);
    return tm_list_order(score > 0 ? tm_rounded_least(list.rounding, score) : 0);
}
#endif

#endif
