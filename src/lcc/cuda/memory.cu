/* SPDX-License-Identifier: MIT */
#include "lcc/cuda/memory.cuh"

#include <stdlib.h>

static thread_local tm_memory *entered;

tm_memory *tm_memory_enter(tm_memory *memory)
{
    tm_memory *before = entered;
    entered = memory;
    return before;
}

#ifdef TM_FAULT_INJECTION
cudaError_t tm_memory_fault(void)
{
    const int error = entered ? tm_fault_next(&entered->fault) : 0;
    if (error != TM_FAULT_HANG)
        return (cudaError_t)error;
    entered->hangs = true;
    return cudaSuccess;
}
#endif

bool tm_call_begin(void)
{
    if (!entered)
        return true;
    const bool good = tm_guard_enter(entered->guard);
    if (good && entered->hangs) {
        entered->hangs = false;
        tm_fault_hang();
    }
    return good;
}

bool tm_call_end(void)
{
    return !entered || tm_guard_leave(entered->guard);
}

bool tm_is_given_up(void)
{
    return entered && tm_guard_is_given_up(entered->guard);
}

static bool make_room(tm_memory *memory)
{
    if (memory->count < memory->room)
        return true;
    const size_t room = memory->room ? 2 * memory->room : 64;
    tm_memory_block *blocks = (tm_memory_block *)realloc(memory->blocks, room * sizeof *blocks);
    if (!blocks)
        return false;
    memory->blocks = blocks;
    memory->room = room;
    return true;
}

cudaError_t tm_device_malloc(void **data, size_t size)
{
    tm_memory *memory = entered;
    if (!memory)
        return cudaMalloc(data, size);
    if (!make_room(memory) || (memory->limit && (int64_t)size > memory->limit - memory->used))
        return cudaErrorMemoryAllocation;
    cudaError_t error = TM_CALL(cudaMalloc(data, size));
    if (error != cudaSuccess)
        return error;
    memory->blocks[memory->count++] = (tm_memory_block){*data, size};
    memory->used += (int64_t)size;
    return cudaSuccess;
}

void tm_device_free(void *data)
{
    tm_memory *memory = entered;
    for (size_t i = 0; memory && data && i < memory->count; i++) {
        if (memory->blocks[i].data != data)
            continue;
        memory->used -= (int64_t)memory->blocks[i].size;
        memory->blocks[i] = memory->blocks[--memory->count];
        break;
    }
    (void)TM_CALL(cudaFree(data));
}
