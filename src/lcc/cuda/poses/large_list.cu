/* SPDX-License-Identifier: MIT */
/* Bundles that pass in windows of cells: a warp looks at a window. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/poses/large.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS };

/* The product of a window's numbers, which are step apart, with a bundle's: the same bits wherever it is asked for, so that as
 * many pass. */
static __device__ __noinline__ float multiply(const float *window, size_t step, const float *bundle, int count)
{
    float sum = 0;

    for (int k = 0; k < count; k++)
        sum += __ldg(window + (size_t)k * step) * __ldg(bundle + k);
    return sum;
}

/* A bundle's bound in a window; of those that there are not that of the last. */
static __device__ __forceinline__ float bound_of(const tm_large_level &l, unsigned window, int bundle)
{
    const int count = TM_POSE_COLUMNS * l.basis + 1;
    return multiply(l.p + window, l.windows, l.coordinates + min(bundle, l.count - 1) * (count - 1 + TM_LARGE_PADDED), count);
}

static __device__ __forceinline__ int floored(int a, int b)
{
    return a / b - (a % b < 0);
}

/* The sum of squares of the pixels of the class's cells whose box has its corner at (x, y): a warp's. */
static __device__ __forceinline__ uint64_t sum_squares(const tm_large_level &l, int x, int y)
{
    uint64_t sum = 0;

    for (int v = (int)(threadIdx.x & 31) * l.reach; v < l.columns * l.side; v += 32 * l.reach) {
        const int row = floored(y + v, l.reach), cell = v / l.side;
        if (row < 0 || row >= l.squares_down)
            continue;
        const uint64_t *before = l.squares + (int64_t)row * (l.squares_across + 1);
        const int first = floored(x + __ldg(l.ends + cell) * l.side, l.reach),
                  end = floored(x + __ldg(l.ends + l.columns + cell) * l.side, l.reach);
        sum += before[min(max(end, 0), l.squares_across)] - before[min(max(first, 0), l.squares_across)];
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, (unsigned long long)sum, d);
    return sum;
}

/* What bounds must reach in a window, whose corner is at (x, y) in cells, 8 if none can: a warp finds it. */
static __device__ __forceinline__ float least_in(const tm_large_level &l, const tm_large_asked &least, const tm_large_cells &c,
                                                 unsigned window, int x, int y)
{
    const int64_t pixels = (int64_t)l.pixels * l.side * l.side, sum = l.sums[window];
    const int64_t squares = (int64_t)sum_squares(l, c.x + (x - l.margin_x) * l.side, c.y + (y - l.margin_y) * l.side);
    const double cells = l.energies[window], all = (double)(pixels * squares - sum * sum) / (double)pixels;
    const double angle =
        tm_large_angle_of(least.angle, least.core, l.most_share, l.most_rest, {cells, all - cells});

    if (angle < 0)
        return 8;
    const double with_spread = angle + l.spread;
    return with_spread >= 3.1415
               ? least.least
               : fmaxf(least.least, (float)(cos(with_spread) - 2 * TM_LARGE_ROUNDING) - l.error - TM_FAMILY_ROUNDING);
}

/* A warp lists a window. */
static __device__ __forceinline__ void list_window(const tm_large_level &l, const tm_large_asked &least, tm_large_state *state,
                                                   tm_large_passed *passed, const tm_large_cells &c, int frame, unsigned window)
{
    const int lane = threadIdx.x & 31, x = c.first_x + (int)window % c.across, y = c.first_y + (int)window / c.across;
    const float own = least_in(l, least, c, c.first + window, x, y);
    unsigned count = 0;

    if (__ldg(l.most + c.first + window) < own)
        return;
    for (int first = 0; first < l.count; first += 32) {
        const int a = first + lane;
        count += (unsigned)__popc(__ballot_sync(~0u, a < l.count && bound_of(l, c.first + window, a) >= own));
    }
    if (lane == 0 && count) {
        const unsigned at = atomicAdd(&state->passed, 1u);
        passed[at] = {frame, x, y, (unsigned)atomicAdd(&state->bundles, (unsigned long long)count), count, own};
    }
}

static __global__ void __launch_bounds__(THREADS) find_kernel(tm_large_level l, tm_large_asked least, tm_large_state *state,
                                                               tm_large_passed *passed)
{
    const tm_large_cells &c = l.cells[blockIdx.y];
    const int lane = threadIdx.x & 31;
    const unsigned windows = (unsigned)c.across * (unsigned)c.down,
                   first = (blockIdx.x * WARPS + threadIdx.x / 32) * 32;
    if (first >= windows)
        return;
    const float most = first + lane < windows ? __ldg(l.most + c.first + first + lane) : -8.0f;
    for (unsigned left = __ballot_sync(~0u, most >= least.least); left; left &= left - 1)
        list_window(l, least, state, passed, c, (int)blockIdx.y, first + (unsigned)__ffs(left) - 1);
}

/* A warp fills in what passes in a window. */
static __global__ void __launch_bounds__(THREADS) fill_kernel(tm_large_level l, const tm_large_passed *passed,
                                                               unsigned count, int *bundles, float *bounds)
{
    const int lane = threadIdx.x & 31;
    const unsigned i = blockIdx.x * WARPS + threadIdx.x / 32;
    if (i >= count)
        return;
    const tm_large_passed w = passed[i];
    const tm_large_cells &c = l.cells[w.frame];
    const unsigned window = c.first + (unsigned)((w.y - c.first_y) * c.across + w.x - c.first_x);
    unsigned at = w.first;

    for (int first = 0; first < l.count; first += 32) {
        const int a = first + lane;
        const float bound = bound_of(l, window, a);
        const bool passes = a < l.count && bound >= w.least;
        const unsigned all = __ballot_sync(~0u, passes), to = at + (unsigned)__popc(all & ((1u << lane) - 1));
        if (passes) {
            bundles[to] = a;
            bounds[to] = bound;
        }
        at += (unsigned)__popc(all);
    }
}

cudaError_t tm_large_find(const tm_large_level *l, const tm_large_asked *least, tm_large_state *state,
                          tm_large_passed *passed, cudaStream_t stream)
{
    const dim3 blocks((unsigned)ceil_div(tm_large_most_windows(l), THREADS), (unsigned)l->frames);
    return TM_LAUNCH(find_kernel<<<blocks, THREADS, 0, stream>>>(*l, *least, state, passed));
}

cudaError_t tm_large_fill(const tm_large_level *l, const tm_large_passed *passed, unsigned count, int *bundles, float *bounds,
                          cudaStream_t stream)
{
    const unsigned blocks = (unsigned)ceil_div(count, WARPS);
    return TM_LAUNCH(fill_kernel<<<blocks, THREADS, 0, stream>>>(*l, passed, count, bundles, bounds));
}
