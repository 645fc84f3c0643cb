/* SPDX-License-Identifier: MIT */
/* Scores from correlations of planes. Where sums are over whole windows, a block
 * marches down COLUMNS columns of the frame, a thread four neighbours: their sums
 * over the template's rows slide in registers, prefix sums over the columns go to
 * shared memory, GROUP rows at a time, and two of those make a window's sum. A
 * thread's windows are THREADS apart, so that a warp's are neighbours. */
#include <type_traits>

#include "integers.h"
#include "lcc/cuda/parts.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)
#define EACH 4 /* columns, and windows of a row, of a thread */
#define COLUMNS (THREADS * EACH)
#define GROUP 4
#define SLIDE_WIDTH 768 /* of a template, at most; wider ones have all sums by terms */
#define MOST_STRIPS 65535 /* a grid's */
#define FIXED 256 /* bytes of shared memory for the block's best */

/* A sum over a window is exact in F and 64 bits; prefix sums may leave them. */
template <typename F, int CHANNELS, bool TOUCH> struct __align__(16) sums_row {
    uint64_t ff[COLUMNS];
    F f[CHANNELS][COLUMNS];
    uint32_t touched[TOUCH ? COLUMNS : 1];
    uint64_t ff_of[WARPS]; /* of all warps before */
    F f_of[CHANNELS][WARPS];
    uint32_t touched_of[WARPS];
};

template <typename F, int CHANNELS> struct columns {
    uint64_t ff[EACH];
    F f[CHANNELS][EACH];
    uint32_t touched[EACH];
};

/* Adds a frame row to the columns, or takes it away. */
template <typename F, int CHANNELS, bool TOUCH>
static __device__ __forceinline__ void slide(const tm_combine &c, columns<F, CHANNELS> *s,
                                             const uint8_t *row, bool leaves)
{
    const int64_t plane = c.planes.rows * (int64_t)c.planes.pitch;
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) {
        if (CHANNELS > 1 && k >= c.channels)
            break;
        const uint8_t *at = row + k * c.bytes * plane;
        const uint32_t low = __ldg((const uint32_t *)at);
        const uint32_t high = c.bytes == 2 ? __ldg((const uint32_t *)(at + plane)) : 0;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const uint32_t f = (low >> 8 * i & 255) | (high >> 8 * i & 255) << 8;
            const uint32_t sq = f * f;
            s->f[k][i] += leaves ? (F)0 - f : (F)f;
            s->ff[i] += leaves ? 0 - (uint64_t)sq : sq;
        }
    }
    if (TOUCH) {
        const uint32_t z = __ldg((const uint32_t *)(row + c.z_plane * plane));
#pragma unroll
        for (int i = 0; i < EACH; i++)
            s->touched[i] += leaves ? 0 - (z >> 8 * i & 255) : z >> 8 * i & 255;
    }
}

template <typename T> struct __align__(16) quad {
    T of[EACH];
};

/* Writes a thread's sums over the columns before each of its own, of its warp, and
 * the warp's whole sum. */
template <typename T>
static __device__ __forceinline__ void put_prefix(T *row, T *totals, const T (&column)[EACH])
{
    const int lane = threadIdx.x % 32;
    const T own = column[0] + column[1] + column[2] + column[3];
    T sum = own;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset)
            sum += other;
    }
    if (lane == 31)
        totals[threadIdx.x / 32] = sum;
    sum -= own;
    quad<T> prefix;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        prefix.of[i] = sum;
        sum += column[i];
    }
    ((quad<T> *)row)[threadIdx.x] = prefix;
}

/* Of warps' sums, the sum of those before each; one thread. */
template <typename T> static __device__ __forceinline__ void put_before(T *totals)
{
    T sum = 0;
    for (int i = 0; i < WARPS; i++) {
        const T own = totals[i];
        totals[i] = sum;
        sum += own;
    }
}

template <typename T>
static __device__ __forceinline__ T window(const T *row, const T *before, int from, int to)
{
    return row[to] + before[to / (32 * EACH)] - row[from] - before[from / (32 * EACH)];
}

/* What terms make of one sum, of a thread's windows of a row from x on, below end. */
static __device__ __forceinline__ void add_terms(const tm_combine &c, int first, int last,
                                                 int64_t x, int64_t y, int64_t end,
                                                 uint64_t (&sum)[EACH])
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sum[i] = 0;
#pragma unroll 2
    for (int t = first; t < last; t++) {
        const int shift = c.term[t].shift;
        const int64_t at = y * c.stride + x;
        if (c.term[t].narrow) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                if (x + i * THREADS < end)
                    sum[i] += (uint64_t)__ldg(c.term[t].narrow + at + i * THREADS) << shift;
            }
        } else {
            for (int i = 0; i < EACH && x + i * THREADS < end; i++)
                sum[i] += (uint64_t)c.term[t].wide[at + i * THREADS] << shift;
        }
    }
}

template <bool WIDE, int CHANNELS>
static __device__ __forceinline__ void emit(const tm_combine &c, const tm_sums &window,
                                            bool skipped, int64_t position, tm_candidate *best)
{
    const tm_value value = skipped ? tm_skipped_value(c.scorer.metric)
                                   : tm_score_as(&c.scorer, &window, CHANNELS, WIDE);
    if (c.map && tm_is_integer(c.scorer.metric))
        ((int64_t *)c.map)[position] = value.integer;
    else if (c.map)
        ((float *)c.map)[position] = value.real;
    /* a thread's positions ascend */
    if (!skipped && value.rank > best->value)
        *best = (tm_candidate){value.rank, position};
}

/* Sums of S_FT by terms, the others slide. outputs: windows across a block. */
template <bool WIDE, int CHANNELS, bool TOUCH>
static __global__ void __launch_bounds__(THREADS)
    slide_kernel(const __grid_constant__ tm_combine c, int outputs, int strip)
{
    typedef typename std::conditional<WIDE, uint64_t, uint32_t>::type F;
    extern __shared__ __align__(16) uint8_t shared[];
    sums_row<F, CHANNELS, TOUCH> *const rows = (sums_row<F, CHANNELS, TOUCH> *)shared;
    const int64_t left = (int64_t)blockIdx.x * outputs, first = (int64_t)blockIdx.y * strip;
    const int64_t last = min(first + strip, c.rows);
    const int64_t pitch = (int64_t)c.planes.pitch;
    const int64_t end = min(left + outputs, c.map_width);
    const uint8_t *top = c.planes.data + (c.y + first) * pitch + left + threadIdx.x * EACH;
    tm_candidate best = TM_NO_CANDIDATE;
    columns<F, CHANNELS> state = {};

#pragma unroll 4
    for (int v = 0; v < c.height - 1; v++)
        slide<F, CHANNELS, TOUCH>(c, &state, top + v * pitch, false);
    for (int64_t y = first; y < last; y += GROUP) {
#pragma unroll
        for (int r = 0; r < GROUP; r++) {
            const uint8_t *row = top + (y - first + r) * pitch;
            sums_row<F, CHANNELS, TOUCH> *to = &rows[r];
            slide<F, CHANNELS, TOUCH>(c, &state, row + (c.height - 1) * pitch, false);
            put_prefix(to->ff, to->ff_of, state.ff);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                put_prefix(to->f[k], to->f_of[k], state.f[k]);
            if (TOUCH)
                put_prefix(to->touched, to->touched_of, state.touched);
            slide<F, CHANNELS, TOUCH>(c, &state, row, true);
        }
        __syncthreads();
        if (threadIdx.x < GROUP) {
            sums_row<F, CHANNELS, TOUCH> *row = &rows[threadIdx.x];
            put_before(row->ff_of);
            for (int k = 0; k < CHANNELS; k++)
                put_before(row->f_of[k]);
            if (TOUCH)
                put_before(row->touched_of);
        }
        __syncthreads();
        for (int r = 0; r < GROUP && y + r < last; r++) {
            const sums_row<F, CHANNELS, TOUCH> *row = &rows[r];
            uint64_t ft[EACH];
            add_terms(c, c.first[TM_SUM_FT], c.first[TM_SUM_FT + 1], left + threadIdx.x, y + r,
                      end, ft);
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const int from = threadIdx.x + i * THREADS, to = from + c.width;
                if (left + from >= end)
                    break;
                tm_sums sums = {(int64_t)ft[i], (int64_t)window(row->ff, row->ff_of, from, to)};
#pragma unroll
                for (int k = 0; k < CHANNELS; k++)
                    sums.s_f[k] = (int64_t)window(row->f[k], row->f_of[k], from, to);
                const bool skipped =
                    TOUCH && window(row->touched, row->touched_of, from, to) != 0;
                emit<WIDE, CHANNELS>(c, sums, skipped, (c.y + y + r) * c.map_width + left + from, &best);
            }
        }
        __syncthreads();
    }
    best = tm_block_best<THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        c.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
}

/* All sums by terms. */
template <bool WIDE, int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    terms_kernel(const __grid_constant__ tm_combine c, int strip)
{
    const int64_t x = (int64_t)blockIdx.x * COLUMNS + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * strip, last = min(first + strip, c.rows);
    tm_candidate best = TM_NO_CANDIDATE;

    for (int64_t y = first; x < c.map_width && y < last; y++) {
        uint64_t sum[TM_SUM_F + CHANNELS][EACH];
#pragma unroll
        for (int s = 0; s < TM_SUM_F + CHANNELS; s++)
            add_terms(c, c.first[s], c.first[s + 1], x, y, c.map_width, sum[s]);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int64_t at = x + i * THREADS;
            if (at >= c.map_width)
                break;
            tm_sums sums = {(int64_t)sum[TM_SUM_FT][i], (int64_t)sum[TM_SUM_FF][i]};
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                sums.s_f[k] = (int64_t)sum[TM_SUM_F + k][i];
            emit<WIDE, CHANNELS>(c, sums, sum[TM_SUM_TOUCHED][i] != 0,
                                 (c.y + y) * c.map_width + at, &best);
        }
    }
    best = tm_block_best<THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        c.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
}

/* Long strips repeat fewer rows above them; short ones keep all multiprocessors
 * busy. */
static int strip_of(int64_t across, int64_t rows)
{
    int strip = 64;
    while (ceil_div(rows, strip) > MOST_STRIPS)
        strip *= 2;
    while (strip > GROUP && across * ceil_div(rows, strip) < 264)
        strip /= 2;
    return strip;
}

static bool slides(const tm_combine *c)
{
    return c->sliding[TM_SUM_F] || c->sliding[TM_SUM_FF] || c->sliding[TM_SUM_TOUCHED];
}

/* Windows across a block. */
static int outputs_of(const tm_combine *c)
{
    return slides(c) ? (COLUMNS - c->width) / EACH * EACH : COLUMNS;
}

static dim3 grid_of(const tm_combine *c, int *strip)
{
    const int64_t across = ceil_div(c->map_width, outputs_of(c));
    *strip = strip_of(across, c->rows);
    return dim3((unsigned)across, (unsigned)ceil_div(c->rows, *strip));
}

int64_t tm_combine_blocks(const tm_combine *combine)
{
    int strip;
    const dim3 grid = grid_of(combine, &strip);
    return (int64_t)grid.x * grid.y;
}

/* A slide_kernel and its shared memory. */
typedef struct slide_form {
    void (*kernel)(tm_combine, int, int);
    size_t bytes;
} slide_form;

template <bool WIDE, int CHANNELS, bool TOUCH> static slide_form form(void)
{
    typedef typename std::conditional<WIDE, uint64_t, uint32_t>::type F;
    return {slide_kernel<WIDE, CHANNELS, TOUCH>, sizeof(sums_row<F, CHANNELS, TOUCH>) * GROUP};
}

template <bool WIDE, bool TOUCH> static slide_form form_of_channels(int channels)
{
    return channels == 1   ? form<WIDE, 1, TOUCH>()
           : channels <= 3 ? form<WIDE, 3, TOUCH>()
                           : form<WIDE, 4, TOUCH>();
}

static slide_form form_of(int channels, bool wide, bool skips)
{
    if (wide)
        return skips ? form_of_channels<true, true>(channels)
                     : form_of_channels<true, false>(channels);
    return skips ? form_of_channels<false, true>(channels)
                 : form_of_channels<false, false>(channels);
}

bool tm_combine_can_slide(const tm_scorer *scorer, bool skips, int width, size_t shared_memory)
{
    return width <= SLIDE_WIDTH &&
           form_of(scorer->channels, scorer->wide, skips).bytes + FIXED <= shared_memory;
}

static cudaError_t launch_slide(const tm_combine *c, dim3 grid, int strip, cudaStream_t stream)
{
    const slide_form f = form_of(c->channels, c->scorer.wide, c->skips);
    cudaError_t error = cudaFuncSetAttribute(
        (const void *)f.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)f.bytes);
    if (error != cudaSuccess)
        return error;
    f.kernel<<<grid, THREADS, f.bytes, stream>>>(*c, outputs_of(c), strip);
    return cudaGetLastError();
}

cudaError_t tm_combine_launch(const tm_combine *c, cudaStream_t stream)
{
    int strip;
    const dim3 grid = grid_of(c, &strip);
    if (slides(c))
        return launch_slide(c, grid, strip, stream);
    auto kernel = c->scorer.wide ? terms_kernel<true, TM_MAX_CHANNELS>
                  : c->channels == 1 ? terms_kernel<false, 1>
                                     : terms_kernel<false, TM_MAX_CHANNELS>;
    kernel<<<grid, THREADS, 0, stream>>>(*c, strip);
    return cudaGetLastError();
}
