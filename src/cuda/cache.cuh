/* SPDX-License-Identifier: MIT */
/* Templates that are on the device, found again by their content. */
#ifndef TMATCH_CUDA_CACHE_CUH
#define TMATCH_CUDA_CACHE_CUH

#include "cuda/certified.cuh"
#include "cuda/plugin.h"
#include "fft/cuda/fft.cuh"
#include "lcc/cuda/tensor/tensor.h"
#include "lcc/direction.h"

/* Templates of one size that are matched together, on the device. */
typedef struct tm_group {
    size_t count; /* 0: the group is free */
    tm_template *keys;
    uint8_t *samples;          /* the keys', on the host, and behind them their masks, where they have any */
    uint8_t *taps;             /* the same: one template after the other */
    void *fragments;           /* for the tensor cores, or NULL */
    bool has_rest;             /* of the fragments */
    bool is_bounded;           /* of tm_fetch_bound's: these are made */
    tm_direction *direction;   /* of the template, or NULL: it was not asked for, or is of no use, */
    bool has_no_direction;     /* which is known */
    bool was_asked;            /* for its direction, which is made the second time */
    bool held;                 /* the group is not dropped for others */
    void *wide_fragments;      /* where a job wanted them, or NULL */
    tm_tensor_template *table; /* with the fragments */
    tm_certified_group certified;
    size_t bytes;              /* of these five */
    tm_fft_spectrum spectrum;  /* of a single template that FFT has matched */
    tm_rest rest;              /* of a rounded template: see planes_rounded.cu */
    uint64_t used;             /* the cache's clock when it was last asked for */
} tm_group;

typedef struct tm_cache {
    tm_group *groups; /* TM_CACHED_GROUPS, of which the first count were used */
    int count;
    uint64_t clock;
} tm_cache;

#define TM_CACHED_GROUPS 2048 /* seven for one template of three channels, 16 bits, a mask */

/* Finds the jobs' templates on the device or brings them there, in place of the groups that
 * were not used for longest. *found is the cache's. */
cudaError_t tm_fetch_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **found);

/* The same without what only a match of all windows needs: kernels that are never run are not loaded either. */
cudaError_t tm_fetch_certified_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **found);

/* The same of one template as its pixels are, which tm_tensor_launch_bound takes; its fragments are for that, and where it has a mask its table,
 * unless too few pixels in one place count: then the group is not bounded. */
cudaError_t tm_fetch_bound(tm_cuda *cuda, const tm_job *job, tm_group **found);

/* The same of one template of 8 bits, whose direction is made when it is asked for once more, if it is of use: what it takes of the first match
 * would be more than it saves there. */
cudaError_t tm_fetch_direction(tm_cuda *cuda, const tm_job *job, tm_group **found);

/* Brings the form for wide templates of a group of one, unless it has it. */
cudaError_t tm_fetch_wide(tm_cuda *cuda, tm_group *group);

/* Drops the spectra that were not used for longest, but not this group's, until one of size
 * fits. */
void tm_make_room_for_spectrum(tm_cuda *cuda, const tm_group *group, size_t size);
void tm_drop_groups(tm_cuda *cuda);

#endif
