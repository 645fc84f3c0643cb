/* SPDX-License-Identifier: MIT */
/* Finds and opens the CUDA plugin. */
#ifndef TMATCH_MATCH_CUDA_LOADER_H
#define TMATCH_MATCH_CUDA_LOADER_H

#include "cuda/plugin.h"

typedef struct tm_cuda_library {
    void *handle;
    const tm_backend *plugin; /* NULL while not loaded */
} tm_cuda_library;

/* Looks in $TMATCH_PLUGIN_DIR, beside this library or program, where it is
 * installed relative to either, as pip's packages are too, and in the configured directory. Error:
 * NO_DEVICE with the reason. */
tm_status tm_cuda_load(tm_cuda_library *library, tm_message *message);
void tm_cuda_unload(tm_cuda_library *library);

#endif
