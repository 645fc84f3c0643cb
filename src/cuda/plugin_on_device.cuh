/* SPDX-License-Identifier: MIT */
/* tm_backend's functions for pictures and memory on a device. */
#ifndef TMATCH_CUDA_PLUGIN_ON_DEVICE_CUH
#define TMATCH_CUDA_PLUGIN_ON_DEVICE_CUH

#include "cuda/plugin.h"

tm_status tm_plugin_accept(tm_cuda *cuda, tm_job *jobs, size_t count, tm_message *message);
tm_status tm_plugin_hand_over(tm_cuda *cuda, const tm_on_device *frame, tm_message *message);
tm_status tm_plugin_fetch(tm_cuda *cuda, const tm_image *image, const tm_on_device *place,
                          uint8_t *samples, uint8_t *mask, tm_message *message);
tm_status tm_plugin_device_alloc(tm_cuda *cuda, size_t size, void **memory, tm_message *message);
void tm_plugin_device_free(tm_cuda *open, int index, void *memory);
tm_status tm_plugin_read_start(tm_cuda *cuda, tm_reader **reader, void *stream, const void *memory, size_t most,
                               size_t size, tm_message *message);
tm_status tm_plugin_read_bytes(tm_reader *reader, bool wait, const void **bytes, tm_message *message);
void tm_plugin_read_free(tm_reader *reader);

#endif
