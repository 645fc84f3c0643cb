/* SPDX-License-Identifier: MIT */
/* Memory of a CUDA device for frames of one size that come and go. */
#ifndef TMATCH_IO_NVIDIA_MEMORY_H
#define TMATCH_IO_NVIDIA_MEMORY_H

#include "io/io.h"

typedef struct io_device_memory io_device_memory;

/* Opens the device's primary context, in which CUDA's runtime works. *memory is the caller's, to be closed. False with
 * the reason. */
bool io_device_memory_open(io_device_memory **memory, int device, io_error *error);

/* What is lent stays, and with it the rest, until it is given back. */
void io_device_memory_close(io_device_memory **memory);

/* The context, a CUcontext, and the device. */
void *io_device_memory_context(const io_device_memory *memory);
int io_device_memory_device(const io_device_memory *memory);

/* Lends so many bytes, of which a size other than before's costs time. NULL with the reason. All from here on are
 * called by any thread. */
void *io_device_memory_take(io_device_memory *memory, size_t size, io_error *error);
void io_device_memory_give_back(io_device_memory *memory, void *data);

/* Rows of so many bytes to copy; both may be the device's, or one the host's. */
typedef struct io_device_copy {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    bool to_host;
} io_device_copy;

/* Copies and waits for it, behind all that the device's default stream has to do. False with the reason. */
bool io_device_memory_copy(io_device_memory *memory, const io_device_copy *copies, int count, io_error *error);

#endif
