/* SPDX-License-Identifier: MIT */
#include "cuda/on_device.cuh"

#include <stdio.h>

#include "cuda/context.cuh"
#include "integers.h"

#define THREADS 256

enum { HOST = -1 };

/* The device in whose memory it lies, or HOST. Managed memory lies where it is asked for. */
static int device_of(const tm_cuda *cuda, const void *memory)
{
    cudaPointerAttributes attributes = {};
    const bool known = TM_CALL(cudaPointerGetAttributes(&attributes, memory)) == cudaSuccess;
    cudaGetLastError();
    if (known && attributes.type == cudaMemoryTypeManaged)
        return cuda->index;
    return known && attributes.type == cudaMemoryTypeDevice ? attributes.device : HOST;
}

bool tm_lies_here(const tm_cuda *cuda, const char *name, const void *memory, tm_message *refusal)
{
    const int device = device_of(cuda, memory);

    if (device == HOST)
        snprintf(refusal->text, sizeof refusal->text, "%s in the host's memory, not in that of cuda:%d",
                 name, cuda->index);
    else if (device != cuda->index)
        snprintf(refusal->text, sizeof refusal->text, "%s in the memory of cuda:%d, not in that of cuda:%d",
                 name, device, cuda->index);
    return device == cuda->index;
}

/* The first and the last byte of rows of count items each, items and rows being so many bytes apart. */
typedef struct extent {
    const uint8_t *first, *last;
} extent;

static void stretch(extent *e, int64_t count, ptrdiff_t stride)
{
    const ptrdiff_t length = (ptrdiff_t)(count - 1) * stride;
    (length < 0 ? e->first : e->last) += length;
}

static bool picture_lies_here(const tm_cuda *cuda, const tm_image *image, const tm_on_device *place,
                              tm_message *refusal)
{
    extent e = {image->samples, image->samples + tm_sample_size(image->type) - 1};
    stretch(&e, image->height, image->stride);
    stretch(&e, image->width, place->pixel_stride);
    stretch(&e, tm_image_channels(image), place->channel_stride);
    if (!tm_lies_here(cuda, "the picture's samples lie", e.first, refusal) ||
        !tm_lies_here(cuda, "the picture's samples lie", e.last, refusal))
        return false;
    if (!image->mask)
        return true;
    e = (extent){image->mask, image->mask + image->width - 1};
    stretch(&e, image->height, image->mask_stride);
    return tm_lies_here(cuda, "the picture's mask lies", e.first, refusal) &&
           tm_lies_here(cuda, "the picture's mask lies", e.last, refusal);
}

/* Finds where the map lies of a job whose frame is on the device. False, with the refusal, where it cannot be written. */
static bool map_is_good(const tm_cuda *cuda, tm_job *job, tm_message *refusal)
{
    job->map_on_device = false;
    if (!job->map.data)
        return true;
    if (device_of(cuda, job->map.data) == HOST && !job->on_device->async)
        return true;
    job->map_on_device = true;
    return tm_lies_here(cuda, "the map lies", job->map.data, refusal);
}

/* What is copied in from now on waits for what the caller has launched so far. */
static cudaError_t wait_for_caller(tm_cuda *cuda, cudaStream_t stream, tm_message *refusal)
{
    const cudaError_t error = TM_CALL(cudaEventRecord(cuda->reached, stream));
    if (error == cudaErrorInvalidResourceHandle || error == cudaErrorContextIsDestroyed) {
        cudaGetLastError();
        snprintf(refusal->text, sizeof refusal->text, "the stream is not one of cuda:%d's", cuda->index);
        return cudaSuccess;
    }
    TRY(error);
    return TM_CALL(cudaStreamWaitEvent(cuda->in, cuda->reached, 0));
}

cudaError_t tm_accept(tm_cuda *cuda, tm_job *jobs, size_t count, tm_message *refusal)
{
    const tm_on_device *frame = jobs->on_device;

    if (!picture_lies_here(cuda, &jobs->frame, frame, refusal))
        return cudaSuccess;
    if (frame->bests && (!tm_lies_here(cuda, "the best matches lie", frame->bests, refusal) ||
                         !tm_lies_here(cuda, "the best matches lie", frame->bests + count - 1, refusal)))
        return cudaSuccess;
    for (size_t i = 0; i < count; i++)
        if (!map_is_good(cuda, &jobs[i], refusal))
            return cudaSuccess;
    return wait_for_caller(cuda, (cudaStream_t)frame->stream, refusal);
}

cudaError_t tm_hand_over(tm_cuda *cuda, const tm_on_device *frame)
{
    TRY_CUDA(cudaStreamWaitEvent((cudaStream_t)frame->stream, cuda->events[TM_EVENT_DONE], 0));
    return cudaSuccess;
}

cudaError_t tm_begin_on_device(tm_cuda *cuda, const tm_job *jobs)
{
    if (cuda->unawaited)
        TRY(tm_wait_for(cuda, cuda->in, cuda->out));
    cuda->unawaited = false;
    if (!jobs->on_device || !tm_job_is_f32(jobs))
        return cudaSuccess;
    TRY(tm_buffer_fit(&cuda->not_finite, sizeof(uint64_t)));
    return TM_CALL(cudaMemsetAsync(cuda->not_finite.data, 0xff, sizeof(uint64_t), cuda->in));
}

/* Samples that may lie any number of bytes apart. */
typedef struct strewn {
    const uint8_t *samples;
    ptrdiff_t stride, pixel_stride, channel_stride;
    int channels;
    int64_t row; /* samples of a row, those of all channels */
    int64_t rows;
} strewn;

template <typename T>
static __global__ void __launch_bounds__(THREADS) gather_kernel(uint8_t *to, size_t pitch, strewn from)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const ptrdiff_t at = i / from.channels * from.pixel_stride + i % from.channels * from.channel_stride;

    for (int64_t y = blockIdx.y; i < from.row && y < from.rows; y += gridDim.y)
        ((T *)(to + y * (int64_t)pitch))[i] = *(const T *)(from.samples + y * from.stride + at);
}

static dim3 blocks_of(int64_t row, int64_t rows)
{
    return dim3((unsigned)((row + THREADS - 1) / THREADS), (unsigned)smaller(rows, TM_MOST_GRID_ROWS));
}

static cudaError_t gather(uint8_t *to, size_t pitch, const strewn *from, int64_t size, cudaStream_t stream)
{
    const int64_t row = from->row * size;
    const dim3 blocks = blocks_of(from->row, from->rows);

    if (from->pixel_stride == size * from->channels && (from->channels == 1 || from->channel_stride == size) &&
        (from->stride >= row || from->rows == 1))
        return TM_CALL(cudaMemcpy2DAsync(to, pitch, from->samples, (size_t)larger(from->stride, row),
                                         (size_t)row, (size_t)from->rows, cudaMemcpyDeviceToDevice, stream));
    auto kernel = size == 1   ? gather_kernel<uint8_t>
                  : size == 2 ? gather_kernel<uint16_t>
                              : gather_kernel<uint32_t>;
    return TM_LAUNCH(kernel<<<blocks, THREADS, 0, stream>>>(to, pitch, *from));
}

static strewn samples_of(const tm_image *image, const tm_on_device *place, int64_t first, int64_t rows)
{
    const int channels = tm_image_channels(image);
    return (strewn){image->samples + first * image->stride, image->stride, place->pixel_stride,
                    place->channel_stride, channels, image->width * channels, rows};
}

static strewn mask_of(const tm_image *image, int64_t first, int64_t rows)
{
    return (strewn){image->mask + first * image->mask_stride, image->mask_stride, 1, 1, 1, image->width, rows};
}

cudaError_t tm_gather_samples(tm_cuda *cuda, uint8_t *to, size_t pitch, const tm_job *job, int64_t first,
                              int64_t rows)
{
    const strewn from = samples_of(&job->frame, job->on_device, first, rows);
    return gather(to, pitch, &from, tm_sample_size(job->frame.type), cuda->in);
}

cudaError_t tm_gather_mask(tm_cuda *cuda, uint8_t *to, const tm_job *job, int64_t first, int64_t rows)
{
    const strewn from = mask_of(&job->frame, first, rows);
    return gather(to, (size_t)job->frame.width, &from, 1, cuda->in);
}

cudaError_t tm_fetch_picture(tm_cuda *cuda, const tm_image *image, const tm_on_device *place,
                             uint8_t *samples, uint8_t *mask, tm_message *refusal)
{
    const size_t row = (size_t)tm_image_row_bytes(image), width = (size_t)image->width,
                 height = (size_t)image->height;
    const strewn from = samples_of(image, place, 0, image->height), from_mask = mask_of(image, 0, image->height);
    tm_buffer packed = {};

    if (!picture_lies_here(cuda, image, place, refusal))
        return cudaSuccess;
    TRY(wait_for_caller(cuda, (cudaStream_t)place->stream, refusal));
    if (refusal->text[0])
        return cudaSuccess;
    TRY(tm_buffer_fit(&packed, (row + width) * height));
    uint8_t *data = (uint8_t *)packed.data;
    cudaError_t error = gather(data, row, &from, tm_sample_size(image->type), cuda->in);
    if (error == cudaSuccess)
        error = TM_CALL(cudaMemcpyAsync(samples, data, row * height, cudaMemcpyDeviceToHost, cuda->in));
    if (error == cudaSuccess && image->mask)
        error = gather(data + row * height, width, &from_mask, 1, cuda->in);
    if (error == cudaSuccess && image->mask)
        error = TM_CALL(cudaMemcpyAsync(mask, data + row * height, width * height, cudaMemcpyDeviceToHost, cuda->in));
    const cudaError_t done = TM_CALL(cudaStreamSynchronize(cuda->in));
    tm_buffer_free(&packed);
    return error == cudaSuccess ? done : error;
}

/* What is not finite, behind the sample's number, so that the first one has the least key. */
enum { IS_NAN, IS_INF, IS_MINUS_INF };

static __global__ void __launch_bounds__(THREADS)
    check_kernel(const float *samples, int64_t count, int64_t first, unsigned long long *least)
{
    const int64_t step = (int64_t)gridDim.x * THREADS;

    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        const unsigned bits = (unsigned)__float_as_int(samples[i]);
        if ((bits & 0x7f800000u) != 0x7f800000u)
            continue;
        const unsigned kind = bits & 0x7fffffu ? IS_NAN : bits >> 31 ? IS_MINUS_INF : IS_INF;
        atomicMin(least, (unsigned long long)(first + i) << 2 | kind);
    }
}

cudaError_t tm_check_floats(tm_cuda *cuda, const float *samples, const tm_job *job, int64_t first,
                            int64_t rows)
{
    const tm_image *frame = &job->frame;
    const int64_t row = frame->width * tm_image_channels(frame), count = rows * row;
    const int64_t above = frame->stride ? (frame->samples - job->on_device->samples) / frame->stride : 0;
    const unsigned blocks = (unsigned)smaller((count + THREADS - 1) / THREADS, 16 * cuda->traits.multiprocessors);

    return TM_LAUNCH(check_kernel<<<blocks, THREADS, 0, cuda->in>>>(samples, count, (above + first) * row,
                                                   (unsigned long long *)cuda->not_finite.data));
}

cudaError_t tm_ask_floats(tm_cuda *cuda, const tm_job *jobs, uint64_t *pinned)
{
    *pinned = UINT64_MAX;
    if (!jobs->on_device || !tm_job_is_f32(jobs))
        return cudaSuccess;
    return TM_CALL(cudaMemcpyAsync(pinned, cuda->not_finite.data, sizeof *pinned, cudaMemcpyDeviceToHost,
                                   cuda->out));
}

bool tm_are_finite(const tm_job *jobs, uint64_t answer, tm_message *refusal)
{
    static const char *const names[] = {"nan", "inf", "-inf"};
    const int channels = tm_image_channels(&jobs->frame);
    const int64_t i = (int64_t)(answer >> 2), row = jobs->frame.width * channels;

    if (answer == UINT64_MAX)
        return true;
    snprintf(refusal->text, sizeof refusal->text,
             "the frame has the sample %s at x=%lld y=%lld, and only finite ones have a score",
             names[answer & 3], (long long)(i % row / channels), (long long)(i / row));
    return false;
}

#define DELIVERED 64 /* by one launch */

typedef struct delivery {
    const tm_candidate *found;
    tm_peak *to;
    const unsigned long long *not_finite; /* NULL: samples are integers */
    bool is_integer, is_distance;
    int count;
    int64_t width[DELIVERED], pad_x[DELIVERED], pad_y[DELIVERED]; /* of the maps */
} delivery;

static __global__ void __launch_bounds__(DELIVERED) deliver_kernel(__grid_constant__ const delivery d)
{
    const int i = (int)threadIdx.x;
    if (i >= d.count)
        return;
    const tm_candidate best = d.found[i];
    const int64_t value = d.is_distance ? -best.value : best.value;
    tm_peak peak;
    if (best.position == INT64_MAX || (d.not_finite && *d.not_finite != ~0ull)) {
        peak.x = peak.y = -1;
        peak.score = __longlong_as_double(0x7ff8000000000000ll);
    } else {
        peak.x = best.position % d.width[i] - d.pad_x[i];
        peak.y = best.position / d.width[i] - d.pad_y[i];
        peak.score = d.is_integer ? (double)value : (double)tm_score_of_order((int32_t)value);
    }
    d.to[i] = peak;
}

cudaError_t tm_deliver(tm_cuda *cuda, const tm_job *jobs, size_t count, const tm_candidate *found)
{
    tm_peak *to = jobs->on_device->bests;

    for (size_t i = 0; i < count && to; i += DELIVERED) {
        delivery d = {};
        d.found = found + i;
        d.to = to + i;
        d.not_finite = tm_job_is_f32(jobs) ? (const unsigned long long *)cuda->not_finite.data : NULL;
        d.is_integer = tm_job_is_integer(jobs);
        d.is_distance = tm_is_distance(jobs->metric);
        d.count = (int)smaller((int64_t)(count - i), DELIVERED);
        for (int k = 0; k < d.count; k++) {
            const tm_geometry *g = &jobs[i + (size_t)k].geometry;
            d.width[k] = g->map_width;
            d.pad_x[k] = g->pad_x;
            d.pad_y[k] = g->pad_y;
        }
        TRY(TM_LAUNCH(deliver_kernel<<<1, DELIVERED, 0, cuda->out>>>(d)));
    }
    cuda->unawaited = true;
    return cudaSuccess;
}
