/* SPDX-License-Identifier: MIT */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "match/cuda_loader.h"

static void processor_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");

    snprintf(name, size, "CPU");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static void feature_names(char *names, size_t size)
{
    const uint32_t features = tm_cpu_features();
    size_t used = 0;

    names[0] = '\0';
    for (uint32_t bit = 1; bit && used < size; bit <<= 1) {
        if (features & bit)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used ? " " : "",
                                     tm_cpu_feature_name(bit));
    }
}

tm_status tm_list_devices(tm_device_info *devices, size_t capacity, size_t *count, char *why,
                          size_t why_size)
{
    tm_cuda_library library = {0};
    tm_message message = {""};
    int cuda_devices = 0;

    if (!count || (capacity && !devices))
        return TM_ERR_INVALID;
    if (capacity) {
        devices[0] = (tm_device_info){.kind = TM_DEVICE_CPU, .units = omp_get_num_procs()};
        processor_name(devices[0].name, sizeof devices[0].name);
        feature_names(devices[0].detail, sizeof devices[0].detail);
    }
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
