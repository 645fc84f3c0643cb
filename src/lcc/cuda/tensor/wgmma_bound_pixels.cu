/* SPDX-License-Identifier: MIT */
/* The best match of one template of 15 to 25 columns and 9 to 24 rows, of RGB of 8 bits or of gray of 16, on the integer tensor cores, wgmma
 * (sm_90a), where a few windows are scored and a bound says of all others that they are not the best: as in wgmma_bound.cu, from the pixels
 * as they came.
 *
 * Of 16 bits only 8 are multiplied, those from j.low_bits on. Where a pixel has higher ones, the best is not known.
 *
 * S_FT: A's line m is a frame row from its unit m on, whose units are 8 columns apart (bound_pixels.cuh). B's column 8r + c is the template
 * shifted down by r rows and to the right by c columns, for 8 x 16 windows of each unit. Its rows stand in descending order, so B for the
 * next frame row begins one block earlier. A step's first and last rows meet windows of 8 rows alone. A step is 512 x 16 windows, and a block goes down a column of tiles.
 *
 * Two warpgroups multiply and compare a step each by turns, three warps make limits, and four stage rows: each has its own pace. */
#define TM_TENSOR_WARPS 15
#define TM_TENSOR_TILE_WIDTH 512
#define TM_TENSOR_TILE_HEIGHT 16
#include "lcc/cuda/tensor/bound_pixels_limits.cuh"
#include "lcc/cuda/tensor/bound_pixels_windows.cuh"

enum { FIXED = 1024 }; // bytes that a block declares
/* Sums of bytes with a pitch must fit 63 bits, and a row's first byte 32. */
enum { MOST_ROWS = 300000, MOST_PITCH = 1 << 27 };

/* A warpgroup that multiplies. */
template <int BYTES>
struct multiplier {
    typedef tm_bound_pixels<BYTES> P;
    tm_bound_block<BYTES> &b;
    tm_bound_list &list;
    const tm_bound_scorer<BYTES> &scorer;
    const int lane, warp, group, h; // warp: of the warpgroup, whose number is group
    /* The sums of the upper and of the lower 8 rows of windows. Lines of A lane / 4 and 8 further, of the warp's 16; columns of B 8i + 2 (lane % 4) and
     * the next one. */
    int acc[2][8][4];

    __device__ __forceinline__ multiplier(tm_bound_block<BYTES> &b, tm_bound_list &list, const tm_bound_scorer<BYTES> &scorer)
        : b(b), list(list), scorer(scorer), lane(threadIdx.x % 32), warp(__shfl_sync(~0u, threadIdx.x / 32 % 4, 0)),
          group(__shfl_sync(~0u, threadIdx.x / 128, 0)), h(b.j.height)
    {
    }

    /* The column of the window that an accumulator's half and place in it are of. */
    static __device__ __forceinline__ int column_of(int warp, int lane, int half, int place)
    {
        return 8 * (16 * warp + lane / 4 + 8 * half) + 2 * (lane % 4) + place;
    }

    /* Loads a part of A, of its turn's plane. row: where this thread's lies in the first plane's row; then in the next one's, unless it is the last. */
    __device__ __forceinline__ void load(unsigned (&a)[P::PARTS][4], int part, unsigned &row, bool is_last)
    {
        const int plane = part % P::PLANES;
        const uint2 low = tm_load8(row + plane * P::COLUMNS), high = tm_load8(row + plane * P::COLUMNS + 64);
        a[part][0] = low.x, a[part][1] = high.x, a[part][2] = low.y, a[part][3] = high.y;
        if (plane == P::PLANES - 1 && !is_last) {
            row += P::ROW;
            row = row < b.ring.rows + P::GROUPS * 8 * P::ROW ? row : row - P::GROUPS * 8 * P::ROW;
        }
    }

    /* The products of some frame rows. A part is loaded when the products that had its registers have been made, while those of the part before
     * it are. UPPER, LOWER: the windows that they meet. */
    template <bool UPPER, bool LOWER>
    __device__ __forceinline__ void multiply(unsigned (&a)[P::PARTS][4], unsigned &row, unsigned &block, int rows)
    {
        const unsigned apart = P::blocks_bytes(h) / 16;
#pragma unroll 1
        for (int i = P::ROWS_AT_ONCE; i <= rows; i += P::ROWS_AT_ONCE) {
#pragma unroll
            for (int part = 0; part < P::PARTS; part++) {
                const int plane = part % P::PLANES;
                tm_wgmma_wait<1>();
                load(a, (part + 1) % P::PARTS, row, !UPPER && i == rows && part == P::PARTS - 2); // behind that row may be none
                tm_wgmma_begin();
                if (UPPER)
                    tm_wgmma_add_signed(acc[0], a[part], block + plane * apart);
                if (LOWER)
                    tm_wgmma_add_signed(acc[1], a[part], block + plane * apart + 8 * (TM_SMALL_BLOCK / 16));
                tm_wgmma_end();
                if (plane == P::PLANES - 1)
                    block -= TM_SMALL_BLOCK / 16;
            }
        }
    }

    /* Makes the products of a step. */
    __device__ __forceinline__ void multiply()
    {
        unsigned a[P::PARTS][4];
        /* low word of a descriptor: the address, and the bytes to the second half of k, both in units of 16 */
        unsigned block = __shfl_sync(~0u, b.blocks + (P::ZEROS_BEFORE + h + 6) * TM_SMALL_BLOCK >> 4 | 128 / 16 << 16, 0);
        unsigned row = b.ring.row(0) + 8 * (16 * warp + lane / 4) + 8 * (lane % 4);
        tm_wgmma_clear(acc[0]);
        tm_wgmma_clear(acc[1]);
        load(a, 0, row, false);
        multiply<true, false>(a, row, block, P::ROWS_OF_8);
        multiply<true, true>(a, row, block, P::rows_of_16(h));
        multiply<false, true>(a, row, block, P::ROWS_OF_8);
        tm_wgmma_wait();
        tm_wgmma_keep(acc[0]);
        tm_wgmma_keep(acc[1]);
    }

    /* Lists those of the step's pairs that may reach the score. limits: the address of this lane's. */
    __device__ __forceinline__ void compare(unsigned limits) const
    {
        const auto address = [&](int i) { return limits + i % 8 * TM_BOUND_LIMITS_ROW + i / 8 * 128; };
        const auto excess_of = [&](int i, unsigned addends, unsigned excess) {
#pragma unroll
            for (int row = i % 8 * 2; row < i % 8 * 2 + 2; row++) {
                const int(&of)[4] = acc[row / 8][row % 8], half = i / 8 * 2;
                excess = __viaddmax_s16x2(__byte_perm(of[half], of[half + 1], 0x6521), addends, excess);
            }
            return excess;
        };
        tm_bound_compare(list, b.t - b.first, b.j.running_bests, address, excess_of);
    }

    /* The pair that a word's lowest bit is of. */
    static __device__ __forceinline__ unsigned pair_of(unsigned place, unsigned mask)
    {
        const unsigned thread = place % TM_BOUND_LANES, bit = __ffs(mask) - 1;
        return tm_bound_pair_number(place / TM_BOUND_LANES, bit % 8, column_of(thread / 32, thread % 32, bit / 8 % 2, bit / 16));
    }

    /* Scores a pair of the first step, that of the warp's greatest sum in the map, so that there is a score to reach. best: the block's. */
    __device__ __forceinline__ void sample(int *best) const
    {
        const int rows = (int)min((int64_t)TILE_HEIGHT, b.j.map_height - b.y()), columns = (int)min((int64_t)TILE_WIDTH, b.j.map_width - b.x());
        bool is_in[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            is_in[c] = column_of(warp, lane, c / 2, c % 2) < columns;
        int key = INT_MIN; // a sum's higher bits, and where it is
#pragma unroll
        for (int i = 0; i < 64; i++)
            key = i / 4 < rows && is_in[i % 4] ? max(key, acc[i / 32][i / 4 % 8][i % 4] & -64 | i) : key;
        const int most = __reduce_max_sync(~0u, key), i = most & 63;
        if (most == INT_MIN)
            return;
        const int from = __ffs(__ballot_sync(~0u, key == most)) - 1; // the lane
        const int64_t y = b.y() + i / 8 * 2;
        const int2 orders = scorer.orders(b.x() + column_of(warp, from, i / 2 % 2, i % 2), y);
        if (lane == 0)
            atomicMax(best, y + 1 < b.j.map_height ? max(orders.x, orders.y) : orders.x);
    }

    __device__ __forceinline__ void run(int *sampled)
    {
        const unsigned limits = b.limits + 4 * (64 * warp + lane);
        for (int step = 0; b.t < b.end; step++, b.next()) {
            if (step && !b.has_rows(step))
                break;
            if (step % TM_BOUND_WARPGROUPS != group)
                continue;
            multiply();
            b.arrive(TM_BOUND_MADE, step);
            if (!step) {
                sample(sampled);
                tm_barrier_arrive(b.barrier(TM_BOUND_SAMPLED));
            }
            b.wait(TM_BOUND_FULL, step);
            compare(limits + step % 2 * TM_BOUND_LIMITS);
            b.arrive(TM_BOUND_READ, step);
        }
    }
};

/* The warps that make limits. */
template <int BYTES, int BINS>
__device__ __forceinline__ void make_limits(tm_bound_block<BYTES> &b, int warp, int *sampled)
{
    const tm_tensor_pixels_job &j = b.j;
    const tm_bound_template t = *b.rounded();
    tm_bound_summer<BYTES, BINS> summer(b, warp);
    int order = INT_MIN;
    for (int step = 0; b.t < b.end; step++, b.next()) {
        if (step && !b.has_rows(step))
            break;
        if (b.is_fresh)
            summer.begin();
        const int others = __ldcg(j.running_bests);
        tm_bound_roots roots;
        summer.make_roots(roots);
        if (step >= 2) {
            b.wait(TM_BOUND_READ, step - 2);
        } else if (!step) {
            order = tm_bound_first_order(b, warp, TM_BOUND_SAMPLED, TM_BOUND_KNOWN, tm_score_order(TM_BOUND_GOOD_SUM / t.length), sampled);
        }
        order = max(order, others);
        /* it is more than 1 where the launch has been given up */
        summer.store(roots, step, tm_bound_pixels_score<BYTES, BINS>(t, min(order, tm_score_order(1.0f)), j.width, j.height, j.low_bits));
        b.arrive(TM_BOUND_FULL, step);
    }
}

template <int BYTES, int BINS>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    bound_pixels_kernel(const __grid_constant__ tm_tensor_pixels_job j, const __grid_constant__ tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_WARPS];
    __shared__ uint64_t barriers[TM_BOUND_BARRIERS];
    __shared__ int sampled, given_up[TM_BOUND_TURNS];
    __shared__ unsigned bits_of[TM_TENSOR_WARPS]; // that the pixels have which a warp has staged
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), other = warp - TM_BOUND_PRODUCT_WARPS;
    tm_bound_block<BYTES> b(j, p, smem, barriers, given_up);
    tm_bound_list &list = *(tm_bound_list *)(smem + tm_bound_block<BYTES>::shared_bytes(j.height));
    const tm_bound_scorer<BYTES> scorer = {j, b.taps};
    const auto pair_of = [](unsigned place, unsigned mask) { return multiplier<BYTES>::pair_of(place, mask); };
    const auto keep_bits = [&](unsigned bits) {
        bits = BYTES == 2 ? __reduce_or_sync(~0u, bits) : 0;
        if (BYTES == 2 && threadIdx.x % 32 == 0)
            bits_of[warp] = bits;
    };
    tm_tensor_best best = {0, INT_MIN};
    unsigned bits = 0;

    tm_early_begin();
    b.start();
    if (!threadIdx.x)
        sampled = INT_MIN, list.clear();
    if (b.t < b.end) {
        for (int i = threadIdx.x; i < tm_bound_operand_bytes<BYTES>(j.height) / 16; i += TM_TENSOR_THREADS)
            tm_copy16(b.blocks + 16 * i, (const uint4 *)j.bound_fragments + i);
        bits = b.stage_first();
        tm_copy_wait();
        tm_wgmma_publish();
    }
    keep_bits(bits);
    __syncthreads();
    if (other < 0) {
        multiplier<BYTES>(b, list, scorer).run(&sampled);
    } else if (other < TM_BOUND_SUM_WARPS) {
        make_limits<BYTES, BINS>(b, other, &sampled);
    } else if (b.t < b.end) {
        tm_bound_stager<BYTES> stager(b, other - TM_BOUND_SUM_WARPS, bits);
        stager.run([&](int tile) { tm_bound_score_top(b, scorer, pair_of, list, tile, best); });
        keep_bits(stager.bits);
    }
    __syncthreads();
    list.list_pairs(pair_of);
    __syncthreads();
    bits = 0;
    for (int i = 0; BYTES == 2 && i < TM_TENSOR_WARPS; i++)
        bits |= bits_of[i];
    bool is_given_up = BYTES == 2 && tm_bound_exceeds(bits, j.low_bits);
    for (int i = 0; i < TM_BOUND_TURNS; i++)
        is_given_up |= given_up[i] != 0;
    tm_tensor_best of_warp = tm_bound_best(b, scorer, list, warp, is_given_up, b.rounded()->angle, best);
    if (BYTES == 2 && tm_tensor_is_unknown(of_warp))
        of_warp.pos -= j.low_bits + 32 - __clz((int)tm_bound_bits(bits, j.low_bits));
    if (threadIdx.x % 32 == 0)
        bests[warp] = of_warp;
    tm_tensor_write_bests<TM_TENSOR_LCC, true>(j, bests);
}

/* Makes the operands: the blocks of each plane, whose bytes of k stand as multiplier loads A; the template; and how it is rounded. */
template <int BYTES>
static __global__ void bound_pixels_fragments(uint8_t *frag, const uint8_t *tmpl, int w, int h)
{
    typedef tm_bound_pixels<BYTES> P;
    __shared__ int8_t rounded[P::PLANES * TM_BOUND_MOST_WIDTH * TM_BOUND_MOST_HEIGHT];
    const int plane_bytes = P::blocks_bytes(h), bytes = P::PLANES * plane_bytes, taps = (h + 2) * TM_BOUND_TAPS;
    if (threadIdx.x < 32)
        tm_bound_round<P::PLANES>([&](int c, int i) { return BYTES == 3 ? tmpl[3 * i + c] : tmpl[2 * i] + 256 * tmpl[2 * i + 1]; }, [](int) { return true; }, w * h, w * h, rounded,
                                  (tm_bound_template *)(frag + tm_bound_operand_bytes<BYTES>(h)));
    for (int i = threadIdx.x; i < taps; i += blockDim.x) {
        const int r = i / TM_BOUND_TAPS - 1, x = i % TM_BOUND_TAPS;
        frag[bytes + i] = r >= 0 && r < h && x < BYTES * w ? tmpl[r * BYTES * w + x] : 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) {
        /* a thread's 4 bytes of either half of k are neighbours in the frame */
        const int plane = i / plane_bytes, block = i % plane_bytes / TM_SMALL_BLOCK - P::ZEROS_BEFORE, k = i / 128 % 2 * 16 + i % 16, column = 8 * (k % 16 / 4) + 4 * (k / 16) + k % 4;
        const int at = block * TM_SMALL_BLOCK + column / 16 * 128 + i / 16 % 8 * 16 + column % 16;
        const bool is_zero = block < 0 || block >= h + 14;
        frag[i] = is_zero ? 0 : (uint8_t)tm_small_blocks_byte(rounded + plane * w * h, w, h, at);
    }
}

size_t tm_bound_pixels_bytes(int bytes, int width, int height)
{
    const int operands = bytes == 3 ? tm_bound_operand_bytes<3>(height) : tm_bound_operand_bytes<2>(height);
    return tm_bound_has_size(width, height) ? (size_t)operands + sizeof(tm_bound_template) : 0;
}

cudaError_t tm_bound_pixels_prepare(void *fragments, const uint8_t *taps, int bytes, int width, int height, cudaStream_t stream)
{
    uint8_t *const to = (uint8_t *)fragments;
    return bytes == 3 ? TM_LAUNCH(bound_pixels_fragments<3><<<1, 256, 0, stream>>>(to, taps, width, height))
                      : TM_LAUNCH(bound_pixels_fragments<2><<<1, 256, 0, stream>>>(to, taps, width, height));
}

/* Whether that is faster than to score all windows, by measurements on an H200. LEAST_STEPS of a block: in pictures too many windows are left
 * in the first ones. */
static bool pays(const tm_tensor_device *device, const tm_tensor_plan &p)
{
    enum { LEAST_STEPS = 4 };
    return p.tiles >= LEAST_STEPS * device->multiprocessors;
}

bool tm_bound_pixels_takes(const tm_tensor_device *device, const tm_tensor_pixels_job &j)
{
    tm_tensor_plan p = {};
    return tm_bound_has_size(j.width, j.height) && j.map_height <= MOST_ROWS && j.pitch <= MOST_PITCH && tm_tensor_cover(&p, j) &&
           p.tiles + (int64_t)p.tiles / p.tiles_y * TM_BOUND_START <= TM_BOUND_MOST_TILES && (device->always_wide || pays(device, p));
}

template <int BYTES, int BINS>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_pixels_job &j, cudaStream_t stream)
{
    const tm_tensor_block block = {(size_t)tm_bound_block<BYTES>::shared_bytes(j.height) + sizeof(tm_bound_list), FIXED, 1};
    tm_tensor_plan p = {};
    if (!tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    return tm_tensor_start(device, bound_pixels_kernel<BYTES, BINS>, j, p, block, true, stream);
}

template <int BYTES>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_pixels_job &j, cudaStream_t stream)
{
    switch ((j.width - 1) / 2) {
    case 7:
        return launch<BYTES, 7>(device, j, stream);
    case 8:
        return launch<BYTES, 8>(device, j, stream);
    case 9:
        return launch<BYTES, 9>(device, j, stream);
    case 10:
        return launch<BYTES, 10>(device, j, stream);
    case 11:
        return launch<BYTES, 11>(device, j, stream);
    default:
        return launch<BYTES, 12>(device, j, stream);
    }
}

cudaError_t tm_bound_pixels_launch(const tm_tensor_device *device, const tm_tensor_pixels_job &j, cudaStream_t stream)
{
    return j.bytes == 3 ? launch<3>(device, j, stream) : launch<2>(device, j, stream);
}
