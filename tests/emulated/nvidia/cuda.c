/* SPDX-License-Identifier: MIT */
/* As much of CUDA's driver as --decoder nvjpeg uses, by the emulated plugin, which the program has opened. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { NO_DEVICE = 100 };

static struct {
    int (*set_device)(int device);
    int (*malloc)(void **memory, size_t size);
    int (*free)(void *memory);
    int (*create)(void **stream);
    int (*destroy)(void *stream);
    int (*synchronize)(void *stream);
} plugin;

EXPORT int cuInit(unsigned flags)
{
    char path[4096];
    const char *folder = getenv("TMATCH_PLUGIN_DIR");

    (void)flags;
    snprintf(path, sizeof path, "%s/libtmatch-cuda.so", folder ? folder : ".");
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library)
        return NO_DEVICE;
    *(void **)&plugin.set_device = dlsym(library, "em_cudaSetDevice");
    *(void **)&plugin.malloc = dlsym(library, "em_cudaMalloc");
    *(void **)&plugin.free = dlsym(library, "em_cudaFree");
    *(void **)&plugin.create = dlsym(library, "em_cudaStreamCreate");
    *(void **)&plugin.destroy = dlsym(library, "em_cudaStreamDestroy");
    *(void **)&plugin.synchronize = dlsym(library, "em_cudaStreamSynchronize");
    return plugin.set_device && plugin.malloc && plugin.free && plugin.create && plugin.destroy && plugin.synchronize
               ? 0
               : NO_DEVICE;
}

EXPORT int cuDeviceGet(int *device, int index)
{
    *device = index;
    return plugin.set_device(index);
}

/* A context is its device's number, and 1. */
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = (char *)NULL + device + 1;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return 0;
}

/* The plugin, too, calls it, to leave its device: for none. */
EXPORT int cuCtxSetCurrent(void *context)
{
    return context ? plugin.set_device((int)((char *)context - (char *)NULL) - 1) : 0;
}

EXPORT int cuMemAlloc_v2(unsigned long long *memory, size_t size)
{
    void *made = NULL;
    const int error = plugin.malloc(&made, size);
    *memory = (size_t)made;
    return error;
}

EXPORT int cuMemFree_v2(unsigned long long memory)
{
    return plugin.free((void *)(size_t)memory);
}

EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    return plugin.create(stream);
}

EXPORT int cuStreamDestroy_v2(void *stream)
{
    return plugin.destroy(stream);
}

/* As NVDEC would use it, which is not emulated. */
EXPORT int cuMemcpy2DAsync_v2(const void *copy, void *stream)
{
    (void)copy, (void)stream;
    return NO_DEVICE;
}

/* FAKE_HANGS: the driver of a GPU that does not answer. */
EXPORT int cuStreamSynchronize(void *stream)
{
    if (getenv("FAKE_HANGS"))
        pause();
    return plugin.synchronize(stream);
}

EXPORT int cuGetErrorString(int error, const char **text)
{
    *text = error == NO_DEVICE ? "no CUDA-capable device is detected" : "another error";
    return 0;
}
