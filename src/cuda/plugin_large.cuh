/* SPDX-License-Identifier: MIT */
/* tm_backend's functions for large templates in poses, which the CPU searches. */
#ifndef TMATCH_CUDA_PLUGIN_LARGE_CUH
#define TMATCH_CUDA_PLUGIN_LARGE_CUH

#include "cuda/plugin.h"

tm_status tm_plugin_look_at_large(tm_cuda *cuda, const tm_large_look *look, tm_work *work, tm_message *message);
tm_status tm_plugin_list_large(tm_cuda *cuda, tm_large_list *list, tm_work *work, tm_message *message);
tm_status tm_plugin_sum_large(tm_cuda *cuda, const tm_large_batch *batch, tm_work *work, tm_message *message);

#endif
