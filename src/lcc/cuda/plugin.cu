/* SPDX-License-Identifier: MIT */
/* The CUDA plugin's table: devices opened, asked and closed, errors named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lcc/cuda/context.cuh"

/* The error of a CUDA call as a status and a message that names the device. */
static tm_status cuda_status(const tm_cuda *cuda, cudaError_t error, tm_message *message)
{
    if (error == cudaSuccess)
        return TM_OK;
    cudaGetLastError();
    snprintf(message->text, sizeof message->text, "cuda:%d, %s: %s", cuda->index, cuda->name,
             cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? TM_ERR_DEVICE_MEMORY : TM_ERR_DEVICE;
}

static cudaError_t read_times(const tm_cuda *cuda, tm_times *times)
{
    float to_device, kernel, from_device;
    TRY(cudaEventElapsedTime(&to_device, cuda->events[TM_EVENT_START], cuda->events[TM_EVENT_ON_DEVICE]));
    TRY(cudaEventElapsedTime(&kernel, cuda->events[TM_EVENT_ON_DEVICE], cuda->events[TM_EVENT_MATCHED]));
    TRY(cudaEventElapsedTime(&from_device, cuda->events[TM_EVENT_MATCHED], cuda->events[TM_EVENT_DONE]));
    times->to_device = (double)to_device;
    times->kernel = (double)kernel;
    times->from_device = (double)from_device;
    return cudaSuccess;
}

static tm_status plugin_match(tm_cuda *cuda, tm_job *jobs, size_t count, tm_cuda_work *work,
                              tm_message *message)
{
    int callers_device = cuda->index;
    *work = (tm_cuda_work){};
    cudaGetDevice(&callers_device);
    cudaError_t error = cudaSetDevice(cuda->index);
    if (error == cudaSuccess)
        error = tm_run(cuda, jobs, count);
    if (error == cudaSuccess)
        error = read_times(cuda, &work->times);
    else
        cudaStreamSynchronize(cuda->stream); /* nothing may still use the caller's memory */
    tm_status status = cuda_status(cuda, error, message);
    cudaSetDevice(callers_device);
    return status;
}

static tm_status plugin_replay(tm_cuda *cuda, int samples, int launches, double *ms,
                               tm_message *message)
{
    if (!cuda->last.group) {
        snprintf(message->text, sizeof message->text, "there is no match to replay");
        return TM_ERR_INVALID;
    }
    int callers_device = cuda->index;
    cudaGetDevice(&callers_device);
    cudaError_t error = cudaSetDevice(cuda->index);
    if (error == cudaSuccess)
        error = tm_replay(cuda, samples, launches, ms);
    tm_status status = cuda_status(cuda, error, message);
    cudaSetDevice(callers_device);
    return status;
}

static tm_cuda_traits plugin_traits(const tm_cuda *cuda)
{
    return cuda->traits;
}

static int plugin_count(tm_message *message)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return count;
    cudaGetLastError();
    snprintf(message->text, sizeof message->text, "no CUDA device: %s",
             cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error));
    return 0;
}

static tm_status plugin_describe(int index, tm_device_info *info, tm_message *message)
{
    tm_cuda device = {};
    cudaDeviceProp properties;
    int driver = 0, runtime = 0;

    device.index = index;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error == cudaSuccess)
        error = cudaDriverGetVersion(&driver);
    if (error == cudaSuccess)
        error = cudaRuntimeGetVersion(&runtime);
    if (error != cudaSuccess)
        return cuda_status(&device, error, message);

    *info = (tm_device_info){};
    info->kind = TM_DEVICE_CUDA;
    info->index = index;
    info->units = properties.multiProcessorCount;
    info->memory_bytes = (int64_t)properties.totalGlobalMem;
    snprintf(info->name, sizeof info->name, "%.120s", properties.name);
    snprintf(info->detail, sizeof info->detail,
             "compute capability %d.%d, driver for CUDA %d.%d, built with CUDA %d.%d",
             properties.major, properties.minor, driver / 1000, driver % 1000 / 10,
             runtime / 1000, runtime % 1000 / 10);
    return TM_OK;
}

static void plugin_close(tm_cuda *cuda)
{
    int callers_device = cuda->index;
    cudaGetDevice(&callers_device);
    cudaSetDevice(cuda->index);
    if (cuda->stream)
        cudaStreamSynchronize(cuda->stream);
    tm_drop_groups(cuda);
    tm_fft_device_free(&cuda->fft);
    for (int i = 0; i < TM_EVENTS; i++) {
        if (cuda->events[i])
            cudaEventDestroy(cuda->events[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (cuda->staging_free[i])
            cudaEventDestroy(cuda->staging_free[i]);
        cudaFreeHost(cuda->staging[i]);
    }
    cudaFreeHost(cuda->pinned_bests);
    tm_device_peaks_free(&cuda->peaks);
    cudaFree(cuda->reduced);
    cudaFree(cuda->bests.data);
    cudaFree(cuda->tensor.blocks);
    cudaFree(cuda->tensor.hints);
    cudaFree(cuda->frame.data);
    cudaFree(cuda->map.data);
    cudaFree(cuda->candidates.data);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    cudaGetLastError();
    cudaSetDevice(callers_device);
    free(cuda);
}

static cudaError_t open_device(tm_cuda *cuda)
{
    cudaDeviceProp properties;

    TRY(cudaGetDeviceProperties(&properties, cuda->index));
    snprintf(cuda->name, sizeof cuda->name, "%.120s", properties.name);
    cuda->fft.shared_bytes = (int)properties.sharedMemPerBlockOptin;
    cuda->traits.multiprocessors = properties.multiProcessorCount;
    cuda->traits.tensor_cores = properties.major >= 8;
    /* the chips for computing have one double unit to two of float, others 1 to 32 or 64 */
    cuda->traits.fast_double =
        properties.minor == 0 && properties.major >= 6 && properties.major <= 10;
    cuda->traits.longest_fft = tm_fft_longest(cuda->fft.shared_bytes);
    TRY(cudaSetDevice(cuda->index));
    TRY(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    for (int i = 0; i < TM_EVENTS; i++)
        TRY(cudaEventCreate(&cuda->events[i]));
    for (int i = 0; i < 2; i++)
        TRY(cudaEventCreateWithFlags(&cuda->staging_free[i], cudaEventDisableTiming));
    TRY(cudaMalloc((void **)&cuda->reduced, TM_REDUCE_BLOCKS * sizeof *cuda->reduced));

    cuda->tensor_dirty = true;
    cuda->tensor.multiprocessors = properties.multiProcessorCount;
    cuda->tensor.shared_memory = properties.sharedMemPerBlockOptin;
    cuda->tensor.has_wgmma = properties.major == 9;
    cuda->tensor.most_templates = TM_GROUP_MAX;
    TRY(cudaMalloc((void **)&cuda->tensor.blocks,
                   TM_GROUP_MAX * TM_TENSOR_BLOCKS * sizeof *cuda->tensor.blocks));
    return cudaMalloc((void **)&cuda->tensor.hints, (TM_GROUP_MAX + 1) * sizeof(int));
}

static tm_status plugin_open(tm_cuda **opened, int index, int64_t memory, tm_message *message)
{
    (void)memory;
    tm_cuda *cuda = (tm_cuda *)calloc(1, sizeof *cuda);
    if (!cuda) {
        snprintf(message->text, sizeof message->text, "%s", "out of memory");
        return TM_ERR_MEMORY;
    }
    int callers_device = index;
    cudaGetDevice(&callers_device);
    cuda->index = index;
    tm_status status = cuda_status(cuda, open_device(cuda), message);
    cudaSetDevice(callers_device);
    if (status != TM_OK) {
        plugin_close(cuda);
        return status;
    }
    *opened = cuda;
    return TM_OK;
}

const tm_cuda_plugin *tm_cuda_plugin_get(void)
{
    static const tm_cuda_plugin plugin = {TM_CUDA_PLUGIN_VERSION, plugin_count, plugin_describe,
                                          plugin_open,            plugin_close, plugin_traits,
                                          plugin_match,           plugin_replay};
    return &plugin;
}
