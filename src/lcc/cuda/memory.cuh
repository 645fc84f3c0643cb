/* SPDX-License-Identifier: MIT */
/* Device memory that is counted, so that a limit holds over all of it; and the hook
 * that makes CUDA's calls fail in tests. Both are of the device that the calling
 * thread entered. */
#ifndef TMATCH_LCC_CUDA_MEMORY_CUH
#define TMATCH_LCC_CUDA_MEMORY_CUH

#include <cuda_runtime.h>

#include "lcc/cuda/fault.h"
#include "lcc/guard.h"

typedef struct tm_memory_block {
    void *data;
    size_t size;
} tm_memory_block;

typedef struct tm_memory {
    int64_t limit; /* 0: none but the device's */
    int64_t used;
    tm_memory_block *blocks;
    size_t count, room;
    tm_guard *guard; /* of the thread that enters; NULL: nobody watches */
    tm_fault fault;
    bool hangs; /* the next call into CUDA is to hang */
} tm_memory;

/* NULL: none, and nothing is counted. Returns the one before. */
tm_memory *tm_memory_enter(tm_memory *memory);

/* As cudaMalloc and cudaFree. */
cudaError_t tm_device_malloc(void **data, size_t size);
void tm_device_free(void *data);

#ifdef TM_FAULT_INJECTION
/* What the next call is to fail with. */
cudaError_t tm_memory_fault(void);
#else
static inline cudaError_t tm_memory_fault(void)
{
    return cudaSuccess;
}
#endif

/* Around each call into CUDA that waits for the device, or may. False: the thread was given up, and
 * returns with any error, without a call and without touching what is not its own. */
bool tm_call_begin(void);
bool tm_call_end(void);

/* Whether the thread was given up in a call before. */
bool tm_is_given_up(void);

#define TM_GIVEN_UP cudaErrorLaunchTimeout /* nobody reads it */

/* The call's error, with that around it. */
#define TM_CALL(call) (tm_call_begin() ? tm_call_result(call) : TM_GIVEN_UP)
static inline cudaError_t tm_call_result(cudaError_t error)
{
    return tm_call_end() ? error : TM_GIVEN_UP;
}

/* The same of a kernel's launch, kernel<<<...>>>(...), whose error CUDA keeps. */
#define TM_LAUNCH(...) TM_CALL((__VA_ARGS__, cudaGetLastError()))

/* Returns a failed CUDA call's error from the function around it. TRY_CUDA is for calls into CUDA
 * itself, TRY for functions that make some. */
#define TRY_CUDA(call) TRY(TM_CALL(call))
#define TRY(call)                                  \
    do {                                           \
        cudaError_t try_error = tm_memory_fault(); \
        if (try_error == cudaSuccess)              \
            try_error = (call);                    \
        if (try_error != cudaSuccess)              \
            return try_error;                      \
    } while (0)

/* Device memory that only grows. */
typedef struct tm_buffer {
    void *data;
    size_t size;
} tm_buffer;

static inline void tm_buffer_free(tm_buffer *buffer)
{
    tm_device_free(buffer->data);
    buffer->data = NULL;
    buffer->size = 0;
}

static inline cudaError_t tm_buffer_fit(tm_buffer *buffer, size_t size)
{
    if (buffer->size >= size)
        return cudaSuccess;
    tm_buffer_free(buffer);
    TRY(tm_device_malloc(&buffer->data, size));
    buffer->size = size;
    return cudaSuccess;
}

#endif
