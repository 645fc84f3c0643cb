/* SPDX-License-Identifier: MIT */
/* Transforms of lengths that are 16 times a product of 2, 3 and 5, with passes in plain C. */
#include "fft/cpu/own.h"

#include <math.h>
#include <stdlib.h>

#include "tmatch/tmatch.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define POINTS 1

typedef struct vec {
    double re, im;
} vec;

ALWAYS_INLINE vec zero(void)
{
    return (vec){0, 0};
}

ALWAYS_INLINE vec load(const tm_fft_point *from)
{
    return (vec){(*from)[0], (*from)[1]};
}

ALWAYS_INLINE void store(tm_fft_point *to, vec v)
{
    (*to)[0] = v.re;
    (*to)[1] = v.im;
}

ALWAYS_INLINE void store_rows(tm_fft_point *to, const vec *v, int count)
{
    for (int i = 0; i < count; i++)
        store(to + i, v[i]);
}

ALWAYS_INLINE vec every_root(const tm_fft_point *root)
{
    return load(root);
}

ALWAYS_INLINE vec add(vec a, vec b)
{
    return (vec){a.re + b.re, a.im + b.im};
}

ALWAYS_INLINE vec sub(vec a, vec b)
{
    return (vec){a.re - b.re, a.im - b.im};
}

ALWAYS_INLINE vec scale(vec v, double by)
{
    return (vec){v.re * by, v.im * by};
}

ALWAYS_INLINE vec turn(vec v)
{
    return (vec){-v.im, v.re};
}

ALWAYS_INLINE vec rotate(vec v, vec root, bool backward)
{
    const double im = backward ? -root.im : root.im;
    return (vec){v.re * root.re - v.im * im, v.im * root.re + v.re * im};
}

#include "fft/cpu/own_passes.h"

const tm_own_passes tm_own_passes_c = {first, middle, last};

struct tm_fft_transform {
    int length, count;
    tm_own_pass pass[TM_OWN_PASSES];
    const tm_own_passes *passes;
    tm_fft_point *roots;
};

/* Fours and eights first: no length has less than two of them, so that strides are even. */
static bool choose_radices(tm_fft_transform *t)
{
    static const int others[] = {5, 3};
    int rest = t->length, twos = 0;

    while (rest % 2 == 0) {
        rest /= 2;
        twos++;
    }
    if (twos < 4)
        return false;
    for (; twos % 3; twos -= 2)
        t->pass[t->count++].radix = 4;
    for (; twos; twos -= 3)
        t->pass[t->count++].radix = 8;
    for (int i = 0; i < 2; i++) {
        for (; rest % others[i] == 0; rest /= others[i])
            t->pass[t->count++].radix = others[i];
    }
    return rest == 1;
}

/* The eighth of the circle from 1 on: exp(-2 pi i e / length), e <= length / 8, each part off by
 * little more than half a unit in the last place. */
static void write_eighth(tm_fft_point *to, int length)
{
    const long double step = 2 * 3.14159265358979323846264338327950288L / length;
    for (int e = 0; e <= length / 8; e++) {
        to[e][0] = (double)cosl(step * e);
        to[e][1] = (double)-sinl(step * e);
    }
}

/* exp(-2 pi i e / length) for e < length. */
static void write_root(tm_fft_point *to, const tm_fft_point *eighth, int64_t e, int length)
{
    const int64_t half = length / 2, quarter = length / 4;
    const bool negative = e >= half, turned = e % half >= quarter;
    const int64_t rest = e % quarter;
    const bool mirrored = rest > quarter / 2;
    const double *from = eighth[mirrored ? quarter - rest : rest];
    double re = mirrored ? -from[1] : from[0], im = mirrored ? -from[0] : from[1];

    if (turned) { /* times -i */
        const double was = re;
        re = im;
        im = -was;
    }
    (*to)[0] = negative ? -re : re;
    (*to)[1] = negative ? -im : im;
}

static void write_roots(tm_fft_point *to, const tm_own_pass *pass, const tm_fft_point *eighth, int length)
{
    const int r = pass->radix, m = pass->m;
    for (int p = 0; p < m; p++) {
        for (int k = 1; k < r; k++) {
            const int64_t at = pass->stride == 1 ? (int64_t)(k - 1) * m + p : (int64_t)p * (r - 1) + k - 1;
            write_root(&to[at], eighth, (int64_t)p * k * pass->stride, length);
        }
    }
}

const bool tm_fft_measures = false;

static size_t bytes_of(size_t points)
{
    return (points * sizeof(tm_fft_point) + 63) / 64 * 64;
}

/* Sets strides and returns how many roots the passes have. */
static size_t lay_out(tm_fft_transform *t)
{
    size_t roots = 0;
    for (int i = 0, stride = 1; i < t->count; i++) {
        tm_own_pass *pass = &t->pass[i];
        pass->stride = stride;
        stride *= pass->radix;
        pass->m = t->length / stride;
        roots += (size_t)pass->m * (size_t)(pass->radix - 1);
    }
    return roots;
}

tm_fft_transform *tm_fft_transform_make(int length, bool measured, uint32_t features)
{
    tm_fft_transform *t = calloc(1, sizeof *t);
    tm_fft_point *eighth = aligned_alloc(64, bytes_of((size_t)length / 8 + 1));

    (void)measured, (void)features;
    if (t) {
        *t = (tm_fft_transform){.length = length, .passes = &tm_own_passes_c};
#if TM_HAVE_AVX2
        if (features & TM_CPU_AVX2)
            t->passes = &tm_own_passes_avx2;
#endif
        if (eighth && choose_radices(t))
            t->roots = aligned_alloc(64, bytes_of(lay_out(t)));
        if (!t->roots) {
            free(t);
            t = NULL;
        }
    }
    if (t) {
        tm_fft_point *to = t->roots;
        write_eighth(eighth, length);
        for (int i = 0; i < t->count; i++) {
            t->pass[i].roots = to;
            write_roots(to, &t->pass[i], eighth, length);
            to += (int64_t)t->pass[i].m * (t->pass[i].radix - 1);
        }
    }
    free(eighth);
    return t;
}

void tm_fft_transform_free(tm_fft_transform *transform)
{
    if (transform)
        free(transform->roots);
    free(transform);
}

/* The points go to and fro; the last pass, which may work in place, leaves them where they came
 * from. */
static void run(const tm_fft_transform *t, bool backward, tm_fft_point *points, tm_fft_point *work)
{
    const int last = t->count - 1;

    t->passes->first(&t->pass[0], backward, points, work);
    for (int i = 1; i < last; i++) {
        if (i % 2)
            t->passes->middle(&t->pass[i], backward, work, points);
        else
            t->passes->middle(&t->pass[i], backward, points, work);
    }
    t->passes->last(&t->pass[last], backward, last % 2 ? work : points, points);
}

void tm_fft_forward(const tm_fft_transform *transform, tm_fft_point *points, tm_fft_point *work)
{
    run(transform, false, points, work);
}

void tm_fft_backward(const tm_fft_transform *transform, tm_fft_point *points, tm_fft_point *work)
{
    run(transform, true, points, work);
}
