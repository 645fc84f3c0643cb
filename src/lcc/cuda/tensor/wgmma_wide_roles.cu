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
#include "lcc/cuda/tensor/roles_best.cuh"
#include "lcc/cuda/tensor/roles_sums.cuh"

enum {
    PRODUCT_REGISTERS = 176, // of a thread that multiplies
    OTHER_REGISTERS = 112,
    BATCHES = 9, // of a tile's products: one before the 8 rows that are handed on, one after each
    FIXED = 640  // bytes that a block declares
};

/* Hands on row r of a tile, which is the block's row number row. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void hand_on(const tm_roles_block<STEPS, ODD> &b, int (&sums)[16][4], int r, int row)
{
    const int slot = b.slot_of(row), warp = threadIdx.x / 32;
    if (row >= b.slots)
        tm_barrier_wait(b.barrier(TM_ROLES_FREE + slot), b.turn_of(row) - 1);
    int *const to = &b.shared.s_ft[0][0][0] + slot * TM_ROLES_EACH * TM_ROLES_SLOT;
#pragma unroll
    for (int e = 0; e < 8; e++) {
        const int column = 256 * warp + tm_wide_column(e);
        to[column % TM_ROLES_EACH * TM_ROLES_SLOT + column / TM_ROLES_EACH] = tm_wide_at(sums, r, e);
    }
    tm_barrier_arrive(b.barrier(TM_ROLES_FULL + slot));
}

/* The products of a tile, and between them the rows of the tile before. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void make_products(const tm_roles_block<STEPS, ODD> &b, const tm_roles_column &c, int tile,
                                              int (&sums)[16][4], int (&before)[16][4])
{
    const int h = b.j.height;
    tm_wide_products<STEPS, ODD, 2 * STEPS - ODD> products(b.ring.row(tile % b.ring.count, 0), b.ring.at,
                                                           b.ring.count * b.ring.GROUP, b.frag, h);
    if (tile == 0) {
#pragma unroll
        for (int batch = 0; batch < TM_WIDE_BATCHES; batch++) {
            tm_barrier_wait(b.barrier(TM_ROLES_START + batch), c.number);
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
__device__ __forceinline__ void multiply(const tm_roles_block<STEPS, ODD> &b, const tm_roles_column &c)
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

/* The columns beyond the tile, and the copies of frame rows. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void stage_and_sum(const tm_roles_block<STEPS, ODD> &b, const tm_roles_column &c, unsigned &meetings)
{
    const tm_tensor_job &j = b.j;
    const int groups = tm_wide_groups(j.height);
    const unsigned row_bytes = tm_wide_row_bytes(j.width);
    const uint8_t *frame = j.frame + (size_t)c.y * j.pitch + c.x;
    tm_roles_sum_maker<STEPS, ODD> maker(b, TM_ROLES_SCORE_WARPS);
    tm_roles_row_sums rows[TM_ROLES_AT_ONCE];

#pragma unroll 1
    for (int batch = 0; batch < TM_WIDE_BATCHES; batch++)
        tm_wide_stage_batch<STEPS>(b.ring, b.barrier(TM_ROLES_START + batch), batch, c.tiles > 1, j.height, frame, j.pitch,
                                   row_bytes, c.number ? NULL : j.fragments, b.frag);
    maker.start(c);
    maker.take(rows, 0, false);
#pragma unroll 1
    for (int tile = 0; tile < c.tiles; tile++) {
#pragma unroll 1
        for (int r = 0; r < 8; r += TM_ROLES_AT_ONCE) {
            maker.put(rows, meetings);
            /* all have left the tile before, and the next one has the rows that take its first ones' place */
            if (r == 0 && tile + 2 < c.tiles)
                b.ring.stage_group(b.barrier(TM_ROLES_ROWS + (c.groups + tile) % 2), b.ring.after(maker.slot, groups + 1),
                                   frame + (size_t)(tile + 1 + groups) * 8 * j.pitch, j.pitch, row_bytes);
            maker.go_on(rows, c, tile, r);
        }
    }
}

/* The scores of 128 columns of a column of tiles, one warp's. */
template <int STEPS, bool ODD, bool MAP>
__device__ __forceinline__ void score(const tm_roles_block<STEPS, ODD> &b, const tm_roles_column &c, const tm_tensor_template &t,
                                      tm_tensor_best &best, unsigned &meetings)
{
    const tm_tensor_job &j = b.j;
    const int w = j.width, n = w * j.height, part = threadIdx.x / 32 - TM_ROLES_PRODUCT_WARPS, lane = threadIdx.x % 32;
    const int64_t left = c.x + 128 * part + TM_ROLES_EACH * lane;
    const int inside = (int)max((int64_t)0, min((int64_t)TM_ROLES_EACH, j.map_width - left)); // windows
    tm_roles_sum_maker<STEPS, ODD> maker(b, part);
    tm_roles_row_sums rows[TM_ROLES_AT_ONCE];
    tm_roles_rejection reject;
    /* Where the columns behind each window are found; those of the next warp count from its own first one. */
    unsigned end[TM_ROLES_EACH];
#pragma unroll
    for (int e = 0; e < TM_ROLES_EACH; e++)
        end[e] = (unsigned)__cvta_generic_to_shared(&b.shared.before[0][(e + w) % TM_ROLES_EACH][maker.word + (e + w) / TM_ROLES_EACH]);
    const bool next = lane + w / TM_ROLES_EACH >= 32, next_over = lane + w / TM_ROLES_EACH >= 31;

    reject.start(n, t);
    maker.start(c);
    maker.take(rows, 0, false);
#pragma unroll 1
    for (int tile = 0; tile < c.tiles; tile++) {
        int known = max(__ldcg(j.running_bests), best.order);
        reject.set(known);
#pragma unroll 1
        for (int r = 0; r < 8; r += TM_ROLES_AT_ONCE) {
            const int row = c.rows + 8 * tile + r;
            int s_ft[TM_ROLES_AT_ONCE][TM_ROLES_EACH], most = INT_MIN, minus_least = INT_MIN;
            uint2 sum[TM_ROLES_AT_ONCE][TM_ROLES_EACH];
            maker.put(rows, meetings);
#pragma unroll
            for (int i = 0; i < TM_ROLES_AT_ONCE; i++)
#pragma unroll
                for (int e = 0; e < TM_ROLES_EACH; e++) {
                    const uint2 v = tm_load8(end[e] + i * (unsigned)sizeof b.shared.before[0]), from = rows[i].before[e];
                    const bool over = e + w % TM_ROLES_EACH < TM_ROLES_EACH ? next : next_over;
                    sum[i][e] = make_uint2(v.x - from.x + (over ? rows[i].all.x : 0), v.y - from.y + (over ? rows[i].all.y : 0));
                }
            auto minus_var = [&](int i, int e) {
                return tm_mad_wide((int)sum[i][e].x, (int)sum[i][e].x, tm_mul_signed((int)sum[i][e].y, -n));
            };
            auto load = [&](int i) {
                const int slot = b.slot_of(row + i);
                tm_barrier_wait(b.barrier(TM_ROLES_FULL + slot), b.turn_of(row + i));
#pragma unroll
                for (int e = 0; e < TM_ROLES_EACH; e++)
                    s_ft[i][e] = (&b.shared.s_ft[0][0][0])[(slot * TM_ROLES_EACH + e) * TM_ROLES_SLOT + maker.word];
                tm_barrier_arrive(b.barrier(TM_ROLES_FREE + slot));
                if (!MAP)
#pragma unroll
                    for (int e = 0; e < TM_ROLES_EACH; e++) {
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
            for (int i = 0; i < TM_ROLES_AT_ONCE; i++) {
                const int64_t y = c.y + 8 * tile + r + i, at = y * j.map_width + left;
                if (y >= j.map_height)
                    break;
                float top = -2.0f, q[TM_ROLES_EACH];
#pragma unroll
                for (int e = 0; e < TM_ROLES_EACH; e++) {
                    const int64_t num = tm_mad_wide((int)sum[i][e].x, -t.sum, tm_mul_signed(s_ft[i][e], n));
                    q[e] = tm_tensor_score(__ll2float_rn(num), __ll2float_rn(minus_var(i, e)), -t.variance);
                    q[e] = e < inside ? q[e] : -2.0f;
                    top = fmaxf(top, q[e]);
                }
                if (MAP) {
                    float *const to = j.map + at;
                    if (inside == TM_ROLES_EACH && ((size_t)to & (sizeof(float4) - 1)) == 0)
                        __stcs((float4 *)to, make_float4(q[0], q[1], q[2], q[3]));
                    else
#pragma unroll
                        for (int e = 0; e < TM_ROLES_EACH; e++)
                            if (e < inside)
                                __stcs(to + e, q[e]);
                }
                if (tm_roles_offer(q, top, known, best, at)) {
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
    __shared__ uint64_t barriers[TM_ROLES_BARRIERS];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    const unsigned ring = (unsigned)__cvta_generic_to_shared(smem) + tm_roles_memory_bytes(p.slots);
    const unsigned groups = tm_wide_ring_groups(j.height);
    const tm_roles_block<STEPS, ODD> b = {j,
                                          *(tm_roles_memory *)smem,
                                          {ring, (int)groups},
                                          (unsigned)__cvta_generic_to_shared(barriers),
                                          ring + groups * tm_ring_of_groups<2 * STEPS - ODD>::GROUP,
                                          p.slots};
    tm_tensor_best best = {0, INT_MIN};
    unsigned meetings = 0;

    if (threadIdx.x < TM_ROLES_BARRIERS)
        tm_barrier_init(b.barrier(threadIdx.x), threadIdx.x < TM_ROLES_FULL   ? 1
                                                : threadIdx.x < TM_ROLES_FREE ? 32 * TM_ROLES_PRODUCT_WARPS
                                                : threadIdx.x < TM_ROLES_MEET ? 32 * TM_ROLES_SCORE_WARPS
                                                                              : 32 * TM_ROLES_SUM_WARPS);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // for copies
    __syncthreads();
    tm_early_begin();
    const tm_tensor_template t = *j.templates;
    if (warp < TM_ROLES_PRODUCT_WARPS) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(+PRODUCT_REGISTERS));
        tm_roles_for_each_column(p, [&](const tm_roles_column &c) { multiply(b, c); });
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(+OTHER_REGISTERS));
        if (warp < TM_ROLES_PRODUCT_WARPS + TM_ROLES_SCORE_WARPS)
            tm_roles_for_each_column(p, [&](const tm_roles_column &c) { score<STEPS, ODD, MAP>(b, c, t, best, meetings); });
        else if (warp < TM_ROLES_PRODUCT_WARPS + TM_ROLES_SUM_WARPS)
            tm_roles_for_each_column(p, [&](const tm_roles_column &c) { stage_and_sum(b, c, meetings); });
    }
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

static tm_tensor_block block_of(const tm_tensor_job &j, int slots)
{
    const int units = tm_wide_units(j.width), steps = tm_wide_steps(j.width);
    return {tm_roles_memory_bytes(slots) + (size_t)tm_wide_ring_groups(j.height) * 8 * tm_wide_row(units) +
                (size_t)tm_wide_blocks(j.height, steps) * TM_WIDE_BLOCK,
            FIXED, 1};
}

/* As many slots as there is memory for. */
static int slots_of(const tm_tensor_device *device, const tm_tensor_job &j)
{
    int slots = TM_ROLES_MOST_SLOTS;
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
