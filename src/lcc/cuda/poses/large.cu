/* SPDX-License-Identifier: MIT */
/* The tensor cores make the products of windows of cells; then a thread looks at a window. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/poses/large.cuh"

enum { THREADS = 128, PRODUCT_WARPS = 8 };

static __global__ void __launch_bounds__(THREADS) cells_kernel(tm_large_level l, const uint8_t *plane, size_t pitch,
                                                                int width, int height)
{
    __shared__ unsigned columns[THREADS];
    const tm_large_cells &c = l.cells[blockIdx.z];
    const int side = l.side, each = THREADS / side, first = (int)blockIdx.x * each, thread = (int)threadIdx.x,
              x = c.x + first * side + thread;

    for (int row = (int)blockIdx.y; row < c.height; row += (int)gridDim.y) {
        unsigned sum = 0;
        if (thread < each * side && x >= 0 && x < width) {
            for (int y = max(0, c.y + row * side); y < min(height, c.y + (row + 1) * side); y++)
                sum += __ldg(plane + (int64_t)y * (int64_t)pitch + x);
        }
        columns[thread] = sum;
        __syncthreads();
        sum = 0;
        if (thread < each && first + thread < c.width) {
            for (int i = 0; i < side; i++)
                sum += columns[thread * side + i];
            const int64_t at = (int64_t)row * (int64_t)l.pitch + first + thread;
            c.means[at] = (uint8_t)(sum / (unsigned)(side * side));
            c.rests[at] = (uint8_t)(sum % (unsigned)(side * side));
        }
        __syncthreads();
    }
}

/* A warp sums a row of cells up. */
static __global__ void __launch_bounds__(THREADS) rows_kernel(tm_large_level l, int64_t rows)
{
    const int lane = threadIdx.x & 31;
    const int64_t row = (int64_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const unsigned unit = (unsigned)(l.side * l.side);
    unsigned sum = 0;
    unsigned long long square = 0;

    if (row >= rows)
        return;
    const uint8_t *means = l.planes + row / l.rows * 2 * l.rows * (int64_t)l.pitch + row % l.rows * (int64_t)l.pitch,
                  *rests = means + l.rows * (int64_t)l.pitch;
    for (int first = 0; first < (int)l.pitch; first += 32) {
        const int at = first + lane;
        const unsigned cell = at < (int)l.pitch ? unit * means[at] + rests[at] : 0;
        unsigned to_here = cell;
        unsigned long long squares_to_here = (unsigned long long)cell * cell;
        for (int d = 1; d < 32; d *= 2) {
            const unsigned other = __shfl_up_sync(~0u, to_here, d);
            const unsigned long long other_squares = __shfl_up_sync(~0u, squares_to_here, d);
            to_here += lane >= d ? other : 0;
            squares_to_here += lane >= d ? other_squares : 0;
        }
        if (at < (int)l.pitch) {
            l.cell_sums[row * (int64_t)l.pitch + at] = sum + to_here - cell;
            l.cell_squares[row * (int64_t)l.pitch + at] = square + squares_to_here - (unsigned long long)cell * cell;
        }
        sum += __shfl_sync(~0u, to_here, 31);
        square += __shfl_sync(~0u, squares_to_here, 31);
    }
}

/* The sum of a window's cells in the core, and their squared length without their mean. The window's first cell is at that place of
 * the sums. */
static __device__ __forceinline__ double energy_of(const tm_large_level &l, int64_t at, unsigned *sum_of_cells)
{
    unsigned sum = 0;
    unsigned long long square = 0;

    for (int i = 0; i < l.run_count; i++) {
        const tm_family_run run = l.runs[i];
        const int64_t row = at + run.y * (int64_t)l.pitch;
        sum += __ldg(l.cell_sums + row + run.end) - __ldg(l.cell_sums + row + run.x);
        square += __ldg(l.cell_squares + row + run.end) - __ldg(l.cell_squares + row + run.x);
    }
    *sum_of_cells = sum;
    return (double)((int64_t)l.pixels * (int64_t)square - (int64_t)sum * (int64_t)sum) / l.pixels;
}

/* Products of all windows with all basis templates: of means, then of rests. */
template <int BASIS>
static __global__ void __launch_bounds__(32 * PRODUCT_WARPS) products_kernel(tm_large_level l)
{
    enum { ROWS = tm_pose_rows<BASIS>::at_once };
    static_assert(ROWS <= 1 + TM_LARGE_ROWS, "a row is read that is not there");
    const tm_large_cells &c = l.cells[blockIdx.y];
    if (!c.across) /* a frame of cells may have no window */
        return;
    const int lane = threadIdx.x & 31, tiles = (c.across + TM_POSE_TILE_WIDTH - 1) / TM_POSE_TILE_WIDTH,
              x = (int)blockIdx.x % tiles * TM_POSE_TILE_WIDTH,
              y = ((int)blockIdx.x / tiles * PRODUCT_WARPS + (int)threadIdx.x / 32) * ROWS;
    int acc[ROWS][TM_POSE_GROUPS][BASIS][4] = {}, *to = (int *)l.p;

    if (y >= c.down)
        return;
    const int64_t from = (int64_t)(c.first_y + y) * (int64_t)l.pitch + c.first_x + x;
    tm_pose_multiply<BASIS, ROWS>(acc, c.means + from, l.pitch, l.fragments, l.height, l.steps);
#pragma unroll
    for (int i = 0; i < ROWS * TM_POSE_GROUPS * BASIS * 4; i++)
        (&acc[0][0][0][0])[i] = (int)((unsigned)(&acc[0][0][0][0])[i] * (unsigned)(l.side * l.side));
    tm_pose_multiply<BASIS, ROWS>(acc, c.rests + from, l.pitch, l.fragments, l.height, l.steps);
#pragma unroll
    for (int i = 0; i < ROWS * TM_POSE_GROUPS * BASIS * 4; i++) {
        const int r = i / (TM_POSE_GROUPS * BASIS * 4), group = i / (BASIS * 4) % TM_POSE_GROUPS, n = i / 4 % BASIS,
                  part = i % 4, column = x + 16 * group + lane / 4 + part / 2 * 8,
                  k = TM_POSE_COLUMNS * n + 2 * (lane % 4) + part % 2;
        if (column < c.across && y + r < c.down)
            to[(size_t)k * l.windows + c.first + (unsigned)(y + r) * (unsigned)c.across + (unsigned)column] = acc[r][group][n][part];
    }
}

template <int BASIS>
static __global__ void __launch_bounds__(THREADS) bound_kernel(tm_large_level l)
{
    enum { K = TM_POSE_COLUMNS * BASIS };
    const tm_large_cells &c = l.cells[blockIdx.y];
    const int windows = c.across * c.down, window = (int)blockIdx.x * THREADS + (int)threadIdx.x;
    float p[K], rest = 1 + 2 * l.error + TM_FAMILY_ROUNDING, most = -8;
    int best = 0;

    if (window >= windows)
        return;
    const unsigned to = c.first + (unsigned)window;
    unsigned sum_of_cells;
    const double energy = energy_of(l, c.first_sum + (c.first_y + window / c.across) * (int64_t)l.pitch + c.first_x + window % c.across,
                                    &sum_of_cells);
    const float inverse = energy > 1e-3 ? 1 / __fsqrt_rn((float)energy) : 0.0f;
#pragma unroll
    for (int k = 0; k < K; k++)
        p[k] = (float)__float_as_int(l.p[(size_t)k * l.windows + to]) * inverse;
#pragma unroll
    for (int k = K - 1; k >= 0; k--) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i <= k; i++)
            sum += __ldg(l.solve + k * K + i) * p[i];
        p[k] = sum;
        rest -= sum * sum;
    }
    rest = __fsqrt_rn(fmaxf(rest, 0.0f));
    for (int a = 0; a < l.count; a++) {
        const float *with = l.coordinates + a * (K + TM_LARGE_PADDED);
        float sum = rest * __ldg(with + K);
#pragma unroll
        for (int k = 0; k < K; k += 4) {
            const float4 four = __ldg((const float4 *)(with + k));
            sum += p[k] * four.x;
            sum += p[k + 1] * four.y;
            sum += p[k + 2] * four.z;
            sum += p[k + 3] * four.w;
        }
        if (sum > most) {
            most = sum;
            best = a;
        }
    }
#pragma unroll
    for (int k = 0; k < K; k++)
        l.p[(size_t)k * l.windows + to] = p[k];
    l.p[(size_t)K * l.windows + to] = rest;
    l.most[to] = most;
    l.best[to] = best;
    l.energies[to] = energy / (l.side * l.side);
    l.sums[to] = sum_of_cells;
}

cudaError_t tm_large_make_cells(const tm_large_level *l, const uint8_t *plane, size_t pitch, int width, int height,
                               cudaStream_t stream)
{
    int across = 0, down = 0;
    for (int i = 0; i < l->frames; i++) {
        across = max(across, l->cells[i].width);
        down = max(down, l->cells[i].height);
    }
    const dim3 blocks((unsigned)ceil_div(across, THREADS / l->side), (unsigned)smaller(down, TM_MOST_GRID_ROWS), (unsigned)l->frames);
    return TM_LAUNCH(cells_kernel<<<blocks, THREADS, 0, stream>>>(*l, plane, pitch, width, height));
}

template <int BASIS>
static cudaError_t bound(const tm_large_level *l, cudaStream_t stream)
{
    enum { ROWS = PRODUCT_WARPS * tm_pose_rows<BASIS>::at_once };
    int64_t tiles = 0;

    for (int i = 0; i < l->frames; i++)
        tiles = larger(tiles, ceil_div(l->cells[i].across, TM_POSE_TILE_WIDTH) * ceil_div(l->cells[i].down, ROWS));
    const dim3 all((unsigned)tiles, (unsigned)l->frames),
        blocks((unsigned)ceil_div(tm_large_most_windows(l), THREADS), (unsigned)l->frames);
    const int64_t rows = l->rows * l->frames;
    TRY(TM_LAUNCH(rows_kernel<<<(unsigned)ceil_div(rows, THREADS / 32), THREADS, 0, stream>>>(*l, rows)));
    TRY(TM_LAUNCH(products_kernel<BASIS><<<all, 32 * PRODUCT_WARPS, 0, stream>>>(*l)));
    return TM_LAUNCH(bound_kernel<BASIS><<<blocks, THREADS, 0, stream>>>(*l));
}

cudaError_t tm_large_bound(const tm_large_level *l, cudaStream_t stream)
{
    switch (l->basis) {
    case 1: return bound<1>(l, stream);
    case 2: return bound<2>(l, stream);
    case 3: return bound<3>(l, stream);
    default: return bound<4>(l, stream);
    }
}
