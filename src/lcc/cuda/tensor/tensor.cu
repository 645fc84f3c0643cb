/* SPDX-License-Identifier: MIT */
/* Which of the tensor-core kernels runs a job. */
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/cores.cuh"

#define WGMMA_COLUMNS 25 /* of a small template */

/* wgmma is faster where it can, in a form for small templates and one for wide ones; it
 * takes single templates only. Small ones' fragments stand behind those of mma. */
static size_t wgmma_offset(int width, int height, int count)
{
    return (tc_mma_frag_bytes(width, height, count) + 255) / 256 * 256;
}

#ifdef TM_HAVE_WGMMA
static bool wgmma_takes(const tm_tensor_device *device, int width, int height, int count)
{
    return device->has_wgmma && count == 1 && width <= WGMMA_COLUMNS && height <= 31;
}
#endif

cudaError_t tm_tensor_prepare(const tm_tensor_device *device, const uint8_t *taps, int width,
                              int height, int count, void **fragments, cudaStream_t stream)
{
    size_t offset = wgmma_offset(width, height, count), size = offset;
#ifdef TM_HAVE_WGMMA
    const bool wgmma = wgmma_takes(device, width, height, count);
    if (wgmma)
        size += tc_wgmma_frag_bytes(width, height, count);
#else
    (void)device;
#endif
    cudaError_t error = tm_device_malloc(fragments, size);
    if (error == cudaSuccess)
        error = tc_mma_prepare(*fragments, taps, width, height, count, stream);
#ifdef TM_HAVE_WGMMA
    if (error == cudaSuccess && wgmma)
        error =
            tc_wgmma_prepare((uint8_t *)*fragments + offset, taps, width, height, count, stream);
#endif
    return error;
}

bool tm_tensor_wants_wide(const tm_tensor_device *device, const tm_geometry *g, bool map)
{
#ifdef TM_HAVE_WGMMA
    tm_tensor_job job = {};
    job.map_width = g->map_width;
    job.map_height = g->map_height;
    job.width = (int)g->template_width;
    job.height = (int)g->template_height;
    job.count = 1;
    return device->has_wgmma && job.width > WGMMA_COLUMNS &&
           tc_wide_takes(job, map, device->multiprocessors, device->shared_memory,
                         device->always_wide);
#else
    (void)device, (void)g, (void)map;
    return false;
#endif
}

cudaError_t tm_tensor_prepare_wide(const uint8_t *taps, int width, int height, void **fragments,
                                   cudaStream_t stream)
{
#ifdef TM_HAVE_WGMMA
    cudaError_t error = tm_device_malloc(fragments, tc_wide_frag_bytes(width, height));
    return error == cudaSuccess ? tc_wide_prepare(*fragments, taps, width, height, stream) : error;
#else
    (void)taps, (void)width, (void)height, (void)fragments, (void)stream;
    return cudaErrorNotSupported;
#endif
}

cudaError_t tm_tensor_reset(const tm_tensor_device *device, cudaStream_t stream)
{
    return tc_reset(device->running_bests, device->most_templates, stream);
}

cudaError_t tm_tensor_launch(const tm_tensor_device *device, tm_tensor_job job, cudaStream_t stream)
{
    const int sms = device->multiprocessors;
    const size_t shared = device->shared_memory;
    cudaError_t error = cudaErrorNotSupported;

#ifdef TM_HAVE_WGMMA
    if (wgmma_takes(device, job.width, job.height, job.count)) {
        tm_tensor_job behind = job;
        behind.fragments = (const uint8_t *)job.fragments + wgmma_offset(job.width, job.height, 1);
        error = tc_wgmma_launch(behind, sms, shared, stream);
    } else if (device->has_wgmma) {
        error = tc_wide_launch(job, sms, shared, device->always_wide, stream);
    }
#endif
    if (error == cudaErrorNotSupported && job.count > 1)
        error = tc_mma_wide_launch(job, sms, shared, stream);
    if (error == cudaErrorNotSupported)
        error = tc_mma_launch(job, sms, shared, stream);
    return error;
}

cudaError_t tm_tensor_launch_steps(const tm_tensor_device *device, const tm_tensor_steps *job,
                                   cudaStream_t stream)
{
    return tc_steps_launch(*job, device->multiprocessors, device->shared_memory, stream);
}
