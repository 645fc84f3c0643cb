/* SPDX-License-Identifier: MIT */
/* Scores where all sums are products of planes; and the tiles of this kernel and of
 * window_sums.cu's. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/planes/score.cuh"

#define PRODUCTS_THREADS 128

/* One sum of four neighbouring windows, added up from its products. The first two products of every
 * sum are loaded before any of them is used. */
template <typename T>
struct product_sum {
    uint4 v[2];

    __device__ __forceinline__ void load(const tm_planes_score &c, int s, int64_t at)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int t = c.first[s] + i;
            v[i] = t < c.first[s + 1] ? __ldcs((const uint4 *)(c.product[t].map32 + at))
                                      : make_uint4(0, 0, 0, 0);
        }
    }

    __device__ __forceinline__ static void add(T (&sum)[TM_EACH], uint4 v, int shift)
    {
        sum[0] += (T)v.x << shift, sum[1] += (T)v.y << shift;
        sum[2] += (T)v.z << shift, sum[3] += (T)v.w << shift;
    }

    __device__ __forceinline__ void add_to(T (&sum)[TM_EACH], const tm_planes_score &c, int s,
                                           int64_t at) const
    {
        const int first = c.first[s];
#pragma unroll
        for (int i = 0; i < 2; i++)
            add(sum, v[i], first + i < TM_MAX_PRODUCTS ? c.product[first + i].shift : 0);
        for (int t = first + 2; t < c.first[s + 1]; t++)
            add(sum, __ldcs((const uint4 *)(c.product[t].map32 + at)), c.product[t].shift);
    }
};

/* The same at the right edge of the map, and where products have 64 bits. */
template <typename T>
static __device__ __forceinline__ void add_products(T (&sum)[TM_EACH], const tm_planes_score &c,
                                                    int s, int64_t at, int count)
{
    for (int t = c.first[s]; t < c.first[s + 1]; t++) {
        const tm_device_product &product = c.product[t];
#pragma unroll
        for (int i = 0; i < TM_EACH; i++) {
            if (i < count)
                sum[i] += (product.map32 ? (T)product.map32[at + i] : (T)product.map64[at + i])
                          << product.shift;
        }
    }
}

/* A thread's part of a tile: four columns from x on, of which count are in the map, and the rows [first, last). */
struct thread_tile {
    int64_t x, first, last;
    int count;

    __device__ __forceinline__ thread_tile(const tm_planes_score &c, int tile_rows)
        : x(((int64_t)blockIdx.x * PRODUCTS_THREADS + threadIdx.x) * TM_EACH), first((int64_t)blockIdx.y * tile_rows),
          last(min(first + tile_rows, c.rows)), count((int)max(min((int64_t)TM_EACH, c.map_width - x), (int64_t)0))
    {
    }
};

/* The sums of four neighbouring windows where each is one product, unshifted; of those beyond the map 0. */
template <int CHANNELS>
struct single_sums {
    uint4 ft, ff, f[CHANNELS];

    __device__ __forceinline__ static uint4 load_one(const uint32_t *map, int64_t at, int count)
    {
        return map ? tm_first_of(map + at, count) : make_uint4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void load(const tm_planes_score &c, int64_t at, int count)
    {
        ft = load_one(c.only[TM_SUM_FT], at, count);
        ff = load_one(c.only[TM_SUM_FF], at, count);
#pragma unroll
        for (int k = 0; k < CHANNELS; k++)
            f[k] = load_one(c.only[TM_SUM_F + k], at, count);
    }
};

static __device__ __forceinline__ uint32_t word_of(uint4 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/* Calls take(y, sums) for each row of a tile's columns; rows are loaded ahead, so that nothing waits for memory. */
template <int CHANNELS, typename T>
static __device__ __forceinline__ void walk_singles(const tm_planes_score &c, const thread_tile &t, T take)
{
    enum { AHEAD = 2 };
    single_sums<CHANNELS> ahead[AHEAD];

#pragma unroll
    for (int i = 0; i < AHEAD; i++)
        ahead[i].load(c, (t.first + i) * c.stride + t.x, t.first + i < t.last ? t.count : 0);
#pragma unroll 1
    for (int64_t y = t.first; y < t.last; y += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const single_sums<CHANNELS> sums = ahead[i];
            const int64_t next = y + i + AHEAD;
            if (y + i >= t.last)
                break;
            ahead[i].load(c, next * c.stride + t.x, next < t.last ? t.count : 0);
            take(y + i, sums);
        }
    }
}

/* How many blocks a multiprocessor takes, which leaves so many registers to each thread. */
static constexpr int blocks_that_fit(int channels)
{
    return channels == 1 ? 6 : 4;
}

template <typename SUMS, int CHANNELS>
static __global__ void __launch_bounds__(PRODUCTS_THREADS, blocks_that_fit(CHANNELS))
    products_kernel(const __grid_constant__ tm_planes_score c, int tile_rows)
{
    enum { SUMS_OF = TM_SUM_F + CHANNELS };
    typedef typename SUMS::FF FF;
    const thread_tile t(c, tile_rows);
    tm_candidate best = TM_NO_CANDIDATE;

    tm_early_begin();
    for (int64_t y = t.first; y < t.last; y++) {
        const int64_t at = y * c.stride + t.x, position = (c.y + y) * c.map_width + t.x;
        const int running_best = c.running_best ? __ldcg(c.running_best) : 0;
        FF sum[SUMS_OF][TM_EACH] = {};
        if (t.count == TM_EACH && c.product[0].map32) {
            product_sum<FF> products[SUMS_OF];
#pragma unroll
            for (int s = 0; s < SUMS_OF; s++)
                products[s].load(c, s, at);
#pragma unroll
            for (int s = 0; s < SUMS_OF; s++)
                products[s].add_to(sum[s], c, s, at);
        } else {
#pragma unroll
            for (int s = 0; s < SUMS_OF; s++)
                add_products(sum[s], c, s, at, t.count);
        }
        const float bound = c.running_best ? tm_reject_bound_of(c, running_best) : 0;
#pragma unroll
        for (int i = 0; i < TM_EACH; i++) {
            typename SUMS::F f[CHANNELS];
            if (i >= t.count)
                break;
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                f[k] = (typename SUMS::F)sum[TM_SUM_F + k][i];
            const FF ft = sum[TM_SUM_FT][i], ff = sum[TM_SUM_FF][i];
            const bool skipped = sum[TM_SUM_TOUCHED][i] != 0;
            if (c.running_best) {
                float num, var;
                tm_centre(c, ft, ff, f, &num, &var);
                if (!skipped && tm_may_be_best(num, var, bound))
                    tm_offer_lcc(c, &best, num, var, position + i);
            } else {
                tm_emit<SUMS, CHANNELS>(c, ft, ff, f, skipped, position + i, &best);
            }
        }
        if (c.running_best && (y - t.first) % TM_LOOK_ROWS == 0)
            tm_tell_best(c, best, running_best);
    }
    tm_write_candidate<PRODUCTS_THREADS>(c, best);
}

/* The best LCC where sums are single, which only those of bytes are, and no window is skipped. */
template <int CHANNELS>
static __global__ void __launch_bounds__(PRODUCTS_THREADS, blocks_that_fit(CHANNELS))
    singles_kernel(const __grid_constant__ tm_planes_score c, int tile_rows)
{
    const thread_tile t(c, tile_rows);
    tm_candidate best = TM_NO_CANDIDATE;
    int known = INT_MIN; /* of scores, and the bound of it */
    float bound = -INFINITY;

    tm_early_begin();
    int others = __ldcg(c.running_best); /* which is looked at a row later */
    walk_singles<CHANNELS>(c, t, [&](int64_t y, const single_sums<CHANNELS> &sums) {
        float num[TM_EACH], var[TM_EACH];
        unsigned may = 0;
        if (others > known)
            known = others, bound = tm_reject_bound_of(c, known);
        others = __ldcg(c.running_best);
#pragma unroll
        for (int i = 0; i < TM_EACH; i++) {
            uint32_t f[CHANNELS];
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                f[k] = word_of(sums.f[k], i);
            tm_centre(c, word_of(sums.ft, i), word_of(sums.ff, i), f, &num[i], &var[i]);
            may |= (unsigned)(i < t.count && tm_may_be_best(num[i], var[i], bound)) << i;
        }
        if (!__any_sync(0xffffffffu, may))
            return;
#pragma unroll
        for (int i = 0; i < TM_EACH; i++)
            if (may >> i & 1)
                tm_offer_lcc(c, &best, num[i], var[i], (c.y + y) * c.map_width + t.x + i);
        const int order = tm_tell_best(c, best, known);
        if (order > known)
            known = order, bound = tm_reject_bound_of(c, known);
    });
    tm_write_candidate<PRODUCTS_THREADS>(c, best);
}

/* A tile's sums are made anew from the rows above its first: high tiles do so less often, low ones
 * keep all multiprocessors busy. So tiles are as high as they can be with all of them at once. */
tm_tiles tm_tiles_make(const tm_planes_score *c, int threads, int tile_columns, int fit)
{
    const int64_t across = ceil_div(c->map_width, tile_columns);
    const int64_t most = (int64_t)c->multiprocessors * fit / across;
    const int64_t down = clamp(most, 1, TM_MOST_GRID_ROWS);
    const int tile_rows = (int)(ceil_div(ceil_div(c->rows, down), TM_LOOK_ROWS) * TM_LOOK_ROWS);
    return {threads, tile_columns, tile_rows,
            dim3((unsigned)across, (unsigned)ceil_div(c->rows, tile_rows))};
}

/* Whether there are sums over whole windows. */
static bool sums_windows(const tm_planes_score *c)
{
    return c->sliding[TM_SUM_F] || c->sliding[TM_SUM_FF] || c->sliding[TM_SUM_TOUCHED];
}

static tm_tiles tiles_of(const tm_planes_score *c)
{
    return tm_window_runs_take(c) ? tm_window_runs_tiles(c)
           : sums_windows(c)      ? tm_window_sums_tiles(c)
                                  : tm_tiles_make(c, PRODUCTS_THREADS, PRODUCTS_THREADS * TM_EACH,
                                           blocks_that_fit(c->channels));
}

int64_t tm_planes_score_blocks(const tm_planes_score *c)
{
    const tm_tiles tiles = tiles_of(c);
    return c->list.of ? 0 : (int64_t)tiles.grid.x * tiles.grid.y;
}

typedef void products_form(tm_planes_score, int);

template <typename SUMS, int CHANNELS>
static products_form *form_of(const tm_planes_score *c)
{
    if constexpr (SUMS::kind == TM_SUMS_8) {
        if (c->single && c->running_best && !c->skips)
            return singles_kernel<CHANNELS>;
    }
    return products_kernel<SUMS, CHANNELS>;
}

template <typename SUMS>
static products_form *form_of(const tm_planes_score *c)
{
    return c->channels == 1 ? form_of<SUMS, 1>(c) : c->channels <= 3 ? form_of<SUMS, 3>(c) : form_of<SUMS, 4>(c);
}

cudaError_t tm_planes_score_launch(const tm_planes_score *c, cudaStream_t stream)
{
    if (tm_window_runs_take(c))
        return tm_window_runs_launch(c, stream);
    if (sums_windows(c))
        return tm_window_sums_launch(c, stream);
    const tm_tiles tiles = tiles_of(c);
    const tm_sums_kind kind = tm_sums_kind_of(&c->scorer, c->bytes);
    products_form *kernel = kind == TM_SUMS_8    ? form_of<tm_sums_8>(c)
                            : kind == TM_SUMS_16 ? form_of<tm_sums_16>(c)
                                                 : form_of<tm_sums_int128>(c);
    return tm_early_launch(kernel, tiles.grid, (unsigned)tiles.threads, 0, c->early, stream, *c, tiles.tile_rows);
}
