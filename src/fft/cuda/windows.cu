/* SPDX-License-Identifier: MIT */
/* Scores of a band's windows, from the sums of products that the transforms have left. A block goes
 * down some rows. Its threads keep column sums in registers: they add the row that enters the windows
 * and take away the one that leaves. In each row a scan over the block's columns makes prefix sums, and
 * a window's sum is the difference of two. Samples count as F - TM_FFT_CENTRE everywhere, which changes
 * neither num nor var_F, and lets 32 bits hold more. */
#include "fft/cuda/kernels.cuh"
#include "integers.h"
#include "lcc/cuda/early.cuh"
#include "lcc/reject.h"

#define COLUMNS 8    /* of a thread */
#define LEAST_ROWS 8 /* of a block */

/* The integers of a window, in 32 bits where they are enough; and what shared memory has of a column: the sums over the
 * columns before it, from the block's first on. */
struct narrow {
    typedef int32_t sum_of_products;
    typedef uint32_t squares;
    struct __align__(8) prefix {
        uint32_t sum, sum_sq;

        __device__ __forceinline__ squares all_squares() const
        {
            return sum_sq;
        }
    };

    static __device__ __forceinline__ prefix prefix_of(uint32_t sum, squares sum_sq)
    {
        return {sum, sum_sq};
    }
};

struct wide {
    typedef int64_t sum_of_products;
    typedef uint64_t squares;
    struct prefix {
        uint32_t sum, low, high; /* 12 bytes */

        __device__ __forceinline__ squares all_squares() const
        {
            return (squares)high << 32 | low;
        }
    };

    static __device__ __forceinline__ prefix prefix_of(uint32_t sum, squares sum_sq)
    {
        return {sum, (uint32_t)sum_sq, (uint32_t)(sum_sq >> 32)};
    }
};

/* Column 8 * j + i of the block is element i * pitch + j: few threads of a warp
 * meet in a bank, whether they have 8 neighbouring columns each or 1. */
template <class INTEGERS>
struct prefixes {
    typedef typename INTEGERS::squares squares;
    typedef typename INTEGERS::prefix prefix;
    squares *warp_sum_sq;
    uint32_t *warp_sum;
    prefix *columns;
    int pitch;

    static __host__ __device__ size_t bytes(int threads)
    {
        /* and what is read for windows beyond the block's last */
        return 32 * (sizeof(squares) + sizeof(uint32_t)) + (COLUMNS * (threads + 2) + 32) * sizeof(prefix);
    }

    __device__ prefixes(uint64_t *memory, int threads) : pitch(threads + 2)
    {
        warp_sum_sq = (squares *)memory;
        warp_sum = (uint32_t *)(warp_sum_sq + 32);
        columns = (prefix *)(warp_sum + 32);
    }

    __device__ const prefix *at(int column) const
    {
        return columns + column % COLUMNS * pitch + column / COLUMNS;
    }
};

/* Sums over the first one, two, three and four of four neighbouring columns. */
typedef struct word_sums {
    int sum[4];
    uint32_t sum_sq[4];
} word_sums;

typedef struct column_sums {
    word_sums words[2];
} column_sums;

static __device__ __forceinline__ void add_word(word_sums *s, uint32_t samples, bool leaves)
{
    const int centred = (int)(samples ^ 0x80808080u);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int first = (int)(0xffffffffu >> (24 - 8 * i));
        s->sum[i] = __dp4a(centred, first & (leaves ? -1 : 0x01010101), s->sum[i]);
        if (leaves)
            s->sum_sq[i] -= (uint32_t)__dp4a(centred, centred & first, 0);
        else
            s->sum_sq[i] = (uint32_t)__dp4a(centred, centred & first, (int)s->sum_sq[i]);
    }
}

static __device__ __forceinline__ void add_row(column_sums *s, uint2 samples, bool leaves)
{
    add_word(&s->words[0], samples.x, leaves);
    add_word(&s->words[1], samples.y, leaves);
}

/* Adds four rows of four columns, to sums of each column by itself: with the bytes of a column in one word, these take two
 * instructions. */
static __device__ __forceinline__ void add_columns(word_sums *s, const uint32_t (&rows)[4])
{
    const uint32_t left_ab = __byte_perm(rows[0], rows[1], 0x5140), right_ab = __byte_perm(rows[0], rows[1], 0x7362);
    const uint32_t left_cd = __byte_perm(rows[2], rows[3], 0x5140), right_cd = __byte_perm(rows[2], rows[3], 0x7362);
    const uint32_t columns[4] = {__byte_perm(left_ab, left_cd, 0x5410), __byte_perm(left_ab, left_cd, 0x7632),
                                 __byte_perm(right_ab, right_cd, 0x5410), __byte_perm(right_ab, right_cd, 0x7632)};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int centred = (int)(columns[i] ^ 0x80808080u);
        s->sum[i] = __dp4a(centred, 0x01010101, s->sum[i]);
        s->sum_sq[i] = (uint32_t)__dp4a(centred, centred, (int)s->sum_sq[i]);
    }
}

/* Makes of such sums those over the first columns. */
static __device__ __forceinline__ void add_up(word_sums *s)
{
#pragma unroll
    for (int i = 1; i < 4; i++) {
        s->sum[i] += s->sum[i - 1];
        s->sum_sq[i] += s->sum_sq[i - 1];
    }
}

/* The sums of the first `rows` rows of a thread's columns. */
static __device__ __forceinline__ column_sums sums_of_rows(const uint8_t *column, int64_t pitch, int rows)
{
    column_sums s = {};
    int y = 0;

#pragma unroll 2
    for (; y + 4 <= rows; y += 4) {
        uint2 samples[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            samples[i] = *(const uint2 *)(column + (y + i) * pitch);
        add_columns(&s.words[0], {samples[0].x, samples[1].x, samples[2].x, samples[3].x});
        add_columns(&s.words[1], {samples[0].y, samples[1].y, samples[2].y, samples[3].y});
    }
    add_up(&s.words[0]);
    add_up(&s.words[1]);
    for (; y < rows; y++)
        add_row(&s, *(const uint2 *)(column + y * pitch), false);
    return s;
}

/* The sum of what the warps before this one have. */
static __device__ __forceinline__ uint32_t sum_before(const uint32_t *warps, int warp)
{
    const int lane = threadIdx.x % 32;
    return tm_warp_sum(lane < warp ? warps[lane] : 0);
}

static __device__ __forceinline__ uint64_t sum_before(const uint64_t *warps, int warp)
{
    uint64_t sum = 0;
    for (int i = 0; i < warp; i++)
        sum += warps[i];
    return sum;
}

/* Writes the sums over the columns before each one, from the block's first on. */
template <class INTEGERS>
static __device__ __forceinline__ void scan(const prefixes<INTEGERS> &p, const column_sums &sums)
{
    typedef typename INTEGERS::squares squares;
    const word_sums &a = sums.words[0], &b = sums.words[1];
    const uint32_t own = (uint32_t)(a.sum[3] + b.sum[3]);
    const squares own_sq = (squares)a.sum_sq[3] + b.sum_sq[3];
    const int warp = threadIdx.x / 32;
    uint32_t up_to = own;
    squares up_to_sq = own_sq;

#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
        tm_add_lane_before(up_to, offset);
        tm_add_lane_before(up_to_sq, offset);
    }
    if (threadIdx.x % 32 == 31) {
        p.warp_sum[warp] = up_to;
        p.warp_sum_sq[warp] = up_to_sq;
    }
    __syncthreads();
    const uint32_t before = up_to - own + sum_before(p.warp_sum, warp);
    const squares before_sq = up_to_sq - own_sq + sum_before(p.warp_sum_sq, warp);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const uint32_t earlier = (i > 3 ? a.sum[3] : 0) + (i % 4 ? (i > 3 ? b : a).sum[i % 4 - 1] : 0);
        const squares earlier_sq = (squares)(i > 3 ? a.sum_sq[3] : 0) + (i % 4 ? (i > 3 ? b : a).sum_sq[i % 4 - 1] : 0);
        p.columns[i * p.pitch + threadIdx.x] = INTEGERS::prefix_of(before + earlier, before_sq + earlier_sq);
    }
    __syncthreads();
}

/* (float)num and (float)var_F of a window. */
typedef struct scored {
    float num, variance;
} scored;

static __device__ __forceinline__ scored score_parts(const tm_device_job &d, int32_t s_ft, uint32_t s_f, uint32_t s_ff)
{
    const int n = (int)d.n, s = (int)s_f;
    return {__ll2float_rn(tm_mad_wide(n, s_ft, tm_mad_wide(s, -(int)d.sum, 0))),
            __ll2float_rn(tm_mad_wide(n, (int)s_ff, tm_mad_wide(s, -s, 0)))};
}

static __device__ __forceinline__ scored score_parts(const tm_device_job &d, int64_t s_ft, uint32_t s_f, uint64_t s_ff)
{
    const int64_t s = (int)s_f;
    return {__ll2float_rn(d.n * s_ft - s * d.sum), __ll2float_rn(d.n * (int64_t)s_ff - s * s)};
}

/* Which windows a block scores: `count` of each of its rows. */
typedef struct block_place {
    int first, last; /* rows of the band */
    int left;        /* columns of the part before them */
    int count;
    int64_t x, y; /* in the map, of the first */
} block_place;

static __device__ __forceinline__ block_place place_of(const tm_fft_job &job, int span, int rows)
{
    const tm_fft_band &band = job.band;
    block_place p;
    p.x = band.x + blockIdx.z * job.tiling.shift_x;
    p.y = band.y + blockIdx.z * job.tiling.shift_y;
    p.left = blockIdx.x * span;
    p.first = blockIdx.y * rows;
    p.last = (int)min((int64_t)min(p.first + rows, band.rows), job.job.map_height - p.y);
    p.count = (int)min((int64_t)min(span, band.width - p.left), job.job.map_width - p.x - p.left);
    p.x += p.left;
    p.y += p.first;
    return p;
}

/* What a window's num^2 / var_F must reach for a score that may be the best: see lcc/reject.h.
 * Negative: no window is rejected. */
static __device__ __forceinline__ float reject_bound(const tm_fft_job &job, int64_t best)
{
    if (job.job.map || best <= 0)
        return -1;
    return tm_reject_boundf(tm_score_of_order((int32_t)best), job.job.variance);
}

/* Lets all blocks know of a better score. */
static __device__ __forceinline__ void tell(const tm_fft_job &job, int64_t best, int64_t known)
{
    if (!__any_sync(0xffffffffu, best > known))
        return;
    for (int offset = 16; offset > 0; offset /= 2)
        best = max((long long)best, __shfl_xor_sync(0xffffffffu, (long long)best, offset));
    if (threadIdx.x % 32 == 0)
        atomicMax((long long *)job.best, (long long)best);
}

/* A warp's windows of a row are neighbours, and each thread has every 32nd. */
#define APART 32

/* Scores a thread's windows of a row whose prefix sums are there. */
template <class INTEGERS>
static __device__ __forceinline__ void score_row(const tm_fft_job &job, const typename INTEGERS::prefix *from,
                                                 const typename INTEGERS::prefix *to, int count,
                                                 const typename INTEGERS::sum_of_products (&s_ft)[COLUMNS],
                                                 int64_t position, float bound, tm_candidate *best)
{
    const tm_device_job &d = job.job;
    const float least = bound < 0 ? -INFINITY : 0; /* that num must exceed */
    scored s[COLUMNS];
    unsigned may = 0;

#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const typename INTEGERS::prefix a = from[i * (APART / COLUMNS)], b = to[i * (APART / COLUMNS)];
        s[i] = score_parts(d, s_ft[i], b.sum - a.sum, b.all_squares() - a.all_squares());
        const bool rejected = (s[i].num <= least) | (s[i].num * s[i].num < bound * s[i].variance);
        may |= (unsigned)((i * APART < count) & !rejected) << i;
    }
    if (!may) /* mostly */
        return;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        if (!(may >> i & 1))
            continue;
        const float score = tm_lcc_clamp(tm_lcc_quotient(s[i].num, s[i].variance, d.variance), s[i].variance == 0);
        const tm_candidate candidate = {tm_score_order(score), position + i * APART};
        if (d.map)
            ((float *)d.map)[candidate.position] = score;
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

/* MOST: threads of a block. */
template <class INTEGERS, int MOST>
static __global__ void __launch_bounds__(MOST, MOST == 512 ? 2 : 1)
    windows_kernel(const __grid_constant__ tm_fft_job job, int span, int block_rows, int threads)
{
    typedef typename INTEGERS::sum_of_products sum_of_products;
    extern __shared__ uint64_t memory[];
    const prefixes<INTEGERS> p(memory, threads);
    const tm_device_job &d = job.job;
    const block_place place = place_of(job, span, block_rows);
    const int skip = (int)(place.x % COLUMNS); /* 8 samples are read at once */
    const int64_t x = place.x - skip + threadIdx.x * COLUMNS;
    const int64_t pitch = (int64_t)d.pitch, readable = x + COLUMNS <= pitch ? job.frame_rows - place.y : 0;
    const int rows = (int)max((int64_t)0, min(readable, (int64_t)INT32_MAX));
    const uint8_t *column = d.frame + place.y * pitch + x;
    const int own = threadIdx.x / 32 * (32 * COLUMNS) + threadIdx.x % 32; /* this thread's first window */
    const typename INTEGERS::prefix *from = p.at(skip + own), *to = p.at(min(skip + own + d.width, COLUMNS * threads - 1));
    const sum_of_products *sums = (const sum_of_products *)job.sums + tm_fft_sums_place(job.band, blockIdx.z, place.first) + place.left + own;
    const int sums_pitch = tm_fft_sums_pitch(job.band);
    int64_t position = place.y * d.map_width + place.x + own;
    tm_candidate best = TM_NO_CANDIDATE;
    /* a row, counted from the block's first; 0 below the frame */
    const auto load = [&](int y) {
        return y < rows ? *(const uint2 *)(column + y * pitch) : make_uint2(0, 0);
    };

    column_sums state = sums_of_rows(column, pitch, min(d.height - 1, rows));
    uint2 enters = load(d.height - 1), leaves = load(0);
    tm_early_begin();
    for (int y = 0; y < place.last - place.first; y++) {
        const int64_t known = __ldcg((const long long *)job.best);
        sum_of_products s_ft[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            s_ft[i] = own + i * APART < place.count ? __ldcs(sums + i * APART) : 0;
        add_row(&state, enters, false);
        enters = load(y + d.height);
        scan(p, state);
        add_row(&state, leaves, true);
        leaves = load(y + 1);
        score_row<INTEGERS>(job, from, to, place.count - own, s_ft, position, reject_bound(job, known), &best);
        tell(job, best.value, known);
        sums += sums_pitch;
        position += d.map_width;
    }
    best = tm_block_best<MOST>(best, threadIdx.x, threads / 32);
    if (threadIdx.x == 0)
        d.candidates[((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = best;
}

/* The widest template of blocks of at most so many threads, which have more columns than that. */
enum { WIDEST_512 = 3072, WIDEST_1024 = 8000 };

static int most_threads(int width)
{
    return width <= WIDEST_512 ? 512 : 1024;
}

/* A launch's blocks are of equal size, no wider than they must be, and so high that a device has all of them at a time:
 * each has to add up a template's height of rows first. */
typedef struct blocks {
    dim3 grid;
    int threads, span, rows;
} blocks;

enum { WARPS = 32 }; /* of a multiprocessor, by the registers that their threads take */

static blocks blocks_of(const tm_fft_job *job)
{
    /* up to 7 columns before the first window, and the prefix after the last column */
    const int width = job->job.width, beside = width + COLUMNS;
    const int across = (int)ceil_div(job->band.width, most_threads(width) * COLUMNS - beside);
    const int span = (int)ceil_div(job->band.width, across);
    const int threads = (int)round_up(ceil_div(span + beside, COLUMNS), 32);
    const int at_once = (int)larger(job->multiprocessors * (WARPS * 32 / threads) / (2 * across), 1);
    const int rows = (int)larger(ceil_div(job->band.rows, at_once), LEAST_ROWS);
    return {dim3((unsigned)across, (unsigned)ceil_div(job->band.rows, rows), 2), threads, span, rows};
}

int64_t tm_windows_candidates(const tm_fft_job *job)
{
    const dim3 grid = blocks_of(job).grid;
    return (int64_t)grid.x * grid.y * grid.z;
}

int64_t tm_windows_most_candidates(const tm_fft_job *job)
{
    const dim3 grid = blocks_of(job).grid;
    return grid.x * ceil_div(job->band.rows, LEAST_ROWS) * grid.z;
}

template <class INTEGERS, int MOST>
static cudaError_t launch(const tm_fft_job *job, cudaStream_t stream)
{
    const blocks b = blocks_of(job);
    const size_t shared = prefixes<INTEGERS>::bytes(b.threads);
    return tm_early_launch(windows_kernel<INTEGERS, MOST>, b.grid, (unsigned)b.threads, shared, job->early, stream, *job,
                           b.span, b.rows, b.threads);
}

cudaError_t tm_windows_launch(const tm_fft_job *job, cudaStream_t stream)
{
    if (job->narrow)
        return launch<narrow, 512>(job, stream);
    return most_threads(job->job.width) == 512 ? launch<wide, 512>(job, stream) : launch<wide, 1024>(job, stream);
}

bool tm_windows_can_be_early(void)
{
    return tm_early_is_possible(windows_kernel<narrow, 512>);
}

bool tm_windows_are_narrow(const tm_device_job *job)
{
    return most_threads(job->width) == 512 && job->n * (TM_FFT_CENTRE * 255) <= INT32_MAX;
}

int tm_windows_widest(size_t shared_bytes)
{
    return prefixes<wide>::bytes(1024) <= shared_bytes ? WIDEST_1024 : WIDEST_512;
}

template <int MOST>
static cudaError_t allow(void)
{
    return TM_CALL(cudaFuncSetAttribute((const void *)windows_kernel<wide, MOST>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)prefixes<wide>::bytes(MOST)));
}

cudaError_t tm_windows_prepare(size_t shared_bytes)
{
    const cudaError_t error = allow<512>();
    return error == cudaSuccess && tm_windows_widest(shared_bytes) == WIDEST_1024 ? allow<1024>() : error;
}
