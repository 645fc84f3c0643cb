/* SPDX-License-Identifier: MIT */
/* LCC of one wide template as in wgmma_wide.cu, with roles for the warps of a block (warp specialization), where its products
 * take long enough. A warp that issues wgmma is held up by the tensor cores, which take few at a time, and sums by mma.sync
 * would wait in the same queue. So one warpgroup makes products alone, of a tile while it hands on those of the tile before, row
 * by row. Eight warps make window sums by dp4a and prefix sums, and score; one more makes the sums of the columns beyond
 * the tile that its windows have, and begins to copy frame rows. */
#define TM_TENSOR_TILE_WIDTH 1024
#define TM_TENSOR_TILE_HEIGHT 8
#define TM_TENSOR_WARPS 16
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/ring.cuh"
#include "lcc/cuda/tensor/wide_stage.cuh"

enum {
    PRODUCT_WARPS = 4,           // a warpgroup
    SCORE_WARPS = 8,             // of 128 columns each
    SUM_WARPS = SCORE_WARPS + 1, // the others of the last warpgroup are idle
    PRODUCT_REGISTERS = 176,
    OTHER_REGISTERS = 112, // of a thread
    EACH = 4,              // columns of a thread of a SUM_WARP
    AT_ONCE = 2,           // rows that are scored together
    WORDS = SUM_WARPS * 32,
    SLOT = TILE_WIDTH / EACH + 1, // words of a fourth of a row of S_FT, in different banks than the next fourth
    MOST_SLOTS = 2,
    BATCHES = 9, // of a tile's products: one before the 8 rows that are handed on, one after each
    FIXED = 640  // bytes that a block declares
};

/* Barriers in shared memory, by number. A phase of START is a column of tiles; of ROWS, which take turns, a group of rows that
 * comes later; of FULL and FREE, one for each slot, a row, which is there, or was read; of MEET a meeting of all SUM_WARPS. Whoever
 * wrote or read what a barrier is for arrives at it, thread by thread: racecheck sees no further. */
enum {
    START = 0,
    ROWS = START + TM_WIDE_BATCHES,
    FULL = ROWS + 2,
    FREE = FULL + MOST_SLOTS,
    MEET = FREE + MOST_SLOTS,
    BARRIERS
};

struct memory {
    uint2 before[AT_ONCE][EACH][WORDS]; // S_F and S_FF of all of a warp's columns before each column
    int s_ft[1][EACH][SLOT];            // of MOST_SLOTS rows, or of one
};

__host__ __device__ __forceinline__ unsigned memory_bytes(int slots)
{
    return (unsigned)(sizeof(memory) + (slots - 1) * sizeof(int[EACH][SLOT]) + 127) / 128 * 128;
}

/* Tiles one below another in a column of tiles, with what the block has done before. */
struct tile_column {
    int x, y, tiles;
    int number, rows; // columns, and rows of windows
    int groups;       // of rows that came later than the first ones
};

/* Calls work for each of the block's columns of tiles. */
template <typename W>
__device__ __forceinline__ void for_each_column(const tm_tensor_plan &p, W work)
{
    const int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    tile_column c = {};
#pragma unroll 1
    for (; t < end; t += c.tiles, c.number++, c.rows += 8 * c.tiles, c.groups += max(0, c.tiles - 2)) {
        c.x = t / p.tiles_y * TILE_WIDTH, c.y = t % p.tiles_y * TILE_HEIGHT;
        c.tiles = min(end - t, p.tiles_y - t % p.tiles_y);
        work(c);
    }
}

template <int STEPS, bool ODD>
struct wide_block {
    enum { UNITS = 2 * STEPS - ODD };
    const tm_tensor_job &j;
    memory &shared;
    const tm_ring_of_groups<UNITS> ring;
    const unsigned barriers, frag;
    const int slots;

    __device__ __forceinline__ unsigned barrier(int i) const
    {
        return barriers + 8 * i;
    }

    /* The slot of the block's row, and its turn there. */
    __device__ __forceinline__ int slot_of(int row) const
    {
        return slots == 1 ? 0 : row % MOST_SLOTS;
    }

    __device__ __forceinline__ int turn_of(int row) const
    {
        return slots == 1 ? row : row / MOST_SLOTS;
    }

    /* Waits for the rows that a column's tile has and the tile before has not. */
    __device__ __forceinline__ void wait_for_rows(const tile_column &c, int tile) const
    {
        const int group = c.groups + tile - 2;
        if (tile >= 2 && tile < c.tiles)
            tm_barrier_wait(barrier(ROWS + group % 2), group / 2);
    }
};

/* Hands on row r of a tile, which is the block's row number row. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void hand_on(const wide_block<STEPS, ODD> &b, int (&sums)[16][4], int r, int row)
{
    const int slot = b.slot_of(row), warp = threadIdx.x / 32;
    if (row >= b.slots)
        tm_barrier_wait(b.barrier(FREE + slot), b.turn_of(row) - 1);
    int *const to = &b.shared.s_ft[0][0][0] + slot * EACH * SLOT;
#pragma unroll
    for (int e = 0; e < 8; e++) {
        const int column = 256 * warp + tm_wide_column(e);
        to[column % EACH * SLOT + column / EACH] = tm_wide_at(sums, r, e);
    }
    tm_barrier_arrive(b.barrier(FULL + slot));
}

/* The products of a tile, and between them the rows of the tile before. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void make_products(const wide_block<STEPS, ODD> &b, const tile_column &c, int tile, int (&sums)[16][4],
                                              int (&before)[16][4])
{
    const int h = b.j.height;
    tm_wide_products<STEPS, ODD, 2 * STEPS - ODD> products(b.ring.row(tile % b.ring.count, 0), b.ring.at,
                                                           b.ring.count * b.ring.GROUP, b.frag, h);
    if (tile == 0) {
#pragma unroll
        for (int batch = 0; batch < TM_WIDE_BATCHES; batch++) {
            tm_barrier_wait(b.barrier(START + batch), c.number);
            products.issue(sums, min(h + 7, 8 * tm_wide_batch_end(batch, tm_wide_groups(h))), false);
        }
    } else {
        auto issue = [&](int batches) {
            const int rows = ((h + 7) * batches + BATCHES - 1) / BATCHES;
            products.issue(sums, ODD ? min(h + 7, (rows + 1) / 2 * 2) : rows, false);
        };
        b.wait_for_rows(c, tile);
        issue(1);
#pragma unroll
        for (int r = 0; r < 8; r++) {
            hand_on(b, before, r, c.rows + 8 * (tile - 1) + r);
            issue(r + 2);
        }
    }
    tm_wgmma_wait();
    tm_wgmma_keep(sums);
}

template <int STEPS, bool ODD>
__device__ __forceinline__ void multiply(const wide_block<STEPS, ODD> &b, const tile_column &c)
{
    int sums[2][16][4];
    auto hand_on_last = [&](int (&last)[16][4]) {
#pragma unroll
        for (int r = 0; r < 8; r++)
            hand_on(b, last, r, c.rows + 8 * (c.tiles - 1) + r);
    };
    make_products(b, c, 0, sums[0], sums[1]);
    int tile = 1;
#pragma unroll 1
    for (; tile + 1 < c.tiles; tile += 2) {
        make_products(b, c, tile, sums[1], sums[0]);
        make_products(b, c, tile + 1, sums[0], sums[1]);
    }
    if (tile < c.tiles) {
        make_products(b, c, tile, sums[1], sums[0]);
        hand_on_last(sums[1]);
    } else {
        hand_on_last(sums[0]);
    }
}

/* Sums over h rows of a thread's columns: of its first column, of the first two, and so on. S_FF = entered - left. */
struct column_sums {
    int f[EACH];
    unsigned entered[EACH], left[EACH];

    __device__ __forceinline__ void enter(unsigned word)
    {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const unsigned first = ~0u >> (24 - 8 * e);
            entered[e] = __dp4a(word, word & first, entered[e]);
            f[e] = (int)__dp4a(word, 0x01010101u & first, (unsigned)f[e]);
        }
    }

    __device__ __forceinline__ void leave(unsigned word)
    {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const unsigned first = ~0u >> (24 - 8 * e);
            left[e] = __dp4a(word, word & first, left[e]);
            asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(f[e]) : "r"(word), "r"(first)); // less the bytes
        }
    }
};

/* S_F and S_FF of a row of a warp's columns: of all before each of a thread's, and of all. */
struct row_sums {
    uint2 before[EACH], all;
};

/* What makes the sums of a warp's columns, from row to row. */
template <int STEPS, bool ODD>
struct sum_maker {
    const wide_block<STEPS, ODD> &b;
    const int word; // of 4 columns, in a row of the ring
    const bool there;
    int slot; // in the ring, of the tile whose rows are next
    column_sums columns;

    __device__ __forceinline__ sum_maker(const wide_block<STEPS, ODD> &block, int part)
        : b(block), word(32 * part + threadIdx.x % 32), there(EACH * word < (int)tm_wide_row_bytes(block.j.width))
    {
    }

    __device__ __forceinline__ unsigned load(int first, int r) const
    {
        return there ? tm_load4(b.ring.row(first, r) + EACH * word) : 0;
    }

    /* The sums of a column of tiles' first row. */
    __device__ __forceinline__ void start(const tile_column &c)
    {
        const int h = b.j.height;
        columns = {};
        slot = 0;
#pragma unroll 1
        for (int batch = 0, r = 0; batch < TM_WIDE_BATCHES; batch++) {
            const int end = min(h, 8 * tm_wide_batch_end(batch, tm_wide_groups(h)));
            tm_barrier_wait(b.barrier(START + batch), c.number);
#pragma unroll 4
            for (; r < end; r++)
                columns.enter(load(0, r));
        }
    }

    /* The sums of a tile's row r, of which columns has those, and of the row below; columns goes on to the next one, unless the
     * column of tiles ends there. */
    __device__ __forceinline__ void take(row_sums (&rows)[AT_ONCE], int r, bool ends)
    {
        const int lane = threadIdx.x % 32;
        int f[AT_ONCE];
        unsigned ff[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            f[i] = columns.f[EACH - 1], ff[i] = columns.entered[EACH - 1] - columns.left[EACH - 1];
            rows[i].before[0] = make_uint2(-f[i], -ff[i]);
#pragma unroll
            for (int e = 1; e < EACH; e++)
                rows[i].before[e] = make_uint2(columns.f[e - 1] - f[i], columns.entered[e - 1] - columns.left[e - 1] - ff[i]);
            if (i + 1 < AT_ONCE || !ends) {
                const unsigned enters = load(slot, r + i + b.j.height), leaves = load(slot, r + i);
                columns.enter(enters);
                columns.leave(leaves);
            }
        }
#pragma unroll
        for (int d = 1; d < 32; d *= 2)
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const unsigned more_ff = __shfl_up_sync(~0u, ff[i], d);
                const int more_f = __shfl_up_sync(~0u, f[i], d);
                ff[i] += lane >= d ? more_ff : 0;
                f[i] += lane >= d ? more_f : 0;
            }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            rows[i].all = make_uint2(__shfl_sync(~0u, f[i], 31), __shfl_sync(~0u, ff[i], 31));
#pragma unroll
            for (int e = 0; e < EACH; e++)
                rows[i].before[e].x += f[i], rows[i].before[e].y += ff[i];
        }
    }

    /* Goes on from a tile's row r to those below it, whose sums it takes; nothing below the column of tiles. */
    __device__ __forceinline__ void go_on(row_sums (&rows)[AT_ONCE], const tile_column &c, int tile, int r)
    {
        if (r == 8 - AT_ONCE) {
            if (tile + 1 == c.tiles)
                return;
            b.wait_for_rows(c, tile + 2); // the row that enters last may be of these
            slot = b.ring.after(slot, 1);
            take(rows, 0, false);
        } else {
            take(rows, r + AT_ONCE, tile + 1 == c.tiles && r == 8 - 2 * AT_ONCE);
        }
    }

    /* Writes the sums where all SUM_WARPS find them. meetings: of all before. */
    __device__ __forceinline__ void put(const row_sums (&rows)[AT_ONCE], unsigned &meetings) const
    {
        meet(meetings); // the sums before are read
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                b.shared.before[i][e][word] = rows[i].before[e];
        meet(meetings);
    }

    __device__ __forceinline__ void meet(unsigned &meetings) const
    {
        tm_barrier_arrive(b.barrier(MEET));
        tm_barrier_wait(b.barrier(MEET), meetings++);
    }
};

/* The columns beyond the tile, and the copies of frame rows. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void stage_and_sum(const wide_block<STEPS, ODD> &b, const tile_column &c, unsigned &meetings)
{
    const tm_tensor_job &j = b.j;
    const int groups = tm_wide_groups(j.height);
    const unsigned row_bytes = tm_wide_row_bytes(j.width);
    const uint8_t *frame = j.frame + (size_t)c.y * j.pitch + c.x;
    sum_maker<STEPS, ODD> maker(b, SCORE_WARPS);
    row_sums rows[AT_ONCE];

#pragma unroll 1
    for (int batch = 0; batch < TM_WIDE_BATCHES; batch++)
        tm_wide_stage_batch<STEPS>(b.ring, b.barrier(START + batch), batch, c.tiles > 1, j.height, frame, j.pitch, row_bytes,
                                   c.number ? NULL : j.fragments, b.frag);
    maker.start(c);
    maker.take(rows, 0, false);
#pragma unroll 1
    for (int tile = 0; tile < c.tiles; tile++) {
#pragma unroll 1
        for (int r = 0; r < 8; r += AT_ONCE) {
            maker.put(rows, meetings);
            /* all have left the tile before, and the next one has the rows that take its first ones' place */
            if (r == 0 && tile + 2 < c.tiles) {
                const unsigned barrier = b.barrier(ROWS + (c.groups + tile) % 2);
                if (threadIdx.x % 32 == 0)
                    tm_barrier_expect(barrier, 8 * row_bytes);
                __syncwarp();
                if (threadIdx.x % 32 < 8)
                    b.ring.stage(barrier, b.ring.after(maker.slot, groups + 1), frame + (size_t)(tile + 1 + groups) * 8 * j.pitch,
                                 j.pitch, row_bytes);
            }
            maker.go_on(rows, c, tile, r);
        }
    }
}

/* Takes the greatest of a warp's scores of a row, of which top is the thread's, for its best, if it is better and no less than
 * what is known; returns whether it is. at: position of the thread's first window. */
__device__ __forceinline__ bool offer(const float (&q)[EACH], float top, int known, tm_tensor_best &best, int64_t at)
{
    const int lane = threadIdx.x % 32, own = tm_score_order(top);
    if (!__any_sync(~0u, top >= -1.0f && own >= known && (own > best.order || (own == best.order && at < best.pos))))
        return false;
    const int order = __reduce_max_sync(~0u, own);
    unsigned first = ~0u;
#pragma unroll
    for (int e = EACH - 1; e >= 0; e--)
        if (__float_as_int(q[e]) == __float_as_int(tm_score_of_order(order)))
            first = EACH * lane + e;
    first = __reduce_min_sync(~0u, first);
    const int64_t pos = at - EACH * lane + first;
    if (order == best.order && best.pos <= pos)
        return false;
    best = {pos, order};
    return true;
}

/* A bound by which windows are rejected together, without a map: see lcc/reject.h. It is of the greatest of their num and the
 * least of their var_F. num / n is rounded down, and var_F is shifted. */
struct rejection {
    int mean, rest; // S_T / n = mean - rest / 2^32
    int shift;      // var_F < 2^14 n^2, shifted less than 2^31
    float unit, variance, n, bound;
    bool positive, weak; // the score to reach; and small, so that windows with num < n may reach it

    __device__ __forceinline__ void start(int taps, const tm_tensor_template &t)
    {
        mean = (t.sum + (taps - 1) / 2) / taps;
        rest = (int)(((int64_t)mean * taps - t.sum) * (1LL << 32) / taps);
        shift = max(0, 2 * (32 - __clz(taps)) + 14 - 31);
        unit = (float)(1LL << shift) / ((float)taps * taps);
        variance = t.variance;
        n = taps;
    }

    __device__ __forceinline__ void set(int order)
    {
        const float s = tm_score_of_order(order), of_score = tm_reject_boundf(s, variance);
        positive = s > 0;
        bound = of_score * unit;
        weak = of_score * (n - 1) < 2.25f * n * n; // var_F >= n - 1 unless it is 0
    }

    /* num / n rounded down, of a value that is off by less than 2^-10, to either side. */
    __device__ __forceinline__ int num(int s_ft, int s_f) const
    {
        return s_ft - mean * s_f + __mulhi(s_f, rest);
    }

    /* Whether windows may reach the score, of which these are the greatest num / n and the greatest of -var_F, shifted. */
    __device__ __forceinline__ bool may_reach(int most, int minus_least) const
    {
        const float greatest = (float)most + 1.5f, least = (float)(-1 - minus_least);
        return !positive || ((most > 0 || weak) && __fmaf_rn(greatest, fabsf(greatest), -(least * bound)) > 0);
    }
};

/* The scores of 128 columns of a column of tiles, one warp's. */
template <int STEPS, bool ODD, bool MAP>
__device__ __forceinline__ void score(const wide_block<STEPS, ODD> &b, const tile_column &c, const tm_tensor_template &t,
                                      tm_tensor_best &best, unsigned &meetings)
{
    const tm_tensor_job &j = b.j;
    const int w = j.width, n = w * j.height, part = threadIdx.x / 32 - PRODUCT_WARPS, lane = threadIdx.x % 32;
    const int64_t left = c.x + 128 * part + EACH * lane;
    const int inside = (int)max((int64_t)0, min((int64_t)EACH, j.map_width - left)); // windows
    sum_maker<STEPS, ODD> maker(b, part);
    row_sums rows[AT_ONCE];
    rejection reject;
    unsigned end[EACH]; // where the columns behind each window are found; those of the next warp count from its own first one
#pragma unroll
    for (int e = 0; e < EACH; e++)
        end[e] = (unsigned)__cvta_generic_to_shared(&b.shared.before[0][(e + w) % EACH][maker.word + (e + w) / EACH]);
    const bool next = lane + w / EACH >= 32, next_over = lane + w / EACH >= 31;

    reject.start(n, t);
    maker.start(c);
    maker.take(rows, 0, false);
#pragma unroll 1
    for (int tile = 0; tile < c.tiles; tile++) {
        int known = max(__ldcg(j.running_bests), best.order);
        reject.set(known);
#pragma unroll 1
        for (int r = 0; r < 8; r += AT_ONCE) {
            const int row = c.rows + 8 * tile + r;
            int s_ft[AT_ONCE][EACH], most = INT_MIN, minus_least = INT_MIN;
            uint2 sum[AT_ONCE][EACH];
            maker.put(rows, meetings);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
                for (int e = 0; e < EACH; e++) {
                    const uint2 v = tm_load8(end[e] + i * (unsigned)sizeof b.shared.before[0]), from = rows[i].before[e];
                    const bool over = e + w % EACH < EACH ? next : next_over;
                    sum[i][e] = make_uint2(v.x - from.x + (over ? rows[i].all.x : 0), v.y - from.y + (over ? rows[i].all.y : 0));
                }
            auto minus_var = [&](int i, int e) {
                return tm_mad_wide((int)sum[i][e].x, (int)sum[i][e].x, tm_mul_signed((int)sum[i][e].y, -n));
            };
            auto load = [&](int i) {
                const int slot = b.slot_of(row + i);
                tm_barrier_wait(b.barrier(FULL + slot), b.turn_of(row + i));
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    s_ft[i][e] = (&b.shared.s_ft[0][0][0])[(slot * EACH + e) * SLOT + maker.word];
                tm_barrier_arrive(b.barrier(FREE + slot));
                if (!MAP)
#pragma unroll
                    for (int e = 0; e < EACH; e++) {
                        most = max(most, reject.num(s_ft[i][e], (int)sum[i][e].x));
                        minus_least = max(minus_least, (int)(minus_var(i, e) >> reject.shift));
                    }
            };
            load(0);
            maker.go_on(rows, c, tile, r);
            load(1);
            if (!MAP && !__any_sync(~0u, inside && reject.may_reach(most, minus_least)))
                continue;
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int64_t y = c.y + 8 * tile + r + i, at = y * j.map_width + left;
                if (y >= j.map_height)
                    break;
                float top = -2.0f, q[EACH];
#pragma unroll
                for (int e = 0; e < EACH; e++) {
                    const int64_t num = tm_mad_wide((int)sum[i][e].x, -t.sum, tm_mul_signed(s_ft[i][e], n));
                    q[e] = tm_tensor_score(__ll2float_rn(num), __ll2float_rn(minus_var(i, e)), -t.variance);
                    q[e] = e < inside ? q[e] : -2.0f;
                    top = fmaxf(top, q[e]);
                }
                if (MAP) {
                    float *const to = j.map + at;
                    if (inside == EACH && ((size_t)to & (sizeof(float4) - 1)) == 0)
                        __stcs((float4 *)to, make_float4(q[0], q[1], q[2], q[3]));
                    else
#pragma unroll
                        for (int e = 0; e < EACH; e++)
                            if (e < inside)
                                __stcs(to + e, q[e]);
                }
                if (offer(q, top, known, best, at)) {
                    known = max(known, best.order);
                    reject.set(known);
                    if (lane == 0)
                        atomicMax(j.running_bests, best.order);
                }
            }
        }
    }
}

template <int STEPS, bool ODD, bool MAP>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    wide_roles_kernel(const __grid_constant__ tm_tensor_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_WARPS];
    __shared__ uint64_t barriers[BARRIERS];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    const unsigned ring = (unsigned)__cvta_generic_to_shared(smem) + memory_bytes(p.slots), groups = tm_wide_ring_groups(j.height);
    const wide_block<STEPS, ODD> b = {j,
                                      *(memory *)smem,
                                      {ring, (int)groups},
                                      (unsigned)__cvta_generic_to_shared(barriers),
                                      ring + groups * tm_ring_of_groups<2 * STEPS - ODD>::GROUP,
                                      p.slots};
    tm_tensor_best best = {0, INT_MIN};
    unsigned meetings = 0;

    if (threadIdx.x < BARRIERS)
        tm_barrier_init(b.barrier(threadIdx.x), threadIdx.x < FULL   ? 1
                                                : threadIdx.x < FREE ? 32 * PRODUCT_WARPS
                                                : threadIdx.x < MEET ? 32 * SCORE_WARPS
                                                                     : 32 * SUM_WARPS);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // for copies
    __syncthreads();
    tm_early_begin();
    const tm_tensor_template t = *j.templates;
    if (warp < PRODUCT_WARPS) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(+PRODUCT_REGISTERS));
        for_each_column(p, [&](const tile_column &c) { multiply(b, c); });
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(+OTHER_REGISTERS));
        if (warp < PRODUCT_WARPS + SCORE_WARPS)
            for_each_column(p, [&](const tile_column &c) { score<STEPS, ODD, MAP>(b, c, t, best, meetings); });
        else if (warp < PRODUCT_WARPS + SUM_WARPS)
            for_each_column(p, [&](const tile_column &c) { stage_and_sum(b, c, meetings); });
    }
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

static tm_tensor_block block_of(const tm_tensor_job &j, int slots)
{
    const int units = tm_wide_units(j.width), steps = tm_wide_steps(j.width);
    return {memory_bytes(slots) + (size_t)tm_wide_ring_groups(j.height) * 8 * tm_wide_row(units) +
                (size_t)tm_wide_blocks(j.height, steps) * TM_WIDE_BLOCK,
            FIXED, 1};
}

/* As many slots as there is memory for. */
static int slots_of(const tm_tensor_device *device, const tm_tensor_job &j)
{
    int slots = MOST_SLOTS;
    while (slots && block_of(j, slots).shared + FIXED > device->shared_memory)
        slots--;
    return slots;
}

/* Whether this takes less time than wgmma_wide.cu, as measured on an H100: where a tile's products take longer than its sums. */
static bool pays(const tm_tensor_job &j, bool map)
{
    return (j.height + 7) * tm_wide_units(j.width) >= (map ? 200 : 300);
}

bool tm_wide_roles_takes(const tm_tensor_device *device, const tm_tensor_job &j, bool map)
{
    /* tests of wide templates come to both kernels */
    return slots_of(device, j) && (device->always_wide ? (j.width + j.height) % 2 == 0 : pays(j, map));
}

template <int STEPS, bool ODD>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_job &j, tm_tensor_plan p, cudaStream_t stream)
{
    p.slots = slots_of(device, j);
    return tm_tensor_start(device, j.map ? wide_roles_kernel<STEPS, ODD, true> : wide_roles_kernel<STEPS, ODD, false>, j, p,
                           block_of(j, p.slots), true, stream);
}

cudaError_t tm_wide_roles_launch(const tm_tensor_device *device, const tm_tensor_job &j, const tm_tensor_plan &p, cudaStream_t stream)
{
    return tm_wide_of_width(j.width, [&](auto form) {
        return launch<decltype(form)::STEPS, decltype(form)::ODD>(device, j, p, stream);
    });
}
