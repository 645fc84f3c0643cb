/* SPDX-License-Identifier: MIT */
/* Scores where sums are over whole windows: a block marches down its columns of the
 * frame, a thread four neighbours. Their sums over the template's rows slide in
 * registers, prefix sums over a warp's columns go to shared memory, GROUP rows at a
 * time, and two of those make a window's sum, with the whole sums of the warps between.
 * A thread's windows are the block's threads apart, so that a warp's are neighbours. */
#include "lcc/cuda/slide_columns.cuh"

#define NARROW_THREADS 128 /* a block's, for windows below SEGMENT columns */
#define SLIDE_WIDTH 768     /* of a template, at most; wider ones have all sums by terms */
#define FIXED 256 /* bytes of shared memory for the block's best */

/* The columns [x, x + width) as prefixes have them. */
template <bool NARROW> struct span {
    int from, to, first, whole;
    bool more; /* a warp that is not whole lies after the whole ones */

    __device__ __forceinline__ span(int x, int width)
    {
        from = x, to = x + width;
        first = from / SEGMENT, whole = NARROW ? 0 : width / SEGMENT;
        more = to / SEGMENT > first + whole;
    }

    template <typename T> __device__ __forceinline__ T sum(prefixes<T> row) const
    {
        T s = row.of[to] - row.of[from];
        if (!NARROW) {
#pragma unroll 1
            for (int i = 0; i < whole; i++)
                s += row.warps[first + i];
        }
        const T rest = row.warps[first + whole];
        return s + (more ? rest : 0);
    }
};

/* S_FT of a thread's windows of a row, count of them. */
template <int APART, typename T>
static __device__ __forceinline__ void load_ft(const tm_combine &c, int64_t at, int count,
                                               T (&sum)[EACH])
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sum[i] = 0;
    if (count == EACH && c.term[0].narrow) {
#pragma unroll 1
        for (int t = c.first[TM_SUM_FT]; t < c.first[TM_SUM_FT + 1]; t++) {
            const uint32_t *from = c.term[t].narrow + at;
            const uint32_t factor = 1u << c.term[t].shift; /* at most 16 */
#pragma unroll
            for (int i = 0; i < EACH; i++)
                sum[i] += (T)__ldcs(from + i * APART) * factor;
        }
        return;
    }
#pragma unroll 1
    for (int t = c.first[TM_SUM_FT]; t < c.first[TM_SUM_FT + 1]; t++) {
        const tm_device_term &term = c.term[t];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (i < count)
                sum[i] += (term.narrow ? (T)term.narrow[at + i * APART]
                                       : (T)term.wide[at + i * APART])
                          << term.shift;
        }
    }
}

/* Sums of S_FT by terms, the others slide. outputs: windows across a block. */
template <typename SUMS, int CHANNELS, bool TOUCH, bool NARROW>
static __global__ void __launch_bounds__(NARROW ? NARROW_THREADS : THREADS,
                                         SUMS::wide || CHANNELS == 4 ? 1
                                         : NARROW                    ? 4
                                                                     : 2)
    slide_kernel(const __grid_constant__ tm_combine c, int outputs, int strip)
{
    enum { APART = NARROW ? NARROW_THREADS : THREADS, COLUMNS = APART * EACH };
    typedef typename SUMS::FF FF;
    typedef sums_row<SUMS, CHANNELS, TOUCH> row_of;
    extern __shared__ __align__(16) uint8_t shared[];
    const int64_t left = (int64_t)blockIdx.x * outputs, first = (int64_t)blockIdx.y * strip;
    const int64_t last = min(first + strip, c.rows);
    const int64_t pitch = (int64_t)c.planes.pitch;
    const int windows = (int)min((int64_t)outputs, c.map_width - left) - (int)threadIdx.x;
    const int count = windows > 0 ? min((windows + APART - 1) / APART, EACH) : 0;
    const uint8_t *top = c.planes.data + (c.y + first) * pitch + left + threadIdx.x * EACH;
    tm_candidate best = TM_NO_CANDIDATE;
    columns<SUMS, CHANNELS> state = {};
    row_words<SUMS, CHANNELS, TOUCH> in, out, next_in, next_out;

    add_rows<SUMS, CHANNELS, TOUCH>(c, &state, top, c.height - 1);
    const uint8_t *bottom = top + (c.height - 1) * pitch;
    in.load(c, bottom);
    out.load(c, top);
    for (int64_t y = first; y < last; y += GROUP) {
        const float cut = c.hint ? cut_of(c) : 0;
#pragma unroll 1
        for (int r = 0; r < GROUP; r++) {
            const row_of to = {shared + r * row_of::bytes(COLUMNS), COLUMNS};
            next_in.load(c, bottom += pitch); /* a row ahead of its use */
            next_out.load(c, top += pitch);
            slide(&state, in, false);
            put_prefix(to.ff(), state.ff);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                put_prefix(to.f(k), state.f[k]);
            if (TOUCH)
                put_prefix(to.touched(), state.touched);
            slide(&state, out, true);
            in = next_in;
            out = next_out;
        }
        __syncthreads();
#pragma unroll 1
        for (int r = 0; r < GROUP && y + r < last; r++) {
            const row_of row = {shared + r * row_of::bytes(COLUMNS), COLUMNS};
            const int64_t x = left + threadIdx.x;
            const int64_t position = (c.y + y + r) * c.map_width + x;
            FF ft[EACH];
            load_ft<APART>(c, (y + r) * c.stride + x, count, ft);
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const span<NARROW> window(threadIdx.x + i * APART, c.width);
                typename SUMS::F f[CHANNELS];
                if (i >= count)
                    break;
#pragma unroll
                for (int k = 0; k < CHANNELS; k++)
                    f[k] = window.sum(row.f(k));
                const FF ff = window.sum(row.ff());
                const bool skipped = TOUCH && window.sum(row.touched()) != 0;
                if (!SUMS::wide && c.hint)
                    sift<SUMS, CHANNELS>(c, ft[i], ff, f, skipped, cut, position + i * APART,
                                         &best);
                else
                    emit<SUMS, CHANNELS>(c, ft[i], ff, f, skipped, position + i * APART, &best);
            }
        }
        if (c.hint)
            tell(c, best);
        __syncthreads();
    }
    best = tm_block_best<APART>(best, threadIdx.x);
    if (threadIdx.x == 0)
        c.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
}

static bool is_narrow(int width)
{
    return width < SEGMENT;
}

/* By the registers that the kernels take, or their shared memory. */
static int blocks_that_fit(const tm_combine *c)
{
    const tm_sums_kind kind = tm_sums_kind_of(&c->scorer, c->bytes);
    if (kind == TM_SUMS_WIDE || c->channels > 3)
        return is_narrow(c->width) ? 3 : 1;
    const int fit = kind == TM_SUMS_8 ? (c->channels == 1 ? 7 : 5) : c->channels == 1 ? 6 : 4;
    return is_narrow(c->width) ? fit : fit / 2;
}

tm_cut tm_slide_cut(const tm_combine *c)
{
    const int threads = is_narrow(c->width) ? NARROW_THREADS : THREADS;
    return tm_cut_make(c, threads, (threads * EACH - c->width) / EACH * EACH,
                       0.1 * (c->height - 1), blocks_that_fit(c));
}

/* A kernel, and the bytes of shared memory that a column of a row takes. */
typedef struct slide_form {
    void (*kernel)(tm_combine, int, int);
    size_t column;
} slide_form;

template <typename SUMS, int CHANNELS, bool TOUCH> static slide_form form_of(bool narrow)
{
    return {narrow ? slide_kernel<SUMS, CHANNELS, TOUCH, true>
                   : slide_kernel<SUMS, CHANNELS, TOUCH, false>,
            sums_row<SUMS, CHANNELS, TOUCH>::COLUMN};
}

template <typename SUMS, bool TOUCH> static slide_form form_of_channels(int channels, bool narrow)
{
    return channels == 1   ? form_of<SUMS, 1, TOUCH>(narrow)
           : channels <= 3 ? form_of<SUMS, 3, TOUCH>(narrow)
                           : form_of<SUMS, 4, TOUCH>(narrow);
}

template <bool TOUCH> static slide_form form_of_kind(const tm_scorer *s, int bytes, bool narrow)
{
    const tm_sums_kind kind = tm_sums_kind_of(s, bytes);
    return kind == TM_SUMS_8    ? form_of_channels<sums_8, TOUCH>(s->channels, narrow)
           : kind == TM_SUMS_16 ? form_of_channels<sums_16, TOUCH>(s->channels, narrow)
                                : form_of_channels<sums_wide, TOUCH>(s->channels, narrow);
}

static slide_form form_for(const tm_scorer *s, int bytes, bool touch, int width)
{
    return touch ? form_of_kind<true>(s, bytes, is_narrow(width))
                 : form_of_kind<false>(s, bytes, is_narrow(width));
}

static size_t shared_of(const slide_form *f, int width)
{
    const int threads = is_narrow(width) ? NARROW_THREADS : THREADS;
    return f->column * (size_t)(threads * EACH + WARPS) * GROUP;
}

bool tm_combine_can_slide(const tm_scorer *scorer, int bytes, bool skips, int width,
                          size_t shared_memory)
{
    const slide_form f = form_for(scorer, bytes, skips, width);
    return width <= SLIDE_WIDTH && shared_of(&f, width) + FIXED <= shared_memory;
}

cudaError_t tm_slide_launch(const tm_combine *c, cudaStream_t stream)
{
    const tm_cut cut = tm_slide_cut(c);
    const slide_form f = form_for(&c->scorer, c->bytes, c->skips, c->width);
    const size_t shared = shared_of(&f, c->width);
    cudaError_t error = cudaFuncSetAttribute(
        (const void *)f.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error != cudaSuccess)
        return error;
    f.kernel<<<cut.grid, cut.threads, shared, stream>>>(*c, cut.outputs, cut.strip);
    return cudaGetLastError();
}
