/* SPDX-License-Identifier: MIT */
#include "libraries.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "../format.h"

/* Where the loader looks, then where CUDA toolkits lie; newest first. */
static const char *const folders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/",
                                      "/usr/local/cuda/targets/sbsa-linux/lib/", "/opt/cuda/lib64/"};
static const char *const names[] = {"libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"};

enum { FOLDERS = sizeof folders / sizeof *folders, NAMES = sizeof names / sizeof *names };

static io_cuda_driver driver;
static io_nvjpeg_library nvjpeg;
static io_error no_driver, no_nvjpeg; /* why they cannot be opened, or "" */

/* One function of a library, and where its address goes. */
typedef struct symbol {
    const char *name;
    void **to;
} symbol;

#define SYMBOL(name, to) {name, (void **)(void *)&(to)}

static bool find(void *library, const symbol *symbols, const char *which, io_error *error)
{
    for (const symbol *s = symbols; s->name; s++) {
        *s->to = dlsym(library, s->name);
        if (!*s->to)
            return io_fail(error, "another %s is needed: this one has no %s", which, s->name);
    }
    return true;
}

static void open_driver(void)
{
    const symbol symbols[] = {SYMBOL("cuInit", driver.init),
                              SYMBOL("cuDeviceGet", driver.get_device),
                              SYMBOL("cuDevicePrimaryCtxRetain", driver.retain_context),
                              SYMBOL("cuDevicePrimaryCtxRelease_v2", driver.release_context),
                              SYMBOL("cuCtxSetCurrent", driver.set_context),
                              SYMBOL("cuMemAlloc_v2", driver.malloc),
                              SYMBOL("cuMemFree_v2", driver.free),
                              SYMBOL("cuStreamCreate", driver.create_stream),
                              SYMBOL("cuStreamDestroy_v2", driver.destroy_stream),
                              SYMBOL("cuStreamSynchronize", driver.synchronize),
                              SYMBOL("cuEventCreate", driver.create_event),
                              SYMBOL("cuEventDestroy_v2", driver.destroy_event),
                              SYMBOL("cuEventRecord", driver.record_event),
                              SYMBOL("cuEventSynchronize", driver.await_event),
                              SYMBOL("cuMemcpy2DAsync_v2", driver.copy),
                              SYMBOL("cuGetErrorString", driver.error_text),
                              {0}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        io_fail(&no_driver, "no CUDA driver: %s", dlerror());
    else
        find(library, symbols, "libcuda.so.1", &no_driver);
}

/* Says why the first name of all cannot be opened. */
static void *open_any(void)
{
    char path[256];
    for (int i = 0; i < FOLDERS * NAMES; i++) {
        snprintf(path, sizeof path, "%s%s", folders[i / NAMES], names[i % NAMES]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
        const char *reason = dlerror();
        if (i == 0)
            io_fail(&no_nvjpeg, "nvJPEG needs %s or %s of the CUDA toolkit: %.120s", names[0], names[1], reason);
    }
    return NULL;
}

static void open_nvjpeg(void)
{
    const symbol symbols[] = {SYMBOL("nvjpegGetProperty", nvjpeg.get_property),
                              SYMBOL("nvjpegCreateEx", nvjpeg.create),
                              SYMBOL("nvjpegDestroy", nvjpeg.destroy),
                              SYMBOL("nvjpegJpegStateCreate", nvjpeg.create_state),
                              SYMBOL("nvjpegJpegStateDestroy", nvjpeg.destroy_state),
                              SYMBOL("nvjpegJpegStreamCreate", nvjpeg.create_header),
                              SYMBOL("nvjpegJpegStreamDestroy", nvjpeg.destroy_header),
                              SYMBOL("nvjpegJpegStreamParseHeader", nvjpeg.parse_header),
                              SYMBOL("nvjpegDecodeBatchedSupported", nvjpeg.is_supported),
                              SYMBOL("nvjpegDecodeBatchedInitialize", nvjpeg.begin_batches),
                              SYMBOL("nvjpegDecodeBatched", nvjpeg.decode_batch),
                              SYMBOL("nvjpegDecode", nvjpeg.decode),
                              {0}};
    const char *own = getenv("TMATCH_NVJPEG");
    const bool named = own && *own;
    void *library = named ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : open_any();

    if (!library && named)
        io_fail(&no_nvjpeg, "nvJPEG, which TMATCH_NVJPEG names: %.180s", dlerror());
    if (library) {
        *no_nvjpeg.reason = '\0';
        find(library, symbols, "libnvjpeg.so", &no_nvjpeg);
    }
}

const io_cuda_driver *io_cuda_driver_open(io_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_driver);
    if (!*no_driver.reason)
        return &driver;
    if (error)
        *error = no_driver;
    return NULL;
}

int io_cuda_retain(const io_cuda_driver *cuda, int index, int *device, void **context)
{
    int status = cuda->init(0);
    if (!status)
        status = cuda->get_device(device, index);
    return status ? status : cuda->retain_context(context, *device);
}

const io_nvjpeg_library *io_nvjpeg_library_open(io_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvjpeg);
    if (!*no_nvjpeg.reason)
        return &nvjpeg;
    if (error)
        *error = no_nvjpeg;
    return NULL;
}
