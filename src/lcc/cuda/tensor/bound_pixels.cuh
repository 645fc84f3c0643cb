/* SPDX-License-Identifier: MIT */
/* For wgmma_bound_pixels.cu: a block's shared memory and barriers, and how frame rows come there.
 *
 * Rows are taken apart into planes: the channels of RGB, or of 16 bits the 8 bits from j.low_bits on alone. No unit of 8 columns stands twice: the lines of
 * A are 8 columns apart, which is no distance that wgmma can read, so each thread loads its part of A. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_PIXELS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_PIXELS_CUH
#include "lcc/cuda/tensor/bound_part.cuh"
#include "lcc/cuda/tensor/bound_template.cuh"
#include "lcc/cuda/tensor/pixel_units.cuh"
#include "lcc/cuda/tensor/small_blocks.cuh"
#include "lcc/cuda/tensor/wgmma_product.cuh"

enum {
    TM_BOUND_WARPGROUPS = 2, // that multiply
    TM_BOUND_PRODUCT_WARPS = 4 * TM_BOUND_WARPGROUPS,
    TM_BOUND_SUM_WARPS = 3,
    TM_BOUND_STAGERS = TM_TENSOR_WARPS - TM_BOUND_PRODUCT_WARPS - TM_BOUND_SUM_WARPS,
    TM_BOUND_TURNS = 4,
    TM_BOUND_UNITS = TILE_WIDTH / 8, // of windows
    TM_BOUND_TAPS = 80               // bytes of a template row as it is, with zeros behind it
};

/* Limits of a step: for each pair of rows a word for each two columns, which is two limits of 16 bits. */
enum { TM_BOUND_LIMITS_ROW = 2 * TILE_WIDTH, TM_BOUND_LIMITS = TILE_HEIGHT / 2 * TM_BOUND_LIMITS_ROW };

/* Barriers in shared memory, by number. ROWS: the rows of the step after this one are there. FULL: a step's limits are. MADE: its products
 * are. READ: its limits have been read. Of each there is one for each turn. SAMPLED: the block has scored a few windows. KNOWN: there is a
 * score to reach. No barriers of the hardware: of warps that do not pass as many of these racecheck loses track. */
enum {
    TM_BOUND_ROWS = 0,
    TM_BOUND_FULL = TM_BOUND_TURNS,
    TM_BOUND_MADE = 2 * TM_BOUND_TURNS,
    TM_BOUND_READ = 3 * TM_BOUND_TURNS,
    TM_BOUND_SAMPLED = 4 * TM_BOUND_TURNS,
    TM_BOUND_KNOWN,
    TM_BOUND_BARRIERS
};

/* What depends on the bytes of a pixel. */
template <int BYTES>
struct tm_bound_pixels {
    enum {
        PLANES = BYTES == 3 ? 3 : 1,
        /* A thread's registers hold 3 parts of A by turns, and products are made of as many at once: of all planes of one row, or of 3
         * rows. So with one plane more rows meet 16 windows, which then takes zeros before B's blocks and behind them, and their number is a
         * multiple of 3. */
        PARTS = 3,
        ROWS_AT_ONCE = PARTS / PLANES,
        ZEROS_BEFORE = PLANES == 1 ? 4 : 0,
        ZEROS_BEHIND = PLANES == 1 ? 2 : 0,
        ROWS_OF_8 = PLANES == 1 ? 6 : 8, // the first and the last rows, which meet 8 windows
        COLUMNS = TILE_WIDTH + 24, // of a plane's row
        UNITS = COLUMNS / 8,
        ROW = PLANES * COLUMNS, // bytes of all planes
        GROUPS = 9,             // of 8 rows in the ring: those of a step, and what is staged meanwhile
        STEP_GROUPS = 5,        // at most, from a step's first row on
        RAW_ROW = (15 + BYTES * COLUMNS + 15) / 16 * 16, // of the frame as it is, from a multiple of 16 bytes on,
        RAW_ROWS = 8 / TM_BOUND_STAGERS                  // of a group, which a warp that stages takes
    };

    /* The rows that meet 16 windows. */
    static __host__ __device__ constexpr int rows_of_16(int height)
    {
        return (height + 15 - 2 * ROWS_OF_8 + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE * ROWS_AT_ONCE;
    }

    /* The bytes of a plane of B. */
    static __host__ __device__ constexpr int blocks_bytes(int height)
    {
        return tm_small_blocks_bytes(height) + (ZEROS_BEFORE + ZEROS_BEHIND) * TM_SMALL_BLOCK;
    }

    /* From which group on a step takes rows that the step before does not have. */
    static __device__ __forceinline__ constexpr int first_group(bool goes_on)
    {
        return goes_on ? STEP_GROUPS - TILE_HEIGHT / 8 : 0;
    }
};

/* The bytes of B, and of the template itself, whose rows ascend, with a row of zeros before the first one and one behind the last. */
template <int BYTES>
__host__ __device__ constexpr int tm_bound_operand_bytes(int height)
{
    return tm_bound_pixels<BYTES>::PLANES * tm_bound_pixels<BYTES>::blocks_bytes(height) + (height + 2) * TM_BOUND_TAPS;
}

template <int BYTES>
struct tm_bound_block : tm_bound_part<TM_BOUND_TURNS, tm_tensor_pixels_job> {
    typedef tm_bound_part<TM_BOUND_TURNS, tm_tensor_pixels_job> part_type;
    typedef tm_bound_pixels<BYTES> P;
    typedef tm_pixel_unit<BYTES> unit_type;
    enum { RAW_BYTES = 2 * P::RAW_ROWS * P::RAW_ROW }; // of a warp that stages

    unsigned blocks, taps, limits, raw; // addresses; taps: of the template's first row
    tm_ring_of<P::ROW> ring;
    uintptr_t end_of_frame;

    /* Shared memory has operands, rows, limits, rows as they are, and the list. */
    __host__ __device__ static constexpr int shared_bytes(int height)
    {
        return tm_bound_operand_bytes<BYTES>(height) + P::GROUPS * 8 * P::ROW + 2 * TM_BOUND_LIMITS + TM_BOUND_STAGERS * RAW_BYTES;
    }

    __device__ __forceinline__ tm_bound_block(const tm_tensor_pixels_job &j, const tm_tensor_plan &p, uint8_t *shared, uint64_t *barriers,
                                              volatile int *given_up)
        : part_type(j, p, barriers, given_up)
    {
        blocks = (unsigned)__cvta_generic_to_shared(shared), taps = blocks + P::PLANES * P::blocks_bytes(j.height) + TM_BOUND_TAPS;
        const unsigned rows = blocks + tm_bound_operand_bytes<BYTES>(j.height);
        limits = rows + P::GROUPS * 8 * P::ROW, raw = limits + 2 * TM_BOUND_LIMITS;
        ring = {rows, P::GROUPS * 8, 0};
        end_of_frame = (uintptr_t)(j.frame + j.frame_rows * (int64_t)j.pitch);
    }

    __device__ __forceinline__ const tm_bound_template *rounded() const
    {
        return (const tm_bound_template *)((const uint8_t *)j.bound_fragments + tm_bound_operand_bytes<BYTES>(j.height));
    }

    /* Waits for the rows of a step that is not the block's first one. false: it is not made. Some warps look as late as when one of the next
     * two steps is given up, but no later. */
    __device__ __forceinline__ bool has_rows(int step) const
    {
        wait(TM_BOUND_ROWS, step - 1);
        return !given_up[turn(step)];
    }

    /* By the block's first threads; then all are synchronized. */
    __device__ __forceinline__ void start() const
    {
        const int i = threadIdx.x;
        if (i < TM_BOUND_TURNS)
            given_up[i] = 0;
        if (i < TM_BOUND_BARRIERS)
            tm_barrier_init(barrier(i), i < TM_BOUND_FULL    ? 32 * TM_BOUND_STAGERS
                                        : i < TM_BOUND_MADE  ? 32 * TM_BOUND_SUM_WARPS
                                        : i < TM_BOUND_KNOWN ? 32 * TM_BOUND_PRODUCT_WARPS / TM_BOUND_WARPGROUPS
                                                             : 32);
    }

    __device__ __forceinline__ void next()
    {
        ring.step(), ring.step();
        next_tile();
        if (is_fresh)
            ring.first = 0;
    }

    /* The frame's row r of a tile, from its first column on. */
    __device__ __forceinline__ const uint8_t *row_at(int tx, int ty, int r) const
    {
        return j.frame + ((int64_t)ty * TILE_HEIGHT + r) * (int64_t)j.pitch + (int64_t)tx * TILE_WIDTH * BYTES;
    }

    /* Stores a unit in its planes. Returns what tm_pixel_unit::store_bits does. left: bytes from the unit to the frame's end. */
    __device__ __forceinline__ unsigned store(const unit_type &unit, unsigned to, unsigned shift, int left) const
    {
        if constexpr (BYTES == 2)
            return unit.store_bits(to, shift, j.low_bits, left >> 1);
        unit.store(to, P::COLUMNS, shift);
        return 0;
    }

    /* The bytes from there to the frame's end, which may lie before it; at most 2^30. */
    __device__ __forceinline__ int left_from(const uint8_t *at) const
    {
        return (int)max(min((int64_t)end_of_frame - (int64_t)(uintptr_t)at, (int64_t)1 << 30), -((int64_t)1 << 30));
    }

    /* Whether so many rows from there on are in the frame, with all units that are staged of them. */
    __device__ __forceinline__ bool has_whole(const uint8_t *at, int rows) const
    {
        return end_of_frame - (uintptr_t)at >= (rows - 1) * (uint64_t)j.pitch + 8 * BYTES * P::UNITS && (uintptr_t)at < end_of_frame;
    }

    /* Stages the rows of the block's first step, by all of its threads. What lies behind the frame is not read. Returns what store does, of all.
     * WHOLE: nothing does. */
    template <bool WHOLE>
    __device__ __forceinline__ unsigned stage_first() const
    {
        enum { ALL = P::STEP_GROUPS * 8 * P::UNITS, EACH = (ALL + TM_TENSOR_THREADS - 1) / TM_TENSOR_THREADS };
        unit_type units[EACH];
        unsigned shift[EACH], bits = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int index = threadIdx.x + i * TM_TENSOR_THREADS, row = index / P::UNITS;
            const uint8_t *const at = row_at(tx, ty, row) + 8 * BYTES * (index - row * P::UNITS);
            const uint32_t *const from = (const uint32_t *)((uintptr_t)at & ~(uintptr_t)3);
            shift[i] = 8 * ((uintptr_t)at & 3);
#pragma unroll
            for (int w = 0; w <= unit_type::WORDS; w++)
                units[i].word[w] = index < ALL && (WHOLE || (uintptr_t)(from + w) < end_of_frame) ? __ldg(from + w) : 0;
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int index = threadIdx.x + i * TM_TENSOR_THREADS, row = index / P::UNITS, unit = index - row * P::UNITS;
            if (index < ALL)
                bits |= store(units[i], ring.row(row) + 8 * unit, shift[i], WHOLE ? 8 * BYTES : left_from(row_at(tx, ty, row) + 8 * BYTES * unit));
        }
        return bits;
    }

    __device__ __forceinline__ unsigned stage_first() const
    {
        return has_whole(row_at(tx, ty, 0), P::STEP_GROUPS * 8 + 1) ? stage_first<true>() : stage_first<false>();
    }
};

/* The bits of some pixels, from the first one on that is taken, of what tm_pixel_unit::store_bits returned; and whether there are any above
 * those that are taken. */
__device__ __forceinline__ unsigned tm_bound_bits(unsigned bits, int low_bits)
{
    return (bits | bits >> 16) & 0xffff >> low_bits;
}

__device__ __forceinline__ bool tm_bound_exceeds(unsigned bits, int low_bits)
{
    return tm_bound_bits(bits, low_bits) > 255;
}

/* A group of rows that comes after those of the block's first step. */
template <int BYTES>
struct tm_bound_cursor {
    int tx, ty, steps, group; // steps: this one and those to come

    /* The next step's first group. */
    __device__ __forceinline__ explicit tm_bound_cursor(const tm_bound_block<BYTES> &b) : tx(b.tx), ty(b.ty), steps(b.end - b.t)
    {
        next_step(b.p.tiles_y);
    }

    __device__ __forceinline__ void next_step(int tiles_y)
    {
        steps--, ty++;
        if (ty == tiles_y)
            ty = 0, tx++;
        group = tm_bound_pixels<BYTES>::first_group(ty > 0);
    }

    __device__ __forceinline__ void next(int tiles_y)
    {
        if (++group == tm_bound_pixels<BYTES>::STEP_GROUPS)
            next_step(tiles_y);
    }
};

/* One of the warps that stage, by number. It takes its rows of each group: copies them as they are, two groups ahead, and takes them apart. */
template <int BYTES>
struct tm_bound_stager {
    typedef tm_bound_pixels<BYTES> P;
    typedef tm_pixel_unit<BYTES> unit_type;
    tm_bound_block<BYTES> &b;
    tm_bound_cursor<BYTES> ahead;
    const int part;
    const unsigned raw;
    int turn;      // which half of raw has the next group
    unsigned bits; // that the block's pixels have, as far as this thread knows

    __device__ __forceinline__ tm_bound_stager(tm_bound_block<BYTES> &b, int part, unsigned bits)
        : b(b), ahead(b), part(part), raw(b.raw + part * tm_bound_block<BYTES>::RAW_BYTES), turn(0), bits(bits)
    {
        copy(), copy();
    }

    __device__ __forceinline__ unsigned raw_row(int i) const
    {
        return raw + (turn * P::RAW_ROWS + i) * P::RAW_ROW;
    }

    __device__ __forceinline__ const uint8_t *row_at(int tx, int ty, int group, int i) const
    {
        return b.row_at(tx, ty, 8 * group + P::RAW_ROWS * part + i);
    }

    /* Begins to copy the next group, if there is one, from multiples of 16 bytes on. */
    __device__ __forceinline__ void copy()
    {
        if (ahead.steps > 0) {
            const unsigned lane = 16 * (threadIdx.x % 32);
            const uint8_t *row = row_at(ahead.tx, ahead.ty, ahead.group, 0);
#pragma unroll
            for (int i = 0; i < P::RAW_ROWS; i++, row += b.j.pitch) {
                const uint8_t *const from = (const uint8_t *)((uintptr_t)row & ~(uintptr_t)15) + lane;
                const int left = min(b.left_from(from), P::RAW_ROW - (int)lane);
#pragma unroll
                for (int at = 0; at < P::RAW_ROW; at += 512)
                    if (at < left)
                        tm_copy16(raw_row(i) + lane + at, from + at);
            }
            ahead.next(b.p.tiles_y);
        }
        tm_bound_end_copies();
        turn ^= 1;
    }

    /* Takes a group's rows apart, of which the first one begins there. WHOLE: they are all in the frame. */
    template <bool WHOLE>
    __device__ __forceinline__ void take_apart(int group, const uint8_t *row)
    {
        const int left = b.left_from(row);
        const unsigned first = (unsigned)(uintptr_t)row, to = b.ring.row(8 * group + P::RAW_ROWS * part);
#pragma unroll
        for (int k = 0; k < P::RAW_ROWS * P::UNITS; k += 32) {
            const int index = k + (int)(threadIdx.x % 32), i = index / P::UNITS, unit = index - i * P::UNITS;
            const unsigned offset = (first + i * (unsigned)b.j.pitch) % 16 + 8 * BYTES * unit, from = raw_row(i) + (offset & ~3u);
            if (index >= P::RAW_ROWS * P::UNITS)
                break;
            unit_type of;
#pragma unroll
            for (int w = 0; w <= unit_type::WORDS; w++)
                of.word[w] = tm_load4(from + 4 * w);
            bits |= b.store(of, to + i * P::ROW + 8 * unit, 8 * (offset & 3),
                            WHOLE ? 8 * BYTES : left - i * (int)b.j.pitch - 8 * BYTES * unit);
        }
    }

    /* Takes a group of the block's step apart, and begins to copy what comes in its place. */
    __device__ __forceinline__ void stage(int group)
    {
        const uint8_t *const row = row_at(b.tx, b.ty, group, 0);
        tm_bound_wait_for_copies<1>();
        __syncwarp();
        if (BYTES == 3 || b.has_whole(row, P::RAW_ROWS))
            take_apart<true>(group, row);
        else
            take_apart<false>(group, row);
        __syncwarp();
        copy();
    }

    /* Stages the rows of all steps but the first one, until a block of the launch has listed too much, or met pixels of more bits. Between steps the warps have time for
     * something else in turns, which is told the last step whose limits have surely been read, if there is one. */
    template <typename F>
    __device__ __forceinline__ void run(F something_else)
    {
        enum { BEHIND = 3 }; // so many steps before this one the last one is that has rows which are overwritten
        for (int step = 1; b.t + 1 < b.end; step++) {
            const int score = __shfl_sync(~0u, __ldcg(b.j.running_bests), 0); // others may write it between two lanes' loads
            const bool goes_on = b.goes_on();
            for (int before = max(step - BEHIND, 0); before <= (goes_on ? step - BEHIND : step - 1); before++) {
                b.wait(TM_BOUND_MADE, before);
                b.wait(TM_BOUND_FULL, before);
            }
            const bool gives_up = part == 0 && score == TM_BOUND_GIVEN_UP;
            if (BYTES == 2 && __any_sync(~0u, tm_bound_exceeds(bits, b.j.low_bits)))
                atomicMax(b.j.running_bests, (int)TM_BOUND_GIVEN_UP);
            b.next();
            if (gives_up && threadIdx.x % 32 == 0)
                b.given_up[b.turn(step)] = 1;
            for (int group = P::first_group(goes_on); !gives_up && group < P::STEP_GROUPS; group++)
                stage(group);
            if (step > BEHIND)
                b.wait(TM_BOUND_READ, step - BEHIND - 1);
            b.arrive(TM_BOUND_ROWS, step - 1);
            if (!b.has_rows(step))
                break;
            if (step > BEHIND && step % TM_BOUND_STAGERS == part)
                something_else(step - BEHIND - 1);
        }
        tm_copy_wait();
    }
};

#endif
