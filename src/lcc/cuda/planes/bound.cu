/* SPDX-License-Identifier: MIT */
/* With S the greatest sum of products of some windows with the direction r, V_core the squared deviations of their core from its mean, and
 * V_all those of all their pixels, added up over the channels, the scores by r of these windows are at most S / (|r| sqrt(V_core)), and one of
 * them is at least S / (|r| sqrt(V_all)), where S > 0. What that says of scores by the template itself: lcc/rounded.h. */
#include "lcc/cuda/planes/bound.cuh"

#include <limits.h>

#include "lcc/cuda/early.cuh"

#define THREADS 128
#define SLACK 0x1p-40 /* more than what is rounded in binary64 */

/* A block's cells. */
enum { CELLS_ACROSS = 64, CELLS_DOWN = 4, CELLS = CELLS_ACROSS * CELLS_DOWN };

/* Blocks of cells that a multiprocessor takes. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define AT_ONCE 4
#else
#define AT_ONCE 6
#endif

static __global__ void __launch_bounds__(THREADS) patches_kernel(const __grid_constant__ tm_planes_bound b)
{
    const tm_device_windows &w = b.windows;
    const int64_t across = tm_patches_across(w), x = (int64_t)blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y;
    const int64_t last = w.map_height + w.height - 2;
    tm_patch patch = {};

    if (x < across) { /* the products are still made: the kernel before these has made the planes */
        const uint8_t *from = w.frame + blockIdx.z * b.plane + TM_PATCH * x;
#pragma unroll
        for (int i = 0; i < TM_PATCH; i++) {
            const int64_t row = TM_PATCH * y + i; /* pixels below the frame count as 0; no core has any */
            const uint2 bytes = row <= last ? __ldg((const uint2 *)(from + row * (int64_t)w.pitch)) : make_uint2(0, 0);
            patch.sum = __dp4a(bytes.y, 0x01010101u, __dp4a(bytes.x, 0x01010101u, patch.sum));
            patch.squares = __dp4a(bytes.y, bytes.y, __dp4a(bytes.x, bytes.x, patch.squares));
        }
        b.patches[(blockIdx.z * (int64_t)gridDim.y + y) * across + x] = patch;
    }
    tm_early_begin();
}

/* The patch of a channel, of 0 beyond those that there are. */
static __device__ __forceinline__ uint2 patch_at(const tm_planes_bound &b, int channel, int64_t x, int64_t y)
{
    const int64_t across = tm_patches_across(b.windows), down = tm_patches_down(b.windows);
    return x < across && y < down ? __ldg((const uint2 *)(b.patches + (channel * down + y) * across + x)) : make_uint2(0, 0);
}

/* The squared deviations from the mean of so many pixels. */
static __device__ __forceinline__ double deviations(int64_t pixels, int64_t sum, int64_t squares)
{
    return (double)(pixels * squares - sum * sum) / (double)pixels;
}

/* Sums of the cores' columns of patches in the rows of a block's cells, to shared memory: by channel, row of cells, and column. */
static __device__ __forceinline__ void sum_columns(const tm_planes_bound &b, int64_t x, int64_t y, int wide, uint2 *columns)
{
    const int high = b.core.bottom - b.core.top;

    for (int item = threadIdx.x; item < b.channels * wide; item += CELLS) {
        const int channel = item / wide, column = item % wide;
        uint2 sums[CELLS_DOWN] = {};
#pragma unroll 4
        for (int i = 0; i < high + CELLS_DOWN - 1; i++) {
            const uint2 patch = patch_at(b, channel, x + b.core.left + column, y + b.core.top + i);
#pragma unroll
            for (int r = 0; r < CELLS_DOWN; r++) {
                const bool has = i >= r && i - r < high;
                sums[r].x += has ? patch.x : 0, sums[r].y += has ? patch.y : 0;
            }
        }
#pragma unroll
        for (int r = 0; r < CELLS_DOWN; r++)
            columns[(channel * CELLS_DOWN + r) * wide + column] = sums[r];
    }
}

/* What the windows of a thread's cell deviate by at least. columns: its row's, those of each channel apart. */
static __device__ __forceinline__ double core_deviations(const tm_planes_bound &b, const uint2 *columns, int apart)
{
    const int across = b.core.right - b.core.left, pixels = across * (b.core.bottom - b.core.top) * (TM_PATCH * TM_PATCH);
    double all = 0;

    for (int channel = 0; channel < b.channels; channel++, columns += apart) {
        int64_t sum = 0, squares = 0;
#pragma unroll 4
        for (int i = 0; i < across; i++)
            sum += columns[i].x, squares += columns[i].y;
        all += deviations(pixels, sum, squares);
    }
    return fmax(all * (1 - SLACK) - 65025.0 * b.channels * b.core.missing, 0.0);
}

/* What the windows of a cell deviate by at most in a channel, by a warp. */
static __device__ __forceinline__ double most_deviations(const tm_planes_bound &b, int channel, int64_t x, int64_t y)
{
    const int across = (TM_PATCH - 1 + b.windows.width + TM_PATCH - 1) / TM_PATCH, down = (TM_PATCH - 1 + b.windows.height + TM_PATCH - 1) / TM_PATCH;
    unsigned long long sum = 0, squares = 0;

#pragma unroll 4
    for (int i = threadIdx.x % 32; i < across * down; i += 32) {
        const uint2 patch = patch_at(b, channel, x + i % across, y + i / across);
        sum += patch.x, squares += patch.y;
    }
    for (int lanes = 16; lanes; lanes /= 2)
        sum += __shfl_xor_sync(~0u, sum, lanes), squares += __shfl_xor_sync(~0u, squares, lanes);
    return deviations((int64_t)across * down * (TM_PATCH * TM_PATCH), (int64_t)sum, (int64_t)squares);
}

/* The order of what windows with sums of at most that score at most. */
static __device__ __forceinline__ int most_order(int32_t sum, float divisor)
{
    return sum <= 0 ? 0 : tm_score_order(sum < divisor ? __double2float_ru(sum / (double)divisor * (1 + SLACK)) : 1.0f);
}

/* The greatest sum of a cell's windows. */
static __device__ __forceinline__ int32_t top_of(const tm_planes_bound &b, int64_t x, int64_t y)
{
    const int32_t *row = b.tops + TM_PATCH * y * b.tops_stride + x;
    const int rows = (int)min((int64_t)TM_PATCH, b.windows.map_height - TM_PATCH * y);
    int32_t top = INT_MIN;

#pragma unroll
    for (int i = 0; i < TM_PATCH; i++)
        top = max(top, i < rows ? __ldcg(row + i * b.tops_stride) : INT_MIN);
    return top;
}

/* The thread of the block whose order is the greatest. */
static __device__ __forceinline__ int find_greatest(int order)
{
    __shared__ unsigned long long warps[CELLS / 32];
    unsigned long long key = (unsigned long long)order << 32 | threadIdx.x;

    for (int lanes = 16; lanes; lanes /= 2)
        key = max(key, __shfl_xor_sync(~0u, key, lanes));
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = key;
    __syncthreads();
    for (int i = 0; i < CELLS / 32; i++)
        key = max(key, warps[i]);
    return (int)(unsigned)key;
}

/* Bounds cells; and tells which score some window of the one with the greatest bound reaches. */
static __global__ void __launch_bounds__(CELLS, AT_ONCE) cells_kernel(const __grid_constant__ tm_planes_bound b)
{
    extern __shared__ uint2 columns[];
    __shared__ int32_t tops[CELLS];
    __shared__ double most[TM_MAX_CHANNELS];
    const int wide = CELLS_ACROSS + b.core.right - b.core.left - 1, r = threadIdx.x / CELLS_ACROSS, c = threadIdx.x % CELLS_ACROSS;
    const int warp = threadIdx.x / 32;
    const int64_t first = (int64_t)blockIdx.x * CELLS_ACROSS, row = (int64_t)blockIdx.y * CELLS_DOWN, x = first + c, y = row + r;
    const bool is_there = x < tm_cells_across(b.windows) && y < tm_cells_down(b.windows);
    tm_cell own = {};

    tm_early_begin();
    const int32_t top = tops[threadIdx.x] = is_there ? top_of(b, x, y) : INT_MIN;
    sum_columns(b, first, row, wide, columns);
    __syncthreads();
    if (is_there) {
        own.divisor = __double2float_rd(b.length * sqrt(core_deviations(b, columns + r * wide + c, CELLS_DOWN * wide)) * (1 - SLACK));
        own.order = most_order(top, own.divisor);
        b.cells[y * tm_cells_across(b.windows) + x] = own;
    }
    const int greatest = find_greatest(own.order), reaches = tops[greatest];
    if (warp < b.channels)
        most[warp] = most_deviations(b, warp, first + greatest % CELLS_ACROSS, row + greatest / CELLS_ACROSS);
    __syncthreads();
    if (threadIdx.x == 0 && reaches > 0) {
        double all = 0;
        for (int channel = 0; channel < b.channels; channel++)
            all += most[channel];
        const double score = reaches / (b.length * sqrt(all * (1 + SLACK)));
        const int order = tm_score_order(__double2float_rd(score * (1 - SLACK)));
        const int64_t cell = (row + greatest / CELLS_ACROSS) * tm_cells_across(b.windows) + first + greatest % CELLS_ACROSS;
        atomicMax(&b.list.found->best, order);
        atomicMax(&b.list.found->top, (unsigned long long)order << 32 | (unsigned)cell);
    }
}

/* Says that more windows are left than may be scored. */
static __device__ __forceinline__ void give_up(const tm_planes_bound &b)
{
    atomicMax(&b.list.found->listed, (unsigned long long)TM_PLANES_LISTED + 1);
}

/* Lists those windows of a cell that may be the best one, by a warp: a lane has two of a row. */
static __device__ __forceinline__ void list_cell(const tm_planes_bound &b, int64_t x, int64_t y, float divisor, int least)
{
    const tm_device_windows &w = b.windows;
    const int lane = threadIdx.x % 32;
    const int64_t row = TM_PATCH * y + lane / 4, first = TM_PATCH * x + lane % 4 * 2;
    const int order = row < w.map_height ? most_order(__ldcg(b.tops + row * b.tops_stride + x), divisor) : INT_MIN;
    const unsigned left[2] = {__ballot_sync(~0u, order >= least && first < w.map_width), __ballot_sync(~0u, order >= least && first + 1 < w.map_width)};
    unsigned long long at = 0;
    if (lane == 0)
        at = tm_list_take(b.list, __popc(left[0]) + __popc(left[1]));
    at = __shfl_sync(~0u, at, 0);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (left[i] >> lane & 1)
            tm_list_put(b.list, at + __popc(left[i] & ((1u << lane) - 1)), order, row * w.map_width + first + i);
        at += __popc(left[i]);
    }
}

static __global__ void __launch_bounds__(THREADS) list_kernel(const __grid_constant__ tm_planes_bound b)
{
    const int64_t across = tm_cells_across(b.windows), x = (int64_t)blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y;

    tm_early_begin();
    const tm_cell own = x < across ? b.cells[y * across + x] : tm_cell{INT_MIN, 0};
    const int least = tm_list_least(b.list, __ldcg(&b.list.found->best));
    if (least == INT_MIN) {
        if (x == 0 && y == 0)
            give_up(b);
        return;
    }
    for (unsigned cells = __ballot_sync(~0u, own.order >= least); cells; cells &= cells - 1) {
        const int lane = __ffs(cells) - 1;
        if (__shfl_sync(~0u, __ldcg(&b.list.found->listed) > TM_PLANES_LISTED, 0)) {
            if (threadIdx.x % 32 == 0)
                give_up(b);
            return;
        }
        list_cell(b, x - threadIdx.x % 32 + lane, y, __shfl_sync(~0u, own.divisor, lane), least);
    }
}

cudaError_t tm_patches_launch(const tm_planes_bound *b, cudaStream_t stream)
{
    const dim3 grid((unsigned)((tm_patches_across(b->windows) + THREADS - 1) / THREADS), (unsigned)tm_patches_down(b->windows), (unsigned)b->channels);
    return tm_early_launch(patches_kernel, grid, THREADS, 0, b->early, stream, *b);
}

cudaError_t tm_planes_bound_launch(const tm_planes_bound *b, cudaStream_t stream)
{
    const int64_t across = tm_cells_across(b->windows), down = tm_cells_down(b->windows);
    const dim3 blocks((unsigned)((across + CELLS_ACROSS - 1) / CELLS_ACROSS), (unsigned)((down + CELLS_DOWN - 1) / CELLS_DOWN)),
        rows((unsigned)((across + THREADS - 1) / THREADS), (unsigned)down);
    const size_t columns = (size_t)(b->channels * CELLS_DOWN * (CELLS_ACROSS + b->core.right - b->core.left - 1)) * sizeof(uint2);
    const cudaError_t error = tm_early_launch(cells_kernel, blocks, CELLS, columns, b->early, stream, *b);
    return error == cudaSuccess ? tm_early_launch(list_kernel, rows, THREADS, 0, b->early, stream, *b) : error;
}
