/* SPDX-License-Identifier: MIT */
/* The bound by which windows are rejected without a root and a quotient, for C and CUDA.
 *
 *     score >= s > 0  implies  num > 0  and  num^2 > s^2 * (1 - 2^-18) * var_T * var_F
 *
 * The margin of 64 u, u = 2^-24, covers all roundings, so a window that fails scores less than s:
 * - The score's own are 4.5 u of its value, as docs/exactness.md counts them, with the quotient's
 *   as 1 u: 9 u of its square.
 * - A test in binary32 rounds num (2 u of its square), var_F, var_T, three products in the bound
 *   and one on each side: 9 u.
 * Tests in binary64 have nearly no roundings of the second kind. A test whose num and var_F are
 * made of binary32 sums instead of the integers must allow for their errors besides: see
 * lcc/cpu/reject.c and lcc/cpu/simd/rows.h. */
#ifndef TMATCH_LCC_REJECT_H
#define TMATCH_LCC_REJECT_H

#include "lcc/score.h"

#define TM_REJECT_MARGIN 0x1p-18

/* What num^2 / var_F must exceed for a score of s, where s > 0. */
TM_HOST_DEVICE double tm_reject_bound(double s, double var_t)
{
    return s * s * (1 - TM_REJECT_MARGIN) * var_t;
}

/* tm_reject_bound in binary32. */
TM_HOST_DEVICE float tm_reject_boundf(float s, float var_t)
{
    return s * s * (float)(1 - TM_REJECT_MARGIN) * var_t;
}

#endif
