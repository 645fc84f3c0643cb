/* SPDX-License-Identifier: MIT */
/* The rows of a certified search, for vectors of LANES lanes. The including file may define v_pairs,
 * which adds the products of pairs of 16 bits, where it has an instruction for that. */
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

static void make_blocks(const tm_block_row *row)
{
    const vi bias = v_set1(row->bias | (int)((unsigned)row->bias << 16)), low = v_set1(0xffff);

    for (int x = 0; x < row->count + TM_LEVEL_BLOCK; x += 2 * LANES) {
        vi sum = v_sub16(v_loadu(row->columns + x), bias);
        for (int i = 1; i < row->block_x; i++)
            sum = v_add16(sum, v_loadu(row->columns + x + i));
        v_store(row->sums + x, sum);
    }
    for (int x = 0; x < row->count; x += LANES) {
        const vi leaving = v_and(v_load(row->pairs + x), low), entering = v_u16_32(row->sums + x);
        const vi next = v_u16_32(row->sums + x + row->block_x);
        vi in = v_madd(entering, entering), out = v_madd(leaving, leaving);
        if (row->shift) {
            in = v_srlv(in, row->shift);
            out = v_srlv(out, row->shift);
        }
        v_store(row->squares + x, v_add(v_load(row->squares + x), v_sub(in, out)));
        v_store(row->pairs + x, v_or(entering, v_sll(next, 16)));
    }
}

/* g is 0 where squares are not wanted, and so are prefixes. */
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
    if (c->squares && c->prefix)
        move_level_as(c, enter, leave, count, 1, 1);
    else if (c->squares)
        move_level_as(c, enter, leave, count, 1, 0);
    else
        move_level_as(c, enter, leave, count, 0, c->prefix != NULL);
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

/* Adds the windows of this vector that pass. */
static __attribute__((noinline)) int list_windows(vf p, vf least, int x, int width,
                                                  uint16_t *windows, int count)
{
    float left[LANES], right[LANES];

    vf_storeu(left, p);
    vf_storeu(right, least);
    for (int i = 0; i < LANES && x + i < width; i++) {
        if (left[i] >= right[i])
            windows[count++] = (uint16_t)(x + i);
    }
    return count;
}

static int pass_windows(const tm_level_row *row, uint16_t *windows)
{
    const int pairs = (row->across + 1) / 2;
    const vf none = vf_set1(0.0f);
    int count = 0;

    for (int x = 0; x < row->width; x += AT_ONCE * LANES) {
        vi p[AT_ONCE], squares[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++)
            p[k] = squares[k] = v_zero();
        const int32_t *tap = row->taps;
        for (int i = 0; i < row->down; i++) {
            const uint32_t *blocks = row->pairs[i] + x;
            for (int j = 0; j < pairs; j++, tap++, blocks += 2 * row->block_x) {
                const vi taps = v_set1(*tap);
                for (int k = 0; k < AT_ONCE; k++)
                    p[k] = v_pairs(p[k], v_loadu(blocks + k * LANES), taps);
            }
        }
        for (int j = 0; j < row->across; j++) {
            for (int k = 0; k < AT_ONCE; k++)
                squares[k] = v_add(squares[k],
                                   v_loadu(row->squares + x + j * row->block_x + k * LANES));
        }
        for (int k = 0; k < AT_ONCE; k++) {
            const int at = x + k * LANES;
            const vf sum = vf_of_s32(level_sum(row->prefix, at, row->w));
            const vf sum_sq = vf_of_s32(level_sum(row->prefix_sq, at, row->w));
            const vf energy = vf_nmadd(vf_mul(sum, vf_set1(row->inverse_n)), sum,
                                       vf_add(sum_sq, vf_set1(-row->e_energy)));
            vf rest = vf_nmadd(vf_of_s32(squares[k]), vf_set1(row->of_squares),
                               vf_add(sum_sq, vf_set1(row->e_rest)));
            if (row->inverse_d != 0) {
                const vf part = vf_of_s32(level_sum(row->prefix_d, at, row->covered));
                rest = vf_nmadd(vf_mul(sum, vf_set1(row->inverse_n)), sum, rest);
                rest = vf_nmadd(vf_mul(part, vf_set1(-row->inverse_d)), part, rest);
            }
            const vf left =
                vf_msub(vf_of_s32(p[k]), vf_set1(row->scale), vf_set1(-row->spare));
            const vf right =
                vf_nmadd(vf_sqrt(vf_max(rest, none)), vf_set1(row->rest),
                         vf_mul(vf_sqrt(vf_max(energy, none)), vf_set1(row->least)));
            if (vf_ge(left, right))
                count = list_windows(left, right, at, row->width, windows, count);
        }
    }
    return count;
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
