/* SPDX-License-Identifier: MIT */
#include "device_memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends.h"
#include "check.h"

static struct {
    int (*set_device)(int device);
    int (*alloc)(void **memory, size_t size);
    int (*release)(void *memory);
    int (*alloc_host)(void **memory, size_t size, unsigned flags);
    int (*release_host)(void *memory);
    int (*copy)(void *to, const void *from, size_t size, int kind, void *stream);
    int (*create)(void **stream);
    int (*destroy)(void *stream);
    int (*wait)(void *stream);
    int64_t (*steps)(void); /* NULL: a real device */
} calls;

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST };

static bool find(void *library, const char *prefix)
{
    static const struct {
        const char *name;
        void *call;
    } names[] = {
        {"cudaSetDevice", &calls.set_device},      {"cudaMalloc", &calls.alloc},
        {"cudaFree", &calls.release},              {"cudaHostAlloc", &calls.alloc_host},
        {"cudaFreeHost", &calls.release_host},     {"cudaMemcpyAsync", &calls.copy},
        {"cudaStreamCreate", &calls.create},       {"cudaStreamDestroy", &calls.destroy},
        {"cudaStreamSynchronize", &calls.wait},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", prefix, names[i].name);
        void *found = library ? dlsym(library, name) : NULL;
        if (!found)
            return false;
        *(void **)names[i].call = found;
    }
    return true;
}

void require_device_memory(void)
{
    static const char *const runtimes[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0", "/usr/local/cuda/lib64/libcudart.so"};
    char path[4096];

    require_cuda();
    if (calls.alloc)
        return;
    snprintf(path, sizeof path, "%s/libtmatch-cuda.so", getenv("TMATCH_PLUGIN_DIR"));
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (find(plugin, "em_")) {
        *(void **)&calls.steps = dlsym(plugin, "em_steps");
        return;
    }
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (find(dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL), ""))
            return;
    calls.alloc = NULL;
    check_skip("devices here have no memory that a caller could have: no libcudart.so");
}

int device_count(void)
{
    size_t count = 0;
    CHECK_EQ(tm_list_devices(NULL, 0, &count, NULL, 0), TM_OK);
    return (int)count - 1;
}

bool device_is_emulated(void)
{
    return calls.steps != NULL;
}

int64_t device_steps(void)
{
    return calls.steps ? calls.steps() : 0;
}

void *device_alloc(int device, size_t size)
{
    void *memory = NULL;
    CHECK_EQ(calls.set_device(device), 0);
    CHECK_EQ(calls.alloc(&memory, size), 0);
    return memory;
}

void device_free(void *memory)
{
    if (memory)
        CHECK_EQ(calls.release(memory), 0);
}

void *device_alloc_host(size_t size)
{
    void *memory = NULL;
    CHECK_EQ(calls.alloc_host(&memory, size, 0), 0);
    return memory;
}

void device_free_host(void *memory)
{
    if (memory)
        CHECK_EQ(calls.release_host(memory), 0);
}

void *device_stream(int device)
{
    void *stream = NULL;
    CHECK_EQ(calls.set_device(device), 0);
    CHECK_EQ(calls.create(&stream), 0);
    return stream;
}

void device_stream_free(void *stream)
{
    CHECK_EQ(calls.destroy(stream), 0);
}

void device_stream_wait(void *stream)
{
    CHECK_EQ(calls.wait(stream), 0);
}

void device_put(void *to, const void *from, size_t size, void *stream)
{
    CHECK_EQ(calls.copy(to, from, size, HOST_TO_DEVICE, stream), 0);
}

void device_get(void *to, const void *from, size_t size, void *stream)
{
    CHECK_EQ(calls.copy(to, from, size, DEVICE_TO_HOST, stream), 0);
}
