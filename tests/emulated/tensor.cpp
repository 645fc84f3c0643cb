/* SPDX-License-Identifier: MIT */
/* What a device without tensor cores answers. */
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

cudaError_t tm_tensor_prepare_wide(const uint8_t *, int, int, void **, cudaStream_t)
{
    return cudaErrorNotSupported;
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
