/* SPDX-License-Identifier: MIT */
/* LCC of one template of at most 25 x 31, without a map, in frames of RGB of 8 bits or of gray of 16, by wgmma (sm_90a): from
 * the pixels as they came, and scored in registers.
 *
 * Each warpgroup of a block goes down columns of tiles by itself, each tile 512 columns and 8 rows of the map, which is a step.
 * Its ring of frame rows takes 8 more at each step. Warpgroups multiply in turns: the products of one are made while another one's
 * sums and scores are. */
#include "lcc/cuda/tensor/pixel_sums.cuh"

/* (float)num and -(float)var_F of window c of row i. Every term is one multiplication of 32 bits, added in 64. */
struct centred {
    float num, minus_var;

    /* The squares' sum u is that of F (255 - F) / 2 in all channels, so var_F is n (255 S_F - 2u) - S_F^2. */
    __device__ __forceinline__ static centred of(const tm_pixels_sums<3> &sums, const int (&acc)[1][8][4], int i, int c,
                                                 const tm_tensor_pixels_job &j)
    {
        int64_t num = tm_mul_signed(acc[0][i][c], j.n), minus_var = tm_mul_signed(sums.square[0][c] + 256 * sums.square[1][c], 2 * j.n);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            num = tm_mad_wide(sums.f[k][c], j.minus_sum[k], num);
            minus_var = tm_mad_wide(sums.f[k][c], sums.f[k][c] - 255 * j.n, minus_var);
        }
        return {__ll2float_rn(num), __ll2float_rn(minus_var)};
    }

    /* The template may be rounded to one plane. var_F is n S_GG - S_G^2, with S_G = S_F - 32768 n. The two highest sums of
     * squares' bytes fit 32 bits together, because S_GG does so without the others. */
    template <int MAPS>
    __device__ __forceinline__ static centred of(const tm_pixels_sums<2> &sums, const int (&acc)[MAPS][8][4], int i, int c,
                                                 const tm_tensor_pixels_job &j)
    {
        const int s_f = sums.f[0][c] + 256 * sums.f[1][c], s_g = s_f - 32768 * j.n;
        int64_t num = tm_mul_signed(acc[0][i][c], j.n), minus_var = tm_mul_signed(s_g, s_g);
        num = tm_mad_wide(acc[1][i][c], j.n * 256, num);
        if (MAPS == 3)
            num = tm_mad_wide(acc[MAPS - 1][i][c], j.n * 65536, num);
        num = tm_mad_wide(s_f, j.minus_sum[0], num);
        minus_var = tm_mad_wide(sums.square[0][c], -j.n, minus_var);
        minus_var = tm_mad_wide(sums.square[1][c], j.n * -256, minus_var);
        minus_var = tm_mad_wide(sums.square[2][c] + 256 * sums.square[3][c], j.n * -65536, minus_var);
        return {__ll2float_rn(num), __ll2float_rn(minus_var)};
    }
};

/* Lists those of a warp's windows that are of interest; scores are less than -1 of windows beyond the map. */
__device__ __forceinline__ void list_windows(const int (&scores)[8][4], int best, const tm_tensor_pixels_job &j, int64_t x, int64_t y)
{
    const int least = tm_list_least(j.rounded, best), lane = threadIdx.x % 32;
    const auto wanted = [&](int k) {
        const float score = __int_as_float(scores[k / 4][k % 4]);
        return score >= -1.0f && tm_score_order(score) >= least;
    };
    unsigned count = 0;
    unsigned long long at = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        count += wanted(k);
    unsigned before = count; // with those of the lanes before
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        const unsigned others = __shfl_up_sync(~0u, before, lanes);
        before += lane >= lanes ? others : 0;
    }
    if (lane == 31)
        at = tm_list_take(j.rounded, before);
    at = __shfl_sync(~0u, at, 31) + before - count;
#pragma unroll
    for (int k = 0; k < 32; k++)
        if (wanted(k))
            tm_list_put(j.rounded, at++, tm_score_order(__int_as_float(scores[k / 4][k % 4])),
                        j.first + (y + k / 4) * j.map_width + x + 2 * lane + 64 * (k % 4 / 2) + k % 2);
}

/* Scores a step's rows, unless no window can be the best (see lcc/reject.h), and takes the window sums down them. With a rounded
 * template, windows are listed. */
template <int BYTES, bool ROUNDED, int MAPS>
__device__ __forceinline__ void score(int (&acc)[MAPS][8][4], tm_pixels_sums<BYTES> &sums,
                                      const typename tm_pixels_sums<BYTES>::pair_type &rows_of, const tm_tensor_pixels_job &j,
                                      int running_best, tm_tensor_best &best, int64_t x, int64_t y)
{
    const int cols = (int)min((int64_t)128, j.map_width - x), rows = (int)min((int64_t)8, j.map_height - y);
    const float known = tm_score_of_order(max(running_best, best.order));
    const float s = ROUNDED ? tm_rounded_limit(j.rounded.rounding, known) : known, bound = tm_reject_boundf(s, j.variance);
    float excess = s > 0 ? 0.0f : 1.0f, minus_var[8][4];
    int num[8][4];

    if (x >= j.map_width)
        return; // all of the warp lies beyond the edge
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const centred of = centred::of(sums, acc, i, c, j);
            excess = fmaxf(excess, __fmaf_rn(of.num, fabsf(of.num), of.minus_var * bound));
            num[i][c] = __float_as_int(of.num), minus_var[i][c] = of.minus_var;
        }
        sums.down(rows_of, i);
    }
    if (!__any_sync(~0u, excess > 0))
        return;
    tm_tensor_offer_scores(num, minus_var, -j.variance, running_best, j, best, x, y, cols, rows);
    if (ROUNDED)
        list_windows(num, max(__ldcg(j.running_bests), best.order), j, x, y);
}

/* A warpgroup's shared memory, behind B: its ring, then its rows of squares. */
template <int BYTES>
__host__ __device__ __forceinline__ int ring_bytes(int h)
{
    return tm_ring_rows(h) * tm_pixels<BYTES>::ROW_BYTES;
}

template <int BYTES>
__host__ __device__ __forceinline__ int warpgroup_bytes(int h)
{
    return ring_bytes<BYTES>(h) + tm_pixels<BYTES>::SQUARES_BYTES;
}

/* TAPS: planes of the template. */
template <int BYTES, int TAPS>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    pixels_kernel(const __grid_constant__ tm_tensor_pixels_job j, tm_tensor_plan p)
{
    enum { MAPS = tm_pixels_maps(BYTES, TAPS), ROUNDED = TAPS < BYTES };
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_THREADS / 32];
    const int h = j.height, warp = __shfl_sync(~0u, threadIdx.x / 32, 0) % 4; // of the warpgroup
    const unsigned b = (unsigned)__cvta_generic_to_shared(smem),
                   own = b + tm_pixels_b_bytes<TAPS>(h) + tm_planes_warpgroup() * warpgroup_bytes<BYTES>(h);
    tm_pixels_ring<BYTES> ring = {own, tm_ring_rows(h), 0};
    const int ahead = ring.count - 8;
    tm_planes_tiles tiles(p);
    tm_pixels_sums<BYTES> sums(j.width, warp, own + ring_bytes<BYTES>(h));
    tm_tensor_best best = {0, INT_MIN};
    tm_pixels_group<BYTES> group;

    tm_early_begin();
    tm_pixels_stage_b<TAPS>(b, j);
    tm_copy_wait();
    tm_wgmma_publish();
    __syncthreads();
    bool fresh = true;
    const int parts = TM_TENSOR_WARPGROUPS * gridDim.x, rounds = (p.tiles + parts - 1) / parts;
    if (tm_planes_warpgroup() == TM_TENSOR_WARPGROUPS - 1)
        tm_pixels_pass_turn();
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        const bool last = round + 1 == rounds && tm_planes_warpgroup() == TM_TENSOR_WARPGROUPS - 1;
        if (tiles.t >= tiles.end) { // the others have one more
            tm_pixels_take_turn();
            if (!last)
                tm_pixels_pass_turn();
            continue;
        }
        const int64_t left = tiles.x(), y = tiles.y();
        const int running_best = __ldcg(j.running_bests);
        int acc[MAPS][8][4];

        if (fresh) {
            tm_planes_barrier(); // none of the warpgroup reads the last step's rows any more
            ring.first = 0;
#pragma unroll 1
            for (int r = 0; r < ahead; r += 8) {
                group.load(j, left, y + r);
                group.store(ring.group(r));
            }
        }
        tm_planes_barrier();
        tiles.next();
        const bool more = tiles.t < tiles.end && tiles.ty;
        if (more)
            group.load(j, left, y + ahead);
        if (fresh)
            sums.start(ring, h);
        const tm_ring_pair_of<tm_pixels<BYTES>::ROW_BYTES> rows(ring, h);
        sums.prepare(rows);
        if (more)
            group.store(ring.group(ahead));
        tm_pixels_take_turn();
        tm_pixels_products<BYTES>(acc, ring, sums.lane, b, h);
        if (!last)
            tm_pixels_pass_turn();
        tm_wgmma_wait();
#pragma unroll
        for (int i = 0; i < MAPS; i++)
            tm_wgmma_keep(acc[i]);
        score<BYTES, ROUNDED>(acc, sums, rows, j, running_best, best, left + 128 * warp, y);
        fresh = !more;
        ring.step();
    }
    /* as many barriers as the other warpgroup passes: racecheck loses track else */
    const auto passes = [&](int of) {
        const int64_t part = (int64_t)of * gridDim.x + blockIdx.x;
        const int t = (int)(p.tiles * part / parts), end = (int)(p.tiles * (part + 1) / parts);
        return t < end ? end - t + ((end - 1) / p.tiles_y - t / p.tiles_y + 1) * (1 + 2 * ((h + 7) / 8)) : 0;
    };
    for (int i = passes(tm_planes_warpgroup()); i < passes(1 - tm_planes_warpgroup()); i++)
        tm_planes_barrier();
    if (ROUNDED)
        return;
    best.pos += j.first;
    if (threadIdx.x % 32 == 0)
        bests[threadIdx.x / 32] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

/* Sums of bytes of squares grow by up to 25 * 255 a row, and must stay below 2^31, as must the bytes of ten rows. */
enum { MOST_ROWS = 300000, MOST_PITCH = 1 << 27 };

template <int BYTES, int TAPS>
static tm_tensor_block block_of(int height)
{
    return {(size_t)(tm_pixels_b_bytes<TAPS>(height) + TM_TENSOR_WARPGROUPS * warpgroup_bytes<BYTES>(height)), TM_PLANES_FIXED, 1};
}

/* Whether this takes less time than planes do, as measured on an H100: where the map is so large that a warpgroup's start, which
 * takes the template's rows, weighs little. */
static bool pays(const tm_tensor_device *device, const tm_tensor_plan &p, int height)
{
    return 13.0 * p.tiles >= (double)device->multiprocessors * (height - 7);
}

bool tm_wgmma_pixels_takes(const tm_tensor_device *device, const tm_tensor_pixels_job &j)
{
    tm_tensor_plan p = {};
    if (j.width > 25 || j.height > 31)
        return false;
    const tm_tensor_block block = j.bytes == 3 ? block_of<3, 3>(j.height) : block_of<2, 2>(j.height);
    return j.map_height <= MOST_ROWS && j.pitch <= MOST_PITCH &&
           block.shared + block.fixed <= device->shared_memory && tm_tensor_cover(&p, j) &&
           (device->always_wide || pays(device, p, j.height));
}

cudaError_t tm_wgmma_pixels_launch(const tm_tensor_device *device, const tm_tensor_pixels_job &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if (!tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    return j.bytes == 3   ? tm_tensor_start(device, pixels_kernel<3, 3>, j, p, block_of<3, 3>(j.height), true, stream)
           : j.rounded.of ? tm_tensor_start(device, pixels_kernel<2, 1>, j, p, block_of<2, 1>(j.height), true, stream)
                          : tm_tensor_start(device, pixels_kernel<2, 2>, j, p, block_of<2, 2>(j.height), true, stream);
}
