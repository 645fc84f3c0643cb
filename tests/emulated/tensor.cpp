/* SPDX-License-Identifier: MIT */
/* What a device without tensor cores answers; but tops are made, by threads one by one. */
#include "lcc/cuda/tensor/tensor.h"

cudaError_t tm_tensor_prepare(const tm_tensor_device *, const uint8_t *, int, int, int, void **,
                              cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_prepare_rest(const tm_tensor_device *, const uint8_t *, int, int, int, void *,
                                   cudaStream_t)
{
    return cudaErrorNotSupported;
}

/* The samples themselves. */
cudaError_t tm_tensor_prepare_wide(const uint8_t *taps, int width, int height, void **fragments, cudaStream_t stream)
{
    const size_t size = (size_t)width * (size_t)height;
    const cudaError_t error = tm_device_malloc(fragments, size);
    return error == cudaSuccess ? cudaMemcpyAsync(*fragments, taps, size, cudaMemcpyDeviceToDevice, stream) : error;
}

bool tm_tensor_uses_wide(const tm_tensor_device *, const tm_geometry *, bool)
{
    return false;
}

size_t tm_tensor_partial_bytes(const tm_tensor_device *, const tm_tensor_job *)
{
    return 0;
}

cudaError_t tm_tensor_launch(const tm_tensor_device *, const tm_tensor_job *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_groups(const tm_tensor_device *)
{
    return false;
}

bool tm_tensor_shares_mask(const tm_tensor_device *, const tm_geometry *, int)
{
    return false;
}

bool tm_tensor_can_list(const tm_tensor_device *, int, int)
{
    return false;
}

cudaError_t tm_tensor_launch_listed(const tm_tensor_device *, const tm_tensor_job *, bool, cudaStream_t)
{
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_wide_steps(const tm_tensor_device *, const tm_tensor_steps *)
{
    return false;
}

double tm_tensor_wide_steps_us(const tm_tensor_device *, const tm_geometry *, int)
{
    return 0;
}

cudaError_t tm_tensor_launch_steps(const tm_tensor_device *, const tm_tensor_steps *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_masked(const tm_tensor_device *, const tm_tensor_masked_job *)
{
    return false;
}

bool tm_tensor_takes_wide_masked(const tm_tensor_device *, const tm_tensor_masked_job *)
{
    return false;
}

size_t tm_tensor_masked_scratch(const tm_tensor_masked_job *)
{
    return 0;
}

cudaError_t tm_tensor_launch_masked(const tm_tensor_device *, const tm_tensor_masked_job *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_pixels(const tm_tensor_device *, const tm_tensor_pixels_job *)
{
    return false;
}

cudaError_t tm_tensor_launch_pixels(const tm_tensor_device *, const tm_tensor_pixels_job *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_bound(const tm_tensor_device *, const tm_tensor_pixels_job *)
{
    return false;
}

size_t tm_tensor_bound_bytes(int, int, int)
{
    return 0;
}

cudaError_t tm_tensor_prepare_bound(void *, const uint8_t *, const uint8_t *, int, int, int, cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_launch_bound(const tm_tensor_device *, const tm_tensor_pixels_job *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_reset(const tm_tensor_device *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_tops(const tm_tensor_device *, const tm_tensor_steps *job)
{
    return job->width > 25 && (int64_t)job->width * job->height * job->count <= TM_TENSOR_TAPS;
}

/* Rows and columns beyond the map as there are on a GPU. */
void tm_tensor_tops_size(const tm_device_windows *windows, int64_t *stride, int64_t *rows)
{
    *stride = (windows->map_width + 127) / 128 * 16;
    *rows = (windows->map_height + 63) / 64 * 64;
}

static int32_t products(const tm_tensor_steps &job, int64_t x, int64_t y)
{
    int32_t sum = 0;
    for (int s = 0; s < job.count; s++) {
        const int8_t *bytes = (const int8_t *)job.step[s].wide;
        for (int i = 0; i < job.width * job.height; i++)
            sum += bytes[i] * job.frame[job.step[s].plane + (y + i / job.width) * (int64_t)job.pitch + x + i % job.width];
    }
    return sum;
}

static void tops_kernel(tm_tensor_steps job)
{
    int32_t *tops = (int32_t *)job.step[job.count - 1].map;
    for (int64_t y = 0; y < job.map_height; y++) {
        for (int64_t x = 0; x < job.map_width; x++) {
            int32_t *top = tops + y * job.stride + x / 8, sum = products(job, x, y);
            *top = x % 8 && *top > sum ? *top : sum;
        }
    }
}

cudaError_t tm_tensor_launch_tops(const tm_tensor_device *, const tm_tensor_steps *job, cudaStream_t stream)
{
    em_call(1, 1, 0, stream, tops_kernel, *job);
    return cudaSuccess;
}
