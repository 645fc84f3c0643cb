/* SPDX-License-Identifier: MIT */
#include "cuda/entry.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

tm_status tm_cuda_status(const tm_cuda *cuda, cudaError_t error, tm_message *message)
{
    if (error == cudaSuccess)
        return TM_OK;
    cudaGetLastError();
    snprintf(message->text, sizeof message->text, "cuda:%d%s%s: %s", cuda->index,
             cuda->name[0] ? ", " : "", cuda->name, cudaGetErrorString(error));
    if (cuda->fft.cufft.error) {
        const size_t used = strlen(message->text);
        snprintf(message->text + used, sizeof message->text - used, " (cuFFT's error %d)",
                 cuda->fft.cufft.error);
    }
    return error == cudaErrorMemoryAllocation ? TM_ERR_DEVICE_MEMORY : TM_ERR_DEVICE;
}

tm_status tm_refusal_status(const tm_cuda *cuda, cudaError_t error, const tm_message *refusal,
                            tm_message *message)
{
    if (error != cudaSuccess || !refusal->text[0])
        return tm_cuda_status(cuda, error, message);
    *message = *refusal;
    return TM_ERR_INVALID;
}

/* The runtime has loaded the driver's library before anything here is called for a device, and
 * keeps it. */
tm_driver tm_load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    tm_driver driver = {};
    if (library) {
        driver.get_context = (decltype(driver.get_context))dlsym(library, "cuCtxGetCurrent");
        driver.set_context = (decltype(driver.set_context))dlsym(library, "cuCtxSetCurrent");
    }
    return driver;
}

cudaError_t tm_enter(tm_cuda *cuda, tm_entry *before)
{
    *before = (tm_entry){cuda->driver, NULL, tm_memory_enter(&cuda->memory)};
    if (before->driver.get_context && before->driver.get_context(&before->context) != CUDA_SUCCESS)
        before->context = NULL; /* the driver is not initialised yet */
    cudaGetLastError();         /* the caller's own, which a launch would be blamed for */
    return TM_CALL(cudaSetDevice(cuda->index));
}

void tm_leave(const tm_entry *before)
{
    if (before->driver.set_context)
        before->driver.set_context(before->context);
    tm_memory_enter(before->memory);
}

static cudaError_t read_times(const tm_cuda *cuda, tm_times *times)
{
    float to_device, kernel, from_device;
    TRY_CUDA(cudaEventElapsedTime(&to_device, cuda->events[TM_EVENT_START],
                                  cuda->events[TM_EVENT_ON_DEVICE]));
    TRY_CUDA(cudaEventElapsedTime(&kernel, cuda->events[TM_EVENT_ON_DEVICE],
                                  cuda->events[TM_EVENT_MATCHED]));
    TRY_CUDA(cudaEventElapsedTime(&from_device, cuda->events[TM_EVENT_MATCHED],
                                  cuda->events[TM_EVENT_DONE]));
    times->to_device = (double)to_device;
    times->kernel = (double)kernel;
    times->from_device = (double)from_device;
    return cudaSuccess;
}

void tm_give_back(tm_cuda *cuda)
{
    cuda->last = (tm_last){};
    cuda->plain.copy = cuda->raw.copy = (tm_frame_copy){};
    tm_buffer_free(&cuda->plain.memory);
    tm_buffer_free(&cuda->raw.memory);
    tm_buffer_free(&cuda->map);
    tm_buffer_free(&cuda->candidates);
    tm_buffer_free(&cuda->certified);
    cuda->planes_layout = (tm_layout){};
    tm_buffer_free(&cuda->planes);
    tm_buffer_free(&cuda->correlations);
    tm_buffer_free(&cuda->listed);
    tm_buffer_free(&cuda->found);
    tm_buffer_free(&cuda->masked);
    tm_buffer_free(&cuda->taps);
    tm_fft_drop_spectrum(&cuda->f32_spectrum);
    tm_fft_give_back(&cuda->fft);
    tm_buffer_free(&cuda->peaks.items);
    tm_buffer_free(&cuda->peaks.bins);
    tm_poses_drop(&cuda->poses);
    tm_large_drop(&cuda->large);
    tm_drop_groups(cuda);
}

cudaError_t tm_begin_call(tm_cuda *cuda, tm_work *work, tm_entry *before)
{
    *work = (tm_work){};
    cuda->fft.cufft.error = 0;
    return tm_enter(cuda, before);
}

tm_status tm_end_call(tm_cuda *cuda, cudaError_t error, bool timed, tm_work *work, const tm_entry *before,
                      tm_message *message)
{
    if (error == cudaSuccess) {
        error = timed ? read_times(cuda, &work->times) : cudaSuccess;
        work->bytes_to_device = cuda->bytes_in;
        work->bytes_from_device = cuda->bytes_out;
    } else { /* nothing may still use the caller's memory */
        (void)TM_CALL(cudaStreamSynchronize(cuda->in));
        (void)TM_CALL(cudaStreamSynchronize(cuda->stream));
        (void)TM_CALL(cudaStreamSynchronize(cuda->out));
        cuda->last = (tm_last){};
    }
    if (tm_guard_is_given_up(cuda->memory.guard))
        return TM_ERR_DEVICE;
    if (error == cudaErrorMemoryAllocation)
        tm_give_back(cuda);
    const tm_status status = tm_refusal_status(cuda, error, &cuda->refusal, message);
    tm_leave(before);
    return status;
}
