/* SPDX-License-Identifier: MIT */
/* A device's context: its memory, kept across frames, its streams, and its last match. */
#ifndef TMATCH_CUDA_CONTEXT_CUH
#define TMATCH_CUDA_CONTEXT_CUH

#include <cuda.h>

#include "cuda/cache.cuh"
#include "cuda/launch.cuh"
#include "cuda/peaks.cuh"
#include "cuda/poses.cuh"
#include "cuda/poses_large.cuh"
#include "cuda/transfer.cuh"

/* The driver's own calls; NULL where it has none. */
typedef struct tm_driver {
    decltype(&cuCtxGetCurrent) get_context;
    decltype(&cuCtxSetCurrent) set_context;
} tm_driver;

/* What was run last, and can be launched again. */
typedef struct tm_last {
    tm_launch launch;   /* of 8-bit gray; without a group: none */
    tm_job job;         /* of any other format; without a template: none */
    tm_candidate *best; /* of that job, device memory */
    tm_peak_job peaks;  /* of the map; without one: none */
    bool all_windows;   /* of that job: where it is launched again no windows are left out, as too many are left */
    bool again;         /* it is launched again: frames to come are not counted */
} tm_last;

/* ON_DEVICE comes after each copy in and MATCHED after each launch: the last one counts. */
enum { TM_EVENT_START, TM_EVENT_ON_DEVICE, TM_EVENT_MATCHED, TM_EVENT_DONE, TM_EVENTS };

struct tm_device {
    int index;
    char name[128];
    tm_driver driver;
    tm_memory memory;
    cudaStream_t stream;  /* kernels */
    cudaStream_t in, out; /* copies, so that they overlap the kernels */
    cudaEvent_t events[TM_EVENTS];
    cudaEvent_t reached;         /* by one stream, for which another waits */
    int64_t bytes_in, bytes_out; /* of the running match */

    tm_device_frame plain, raw; /* 8-bit gray; any other format as it came */
    tm_buffer map, candidates, bests;
    tm_buffer certified; /* state, bounds and lists of its launches */
    tm_certified_learned *learned; /* pinned, or NULL */
    bool all_windows;    /* windows were left out, and the best is not known: this time none are */
    int pixel_bits;      /* that samples of 16 bits have, by the last frame whose best was not known; 0: none was */
    int taken_bits;      /* that the last launch took them to have */
    bool has_new_bits;   /* in this call a best was not known because there are more: that is no reason to rest, */
    bool had_new_bits;   /* unless the call before had that excuse */
    tm_rest leaves_out;  /* of launches without certified search that may leave windows out, whatever their template and format */
    tm_device_peaks peaks;
    tm_device_poses poses;
    tm_device_large large;

    /* formats other than 8-bit gray */
    tm_buffer planes, correlations, found;
    tm_layout planes_layout; /* for which the planes' memory is zeroed */
    int planes_count;
    bool planes_early; /* likewise; their launches may be early */
    tm_planes_found *planes_found; /* on the device: from where a frame is split on; */
    tm_planes_found *pixels_found; /* and where it is not, of a rounded template: nothing between matches */
    tm_buffer listed;             /* windows that scores with a rounded template, or with a direction, leave */
    tm_template *ones;            /* a mask of all pixels, of a wide template's size, or NULL */
    tm_buffer masked;             /* sums of templates that share a mask */
    tm_buffer taps;               /* of a float template */
    tm_fft_spectrum f32_spectrum; /* of a channel of it */

    tm_candidate *reduced;      /* device, TM_REDUCE_BLOCKS */
    tm_candidate *pinned_bests; /* host */
    size_t pinned_bests_count;

    tm_staging staging_in, staging_out;

    bool unawaited;       /* a match that nobody waits for may still run */
    tm_message refusal;   /* why the running match's frame cannot be matched, or "" */
    tm_buffer not_finite; /* the first such sample of a frame of floats that was on the device */

    tm_cache cache;

    tm_device_traits traits;
    tm_rates rates;
    tm_fft_device fft;
    tm_tensor_device tensor;
    bool tensor_dirty; /* a launch may have left its scratch half written */

    tm_last last;
};

#endif
