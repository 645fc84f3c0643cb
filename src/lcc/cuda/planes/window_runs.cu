/* SPDX-License-Identifier: MIT */
/* As window_sums.cu, for the best LCC of colour and of 16 bits with narrow templates, without masks.
 *
 * A block goes down its tile, ROWS rows at a time. A thread keeps the sums of four neighbouring columns over the template's
 * rows and stores them to shared memory. Then each warp takes one of the rows, and each of its threads a run of neighbouring
 * windows: from one to the next of them a column enters and one leaves. A run is an odd number of columns, so that the
 * threads of a warp read from different banks. What the first window of a run has of wide templates' columns are the sums of
 * whole runs, which neighbouring threads share. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/planes/column_sums.cuh"
#include "lcc/cuda/planes/limits.h"

#define THREADS 128
#define ROWS (THREADS / 32)
#define RUN 15                      /* windows of a thread */
#define MOST_WINDOWS (32 * RUN)     /* of a row of a tile */
#define COLUMNS (THREADS * TM_EACH) /* of a block */
#define SHARED_WIDTH (2 * RUN + 1)  /* templates as wide: threads share sums of runs, where a row's runs have all columns; */
#define ALWAYS_WIDTH (3 * RUN + 1)  /* and as wide: tiles are so narrow that they have */
#define BLOCKS 3                    /* that a multiprocessor takes: with 4, registers are too few to look ahead */

/* In which order a thread has its four columns: from one of them on, and around. Neighbouring threads begin with different ones,
 * because those that lie 4 columns apart, each thread's first, are in a quarter of the banks. */
struct columns_turn {
    unsigned by;
    unsigned even, odd; /* the bytes that a word has in the first and third of them, or in the others, as __byte_perm takes them */
    tm_pairs pairs;

    __device__ __forceinline__ columns_turn()
        : by(threadIdx.x / 2 % TM_EACH)
    {
        const unsigned at[TM_EACH] = {by, (by + 1) % TM_EACH, (by + 2) % TM_EACH, (by + 3) % TM_EACH};
        even = at[0] | at[2] << 8 | 0x4040, odd = at[1] | at[3] << 8 | 0x4040;
        pairs.first = at[0] | at[1] << 8, pairs.first |= (pairs.first + 0x0404) << 4;
        pairs.second = at[2] | at[3] << 8, pairs.second |= (pairs.second + 0x0404) << 4;
    }

    /* Brings what is in the frame's order into that one. */
    template <typename T>
    __device__ __forceinline__ void turn(T (&v)[TM_EACH]) const
    {
        if (by & 1) {
            const T first = v[0];
            v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = first;
        }
        if (by & 2) {
            const T first = v[0], second = v[1];
            v[0] = v[2], v[1] = v[3], v[2] = first, v[3] = second;
        }
    }
};

/* Sums of bytes of up to three channels. Two columns' sums of a channel share a word. */
struct bytes_kind {
    enum { CHANNELS = 3, MAPS = 1, LISTS = false };
    typedef tm_sums_8 SUMS;
    typedef tm_row_words<SUMS, CHANNELS, false> row;

    struct columns {
        uint32_t ff[TM_EACH], even[CHANNELS], odd[CHANNELS];

        __device__ __forceinline__ columns(tm_column_sums<SUMS, CHANNELS> s, const columns_turn &turn)
        {
            turn.turn(s.ff);
#pragma unroll
            for (int i = 0; i < TM_EACH; i++)
                ff[i] = s.ff[i];
#pragma unroll
            for (int k = 0; k < CHANNELS; k++) {
                turn.turn(s.f[k]);
                even[k] = s.f[k][0] | s.f[k][2] << 16, odd[k] = s.f[k][1] | s.f[k][3] << 16;
            }
        }

        __device__ __forceinline__ void replace(const row &in, const row &out, const columns_turn &turn)
        {
            uint32_t enters[TM_EACH], leaves[TM_EACH];
            tm_transpose({in.f[0][0], in.f[1][0], in.f[2][0], 0}, enters, turn.pairs);
            tm_transpose({out.f[0][0], out.f[1][0], out.f[2][0], 0}, leaves, turn.pairs);
#pragma unroll
            for (int i = 0; i < TM_EACH; i++)
                ff[i] = __dp4a(enters[i], enters[i], ff[i]) - __dp4a(leaves[i], leaves[i], 0u);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++) {
                even[k] += __byte_perm(in.f[k][0], 0, turn.even) - __byte_perm(out.f[k][0], 0, turn.even);
                odd[k] += __byte_perm(in.f[k][0], 0, turn.odd) - __byte_perm(out.f[k][0], 0, turn.odd);
            }
        }

        __device__ __forceinline__ uint4 get(int i) const
        {
            uint32_t f[CHANNELS];
#pragma unroll
            for (int k = 0; k < CHANNELS; k++) {
                const uint32_t both = i & 1 ? odd[k] : even[k];
                f[k] = i & 2 ? both >> 16 : both & 0xffff;
            }
            return make_uint4(ff[i], f[0], f[1], f[2]);
        }
    };

    struct window {
        uint32_t ff, f[CHANNELS];

        __device__ __forceinline__ void replace(uint4 in, uint4 out)
        {
            ff += in.x - out.x;
            f[0] += in.y - out.y, f[1] += in.z - out.z, f[2] += in.w - out.w;
        }

        /* Adds those of the thread so many lanes on. */
        __device__ __forceinline__ void add_from(const window &w, int lanes)
        {
            ff += __shfl_down_sync(~0u, w.ff, lanes);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
                f[k] += __shfl_down_sync(~0u, w.f[k], lanes);
        }
    };
};

/* Sums of 16 bits of one channel. */
struct words_kind {
    enum { CHANNELS = 1, MAPS = 3, LISTS = false };
    typedef tm_sums_16 SUMS;
    typedef tm_row_words<SUMS, CHANNELS, false> row;

    struct columns {
        uint64_t ff[TM_EACH];
        uint32_t f[TM_EACH];

        __device__ __forceinline__ columns(tm_column_sums<SUMS, CHANNELS> s, const columns_turn &turn)
        {
            turn.turn(s.ff);
            turn.turn(s.f[0]);
#pragma unroll
            for (int i = 0; i < TM_EACH; i++)
                ff[i] = s.ff[i], f[i] = s.f[0][i];
        }

        __device__ __forceinline__ void replace(const row &in, const row &out, const columns_turn &turn)
        {
#pragma unroll
            for (int i = 0; i < TM_EACH; i++) {
                const int enters = (int)in.sample(0, i, turn.pairs), leaves = (int)out.sample(0, i, turn.pairs);
                ff[i] = (uint64_t)tm_mad_wide(enters - leaves, enters + leaves, (int64_t)ff[i]);
                f[i] += enters - leaves;
            }
        }

        __device__ __forceinline__ uint4 get(int i) const
        {
            return make_uint4((uint32_t)ff[i], (uint32_t)(ff[i] >> 32), f[i], 0);
        }
    };

    struct window {
        uint64_t ff;
        uint32_t f[CHANNELS];

        __device__ __forceinline__ void replace(uint4 in, uint4 out)
        {
            ff += ((uint64_t)in.y << 32 | in.x) - ((uint64_t)out.y << 32 | out.x);
            f[0] += in.z - out.z;
        }

        __device__ __forceinline__ void add_from(const window &w, int lanes)
        {
            ff += __shfl_down_sync(~0u, w.ff, lanes);
            f[0] += __shfl_down_sync(~0u, w.f[0], lanes);
        }
    };
};

/* The same with a rounded template: windows are listed, not scored. */
struct listed_kind : words_kind {
    enum { MAPS = 2, LISTS = true };
};

/* A warp's S_FT of a row: from its maps, through registers, to shared memory. */
template <typename KIND>
struct row_products {
    enum { CHUNKS = (MOST_WINDOWS / 4 + 31) / 32 };
    typedef typename KIND::SUMS::FF FF;
    uint4 word[KIND::MAPS][CHUNKS];

    /* at: of the row's first window; count: of windows */
    __device__ __forceinline__ void load(const tm_planes_score &c, int64_t at, int count)
    {
#pragma unroll
        for (int t = 0; t < KIND::MAPS; t++) {
            const uint32_t *from = c.product[t].map32 + at;
#pragma unroll
            for (int i = 0; i < CHUNKS; i++) {
                const int chunk = threadIdx.x % 32 + 32 * i;
                word[t][i] = tm_first_of(from + 4 * chunk, count - 4 * chunk);
            }
        }
    }

    __device__ __forceinline__ void store(const tm_planes_score &c, FF *to) const
    {
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) {
            const int chunk = threadIdx.x % 32 + 32 * i;
            tm_quad<FF> sum = {};
#pragma unroll
            for (int t = 0; t < KIND::MAPS; t++) {
                const int shift = KIND::MAPS == 1 ? 0 : c.product[t].shift;
                sum.of[0] += (FF)word[t][i].x << shift, sum.of[1] += (FF)word[t][i].y << shift;
                sum.of[2] += (FF)word[t][i].z << shift, sum.of[3] += (FF)word[t][i].w << shift;
            }
            if (4 * chunk < MOST_WINDOWS)
                ((tm_quad<FF> *)to)[chunk] = sum;
        }
    }
};

/* Shared memory: what is read beyond the last row's columns is for windows that nobody takes. */
template <typename KIND>
struct shared_rows {
    uint4 columns[ROWS * COLUMNS + TM_RUNS_MOST_WIDTH + 1];
    typename KIND::SUMS::FF s_ft[ROWS][MOST_WINDOWS];
};

/* Sums of all columns but the last one of a run's first window. shares: the runs of a warp's threads have all columns. */
template <typename KIND>
static __device__ __forceinline__ typename KIND::window start_of_run(const tm_planes_score &c, const uint4 *column, bool shares)
{
    const uint4 none = make_uint4(0, 0, 0, 0);
    typename KIND::window start = {}, own = {};
    int at = 0;

    if (shares) {
#pragma unroll
        for (int i = 0; i < RUN; i++)
            own.replace(column[i], none);
        start = own; /* no such template is narrower */
        at = RUN;
#pragma unroll 1
        for (int lanes = 1; at + RUN < c.width; at += RUN, lanes++)
            start.add_from(own, lanes);
    }
#pragma unroll 4
    for (; at < c.width - 1; at++)
        start.replace(column[at], none);
    return start;
}

/* Calls take(i, num, var) for each window of a thread's run whose bit in which is set. */
template <typename KIND, int UNROLL, typename T>
static __device__ __forceinline__ void walk_run(const tm_planes_score &c, typename KIND::window window, const uint4 *column,
                                                const typename KIND::SUMS::FF *s_ft, unsigned which, T take)
{
    const uint4 none = make_uint4(0, 0, 0, 0), *enters = column + c.width - 1;

#pragma unroll UNROLL
    for (int i = 0; i < RUN; i++) {
        float num, var;
        window.replace(enters[i], i ? column[i - 1] : none);
        tm_centre(c, s_ft[i], window.ff, window.f, &num, &var);
        if (which >> i & 1)
            take(i, num, var);
    }
}

/* What a window must score to be of interest, where that best score is known. */
template <typename KIND>
static __device__ __forceinline__ float limit_of(const tm_planes_score &c, int order)
{
    const float best = tm_score_of_order(order);
    return KIND::LISTS ? tm_rounded_limit(c.list.rounding, best) : best;
}

/* Which windows of a thread's run may be of interest, the first best of these, and the order of the next best. */
struct run_best {
    unsigned may;
    int at, order, second;
};

/* Scores those of the first count windows of a thread's run that may be of interest, which there seldom are. */
template <typename KIND>
static __device__ __forceinline__ run_best score_run(const tm_planes_score &c, const typename KIND::window &start,
                                                     const uint4 *column, const typename KIND::SUMS::FF *s_ft, int count,
                                                     float bound)
{
    run_best run = {0, 0, INT_MIN, INT_MIN};

    walk_run<KIND, RUN>(c, start, column, s_ft, ~0u,
                        [&](int i, float num, float var) { run.may |= (unsigned)tm_may_be_best(num, var, bound) << i; });
    run.may &= count >= RUN ? ~0u : count > 0 ? (1u << count) - 1 : 0;
    if (run.may)
        walk_run<KIND, 1>(c, start, column, s_ft, run.may, [&](int i, float num, float var) {
            const int order = tm_lcc_order(c, num, var);
            run.second = max(run.second, min(order, run.order));
            if (order > run.order)
                run.order = order, run.at = i;
        });
    return run;
}

/* Lists those of a run's windows that are of interest. */
template <typename KIND>
static __device__ __forceinline__ void list_run(const tm_planes_score &c, const typename KIND::window &start, const uint4 *column,
                                                const typename KIND::SUMS::FF *s_ft, const run_best &run, int least,
                                                int64_t position)
{
    if (run.second >= least)
        walk_run<KIND, 1>(c, start, column, s_ft, run.may, [&](int i, float num, float var) {
            const int order = tm_lcc_order(c, num, var);
            if (order >= least)
                tm_list_put(c.list, tm_list_take(c.list, 1), order, position + i);
        });
    else if (run.order >= least)
        tm_list_put(c.list, tm_list_take(c.list, 1), run.order, position + run.at);
}

template <typename KIND>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    window_runs_kernel(const __grid_constant__ tm_planes_score c, int tile_columns, int tile_rows)
{
    typedef typename KIND::row row_words;
    extern __shared__ __align__(16) uint8_t memory[];
    shared_rows<KIND> &shared = *(shared_rows<KIND> *)memory;
    const int warp = threadIdx.x / 32, own = threadIdx.x % 32 * RUN;
    const int64_t left = (int64_t)blockIdx.x * tile_columns, first = (int64_t)blockIdx.y * tile_rows;
    const int64_t last = min(first + tile_rows, c.rows), pitch = (int64_t)c.planes.pitch;
    const int windows = (int)min((int64_t)tile_columns, c.map_width - left);
    const bool shares = c.width >= SHARED_WIDTH && tile_columns + c.width - 1 <= MOST_WINDOWS;
    const uint8_t *leaves = c.planes.data + (c.y + first) * pitch + left + threadIdx.x * TM_EACH;
    const uint8_t *enters = leaves + (c.height - 1) * pitch;
    tm_candidate best = TM_NO_CANDIDATE;
    tm_column_sums<typename KIND::SUMS, KIND::CHANNELS> sums = {};
    row_words in[ROWS], out[ROWS] = {};
    int known = INT_MIN; // best score, and the bound of it
    float bound = -INFINITY;

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        in[r].load(c, enters + r * pitch);
        if (r)
            out[r].load(c, leaves + (r - 1) * pitch);
    }
    tm_add_rows<typename KIND::SUMS, KIND::CHANNELS, false>(c, &sums, leaves, c.height - 1);
    const columns_turn turn;
    typename KIND::columns columns(sums, turn);
    tm_early_begin(); // the kernel before made the products; the planes were there before it began
    for (int64_t y = first; y < last; y += ROWS) {
        const int running_best = __ldcg(c.running_best);
        const int64_t row = y + warp;
        row_products<KIND> products;
        products.load(c, row * c.stride + left, row < last ? windows : 0);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            columns.replace(in[r], out[r], turn);
#pragma unroll
            for (int i = 0; i < TM_EACH; i++)
                shared.columns[r * COLUMNS + threadIdx.x * TM_EACH + (i + turn.by) % TM_EACH] = columns.get(i);
        }
        products.store(c, shared.s_ft[warp]);
        enters += ROWS * pitch, leaves += ROWS * pitch;
        if (y + ROWS < last) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                in[r].load(c, enters + r * pitch);
                out[r].load(c, leaves + (r - 1) * pitch);
            }
        }
        __syncthreads();
        if (row < last) {
            const uint4 *column = shared.columns + warp * COLUMNS + own;
            const typename KIND::SUMS::FF *s_ft = shared.s_ft[warp] + own;
            const int64_t position = (c.y + row) * c.map_width + left + own;
            if (running_best != known)
                known = running_best, bound = tm_reject_bound_for(c, limit_of<KIND>(c, known));
            const typename KIND::window start = start_of_run<KIND>(c, column, shares);
            const run_best run = score_run<KIND>(c, start, column, s_ft, windows - own, bound);
            if (run.may)
                tm_offer(&best, run.order, position + run.at);
            if (__any_sync(0xffffffffu, run.may)) {
                const int order = tm_tell_best(c, best, running_best);
                if (KIND::LISTS && run.may)
                    list_run<KIND>(c, start, column, s_ft, run, tm_list_least(c.list, max(order, __ldcg(c.running_best))), position);
            }
        }
        __syncthreads();
    }
    if (KIND::LISTS)
        return;
    tm_write_candidate<THREADS>(c, best);
}

static bool is_bytes(const tm_planes_score *c)
{
    return tm_sums_kind_of(&c->scorer, c->bytes) == TM_SUMS_8 && c->channels > 1 && c->channels <= bytes_kind::CHANNELS;
}

static bool is_words(const tm_planes_score *c)
{
    return tm_sums_kind_of(&c->scorer, c->bytes) == TM_SUMS_16 && c->bytes == 2 && c->channels == 1;
}

bool tm_window_runs_take(const tm_planes_score *c)
{
    return c->running_best && !c->skips && c->sliding[TM_SUM_FF] && c->width <= TM_RUNS_MOST_WIDTH && c->height <= TM_RUNS_MOST_HEIGHT &&
           (is_bytes(c) ? c->maps == bytes_kind::MAPS
                        : is_words(c) && c->maps == (c->list.of ? +listed_kind::MAPS : +words_kind::MAPS));
}

bool tm_planes_can_list(const tm_planes_score *c)
{
    return is_words(c) && tm_window_runs_take(c);
}

tm_tiles tm_window_runs_tiles(const tm_planes_score *c)
{
    const int columns = c->width >= ALWAYS_WIDTH ? MOST_WINDOWS : COLUMNS;
    const int64_t most = smaller(MOST_WINDOWS, columns - c->width + 1) / TM_EACH * TM_EACH;
    const int64_t across = ceil_div(c->map_width, most);
    const int tile_columns = (int)(ceil_div(ceil_div(c->map_width, across), TM_EACH) * TM_EACH);
    return tm_tiles_make(c, THREADS, tile_columns, BLOCKS);
}

template <typename KIND>
static cudaError_t launch(const tm_planes_score *c, const tm_tiles &tiles, cudaStream_t stream)
{
    const auto kernel = window_runs_kernel<KIND>;
    const size_t shared = sizeof(shared_rows<KIND>);
    const cudaError_t error = TM_CALL(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                           (int)shared));
    if (error != cudaSuccess)
        return error;
    return tm_early_launch(kernel, tiles.grid, (unsigned)tiles.threads, shared, c->early, stream, *c, tiles.tile_columns,
                           tiles.tile_rows);
}

cudaError_t tm_window_runs_launch(const tm_planes_score *c, cudaStream_t stream)
{
    const tm_tiles tiles = tm_window_runs_tiles(c);
    return is_bytes(c)  ? launch<bytes_kind>(c, tiles, stream)
           : c->list.of ? launch<listed_kind>(c, tiles, stream)
                        : launch<words_kind>(c, tiles, stream);
}
