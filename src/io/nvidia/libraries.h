/* SPDX-License-Identifier: MIT */
/* CUDA's driver and NVIDIA's nvJPEG, opened when --decoder asks for them and never linked. Their headers need
 * not be there: what is declared here has not changed from CUDA 12 to 13. */
#ifndef TMATCH_IO_NVIDIA_LIBRARIES_H
#define TMATCH_IO_NVIDIA_LIBRARIES_H

#include "io/io.h"

enum { IO_CU_EVENT_BLOCKING_SYNC = 1, IO_CU_EVENT_DISABLE_TIMING = 2 };
enum { IO_CU_STREAM_NON_BLOCKING = 1, IO_CU_MEMORY_HOST = 1, IO_CU_MEMORY_DEVICE = 2 };

/* CUDA_MEMCPY2D */
typedef struct io_cuda_copy {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    unsigned long long from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    unsigned long long to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} io_cuda_copy;

/* Contexts and streams are pointers, device memory an address; each function returns a CUresult, 0 for success. */
typedef struct io_cuda_driver {
    int (*init)(unsigned flags);
    int (*get_device)(int *device, int index);
    int (*retain_context)(void **context, int device);
    int (*release_context)(int device);
    int (*set_context)(void *context);
    int (*malloc)(unsigned long long *memory, size_t size);
    int (*free)(unsigned long long memory);
    int (*create_stream)(void **stream, unsigned flags);
    int (*destroy_stream)(void *stream);
    int (*synchronize)(void *stream);
    int (*create_event)(void **event, unsigned flags);
    int (*destroy_event)(void *event);
    int (*record_event)(void *event, void *stream);
    int (*await_event)(void *event);
    int (*copy)(const io_cuda_copy *copy, void *stream);
    int (*error_text)(int error, const char **text);
} io_cuda_driver;

/* NVJPEG_STATUS_... */
enum {
    IO_NVJPEG_BAD = 3,
    IO_NVJPEG_NOT_SUPPORTED = 4,
    IO_NVJPEG_NO_MEMORY = 5,
    IO_NVJPEG_NOT_IMPLEMENTED = 9,
    IO_NVJPEG_INCOMPLETE = 10
};
enum { IO_NVJPEG_DEFAULT = 0, IO_NVJPEG_HARDWARE = 3 }; /* backends */
enum { IO_NVJPEG_LUMA = 2 };                            /* an output format */

typedef struct io_nvjpeg_image {
    unsigned char *channel[4];
    size_t pitch[4];
} io_nvjpeg_image;

/* Handles are pointers; each function returns an nvjpegStatus_t, 0 for success. */
typedef struct io_nvjpeg_library {
    int (*get_property)(int which, int *value);
    int (*create)(int backend, void *device_memory, void *host_memory, unsigned flags, void **handle);
    int (*destroy)(void *handle);
    int (*create_state)(void *handle, void **state);
    int (*destroy_state)(void *state);
    int (*create_header)(void *handle, void **header);
    int (*destroy_header)(void *header);
    int (*parse_header)(void *handle, const unsigned char *data, size_t size, void *header);
    int (*is_supported)(void *handle, void *header, int *refused); /* 0: in a batch */
    int (*begin_batches)(void *handle, void *state, int count, int threads, int format);
    int (*decode_batch)(void *handle, void *state, const unsigned char *const *data, const size_t *sizes,
                        io_nvjpeg_image *images, void *stream);
    int (*decode)(void *handle, void *state, const unsigned char *data, size_t size, int format,
                  io_nvjpeg_image *image, void *stream);
} io_nvjpeg_library;

/* Opened at the first call, and never closed. Where one cannot be, NULL with the reason; error may be NULL. Any
 * thread may call. TMATCH_NVJPEG in the environment names the one file that is tried for nvJPEG. */
const io_cuda_driver *io_cuda_driver_open(io_error *error);
const io_nvjpeg_library *io_nvjpeg_library_open(io_error *error);

/* Starts the driver and retains the primary context of the device of this number, in which CUDA's runtime works too: the
 * driver's own device and the context, which the caller releases. Returns a CUresult, 0 for success. */
int io_cuda_retain(const io_cuda_driver *driver, int index, int *device, void **context);

#endif
