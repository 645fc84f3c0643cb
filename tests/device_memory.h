/* SPDX-License-Identifier: MIT */
/* Memory and streams of a caller's own on CUDA devices, real or emulated. What fails, fails the test. */
#ifndef TMATCH_TESTS_DEVICE_MEMORY_H
#define TMATCH_TESTS_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Skips the running test where there is no CUDA device whose memory a caller can have. */
void require_device_memory(void);

/* How many devices there are. */
int device_count(void);

/* Whether the device is tests/emulated's; and how many operations of streams it has run so far: a call
 * that leaves them unchanged has waited for nothing. */
bool device_is_emulated(void);
int64_t device_steps(void);

void *device_alloc(int device, size_t size);
void device_free(void *memory);

/* Page-locked memory of the host. */
void *device_alloc_host(size_t size);
void device_free_host(void *memory);

void *device_stream(int device);
void device_stream_free(void *stream);
void device_stream_wait(void *stream);

/* Copies in the stream's order, to and from page-locked memory. */
void device_put(void *to, const void *from, size_t size, void *stream);
void device_get(void *to, const void *from, size_t size, void *stream);

#endif
