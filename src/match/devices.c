/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cpu/cpu.h"
#include "match/cuda_loader.h"

tm_status tm_list_devices(tm_device_info *devices, size_t capacity, size_t *count, char *why,
                          size_t why_size)
{
    tm_cuda_library library = {0};
    tm_message message = {""};
    int cuda_devices = 0;

    if (!count || (capacity && !devices))
        return TM_ERR_INVALID;
    if (capacity)
        tm_cpu_backend()->describe(0, &devices[0], &message);
    *count = 1;
    if (tm_cuda_load(&library, &message) == TM_OK)
        cuda_devices = library.plugin->count(&message);
    for (int i = 0; i < cuda_devices; i++) {
        tm_device_info info = {.kind = TM_DEVICE_CUDA, .index = i};
        if (library.plugin->describe(i, &info, &message) != TM_OK)
            snprintf(info.name, sizeof info.name, "%.100s", message.text);
        if (*count < capacity)
            devices[*count] = info;
        ++*count;
    }
    tm_cuda_unload(&library);
    if (why && why_size)
        snprintf(why, why_size, "%s", cuda_devices ? "" : message.text);
    return TM_OK;
}
