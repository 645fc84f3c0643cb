/* SPDX-License-Identifier: MIT */
/* Planes of a frame: the bytes of its samples, and of their squares. */
#include "lcc/cuda/parts.cuh"

#define THREADS 128
#define PIXELS 4 /* a thread */

static __device__ uint32_t sample_of(const tm_raw_frame &raw, int64_t x, int64_t y, int channel)
{
    const int64_t i = (y * raw.width + x) * raw.channels + channel;
    return raw.bytes == 2 ? ((const uint16_t *)raw.samples)[i] : raw.samples[i];
}

/* The first pixels of a word of four. */
static __device__ void put(uint8_t *to, uint32_t word, int pixels)
{
    if (pixels == PIXELS && ((uintptr_t)to & 3) == 0) {
        *(uint32_t *)to = word;
        return;
    }
    for (int i = 0; i < pixels; i++)
        to[i] = (uint8_t)(word >> 8 * i);
}

static __global__ void __launch_bounds__(THREADS)
    split_kernel(tm_raw_frame raw, tm_device_planes planes, int squares, bool z)
{
    const int64_t x = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * PIXELS;
    const int64_t plane = planes.rows * (int64_t)planes.pitch;
    const int pixels = (int)min((int64_t)PIXELS, raw.width - x);

    for (int64_t y = blockIdx.y; pixels > 0 && y < raw.height; y += gridDim.y) {
        uint8_t *to = planes.data + (y + planes.pad_y) * (int64_t)planes.pitch + planes.pad_x + x;
        uint64_t q[PIXELS] = {0};
        for (int c = 0; c < raw.channels; c++) {
            uint32_t low = 0, high = 0;
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                const uint32_t sample = i < pixels ? sample_of(raw, x + i, y, c) : 0;
                low |= (sample & 255) << 8 * i;
                high |= sample >> 8 << 8 * i;
                q[i] += (uint64_t)sample * sample;
            }
            put(to, low, pixels);
            to += plane;
            if (raw.bytes == 2) {
                put(to, high, pixels);
                to += plane;
            }
        }
        for (int b = 0; b < squares; b++, to += plane) {
            uint32_t word = 0;
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                word |= (uint32_t)(q[i] >> 8 * b & 255) << 8 * i;
            put(to, word, pixels);
        }
        if (z) {
            for (int i = 0; i < pixels; i++)
                to[i] = raw.mask[y * raw.width + x + i] == 0;
        }
    }
}

cudaError_t tm_split_launch(const tm_raw_frame *raw, const tm_device_planes *planes,
                            const tm_parts *parts, cudaStream_t stream)
{
    const int64_t rows = raw->height < 65535 ? raw->height : 65535;
    const int64_t across = (raw->width + THREADS * PIXELS - 1) / (THREADS * PIXELS);
    split_kernel<<<dim3((unsigned)across, (unsigned)rows), THREADS, 0, stream>>>(
        *raw, *planes, parts->squares, parts->z);
    return cudaGetLastError();
}
