/* SPDX-License-Identifier: MIT */
/* The CUDA plugin: a device's context with its memory, kept across frames, and
 * the way of one job through it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft/cuda/fft.cuh"
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/plugin.h"

#define STAGING_BYTES ((size_t)8 << 20)
#define CACHED_TEMPLATES 256
#define SPECTRA_BYTES ((size_t)1 << 30) /* kept altogether, and one in any case */

/* Device memory that only grows. */
typedef struct buffer {
    void *data;
    size_t size;
} buffer;

typedef struct cached_template {
    tm_template key; /* samples: an own copy */
    uint8_t *taps;
    tm_fft_spectrum spectrum;
    uint64_t used; /* the context's clock when it was last asked for */
} cached_template;

/* Where the frame lies in its zero-extended device copy. */
typedef struct layout {
    int64_t frame_width, frame_height, pad_x, pad_y, rows;
    size_t pitch;
} layout;

enum { START, ON_DEVICE, MATCHED, DONE, EVENTS };

struct tm_cuda {
    int index;
    char name[128];
    cudaStream_t stream;
    cudaEvent_t events[EVENTS];
    buffer frame, map, candidates;
    layout frame_layout;
    tm_candidate *reduced; /* device: TM_REDUCE_BLOCKS, then the best */
    tm_candidate *best;    /* pinned */
    uint8_t *staging[2];   /* pinned */
    size_t staging_size;
    cudaEvent_t staging_free[2];
    cached_template templates[CACHED_TEMPLATES];
    int template_count;
    tm_device_job last; /* frame is NULL where there is nothing to replay */
    tm_metric last_metric;
    bool last_fft; /* last_fft_job, not last, was launched */
    tm_fft_job last_fft_job;
    tm_fft_device fft;
    bool fast_double;
    uint64_t clock;
};

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

#define TRY(call)                        \
    do {                                 \
        cudaError_t try_error = (call);  \
        if (try_error != cudaSuccess)    \
            return try_error;            \
    } while (0)

static cudaError_t grow(buffer *buffer, size_t size)
{
    if (buffer->size >= size)
        return cudaSuccess;
    cudaFree(buffer->data);
    *buffer = (struct buffer){NULL, 0};
    TRY(cudaMalloc(&buffer->data, size));
    buffer->size = size;
    return cudaSuccess;
}

static cudaError_t fit_staging(tm_cuda *cuda, size_t row_bytes)
{
    if (cuda->staging_size >= row_bytes)
        return cudaSuccess;
    cuda->staging_size = 0;
    size_t size = row_bytes > STAGING_BYTES ? row_bytes : STAGING_BYTES;
    for (int i = 0; i < 2; i++) {
        cudaFreeHost(cuda->staging[i]);
        cuda->staging[i] = NULL;
    }
    for (int i = 0; i < 2; i++)
        TRY(cudaMallocHost((void **)&cuda->staging[i], size));
    cuda->staging_size = size;
    return cudaSuccess;
}

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static layout layout_of(const tm_geometry *g)
{
    layout l = {g->frame_width, g->frame_height, g->pad_x, g->pad_y, 0, 0};
    l.rows = g->map_height + g->template_height - 1 + TM_SLACK_ROWS;
    l.pitch = (size_t)round_up(g->map_width + g->template_width - 1 + TM_SLACK_COLUMNS, 256);
    return l;
}

static bool layout_equal(const layout *a, const layout *b)
{
    return a->frame_width == b->frame_width && a->frame_height == b->frame_height &&
           a->pad_x == b->pad_x && a->pad_y == b->pad_y && a->rows == b->rows &&
           a->pitch == b->pitch;
}

/* Copies the frame into its zero-extended place. The zeros around it are written
 * only when the layout changes. */
static cudaError_t upload_frame(tm_cuda *cuda, const tm_job *job)
{
    const tm_image *frame = &job->frame;
    layout l = layout_of(&job->geometry);
    size_t width = (size_t)frame->width;

    if (!layout_equal(&l, &cuda->frame_layout)) {
        cuda->frame_layout = (layout){};
        TRY(grow(&cuda->frame, (size_t)l.rows * l.pitch));
        TRY(cudaMemsetAsync(cuda->frame.data, 0, (size_t)l.rows * l.pitch, cuda->stream));
        cuda->frame_layout = l;
    }

    uint8_t *to = (uint8_t *)cuda->frame.data + l.pad_y * (int64_t)l.pitch + l.pad_x;
    TRY(fit_staging(cuda, width));
    const int64_t chunk = (int64_t)(cuda->staging_size / width);
    for (int64_t y = 0, i = 0; y < frame->height; y += chunk, i++) {
        const int64_t rows = chunk < frame->height - y ? chunk : frame->height - y;
        uint8_t *staging = cuda->staging[i % 2];
        TRY(cudaEventSynchronize(cuda->staging_free[i % 2]));
        for (int64_t row = 0; row < rows; row++)
            memcpy(staging + row * frame->width, frame->samples + (y + row) * frame->stride, width);
        TRY(cudaMemcpy2DAsync(to + y * (int64_t)l.pitch, l.pitch, staging, width, width,
                              (size_t)rows, cudaMemcpyHostToDevice, cuda->stream));
        TRY(cudaEventRecord(cuda->staging_free[i % 2], cuda->stream));
    }
    return cudaSuccess;
}

/* Copies the dense device map into the caller's rows; the copy of one chunk
 * overlaps the unpacking of the chunk before it. */
static cudaError_t download_map(tm_cuda *cuda, const tm_job *job)
{
    const size_t row_bytes =
        (size_t)job->geometry.map_width * tm_map_element_size(job->metric);
    const int64_t height = job->geometry.map_height;

    TRY(fit_staging(cuda, row_bytes));
    const int64_t chunk = (int64_t)(cuda->staging_size / row_bytes);
    const int64_t chunks = (height + chunk - 1) / chunk;
    for (int64_t i = 0; i <= chunks; i++) {
        if (i < chunks) {
            const int64_t y = i * chunk, rows = chunk < height - y ? chunk : height - y;
            TRY(cudaMemcpyAsync(cuda->staging[i % 2],
                                (const uint8_t *)cuda->map.data + (size_t)y * row_bytes,
                                (size_t)rows * row_bytes, cudaMemcpyDeviceToHost, cuda->stream));
            TRY(cudaEventRecord(cuda->staging_free[i % 2], cuda->stream));
        }
        if (i == 0)
            continue;
        const int64_t y = (i - 1) * chunk, rows = chunk < height - y ? chunk : height - y;
        TRY(cudaEventSynchronize(cuda->staging_free[(i - 1) % 2]));
        for (int64_t row = 0; row < rows; row++)
            memcpy((uint8_t *)job->map.data + (y + row) * job->map.stride,
                   cuda->staging[(i - 1) % 2] + (size_t)row * row_bytes, row_bytes);
    }
    return cudaSuccess;
}

static void drop_template(cached_template *entry)
{
    cudaFree(entry->taps);
    tm_fft_drop_spectrum(&entry->spectrum);
    free(entry->key.samples);
    *entry = (cached_template){};
}

static cudaError_t load_template(tm_cuda *cuda, cached_template *entry, const tm_template *t)
{
    entry->key = *t;
    entry->key.samples = (uint8_t *)malloc((size_t)t->n);
    if (!entry->key.samples)
        return cudaErrorMemoryAllocation;
    memcpy(entry->key.samples, t->samples, (size_t)t->n);
    TRY(cudaMalloc((void **)&entry->taps, (size_t)t->n));
    return cudaMemcpyAsync(entry->taps, entry->key.samples, (size_t)t->n, cudaMemcpyHostToDevice,
                           cuda->stream);
}

/* Finds the template on the device or brings it there, in place of the one that
 * was not used for longest. */
static cudaError_t fetch_template(tm_cuda *cuda, const tm_template *t, cached_template **found)
{
    cached_template *entry = &cuda->templates[0];
    for (int i = 0; i < cuda->template_count; i++) {
        cached_template *candidate = &cuda->templates[i];
        if (candidate->taps && tm_template_equal(&candidate->key, t)) {
            candidate->used = ++cuda->clock;
            *found = candidate;
            return cudaSuccess;
        }
        if (candidate->used < entry->used)
            entry = candidate;
    }
    if (cuda->template_count < CACHED_TEMPLATES)
        entry = &cuda->templates[cuda->template_count++];
    else
        drop_template(entry);

    cudaError_t error = load_template(cuda, entry, t);
    if (error != cudaSuccess) {
        drop_template(entry);
        return error;
    }
    entry->used = ++cuda->clock;
    *found = entry;
    return cudaSuccess;
}

/* From the padded frame to the best candidate, all on the device. */
static cudaError_t launch(tm_cuda *cuda, const tm_device_job *device, tm_metric metric)
{
    TRY(tm_direct_launch(device, metric, cuda->stream));
    return tm_reduce_launch(device->candidates, tm_direct_blocks(device), cuda->reduced,
                            cuda->reduced + TM_REDUCE_BLOCKS, cuda->stream);
}

static cudaError_t launch_fft(tm_cuda *cuda, const tm_fft_job *fft)
{
    TRY(tm_fft_launch(fft, cuda->stream));
    return tm_reduce_launch(fft->job.candidates, tm_fft_candidates(fft), cuda->reduced,
                            cuda->reduced + TM_REDUCE_BLOCKS, cuda->stream);
}

/* Drops the spectra that were not used for longest until size more fits. */
static void make_room(tm_cuda *cuda, const cached_template *keep, size_t size)
{
    for (;;) {
        cached_template *oldest = NULL;
        size_t total = size;
        for (int i = 0; i < cuda->template_count; i++) {
            cached_template *entry = &cuda->templates[i];
            if (entry == keep || !entry->spectrum.data)
                continue;
            total += entry->spectrum.size;
            if (!oldest || entry->used < oldest->used)
                oldest = entry;
        }
        if (total <= SPECTRA_BYTES || !oldest)
            return;
        tm_fft_drop_spectrum(&oldest->spectrum);
    }
}

static cudaError_t run_fft(tm_cuda *cuda, const tm_job *job, tm_device_job *device,
                           cached_template *tmpl)
{
    tm_fft_job fft = {};
    fft.job = *device;
    fft.frame_rows = cuda->frame_layout.rows;
    fft.metric = job->metric;
    fft.tiling = *job->tiling;
    make_room(cuda, tmpl,
              (size_t)fft.tiling.length_x * (size_t)fft.tiling.length_y * sizeof(double2));
    TRY(tm_fft_prepare(&cuda->fft, &fft, &tmpl->spectrum, cuda->stream));
    TRY(grow(&cuda->candidates, (size_t)tm_fft_candidates(&fft) * sizeof(tm_candidate)));
    device->candidates = fft.job.candidates = (tm_candidate *)cuda->candidates.data;
    cuda->last_fft_job = fft;
    return launch_fft(cuda, &fft);
}

static cudaError_t run_direct(tm_cuda *cuda, const tm_job *job, tm_device_job *device)
{
    TRY(grow(&cuda->candidates, (size_t)tm_direct_blocks(device) * sizeof(tm_candidate)));
    device->candidates = (tm_candidate *)cuda->candidates.data;
    return launch(cuda, device, job->metric);
}

static cudaError_t run(tm_cuda *cuda, tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    cached_template *tmpl = NULL;

    cuda->last.frame = NULL;

    TRY(cudaEventRecord(cuda->events[START], cuda->stream));
    TRY(fetch_template(cuda, job->tmpl, &tmpl));
    TRY(upload_frame(cuda, job));
    TRY(cudaEventRecord(cuda->events[ON_DEVICE], cuda->stream));

    if (job->map.data)
        TRY(grow(&cuda->map, (size_t)(g->map_width * g->map_height) *
                                 tm_map_element_size(job->metric)));
    tm_device_job device = {};
    device.frame = (const uint8_t *)cuda->frame.data;
    device.pitch = cuda->frame_layout.pitch;
    device.map_width = g->map_width;
    device.map_height = g->map_height;
    device.taps = tmpl->taps;
    device.width = (int)job->tmpl->width;
    device.height = (int)job->tmpl->height;
    device.n = job->tmpl->n;
    device.sum = job->tmpl->sum;
    device.variance = (float)job->tmpl->variance;
    device.map = job->map.data ? cuda->map.data : NULL;

    cuda->last_fft = job->tiling != NULL;
    TRY(job->tiling ? run_fft(cuda, job, &device, tmpl) : run_direct(cuda, job, &device));
    TRY(cudaMemcpyAsync(cuda->best, cuda->reduced + TM_REDUCE_BLOCKS, sizeof *cuda->best,
                        cudaMemcpyDeviceToHost, cuda->stream));
    TRY(cudaEventRecord(cuda->events[MATCHED], cuda->stream));
    if (job->map.data)
        TRY(download_map(cuda, job));
    TRY(cudaEventRecord(cuda->events[DONE], cuda->stream));
    TRY(cudaStreamSynchronize(cuda->stream));
    job->best = *cuda->best;
    cuda->last = device;
    cuda->last_metric = job->metric;
    return cudaSuccess;
}

static cudaError_t read_times(const tm_cuda *cuda, tm_times *times)
{
    float to_device, kernel, from_device;
    TRY(cudaEventElapsedTime(&to_device, cuda->events[START], cuda->events[ON_DEVICE]));
    TRY(cudaEventElapsedTime(&kernel, cuda->events[ON_DEVICE], cuda->events[MATCHED]));
    TRY(cudaEventElapsedTime(&from_device, cuda->events[MATCHED], cuda->events[DONE]));
    times->to_device = (double)to_device;
    times->kernel = (double)kernel;
    times->from_device = (double)from_device;
    return cudaSuccess;
}

static tm_status plugin_match(tm_cuda *cuda, tm_job *job, tm_times *times, tm_message *message)
{
    int callers_device = cuda->index;
    cudaGetDevice(&callers_device);
    cudaError_t error = cudaSetDevice(cuda->index);
    if (error == cudaSuccess)
        error = run(cuda, job);
    if (error == cudaSuccess)
        error = read_times(cuda, times);
    else
        cudaStreamSynchronize(cuda->stream); /* nothing may still use the caller's memory */
    tm_status status = cuda_status(cuda, error, message);
    cudaSetDevice(callers_device);
    return status;
}

static cudaError_t time_launches(tm_cuda *cuda, int samples, int launches, double *ms)
{
    for (int i = 0; i < samples; i++) {
        float elapsed;
        TRY(cudaEventRecord(cuda->events[START], cuda->stream));
        for (int j = 0; j < launches; j++)
            TRY(cuda->last_fft ? launch_fft(cuda, &cuda->last_fft_job)
                               : launch(cuda, &cuda->last, cuda->last_metric));
        TRY(cudaEventRecord(cuda->events[MATCHED], cuda->stream));
        TRY(cudaEventSynchronize(cuda->events[MATCHED]));
        TRY(cudaEventElapsedTime(&elapsed, cuda->events[START], cuda->events[MATCHED]));
        ms[i] = (double)elapsed / launches;
    }
    return cudaSuccess;
}

static tm_status plugin_replay(tm_cuda *cuda, int samples, int launches, double *ms,
                               tm_message *message)
{
    if (!cuda->last.frame) {
        snprintf(message->text, sizeof message->text, "there is no match to replay");
        return TM_ERR_INVALID;
    }
    int callers_device = cuda->index;
    cudaGetDevice(&callers_device);
    cudaError_t error = cudaSetDevice(cuda->index);
    if (error == cudaSuccess)
        error = time_launches(cuda, samples, launches, ms);
    tm_status status = cuda_status(cuda, error, message);
    cudaSetDevice(callers_device);
    return status;
}

static int plugin_fft_longest(const tm_cuda *cuda, bool *fast)
{
    *fast = cuda->fast_double;
    return tm_fft_longest(cuda->fft.shared_bytes);
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
    for (int i = 0; i < cuda->template_count; i++)
        drop_template(&cuda->templates[i]);
    for (int i = 0; i < EVENTS; i++) {
        if (cuda->events[i])
            cudaEventDestroy(cuda->events[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (cuda->staging_free[i])
            cudaEventDestroy(cuda->staging_free[i]);
        cudaFreeHost(cuda->staging[i]);
    }
    cudaFreeHost(cuda->best);
    cudaFree(cuda->reduced);
    cudaFree(cuda->frame.data);
    cudaFree(cuda->map.data);
    cudaFree(cuda->candidates.data);
    tm_fft_device_free(&cuda->fft);
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
    /* the chips for computing have one double unit to two of float, others 1 to 32 or 64 */
    cuda->fast_double = properties.minor == 0 && properties.major >= 6 && properties.major <= 10;
    TRY(cudaSetDevice(cuda->index));
    TRY(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    for (int i = 0; i < EVENTS; i++)
        TRY(cudaEventCreate(&cuda->events[i]));
    for (int i = 0; i < 2; i++)
        TRY(cudaEventCreateWithFlags(&cuda->staging_free[i], cudaEventDisableTiming));
    TRY(cudaMalloc((void **)&cuda->reduced, (TM_REDUCE_BLOCKS + 1) * sizeof *cuda->reduced));
    TRY(cudaMallocHost((void **)&cuda->best, sizeof *cuda->best));
    return cudaSuccess;
}

static tm_status plugin_open(tm_cuda **opened, int index, tm_message *message)
{
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
                                          plugin_open,            plugin_close, plugin_fft_longest,
                                          plugin_match,           plugin_replay};
    return &plugin;
}
