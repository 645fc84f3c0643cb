/* SPDX-License-Identifier: MIT */
/* The CUDA plugin's table: devices opened, asked and closed, and what is matched. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda/entry.cuh"
#include "cuda/estimate.h"
#include "cuda/on_device.cuh"
#include "cuda/plugin_large.cuh"
#include "cuda/plugin_on_device.cuh"
#include "cuda/run.cuh"
#include "fft/cuda/cufft_library.cuh"

/* A chunk copies at most so much: 0.6 ms of bus, in which launching it does not show. */
#define CHUNK_BYTES ((int64_t)32 << 20)

static tm_status plugin_match(tm_cuda *cuda, tm_job *jobs, size_t count, tm_work *work,
                              tm_message *message)
{
    tm_entry before;
    cudaError_t error = tm_begin_call(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_run(cuda, jobs, count);
    return tm_end_call(cuda, error, !tm_is_async(jobs), work, &before, message);
}

static tm_status plugin_match_poses(tm_cuda *cuda, tm_pose_search *search, tm_work *work,
                                    tm_message *message)
{
    tm_entry before;
    search->items = NULL;
    search->count = 0;
    search->best = (tm_pose_peak)TM_NO_POSE_PEAK;
    search->declined = true;
    search->narrower = false;
    search->scored = 0;
    if (!cuda->traits.certified)
        return TM_OK;
    cuda->refusal.text[0] = '\0';
    cudaError_t error = tm_begin_call(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_poses_run(cuda, search);
    if (error != cudaSuccess) {
        free(search->items);
        search->items = NULL;
    }
    return tm_end_call(cuda, error, search->best.pose != SIZE_MAX, work, &before, message);
}

static tm_status plugin_replay(tm_cuda *cuda, int samples, int launches, double *ms,
                               tm_message *message)
{
    if (!tm_can_replay(cuda)) {
        snprintf(message->text, sizeof message->text, "there is no match to replay");
        return TM_ERR_INVALID;
    }
    return tm_call_entered(cuda, message, [=](tm_message *) {
        return tm_replay(cuda, samples, launches, ms);
    });
}

static tm_device_traits plugin_traits(const tm_cuda *cuda)
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
        return tm_cuda_status(&device, error, message);

    *info = (tm_device_info){};
    info->kind = TM_DEVICE_CUDA;
    info->index = index;
    info->units = properties.multiProcessorCount;
    info->memory_bytes = (int64_t)properties.totalGlobalMem;
    snprintf(info->name, sizeof info->name, "%.120s", properties.name);
    snprintf(info->detail, sizeof info->detail,
             "compute capability %d.%d, driver for CUDA %d.%d, built with CUDA %d.%d",
             properties.major, properties.minor, driver / 1000, driver % 1000 / 10, runtime / 1000,
             runtime % 1000 / 10);
    return TM_OK;
}

static tm_status plugin_host_alloc(tm_cuda *cuda, size_t size, void **memory, tm_message *message)
{
    const tm_status status = tm_call_entered(cuda, message, [=](tm_message *) {
        return cudaHostAlloc(memory, size, cudaHostAllocPortable);
    });
    return status == TM_ERR_DEVICE_MEMORY ? TM_ERR_MEMORY : status;
}

/* In a thread that has no context, the runtime would open one on a device of its
 * choice. */
static void plugin_host_free(int index, void *memory)
{
    tm_cuda device = {};
    tm_entry before;
    device.index = index;
    device.driver = tm_load_driver();
    tm_enter(&device, &before);
    cudaFreeHost(memory);
    tm_leave(&before);
}

static bool holds_pinned(void *context, const void *rows, ptrdiff_t stride, int64_t count,
                         size_t row_bytes, bool *pinned)
{
    tm_cuda *cuda = (tm_cuda *)context;
    tm_entry before;
    *pinned = tm_enter(cuda, &before) == cudaSuccess && tm_memory_fault() == cudaSuccess &&
              tm_is_pinned(rows, stride, count, row_bytes);
    if (tm_is_given_up())
        return false;
    tm_leave(&before);
    return true;
}

static void plugin_estimate(tm_cuda *cuda, const tm_job *jobs, size_t count,
                            const tm_estimate_request *request, tm_estimate *estimates)
{
    const tm_pinned_memory pinned = {holds_pinned, cuda};
    tm_cuda_estimate_jobs(estimates, &cuda->traits, &cuda->rates, jobs, count, request, &pinned);
}

static void plugin_close(tm_cuda *cuda)
{
    tm_entry before;
    tm_enter(cuda, &before);
    const cudaStream_t streams[] = {cuda->in, cuda->stream, cuda->out};
    for (cudaStream_t stream : streams) {
        if (stream)
            (void)TM_CALL(cudaStreamSynchronize(stream));
    }
    tm_give_back(cuda);
    tm_fft_device_free(&cuda->fft);
    for (cudaEvent_t event : cuda->events) {
        if (event)
            cudaEventDestroy(event);
    }
    if (cuda->reached)
        cudaEventDestroy(cuda->reached);
    tm_staging_free(&cuda->staging_in);
    tm_staging_free(&cuda->staging_out);
    cudaFreeHost(cuda->pinned_bests);
    cudaFreeHost(cuda->learned);
    tm_template_destroy(&cuda->ones);
    tm_device_peaks_free(&cuda->peaks);
    tm_device_free(cuda->reduced);
    tm_device_free(cuda->planes_found);
    tm_device_free(cuda->pixels_found);
    tm_buffer_free(&cuda->not_finite);
    tm_buffer_free(&cuda->bests);
    tm_device_free(cuda->tensor.blocks);
    tm_device_free(cuda->tensor.running_bests);
    for (cudaStream_t stream : streams) {
        if (stream)
            cudaStreamDestroy(stream);
    }
    cudaGetLastError();
    tm_leave(&before);
    free(cuda->memory.blocks);
    free(cuda->cache.groups);
    free(cuda);
}

/* 0 where the driver does not tell. */
static int attribute_of(const tm_cuda *cuda, cudaDeviceAttr attribute)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, cuda->index) == cudaSuccess)
        return value;
    cudaGetLastError();
    return 0;
}

static void read_speeds(tm_cuda *cuda)
{
    const double memory_ghz = attribute_of(cuda, cudaDevAttrMemoryClockRate) * 1e-6;
    cuda->traits.clock_ghz = attribute_of(cuda, cudaDevAttrClockRate) * 1e-6;
    cuda->traits.memory_gbs = memory_ghz * 2 * attribute_of(cuda, cudaDevAttrGlobalMemoryBusWidth) / 8; /* twice a clock */
}

static cudaError_t open_device(tm_cuda *cuda)
{
    cudaDeviceProp properties;

    TRY_CUDA(cudaGetDeviceProperties(&properties, cuda->index));
    snprintf(cuda->name, sizeof cuda->name, "%.120s", properties.name);
    cuda->fft.shared_bytes = (int)properties.sharedMemPerBlockOptin;
    cuda->fft.multiprocessors = properties.multiProcessorCount;
    cuda->traits.multiprocessors = properties.multiProcessorCount;
    cuda->traits.capability = properties.major * 10 + properties.minor;
    read_speeds(cuda);
    cuda->traits.tensor_cores = properties.major >= 8;
    cuda->traits.certified = tm_certified_runs(properties.major);
    cuda->traits.shared_memory = (int64_t)properties.sharedMemPerBlockOptin;
    /* the chips for computing have one double unit to two of float, others 1 to 32 or 64 */
    cuda->traits.fast_double =
        properties.minor == 0 && properties.major >= 6 && properties.major <= 10;
    cuda->traits.longest_fft = tm_fft_longest(cuda->fft.shared_bytes);
    cuda->traits.widest_fft = tm_windows_widest((size_t)cuda->fft.shared_bytes);
    TRY_CUDA(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    TRY_CUDA(cudaStreamCreateWithFlags(&cuda->in, cudaStreamNonBlocking));
    TRY_CUDA(cudaStreamCreateWithFlags(&cuda->out, cudaStreamNonBlocking));
    for (int i = 0; i < TM_EVENTS; i++)
        TRY_CUDA(cudaEventCreate(&cuda->events[i]));
    TRY_CUDA(cudaEventCreateWithFlags(&cuda->reached, cudaEventDisableTiming));
    TRY(tm_device_malloc((void **)&cuda->reduced, TM_REDUCE_BLOCKS * sizeof *cuda->reduced));
    TRY(tm_device_malloc((void **)&cuda->planes_found, sizeof *cuda->planes_found));
    TRY(tm_device_malloc((void **)&cuda->pixels_found, sizeof *cuda->pixels_found));

    cuda->tensor_dirty = true;
    cuda->tensor.index = cuda->index;
    cuda->tensor.multiprocessors = properties.multiProcessorCount;
    cuda->tensor.shared_memory = properties.sharedMemPerBlockOptin;
    cuda->tensor.has_wgmma = properties.major == 9;
    cuda->traits.groups = tm_tensor_takes_groups(&cuda->tensor);
    cuda->tensor.always_wide = tm_always_wide();
    cuda->tensor.most_templates = TM_GROUP_MAX;
    TRY(tm_device_malloc((void **)&cuda->tensor.blocks,
                         TM_GROUP_MAX * TM_TENSOR_BLOCKS * sizeof *cuda->tensor.blocks));
    TRY(tm_device_malloc((void **)&cuda->tensor.running_bests, (TM_GROUP_MAX + 1) * sizeof(int)));
    return cudaSuccess;
}

static tm_status plugin_open(tm_cuda **opened, const tm_device_settings *settings,
                             tm_message *message)
{
    tm_entry before;
    if (settings->algorithm == TM_ALGORITHM_CUFFT &&
        !tm_cufft_open(message->text, sizeof message->text))
        return TM_ERR_INVALID;
    tm_cuda *cuda = (tm_cuda *)calloc(1, sizeof *cuda);
    if (cuda)
        cuda->cache.groups = (tm_group *)calloc(TM_CACHED_GROUPS, sizeof *cuda->cache.groups);
    if (!cuda || !cuda->cache.groups) {
        free(cuda);
        snprintf(message->text, sizeof message->text, "%s", "out of memory");
        return TM_ERR_MEMORY;
    }
    cuda->index = settings->index;
    cuda->driver = tm_load_driver();
    cuda->rates = settings->rates ? *settings->rates : (tm_rates)TM_USUAL_RATES;
    cuda->memory.limit = settings->memory;
    cuda->memory.guard = settings->guard;
    cuda->memory.fault = tm_fault_for(cuda->index);
    cuda->traits.chunk_bytes = tm_fault_chunk_bytes(CHUNK_BYTES);
    cudaError_t error = tm_enter(cuda, &before);
    if (error == cudaSuccess)
        error = open_device(cuda);
    if (tm_guard_is_given_up(cuda->memory.guard))
        return TM_ERR_DEVICE;
    const tm_status status = tm_cuda_status(cuda, error, message);
    tm_leave(&before);
    if (status != TM_OK) {
        plugin_close(cuda);
        return status;
    }
    *opened = cuda;
    return TM_OK;
}

const tm_backend *tm_cuda_plugin_get(void)
{
    static const tm_backend backend = {TM_BACKEND_VERSION, plugin_count,      plugin_describe,
                                       plugin_open,        plugin_close,      plugin_traits,
                                       plugin_estimate,    plugin_match,      tm_row_ms,
                                       plugin_replay,      plugin_host_alloc, plugin_host_free,
                                       tm_plugin_accept,   tm_plugin_hand_over, tm_plugin_fetch,
                                       tm_plugin_device_alloc, tm_plugin_device_free,
                                       tm_plugin_read_start, tm_plugin_read_bytes, tm_plugin_read_free,
                                       plugin_match_poses,
                                       tm_plugin_look_at_large, tm_plugin_list_large, tm_plugin_sum_large};
    return &backend;
}
