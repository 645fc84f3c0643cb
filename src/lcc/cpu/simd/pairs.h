/* SPDX-License-Identifier: MIT */
/* S_FT' by products of 2 samples of 16 bits, whose sums cannot overflow. (The
 * products of bytes before VNNI saturate at 16 bits, and full-range taps do.)
 *
 * Two output rows, 2k and 2k + 1, take three correlations of half the template's height, not four. With the
 * even and odd rows of the frame, E and O, and of the template, T0 and T1,
 *
 *     M = (T0 + T1) * O    row 2k = M + T0 * (E - O)    row 2k + 1 = M + T1 * (E' - O)
 *
 * where E' are the even rows each below the odd one. All are integers modulo 2^32, so the sums are the same.
 *
 *     taps: int16 pairs, [T0 + T1, T0, T1][step][row of that]
 *     planes: rows of O, E - O and E' - O in turns; in each plane p, dword j: samples 4*j + p and 4*j + p + 1 */
#include <string.h>

#include "lcc/cpu/kernels.h"

enum { PAIR_ROWS = 12, KINDS = 3 };

static inline int16_t pair_tap(const tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride, int u, int v)
{
    return (int16_t)(u < packed->w && v < packed->h ? samples[v * stride + u] - TM_TAP_BIAS : 0);
}

/* How many rows T0, and T0 + T1, has, and T1. */
static inline int pair_height(const tm_packed_taps *packed, int kind)
{
    return kind < 2 ? (packed->h + 1) / 2 : packed->h / 2;
}

static void pack_pairs(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride)
{
    int16_t *taps = (int16_t *)packed->taps;

    packed->steps = (packed->w + 1) / 2;
    packed->extra = packed->groups = 0;
    packed->planes = KINDS;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int k = 0; k < 2 * packed->steps; k += 2) {
            for (int i = 0; i < pair_height(packed, kind); i++) {
                for (int u = k; u < k + 2; u++) {
                    const int16_t even = pair_tap(packed, samples, stride, u, 2 * i),
                                  odd = pair_tap(packed, samples, stride, u, 2 * i + 1);
                    *taps++ = (int16_t)(kind == 0 ? even + odd : kind == 1 ? even : odd);
                }
            }
        }
    }
}

static void expand_pairs(uint32_t *planes, const uint8_t *staged, ptrdiff_t stride, int rows,
                         const tm_packed_taps *packed)
{
    const vi at0 = v_set1_128(_mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
    const vi at1 = v_set1_128(_mm_setr_epi8(1, -1, 2, -1, 5, -1, 6, -1, 9, -1, 10, -1, 13, -1, 14, -1));
    const vi at2 = v_set1_128(_mm_setr_epi8(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1));
    const ptrdiff_t plane = stride / 4;

    (void)packed;
    for (int y = 0; y < rows; y += 2) {
        const uint8_t *row = staged + y * stride;
        uint32_t *to = planes + y / 2 * KINDS * stride;
        for (ptrdiff_t j = 0; j < plane; j += LANES) {
            for (int p = 0; p < 4; p++) {
                const uint8_t *from = row + 4 * j + (p == 3);
                const vi order = p == 0 ? at0 : p == 1 ? at1 : at2;
                const vi above = v_bytes(v_loadu(from), order), odd = v_bytes(v_loadu(from + stride), order),
                         below = v_bytes(v_loadu(from + 2 * stride), order);
                v_store(to + p * plane + j, odd);
                v_store(to + stride + p * plane + j, v_sub16(above, odd));
                v_store(to + 2 * stride + p * plane + j, v_sub16(below, odd));
            }
        }
    }
}

static void expand_wide_pairs(uint32_t *planes, const uint16_t *staged, ptrdiff_t stride, int rows)
{
    const ptrdiff_t plane = stride / 4;

    for (int y = 0; y < rows; y += 2) {
        const uint16_t *row = staged + y * stride;
        uint32_t *to = planes + y / 2 * KINDS * stride;
        for (ptrdiff_t j = 0; j < plane; j += LANES) {
            for (int p = 0; p < 4; p++) {
                const uint16_t *from = row + 4 * j + p, *from_odd = from + stride, *from_below = from_odd + stride;
                const vi above = v_even(v_loadu(from), v_loadu(from + 2 * LANES));
                const vi odd = v_even(v_loadu(from_odd), v_loadu(from_odd + 2 * LANES));
                const vi below = v_even(v_loadu(from_below), v_loadu(from_below + 2 * LANES));
                v_store(to + p * plane + j, odd);
                v_store(to + stride + p * plane + j, v_sub16(above, odd));
                v_store(to + 2 * stride + p * plane + j, v_sub16(below, odd));
            }
        }
    }
}

/* Keeps the compiler from adding products to each other first, which takes more
 * registers than there are, and from loading samples again for each row. */
#define PIN(vector) __asm__("" : "+v"(vector))

/* One step of rows first to last of the sums, for two phases. */
#define PAIR(i, first, last)                                   \
    if ((first) <= (i) && (i) <= (last)) {                     \
        vi pair_of_taps = v_set1(tap[-(i)]);                   \
        a##i##0 = v_add(a##i##0, v_madd(f0, pair_of_taps));    \
        a##i##1 = v_add(a##i##1, v_madd(f1, pair_of_taps));    \
        PIN(a##i##0);                                          \
        PIN(a##i##1);                                          \
    }

#define PAIR_STEP(at, first, last)                             \
    do {                                                       \
        vi f0 = v_loadu(at), f1 = v_loadu((at) + plane);       \
        PIN(f0);                                               \
        PIN(f1);                                               \
        PAIR(0, first, last)                                   \
        PAIR(1, first, last)                                   \
        PAIR(2, first, last)                                   \
        PAIR(3, first, last)                                   \
        PAIR(4, first, last)                                   \
        PAIR(5, first, last)                                   \
        tap += h;                                              \
    } while (0)

/* Steps alternate between planes 0, 1 and 2, 3; after two, one dword on. */
#define PAIR_SPAN(first, last)                                 \
    case 8 * (first) + (last):                                 \
        for (int k = 0; k < steps / 2; k++) {                  \
            PAIR_STEP(even, first, last);                      \
            PAIR_STEP(odd, first, last);                       \
            even++;                                            \
            odd++;                                             \
        }                                                      \
        if (steps % 2)                                         \
            PAIR_STEP(even, first, last);                      \
        break

#define EACH_ROW(do_row) do_row(0) do_row(1) do_row(2) do_row(3) do_row(4) do_row(5)

#define PAIR_STORE(i)                                          \
    if (2 * (i) + offset < rows) {                             \
        int32_t *to = sft + (2 * (i) + offset) * sft_stride;   \
        v_store(to, a##i##0);                                  \
        v_store(to + TM_LANES, a##i##1);                       \
    }

#define PAIR_LOAD(i)                                           \
    if (2 * (i) + 1 < rows) {                                  \
        const int32_t *from = sft + (2 * (i) + 1) * sft_stride; \
        a##i##0 = v_load(from);                                \
        a##i##1 = v_load(from + TM_LANES);                     \
    }

/* Makes phases half and half + 1 of a tile of 4*LANES columns of at most PAIR_ROWS rows. */
static inline __attribute__((always_inline)) void
pair_tile(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed, const uint32_t *planes,
          ptrdiff_t stride, int rows, int half)
{
    const int steps = packed->steps;
    const int32_t *taps = packed->taps;
    const ptrdiff_t plane = stride / 4;
    vi a00 = v_zero(), a01 = v_zero(), a10 = v_zero(), a11 = v_zero(), a20 = v_zero(), a21 = v_zero();
    vi a30 = v_zero(), a31 = v_zero(), a40 = v_zero(), a41 = v_zero(), a50 = v_zero(), a51 = v_zero();

    for (int kind = 0; kind < KINDS; kind++) {
        const int h = pair_height(packed, kind), sums = kind < 2 ? (rows + 1) / 2 : rows / 2;
        const int spans = h && sums ? h + sums - 1 : 0, middle = (spans + 1) / 2;
        for (int i = 0; i < spans; i++) { /* in turns: see quads.h */
            const int v = i % 2 ? middle + i / 2 : i / 2;
            const uint32_t *even = planes + (v * KINDS + kind) * stride + half * plane;
            const uint32_t *odd = half ? planes + (v * KINDS + kind) * stride + 1 : even + 2 * plane;
            const int32_t *tap = taps + v;
            const int first = v < h ? 0 : v - h + 1, last = v < sums ? v : sums - 1;

            switch (8 * first + last) {
                PAIR_SPAN(0, 0); PAIR_SPAN(0, 1); PAIR_SPAN(0, 2); PAIR_SPAN(0, 3); PAIR_SPAN(0, 4); PAIR_SPAN(0, 5);
                PAIR_SPAN(1, 1); PAIR_SPAN(1, 2); PAIR_SPAN(1, 3); PAIR_SPAN(1, 4); PAIR_SPAN(1, 5);
                PAIR_SPAN(2, 2); PAIR_SPAN(2, 3); PAIR_SPAN(2, 4); PAIR_SPAN(2, 5);
                PAIR_SPAN(3, 3); PAIR_SPAN(3, 4); PAIR_SPAN(3, 5);
                PAIR_SPAN(4, 4); PAIR_SPAN(4, 5);
                PAIR_SPAN(5, 5);
            }
        }
        taps += steps * h;
        const int offset = kind != 1; /* M is kept where row 2k + 1 will be, and the sums go on to row 2k */
        EACH_ROW(PAIR_STORE)
        if (kind == 1) {
            EACH_ROW(PAIR_LOAD)
        }
    }
}

static void correlate_pairs(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed,
                            const uint8_t *staged, const uint32_t *planes, ptrdiff_t stride,
                            int rows, int blocks)
{
    (void)staged;
    for (int y = 0; y < rows; y += PAIR_ROWS) {
        int height = rows - y < PAIR_ROWS ? rows - y : PAIR_ROWS;
        for (int j = 0; j < blocks * TM_LANES; j += LANES) {
            for (int half = 0; half <= 2; half += 2)
                pair_tile(sft + y * sft_stride + j / TM_LANES * TM_BLOCK + j % TM_LANES +
                              half * TM_LANES,
                          sft_stride, packed, planes + y / 2 * KINDS * stride + j, stride, height, half);
        }
    }
}

static void assign_pairs(tm_cpu_kernels *kernels)
{
    kernels->pack = pack_pairs;
    kernels->expand = expand_pairs;
    kernels->expand_wide = expand_wide_pairs;
    kernels->correlate = correlate_pairs;
}
