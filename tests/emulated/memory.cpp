/* SPDX-License-Identifier: MIT */
/* The emulated devices' memory. What tests allocate as the caller's cannot be touched but by operations
 * of streams: a host that reads it crashes, as it does with a device's. */
#include "device.h"

#include <sys/mman.h>

#include <map>
#include <vector>

struct block {
    size_t size;
    int device; /* or HOST */
};

enum { HOST = -1 };

static auto &blocks = *new std::map<const uint8_t *, block>; /* of devices and page-locked */
static auto &guarded = *new std::map<void *, size_t>;        /* of those, tests' own */

static const block *find_block(const void *memory)
{
    em_lock own(em_mutex);
    auto after = blocks.upper_bound((const uint8_t *)memory);
    if (after == blocks.begin())
        return nullptr;
    --after;
    return (const uint8_t *)memory < after->first + after->second.size ? &after->second : nullptr;
}

static bool is_pinned(const void *memory)
{
    const block *found = find_block(memory);
    return found && found->device == HOST;
}

static bool is_of_device(const void *memory)
{
    const block *found = find_block(memory);
    return found && found->device != HOST;
}

void em_open_memory(bool open)
{
    for (const auto &b : guarded)
        mprotect(b.first, b.second, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    if (posix_memalign(memory, 256, size + !size))
        return cudaErrorMemoryAllocation;
    memset(*memory, 0xa5, size);
    em_lock own(em_mutex);
    blocks[(const uint8_t *)*memory] = {size + !size, em_current_device()};
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    em_lock own(em_mutex);
    em_run_all();
    const block *found = find_block(memory);
    if (!found)
        return cudaSuccess;
    if (guarded.erase(memory))
        munmap(memory, found->size);
    else
        free(memory);
    blocks.erase((const uint8_t *)memory);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t size, int)
{
    em_lock own(em_mutex);
    *memory = malloc(size + !size);
    blocks[(const uint8_t *)*memory] = {size, HOST};
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    em_lock own(em_mutex);
    em_run_all();
    blocks.erase((const uint8_t *)memory);
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    const block *found = find_block(memory);
    attributes->type = !found                 ? (int)cudaMemoryTypeUnregistered
                       : found->device == HOST ? (int)cudaMemoryTypeHost
                                               : (int)cudaMemoryTypeDevice;
    attributes->device = found ? found->device : 0;
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    return em_push(stream, [=] { memset(to, value, size); });
}

/* From and to plain memory a copy has read or written it when the call returns. */
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    const uint8_t *source = (const uint8_t *)from;
    std::vector<uint8_t> kept;

    if (is_of_device(from) != (kind != cudaMemcpyHostToDevice) || is_of_device(to) != (kind != cudaMemcpyDeviceToHost))
        em_fail("a copy between other kinds of memory than it says");
    if (width > to_pitch || width > from_pitch)
        em_fail("a copy of rows that are longer than their pitch");
    if (kind == cudaMemcpyHostToDevice && !is_pinned(from)) {
        kept.resize(width * height);
        for (size_t y = 0; y < height; y++)
            memcpy(&kept[y * width], source + y * from_pitch, width);
        from_pitch = width;
    }
    const cudaError_t error = em_push(stream, [=] {
        const uint8_t *rows = kept.empty() ? source : kept.data();
        for (size_t y = 0; y < height; y++)
            memcpy((uint8_t *)to + y * to_pitch, rows + y * from_pitch, width);
    });
    return error == cudaSuccess && kind == cudaMemcpyDeviceToHost && !is_pinned(to) ? cudaStreamSynchronize(stream)
                                                                                   : error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, size, from, size, size, 1, kind, stream);
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/* Memory of the caller's, for tests. */
EXPORT cudaError_t em_cudaMalloc(void **memory, size_t size)
{
    em_lock own(em_mutex);
    *memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*memory == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    guarded[*memory] = size;
    blocks[(const uint8_t *)*memory] = {size, em_current_device()};
    return cudaSuccess;
}

EXPORT cudaError_t em_cudaFree(void *memory)
{
    return cudaFree(memory);
}

EXPORT cudaError_t em_cudaHostAlloc(void **memory, size_t size, unsigned)
{
    return cudaHostAlloc(memory, size, 0);
}

EXPORT cudaError_t em_cudaFreeHost(void *memory)
{
    return cudaFreeHost(memory);
}

EXPORT cudaError_t em_cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, size, kind, stream);
}
