/* SPDX-License-Identifier: MIT */
/* S_F and var_F of every window of a band. A block goes down some rows. Its threads keep column
 * sums in registers: they add the row that enters the windows and take away the one that leaves. In
 * each row a scan over the block's columns makes prefix sums, and a window's sum is the difference
 * of two. */
#include "fft/cuda/kernels.cuh"
#include "lcc/cuda/memory.cuh"

#define COLUMNS 8 /* of a thread */
#define ROWS 32   /* of a block */

/* Column 8 * j + i of the block is element i * PITCH + j: no two threads of a warp
 * meet in a bank, whether they have 8 neighbouring columns each or 1. */
template <int THREADS, typename SQUARES>
struct prefixes {
    typedef SQUARES squares;
    static constexpr int PITCH = THREADS + 4;
    SQUARES sum_sq[COLUMNS * PITCH];
    SQUARES warp_sum_sq[32];
    uint32_t sum[COLUMNS * PITCH];
    uint32_t warp_sum[32];

    static __device__ int index(int column)
    {
        return column % COLUMNS * PITCH + column / COLUMNS;
    }
};

typedef struct column_sums {
    uint32_t sum[COLUMNS], sum_sq[COLUMNS];
} column_sums;

static __device__ __forceinline__ void add_row(column_sums *sums, uint2 words, bool leaves)
{
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const uint32_t sample = ((i < 4 ? words.x : words.y) >> (i % 4 * 8)) & 0xff;
        const uint32_t square = sample * sample;
        sums->sum[i] += leaves ? 0 - sample : sample;
        sums->sum_sq[i] += leaves ? 0 - square : square;
    }
}

/* Writes the sums over the columns before each one, from the block's first on. */
template <class PREFIXES>
static __device__ void scan(PREFIXES *p, const column_sums &sums)
{
    typedef typename PREFIXES::squares SQUARES;
    uint32_t own = 0;
    SQUARES own_sq = 0;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        own += sums.sum[i];
        own_sq += sums.sum_sq[i];
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t up_to = own;
    SQUARES up_to_sq = own_sq;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, up_to, offset);
        const SQUARES other_sq = __shfl_up_sync(0xffffffffu, up_to_sq, offset);
        up_to += lane >= offset ? other : 0;
        up_to_sq += lane >= offset ? other_sq : 0;
    }
    if (lane == 31) {
        p->warp_sum[warp] = up_to;
        p->warp_sum_sq[warp] = up_to_sq;
    }
    __syncthreads();
    uint32_t before = up_to - own;
    SQUARES before_sq = up_to_sq - own_sq;
    for (int i = 0; i < warp; i++) {
        before += p->warp_sum[i];
        before_sq += p->warp_sum_sq[i];
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const int at = p->index(threadIdx.x * COLUMNS + i);
        p->sum[at] = before;
        p->sum_sq[at] = before_sq;
        before += sums.sum[i];
        before_sq += sums.sum_sq[i];
    }
    __syncthreads();
}

/* SQUARES: 32 bits where a window's sum of squares fits them; differences of prefix sums are exact
 * modulo 2^32. */
template <int THREADS, typename SQUARES>
static __global__ void __launch_bounds__(THREADS) windows_kernel(tm_fft_job job, int span)
{
    extern __shared__ uint64_t memory[];
    prefixes<THREADS, SQUARES> *p = (prefixes<THREADS, SQUARES> *)memory;
    const tm_device_job &d = job.job;
    const tm_fft_band &band = job.band;
    const int part = blockIdx.z;
    const int64_t left = band.x + part * job.tiling.shift_x;
    const int64_t top = band.y + part * job.tiling.shift_y + (int64_t)blockIdx.y * ROWS;
    /* 8 samples are read at once */
    const int64_t block_x = left / COLUMNS * COLUMNS + (int64_t)blockIdx.x * span;
    const int64_t x = block_x + threadIdx.x * COLUMNS;
    const bool readable = x + COLUMNS <= (int64_t)d.pitch;
    const uint8_t *column = d.frame + top * (int64_t)d.pitch + x;
    const int rows =
        readable ? (int)max((int64_t)0, min(job.frame_rows - top, (int64_t)INT32_MAX)) : 0;
    column_sums sums = {};
    /* a row, counted from the block's first; 0 below the frame */
    const auto load = [&](int y) {
        return y < rows ? *(const uint2 *)(column + y * (int64_t)d.pitch) : make_uint2(0, 0);
    };

#pragma unroll 8
    for (int y = 0; y < min(d.height - 1, rows); y++)
        add_row(&sums, *(const uint2 *)(column + y * (int64_t)d.pitch), false);

    const int first = blockIdx.y * ROWS, last = min(first + ROWS, band.rows);
    uint2 enters = load(d.height - 1), leaves = load(0);
    for (int row = first; row < last; row++) {
        const int y = row - first;
        add_row(&sums, enters, false);
        const uint2 next_enters = load(y + d.height), next_leaves = load(y + 1);
        scan(p, sums);
        tm_window *out = job.windows + ((int64_t)part * band.rows + row) * band.width;
        for (int i = threadIdx.x; i < span; i += THREADS) {
            const int64_t to = block_x + i - left;
            if (to < 0 || to >= band.width)
                continue;
            const int from = p->index(i), end = p->index(i + d.width);
            const uint32_t s_f = p->sum[end] - p->sum[from];
            const SQUARES s_ff = p->sum_sq[end] - p->sum_sq[from];
            const int64_t variance = d.n * (int64_t)s_ff - (int64_t)((uint64_t)s_f * s_f);
            const tm_window window = {s_f, __ll2float_rn(variance)};
            out[to] = window;
        }
        __syncthreads();
        add_row(&sums, leaves, true);
        enters = next_enters;
        leaves = next_leaves;
    }
}

template <int THREADS, typename SQUARES>
static cudaError_t launch(const tm_fft_job *job, cudaStream_t stream)
{
    /* the column after the last is a prefix too */
    const int span = (THREADS * COLUMNS - job->job.width) / COLUMNS * COLUMNS;
    const dim3 grid((unsigned)((job->band.width + COLUMNS - 1 + span - 1) / span),
                    (unsigned)((job->band.rows + ROWS - 1) / ROWS), 2);
    return TM_LAUNCH(windows_kernel<THREADS, SQUARES>
                     <<<grid, THREADS, sizeof(prefixes<THREADS, SQUARES>), stream>>>(*job, span));
}

/* The widest template of a block of so many threads: the block has some columns more than it. */
enum { WIDEST_256 = 512, WIDEST_512 = 3072, WIDEST_1024 = 8000 };

int tm_windows_widest(size_t shared_bytes)
{
    return sizeof(prefixes<1024, unsigned long long>) <= shared_bytes  ? WIDEST_1024
           : sizeof(prefixes<512, unsigned long long>) <= shared_bytes ? WIDEST_512
                                                                       : WIDEST_256;
}

cudaError_t tm_windows_launch(const tm_fft_job *job, cudaStream_t stream)
{
    if (job->job.width <= WIDEST_256 && job->job.n * 65025 <= UINT32_MAX)
        return launch<256, uint32_t>(job, stream);
    if (job->job.width <= WIDEST_256)
        return launch<256, unsigned long long>(job, stream);
    if (job->job.width <= WIDEST_512)
        return launch<512, unsigned long long>(job, stream);
    return launch<1024, unsigned long long>(job, stream);
}

template <int THREADS>
static cudaError_t allow(size_t shared_bytes)
{
    if (sizeof(prefixes<THREADS, unsigned long long>) > shared_bytes)
        return cudaSuccess;
    return TM_CALL(cudaFuncSetAttribute((const void *)windows_kernel<THREADS, unsigned long long>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)sizeof(prefixes<THREADS, unsigned long long>)));
}

cudaError_t tm_windows_prepare(size_t shared_bytes)
{
    cudaError_t error = allow<512>(shared_bytes);
    return error == cudaSuccess ? allow<1024>(shared_bytes) : error;
}
