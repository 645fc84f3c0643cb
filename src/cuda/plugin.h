/* SPDX-License-Identifier: MIT */
/* What the CUDA plugin, libtmatch-cuda.so, offers to the library that opens it.
 * Both are built from the same tree: the version stands for the layout of every
 * struct that crosses, and a plugin of another version is refused. */
#ifndef TMATCH_LCC_CUDA_PLUGIN_H
#define TMATCH_LCC_CUDA_PLUGIN_H

#include "lcc/cuda/tensor/limits.h"
#include "lcc/lcc.h"

#define TM_CUDA_PLUGIN_VERSION 9

typedef struct tm_message {
    char text[256];
} tm_message;

/* What a plan has to know of a device. */
typedef struct tm_cuda_traits {
    int multiprocessors;
    bool tensor_cores; /* of integers */
    bool fast_double;
    int longest_fft;   /* points of our own longest transform, 0 for none */
    int64_t chunk_bytes; /* that a chunk of a frame copies at most: cuda/schedule.h */
    int widest_fft;    /* columns of a template that FFT takes, whoever transforms */
} tm_cuda_traits;

typedef struct tm_cuda tm_cuda;

/* What a match on a device took. */
typedef struct tm_cuda_work {
    tm_times times; /* total stays 0 */
    int64_t bytes_to_device, bytes_from_device;
} tm_cuda_work;

/* Every function that fails writes its reason to message. */
typedef struct tm_cuda_plugin {
    int version;

    /* Number of usable devices; 0 with the reason in message. */
    int (*count)(tm_message *message);

    tm_status (*describe)(int index, tm_device_info *info, tm_message *message);

    /* Opens a device: context, streams, staging. memory bounds what is allocated on
     * it; 0: no bound. *cuda is the caller's, freed by close. */
    tm_status (*open)(tm_cuda **cuda, int index, int64_t memory, tm_message *message);
    void (*close)(tm_cuda *cuda);

    tm_cuda_traits (*traits)(const tm_cuda *cuda);

    /* Runs count jobs of one frame, domain and metric; writes each job's best, map
     * and peaks, and *work. After DEVICE_MEMORY fewer rows may fit; after DEVICE the
     * device is to be closed; if it was not lost, it can be opened again. */
    tm_status (*match)(tm_cuda *cuda, tm_job *jobs, size_t count, tm_cuda_work *work,
                       tm_message *message);

    /* Repeats the device's part of the last successful match, with nothing
     * copied: samples batches of launches, each batch's mean to ms. The match's
     * template has to be there still. */
    tm_status (*replay)(tm_cuda *cuda, int samples, int launches, double *ms, tm_message *message);

    /* Host memory that all devices copy from and to directly. Error: MEMORY. index: of
     * a device that has been opened, also one that is closed again. */
    tm_status (*host_alloc)(tm_cuda *cuda, size_t size, void **memory, tm_message *message);
    void (*host_free)(int index, void *memory);

    /* Whether the device copies from and to these rows directly. */
    bool (*is_pinned)(tm_cuda *cuda, const void *rows, ptrdiff_t stride, int64_t count,
                      size_t row_bytes);

    /* Opens libcufft.so, which jobs of a tiling by cuFFT need, at the first call. Error:
     * INVALID where there is none. */
    tm_status (*open_cufft)(tm_message *message);
} tm_cuda_plugin;

#ifdef __cplusplus
extern "C"
#endif
    TM_API const tm_cuda_plugin *
    tm_cuda_plugin_get(void);

#endif
