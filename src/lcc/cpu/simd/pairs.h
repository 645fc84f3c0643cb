/* SPDX-License-Identifier: MIT */
/* S_FT' by products of 2 samples of 16 bits, whose sums cannot overflow. (The
 * products of bytes before VNNI saturate at 16 bits, and full-range taps do.)
 *
 *     taps: int16 pairs, [step][template row]
 *     planes: row y, plane p, dword j: samples (4*j + p, y) and (4*j + p + 1, y) */
#include <string.h>

#include "lcc/cpu/kernels.h"

enum { PAIR_ROWS = 4 };

static void pack_pairs(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride)
{
    int16_t *taps = (int16_t *)packed->taps;

    packed->steps = (packed->w + 1) / 2;
    packed->extra = packed->groups = 0;
    packed->planes = 1;
    for (int k = 0; k < packed->steps; k++) {
        for (int v = 0; v < packed->h; v++) {
            const uint8_t *pair = samples + v * stride + 2 * k;
            *taps++ = (int16_t)(pair[0] - TM_TAP_BIAS);
            *taps++ = (int16_t)(2 * k + 1 < packed->w ? pair[1] - TM_TAP_BIAS : 0);
        }
    }
}

static void expand_pairs(uint32_t *planes, const uint8_t *staged, ptrdiff_t stride, int rows,
                         const tm_packed_taps *packed)
{
    const vi at0 = v_set1_128(_mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
    const vi at1 = v_set1_128(_mm_setr_epi8(1, -1, 2, -1, 5, -1, 6, -1, 9, -1, 10, -1, 13, -1, 14, -1));
    const vi at2 = v_set1_128(_mm_setr_epi8(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1));
    ptrdiff_t plane = stride / 4;

    (void)packed;
    for (int y = 0; y < rows; y++) {
        const uint8_t *row = staged + y * stride;
        uint32_t *to = planes + y * stride;
        for (ptrdiff_t j = 0; j < plane; j += LANES) {
            vi a = v_load(row + 4 * j);
            v_store(to + j, v_bytes(a, at0));
            v_store(to + plane + j, v_bytes(a, at1));
            v_store(to + 2 * plane + j, v_bytes(a, at2));
            v_store(to + 3 * plane + j, v_bytes(v_loadu(row + 4 * j + 1), at2));
        }
    }
}

/* Keeps the compiler from adding products to each other first, which takes more
 * registers than there are. */
#define PIN(sums) __asm__("" : "+v"(sums))

/* One step of output rows first to last, for two phases. */
#define PAIR(i, first, last)                                   \
    if ((first) <= (i) && (i) <= (last)) {                     \
        vi pair_tap = v_set1(tap[-(i)]);                       \
        a##i##0 = v_add(a##i##0, v_madd(f0, pair_tap));        \
        a##i##1 = v_add(a##i##1, v_madd(f1, pair_tap));        \
        PIN(a##i##0);                                          \
        PIN(a##i##1);                                          \
    }

#define PAIR_STEP(at, first, last)                             \
    do {                                                       \
        vi f0 = v_loadu(at), f1 = v_loadu((at) + plane);       \
        PAIR(0, first, last)                                   \
        PAIR(1, first, last)                                   \
        PAIR(2, first, last)                                   \
        PAIR(3, first, last)                                   \
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

#define PAIR_STORE(i)                                          \
    if ((i) < rows) {                                          \
        v_store(sft + (i) * sft_stride, a##i##0);              \
        v_store(sft + (i) * sft_stride + TM_LANES, a##i##1);   \
    }

/* Makes phases half and half + 1 of a tile of 4*LANES columns of at most PAIR_ROWS rows. */
static inline __attribute__((always_inline)) void
pair_tile(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed, const uint32_t *planes,
          ptrdiff_t stride, int rows, int half)
{
    int h = packed->h, steps = packed->steps;
    ptrdiff_t plane = stride / 4;
    vi a00 = v_zero(), a01 = v_zero(), a10 = v_zero(), a11 = v_zero();
    vi a20 = v_zero(), a21 = v_zero(), a30 = v_zero(), a31 = v_zero();

    int spans = h + rows - 1, middle = (spans + 1) / 2;
    for (int i = 0; i < spans; i++) { /* in turns: see quads.h */
        int v = i % 2 ? middle + i / 2 : i / 2;
        const uint32_t *even = planes + v * stride + half * plane;
        const uint32_t *odd = half ? planes + v * stride + 1 : even + 2 * plane;
        const int32_t *tap = packed->taps + v;
        int first = v < h ? 0 : v - h + 1, last = v < rows ? v : rows - 1;

        switch (8 * first + last) {
            PAIR_SPAN(0, 0);
            PAIR_SPAN(0, 1);
            PAIR_SPAN(0, 2);
            PAIR_SPAN(0, 3);
            PAIR_SPAN(1, 1);
            PAIR_SPAN(1, 2);
            PAIR_SPAN(1, 3);
            PAIR_SPAN(2, 2);
            PAIR_SPAN(2, 3);
            PAIR_SPAN(3, 3);
        }
    }
    PAIR_STORE(0)
    PAIR_STORE(1)
    PAIR_STORE(2)
    PAIR_STORE(3)
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
                          sft_stride, packed, planes + y * stride + j, stride, height, half);
        }
    }
}

static void assign_pairs(tm_cpu_kernels *kernels)
{
    kernels->pack = pack_pairs;
    kernels->expand = expand_pairs;
    kernels->correlate = correlate_pairs;
}
