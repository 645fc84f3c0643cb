/* SPDX-License-Identifier: MIT */
/* Splits a frame into planes: the bytes of its samples, those of each pixel's sum of squares, and
 * where its mask leaves pixels out. */
#include <limits.h>

#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/planes/planes.cuh"

#define THREADS 128
#define PIXELS 4 /* of a thread */

/* Stores the first bytes of a word of four pixels. */
static __device__ __forceinline__ void put(uint8_t *to, uint32_t word, int pixels)
{
    if (pixels == PIXELS && ((uintptr_t)to & 3) == 0) {
        *(uint32_t *)to = word;
        return;
    }
    for (int i = 0; i < pixels; i++)
        to[i] = (uint8_t)(word >> 8 * i);
}

/* Loads the first bytes of four pixels. Where these do not begin at a word, they are put together
 * from whole words, unless that would read beyond the frame: within says that it would not. */
template <int WORDS>
static __device__ __forceinline__ void get(uint32_t (&words)[WORDS], const uint8_t *from, int bytes,
                                           bool within)
{
    const unsigned part = (unsigned)((uintptr_t)from & 3);
    if (bytes == 4 * WORDS && (part == 0 || within)) {
        const uint32_t *at = (const uint32_t *)(from - part);
        uint32_t next = __ldg(at);
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const uint32_t word = next;
            next = i + 1 < WORDS || part ? __ldg(at + i + 1) : 0;
            words[i] = __funnelshift_r(word, next, 8 * part);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        words[i] = 0;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            if (4 * i + b < bytes)
                words[i] |= (uint32_t)from[4 * i + b] << 8 * b;
        }
    }
}

/* The type of a pixel's sum of squares. */
template <int BYTES>
struct square {
    typedef uint32_t type;
};

template <>
struct square<2> {
    typedef uint64_t type;
};

template <int CHANNELS, int BYTES>
static __global__ void __launch_bounds__(THREADS)
    split_kernel(tm_raw_frame raw, tm_device_planes planes, int squares, bool z, int *running_best)
{
    typedef typename square<BYTES>::type Q;
    const int64_t x = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * PIXELS;
    const int64_t plane = planes.rows * (int64_t)planes.pitch;
    const int pixels = (int)min((int64_t)PIXELS, raw.width - x);

    if (running_best && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
        *running_best = INT_MIN;
    for (int64_t y = blockIdx.y; pixels > 0 && y < raw.height; y += gridDim.y) {
        uint8_t *to = planes.data + (y + planes.pad_y) * (int64_t)planes.pitch + planes.pad_x + x;
        uint32_t words[CHANNELS * BYTES];
        Q q[PIXELS] = {0};
        get(words, raw.samples + (y * raw.width + x) * (CHANNELS * BYTES),
            pixels * (CHANNELS * BYTES), y + 1 < raw.height);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            uint32_t low = 0, high = 0;
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                const int at = (i * CHANNELS + c) * BYTES;
                const uint32_t sample = words[at / 4] >> 8 * (at % 4) & (BYTES == 2 ? 65535 : 255);
                low |= (sample & 255) << 8 * i;
                high |= sample >> 8 << 8 * i;
                q[i] += (Q)sample * sample;
            }
            put(to, low, pixels);
            to += plane;
            if (BYTES == 2) {
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

template <int BYTES>
static auto kernel_of(int channels) -> decltype(&split_kernel<1, BYTES>)
{
    return channels == 1   ? split_kernel<1, BYTES>
           : channels == 2 ? split_kernel<2, BYTES>
           : channels == 3 ? split_kernel<3, BYTES>
                           : split_kernel<4, BYTES>;
}

cudaError_t tm_split_launch(const tm_raw_frame *raw, const tm_device_planes *planes,
                            const tm_plane_products *products, int *running_best,
                            cudaStream_t stream)
{
    const int64_t across = (raw->width + THREADS * PIXELS - 1) / (THREADS * PIXELS);
    const int64_t most = 8192 / across > 1 ? 8192 / across : 1; /* more blocks take no less time */
    const int64_t rows = raw->height < most ? raw->height : most;
    auto kernel = raw->bytes == 2 ? kernel_of<2>(raw->channels) : kernel_of<1>(raw->channels);
    return TM_LAUNCH(kernel<<<dim3((unsigned)across, (unsigned)rows), THREADS, 0, stream>>>(
        *raw, *planes, products->squares, products->z, running_best));
}
