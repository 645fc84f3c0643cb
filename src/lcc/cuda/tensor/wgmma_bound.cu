/* SPDX-License-Identifier: MIT */
/* The best match of one template of 15 to 25 columns and 9 to 24 rows, with a mask or without, on the integer tensor cores, wgmma (sm_90a), where a few windows
 * are scored and a bound says of all others that they are not the best.
 *
 * The template is rounded to bytes with a sign whose sum is 0. So S_FT alone says how well a window matches it, if the window's variance
 * is known to be no less than some limit (bound_limits.cuh), and no window's S_F is needed.
 *
 * S_FT: A's line 8r + c is the template shifted down by r rows and to the right by c columns, for 8 x 8 windows. Its rows stand in
 * descending order, so A for the next frame row begins one block earlier. B's columns are a frame row from each unit on, which begin 8
 * columns apart (bound_block.cuh). A step is 1008 x 8 windows, and a block goes down a column of tiles.
 *
 * Under a mask the rounded template is 0 where pixels do not count, and the limit is that of the pixels that do (bound_core.cuh).
 *
 * Four warps multiply and compare, five make limits, and one stages rows: each has its own pace. Windows that may be the best are listed
 * and scored at the end. Before its first step a block scores a few, so that there is a score to reach. */
#define TM_TENSOR_WARPS 10
#define TM_TENSOR_TILE_WIDTH 1008
#define TM_TENSOR_TILE_HEIGHT 8
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/bound_limits.cuh"
#include "lcc/cuda/tensor/bound_windows.cuh"

enum { FIXED = 1024, MOST_BLOCKS = 2 }; // bytes that a block declares; blocks on a multiprocessor
enum { COLUMNS = 128, SLOTS = COLUMNS / 8 }; // of B
enum { MOST_SAMPLED = TM_BOUND_ODD - 32 }; // a column whose windows are in even units
enum { MASKED = 0 };                       // BINS of a kernel whose template has a mask

/* The warps that multiply. */
template <bool HAS_MASK>
struct multiplier {
    typedef tm_bound_scorer<HAS_MASK> scorer_type;
    tm_bound_block &b;
    tm_bound_list &list;
    const scorer_type &scorer;
    const int lane, warp, h;
    int acc[SLOTS][4]; // lines of A lane / 4 and 8 further, of the warp's 16; columns of B 8i + 2 (lane % 4) and the next one

    __device__ __forceinline__ multiplier(tm_bound_block &b, tm_bound_list &list, const scorer_type &scorer)
        : b(b), list(list), scorer(scorer), lane(threadIdx.x % 32), warp(__shfl_sync(~0u, threadIdx.x / 32, 0)), h(b.j.height)
    {
    }

    template <int ROWS>
    __device__ __forceinline__ void batch(unsigned &of_template, unsigned &of_frame, int more)
    {
        tm_wgmma_begin();
#pragma unroll
        for (int i = 0; i < ROWS; i++, more = 1, of_template -= TM_SMALL_BLOCK / 16, of_frame += TM_BOUND_ROW / 16)
            tm_wgmma_signed<128, TM_SMALL_BLOCK>(acc, of_template, of_frame, more);
        tm_wgmma_end();
    }

    /* Makes the products of a step. The first and the last frame rows meet blocks of zeros, too. */
    __device__ __forceinline__ void multiply(bool is_first)
    {
        /* low words of descriptors: the address, and the bytes to the second half of k, both in units of 16 */
        unsigned of_template = __shfl_sync(~0u, b.blocks + (h + 6) * TM_SMALL_BLOCK >> 4 | 128 / 16 << 16, 0),
                 top = __shfl_sync(~0u, b.rows >> 4 | 16 / 16 << 16, 0);
        unsigned of_frame = top + __shfl_sync(~0u, b.ring.first, 0) * (TM_BOUND_ROW / 16);
        const unsigned turn = TM_BOUND_GROUPS * 8 * (TM_BOUND_ROW / 16);
        const int rows = h + 7;
#pragma unroll 1
        for (int i = 0; i < rows / 8; i++) {
            if (is_first)
                tm_barrier_wait(b.barrier(TM_BOUND_STARTS + i), 0);
            batch<8>(of_template, of_frame, i);
            of_frame = of_frame < top + turn ? of_frame : of_frame - turn;
        }
        if (is_first && rows % 8)
            tm_barrier_wait(b.barrier(TM_BOUND_STARTS + rows / 8), 0);
        if (rows & 4)
            batch<4>(of_template, of_frame, 1);
        if (rows & 2)
            batch<2>(of_template, of_frame, 1);
        if (rows & 1)
            batch<1>(of_template, of_frame, 1);
        tm_wgmma_wait();
        tm_wgmma_keep(acc);
    }

    /* Lists those of the step's pairs that may reach the score. limits: the address of this lane's. */
    __device__ __forceinline__ void compare(unsigned limits) const
    {
        const auto address = [&](int i) { return limits + i % (SLOTS / 2) * 32 + i / (SLOTS / 2) * 16; };
        const auto excess_of = [&](int i, unsigned addends, unsigned excess) {
            excess = __viaddmax_s16x2(__byte_perm(acc[i][0], acc[i][1], 0x6521), addends, excess);
            return __viaddmax_s16x2(__byte_perm(acc[i][2], acc[i][3], 0x6521), addends, excess);
        };
        tm_bound_compare(list, b.t - b.first, b.j.running_bests, address, excess_of);
    }

    /* The pair that a word's lowest bit is of. */
    static __device__ __forceinline__ unsigned pair_of(unsigned place, unsigned mask)
    {
        const unsigned thread = place % TM_BOUND_LANES, lane = thread % 32, bit = __ffs(mask) - 1;
        const unsigned unit = 2 * (8 * (bit % 8) + lane % 4 * 2 + bit / 16) + bit / 8 % 2;
        return tm_bound_pair_number(place / TM_BOUND_LANES, thread / 32, 8 * unit + lane / 4);
    }

    /* Scores a pair of the first step, that of the warp's greatest sum, so that there is a score to reach. best: the block's. */
    __device__ __forceinline__ void sample(int *best) const
    {
        int key = INT_MIN; // a sum's higher bits, and where it is
#pragma unroll
        for (int i = 0; i < 4 * SLOTS; i++)
            key = max(key, acc[i / 4][i % 4] & -64 | i);
        const int most = __reduce_max_sync(~0u, key), i = most & 63;
        const int from = __ffs(__ballot_sync(~0u, key == most)) - 1; // the lane
        const int unit = 2 * (8 * (i / 4 % 8) + from % 4 * 2 + i % 2) + i / 32, x = 8 * unit + from / 4, y = 2 * warp;
        const int2 orders = scorer.orders(b.row_memory + y * TM_BOUND_ROW + (min(x, (int)MOST_SAMPLED) & ~3), TM_BOUND_ROW, x & 3);
        if (lane == 0 && x <= MOST_SAMPLED && b.x() + x < b.j.map_width && b.y() + y < b.j.map_height)
            atomicMax(best, b.y() + y + 1 < b.j.map_height ? max(orders.x, orders.y) : orders.x);
    }

    __device__ __forceinline__ void run(int *sampled)
    {
        /* the windows' column in a unit says which cells they are of */
        const unsigned limits = b.limits + warp * TM_BOUND_LIMITS_ROW + (lane / 4 + 1) / 2 * TM_BOUND_PLANE + lane % 4 * 4;
        const bool is_sampled = b.is_sampled();
        for (int step = 0; b.t < b.end; step++, b.next()) {
            if (step && !b.has_rows(step))
                break;
            multiply(!step);
            b.arrive(TM_BOUND_MADE, step);
            if (!step) {
                if (is_sampled)
                    sample(sampled);
                tm_barrier_arrive(b.barrier(TM_BOUND_SAMPLED));
            }
            b.wait(TM_BOUND_FULL, step);
            compare(limits + step % 2 * TM_BOUND_LIMITS);
        }
    }
};

/* The warps that make limits. */
template <int BINS>
__device__ __forceinline__ void make_limits(tm_bound_block &b, int warp, int *sampled)
{
    const tm_tensor_job &j = b.j;
    const tm_bound_template t = *b.rounded();
    const tm_bound_summer<BINS> summer(b, warp);
    tm_bound_columns columns;
    for (int i = 0; i < 4; i++)
        tm_barrier_wait(b.barrier(TM_BOUND_STARTS + i), 0);
    summer.begin(columns);
    int order = INT_MIN;
    for (int step = 0; b.t < b.end; step++, b.next()) {
        if (step) {
            if (!b.has_rows(step))
                break;
            if (b.is_fresh)
                summer.begin(columns);
        }
        int others = __ldcg(j.running_bests);
        tm_bound_roots roots;
        summer.make_roots(columns, roots);
        if (step) {
            b.wait(TM_BOUND_MADE, step - 1);
        } else {
            order = tm_bound_first_order(b, warp, TM_BOUND_SAMPLED, TM_BOUND_KNOWN, tm_score_order(TM_BOUND_GOOD_SUM / t.length), sampled);
        }
        order = max(order, others);
        summer.store(roots, step, tm_bound_score(t, min(order, tm_score_order(1.0f)))); // it is more where the launch has been given up
        b.arrive(TM_BOUND_FULL, step);
    }
}

/* Shared memory has operands, rows, limits and the list. */
__host__ __device__ static constexpr size_t shared_bytes(int height, bool has_mask)
{
    return (size_t)tm_bound_operand_bytes(height, has_mask) + TM_BOUND_GROUPS * 8 * TM_BOUND_ROW + 2 * TM_BOUND_LIMITS +
           sizeof(tm_bound_list);
}

template <int BINS>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, MOST_BLOCKS)
    bound_kernel(const __grid_constant__ tm_tensor_job j, const __grid_constant__ tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_WARPS];
    __shared__ uint64_t barriers[TM_BOUND_BARRIERS];
    __shared__ int sampled, given_up[2];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), other = warp - TM_BOUND_PRODUCT_WARPS;
    const bool HAS_MASK = BINS == MASKED;
    tm_bound_block b(j, p, HAS_MASK, smem, barriers, given_up);
    tm_bound_list &list = *(tm_bound_list *)(smem + shared_bytes(j.height, HAS_MASK) - sizeof(tm_bound_list));
    const tm_bound_scorer<HAS_MASK> scorer(b);
    const auto pair_of = [](unsigned place, unsigned mask) { return multiplier<HAS_MASK>::pair_of(place, mask); };
    tm_tensor_best best = {0, INT_MIN};

    tm_early_begin();
    b.start();
    if (!threadIdx.x)
        sampled = INT_MIN, list.clear();
    __syncthreads();
    if (b.t < b.end && other < 0) {
        for (int i = threadIdx.x; i < b.operands / 16; i += 32 * TM_BOUND_PRODUCT_WARPS)
            tm_copy16(b.blocks + 16 * i, (const uint4 *)j.bound_fragments + i);
        tm_copy_wait();
        tm_wgmma_publish();
        tm_barrier_arrive(b.barrier(TM_BOUND_READY));
        tm_barrier_wait(b.barrier(TM_BOUND_READY), 0);
        multiplier<HAS_MASK>(b, list, scorer).run(&sampled);
    } else if (b.t < b.end) {
        tm_bound_begin_rows(b, other);
        /* The last two units keep these. They are stored before the rows are there, for which all wait who store others. */
        if (other < TM_BOUND_SUM_WARPS)
            for (int i = threadIdx.x - 32 * TM_BOUND_PRODUCT_WARPS; i < 2 * TM_BOUND_LIMITS / 16; i += 32 * TM_BOUND_SUM_WARPS)
                tm_store16(b.limits + 16 * i, make_uint4(0xc000c000, 0xc000c000, 0xc000c000, 0xc000c000));
        tm_bound_finish_rows(b, other);
        if (other < TM_BOUND_SUM_WARPS) {
            make_limits<BINS>(b, other, &sampled);
        } else {
            tm_bound_stage(b, [&](int tile) { tm_bound_score_top(b, scorer, pair_of, list, tile, best); });
        }
    }
    __syncthreads();
    list.list_pairs(pair_of);
    __syncthreads();
    const tm_tensor_best of_warp = tm_bound_best(b, scorer, list, warp, given_up[0] || given_up[1], b.rounded()->angle, best);
    if (threadIdx.x % 32 == 0)
        bests[warp] = of_warp;
    tm_tensor_write_bests<TM_TENSOR_LCC, true>(j, bests);
}

/* mask: not 0 where pixels count; or NULL: all do. */
static __global__ void bound_fragments(uint8_t *frag, const uint8_t *tmpl, const uint8_t *mask, int w, int h, tm_bound_core core)
{
    __shared__ int8_t rounded[TM_BOUND_MOST_WIDTH * TM_BOUND_MOST_HEIGHT];
    const int bytes = tm_small_blocks_bytes(h), taps = tm_bound_taps_bytes(h);
    tm_bound_masked_template *const t = (tm_bound_masked_template *)(frag + tm_bound_operand_bytes(h, mask != NULL));
    const auto counts = [&](int i) { return !mask || mask[i]; };
    if (threadIdx.x < 32)
        tm_bound_round<1>([&](int, int i) { return tmpl[i]; }, counts, w * h, core.counted, rounded, t);
    if (mask && threadIdx.x == 0)
        t->core = core;
    for (int i = threadIdx.x; i < taps; i += blockDim.x) {
        const int r = i / TM_BOUND_TAPS - 1, x = i % TM_BOUND_TAPS;
        const bool is_counted = r >= 0 && r < h && x < w && counts(r * w + x);
        frag[bytes + i] = is_counted ? tmpl[r * w + x] : 0;
        if (mask)
            frag[bytes + taps + i] = is_counted ? 255 : 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)
        frag[i] = (uint8_t)tm_small_blocks_byte(rounded, w, h, i);
}

size_t tm_bound_fragment_bytes(int width, int height)
{
    return tm_bound_has_size(width, height) ? (size_t)tm_bound_operand_bytes(height, false) + sizeof(tm_bound_template) : 0;
}

size_t tm_bound_masked_bytes(int width, int height)
{
    return tm_bound_has_size(width, height) ? (size_t)tm_bound_operand_bytes(height, true) + sizeof(tm_bound_masked_template) : 0;
}

static cudaError_t prepare(void *fragments, const uint8_t *taps, const uint8_t *mask, int width, int height, const tm_bound_core &core,
                           cudaStream_t stream)
{
    return TM_LAUNCH(bound_fragments<<<1, 256, 0, stream>>>((uint8_t *)fragments, taps, mask, width, height, core));
}

cudaError_t tm_bound_prepare(void *fragments, const uint8_t *taps, int width, int height, cudaStream_t stream)
{
    return prepare(fragments, taps, NULL, width, height, tm_bound_core_of((width - 1) / 2, width, height), stream);
}

cudaError_t tm_bound_masked_prepare(void *fragments, const uint8_t *taps, const uint8_t *mask, const uint8_t *host_mask, int width, int height,
                                    cudaStream_t stream)
{
    const tm_bound_core core = tm_bound_masked_core(host_mask, width, height);
    return core.bins ? prepare(fragments, taps, mask, width, height, core, stream) : cudaErrorNotSupported;
}

template <int BINS>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_job &j, const tm_tensor_plan &p, cudaStream_t stream)
{
    const tm_tensor_block block = {shared_bytes(j.height, BINS == MASKED), FIXED, MOST_BLOCKS};
    return tm_tensor_start(device, bound_kernel<BINS>, j, p, block, true, stream);
}

/* Whether each block has as many steps as that takes: in pictures too many windows are left in the first ones. */
static bool has_steps(const tm_tensor_device *device, const tm_tensor_plan &p)
{
    enum { LEAST_STEPS = 4 };
    return p.tiles >= LEAST_STEPS * MOST_BLOCKS * device->multiprocessors;
}

/* Whether that is faster than to score all windows, by measurements on an H200: a tile takes as long as TILE_WINDOWS there, a launch as long
 * as LAUNCH_WINDOWS more for each multiprocessor. Under a mask it always is. */
static bool pays(const tm_tensor_device *device, const tm_tensor_job &j, const tm_tensor_plan &p)
{
    enum { TILE_WINDOWS = 4700, LAUNCH_WINDOWS = 2900 };
    return has_steps(device, p) &&
           j.map_width * j.map_height >= (int64_t)p.tiles * TILE_WINDOWS + (int64_t)device->multiprocessors * LAUNCH_WINDOWS;
}

/* Whether the kernel makes such a job, in those tiles. */
static bool cover(tm_tensor_plan *p, const tm_tensor_job &j)
{
    return tm_bound_has_size(j.width, j.height) && tm_tensor_cover(p, j) &&
           p->tiles + (int64_t)p->tiles / p->tiles_y * TM_BOUND_START <= TM_BOUND_MOST_TILES;
}

bool tm_bound_masked_takes(const tm_tensor_device *device, const tm_tensor_job &j)
{
    tm_tensor_plan p = {};
    return cover(&p, j) && (device->always_wide || has_steps(device, p));
}

cudaError_t tm_bound_masked_launch(const tm_tensor_device *device, const tm_tensor_job &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    return cover(&p, j) ? launch<MASKED>(device, j, p, stream) : cudaErrorNotSupported;
}

cudaError_t tm_bound_launch(const tm_tensor_device *device, const tm_tensor_job &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if (!j.may_leave_out || j.outcome != TM_TENSOR_LCC || j.map || j.count > 1 || !cover(&p, j) || !(device->always_wide || pays(device, j, p)))
        return cudaErrorNotSupported;
    switch ((j.width - 1) / 2) {
    case 7:
        return launch<7>(device, j, p, stream);
    case 8:
        return launch<8>(device, j, p, stream);
    case 9:
        return launch<9>(device, j, p, stream);
    case 10:
        return launch<10>(device, j, p, stream);
    case 11:
        return launch<11>(device, j, p, stream);
    default:
        return launch<12>(device, j, p, stream);
    }
}
