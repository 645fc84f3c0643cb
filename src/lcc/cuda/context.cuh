/* SPDX-License-Identifier: MIT */
/* A device's context: its memory, kept across frames, and the steps of a match. */
#ifndef TMATCH_LCC_CUDA_CONTEXT_CUH
#define TMATCH_LCC_CUDA_CONTEXT_CUH

#include "fft/cuda/fft.cuh"
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/peaks.cuh"
#include "lcc/cuda/plugin.h"
#include "lcc/cuda/tensor.h"

#define TM_CACHED_GROUPS 256
#define TM_GROUP_MAX 64 /* templates in one launch */

/* Templates of one size that are matched together, on the device. */
typedef struct tm_group {
    size_t count; /* 0: a free place */
    tm_template *keys;
    uint8_t *samples;          /* the keys', host */
    uint8_t *taps;             /* one template after the other */
    void *fragments;           /* for the tensor cores, or NULL */
    tm_tensor_template *table; /* likewise */
    tm_fft_spectrum spectrum;  /* of a single template that FFT has matched */
    uint64_t used;             /* the context's clock when it was last asked for */
} tm_group;

/* Where the frame lies in its zero-extended device copy. */
typedef struct tm_layout {
    int64_t frame_width, frame_height, pad_x, pad_y, rows;
    size_t pitch;
} tm_layout;

/* What is launched for a group, and can be launched again. */
typedef struct tm_launch {
    const tm_group *group; /* NULL: nothing */
    tm_metric metric;
    bool by_fft, on_tensor_cores;
    tm_fft_job fft;
    tm_tensor_job tensor;
    tm_device_job direct; /* for the group's first template */
    tm_peak_job peaks;    /* its map's, if it has one */
} tm_launch;

enum { TM_EVENT_START, TM_EVENT_ON_DEVICE, TM_EVENT_MATCHED, TM_EVENT_DONE, TM_EVENTS };

struct tm_cuda {
    int index;
    char name[128];
    cudaStream_t stream;
    cudaEvent_t events[TM_EVENTS];

    tm_buffer frame;
    tm_layout layout; /* what the frame's memory is zeroed for */
    tm_buffer map, candidates, bests;
    tm_device_peaks peaks;
    tm_candidate *reduced;      /* device, TM_REDUCE_BLOCKS */
    tm_candidate *pinned_bests; /* host */
    size_t pinned_bests_count;

    uint8_t *staging[2]; /* pinned */
    size_t staging_size;
    cudaEvent_t staging_free[2];

    tm_group groups[TM_CACHED_GROUPS];
    uint64_t clock;

    tm_cuda_traits traits;
    tm_fft_device fft;
    tm_tensor_device tensor;
    bool tensor_dirty; /* a launch may have left its scratch half written */

    tm_launch last;
};

/* transfer.cu: copies the frame into its zero-extended place, if it is a fresh one
 * or its place has changed with the template's size. The zeros around it are
 * written only then. */
cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job, bool fresh);

/* transfer.cu: copies the dense device map into the caller's rows; the copy of one
 * chunk overlaps the unpacking of the chunk before it. */
cudaError_t tm_download_map(tm_cuda *cuda, const tm_job *job);

/* cache.cu: finds the jobs' templates on the device or brings them there, in place
 * of the group that was not used for longest. */
cudaError_t tm_fetch_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **found);

/* cache.cu: drops the spectra that were not used for longest, but not this group's,
 * until one of size fits. */
void tm_make_room_for_spectrum(tm_cuda *cuda, const tm_group *group, size_t size);
void tm_drop_groups(tm_cuda *cuda);

/* run.cu: the whole match, and the device's part of the last one again. */
cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count);
cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms);

#endif
