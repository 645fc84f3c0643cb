/* SPDX-License-Identifier: MIT */
/* The passes of own.h over vectors of POINTS complex numbers. Who includes this has defined vec and
 * load, store, store_rows, add, sub, scale, turn (times i) and rotate (times a root, or what is
 * conjugate to it), every_root (the same for all points of a vector), and the name of the table. */

#define SQRT_HALF 0.70710678118654752440
#define SIN_60 0.86602540378443864676
#define COS_72 0.30901699437494742410
#define SIN_72 0.95105651629515357212
#define COS_144 -0.80901699437494742410
#define SIN_144 0.58778525229247312917

/* Times -i, or backward i. */
ALWAYS_INLINE vec quarter(vec v, bool backward)
{
    return backward ? turn(v) : sub(zero(), turn(v));
}

ALWAYS_INLINE void transform_3(vec *v, bool backward)
{
    const vec sum = add(v[1], v[2]), turned = scale(quarter(sub(v[1], v[2]), backward), SIN_60);
    const vec rest = sub(v[0], scale(sum, 0.5));
    v[0] = add(v[0], sum);
    v[1] = add(rest, turned);
    v[2] = sub(rest, turned);
}

ALWAYS_INLINE void transform_4(vec *v, bool backward)
{
    const vec even = add(v[0], v[2]), even_rest = sub(v[0], v[2]), odd = add(v[1], v[3]);
    const vec odd_rest = quarter(sub(v[1], v[3]), backward);
    v[0] = add(even, odd);
    v[1] = add(even_rest, odd_rest);
    v[2] = sub(even, odd);
    v[3] = sub(even_rest, odd_rest);
}

ALWAYS_INLINE void transform_5(vec *v, bool backward)
{
    const vec sum_1 = add(v[1], v[4]), sum_2 = add(v[2], v[3]);
    const vec turned_1 = quarter(sub(v[1], v[4]), backward);
    const vec turned_2 = quarter(sub(v[2], v[3]), backward);
    const vec near = add(add(v[0], scale(sum_1, COS_72)), scale(sum_2, COS_144));
    const vec far = add(add(v[0], scale(sum_1, COS_144)), scale(sum_2, COS_72));
    const vec across_near = add(scale(turned_1, SIN_72), scale(turned_2, SIN_144));
    const vec across_far = sub(scale(turned_1, SIN_144), scale(turned_2, SIN_72));
    v[0] = add(add(v[0], sum_1), sum_2);
    v[1] = add(near, across_near);
    v[4] = sub(near, across_near);
    v[2] = add(far, across_far);
    v[3] = sub(far, across_far);
}

ALWAYS_INLINE void transform_8(vec *v, bool backward)
{
    vec even[4], odd[4];
    for (int i = 0; i < 4; i++) {
        even[i] = v[2 * i];
        odd[i] = v[2 * i + 1];
    }
    transform_4(even, backward);
    transform_4(odd, backward);
    odd[1] = scale(add(odd[1], quarter(odd[1], backward)), SQRT_HALF);
    odd[2] = quarter(odd[2], backward);
    odd[3] = scale(sub(quarter(odd[3], backward), odd[3]), SQRT_HALF);
    for (int i = 0; i < 4; i++) {
        v[i] = add(even[i], odd[i]);
        v[i + 4] = sub(even[i], odd[i]);
    }
}

ALWAYS_INLINE void transform(vec *v, int radix, bool backward)
{
    if (radix == 3)
        transform_3(v, backward);
    else if (radix == 4)
        transform_4(v, backward);
    else if (radix == 5)
        transform_5(v, backward);
    else
        transform_8(v, backward);
}

/* POINTS values of p at a time. */
ALWAYS_INLINE void first_pass(const tm_own_pass *pass, int radix, bool backward,
                              const tm_fft_point *restrict from, tm_fft_point *restrict to)
{
    const int m = pass->m;
    for (int p = 0; p < m; p += POINTS) {
        vec v[8];
        for (int j = 0; j < radix; j++)
            v[j] = load(from + p + j * m);
        transform(v, radix, backward);
        for (int k = 1; k < radix; k++)
            v[k] = rotate(v[k], load(pass->roots + (k - 1) * m + p), backward);
        store_rows(to + radix * p, v, radix);
    }
}

ALWAYS_INLINE void middle_pass(const tm_own_pass *pass, int radix, bool backward,
                               const tm_fft_point *restrict from, tm_fft_point *restrict to)
{
    const int m = pass->m, s = pass->stride;
    for (int p = 0; p < m; p++) {
        vec roots[8];
        for (int k = 1; k < radix; k++)
            roots[k] = every_root(pass->roots + p * (radix - 1) + k - 1);
        for (int q = 0; q < s; q += POINTS) {
            vec v[8];
            for (int j = 0; j < radix; j++)
                v[j] = load(from + q + s * (p + j * m));
            transform(v, radix, backward);
            store(to + q + s * radix * p, v[0]);
            for (int k = 1; k < radix; k++)
                store(to + q + s * (radix * p + k), rotate(v[k], roots[k], backward));
        }
    }
}

ALWAYS_INLINE void last_pass(const tm_own_pass *pass, int radix, bool backward,
                             const tm_fft_point *from, tm_fft_point *to)
{
    const int s = pass->stride;
    for (int q = 0; q < s; q += POINTS) {
        vec v[8];
        for (int j = 0; j < radix; j++)
            v[j] = load(from + q + s * j);
        transform(v, radix, backward);
        for (int k = 0; k < radix; k++)
            store(to + q + s * k, v[k]);
    }
}

/* Radix and direction are constants in each of the eight ways, so that loops over them unroll. */
#define CHOOSE(RADIX)                          \
    if (backward)                              \
        WAY(pass, RADIX, true, from, to);      \
    else                                       \
        WAY(pass, RADIX, false, from, to);

#define DEFINE_PASS(NAME)                                                                           \
    static void NAME(const tm_own_pass *pass, bool backward, const tm_fft_point *from,              \
                     tm_fft_point *to)                                                              \
    {                                                                                               \
        if (pass->radix == 3) {                                                                     \
            CHOOSE(3)                                                                               \
        } else if (pass->radix == 4) {                                                              \
            CHOOSE(4)                                                                               \
        } else if (pass->radix == 5) {                                                              \
            CHOOSE(5)                                                                               \
        } else {                                                                                    \
            CHOOSE(8)                                                                               \
        }                                                                                           \
    }

#define WAY first_pass
DEFINE_PASS(first)
#undef WAY
#define WAY middle_pass
DEFINE_PASS(middle)
#undef WAY
#define WAY last_pass
DEFINE_PASS(last)
#undef WAY
