/* SPDX-License-Identifier: MIT */
#include "cuda/plugin_large.cuh"

#include "cuda/entry.cuh"

/* What the CPU asks for, in a match of its own. */
template <typename What>
static tm_status run(tm_cuda *cuda, cudaError_t (*function)(tm_cuda *, What *), What *what, tm_work *work,
                     tm_message *message)
{
    tm_entry before;
    cuda->refusal.text[0] = '\0';
    cudaError_t error = tm_begin_call(cuda, work, &before);
    if (error == cudaSuccess)
        error = function(cuda, what);
    return tm_end_call(cuda, error, false, work, &before, message);
}

tm_status tm_plugin_look_at_large(tm_cuda *cuda, const tm_large_look *look, tm_work *work, tm_message *message)
{
    return run(cuda, tm_cuda_look_at_large, look, work, message);
}

tm_status tm_plugin_list_large(tm_cuda *cuda, tm_large_list *list, tm_work *work, tm_message *message)
{
    return run(cuda, tm_cuda_list_large, list, work, message);
}

tm_status tm_plugin_sum_large(tm_cuda *cuda, const tm_large_batch *batch, tm_work *work, tm_message *message)
{
    return run(cuda, tm_cuda_sum_large, batch, work, message);
}
