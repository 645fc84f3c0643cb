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
    EACH_ROWS = 2, /* of parts, which a thread has at a time: it looks at the greatest bounds of these */
    MOST_ROWS = EACH_ROWS * THREADS,
    AT_ONCE = 96, /* rows whose bounds a block looks at, before it multiplies what they leave */
    GROUP = 16,
    SHARED = WARPS / 2, /* groups, of which no more are shared by several warps each */
    FIRSTS = TM_CERTIFIED_FIRSTS / GROUP, /* groups of the greatest bounds */
    TELLING = 8 * FIRSTS,                 /* blocks that tell others what these score */
    LEAST_MOST = 128,                     /* cell windows that a block's rows may leave in any case */
    MOST_MANY = 8 /* all windows can be scored as quickly, where an eighth of what may be left is left */
};

static_assert(AT_ONCE % WARPS == 0, "warps look at as many rows each");
static_assert(TM_CERTIFIED_PARTS * ROWS * COLUMNS == TM_CERTIFIED_TILE_WIDTH * TM_CERTIFIED_TILE_HEIGHT, "parts are a tile");
static_assert(SHIFTS == 4, "four lanes that share a cell window have a shift each");

/* All that a window's score needs. */
struct window_sums {
    int products; /* of samples less 128 with taps */
    unsigned samples, squares;
};

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
    unsigned long long bests[2];   /* and the best windows of both halves of these */
    unsigned sums[SHARED][6][32];  /* of groups that several warps share; else zeros */
    float limits[TM_CELLS_LIMITS + 1];
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

    /* The sums of these lines of a group, of which this lane has these cell windows. */
    __device__ __forceinline__ void multiply(group_sums &sums, const uint2 (&cells)[2], int begin, int end)
    {
        const unsigned shift[2] = {shift_of(cells[0]), shift_of(cells[1])};
        const uint8_t *from[2] = {pixels(cells[0], begin), pixels(cells[1], begin)};
        square_sums above = {}, middle = {}, below = {}, of[SIZE];
        int line = begin;

        sums = {};
        if (line == 0 && line < end) {
            add_line(sums, above, line++, from, shift);
            from[0] = pixels(cells[0], line), from[1] = pixels(cells[1], line);
        }
#pragma unroll 4
        for (; line < min(end, (int)j.height); line++) {
            add_line(sums, middle, line, from, shift);
            from[0] += j.pitch, from[1] += j.pitch;
        }
        if (line < end)
            add_line(sums, below, line, from, shift);
#pragma unroll
        for (int i = 0; i < 2 * SIZE; i++) {
            of[0][i / SIZE][i % SIZE] = above[i / SIZE][i % SIZE] + middle[i / SIZE][i % SIZE];
            of[1][i / SIZE][i % SIZE] = below[i / SIZE][i % SIZE] + middle[i / SIZE][i % SIZE];
        }
        share_squares(sums, of);
    }

    /* How many lines of pixels a group has. */
    __device__ __forceinline__ int lines() const
    {
        return j.height + SIZE - 1;
    }

    /* Adds a part of the lines, of so many parts, to a group's shared sums. */
    __device__ __forceinline__ void add_part(int number, const uint2 (&cells)[2], int part, int parts)
    {
        group_sums sums;
        multiply(sums, cells, lines() * part / parts, lines() * (part + 1) / parts);
#pragma unroll
        for (int i = 0; i < 4; i++)
            atomicAdd(&memory.sums[number][i][lane], (unsigned)sums.products[i]);
#pragma unroll
        for (int half = 0; half < 2; half++)
            atomicAdd(&memory.sums[number][4 + half][lane], sums.squares[half]);
    }

    /* Takes what all parts have added, of one of this lane's two windows. */
    __device__ __forceinline__ window_sums take_sums(int number, int half)
    {
        unsigned *const from[3] = {&memory.sums[number][2 * half][lane], &memory.sums[number][2 * half + 1][lane],
                                   &memory.sums[number][4 + half][lane]};
        const window_sums sums = {(int)*from[0], *from[1], *from[2]};
        *from[0] = *from[1] = *from[2] = 0;
        return sums;
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

    static __device__ __forceinline__ unsigned long long greater(unsigned long long a, unsigned long long b)
    {
        return a > b ? a : b;
    }

    __device__ __forceinline__ unsigned long long key_of(int x, int y, const window_sums &sums)
    {
        return tm_certified_key(j, x, y, sums.samples, sums.squares, (unsigned)sums.products + 128 * sums.samples);
    }

    /* Scores a group of the greatest bounds, and notes what a window has to score to matter. The best of them is met again. */
    __device__ __forceinline__ void first()
    {
        const uint2 cells[2] = {memory.firsts[lane / 4], memory.firsts[lane / 4 + 8]};

        add_part(0, cells, warp, WARPS);
        __syncthreads();
        if (warp < 2) {
            const window_sums sums = take_sums(0, warp);
            int x, y;
            unsigned long long key = window(&x, &y, warp ? cells[1] : cells[0]) ? key_of(x, y, sums) : 0;
            for (int d = 16; d; d /= 2)
                key = greater(key, __shfl_xor_sync(~0u, key, d));
            if (lane == 0)
                memory.bests[warp] = key;
        }
        __syncthreads();
        if (threadIdx.x)
            return;
        const unsigned long long best = greater(memory.bests[0], memory.bests[1]);
        memory.least = fmaxf(tm_certified_least_by(j, best), 0);
        if (blockIdx.x < TELLING)
            atomicMax(&j.state->best, best);
    }

    /* Notes what other blocks have found meanwhile, by one thread. */
    __device__ __forceinline__ void learn()
    {
        memory.least = fmaxf(tm_certified_least(j), memory.least);
        memory.goes_on = !__ldcg(&j.state->given_up);
    }

    /* Offers this lane's window of a cell window, if it scores so much. */
    __device__ __forceinline__ void offer(uint2 cell, const window_sums &sums, float least)
    {
        const float limit = least * least * j.variance * (1 - 0x1p-16f),
                    num = (float)(j.n * (int64_t)sums.products - (int64_t)sums.samples * (j.sum - 128 * j.n)),
                    spread = (float)(j.n * (int64_t)sums.squares - (int64_t)sums.samples * sums.samples);
        int x, y;
        if (!window(&x, &y, cell))
            return;
        scored++;
        if (!(least > 0) || (num > 0 && num * num >= limit * spread)) {
            const unsigned long long key = key_of(x, y, sums);
            atomicMax(&j.state->best, key); /* few come here, and need not wait for what is known */
            tm_certified_write(j, key);
        }
    }

    /* This lane's cell windows of a group of those that are left; the last one stands where there are no more. */
    __device__ __forceinline__ void load_cells(uint2 (&cells)[2], int number, int count)
    {
#pragma unroll
        for (int half = 0; half < 2; half++)
            cells[half] = memory.left[min(number * GROUP + lane / 4 + 8 * half, count - 1)];
    }

    /* One group, by this warp alone. */
    __device__ __forceinline__ void group(int number, int count)
    {
        const float least = fmaxf(tm_certified_least(j), memory.least);
        uint2 cells[2];
        group_sums sums;

        load_cells(cells, number, count);
        multiply(sums, cells, 0, lines());
#pragma unroll
        for (int half = 0; half < 2; half++)
            if (number * GROUP + lane / 4 + 8 * half < count)
                offer(cells[half],
                      {sums.products[2 * half], (unsigned)sums.products[2 * half + 1], sums.squares[half]}, least);
    }

    /* All groups of those that are noted, so few that several warps share each. */
    __device__ __forceinline__ void shared_groups(int count)
    {
        const int all = (count + GROUP - 1) / GROUP, parts = WARPS / all, number = warp / parts,
                  at = warp / 2 * GROUP + warp % 2 * 8 + lane / 4;
        uint2 cells[2];

        if (number < all) {
            load_cells(cells, number, count);
            add_part(number, cells, warp % parts, parts);
        }
        __syncthreads();
        if (warp >= 2 * all)
            return;
        const window_sums sums = take_sums(warp / 2, warp % 2);
        if (at < count)
            offer(memory.left[at], sums, memory.least);
    }

    /* Counts the cell windows of rows that are left, and, if STORES, notes them. */
    template <bool STORES>
    __device__ __forceinline__ void look_at(int begin, int end)
    {
        enum { EACH = AT_ONCE / WARPS };
        const auto cell_of = [&](int k) {
            const uint2 row = memory.rows[min(begin + warp + k * WARPS, end - 1)];
            return make_uint2(row.x + (unsigned)lane, row.y);
        };
        int bounds[EACH]; /* loaded before any is used */

#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const uint2 cell = cell_of(k);
            bounds[k] = begin + warp + k * WARPS < end ? __ldcg(j.bounds + (size_t)cell.y * (size_t)j.pitch_bounds + cell.x) : 0;
        }
        __syncthreads(); /* what was learned can be seen */
        const int threshold = this->threshold();
#pragma unroll
        for (int k = 0; k < EACH; k++) { /* bounds beyond the map's cell windows are 0 */
            if (begin + k * WARPS >= end)
                break;
            const uint2 cell = cell_of(k);
            const bool is_left = bounds[k] > threshold && (cell.x | cell.y);
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
                memory.left[to] = cell;
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

    /* All groups of those that are noted; of many, as warps come for them. */
    __device__ __forceinline__ void groups(int count)
    {
        if (count == 0)
            return;
        if (count <= GROUP * SHARED) {
            shared_groups(count);
            return;
        }
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

    /* How many cell windows are noted, after which others can be, or -1 where a block has given up; all of the block's threads call. */
    __device__ __forceinline__ int take_count()
    {
        if (threadIdx.x == 0)
            memory.next = 0;
        __syncthreads();
        const int count = memory.goes_on ? (int)memory.left_count : -1;
        __syncthreads();
        if (threadIdx.x == 0)
            memory.left_count = 0;
        return count;
    }

    /* Scores what the block's rows leave, so many of them. Returns false where that is more than so many cell windows, or elsewhere. */
    __device__ __forceinline__ bool rows(int count, unsigned *listed, unsigned most)
    {
        for (int begin = 0; begin < count; begin += AT_ONCE) {
            if (threadIdx.x == 0)
                learn();
            if (begin == AT_ONCE) { /* with what has become known meanwhile */
                for (int i = begin; i < count; i += AT_ONCE)
                    look_at<false>(i, min(i + AT_ONCE, count));
                const int left = take_count();
                if (left < 0 || *listed + (unsigned)left > most)
                    return false;
            }
            look_at<true>(begin, min(begin + AT_ONCE, count));
            const int left = take_count();
            if (left < 0)
                return false;
            *listed += (unsigned)left;
            if (*listed > most)
                return false;
            groups(left);
            __syncthreads();
        }
        return true;
    }
};

/* The rows of parts that a block looks at: one row of all parts of a tile, and others of tiles from all over the map. So the greatest bounds
 * that it reads lie beside each other, eight at a time. */
struct own_rows {
    int tops[EACH_ROWS]; /* the greatest bound of each one's part; 0 beyond the last */

    static __device__ __forceinline__ int part()
    {
        return (int)threadIdx.x % TM_CERTIFIED_PARTS;
    }

    /* Which one of all tiles' rows of parts it is; first: the block's first one. */
    static __device__ __forceinline__ int number(int first, int k)
    {
        return first + (int)((threadIdx.x + k * THREADS) / TM_CERTIFIED_PARTS * gridDim.x);
    }

    __device__ __forceinline__ void load(const tm_certified_job &j, int first, int all)
    {
#pragma unroll
        for (int k = 0; k < EACH_ROWS; k++)
            tops[k] = number(first, k) < all ? (int)(__ldcg(j.part_tops + number(first, k) / ROWS * TM_CERTIFIED_PARTS + part()) >> 16) : 0;
    }

    /* The first cell window. */
    static __device__ __forceinline__ uint2 cell(const tm_certified_job &j, int first, int k)
    {
        const int tile = number(first, k) / ROWS, row = number(first, k) % ROWS;
        return make_uint2((unsigned)(tile % j.tiles_x * TM_CERTIFIED_TILE_WIDTH + part() % 4 * COLUMNS),
                          (unsigned)(tile / j.tiles_x * TM_CERTIFIED_TILE_HEIGHT + part() / 4 * ROWS + row));
    }
};

/* Lists those of the block's rows whose parts may have windows that matter. Returns how many; all of the block's threads call. */
static __device__ __forceinline__ int list_rows(sweep_memory &memory, const own_rows &own, const tm_certified_job &j, int first)
{
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH_ROWS; k++) {
        if (own.tops[k] == 0 || memory.limits[own.tops[k]] < memory.least)
            continue;
        const uint2 cell = own_rows::cell(j, first, k);
        if (cell.y < (unsigned)j.cells_down)
            memory.rows[atomicAdd(&memory.rows_count, 1u)] = cell;
    }
    __syncthreads();
    const int count = (int)memory.rows_count;
    __syncthreads();
    if (threadIdx.x == 0)
        memory.rows_count = 0;
    return count;
}

/* all: rows of tiles' parts */
static __global__ void __launch_bounds__(THREADS, BLOCKS) sweep_kernel(tm_certified_job j, int all)
{
    extern __shared__ __align__(16) uint8_t smem[];
    sweep_memory &memory = *(sweep_memory *)smem;
    sweeper s(j, memory);
    const int blocks = (int)gridDim.x;
    const unsigned most = max(j.most_listed / gridDim.x + 1, (unsigned)LEAST_MOST); /* of this block's cell windows */
    unsigned listed = 0;
    bool goes_on = true;
    own_rows own;

    for (int i = threadIdx.x; i < (j.height + SIZE - 1) * 32; i += THREADS)
        (&memory.fragments[0][0])[i] = __ldg(j.level.sweep_fragments + i);
    for (int i = threadIdx.x; i < SHARED * 6 * 32; i += THREADS)
        (&memory.sums[0][0][0])[i] = 0;
    for (int i = threadIdx.x; i <= TM_CELLS_LIMITS; i += THREADS)
        memory.limits[i] = i < TM_CELLS_LIMITS ? __ldg(j.level.rough.limits + i) : INFINITY;
    if (threadIdx.x == 0)
        memory.rows_count = memory.left_count = 0, memory.goes_on = true;
    if (blockIdx.x == 0 && s.warp == 0) { /* bounds, still being made, write elsewhere in the state */
        const unsigned one = tm_certified_score<1, 1, true>(j, 0, 0);
        s.scored += s.lane ? 0 : one;
    }
    tm_early_begin();
    if (s.warp == 0)
        s.note_firsts();
    own.load(j, (int)blockIdx.x, all);
    __syncthreads();
    s.first();
    for (int from = (int)blockIdx.x; goes_on && from < all; from += MOST_ROWS / TM_CERTIFIED_PARTS * blocks) {
        if (from != (int)blockIdx.x)
            own.load(j, from, all);
        int count = list_rows(memory, own, j, from);
        if (count > AT_ONCE) { /* what other groups of the greatest bounds score may leave fewer */
            if (threadIdx.x == 0)
                s.learn();
            count = list_rows(memory, own, j, from);
        }
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
    const int tiles = tm_certified_tiles(j),
              blocks = (int)smaller(BLOCKS * multiprocessors, ceil_div(TM_CERTIFIED_PARTS * tiles * ROWS, AT_ONCE));
    const cudaError_t error = TM_CALL(
        cudaFuncSetAttribute(sweep_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(sweep_memory)));
    if (error != cudaSuccess)
        return error;
    /* an odd number, so that a block has rows from all places in parts of tiles */
    return tm_early_launch(sweep_kernel, (unsigned)((blocks - 1) | 1), THREADS, sizeof(sweep_memory), j->early, stream, *j,
                           tiles * ROWS);
}
