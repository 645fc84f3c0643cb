/* SPDX-License-Identifier: MIT */
/* Which of the tensor-core kernels runs a job. */
#include "lcc/cuda/tensor/kernels.cuh"

#ifdef TM_HAVE_WGMMA
static constexpr bool built_with_wgmma = true;
#else
static constexpr bool built_with_wgmma = false;
#endif

#define SMALL_WIDTH 25 /* the greatest template of wgmma.cu */
#define SMALL_HEIGHT 31

/* wgmma is faster where it can be used. */
static bool can_use_wgmma(const tm_tensor_device *device)
{
    return built_with_wgmma && device->has_wgmma;
}

static bool is_small(int width, int height)
{
    return width <= SMALL_WIDTH && height <= SMALL_HEIGHT;
}

/* The fragments for wgmma.cu or wgmma_many.cu stand behind those for mma.cu; behind the former those for wgmma_bound.cu. */
static size_t wgmma_offset(int width, int height, int count)
{
    return (tm_mma_fragment_bytes(width, height, count) + 255) / 256 * 256;
}

/* The bytes of those behind them. */
static size_t wgmma_bytes(const tm_tensor_device *device, int width, int height, int count)
{
    if constexpr (built_with_wgmma) {
        if (can_use_wgmma(device))
            return count > 1                 ? tm_many_fragment_bytes(width, height, count)
                   : is_small(width, height) ? tm_wgmma_fragment_bytes(height) + tm_bound_fragment_bytes(width, height)
                                             : 0;
    }
    return 0;
}

cudaError_t tm_tensor_prepare(const tm_tensor_device *device, const uint8_t *taps, int width,
                              int height, int count, void **fragments, cudaStream_t stream)
{
    const cudaError_t error = tm_device_malloc(fragments, wgmma_offset(width, height, count) +
                                                              wgmma_bytes(device, width, height, count));
    return error == cudaSuccess ? tm_mma_prepare(*fragments, taps, width, height, count, stream) : error;
}

cudaError_t tm_tensor_prepare_rest(const tm_tensor_device *device, const uint8_t *taps, int width,
                                   int height, int count, void *fragments, cudaStream_t stream)
{
    if constexpr (built_with_wgmma) {
        uint8_t *const behind = (uint8_t *)fragments + wgmma_offset(width, height, count);
        if (!wgmma_bytes(device, width, height, count))
            return cudaSuccess;
        if (count > 1)
            return tm_many_prepare(behind, taps, width, height, count, stream);
        const cudaError_t error = tm_wgmma_prepare(behind, taps, width, height, stream);
        return error == cudaSuccess && tm_bound_fragment_bytes(width, height)
                   ? tm_bound_prepare(behind + tm_wgmma_fragment_bytes(height), taps, width, height, stream)
                   : error;
    }
    return cudaSuccess;
}

bool tm_tensor_uses_wide(const tm_tensor_device *device, const tm_geometry *g, bool map)
{
    if constexpr (built_with_wgmma) {
        tm_tensor_job job = {};
        (tm_device_windows &)job = tm_windows_of(g);
        job.count = 1;
        return device->has_wgmma && job.width > SMALL_WIDTH &&
               (tm_tall_takes(device, job, map) || tm_wide_takes(device, job, map));
    }
    return false;
}

size_t tm_tensor_partial_bytes(const tm_tensor_device *device, const tm_tensor_job *job)
{
    if constexpr (built_with_wgmma)
        return job->wide_fragments && tm_tall_takes(device, *job, job->map != NULL) ? tm_tall_partial_bytes(device, *job) : 0;
    return 0;
}

cudaError_t tm_tensor_prepare_wide(const uint8_t *taps, int width, int height, void **fragments,
                                   cudaStream_t stream)
{
    if constexpr (built_with_wgmma) {
        cudaError_t error = tm_device_malloc(fragments, tm_wide_fragment_bytes(width, height));
        return error != cudaSuccess ? error
                                    : tm_wide_prepare(*fragments, taps, width, height, stream);
    }
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_reset(const tm_tensor_device *device, cudaStream_t stream)
{
    return tm_mma_reset(device->running_bests, device->most_templates, stream);
}

static cudaError_t launch_wgmma(const tm_tensor_device *device, const tm_tensor_job *job,
                                cudaStream_t stream)
{
    if constexpr (built_with_wgmma) {
        if (job->count == 1 && !is_small(job->width, job->height)) {
            /* it is not where there was no memory for its parts' sums */
            const cudaError_t error =
                tm_tall_takes(device, *job, job->map != NULL) ? tm_tall_launch(device, *job, stream) : cudaErrorNotSupported;
            return error == cudaErrorNotSupported ? tm_wide_launch(device, *job, stream) : error;
        }
        tm_tensor_job own = *job;
        own.fragments = (const uint8_t *)job->fragments + wgmma_offset(job->width, job->height, job->count);
        if (job->count > 1)
            return tm_many_launch(device, own, stream);
        own.bound_fragments = (const uint8_t *)own.fragments + tm_wgmma_fragment_bytes(job->height);
        const cudaError_t error = tm_bound_launch(device, own, stream);
        return error == cudaErrorNotSupported ? tm_wgmma_launch(device, own, stream) : error;
    }
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_launch(const tm_tensor_device *device, const tm_tensor_job *job,
                             cudaStream_t stream)
{
    cudaError_t error = cudaErrorNotSupported;

    if (can_use_wgmma(device))
        error = launch_wgmma(device, job, stream);
    if (job->masked)
        return error;
    if (error == cudaErrorNotSupported && job->count > 1)
        error = tm_mma_many_launch(device, *job, stream);
    if (error == cudaErrorNotSupported)
        error = tm_mma_launch(device, *job, stream);
    return error;
}

bool tm_tensor_takes_groups(const tm_tensor_device *device)
{
    return can_use_wgmma(device);
}

bool tm_tensor_shares_mask(const tm_tensor_device *device, const tm_geometry *g, int count)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) && count >= (device->always_wide ? 2 : 4) && tm_many_takes_map(g->map_width, g->map_height) &&
               g->template_width <= TM_TENSOR_TAPS && g->template_height <= TM_TENSOR_TAPS &&
               tm_many_fragment_bytes((int)g->template_width, (int)g->template_height, count) > 0;
    return false;
}

bool tm_tensor_can_list(const tm_tensor_device *device, int width, int height)
{
    const bool pack = tm_mma_packs(width, height);
    const tm_mma_layout l =
        tm_mma_layout_of(TM_MMA_TILE_WIDTH, width, height, pack && tm_mma_is_narrow(width), pack);
    return width * height <= TM_TENSOR_TAPS &&
           (size_t)(l.rows + l.sums) + 2 * TM_MMA_FIXED_BYTES <= device->shared_memory;
}

cudaError_t tm_tensor_launch_listed(const tm_tensor_device *device, const tm_tensor_job *job, bool early,
                                    cudaStream_t stream)
{
    return tm_mma_listed_launch(device, *job, early, stream);
}

/* The next step of another plane, or after the last plane the first step. */
static int next_plane(const tm_tensor_steps &j, int step)
{
    int next = step;
    while (next < j.count && j.step[next].plane == j.step[step].plane)
        next++;
    return next < j.count ? next : 0;
}

static const void *wgmma_fragments_of(const void *fragments, int width, int height)
{
    return (const uint8_t *)fragments + wgmma_offset(width, height, 1);
}

bool tm_tensor_takes_wide_steps(const tm_tensor_device *device, const tm_tensor_steps *job)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) && job->width > SMALL_WIDTH && tm_tall_steps_takes(device, *job);
    return false;
}

double tm_tensor_wide_steps_us(const tm_tensor_device *device, const tm_geometry *g, int count)
{
    if constexpr (built_with_wgmma) {
        tm_tensor_steps job = {};
        (tm_device_windows &)job = tm_windows_of(g);
        job.count = count;
        return tm_tensor_takes_wide_steps(device, &job) ? tm_tall_steps_us(device, job) : 0;
    }
    return 0;
}

static cudaError_t launch_wgmma_steps(const tm_tensor_device *device, tm_tensor_steps steps, cudaStream_t stream)
{
    if constexpr (built_with_wgmma) {
        if (steps.step[0].wide)
            return tm_tall_steps_launch(device, steps, stream);
        if (can_use_wgmma(device) && is_small(steps.width, steps.height)) {
            for (int s = 0; s < steps.count; s++)
                steps.step[s].fragments = wgmma_fragments_of(steps.step[s].fragments, steps.width, steps.height);
            return tm_wgmma_steps_launch(device, steps, stream);
        }
    }
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_launch_steps(const tm_tensor_device *device, const tm_tensor_steps *job,
                                   cudaStream_t stream)
{
    tm_tensor_steps steps = *job;

    for (int s = 0; s < steps.count; s++)
        steps.step[s].next = next_plane(steps, s);
    const cudaError_t error = launch_wgmma_steps(device, steps, stream);
    return error == cudaErrorNotSupported ? tm_mma_steps_launch(device, steps, stream) : error;
}

bool tm_tensor_takes_masked(const tm_tensor_device *device, const tm_tensor_masked_job *job)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) &&
               (tm_wgmma_masked_takes(device, job->width, job->height) || tm_tensor_takes_wide_masked(device, job));
    return false;
}

bool tm_tensor_takes_wide_masked(const tm_tensor_device *device, const tm_tensor_masked_job *job)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) && job->width > SMALL_WIDTH && tm_tall_masked_takes(device, *job);
    return false;
}

size_t tm_tensor_masked_scratch(const tm_tensor_masked_job *job)
{
    if constexpr (built_with_wgmma)
        return tm_tall_masked_scratch(*job);
    return 0;
}

cudaError_t tm_tensor_launch_masked(const tm_tensor_device *device, const tm_tensor_masked_job *job,
                                    cudaStream_t stream)
{
    if constexpr (built_with_wgmma) {
        tm_tensor_masked_job own = *job;
        if (job->scratch)
            return tm_tall_masked_launch(device, own, stream);
        own.fragments = wgmma_fragments_of(own.fragments, own.width, own.height);
        own.mask_fragments = wgmma_fragments_of(own.mask_fragments, own.width, own.height);
        return tm_wgmma_masked_launch(device, own, stream);
    }
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_pixels(const tm_tensor_device *device, const tm_tensor_pixels_job *job)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) && tm_wgmma_pixels_takes(device, *job);
    return false;
}

cudaError_t tm_tensor_launch_pixels(const tm_tensor_device *device, const tm_tensor_pixels_job *job, cudaStream_t stream)
{
    if constexpr (built_with_wgmma) {
        tm_tensor_pixels_job own = *job;
        for (int plane = 0; plane < own.bytes; plane++)
            own.plane_fragments[plane] = wgmma_fragments_of(own.plane_fragments[plane], own.width, own.height);
        return tm_wgmma_pixels_launch(device, own, stream);
    }
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_bound(const tm_tensor_device *device, const tm_tensor_pixels_job *job)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) && (job->bytes == 1 ? tm_bound_masked_takes(device, *job) : tm_bound_pixels_takes(device, *job));
    return false;
}

size_t tm_tensor_bound_bytes(int bytes, int width, int height)
{
    if constexpr (built_with_wgmma)
        return bytes == 1 ? tm_bound_masked_bytes(width, height) : tm_bound_pixels_bytes(bytes, width, height);
    return 0;
}

cudaError_t tm_tensor_prepare_bound(void *fragments, const uint8_t *taps, const uint8_t *host_mask, int bytes, int width, int height,
                                    cudaStream_t stream)
{
    if constexpr (built_with_wgmma)
        return bytes == 1 ? tm_bound_masked_prepare(fragments, taps, taps + width * height, host_mask, width, height, stream)
                          : tm_bound_pixels_prepare(fragments, taps, bytes, width, height, stream);
    return cudaErrorNotSupported;
}

cudaError_t tm_tensor_launch_bound(const tm_tensor_device *device, const tm_tensor_pixels_job *job, cudaStream_t stream)
{
    if constexpr (built_with_wgmma)
        return job->bytes == 1 ? tm_bound_masked_launch(device, *job, stream) : tm_bound_pixels_launch(device, *job, stream);
    return cudaErrorNotSupported;
}

bool tm_tensor_takes_tops(const tm_tensor_device *device, const tm_tensor_steps *job)
{
    if constexpr (built_with_wgmma)
        return can_use_wgmma(device) && job->width > SMALL_WIDTH && tm_tall_bound_takes(device, *job);
    return false;
}

void tm_tensor_tops_size(const tm_device_windows *windows, int64_t *stride, int64_t *rows)
{
    *stride = *rows = 0;
    if constexpr (built_with_wgmma)
        tm_tall_bound_tops(*windows, stride, rows);
}

cudaError_t tm_tensor_launch_tops(const tm_tensor_device *device, const tm_tensor_steps *job, cudaStream_t stream)
{
    if constexpr (built_with_wgmma)
        return tm_tall_bound_launch(device, *job, stream);
    return cudaErrorNotSupported;
}
