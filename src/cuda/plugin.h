/* SPDX-License-Identifier: MIT */
/* What the CUDA plugin, libtmatch-cuda.so, offers to the library that opens it. */
#ifndef TMATCH_CUDA_PLUGIN_H
#define TMATCH_CUDA_PLUGIN_H

#include "lcc/device.h"

/* A device of this plugin. */
typedef struct tm_device tm_cuda;

#ifdef __cplusplus
extern "C"
#endif
    TM_API const tm_backend *
    tm_cuda_plugin_get(void);

#endif
