/* SPDX-License-Identifier: MIT */
/* The CUDA plugin's table: devices opened, asked and closed, errors named. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"
#include "cuda/estimate.h"
#include "cuda/on_device.cuh"
#include "cuda/reader.cuh"
#include "cuda/run.cuh"
#include "fft/cuda/cufft_library.cuh"

/* A chunk copies at most so much: 0.6 ms of bus, in which launching it does not show. */
#define CHUNK_BYTES ((int64_t)32 << 20)

/* The error of a CUDA call as a status and a message that names the device. */
static tm_status cuda_status(const tm_cuda *cuda, cudaError_t error, tm_message *message)
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

/* The same of a call that may also have refused what the caller gave. */
static tm_status refusal_status(const tm_cuda *cuda, cudaError_t error, const tm_message *refusal,
                                tm_message *message)
{
    if (error != cudaSuccess || !refusal->text[0])
        return cuda_status(cuda, error, message);
    *message = *refusal;
    return TM_ERR_INVALID;
}

/* The runtime has loaded the driver's library before anything here is called for a device, and
 * keeps it. */
static tm_driver load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    tm_driver driver = {};
    if (library) {
        driver.get_context = (decltype(driver.get_context))dlsym(library, "cuCtxGetCurrent");
        driver.set_context = (decltype(driver.set_context))dlsym(library, "cuCtxSetCurrent");
    }
    return driver;
}

/* What the thread worked with before: the caller's own context, or none. To ask
 * cudaGetDevice and go back with cudaSetDevice would open device 0 for a caller who
 * has none: from CUDA 12 on, that call makes the device's context. */
typedef struct entry {
    tm_driver driver;
    CUcontext context;
    tm_memory *memory;
} entry;

static cudaError_t enter(tm_cuda *cuda, entry *before)
{
    *before = (entry){cuda->driver, NULL, tm_memory_enter(&cuda->memory)};
    if (before->driver.get_context && before->driver.get_context(&before->context) != CUDA_SUCCESS)
        before->context = NULL; /* the driver is not initialised yet */
    cudaGetLastError();         /* the caller's own, which a launch would be blamed for */
    return TM_CALL(cudaSetDevice(cuda->index));
}

static void leave(const entry *before)
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

/* Frees what grows with a match, so that a smaller match finds room. */
static void give_back(tm_cuda *cuda)
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

/* Begins a match. */
static cudaError_t begin(tm_cuda *cuda, tm_work *work, entry *before)
{
    *work = (tm_work){};
    cuda->fft.cufft.error = 0;
    return enter(cuda, before);
}

/* Ends it with its error, and notes what it took; timed: all of its times have been recorded. */
static tm_status end(tm_cuda *cuda, cudaError_t error, bool timed, tm_work *work, const entry *before,
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
        give_back(cuda);
    const tm_status status = refusal_status(cuda, error, &cuda->refusal, message);
    leave(before);
    return status;
}

static tm_status plugin_accept(tm_cuda *cuda, tm_job *jobs, size_t count, tm_message *message)
{
    entry before;
    tm_message refusal = {};
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = tm_accept(cuda, jobs, count, &refusal);
    const tm_status status = refusal_status(cuda, error, &refusal, message);
    leave(&before);
    return status;
}

static tm_status plugin_hand_over(tm_cuda *cuda, const tm_on_device *frame, tm_message *message)
{
    entry before;
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = tm_hand_over(cuda, frame);
    const tm_status status = cuda_status(cuda, error, message);
    leave(&before);
    return status;
}

static tm_status plugin_fetch(tm_cuda *cuda, const tm_image *image, const tm_on_device *place,
                              uint8_t *samples, uint8_t *mask, tm_message *message)
{
    entry before;
    tm_message refusal = {};
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = tm_fetch_picture(cuda, image, place, samples, mask, &refusal);
    const tm_status status = refusal_status(cuda, error, &refusal, message);
    leave(&before);
    return status;
}

static tm_status plugin_match(tm_cuda *cuda, tm_job *jobs, size_t count, tm_work *work,
                              tm_message *message)
{
    entry before;
    cudaError_t error = begin(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_run(cuda, jobs, count);
    return end(cuda, error, !tm_is_async(jobs), work, &before, message);
}

static tm_status plugin_match_poses(tm_cuda *cuda, tm_pose_search *search, tm_work *work,
                                    tm_message *message)
{
    entry before;
    search->items = NULL;
    search->count = 0;
    search->best = (tm_pose_peak)TM_NO_POSE_PEAK;
    search->declined = true;
    search->narrower = false;
    search->scored = 0;
    if (!cuda->traits.certified)
        return TM_OK;
    cuda->refusal.text[0] = '\0';
    cudaError_t error = begin(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_poses_run(cuda, search);
    if (error != cudaSuccess) {
        free(search->items);
        search->items = NULL;
    }
    return end(cuda, error, search->best.pose != SIZE_MAX, work, &before, message);
}

static tm_status plugin_look_at_large(tm_cuda *cuda, const tm_large_look *look, tm_work *work, tm_message *message)
{
    entry before;
    cuda->refusal.text[0] = '\0';
    cudaError_t error = begin(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_cuda_look_at_large(cuda, look);
    return end(cuda, error, false, work, &before, message);
}

static tm_status plugin_list_large(tm_cuda *cuda, tm_large_list *list, tm_work *work, tm_message *message)
{
    entry before;
    cuda->refusal.text[0] = '\0';
    cudaError_t error = begin(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_cuda_list_large(cuda, list);
    return end(cuda, error, false, work, &before, message);
}

static tm_status plugin_sum_large(tm_cuda *cuda, const tm_large_batch *batch, tm_work *work, tm_message *message)
{
    entry before;
    cuda->refusal.text[0] = '\0';
    cudaError_t error = begin(cuda, work, &before);
    if (error == cudaSuccess)
        error = tm_cuda_sum_large(cuda, batch);
    return end(cuda, error, false, work, &before, message);
}

static tm_status plugin_replay(tm_cuda *cuda, int samples, int launches, double *ms,
                               tm_message *message)
{
    if (!tm_can_replay(cuda)) {
        snprintf(message->text, sizeof message->text, "there is no match to replay");
        return TM_ERR_INVALID;
    }
    entry before;
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = tm_replay(cuda, samples, launches, ms);
    const tm_status status = cuda_status(cuda, error, message);
    leave(&before);
    return status;
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
        return cuda_status(&device, error, message);

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
    entry before;
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = cudaHostAlloc(memory, size, cudaHostAllocPortable);
    tm_status status = cuda_status(cuda, error, message);
    leave(&before);
    return status == TM_ERR_DEVICE_MEMORY ? TM_ERR_MEMORY : status;
}

static tm_status plugin_device_alloc(tm_cuda *cuda, size_t size, void **memory, tm_message *message)
{
    entry before;
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = tm_device_malloc(memory, size);
    const tm_status status = cuda_status(cuda, error, message);
    leave(&before);
    return status;
}

static void plugin_device_free(tm_cuda *open, int index, void *memory)
{
    tm_cuda device = {};
    entry before;
    device.index = index;
    device.driver = load_driver();
    enter(open ? open : &device, &before);
    tm_device_free(memory);
    leave(&before);
}

/* In a thread that has no context, the runtime would open one on a device of its
 * choice. */
static void plugin_host_free(int index, void *memory)
{
    tm_cuda device = {};
    entry before;
    device.index = index;
    device.driver = load_driver();
    enter(&device, &before);
    cudaFreeHost(memory);
    leave(&before);
}

static tm_status plugin_read_start(tm_cuda *cuda, tm_reader **reader, void *stream, const void *memory, size_t most,
                                   size_t size, tm_message *message)
{
    entry before;
    tm_message refusal = {};
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = tm_reader_start(cuda, reader, (cudaStream_t)stream, memory, most, size, &refusal);
    const tm_status status = refusal_status(cuda, error, &refusal, message);
    leave(&before);
    return status;
}

/* The device may be another thread's, or closed. */
static tm_status plugin_read_bytes(tm_reader *reader, bool wait, const void **bytes, tm_message *message)
{
    tm_cuda device = {};
    entry before;
    device.index = reader->index;
    device.driver = reader->driver;
    cudaError_t error = enter(&device, &before);
    if (error == cudaSuccess)
        error = tm_reader_bytes(reader, wait, bytes);
    const tm_status status = cuda_status(&device, error, message);
    leave(&before);
    return status;
}

static void plugin_read_free(tm_reader *reader)
{
    tm_cuda device = {};
    entry before;
    device.index = reader->index;
    device.driver = reader->driver;
    enter(&device, &before);
    tm_reader_free(reader);
    leave(&before);
}

static bool holds_pinned(void *context, const void *rows, ptrdiff_t stride, int64_t count,
                         size_t row_bytes, bool *pinned)
{
    tm_cuda *cuda = (tm_cuda *)context;
    entry before;
    *pinned = enter(cuda, &before) == cudaSuccess && tm_memory_fault() == cudaSuccess &&
              tm_is_pinned(rows, stride, count, row_bytes);
    if (tm_is_given_up())
        return false;
    leave(&before);
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
    entry before;
    enter(cuda, &before);
    const cudaStream_t streams[] = {cuda->in, cuda->stream, cuda->out};
    for (cudaStream_t stream : streams) {
        if (stream)
            (void)TM_CALL(cudaStreamSynchronize(stream));
    }
    give_back(cuda);
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
    tm_device_free(cuda->running_best);
    tm_buffer_free(&cuda->not_finite);
    tm_buffer_free(&cuda->bests);
    tm_device_free(cuda->tensor.blocks);
    tm_device_free(cuda->tensor.running_bests);
    for (cudaStream_t stream : streams) {
        if (stream)
            cudaStreamDestroy(stream);
    }
    cudaGetLastError();
    leave(&before);
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
    TRY(tm_device_malloc((void **)&cuda->running_best, sizeof *cuda->running_best));

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
    entry before;
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
    cuda->driver = load_driver();
    cuda->rates = settings->rates ? *settings->rates : (tm_rates)TM_USUAL_RATES;
    cuda->memory.limit = settings->memory;
    cuda->memory.guard = settings->guard;
    cuda->memory.fault = tm_fault_for(cuda->index);
    cuda->traits.chunk_bytes = tm_fault_chunk_bytes(CHUNK_BYTES);
    cudaError_t error = enter(cuda, &before);
    if (error == cudaSuccess)
        error = open_device(cuda);
    if (tm_guard_is_given_up(cuda->memory.guard))
        return TM_ERR_DEVICE;
    const tm_status status = cuda_status(cuda, error, message);
    leave(&before);
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
                                       plugin_accept,      plugin_hand_over,  plugin_fetch,
                                       plugin_device_alloc, plugin_device_free,
                                       plugin_read_start,  plugin_read_bytes, plugin_read_free,
                                       plugin_match_poses,
                                       plugin_look_at_large, plugin_list_large, plugin_sum_large};
    return &backend;
}
