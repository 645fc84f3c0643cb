/* SPDX-License-Identifier: MIT */
/* tm_f32_block_fn, for the instruction set that includes this. The trip counts are
 * fixed, so that the sums of a block are vectors that stay in registers. Sums are
 * made of parts: see TM_PARTIAL_TERMS. */
#ifndef TMATCH_LCC_CPU_SIMD_F32_H
#define TMATCH_LCC_CPU_SIMD_F32_H

#include <string.h>

#include "lcc/cpu/f32_block.h"

enum { BLOCK = TM_F32_BLOCK, PART = 512 };

#ifdef __FMA__
#define MULTIPLY_ADD(a, b, c) __builtin_fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

#define F32_INLINE __attribute__((always_inline)) static inline

enum { PRODUCTS, DISTANCES, SUMS, SQUARES };

/* Adds count taps of one row. */
F32_INLINE void add_taps(double *restrict to, const double *restrict row,
                         const double *restrict taps, const uint8_t *mask, int64_t count, int what)
{
    double sums[BLOCK];
    memcpy(sums, to, sizeof sums);
    for (int64_t u = 0; u < count; u++) {
        const double tap = taps[u], *f = row + u;
        if (mask && !mask[u])
            continue;
        for (int i = 0; i < BLOCK; i++) {
            if (what == PRODUCTS) {
                sums[i] = MULTIPLY_ADD(f[i], tap, sums[i]);
            } else if (what == DISTANCES) {
                const double d = f[i] - tap;
                sums[i] = MULTIPLY_ADD(d, d, sums[i]);
            } else {
                sums[i] = what == SUMS ? sums[i] + f[i] : MULTIPLY_ADD(f[i], f[i], sums[i]);
            }
        }
    }
    memcpy(to, sums, sizeof sums);
}

F32_INLINE void add_block(double *restrict to, double *restrict part)
{
    for (int i = 0; i < BLOCK; i++) {
        to[i] += part[i];
        part[i] = 0;
    }
}

/* Makes one sum over the taps of channels [first, last) for each window. */
F32_INLINE void tap_sums(double *to, const tm_f32_view *v, const uint8_t *mask, int first, int last,
                         int what)
{
    double part[BLOCK] = {0};
    int64_t terms = 0;
    memset(to, 0, BLOCK * sizeof *to);
    for (int c = first; c < last; c++) {
        for (int64_t y = 0; y < v->h; y++) {
            const double *row = v->samples + c * v->plane + y * v->stride;
            const double *taps = v->taps + (c * v->h + y) * v->w;
            for (int64_t u = 0; u < v->w; u += PART) {
                const int64_t count = v->w - u < PART ? v->w - u : PART;
                add_taps(part, row + u, taps + u, mask ? mask + y * v->w + u : NULL, count, what);
                terms += count;
                if (terms >= PART) {
                    add_block(to, part);
                    terms = 0;
                }
            }
        }
    }
    add_block(to, part);
}

/* Makes each column's sum of the samples, or of their squares, in the h rows above each other. */
F32_INLINE void column_sums(const tm_f32_view *v, int c, bool squares)
{
    for (int64_t x = 0; x < v->w + BLOCK - 1; x += BLOCK) {
        double sums[BLOCK] = {0}, part[BLOCK] = {0};
        for (int64_t y = 0; y < v->h; y++) {
            const double *f = v->samples + c * v->plane + y * v->stride + x;
            for (int i = 0; i < BLOCK; i++)
                part[i] = squares ? MULTIPLY_ADD(f[i], f[i], part[i]) : part[i] + f[i];
            if (y % PART == PART - 1)
                add_block(sums, part);
        }
        add_block(sums, part);
        memcpy(v->columns + x, sums, sizeof sums);
    }
}

F32_INLINE void box_sums(double *to, const tm_f32_view *v, int c, bool squares)
{
    double part[BLOCK] = {0};
    column_sums(v, c, squares);
    for (int64_t u = 0; u < v->w; u++) {
        for (int i = 0; i < BLOCK; i++)
            part[i] += v->columns[u + i];
        if (u % PART == PART - 1)
            add_block(to, part);
    }
    add_block(to, part);
}

static void f32_block(const tm_f32_view *v, tm_f32_block *b)
{
    memset(b, 0, sizeof *b);
    if (v->distance && v->mask)
        tap_sums(b->products, v, v->mask, 0, v->channels, DISTANCES);
    else if (v->distance)
        tap_sums(b->products, v, NULL, 0, v->channels, DISTANCES);
    else /* taps that don't count are 0 */
        tap_sums(b->products, v, NULL, 0, v->channels, PRODUCTS);
    for (int c = 0; c < v->channels && v->sums; c++) {
        if (v->mask)
            tap_sums(b->s_f[c], v, v->mask, c, c + 1, SUMS);
        else
            box_sums(b->s_f[c], v, c, false);
    }
    if (v->squares && v->mask)
        tap_sums(b->s_ff, v, v->mask, 0, v->channels, SQUARES);
    for (int c = 0; c < v->channels && v->squares && !v->mask; c++)
        box_sums(b->s_ff, v, c, true);
}

#endif
