/* SPDX-License-Identifier: MIT */
/* The rows of a certified search, for vectors of LANES lanes. The including file may define v_pairs,
 * which adds the products of pairs of 16 bits, where it has an instruction for that. */
#include <math.h>

#include "lcc/cpu/kernels.h"

#define LEVEL_INLINE static inline __attribute__((always_inline))

#ifndef v_pairs
#define v_pairs(sums, pairs, taps) v_add(sums, v_madd(pairs, taps))
#define LEVEL_ROWS 1 /* and all other kernels besides the products */
#endif

#ifdef LEVEL_ROWS
static void move_columns(uint16_t *columns, const uint8_t *enter, const uint8_t *leave, int count)
{
    for (int x = 0; x < count; x += 2 * LANES) {
        const vi difference = v_sub16(v_u8_16(enter + x), v_u8_16(leave + x));
        v_store(columns + x, v_add16(v_load(columns + x), difference));
    }
}

/* The sums of block_x columns from each on, less the bias: few columns are added up in 16 bits, of
 * many the sums over the columns before are subtracted in 32. */
LEVEL_INLINE void sum_few(const tm_block_row *row, uint16_t *sums)
{
    const vi bias = v_set1(row->bias | (int)((unsigned)row->bias << 16));

    for (int x = 0; x < row->count + row->block_x; x += 2 * LANES) {
        vi sum = v_sub16(v_loadu(row->columns + x), bias);
        for (int i = 1; i < row->block_x; i++)
            sum = v_add16(sum, v_loadu(row->columns + x + i));
        v_store(sums + x, sum);
    }
}

LEVEL_INLINE void sum_many(const tm_block_row *row)
{
    const int half = row->shift ? 1 << (row->shift - 1) : 0;
    const vi bias = v_set1(half - row->bias);
    const int end = row->count + 2 * row->block_x;
    vi carry = v_zero();

    for (int x = 0; x < end; x += LANES) {
        const vi column = v_u16_32(row->columns + x), scan = v_scan(column);
        v_store(row->sums + x, v_add(v_sub(scan, column), carry));
        carry = v_add(carry, v_last(scan));
    }
    for (int x = 0; x < row->count + row->block_x; x += LANES) {
        const vi sum = v_sub(v_loadu(row->sums + x + row->block_x), v_load(row->sums + x));
        v_store(row->sums + x, v_srav(v_add(sum, bias), row->shift));
    }
}

/* few: the sums have 16 bits. squares says whether those are wanted. */
LEVEL_INLINE void pair_blocks(const tm_block_row *row, int few, int squares)
{
    const vi low = v_set1(0xffff);
    const uint16_t *sums = (const uint16_t *)row->sums;

    for (int x = 0; x < row->count; x += LANES) {
        const vi entering = few ? v_u16_32(sums + x) : v_and(v_load(row->sums + x), low);
        const vi next = few ? v_u16_32(sums + x + row->block_x) : v_loadu(row->sums + x + row->block_x);
        if (squares) {
            const vi leaving = v_and(v_load(row->pairs + x), low);
            vi in = v_madd(entering, entering), out = v_madd(leaving, leaving);
            if (row->square_shift) {
                in = v_srlv(in, row->square_shift);
                out = v_srlv(out, row->square_shift);
            }
            v_store(row->squares + x, v_add(v_load(row->squares + x), v_sub(in, out)));
        }
        v_store(row->pairs + x, v_or(entering, v_sll(next, 16)));
    }
}

static void make_blocks(const tm_block_row *row)
{
    if (row->block_x <= 8 && row->shift == 0) {
        sum_few(row, (uint16_t *)row->sums);
        if (row->squares)
            pair_blocks(row, 1, 1);
        else
            pair_blocks(row, 1, 0);
    } else {
        sum_many(row);
        pair_blocks(row, 0, row->squares != NULL);
    }
}

/* squares and prefixes say whether they are wanted. */
LEVEL_INLINE void move_level_as(const tm_level_columns *c, const uint8_t *enter,
                                const uint8_t *leave, int count, int squares, int prefixes)
{
    const vi bias = v_set1(256), low = v_set1(0xffff);
    vi carry = v_zero(), carry_sq = v_zero();

    for (int x = 0; x < count; x += LANES) {
        const vi in = v_u8_32(enter + x), out = v_u8_32(leave + x), difference = v_sub(in, out);
        const vi sum = v_add(v_load(c->sum + x), difference);
        v_store(c->sum + x, sum);
        if (prefixes) {
            const vi scan = v_scan(sum);
            v_store(c->prefix + x, v_add(v_sub(scan, sum), carry));
            carry = v_add(carry, v_last(scan));
        }
        if (!squares)
            continue;
        /* the squares of G differ by (in - out) (in + out - 256) */
        const vi other = v_and(v_sub(v_add(in, out), bias), low);
        const vi sum_sq = v_add(v_load(c->squares + x), v_madd(difference, other));
        v_store(c->squares + x, sum_sq);
        if (prefixes) {
            const vi scan = v_scan(sum_sq);
            v_store(c->prefix_sq + x, v_add(v_sub(scan, sum_sq), carry_sq));
            carry_sq = v_add(carry_sq, v_last(scan));
        }
    }
}

static void move_level(const tm_level_columns *c, const uint8_t *enter, const uint8_t *leave,
                       int count)
{
    if (c->prefix && c->squares)
        move_level_as(c, enter, leave, count, 1, 1);
    else if (c->prefix)
        move_level_as(c, enter, leave, count, 0, 1);
    else if (c->squares)
        move_level_as(c, enter, leave, count, 1, 0);
    else
        move_level_as(c, enter, leave, count, 0, 0);
}

static int32_t window_product(const uint8_t *window, ptrdiff_t pitch, const int8_t *taps,
                              ptrdiff_t stride, int w, int h)
{
    vi sums = v_zero(), more = v_zero();
    int32_t lanes[LANES], sum = 0;

    for (int y = 0; y < h; y++) {
        const uint8_t *row = window + y * pitch;
        const int8_t *tap = taps + y * stride;
        int x = 0;
        for (; x + 2 * LANES < w; x += 4 * LANES) {
            sums = v_add(sums, v_madd(v_u8_16(row + x), v_s8_16(tap + x)));
            more = v_add(more, v_madd(v_u8_16(row + x + 2 * LANES), v_s8_16(tap + x + 2 * LANES)));
        }
        if (x < w)
            sums = v_add(sums, v_madd(v_u8_16(row + x), v_s8_16(tap + x)));
    }
    v_storeu(lanes, v_add(sums, more));
    for (int i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}
#endif

enum { AT_ONCE = 4 }; /* vectors of windows, which share a load of each tap */

/* The sums over count columns from each window's first on. */
LEVEL_INLINE vi level_sum(const int32_t *prefix, int x, int count)
{
    return v_sub(v_loadu(prefix + x + count), v_loadu(prefix + x));
}

/* Adds the windows of this vector whose lanes are set. */
LEVEL_INLINE int list_windows(unsigned lanes, int x, int width, uint16_t *windows, int count)
{
    for (; lanes; lanes &= lanes - 1) {
        const int window = x + __builtin_ctz(lanes);
        if (window < width)
            windows[count++] = (uint16_t)window;
    }
    return count;
}

/* What the bound knows of a vector of windows before their products. */
typedef struct level_sums {
    vf length; /* |f| */
    vf mean;   /* of G */
    vf right;  /* what the products must reach */
} level_sums;

LEVEL_INLINE level_sums level_sums_of(const tm_level_row *row, vi all, vi part, vi squares, int at,
                                      int whole)
{
    const vf none = vf_set1(0x1p-40f);
    const vf sum = vf_of_s32(all);
    const vf sum_sq = vf_of_s32(level_sum(row->prefix_sq, at, row->w));
    const vf mean = vf_mul(sum, vf_set1(row->inverse_n));
    const vf energy = vf_nmadd(mean, sum, vf_add(sum_sq, vf_set1(-row->e_energy)));
    const vf length = vf_root(vf_max(energy, none));
    vf rest = vf_nmadd(vf_of_s32(squares), vf_set1(row->of_squares),
                       vf_add(sum_sq, vf_set1(row->e_rest)));

    if (!whole) {
        const vf covered = vf_of_s32(part);
        rest = vf_nmadd(mean, sum, rest);
        rest = vf_nmadd(vf_mul(covered, vf_set1(-row->inverse_d)), covered, rest);
    }
    return (level_sums){length, mean,
                        vf_nmadd(vf_root(vf_max(rest, none)), vf_set1(row->rest),
                                 vf_mul(length, vf_set1(row->least)))};
}

/* Levels of few blocks, which are all looked at. sums: whether there are prefixes. */
LEVEL_INLINE int pass_few(const tm_level_row *row, uint16_t *windows, int sums)
{
    enum { FEW_AT_ONCE = LANES == 16 ? 4 : 2 }; /* registers there are for */
    const float square = tm_level_least_square(row);
    const vf least = vf_set1(square > 0 ? square : 0), lowest = vf_set1(square > 0 ? 0 : -INFINITY);
    const vf scale = vf_set1(row->scale), spare = vf_set1(-row->spare), e_energy = vf_set1(-row->e_energy);
    const vf of_squares = vf_set1(-row->of_squares), inverse_d = vf_set1(row->inverse_d);
    const vi ones = v_set1(0x00010001);
    const int pairs = row->parts[TM_LEVEL_PARTS - 1].end;
    const uint32_t *from[TM_FEW_PAIRS];
    int count = 0;

    for (int i = 0; i < pairs; i++)
        from[i] = row->blocks[row->pairs[i].row] + row->pairs[i].column;
    for (int x = 0; x < row->width; x += FEW_AT_ONCE * LANES) {
        vi p[FEW_AT_ONCE], part[FEW_AT_ONCE], squares[FEW_AT_ONCE];
        vf left[FEW_AT_ONCE];
        unsigned lanes[FEW_AT_ONCE], any = 0;
        for (int k = 0; k < FEW_AT_ONCE; k++)
            p[k] = part[k] = squares[k] = v_zero();
        for (int i = 0; i < pairs; i++) {
            const tm_level_pair *pair = &row->pairs[i];
            const vi taps = v_set1(pair->taps);
            vi both[FEW_AT_ONCE];
            for (int k = 0; k < FEW_AT_ONCE; k++)
                both[k] = v_loadu(from[i] + x + k * LANES);
            if (pair->mask != -1) {
                for (int k = 0; k < FEW_AT_ONCE; k++)
                    both[k] = v_and(both[k], v_set1(pair->mask));
            }
#pragma GCC unroll 4
            for (int k = 0; k < FEW_AT_ONCE; k++) {
                p[k] = v_pairs(p[k], both[k], taps);
                part[k] = v_pairs(part[k], both[k], ones);
                squares[k] = v_pairs(squares[k], both[k], both[k]);
            }
        }
#pragma GCC unroll 4
        for (int k = 0; k < FEW_AT_ONCE; k++) {
            const vf covered = vf_of_s32(part[k]);
            const vf energy = vf_nmadd(vf_mul(covered, inverse_d), covered,
                                       vf_nmadd(vf_of_s32(squares[k]), of_squares, e_energy));
            left[k] = vf_msub(vf_of_s32(p[k]), scale, spare);
            any |= lanes[k] = vf_ge_lanes(vf_mul(left[k], left[k]), vf_mul(energy, least));
        }
        if (!any)
            continue;
        for (int k = 0; k < FEW_AT_ONCE; k++) {
            const int at = x + k * LANES;
            lanes[k] &= vf_ge_lanes(left[k], lowest);
            if (sums && lanes[k])
                lanes[k] &= vf_ge_lanes(left[k], level_sums_of(row, level_sum(row->prefix, at, row->w), part[k],
                                                               squares[k], at, 0).right);
            count = list_windows(lanes[k], at, row->width, windows, count);
        }
    }
    return count;
}

LEVEL_INLINE int pass_many(const tm_level_row *row, uint16_t *windows)
{
    const vf scale = vf_set1(row->scale), spare = vf_set1(-row->spare);
    int count = 0;

    for (int x = 0; x < row->width; x += AT_ONCE * LANES) {
        vi p[AT_ONCE], squares[AT_ONCE];
        vf left[AT_ONCE];
        level_sums sums[AT_ONCE];
        unsigned alive = 1;
        for (int k = 0; k < AT_ONCE; k++)
            p[k] = squares[k] = v_zero();
        for (int j = 0; j < row->across; j++) {
            for (int k = 0; k < AT_ONCE; k++)
                squares[k] = v_add(squares[k],
                                   v_loadu(row->squares + x + j * row->block_x + k * LANES));
        }
        for (int k = 0; k < AT_ONCE; k++) {
            const int at = x + k * LANES;
            const vi all = level_sum(row->prefix, at, row->w);
            const vi part = row->prefix_d ? level_sum(row->prefix_d, at, row->covered) : all;
            sums[k] = level_sums_of(row, all, part, squares[k], at, row->inverse_d == 0);
        }
        const tm_level_pair *pair = row->pairs;
        for (int i = 0; i < TM_LEVEL_PARTS && alive; i++) {
            const tm_level_part *part = &row->parts[i];
            for (; pair < row->pairs + part->end; pair++) {
                const vi taps = v_set1(pair->taps);
                const uint32_t *blocks = row->blocks[pair->row] + x + pair->column;
                for (int k = 0; k < AT_ONCE; k++)
                    p[k] = v_pairs(p[k], v_loadu(blocks + k * LANES), taps);
            }
            alive = 0;
            for (int k = 0; k < AT_ONCE; k++) {
                left[k] = vf_msub(vf_of_s32(p[k]), scale, spare);
                const vf later = vf_nmadd(sums[k].length, vf_set1(-part->tail),
                                          vf_nmadd(sums[k].mean, vf_set1(-part->mean),
                                                   vf_set1(part->spare)));
                alive |= vf_ge(vf_add(left[k], later), sums[k].right);
            }
        }
        if (!alive)
            continue;
        for (int k = 0; k < AT_ONCE; k++)
            count = list_windows(vf_ge_lanes(left[k], sums[k].right), x + k * LANES, row->width,
                                 windows, count);
    }
    return count;
}

static int pass_windows(const tm_level_row *row, uint16_t *windows)
{
    return row->squares     ? pass_many(row, windows)
           : row->prefix_sq ? pass_few(row, windows, 1)
                            : pass_few(row, windows, 0);
}

#ifdef LEVEL_ROWS
static void assign_levels(tm_cpu_kernels *kernels)
{
    kernels->move_columns = move_columns;
    kernels->make_blocks = make_blocks;
    kernels->move_level = move_level;
    kernels->pass_windows = pass_windows;
    kernels->window_product = window_product;
}
#endif
