/* SPDX-License-Identifier: MIT */
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TM_HAVE_GPL_FFTW
#include <fftw3.h>
#endif

#include <tmatch/tmatch.h>

#include "io/io.h"
#include "text.h"

/* count is at least 1, the CPU; NULL if memory ran out. */
static tm_device_info *list_devices(size_t *count, char *why, size_t why_size)
{
    tm_device_info *devices = NULL;
    size_t capacity = 0;

    *count = 8;
    while (*count > capacity) {
        capacity = *count;
        free(devices);
        devices = calloc(capacity, sizeof *devices);
        if (!devices || tm_list_devices(devices, capacity, count, why, why_size) != TM_OK) {
            free(devices);
            return NULL;
        }
    }
    return devices;
}

static void print_device(const tm_device_info *device, bool verbose, const char *costs)
{
    if (device->kind == TM_DEVICE_CUDA)
        printf("cuda:%d: ", device->index);
    else
        fputs("cpu: ", stdout);
    text_line(stdout, device->name);
    printf(", %d %s", device->units,
           device->kind == TM_DEVICE_CUDA ? "multiprocessors"
           : device->units == 1           ? "thread"
                                          : "threads");
    if (device->memory_bytes > 0)
        printf(", %.1f GiB", (double)device->memory_bytes / (1 << 30));
    if (*device->detail) {
        fputs(", ", stdout);
        text_line(stdout, device->detail);
    }
    if (verbose)
        fputs(tm_costs_have(costs, device) ? ", its costs were measured" : ", its costs are assumed", stdout);
    putchar('\n');
}

bool info_devices(bool verbose, const char *costs)
{
    char why[256] = "";
    size_t count;
    tm_device_info *devices = list_devices(&count, why, sizeof why);

    if (!devices)
        return false;
    for (size_t i = 0; i < count; i++)
        print_device(&devices[i], verbose, costs);
    if (*why) {
        fputs("cuda: none: ", stdout);
        text_line(stdout, why);
        putchar('\n');
    }
    free(devices);
    return true;
}

#if TM_HAVE_GPL_FFTW
/* "FFTW 3.3.10" from "fftw-3.3.10-sse2-avx". */
static void print_fftw(void)
{
    const char *version = strchr(fftw_version, '-');

    version = version ? version + 1 : fftw_version;
    printf(", FFTW %.*s", (int)strcspn(version, "-"), version);
}
#endif

static void print_licence(void)
{
#if TM_HAVE_GPL_FFTW
    puts("licence: GPL-2.0-or-later, because it is linked with FFTW; tmatch's own source is MIT");
#else
    puts("licence: MIT");
#endif
}

/* Its file, where there is one: several may be installed, and it may be there where there is no GPU. */
static void print_cuda_backend(void)
{
    char path[4096];

    tm_cuda_backend_path(path, sizeof path);
    if (!*path)
        return;
    fputs("cuda backend: ", stdout);
    text_line(stdout, path);
    putchar('\n');
}

bool info_version(void)
{
    char why[256] = "";
    size_t count;
    tm_device_info *devices = list_devices(&count, why, sizeof why);

    if (!devices)
        return false;
    printf("tmatch %s\nlibraries:", tm_version());
    for (int i = 0; io_library(i); i++)
        printf("%s %s", i ? "," : "", io_library(i));
#if TM_HAVE_GPL_FFTW
    print_fftw();
#endif
    putchar('\n');
    print_licence();
    fputs("backends: cpu", stdout);
    if (count > 1) {
        fputs(", cuda", stdout);
    } else {
        fputs(" (no cuda: ", stdout);
        text_line(stdout, why);
        putchar(')');
    }
    putchar('\n');
    print_cuda_backend();
    free(devices);
    return true;
}
