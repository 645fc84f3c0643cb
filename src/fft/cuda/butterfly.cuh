/* SPDX-License-Identifier: MIT */
/* Discrete Fourier transforms of 3, 4, 8, 12 and 16 points in registers. */
#ifndef TMATCH_FFT_CUDA_BUTTERFLY_CUH
#define TMATCH_FFT_CUDA_BUTTERFLY_CUH

#include <cuda_runtime.h>

static __device__ __forceinline__ double2 tm_add(double2 a, double2 b)
{
    return make_double2(a.x + b.x, a.y + b.y);
}

static __device__ __forceinline__ double2 tm_sub(double2 a, double2 b)
{
    return make_double2(a.x - b.x, a.y - b.y);
}

static __device__ __forceinline__ double2 tm_mul(double2 a, double2 b)
{
    return make_double2(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

/* a * conj(b) */
static __device__ __forceinline__ double2 tm_mul_conj(double2 a, double2 b)
{
    return make_double2(fma(a.x, b.x, a.y * b.y), fma(a.y, b.x, -(a.x * b.y)));
}

/* a * -i, or a * i. */
template <bool INVERSE>
static __device__ __forceinline__ double2 tm_turn(double2 a)
{
    return INVERSE ? make_double2(-a.y, a.x) : make_double2(a.y, -a.x);
}

/* exp(-2 pi i * index / 48), the roots that 8, 12 and 16 points need. */
static __host__ __device__ constexpr double tm_cos48(int index)
{
    return index == 3   ? 0.92387953251128674
           : index == 4 ? 0.86602540378443865
           : index == 6 ? 0.70710678118654752
           : index == 8 ? 0.5
           : index == 9 ? 0.38268343236508977
           : index == 12 ? 0.0
           : index > 12  ? -tm_cos48(24 - index)
                         : 1.0;
}

/* a * exp(-+2 pi i * K / R) for a constant K in [0, R / 2 + R / 4]. */
template <int R, int K, bool INVERSE>
static __device__ __forceinline__ double2 tm_rotate(double2 a)
{
    constexpr int angle = K * (48 / R);
    static_assert(angle <= 36, "no such rotation is needed");
    if constexpr (angle == 0)
        return a;
    else if constexpr (angle == 12)
        return tm_turn<INVERSE>(a);
    else if constexpr (angle > 24) {
        double2 b = tm_rotate<48, angle - 24, INVERSE>(a);
        return make_double2(-b.x, -b.y);
    } else if constexpr (angle == 24)
        return make_double2(-a.x, -a.y);
    else {
        constexpr double c = tm_cos48(angle), s = tm_cos48(angle > 12 ? angle - 12 : 12 - angle);
        return INVERSE ? make_double2(fma(a.x, c, -(a.y * s)), fma(a.x, s, a.y * c))
                       : make_double2(fma(a.x, c, a.y * s), fma(a.y, c, -(a.x * s)));
    }
}

template <bool INVERSE>
static __device__ __forceinline__ void tm_dft2(double2 &a, double2 &b)
{
    double2 d = tm_sub(a, b);
    a = tm_add(a, b);
    b = d;
}

template <bool INVERSE>
static __device__ __forceinline__ void tm_dft3(double2 &a, double2 &b, double2 &c)
{
    double2 sum = tm_add(b, c), d = tm_turn<INVERSE>(tm_sub(b, c));
    double2 middle = make_double2(fma(-0.5, sum.x, a.x), fma(-0.5, sum.y, a.y));
    a = tm_add(a, sum);
    b = make_double2(fma(tm_cos48(4), d.x, middle.x), fma(tm_cos48(4), d.y, middle.y));
    c = make_double2(fma(-tm_cos48(4), d.x, middle.x), fma(-tm_cos48(4), d.y, middle.y));
}

template <bool INVERSE>
static __device__ __forceinline__ void tm_dft4(double2 &a, double2 &b, double2 &c, double2 &d)
{
    double2 sum_even = tm_add(a, c), difference_even = tm_sub(a, c);
    double2 sum_odd = tm_add(b, d), difference_odd = tm_turn<INVERSE>(tm_sub(b, d));
    a = tm_add(sum_even, sum_odd);
    b = tm_add(difference_even, difference_odd);
    c = tm_sub(sum_even, sum_odd);
    d = tm_sub(difference_even, difference_odd);
}

/* The rotations between the two steps of A * 4 points: element (n, k) by n * k. */
template <int A, int N, bool INVERSE>
static __device__ __forceinline__ void tm_rotate_row(double2 (&v)[4 * A])
{
    if constexpr (A > 1)
        v[N + 4] = tm_rotate<4 * A, N, INVERSE>(v[N + 4]);
    if constexpr (A > 2)
        v[N + 8] = tm_rotate<4 * A, 2 * N, INVERSE>(v[N + 8]);
    if constexpr (A > 3)
        v[N + 12] = tm_rotate<4 * A, 3 * N, INVERSE>(v[N + 12]);
}

/* In place, in natural order: R = A * 4 as A points over every fourth element,
 * rotations, then 4 points. */
template <int R, bool INVERSE>
static __device__ __forceinline__ void tm_butterfly(double2 (&v)[R])
{
    constexpr int A = R / 4;
    static_assert(R == 4 * A && A <= 4, "4, 8, 12 or 16 points");

#pragma unroll
    for (int n = 0; n < 4; n++) {
        if constexpr (A == 2)
            tm_dft2<INVERSE>(v[n], v[n + 4]);
        if constexpr (A == 3)
            tm_dft3<INVERSE>(v[n], v[n + 4], v[n + 8]);
        if constexpr (A == 4)
            tm_dft4<INVERSE>(v[n], v[n + 4], v[n + 8], v[n + 12]);
    }
    tm_rotate_row<A, 1, INVERSE>(v);
    tm_rotate_row<A, 2, INVERSE>(v);
    tm_rotate_row<A, 3, INVERSE>(v);

    double2 out[R];
#pragma unroll
    for (int k = 0; k < A; k++) {
        tm_dft4<INVERSE>(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
#pragma unroll
        for (int j = 0; j < 4; j++)
            out[k + A * j] = v[4 * k + j];
    }
#pragma unroll
    for (int i = 0; i < R; i++)
        v[i] = out[i];
}

#endif
