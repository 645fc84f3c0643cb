/* SPDX-License-Identifier: MIT */
/* As much of CUDA's driver as --decoder uses, by the emulated plugin, which the program has opened. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { NO_DEVICE = 100, NOT_SUPPORTED = 801 };
enum { HOST = 1, HOST_TO_DEVICE = 1, DEVICE_TO_HOST, DEVICE_TO_DEVICE };

static struct {
    int (*set_device)(int device);
    int (*malloc)(void **memory, size_t size);
    int (*free)(void *memory);
    int (*create)(void **stream);
    int (*destroy)(void *stream);
    int (*synchronize)(void *stream);
    int (*copy)(void *to, const void *from, size_t size, int kind, void *stream);
} plugin;

EXPORT int cuInit(unsigned flags)
{
    char path[4096];
    const char *folder = getenv("TMATCH_PLUGIN_DIR");

    (void)flags;
    snprintf(path, sizeof path, "%s/libtmatch-cuda.so", folder ? folder : ".");
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return NO_DEVICE;
    *(void **)&plugin.set_device = dlsym(library, "em_cudaSetDevice");
    *(void **)&plugin.malloc = dlsym(library, "em_cudaMalloc");
    *(void **)&plugin.free = dlsym(library, "em_cudaFree");
    *(void **)&plugin.create = dlsym(library, "em_cudaStreamCreate");
    *(void **)&plugin.destroy = dlsym(library, "em_cudaStreamDestroy");
    *(void **)&plugin.synchronize = dlsym(library, "em_cudaStreamSynchronize");
    *(void **)&plugin.copy = dlsym(library, "em_cudaMemcpyAsync");
    return plugin.set_device && plugin.malloc && plugin.free && plugin.create && plugin.destroy && plugin.synchronize &&
                   plugin.copy
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

/* CUDA_MEMCPY2D */
typedef struct copy_2d {
    size_t from_x, from_y;
    int from_type;
    const char *from_host;
    unsigned long long from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    char *to_host;
    unsigned long long to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} copy_2d;

EXPORT int cuMemcpy2DAsync_v2(const copy_2d *c, void *stream)
{
    const char *from = c->from_type == HOST ? c->from_host : (const char *)(size_t)c->from;
    char *to = c->to_type == HOST ? c->to_host : (char *)(size_t)c->to;
    const int kind = c->from_type == HOST ? HOST_TO_DEVICE : c->to_type == HOST ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;

    for (size_t y = 0; y < c->height; y++)
        if (plugin.copy(to + y * c->to_pitch, from + y * c->from_pitch, c->width, kind, stream) != 0)
            return NO_DEVICE;
    return 0;
}

EXPORT int cuStreamSynchronize(void *stream)
{
    return plugin.synchronize(stream);
}

/* An event is the stream that it was recorded in. */
EXPORT int cuEventCreate(void ***event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return 0;
}

EXPORT int cuEventDestroy_v2(void **event)
{
    free(event);
    return 0;
}

EXPORT int cuEventRecord(void **event, void *stream)
{
    *event = stream;
    return 0;
}

/* FAKE_HANGS: the driver of a GPU that does not answer. */
EXPORT int cuEventSynchronize(void *const *event)
{
    if (getenv("FAKE_HANGS"))
        pause();
    return plugin.synchronize(*event);
}

EXPORT int cuGetErrorString(int error, const char **text)
{
    *text = error == NO_DEVICE ? "no CUDA-capable device is detected" : "another error";
    return 0;
}

/* What libavutil wants there to be, and NVDEC uses. */
EXPORT int cuDeviceGetAttribute(int *value, int which, int device)
{
    (void)which, (void)device;
    *value = 256;
    return 0;
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    return cuCtxSetCurrent(context);
}

EXPORT int cuCtxPopCurrent_v2(void **context)
{
    if (context)
        *context = NULL;
    return 0;
}

EXPORT int cuGetErrorName(int error, const char **text)
{
    return cuGetErrorString(error, text);
}

#define NAMES(NAME) \
    NAME(cuDeviceGetCount) NAME(cuDeviceGetName) NAME(cuDeviceComputeCapability) NAME(cuCtxCreate_v2) \
    NAME(cuCtxSetLimit) NAME(cuCtxDestroy_v2) NAME(cuMemAllocPitch_v2) NAME(cuMemAllocManaged) NAME(cuMemsetD8Async) \
    NAME(cuMemcpy) NAME(cuMemcpyAsync) NAME(cuMemcpy2D_v2) NAME(cuMemcpyHtoD_v2) NAME(cuMemcpyHtoDAsync_v2) \
    NAME(cuMemcpyDtoH_v2) NAME(cuMemcpyDtoHAsync_v2) NAME(cuMemcpyDtoD_v2) NAME(cuMemcpyDtoDAsync_v2) \
    NAME(cuCtxGetDevice) NAME(cuDevicePrimaryCtxRelease) NAME(cuDevicePrimaryCtxSetFlags) \
    NAME(cuDevicePrimaryCtxGetState) NAME(cuDevicePrimaryCtxReset) NAME(cuStreamQuery) NAME(cuStreamAddCallback) \
    NAME(cuEventQuery) NAME(cuLaunchKernel) NAME(cuLinkCreate) NAME(cuLinkAddData) NAME(cuLinkComplete) NAME(cuLinkDestroy) \
    NAME(cuModuleLoadData) NAME(cuModuleUnload) NAME(cuModuleGetFunction) NAME(cuModuleGetGlobal) \
    NAME(cuTexObjectCreate) NAME(cuTexObjectDestroy) NAME(cuGLGetDevices_v2) NAME(cuGraphicsGLRegisterImage) \
    NAME(cuGraphicsUnregisterResource) NAME(cuGraphicsMapResources) NAME(cuGraphicsUnmapResources) \
    NAME(cuGraphicsSubResourceGetMappedArray) NAME(cuGraphicsResourceGetMappedPointer_v2) NAME(cuArray3DCreate_v2) \
    NAME(cuArrayDestroy)

#define DECLINE(name) EXPORT int name(void) { return NOT_SUPPORTED; }
NAMES(DECLINE)
