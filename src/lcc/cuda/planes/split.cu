/* SPDX-License-Identifier: MIT */
/* Splits a frame into planes: the bytes of its samples, those of each pixel's sum of squares, and
 * where its mask leaves pixels out. */
#include <limits.h>

#include "integers.h"
#include "lcc/cuda/early.cuh"
#include "lcc/cuda/planes/planes.cuh"

#define THREADS 128
#define PIXELS 4            /* of a thread in a row */
#define MOST_SHARE 4        /* rows of a thread, where that leaves blocks enough */
#define LEAST_BLOCKS 2048

/* Stores the first bytes of a word of four pixels. whole: all four, to a word of its own. */
static __device__ __forceinline__ void put(uint8_t *to, uint32_t word, int pixels, bool whole)
{
    if (whole) {
        *(uint32_t *)to = word;
        return;
    }
    for (int i = 0; i < pixels; i++)
        to[i] = (uint8_t)(word >> 8 * i);
}

/* Bytes at, at + step, ... of some words: four of them. */
template <int WORDS>
static __device__ __forceinline__ uint32_t gather(const uint32_t (&words)[WORDS], int at, int step)
{
    uint32_t pair[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int first = at + 2 * i * step, second = first + step;
        pair[i] = __byte_perm(words[first / 4], words[second / 4], first % 4 | (4 + second % 4) << 4);
    }
    return __byte_perm(pair[0], pair[1], 0x5410);
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
    split_kernel(tm_raw_frame raw, tm_device_planes planes, int squares, bool z, int rows, tm_planes_found *found)
{
    typedef typename square<BYTES>::type Q;
    const int64_t x = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * PIXELS, row = raw.width * (CHANNELS * BYTES);
    const int64_t plane = planes.rows * (int64_t)planes.pitch;
    const int pixels = (int)min((int64_t)PIXELS, raw.width - x);
    const bool whole = pixels == PIXELS && planes.pad_x % 4 == 0;
    int64_t y = (int64_t)blockIdx.y * rows;
    const int64_t end = min(y + rows, raw.height);
    const uint8_t *from = raw.samples + y * row + x * (CHANNELS * BYTES);
    uint8_t *first = planes.data + (y + planes.pad_y) * (int64_t)planes.pitch + planes.pad_x + x;

    tm_early_begin();
    if (found && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
        *found = TM_NOTHING_FOUND;
    if (pixels <= 0)
        return;
#pragma unroll 2
    for (; y < end; y++, from += row, first += planes.pitch) {
        uint8_t *to = first;
        uint32_t words[CHANNELS * BYTES];
        get(words, from, pixels * (CHANNELS * BYTES), y + 1 < raw.height);
#pragma unroll
        for (int i = 0; i < CHANNELS * BYTES; i++, to += plane)
            put(to, gather(words, i, CHANNELS * BYTES), pixels, whole);
        if (squares) {
            Q q[PIXELS] = {0};
#pragma unroll
            for (int i = 0; i < PIXELS * CHANNELS; i++) {
                const int at = i * BYTES;
                const uint32_t sample = words[at / 4] >> 8 * (at % 4) & (BYTES == 2 ? 65535 : 255);
                q[i / CHANNELS] += (Q)sample * sample;
            }
#pragma unroll
            for (int b = 0; b < 4 + (BYTES == 2 && CHANNELS > 1); b++, to += plane) {
                uint32_t part[PIXELS];
                if (b >= squares)
                    break;
#pragma unroll
                for (int i = 0; i < PIXELS; i++)
                    part[i] = (uint32_t)(q[i] >> 32 * (b / 4));
                put(to, gather(part, b % 4, 4), pixels, whole);
            }
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
                            const tm_plane_products *products, tm_planes_found *found, bool early,
                            cudaStream_t stream)
{
    const int64_t across = ceil_div(raw->width, THREADS * PIXELS);
    const int64_t share = smaller(across * raw->height / LEAST_BLOCKS, MOST_SHARE);
    const int rows = (int)larger(larger(share, 1), ceil_div(raw->height, TM_MOST_GRID_ROWS));
    auto kernel = raw->bytes == 2 ? kernel_of<2>(raw->channels) : kernel_of<1>(raw->channels);
    const dim3 grid((unsigned)across, (unsigned)ceil_div(raw->height, rows));
    return tm_early_launch(kernel, grid, THREADS, 0, early, stream, *raw, *planes, products->squares, products->z, rows,
                           found);
}

bool tm_planes_can_be_early(void)
{
    return tm_early_is_possible(split_kernel<1, 1>);
}
