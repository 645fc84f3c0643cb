/* SPDX-License-Identifier: MIT */
/* A CUDA backend as of another version, of which no more is known than its number; without OTHER_VERSION a
 * library that is none. */
#include "cuda/plugin.h"

#ifdef OTHER_VERSION
const tm_backend *tm_cuda_plugin_get(void)
{
    static const tm_backend backend = {.version = OTHER_VERSION};
    return &backend;
}
#else
extern const int tm_nothing;
TM_API const int tm_nothing = 0;
#endif
