/* SPDX-License-Identifier: MIT */
/* Places of a large template's poses: a thread makes 4 x 8 pixels of a posed picture, and adds up their products with what
 * lies below them at all of the pose's places. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/poses/large.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS, WIDTH = 4 * 32, ROWS = 8, HEIGHT = ROWS * WARPS, MOST_POSES = 65535 };

/* Adds a sample that lies between four pixels, times 2^(2 * TM_FRACTION_BITS). False where one of them that weighs anything
 * is not there. */
static __device__ __forceinline__ bool add_sample(const tm_large_template &t, int64_t u, int64_t v, int64_t &sum)
{
    const int right = (int)(u & (TM_FRACTION_ONE - 1)), below = (int)(v & (TM_FRACTION_ONE - 1)), one = (int)TM_FRACTION_ONE;
    const int64_t x = u >> TM_FRACTION_BITS, y = v >> TM_FRACTION_BITS;

    if (u < 0 || v < 0 || u > (t.width - 1) * TM_FRACTION_ONE || v > (t.height - 1) * TM_FRACTION_ONE)
        return false;
    const int64_t at = y * t.width + x, next = at + (below ? t.width : 0);
    const int step = right > 0;
    if (t.mask && (!__ldg(t.mask + at) || !__ldg(t.mask + at + step) || !__ldg(t.mask + next) || !__ldg(t.mask + next + step)))
        return false;
    const int upper = __ldg(t.samples + at) * (one - right) + __ldg(t.samples + at + step) * right;
    const int lower = __ldg(t.samples + next) * (one - right) + __ldg(t.samples + next + step) * right;
    sum += (int64_t)upper * (one - below) + (int64_t)lower * below;
    return true;
}

/* Makes a pixel of a pose's picture; false where it does not count. */
static __device__ __forceinline__ bool make_pixel(const tm_large_template &t, const tm_large_picture &p, int x, int y,
                                                  unsigned &sample)
{
    const int64_t parts = p.steps.parts, left = tm_pose_first_sample(x, p.width, parts),
                  top = tm_pose_first_sample(y, p.height, parts), whole = parts * parts << 2 * TM_FRACTION_BITS,
                  across = 2 * x - (p.width - 1), down = 2 * y - (p.height - 1);
    int64_t sum = 0;

    if (x >= p.width || y >= p.height || across * across + down * down >= t.distance)
        return false;
    for (int64_t j = 0; j < parts; j++) {
        for (int64_t i = 0; i < parts; i++) {
            const int64_t along = left + 2 * i, below = top + 2 * j;
            const int64_t u = tm_pose_place_at(along * p.steps.cosine - below * p.steps.sine, parts, t.width);
            const int64_t v = tm_pose_place_at(along * p.steps.sine + below * p.steps.cosine, parts, t.height);
            if (!add_sample(t, u, v, sum))
                return false;
        }
    }
    sample = (unsigned)(parts == 1 ? (sum + whole / 2) >> 2 * TM_FRACTION_BITS : (2 * sum + whole) / (2 * whole));
    return true;
}

static __device__ __forceinline__ void add_to(tm_large_sums *sums, unsigned f, unsigned ff, unsigned ft)
{
    atomicAdd((unsigned long long *)&sums->s_f, (unsigned long long)f);
    atomicAdd((unsigned long long *)&sums->s_ff, (unsigned long long)ff);
    atomicAdd((unsigned long long *)&sums->s_ft, (unsigned long long)ft);
}

static __global__ void __launch_bounds__(THREADS) sums_kernel(tm_large_template t, const tm_large_picture *pictures,
                                                               const tm_large_place *places, const uint8_t *frame,
                                                               size_t pitch, tm_large_sums *sums)
{
    const tm_large_picture p = pictures[blockIdx.y];
    const int across = (p.width + WIDTH - 1) / WIDTH, lane = threadIdx.x & 31, x = (int)blockIdx.x % across * WIDTH + 4 * lane,
              y = (int)blockIdx.x / across * HEIGHT + (int)threadIdx.x / 32 * ROWS;
    unsigned taps[ROWS], counts[ROWS], any = 0;

#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        taps[row] = counts[row] = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned sample;
            if (make_pixel(t, p, x + i, y + row, sample)) {
                taps[row] |= sample << 8 * i;
                counts[row] |= 255u << 8 * i;
            }
        }
        any |= counts[row];
    }
    if (!__any_sync(~0u, any != 0))
        return;
    for (unsigned i = p.first; i < p.first + p.count; i++) {
        const uint8_t *at = frame + (int64_t)(places[i].y + y) * (int64_t)pitch + places[i].x + x;
        const unsigned shift = 8 * (unsigned)((uintptr_t)at & 3);
        unsigned f = 0, ff = 0, ft = 0;
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            if (!counts[row])
                continue;
            const uint32_t *words = (const uint32_t *)(at - ((uintptr_t)at & 3) + row * (int64_t)pitch);
            const unsigned word = __funnelshift_r(__ldg(words), __ldg(words + 1), shift) & counts[row];
            f = __dp4a(word, 0x01010101u, f);
            ff = __dp4a(word, word, ff);
            ft = __dp4a(word, taps[row], ft);
        }
        f = tm_warp_sum(f);
        ff = tm_warp_sum(ff);
        ft = tm_warp_sum(ft);
        if (lane == 0)
            add_to(&sums[i], f, ff, ft);
    }
}

cudaError_t tm_large_sum_places(const tm_large_template *t, const tm_large_picture *pictures, size_t count, int width, int height,
                                const tm_large_place *places, const uint8_t *frame, size_t pitch, tm_large_sums *sums,
                                cudaStream_t stream)
{
    const unsigned tiles = (unsigned)(ceil_div(width, WIDTH) * ceil_div(height, HEIGHT));

    for (size_t i = 0; i < count; i += MOST_POSES) {
        const dim3 blocks(tiles, (unsigned)smaller(MOST_POSES, (int64_t)(count - i)));
        const cudaError_t error =
            TM_LAUNCH(sums_kernel<<<blocks, THREADS, 0, stream>>>(*t, pictures + i, places, frame, pitch, sums));
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}
