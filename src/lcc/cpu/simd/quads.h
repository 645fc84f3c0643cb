/* SPDX-License-Identifier: MIT */
/* S_FT' by products of 4 bytes: v_dot(sums, samples, taps) adds 4 products a
 * lane. The including file defines v_dot, and TILE_ROWS, 6 or 3: the output rows
 * whose sums, 4 phases each, stay in registers. A frame row is loaded once for
 * all of them. Where v_dot wants other samples than the frame's, the file defines
 * v_samples, their load, and START, from which the sums start.
 *
 * Where w is no multiple of 4 its leftover columns may go the other way: 4 taps
 * below each other times planes whose dwords hold 4 samples below each other.
 * 21 x 21 taps then take 111 products instead of 126.
 *
 *     taps: int8 quads, [step][template row], then [leftover column][group]
 *     planes: row y, plane p, dword j: samples (x, y) to (x, y + 3), where
 *             x = 4*(steps + j) + p, so that most loads are aligned */
#include <string.h>

#include "lcc/cpu/kernels.h"

#ifndef v_samples
#define v_samples(p) v_loadu(p)
#define START(packed) 0
#endif

/* S_FT' of one window: see tm_window_product_fn. */
static int32_t window_product_quads(const uint8_t *window, ptrdiff_t pitch, const int8_t *taps,
                                    ptrdiff_t stride, int w, int h)
{
    vi sums = v_zero();
    int32_t lanes[LANES], sum = 0;

    for (int y = 0; y < h; y++) {
        const uint8_t *row = window + y * pitch;
        const int8_t *tap = taps + y * stride;
        for (int x = 0; x < w; x += 4 * LANES) {
            sums = v_dot(sums, v_samples(row + x), v_loadu(tap + x));
#ifdef SAMPLES_BIAS
            sums = v_sub(sums, v_dot(v_zero(), v_set1((int32_t)SAMPLES_BIAS), v_loadu(tap + x)));
#endif
        }
    }
    v_storeu(lanes, sums);
    for (int i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}

static void pack_quads(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride)
{
    int w = packed->w, h = packed->h, left = w % 4, groups = (h + 3) / 4;
    int8_t *taps = (int8_t *)packed->taps;

    /* A product down a column costs about 5/4 of one along a row: each loads its
     * own samples. */
    packed->extra = left && 5 * left * groups < 4 * h ? left : 0;
    packed->groups = packed->extra ? groups : 0;
    packed->planes = packed->extra ? 2 : 0;
    packed->start = 0;
    for (int v = 0; v < h; v++) {
        for (int u = 0; u < w; u++)
            packed->start += 128 * (samples[v * stride + u] - TM_TAP_BIAS);
    }
    packed->steps = packed->extra ? w / 4 : (w + 3) / 4;
    for (int k = 0; k < packed->steps; k++) {
        for (int v = 0; v < h; v++) {
            for (int i = 0; i < 4; i++, taps++) {
                int u = 4 * k + i;
                *taps = (int8_t)(u < w ? samples[v * stride + u] - TM_TAP_BIAS : 0);
            }
        }
    }
    for (int u = w - packed->extra; u < w; u++) {
        for (int v = 0; v < 4 * packed->groups; v++)
            *taps++ = (int8_t)(v < h ? samples[v * stride + u] - TM_TAP_BIAS : 0);
    }
}

static void expand_quads(uint32_t *planes, const uint8_t *staged, ptrdiff_t stride, int rows,
                         const tm_packed_taps *packed)
{
    const vi even = v_set1(0x00ff00ff), low = v_set1(0xffff);
    ptrdiff_t plane = stride / 4;

    for (int y = 0; y < rows; y++) {
        const uint8_t *row = staged + y * stride + 4 * packed->steps;
        uint32_t *to = planes + y * stride;
        for (ptrdiff_t j = 0; j < plane - packed->steps; j += LANES) {
            vi a = v_loadu(row + 4 * j), b = v_loadu(row + stride + 4 * j);
            vi c = v_loadu(row + 2 * stride + 4 * j), d = v_loadu(row + 3 * stride + 4 * j);
            /* 16-bit lanes: phases 0 and 2, 1 and 3 */
            vi ab02 = v_or(v_and(a, even), v_sll16(b, 8));
            vi cd02 = v_or(v_and(c, even), v_sll16(d, 8));
            vi ab13 = v_or(v_srl16(a, 8), v_andnot(even, b));
            vi cd13 = v_or(v_srl16(c, 8), v_andnot(even, d));
            v_store(to + j, v_or(v_and(ab02, low), v_sll(cd02, 16)));
            v_store(to + plane + j, v_or(v_and(ab13, low), v_sll(cd13, 16)));
            v_store(to + 2 * plane + j, v_or(v_srl(ab02, 16), v_andnot(low, cd02)));
            v_store(to + 3 * plane + j, v_or(v_srl(ab13, 16), v_andnot(low, cd13)));
        }
    }
}

/* Output row i multiplies frame row v with template row v - i. */
#define DOT(i, tap)                             \
    do {                                        \
        vi dot_tap = v_set1(tap);               \
        a##i##0 = v_dot(a##i##0, f0, dot_tap);  \
        a##i##1 = v_dot(a##i##1, f1, dot_tap);  \
        a##i##2 = v_dot(a##i##2, f2, dot_tap);  \
        a##i##3 = v_dot(a##i##3, f3, dot_tap);  \
    } while (0)

#define DOT_IF(i, first, last)              \
    if ((first) <= (i) && (i) <= (last))    \
    DOT(i, tap[-(i)])

#if TILE_ROWS == 6
#define DOT_HIGH(first, last)   \
    DOT_IF(3, first, last);     \
    DOT_IF(4, first, last);     \
    DOT_IF(5, first, last)
#else
#define DOT_HIGH(first, last) (void)0
#endif

/* Frame row v for output rows first to last. */
#define SPAN(first, last)                                                   \
    case 8 * (first) + (last):                                              \
        for (int k = 0; k < steps; k++, row += 4, tap += h) {               \
            vi f0 = v_samples(row), f1 = v_samples(row + 1);                    \
            vi f2 = v_samples(row + 2), f3 = v_samples(row + 3);                \
            DOT_IF(0, first, last);                                         \
            DOT_IF(1, first, last);                                         \
            DOT_IF(2, first, last);                                         \
            DOT_HIGH(first, last);                                          \
        }                                                                   \
        break

#define DOWN_LOAD(i, g)                                                           \
    vi f0 = v_samples(p0 + ((i) + 4 * (g)) * stride);                               \
    vi f1 = v_samples(p1 + ((i) + 4 * (g)) * stride);                               \
    vi f2 = v_samples(p2 + ((i) + 4 * (g)) * stride);                               \
    vi f3 = v_samples(p3 + ((i) + 4 * (g)) * stride)

/* Adds a leftover column of output row i. */
#define DOWN(i)                                     \
    if ((i) < rows) {                               \
        for (int g = 0; g < groups; g++) {          \
            DOWN_LOAD(i, g);                        \
            DOT(i, tap[g]);                         \
        }                                           \
    }

/* Makes output rows i and below = i + 4, which read the same planes. */
#define DOWN_BOTH(i, below)                         \
    if ((below) < rows) {                           \
        for (int g = 0; g < 1; g++) {               \
            DOWN_LOAD(i, g);                        \
            DOT(i, tap[g]);                         \
        }                                           \
        for (int g = 1; g < groups; g++) {          \
            DOWN_LOAD(i, g);                        \
            DOT(i, tap[g]);                         \
            DOT(below, tap[g - 1]);                 \
        }                                           \
        for (int g = groups; g <= groups; g++) {    \
            DOWN_LOAD(i, g);                        \
            DOT(below, tap[g - 1]);                 \
        }                                           \
    } else                                          \
        DOWN(i)

#define STORE(i)                                          \
    if ((i) < rows) {                                     \
        v_store(sft + (i) * sft_stride, a##i##0);         \
        v_store(sft + (i) * sft_stride + 16, a##i##1);    \
        v_store(sft + (i) * sft_stride + 32, a##i##2);    \
        v_store(sft + (i) * sft_stride + 48, a##i##3);    \
    }

#define SUMS(i) vi a##i##0 = start, a##i##1 = start, a##i##2 = start, a##i##3 = start

/* Makes a tile of 4*LANES columns of at most TILE_ROWS rows. */
static inline __attribute__((always_inline)) void
correlate_tile(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed, const uint8_t *staged,
               const uint32_t *planes, ptrdiff_t stride, int rows)
{
    int h = packed->h, steps = packed->steps, groups = packed->groups;
    vi start = v_set1(START(packed));
    SUMS(0);
    SUMS(1);
    SUMS(2);
#if TILE_ROWS == 6
    SUMS(3);
    SUMS(4);
    SUMS(5);
#endif

    /* The first and the last frame rows serve few output rows and wait for their
     * loads, those between wait for products: taken in turns they fill each
     * other's gaps. */
    int spans = h + rows - 1, middle = (spans + 1) / 2;
    for (int i = 0; i < spans; i++) {
        int v = i % 2 ? middle + i / 2 : i / 2;
        const uint8_t *row = staged + v * stride;
        const int32_t *tap = packed->taps + v;
        int first = v < h ? 0 : v - h + 1, last = v < rows ? v : rows - 1;

        switch (8 * first + last) {
            SPAN(0, 0);
            SPAN(0, 1);
            SPAN(0, 2);
            SPAN(1, 1);
            SPAN(1, 2);
            SPAN(2, 2);
#if TILE_ROWS == 6
            SPAN(0, 3);
            SPAN(0, 4);
            SPAN(0, 5);
            SPAN(1, 3);
            SPAN(1, 4);
            SPAN(1, 5);
            SPAN(2, 3);
            SPAN(2, 4);
            SPAN(2, 5);
            SPAN(3, 3);
            SPAN(3, 4);
            SPAN(3, 5);
            SPAN(4, 4);
            SPAN(4, 5);
            SPAN(5, 5);
#endif
        }
    }

    const int32_t *tap = packed->taps + (ptrdiff_t)steps * h;
    for (int c = 0; c < packed->extra; c++, tap += groups) {
        ptrdiff_t plane = stride / 4;
        const uint32_t *p0 = planes + c * plane;
        const uint32_t *p1 = planes + (c + 1) % 4 * plane + (c + 1) / 4;
        const uint32_t *p2 = planes + (c + 2) % 4 * plane + (c + 2) / 4;
        const uint32_t *p3 = planes + (c + 3) % 4 * plane + (c + 3) / 4;
#if TILE_ROWS == 6
        DOWN_BOTH(0, 4);
        DOWN_BOTH(1, 5);
        DOWN(2);
        DOWN(3);
#else
        DOWN(0);
        DOWN(1);
        DOWN(2);
#endif
    }

    STORE(0);
    STORE(1);
    STORE(2);
#if TILE_ROWS == 6
    STORE(3);
    STORE(4);
    STORE(5);
#endif
}

static void correlate_quads(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed,
                            const uint8_t *staged, const uint32_t *planes, ptrdiff_t stride,
                            int rows, int blocks)
{
    for (int j = 0; j < blocks * TM_LANES; j += LANES) {
        for (int y = 0; y < rows; y += TILE_ROWS) {
            int height = rows - y < TILE_ROWS ? rows - y : TILE_ROWS;
            correlate_tile(sft + y * sft_stride + j / TM_LANES * TM_BLOCK + j % TM_LANES,
                           sft_stride, packed, staged + y * stride + 4 * j,
                           planes + y * stride + j, stride, height);
        }
    }
}
