/* SPDX-License-Identifier: MIT */
/* LCC of one wide template on the integer tensor cores, wgmma (sm_90a), where it has products enough. A tile of the map is 128
 * columns and 64 rows. The template is A: 64 lines, which are 16 shifts of its rows for 4 rows of the map, one below another. The
 * frame is B: a column is 16 bytes of one of 16 rows, which stand 4 apart, and from one frame row of the template to the next
 * one B begins a row further down. So the template meets h + 3 frame rows for all rows of the tile.
 *
 * Warps have roles (warp specialization), because one that issues wgmma is held up by the tensor cores, which take few at a
 * time. Two warpgroups multiply in turns: one scores what it has multiplied, from its own registers, while the other multiplies.
 * The other warps make window sums, which need no tensor cores, and copy frame rows.
 *
 * Of a template for whose blocks shared memory has no room, wgmma_tall_planes.cu makes the products of all parts but the last, to which
 * this adds those of that one. */
#include "lcc/cuda/tensor/limits.h"
#define TM_TENSOR_TILE_WIDTH TM_TALL_TILE_WIDTH
#define TM_TENSOR_TILE_HEIGHT TM_TALL_TILE_HEIGHT
#define TM_TENSOR_WARPS 16
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/tall_map.cuh"
#include "lcc/cuda/tensor/tall_products.cuh"
#include "lcc/cuda/tensor/tall_score.cuh"
#include "lcc/cuda/tensor/tall_sums.cuh"

/* Every second tile, a warpgroup's. */
template <int STEPS, bool ODD, bool MAP, bool PARTS>
__device__ __forceinline__ tm_tensor_best multiply_and_score(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_job &j, int group)
{
    tm_tall_scorer<STEPS, ODD, tm_tall_slots<STEPS, ODD>> scorer(b, j, *j.templates, j.width * j.height, tm_tall_slots<STEPS, ODD>(b));
    tm_rejection reject;
    if (!MAP)
        reject.start(scorer.n, scorer.t);
#pragma unroll 1
    for (int n = group; n < b.count; n += 2) {
        int acc[TM_TALL_GROUPS][4];
        if (PARTS)
            tm_tall_map(j.partial, j.partial_stride, j.map_height, b.x(n), b.y(n)).load(acc, true, 0);
        tm_tall_multiply(b, group, n, b.blocks, PARTS, acc);
        if (MAP)
            scorer.score_all(n, acc);
        else
            scorer.score_best(n, acc, reject);
    }
    return scorer.best;
}

template <int STEPS, bool ODD>
__device__ __forceinline__ void stage_and_sum(const tm_tall_block<STEPS, ODD> &b, const void *fragments, int part)
{
    tm_tall_sum_maker<STEPS, ODD> maker(b, part);
    const int64_t plane = b.p.part_row * (int64_t)b.j.pitch + 16 * b.p.part_unit; // where the part meets the frame
    const int rows = b.j.height - b.p.part_row;
    int coming = 0; // tile whose rows come
    auto stage = [&](int n) {
        if (n < b.count) {
            tm_tall_stage_rows<TM_TALL_SUM_WARPS>(b, n, n % 2, plane, rows, part);
            coming = n;
        }
    };
    tm_tall_stage_template<TM_TALL_SUM_WARPS>(b, b.blocks, fragments, b.part(), part);
    tm_tall_stage_rows<TM_TALL_SUM_WARPS>(b, 0, 0, plane, rows, part);
    tm_tall_tell(b, 0);
    stage(1);
#pragma unroll 1
    for (int n = 0, end; n < b.count; n = end) {
        end = (int)min((int64_t)b.count, n + b.p.tiles_y - b.y(n) / TILE_HEIGHT);
        maker.make(
            n, end,
            [&] {
                if (coming)
                    tm_tall_tell(b, coming);
                coming = 0;
            },
            [&](int tile) { stage(tile + 2); }); // its sums are read, so that its products are made
    }
}

template <int STEPS, bool ODD, bool MAP, bool PARTS>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    tall_kernel(const __grid_constant__ tm_tensor_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_WARPS];
    __shared__ uint64_t barriers[TM_TALL_BARRIERS];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    const int first = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    const int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    const tm_tall_block<STEPS, ODD> b = {
        j, p, (unsigned)__cvta_generic_to_shared(smem), (unsigned)__cvta_generic_to_shared(barriers), first, end - first};
    tm_tensor_best best = {0, INT_MIN};

    if (threadIdx.x < TM_TALL_BARRIERS)
        tm_barrier_init(b.barrier(threadIdx.x), tm_tall_arrivals(threadIdx.x));
    __syncthreads();
    tm_early_begin();
    if (warp < TM_TALL_PRODUCT_WARPS)
        best = multiply_and_score<STEPS, ODD, MAP, PARTS>(b, j, warp / 4);
    else
        stage_and_sum(b, j.fragments, warp - TM_TALL_PRODUCT_WARPS);
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

static tm_tensor_block block_of(const tm_tall_division &parts)
{
    return {tm_tall_operand_bytes(parts.units, parts.rows) + TM_TALL_SUMS_BYTES, TM_TALL_FIXED_BYTES, 1};
}

static bool divide(const tm_tensor_device *device, const tm_tensor_job &j, tm_tall_division *parts)
{
    return tm_tall_divide_gray(parts, (int64_t)device->shared_memory, j.width, j.height);
}

static int64_t partial_bytes(const tm_tensor_job &j, const tm_tall_division &parts)
{
    return tm_tall_partial_bytes_of(&parts, j.map_width, j.map_height);
}

/* Whether this takes less time than the other kernels, as measured on an H100. That is so unless hardly any tile is full, or the
 * multiprocessors have too few of them; without a map, templates of few products belong to wgmma_wide.cu, the sooner the more tiles
 * there are. */
static bool pays(const tm_tensor_device *device, const tm_tensor_job &j, bool map, const tm_tensor_plan &p)
{
    const int products = (j.height + 7) * tm_wide_units(j.width);
    const int rounds = (p.tiles + device->multiprocessors - 1) / device->multiprocessors;
    const double full = (double)j.map_width * j.map_height / ((double)rounds * device->multiprocessors * TILE_WIDTH * TILE_HEIGHT);
    if (map)
        return products >= 75 && full >= (products >= 300 ? 0.2 : 0.5);
    return products >= 300   ? full >= 0.5
           : products >= 200 ? full >= 0.75
                             : full >= 0.85 && rounds > 1 && products >= (rounds > 4 ? 110 : 95);
}

bool tm_tall_takes(const tm_tensor_device *device, const tm_tensor_job &j, bool map)
{
    tm_tensor_plan p = {};
    tm_tall_division parts;
    if (j.outcome != TM_TENSOR_LCC || j.count != 1 || !divide(device, j, &parts) || !tm_tall_cover(&p, j) ||
        partial_bytes(j, parts) > TM_TALL_MOST_PARTIAL_BYTES)
        return false;
    /* tests of wide templates come to wgmma_wide.cu too */
    return device->always_wide ? (j.width + j.height) % 2 == 0 || !tm_wide_takes(device, j, map) : pays(device, j, map, p);
}

/* The products of all parts but the last. */
static cudaError_t launch_others(const tm_tensor_device *device, const tm_tensor_job &j, const tm_tall_division &parts, cudaStream_t stream)
{
    tm_tensor_steps steps = {};
    (tm_device_windows &)steps = j;
    steps.stride = j.partial_stride;
    steps.count = 1;
    steps.step[0].wide = j.wide_fragments;
    steps.step[0].map = j.partial;
    return tm_tall_parts_launch(device, steps, parts, parts.count - 1, stream);
}

size_t tm_tall_partial_bytes(const tm_tensor_device *device, const tm_tensor_job &j)
{
    tm_tall_division parts;
    return divide(device, j, &parts) ? (size_t)partial_bytes(j, parts) : 0;
}

cudaError_t tm_tall_launch(const tm_tensor_device *device, tm_tensor_job j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    tm_tall_division parts;
    if (!j.wide_fragments || !tm_tensor_cover(&p, j) || !divide(device, j, &parts) || (parts.count > 1 && !j.partial))
        return cudaErrorNotSupported;
    if (parts.count > 1) {
        j.partial_stride = tm_tall_partial_stride(j.map_width);
        const cudaError_t error = launch_others(device, j, parts, stream);
        if (error != cudaSuccess)
            return error;
    }
    p.part_row = tm_tall_part_row(&parts, parts.count - 1), p.part_unit = tm_tall_part_unit(&parts, parts.count - 1);
    p.part_rows = parts.rows;
    j.fragments = j.wide_fragments;
    return tm_wide_of_units(parts.units, [&](auto form) {
        constexpr int STEPS = decltype(form)::STEPS;
        constexpr bool ODD = decltype(form)::ODD;
        const auto kernel = parts.count > 1 ? (j.map ? tall_kernel<STEPS, ODD, true, true> : tall_kernel<STEPS, ODD, false, true>)
                                              : (j.map ? tall_kernel<STEPS, ODD, true, false> : tall_kernel<STEPS, ODD, false, false>);
        return tm_tensor_start(device, kernel, j, p, block_of(parts), true, stream);
    });
}
