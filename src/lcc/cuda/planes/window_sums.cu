/* SPDX-License-Identifier: MIT */
/* Scores where S_FT is made of products, and the other sums are over all pixels of a window.
 *
 * A block goes down its tile. A thread keeps the sums of four neighbouring columns over the
 * template's rows in registers: it adds the row that enters and takes away the one that leaves. Of
 * TM_LOOK_ROWS rows at a time, prefix sums over each warp's columns go to shared memory. Two of
 * them, and the whole sums of the warps between, make a window's sum. A thread's four windows are
 * as far apart as the block has threads, so that those of a warp are neighbours. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/planes/column_sums.cuh"

#define NARROW_THREADS 128 /* of a block, for windows below TM_WINDOW_SUMS_SEGMENT columns */
#define MOST_WIDTH 768     /* of a template; for wider ones all sums are made of products */
#define FIXED 256          /* bytes of shared memory for the block's best */

/* Blocks for narrow windows have fewer threads, and a window has columns of at most two warps. */
template <bool NARROW>
struct layout {
    enum { APART = NARROW ? NARROW_THREADS : TM_WINDOW_SUMS_THREADS, COLUMNS = APART * TM_EACH };
};

/* How many blocks a multiprocessor takes, which leaves so many registers to each thread and so much
 * shared memory to each block. more: the kernel makes more than the best LCC of a frame without a
 * mask. */
static constexpr int blocks_that_fit(tm_sums_kind kind, int channels, bool more, bool narrow)
{
    constexpr int fit[][3][2] = {/* one channel, up to 3, 4 */
                                 {{7, 6}, {5, 5}, {4, 3}},
                                 {{5, 4}, {4, 3}, {3, 2}},
                                 {{4, 4}, {3, 2}, {3, 2}}};
    const int blocks = fit[kind][channels == 1 ? 0 : channels <= 3 ? 1 : 2][more];
    return narrow ? blocks : blocks > 3 ? blocks / 2 : 1;
}

/* Where a thread's windows are among the prefixes. A window that ends beyond the block's columns is
 * clamped: nobody takes its sum. */
template <bool NARROW>
struct windows {
    int from, width;

    template <typename T>
    __device__ __forceinline__ void sum(const tm_prefixes<T> &row, T (&sum)[TM_EACH]) const
    {
        typedef layout<NARROW> L;
        const tm_quad<T> whole = *(const tm_quad<T> *)row.warps;
#pragma unroll
        for (int i = 0; i < TM_EACH; i++) {
            const int x = from + i * L::APART;
            const int to = NARROW && i + 1 < TM_EACH ? x + width : min(x + width, L::COLUMNS - 1);
            sum[i] = row.of[to] - row.of[x];
            if constexpr (NARROW) { /* windows are as far apart as a warp has columns */
                sum[i] += to >= (i + 1) * TM_WINDOW_SUMS_SEGMENT ? whole.of[i] : 0;
            } else {
#pragma unroll 1
                for (int w = x / TM_WINDOW_SUMS_SEGMENT; w < to / TM_WINDOW_SUMS_SEGMENT; w++)
                    sum[i] += row.warps[w];
            }
        }
    }
};

static_assert(TM_WINDOW_SUMS_SEGMENT == NARROW_THREADS,
              "narrow windows' first warps are known when compiled");

/* S_FT of a thread's windows of a row. Its first products are loaded while the row before is made,
 * so that nothing waits for memory. */
template <int APART, typename T>
struct row_products {
    enum { AHEAD = sizeof(T) == 4 ? 1 : 3 };
    uint32_t word[AHEAD][TM_EACH];

    __device__ __forceinline__ void load(const tm_planes_score &c, int64_t at, int count)
    {
        const int products = c.product[0].map32 ? c.first[TM_SUM_FT + 1] : 0;
#pragma unroll
        for (int t = 0; t < AHEAD; t++) {
            const uint32_t *from = c.product[t].map32 + at;
#pragma unroll
            for (int i = 0; i < TM_EACH; i++)
                word[t][i] = t < products && i < count ? __ldcs(from + i * APART) : 0;
        }
    }

    __device__ __forceinline__ void sum(const tm_planes_score &c, int64_t at, int count,
                                        T (&sum)[TM_EACH]) const
    {
        const int products = c.first[TM_SUM_FT + 1];
        const bool narrow = c.product[0].map32;
#pragma unroll
        for (int i = 0; i < TM_EACH; i++) {
            sum[i] = 0;
#pragma unroll
            for (int t = 0; t < AHEAD; t++)
                sum[i] += (T)word[t][i] * (1u << c.product[t].shift); /* at most 16 */
        }
#pragma unroll 1
        for (int t = narrow ? AHEAD : 0; t < products; t++) {
            const tm_device_product &product = c.product[t];
#pragma unroll
            for (int i = 0; i < TM_EACH; i++) {
                const int64_t x = at + i * APART;
                if (i < count)
                    sum[i] += (narrow ? (T)__ldcs(product.map32 + x) : (T)product.map64[x])
                              << product.shift;
            }
        }
    }
};

/* BEST: the best LCC alone; else any metric, its map and its best. */
template <typename SUMS, int CHANNELS, bool TOUCH, bool NARROW, bool BEST>
static __global__ void __launch_bounds__(layout<NARROW>::APART,
                                         blocks_that_fit(SUMS::kind, CHANNELS, TOUCH || !BEST,
                                                         NARROW))
    window_sums_kernel(const __grid_constant__ tm_planes_score c, int tile_columns, int tile_rows)
{
    enum { APART = layout<NARROW>::APART, COLUMNS = layout<NARROW>::COLUMNS };
    typedef typename SUMS::F F;
    typedef typename SUMS::FF FF;
    typedef tm_sums_row<SUMS, CHANNELS, TOUCH> row_of;
    extern __shared__ __align__(16) uint8_t shared[];
    const int64_t left = (int64_t)blockIdx.x * tile_columns,
                  first = (int64_t)blockIdx.y * tile_rows;
    const int64_t last = min(first + tile_rows, c.rows);
    const int64_t pitch = (int64_t)c.planes.pitch;
    const int inside = (int)min((int64_t)tile_columns, c.map_width - left) - (int)threadIdx.x;
    const int count = inside > 0 ? min((inside + APART - 1) / APART, TM_EACH) : 0;
    const uint8_t *top = c.planes.data + (c.y + first) * pitch + left + threadIdx.x * TM_EACH;
    const windows<NARROW> window = {(int)threadIdx.x, c.width};
    tm_candidate best = TM_NO_CANDIDATE;
    tm_column_sums<SUMS, CHANNELS> state = {};
    tm_row_words<SUMS, CHANNELS, TOUCH> in, out, next_in, next_out;
    row_products<APART, FF> products;
    int64_t at = first * c.stride + left + threadIdx.x;
    int64_t position = (c.y + first) * c.map_width + left + threadIdx.x;

    tm_early_begin();
    products.load(c, at, count);
    tm_add_rows<SUMS, CHANNELS, TOUCH>(c, &state, top, c.height - 1);
    const uint8_t *bottom = top + (c.height - 1) * pitch;
    in.load(c, bottom);
    out.load(c, top);
    for (int64_t y = first; y < last; y += TM_LOOK_ROWS) {
        const int running_best = BEST ? __ldcg(c.running_best) : 0;
#pragma unroll 1
        for (int r = 0; r < TM_LOOK_ROWS; r++) {
            const row_of to = {shared + r * row_of::bytes(COLUMNS), COLUMNS};
            next_in.load(c, bottom += pitch); /* one row ahead of its use */
            next_out.load(c, top += pitch);
            tm_column_sums_add(&state, in, false);
            tm_put_prefix(to.ff(), state.ff);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                tm_put_prefix(to.f(k), state.f[k]);
            if (TOUCH)
                tm_put_prefix(to.touched(), state.touched);
            tm_column_sums_add(&state, out, true);
            in = next_in;
            out = next_out;
        }
        __syncthreads();
        const float bound = BEST ? tm_reject_bound_of(c, running_best) : 0;
#pragma unroll 1
        for (int r = 0; r < TM_LOOK_ROWS && y + r < last; r++) {
            const row_of row = {shared + r * row_of::bytes(COLUMNS), COLUMNS};
            F f[CHANNELS][TM_EACH];
            FF ft[TM_EACH], ff[TM_EACH];
            uint32_t touched[TM_EACH] = {};
            products.sum(c, at, count, ft);
            at += c.stride;
            products.load(c, at, y + r + 1 < last ? count : 0);
            window.sum(row.ff(), ff);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                window.sum(row.f(k), f[k]);
            if (TOUCH)
                window.sum(row.touched(), touched);
            float num[TM_EACH], var[TM_EACH];
            bool may[TM_EACH], any = false;
#pragma unroll
            for (int i = 0; i < TM_EACH; i++) {
                F of[CHANNELS];
#pragma unroll
                for (int k = 0; k < CHANNELS; k++)
                    of[k] = f[k][i];
                const bool skipped = touched[i] != 0;
                if constexpr (BEST) {
                    tm_centre(c, ft[i], ff[i], of, &num[i], &var[i]);
                    may[i] = i < count && !skipped && tm_may_be_best(num[i], var[i], bound);
                    any |= may[i];
                } else if (i < count) {
                    tm_emit<SUMS, CHANNELS>(c, ft[i], ff[i], of, skipped, position + i * APART,
                                            &best);
                }
            }
            if (any) { /* seldom */
#pragma unroll
                for (int i = 0; i < TM_EACH; i++) {
                    if (may[i])
                        tm_offer_lcc(c, &best, num[i], var[i], position + i * APART);
                }
            }
            position += c.map_width;
        }
        if (BEST)
            tm_tell_best(c, best, running_best);
        __syncthreads();
    }
    tm_write_candidate<APART>(c, best);
}

static bool is_narrow(int width)
{
    return width < TM_WINDOW_SUMS_SEGMENT;
}

tm_tiles tm_window_sums_tiles(const tm_planes_score *c)
{
    const bool narrow = is_narrow(c->width);
    const int threads = narrow ? NARROW_THREADS : TM_WINDOW_SUMS_THREADS;
    const int64_t most = (threads * TM_EACH - c->width) / TM_EACH * TM_EACH;
    const int64_t across = ceil_div(c->map_width, most); /* tiles of nearly equal width */
    const int tile_columns = (int)(ceil_div(ceil_div(c->map_width, across), TM_EACH) * TM_EACH);
    return tm_tiles_make(c, threads, tile_columns,
                         blocks_that_fit(tm_sums_kind_of(&c->scorer, c->bytes), c->channels,
                                         c->skips || !c->running_best, narrow));
}

/* A kernel, and the bytes of shared memory that a column of a row takes. */
typedef struct window_sums_form {
    void (*kernel)(tm_planes_score, int, int);
    size_t column;
} window_sums_form;

template <typename SUMS, int CHANNELS, bool TOUCH, bool NARROW>
static window_sums_form form_of_width(bool best)
{
    return {best && !SUMS::int128 ? window_sums_kernel<SUMS, CHANNELS, TOUCH, NARROW, !SUMS::int128>
                                : window_sums_kernel<SUMS, CHANNELS, TOUCH, NARROW, false>,
            tm_sums_row<SUMS, CHANNELS, TOUCH>::COLUMN};
}

template <typename SUMS, int CHANNELS, bool TOUCH>
static window_sums_form form_of(bool narrow, bool best)
{
    return narrow ? form_of_width<SUMS, CHANNELS, TOUCH, true>(best)
                  : form_of_width<SUMS, CHANNELS, TOUCH, false>(best);
}

template <typename SUMS, bool TOUCH>
static window_sums_form form_of_channels(int channels, bool narrow, bool best)
{
    return channels == 1   ? form_of<SUMS, 1, TOUCH>(narrow, best)
           : channels <= 3 ? form_of<SUMS, 3, TOUCH>(narrow, best)
                           : form_of<SUMS, 4, TOUCH>(narrow, best);
}

template <bool TOUCH>
static window_sums_form form_of_kind(const tm_scorer *s, int bytes, bool narrow, bool best)
{
    const tm_sums_kind kind = tm_sums_kind_of(s, bytes);
    return kind == TM_SUMS_8    ? form_of_channels<tm_sums_8, TOUCH>(s->channels, narrow, best)
           : kind == TM_SUMS_16 ? form_of_channels<tm_sums_16, TOUCH>(s->channels, narrow, best)
                                : form_of_channels<tm_sums_int128, TOUCH>(s->channels, narrow, best);
}

/* best: the best LCC alone. */
static window_sums_form form_for(const tm_scorer *s, int bytes, bool touch, int width, bool best)
{
    return touch ? form_of_kind<true>(s, bytes, is_narrow(width), best)
                 : form_of_kind<false>(s, bytes, is_narrow(width), best);
}

static size_t shared_of(const window_sums_form *f, int width)
{
    const int threads = is_narrow(width) ? NARROW_THREADS : TM_WINDOW_SUMS_THREADS;
    return f->column * (size_t)(threads * TM_EACH + TM_WINDOW_SUMS_WARPS) * TM_LOOK_ROWS;
}

bool tm_window_sums_fit(const tm_scorer *scorer, int bytes, bool skips, int width,
                        size_t shared_memory)
{
    const window_sums_form f = form_for(scorer, bytes, skips, width, false);
    return width <= MOST_WIDTH && shared_of(&f, width) + FIXED <= shared_memory;
}

cudaError_t tm_window_sums_launch(const tm_planes_score *c, cudaStream_t stream)
{
    const tm_tiles tiles = tm_window_sums_tiles(c);
    const window_sums_form f =
        form_for(&c->scorer, c->bytes, c->skips, c->width, c->running_best != NULL);
    const size_t shared = shared_of(&f, c->width);
    const cudaError_t error = TM_CALL(cudaFuncSetAttribute(
        (const void *)f.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    if (error != cudaSuccess)
        return error;
    return tm_early_launch(f.kernel, tiles.grid, (unsigned)tiles.threads, shared, c->early, stream, *c, tiles.tile_columns,
                           tiles.tile_rows);
}
