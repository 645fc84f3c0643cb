/* SPDX-License-Identifier: MIT */
/* What every call of the plugin begins and ends with: the thread's context, errors as statuses, times. */
#ifndef TMATCH_CUDA_ENTRY_CUH
#define TMATCH_CUDA_ENTRY_CUH

#include "cuda/context.cuh"
#include "cuda/plugin.h"

/* What the thread worked with before: the caller's own context, or none. To ask
 * cudaGetDevice and go back with cudaSetDevice would open device 0 for a caller who
 * has none: from CUDA 12 on, that call makes the device's context. */
typedef struct tm_entry {
    tm_driver driver;
    CUcontext context;
    tm_memory *memory;
} tm_entry;

tm_driver tm_load_driver(void);

/* The device's context becomes the thread's, until it leaves. */
cudaError_t tm_enter(tm_cuda *cuda, tm_entry *before);
void tm_leave(const tm_entry *before);

/* The error of a CUDA call as a status and a message that names the device; and of a call that may also
 * have refused what the caller gave. */
tm_status tm_cuda_status(const tm_cuda *cuda, cudaError_t error, tm_message *message);
tm_status tm_refusal_status(const tm_cuda *cuda, cudaError_t error, const tm_message *refusal, tm_message *message);

/* Begins a match; ends it with its error, and notes what it took; timed: all of its times have been recorded. */
cudaError_t tm_begin_call(tm_cuda *cuda, tm_work *work, tm_entry *before);
tm_status tm_end_call(tm_cuda *cuda, cudaError_t error, bool timed, tm_work *work, const tm_entry *before,
                      tm_message *message);

/* Frees what grows with a match, so that a smaller match finds room. */
void tm_give_back(tm_cuda *cuda);

/* A call that is no match: call(refusal), with the device entered. Where it succeeds it may say in *refusal why
 * what was asked for cannot be done. */
template <typename Call>
static tm_status tm_call_entered(tm_cuda *cuda, tm_message *message, Call call)
{
    tm_entry before;
    tm_message refusal = {};
    cudaError_t error = tm_enter(cuda, &before);
    if (error == cudaSuccess)
        error = call(&refusal);
    const tm_status status = tm_refusal_status(cuda, error, &refusal, message);
    tm_leave(&before);
    return status;
}

#endif
