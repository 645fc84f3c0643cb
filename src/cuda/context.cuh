/* SPDX-License-Identifier: MIT */
/* A device's context: its memory, kept across frames, and the steps of a match. */
#ifndef TMATCH_LCC_CUDA_CONTEXT_CUH
#define TMATCH_LCC_CUDA_CONTEXT_CUH

#include <cuda.h>

#include "fft/cuda/fft.cuh"
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/planes/planes.cuh"
#include "cuda/peaks.cuh"
#include "cuda/plugin.h"
#include "lcc/cuda/tensor/tensor.h"
#include "cuda/schedule.h"

#define TM_CACHED_GROUPS 2048 /* seven for one template of three channels, 16 bits, a mask */

/* That a chunk copies at most: 0.6 ms of bus, in which launching it does not show. */
#define TM_CHUNK_BYTES ((int64_t)32 << 20)

/* Templates of one size that are matched together, on the device. */
typedef struct tm_group {
    size_t count; /* 0: a free place */
    tm_template *keys;
    uint8_t *samples;          /* the keys', host */
    uint8_t *taps;             /* one template after the other */
    void *fragments;           /* for the tensor cores, or NULL */
    void *wide;                /* likewise, where a job wanted them */
    tm_tensor_template *table; /* likewise */
    size_t bytes;              /* of these four */
    tm_fft_spectrum spectrum;  /* of a single template that FFT has matched */
    uint64_t used;             /* the context's clock when it was last asked for */
} tm_group;

/* Pinned host memory in two turns, so that the host's copy of one part overlaps the
 * bus's copy of the other. */
typedef struct tm_staging {
    uint8_t *memory[2];
    cudaEvent_t done[2]; /* the bus's last copy */
    int turn;            /* used last, on the way in */
    size_t size;         /* of each */
} tm_staging;

/* What is launched for a group, and can be launched again. */
typedef struct tm_launch {
    const tm_group *group; /* NULL: nothing, or a job of planes */
    tm_job planes_job;     /* tmpl NULL: none */
    tm_candidate *best;    /* of the planes_job */
    tm_metric metric;
    bool by_fft, on_tensor_cores;
    tm_fft_job fft;
    tm_tensor_job tensor;
    tm_device_job direct; /* for the group's first template */
    tm_peak_job peaks;    /* its map's, if it has one */
} tm_launch;

/* The driver's own calls; NULL where it has none. */
typedef struct tm_driver {
    decltype(&cuCtxGetCurrent) get_context;
    decltype(&cuCtxSetCurrent) set_context;
} tm_driver;

/* ON_DEVICE comes after each copy in and MATCHED after each launch: the last one counts. */
enum { TM_EVENT_START, TM_EVENT_ON_DEVICE, TM_EVENT_MATCHED, TM_EVENT_DONE, TM_EVENTS };

struct tm_cuda {
    int index;
    char name[128];
    tm_driver driver;
    tm_memory memory;
    cudaStream_t stream;  /* kernels */
    cudaStream_t in, out; /* copies, so that they overlap the kernels */
    cudaEvent_t events[TM_EVENTS];
    cudaEvent_t reached;         /* by a stream, when another may go on */
    int64_t bytes_in, bytes_out; /* of the running match */

    tm_buffer frame;
    tm_layout layout;   /* what the frame's memory is zeroed for */
    int64_t frame_rows; /* that the running match has copied there */
    tm_buffer map, candidates, bests;
    tm_device_peaks peaks;

    /* other than 8-bit gray: planes.cu */
    tm_buffer raw, planes, correlations, found;
    const uint8_t *raw_samples;   /* host: of the frame, or the slice of it, that raw is for, */
    int64_t raw_height, raw_rows; /* and its rows, of which the running match has copied some */
    tm_buffer taps;               /* of a float template */
    tm_fft_spectrum f32_spectrum; /* of a channel of it */
    tm_layout planes_layout;      /* what the planes' memory is zeroed for */
    int planes_count;
    int *running_best; /* device: order of the best score so far */
    tm_template *ones; /* a mask of all pixels, of a wide template's size, or NULL */

    tm_candidate *reduced;      /* device, TM_REDUCE_BLOCKS */
    tm_candidate *pinned_bests; /* host */
    size_t pinned_bests_count;

    tm_staging staging_in, staging_out;

    tm_group *groups; /* TM_CACHED_GROUPS, of which the first group_count were used */
    int group_count;
    uint64_t clock;

    tm_cuda_traits traits;
    tm_fft_device fft;
    tm_tensor_device tensor;
    bool tensor_dirty; /* a launch may have left its scratch half written */

    tm_launch last;
};

/* transfer.cu: makes the frame's zero-extended place. The zeros around it are written
 * only where its size or pads have changed; then it has to be copied again. */
cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job);

/* transfer.cu: what is launched on one stream from now on waits for the other so far. */
cudaError_t tm_wait_for(tm_cuda *cuda, cudaStream_t waiting, cudaStream_t other);

/* transfer.cu: copies rows to the device. */
cudaError_t tm_upload(tm_cuda *cuda, uint8_t *to, size_t pitch, const uint8_t *from,
                      ptrdiff_t stride, size_t row_bytes, int64_t rows);

/* transfer.cu: a frame other than 8-bit gray on the device, as it is: the place for it, where
 * what a job before has brought stays if it was of the same slice; and so many of its rows
 * brought there, of which kernels launched from then on know. */
cudaError_t tm_place_raw(tm_cuda *cuda, const tm_job *job);
cudaError_t tm_bring_raw(tm_cuda *cuda, const tm_job *job, int64_t rows);

/* Its rows [first, end). */
tm_raw_frame tm_raw_rows(const tm_cuda *cuda, const tm_image *frame, int64_t first, int64_t end);

/* What a job other than of 8-bit gray is done by: chunk by chunk, with its frame's rows
 * brought as they are wanted; and where the map is copied back at the same time. */
typedef struct tm_passage {
    tm_chunks chunks;
    bool back;
} tm_passage;

/* planes.cu: matches such a frame. */
cudaError_t tm_run_planes(tm_cuda *cuda, const tm_job *job, tm_candidate *best);
cudaError_t tm_launch_planes(tm_cuda *cuda, const tm_launch *launch);

/* f32.cu: a float template to the device; and all that is done there then. */
cudaError_t tm_place_taps(tm_cuda *cuda, const tm_job *job);
cudaError_t tm_launch_f32(tm_cuda *cuda, const tm_job *job, const tm_passage *passage,
                          tm_candidate *best);

/* products.cu: how products of planes are made, the fastest way first. Each may be refused but the
 * last. */
typedef enum tm_products_way {
    TM_PRODUCTS_MERGED,  /* in one launch, those that fit 32 bits together as one map */
    TM_PRODUCTS_32_BITS, /* a launch and a map of 32 bits each */
    TM_PRODUCTS_64_BITS  /* of 64 bits */
} tm_products_way;

/* How a job's terms become maps of their sums. */
typedef struct tm_products_plan {
    tm_products_way way;
    int maps;
    int order[TM_MAX_PRODUCTS]; /* terms as they are made */
    struct {
        int map;           /* its sum's, of the same shift */
        bool ends;         /* the last one of its map */
    } of[TM_MAX_PRODUCTS]; /* by term */
} tm_products_plan;

tm_products_plan tm_products_plan_make(const tm_job *job, const tm_plane_products *products,
                                       tm_products_way way);

/* Makes the products of a band, whose maps are the combination's. */
cudaError_t tm_run_products(tm_cuda *cuda, const tm_job *job, const tm_plane_products *products,
                            const tm_products_plan *plan, tm_planes_score *band);

/* transfer.cu: whether the job makes a map on the device; and the place for it, which
 * kernels launched from then on may write. */
bool tm_job_has_map(const tm_job *job);
cudaError_t tm_place_map(tm_cuda *cuda, const tm_job *job);

/* transfer.cu: copies so many of the frame's rows into its place, those that are not
 * there yet, for kernels that are launched from then on; or rows [first, end) of the
 * dense device map, which has them when the kernels launched so far are done, into the
 * caller's; directly where the caller's memory is pinned. A map's rows have arrived
 * when it returns, unless it is pinned; a slice's rows that are another's stay there. */
cudaError_t tm_bring_rows(tm_cuda *cuda, const tm_job *job, int64_t rows);
cudaError_t tm_bring_back(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end);
bool tm_is_pinned(const void *rows, ptrdiff_t stride, int64_t count, size_t row_bytes);
void tm_staging_free(tm_staging *staging);

/* transfer.cu: what is launched from now on waits for the copies in so far; and a time
 * is taken of the launches so far, before copies back are asked for, which may block. */
cudaError_t tm_await_upload(tm_cuda *cuda);
cudaError_t tm_note_matched(tm_cuda *cuda);

/* cache.cu: finds the jobs' templates on the device or brings them there, in place
 * of groups that were not used for longest. */
cudaError_t tm_fetch_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **found);

/* cache.cu: drops the spectra that were not used for longest, but not this group's,
 * until one of size fits. */
void tm_make_room_for_spectrum(tm_cuda *cuda, const tm_group *group, size_t size);
void tm_drop_groups(tm_cuda *cuda);

/* run.cu: the frame, the map's size and the template's; all that follows from
 * launch->direct; and from the padded frame to the best candidates, all on the device. */
tm_tensor_job tm_tensor_job_of(const tm_device_job *job);
void tm_launch_fill(const tm_cuda *cuda, tm_launch *launch);
cudaError_t tm_launch_once(tm_cuda *cuda, tm_launch *launch);

/* transfer.cu: a job's chunks. A map that comes back through staging is one: that takes
 * the host's time all along, and long runs of it are the quickest. */
bool tm_map_is_staged(const tm_job *job);
tm_chunks tm_chunks_of(const tm_cuda *cuda, const tm_job *job);

/* chunks.cu: copies what has to be copied and launches, chunk by chunk, then for the
 * peaks; the best candidates of each chunk follow those of the one before. */
cudaError_t tm_run_chunks(tm_cuda *cuda, tm_launch *launch, const tm_job *job, tm_candidate *bests);

/* run.cu: the whole match, and the device's part of the last one again. */
cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count);
cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms);

#endif
