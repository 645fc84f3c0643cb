/* SPDX-License-Identifier: MIT */
/* Certified search by the smallest cells: all that comes after the bounds, in one kernel.
 *
 * Cell windows that the bounds do not rule out lie together, so a block looks at rows of parts of tiles from all over the map. 16 of
 * those that are left are a group, which a warp scores: the windows that a cell window serves have nearly the same pixels, and the
 * tensor cores multiply these with the template at all places at once. */
#include "integers.h"
#include "lcc/cuda/bytes_mma.cuh"
#include "lcc/cuda/certified/finish.cuh"
#include "lcc/cuda/certified/tops.cuh"
#include "lcc/cuda/certified/windows.cuh"

enum {
    WARPS = 16,
    THREADS = 32 * WARPS,
    BLOCKS = 2, /* on a multiprocessor */
    SIZE = TM_CELLS_SMALLEST,
    SHIFTS = SIZE * SIZE,
    COLUMNS = 32, /* of a part of a tile */
    ROWS = TM_CERTIFIED_TILE_HEIGHT / 2, /* of it */
    EACH_ROWS = 2, /* rows that a thread has at a time: it looks at the greatest bound of the part of each */
    MOST_ROWS = EACH_ROWS * THREADS,
    AT_ONCE = 96, /* rows whose bounds a block looks at, before it multiplies what they leave */
    GROUP = 16,
    LEAST_MOST = 128,                     /* cell windows that a block's rows may leave in any case */
    FIRSTS = TM_CERTIFIED_FIRSTS / GROUP, /* groups of the greatest bounds */
    MOST_MANY = 8, /* all windows can be scored as quickly, where an eighth of what may be left is left */
    WAITS = 16     /* how often a block looks whether others have scored theirs */
};

static_assert(AT_ONCE % WARPS == 0, "warps look at as many rows each");
static_assert(TM_CERTIFIED_PARTS * ROWS * COLUMNS == TM_CERTIFIED_TILE_WIDTH * TM_CERTIFIED_TILE_HEIGHT, "parts are a tile");
static_assert(SHIFTS == 4, "four lanes that share a cell window have a shift each");

/* A lane's part of a group. Four lanes share the cell windows line and line + 8: each reads a quarter of every line of their pixels,
 * and ends with the sums of one of the windows that they serve. */
struct group_sums {
    int products[4]; /* of samples less 128 with taps, and of samples, of each of both */
    unsigned squares[2];
};

/* Squares of pixels, by cell window and column of shifts. */
typedef unsigned square_sums[2][SIZE];

struct sweep_memory {
    uint2 fragments[TM_SWEEP_LINES_MOST][32];
    uint2 left[AT_ONCE * COLUMNS]; /* cell windows */
    uint2 rows[MOST_ROWS];         /* the first cell window of those with some that may be left */
    uint2 firsts[GROUP];           /* a group of the greatest bounds, */
    unsigned first[6][32];         /* and its sums */
    float limits[TM_CELLS_LIMITS + 1];
    unsigned long long best;
    unsigned left_count, rows_count, next;
    float least;  /* what a window has to score to matter, or 0 */
    bool goes_on; /* no block has given up */
};

/* What a warp does. */
struct sweeper {
    const tm_certified_job &j;
    sweep_memory &memory;
    const int lane, warp, quarter;
    unsigned masks[SIZE][2]; /* of a lane's bytes, those that a window has, for each column of shifts */
    unsigned scored = 0;     /* windows of this lane's */

    __device__ sweeper(const tm_certified_job &job, sweep_memory &m)
        : j(job), memory(m), lane(threadIdx.x & 31), warp(threadIdx.x / 32), quarter(threadIdx.x & 3)
    {
#pragma unroll
        for (int i = 0; i < 2 * SIZE; i++) {
            const unsigned columns = ((1u << j.width) - 1) << i / 2, own = columns >> (8 * quarter + 4 * (i & 1)) & 15;
            masks[i / 2][i & 1] = ((own & 1) | (own & 2) << 7 | (own & 4) << 14 | (own & 8) << 21) * 255;
        }
    }

    /* Where a line of a cell window's pixels is, from the word with this lane's first on. A line above the frame, which no window
     * has, is its first one. */
    __device__ __forceinline__ const uint8_t *pixels(uint2 cell, int line)
    {
        const int x = SIZE * ((int)cell.x - 1) + 1, y = SIZE * ((int)cell.y - 1) + 1;
        return j.frame + (int64_t)max(y + line, 0) * (int64_t)j.pitch + 4 * ((x >> 2) + 2 * quarter);
    }

    /* How many bits after the word begins that pixel does. */
    static __device__ __forceinline__ unsigned shift_of(uint2 cell)
    {
        return 8 * ((unsigned)(SIZE * ((int)cell.x - 1) + 1) & 3);
    }

    __device__ __forceinline__ void add_line(group_sums &sums, square_sums &squares, int line, const uint8_t *const (&from)[2],
                                             const unsigned (&shift)[2])
    {
        unsigned a[2][2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const unsigned *at = (const unsigned *)from[half], middle = __ldg(at + 1);
            a[half][0] = __funnelshift_r(__ldg(at), middle, shift[half]);
            a[half][1] = __funnelshift_r(middle, __ldg(at + 2), shift[half]);
#pragma unroll
            for (int i = 0; i < 2 * SIZE; i++)
                squares[half][i / 2] = __dp4a(a[half][i & 1] & masks[i / 2][i & 1], a[half][i & 1], squares[half][i / 2]);
        }
        tm_bytes_mma(sums.products, a[0][0], a[1][0], a[0][1], a[1][1], memory.fragments[line][lane]);
    }

    /* Sums the squares of all shifts, by rows and columns of these, up over four lanes, and keeps those of this lane's shift. */
    __device__ __forceinline__ void share_squares(group_sums &sums, const square_sums (&of)[SIZE])
    {
        const bool down = quarter & 2, right = quarter & 1;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned two[SIZE]; /* a window lies as much further to the left and up as its shift says */
#pragma unroll
            for (int x = 0; x < SIZE; x++)
                two[x] = (down ? of[0] : of[1])[half][x] + __shfl_xor_sync(~0u, (down ? of[1] : of[0])[half][x], 2);
            sums.squares[half] = (right ? two[0] : two[1]) + __shfl_xor_sync(~0u, right ? two[1] : two[0], 1);
        }
    }

    /* The sums of a group, of which this lane has these cell windows. */
    __device__ __forceinline__ void multiply(group_sums &sums, const uint2 (&cells)[2])
    {
        const unsigned shift[2] = {shift_of(cells[0]), shift_of(cells[1])};
        const uint8_t *from[2] = {pixels(cells[0], 0), pixels(cells[1], 0)};
        square_sums above = {}, middle = {}, below = {}, of[SIZE];

        sums = {};
        add_line(sums, above, 0, from, shift);
        from[0] = pixels(cells[0], 1), from[1] = pixels(cells[1], 1);
#pragma unroll 4
        for (int line = 1; line < j.height; line++) {
            add_line(sums, middle, line, from, shift);
            from[0] += j.pitch, from[1] += j.pitch;
        }
        add_line(sums, below, j.height, from, shift);
#pragma unroll
        for (int i = 0; i < 2 * SIZE; i++) {
            of[0][i / SIZE][i % SIZE] = above[i / SIZE][i % SIZE] + middle[i / SIZE][i % SIZE];
            of[1][i / SIZE][i % SIZE] = below[i / SIZE][i % SIZE] + middle[i / SIZE][i % SIZE];
        }
        share_squares(sums, of);
    }

    /* This lane's one of a cell window's windows; false where the map has none there. */
    __device__ __forceinline__ bool window(int *x, int *y, uint2 cell)
    {
        *x = SIZE * (int)cell.x - quarter % SIZE, *y = SIZE * (int)cell.y - quarter / SIZE;
        return *x >= 0 && *y >= 0 && *x < j.map_width && *y < j.map_height;
    }

    /* Notes a group of the greatest bounds, by one warp. The map's first window is scored by itself. */
    __device__ __forceinline__ void note_firsts()
    {
        if (lane >= GROUP)
            return;
        const unsigned long long first = __ldcg(&j.state->firsts[blockIdx.x % FIRSTS * GROUP + lane]);
        const uint2 top = tm_certified_top_of(j, (unsigned)first & 0xffff, (int)(unsigned)(first >> 16));
        memory.firsts[lane] = first && (top.x | top.y) ? top : make_uint2(1, 0);
    }

    /* A first best, of a group of the greatest bounds, after it was noted. The block's warps make some lines' sums each. */
    __device__ __forceinline__ void first()
    {
        const int lines = j.height + SIZE - 1;
        const uint2 cells[2] = {memory.firsts[lane / 4], memory.firsts[lane / 4 + 8]};
        const unsigned shift[2] = {shift_of(cells[0]), shift_of(cells[1])};
        group_sums sums = {};
        square_sums of[SIZE] = {};

        for (int line = lines * warp / WARPS; line < lines * (warp + 1) / WARPS; line++) {
            const uint8_t *const from[2] = {pixels(cells[0], line), pixels(cells[1], line)};
            square_sums own = {};
            add_line(sums, own, line, from, shift);
#pragma unroll
            for (int i = 0; i < 2 * SIZE * SIZE; i++)
                if (line >= i % SIZE && line < i % SIZE + j.height)
                    of[i % SIZE][i / SIZE % 2][i / (2 * SIZE)] += own[i / SIZE % 2][i / (2 * SIZE)];
        }
        share_squares(sums, of);
#pragma unroll
        for (int i = 0; i < 4; i++)
            atomicAdd(&memory.first[i][lane], (unsigned)sums.products[i]);
#pragma unroll
        for (int half = 0; half < 2; half++)
            atomicAdd(&memory.first[4 + half][lane], sums.squares[half]);
        __syncthreads();
        if (warp < 2) {
            const unsigned less = memory.first[2 * warp][lane], f = memory.first[2 * warp + 1][lane];
            unsigned long long key = 0;
            int x, y;
            if (window(&x, &y, warp ? cells[1] : cells[0]))
                key = tm_certified_key(j, x, y, f, memory.first[4 + warp][lane], less + 128 * f);
            for (int d = 16; d; d /= 2) {
                const unsigned long long other = __shfl_xor_sync(~0u, key, d);
                key = other > key ? other : key;
            }
            if (lane == 0)
                atomicMax(&memory.best, key);
        }
        __syncthreads();
        if (threadIdx.x)
            return;
        tm_certified_offer<false>(j, memory.best); /* what is asked for is met again */
        __threadfence();
        atomicOr(&j.state->known_firsts, 1u << blockIdx.x % FIRSTS);
        /* what the other groups' best score is worth waiting for, but not needed */
        for (int i = 0; i < WAITS && __ldcg(&j.state->known_firsts) != (1u << FIRSTS) - 1; i++)
            ;
        learn();
    }

    /* Notes what other blocks have found meanwhile, by one thread. */
    __device__ __forceinline__ void learn()
    {
        memory.least = fmaxf(tm_certified_least(j), 0);
        memory.goes_on = !__ldcg(&j.state->given_up);
    }

    /* One group of those that are left. */
    __device__ __forceinline__ void group(int number, int count)
    {
        const float least = tm_certified_least(j), limit = least * least * j.variance * (1 - 0x1p-16f);
        /* the last one stands where there are no more */
        const uint2 cells[2] = {memory.left[min(number * GROUP + lane / 4, count - 1)],
                                memory.left[min(number * GROUP + lane / 4 + 8, count - 1)]};
        group_sums sums;

        multiply(sums, cells);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int less = sums.products[2 * half];
            const unsigned f = (unsigned)sums.products[2 * half + 1], ff = sums.squares[half];
            const float num = (float)(j.n * (int64_t)less - (int64_t)f * (j.sum - 128 * j.n)),
                        spread = (float)(j.n * (int64_t)ff - (int64_t)f * f);
            int x, y;
            if (!window(&x, &y, cells[half]) || number * GROUP + lane / 4 + 8 * half >= count)
                continue;
            scored++;
            if (!(least > 0) || (num > 0 && num * num >= limit * spread))
                tm_certified_offer<true>(j, tm_certified_key(j, x, y, f, ff, (unsigned)less + 128 * f));
        }
    }

    /* Counts the cell windows of rows that are left, and, if STORES, notes them. */
    template <bool STORES>
    __device__ __forceinline__ void look_at(int begin, int end, int threshold)
    {
        enum { EACH = AT_ONCE / WARPS };
        uint2 cells[EACH];
        int bounds[EACH]; /* loaded before any is used */

#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int i = begin + warp + k * WARPS;
            cells[k] = memory.rows[min(i, end - 1)];
            cells[k].x += lane;
            bounds[k] = i < end ? __ldcg(j.bounds + (size_t)cells[k].y * (size_t)j.pitch_bounds + cells[k].x) : 0;
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) { /* bounds beyond the map's cell windows are 0 */
            const bool is_left = bounds[k] > threshold && (cells[k].x | cells[k].y);
            const unsigned those = __ballot_sync(~0u, is_left);
            unsigned to = 0;
            if (!those)
                continue;
            if (lane == 0)
                to = atomicAdd(&memory.left_count, (unsigned)__popc(those));
            if (!STORES)
                continue;
            to = __shfl_sync(~0u, to, 0) + (unsigned)__popc(those & ((1u << lane) - 1));
            if (is_left)
                memory.left[to] = cells[k];
        }
    }

    /* The greatest bound that rules a window out. */
    __device__ __forceinline__ int threshold()
    {
        unsigned out = 0;
#pragma unroll
        for (int i = 0; i < 256; i += 32)
            out += memory.limits[i + lane] < memory.least;
        return max((int)tm_warp_sum(out) - 1, 0);
    }

    /* All groups of those that are noted, as warps come for them. */
    __device__ __forceinline__ void groups(int count)
    {
        for (;;) {
            int number = 0;
            if (lane == 0)
                number = (int)atomicAdd(&memory.next, 1u);
            number = __shfl_sync(~0u, number, 0);
            if (number * GROUP >= count)
                break;
            group(number, count);
        }
    }

    /* How many cell windows are noted, after which others can be; all of the block's threads call. */
    __device__ __forceinline__ int take_count()
    {
        __syncthreads();
        const int count = (int)memory.left_count;
        __syncthreads();
        if (threadIdx.x == 0)
            memory.left_count = 0;
        return count;
    }

    /* Scores what the block's rows leave, so many of them. Returns false where that is more than so many cell windows, or elsewhere. */
    __device__ __forceinline__ bool rows(int count, unsigned *listed, unsigned most)
    {
        for (int begin = 0; begin < count; begin += AT_ONCE) {
            if (!memory.goes_on)
                return false;
            if (begin == AT_ONCE) { /* with what has become known meanwhile */
                for (int i = begin; i < count; i += AT_ONCE)
                    look_at<false>(i, min(i + AT_ONCE, count), threshold());
                if (*listed + (unsigned)take_count() > most)
                    return false;
                __syncthreads();
            }
            look_at<true>(begin, min(begin + AT_ONCE, count), threshold());
            const int left = take_count();
            *listed += (unsigned)left;
            if (*listed > most)
                return false;
            groups(left);
            __syncthreads();
            if (threadIdx.x == 0)
                memory.next = 0, learn();
            __syncthreads();
        }
        return true;
    }
};

/* The first cell window of a row of a part. */
static __device__ __forceinline__ uint2 row_of(const tm_certified_job &j, int number)
{
    const int part = number / ROWS, tile = part / TM_CERTIFIED_PARTS, own = part % TM_CERTIFIED_PARTS;
    return make_uint2((unsigned)(tile % j.tiles_x * TM_CERTIFIED_TILE_WIDTH + own % 4 * COLUMNS),
                      (unsigned)(tile / j.tiles_x * TM_CERTIFIED_TILE_HEIGHT + own / 4 * ROWS + number % ROWS));
}

/* The greatest bounds of the parts that a thread's rows are of. */
struct top_bounds {
    int of[EACH_ROWS];

    __device__ __forceinline__ void load(const tm_certified_job &j, int from, int all)
    {
#pragma unroll
        for (int k = 0; k < EACH_ROWS; k++) {
            const int number = from + (int)(threadIdx.x + k * THREADS) * (int)gridDim.x;
            of[k] = number < all ? (int)(__ldcg(j.part_tops + number / ROWS) >> 16) : 0;
        }
    }
};

static __global__ void __launch_bounds__(THREADS, BLOCKS) sweep_kernel(tm_certified_job j, int all)
{
    extern __shared__ __align__(16) uint8_t smem[];
    sweep_memory &memory = *(sweep_memory *)smem;
    sweeper s(j, memory);
    const int blocks = (int)gridDim.x;
    const unsigned most = max(j.most_listed / gridDim.x + 1, (unsigned)LEAST_MOST); /* of this block's cell windows */
    unsigned listed = 0;
    bool goes_on = true;
    top_bounds tops;

    for (int i = threadIdx.x; i < (j.height + SIZE - 1) * 32; i += THREADS)
        (&memory.fragments[0][0])[i] = __ldg(j.level.sweep_fragments + i);
    for (int i = threadIdx.x; i < 6 * 32; i += THREADS)
        (&memory.first[0][0])[i] = 0;
    for (int i = threadIdx.x; i <= TM_CELLS_LIMITS; i += THREADS)
        memory.limits[i] = i < TM_CELLS_LIMITS ? __ldg(j.level.rough.limits + i) : INFINITY;
    if (threadIdx.x == 0)
        memory.rows_count = memory.left_count = memory.next = 0, memory.best = 0;
    tm_early_begin();
    if (s.warp == 0)
        s.note_firsts();
    tops.load(j, (int)blockIdx.x, all);
    __syncthreads();
    s.first();
    if (blockIdx.x == 0 && s.warp == 1) {
        const unsigned one = tm_certified_score<1, 1, true>(j, 0, 0);
        s.scored += s.lane ? 0 : one;
    }
    for (int from = (int)blockIdx.x; goes_on && from < all; from += MOST_ROWS * blocks) {
        if (from >= MOST_ROWS * blocks)
            tops.load(j, from, all);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < EACH_ROWS; k++) {
            const uint2 row = row_of(j, from + (int)(threadIdx.x + k * THREADS) * blocks);
            if (tops.of[k] > 0 && row.y < (unsigned)j.cells_down && !(memory.limits[tops.of[k]] < memory.least))
                memory.rows[atomicAdd(&memory.rows_count, 1u)] = row;
        }
        __syncthreads();
        const int count = (int)memory.rows_count;
        __syncthreads();
        if (threadIdx.x == 0)
            memory.rows_count = 0;
        goes_on = s.rows(count, &listed, most);
    }
    s.scored = tm_warp_sum(s.scored);
    if (s.lane == 0 && s.scored)
        atomicAdd(&j.state->scored, (unsigned long long)s.scored);
    if (threadIdx.x == 0 && listed)
        atomicAdd(&j.state->listed, listed);
    if (threadIdx.x == 0 && !goes_on)
        j.state->given_up = 1;
    __syncthreads();
    if (threadIdx.x)
        return;
    __threadfence();
    if (atomicAdd(&j.state->done, 1u) == gridDim.x - 1) {
        __threadfence();
        tm_certified_finish(j, 0, __ldcg(&j.state->given_up), __ldcg(&j.state->listed) > j.most_listed / MOST_MANY);
    }
}

cudaError_t tm_certified_sweep(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    const int rows = TM_CERTIFIED_PARTS * tm_certified_tiles(j) * ROWS,
              blocks = (int)smaller(BLOCKS * multiprocessors, ceil_div(rows, AT_ONCE));
    const cudaError_t error = TM_CALL(
        cudaFuncSetAttribute(sweep_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(sweep_memory)));
    if (error != cudaSuccess)
        return error;
    /* an odd number, so that a block has rows from all places in parts of tiles */
    return tm_early_launch(sweep_kernel, (unsigned)((blocks - 1) | 1), THREADS, sizeof(sweep_memory), j->early, stream, *j, rows);
}
