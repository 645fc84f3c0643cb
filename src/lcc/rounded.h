/* SPDX-License-Identifier: MIT */
/* What the score with a rounded template says of the one with the template itself, for C and CUDA.
 *
 * Both templates and a window, less their means, are directions, and a score is the cosine of the angle between two of them.
 * An angle is at most the sum of two others (docs/exactness.md, "A rounded template"), so with the angle a between the
 * templates
 *
 *     score s with one of them  implies  score >= cos(acos(s) + a) = s cos a - sqrt(1 - s^2) sin a  with the other one.
 */
#ifndef TMATCH_LCC_ROUNDED_H
#define TMATCH_LCC_ROUNDED_H

#include "lcc/score.h"

/* The angle between the templates. */
typedef struct tm_rounding {
    float cosine, sine;
} tm_rounding;

/* At least the sine of the angle whose cosine has this square, which is known to 2^-50. */
TM_HOST_DEVICE double tm_rounded_sine(double squared_cosine)
{
    const double rest = 1 - squared_cosine;
    return sqrt((rest > 0 ? rest : 0) + 0x1p-46);
}

TM_HOST_DEVICE tm_rounding tm_rounding_of(double sine)
{
    return (tm_rounding){(float)sqrt(1 - sine * sine), (float)sine};
}

/* At most the score with the other template, of a score above 0 with this one. The margin of 32 u, u = 2^-24, is for what is
 * rounded here, 4 u, and for three scores as they come, which are off by 4.5 u each (docs/exactness.md). */
TM_HOST_DEVICE float tm_rounded_least(tm_rounding r, float score)
{
    const float s = score - 0x1p-19f;
    return s * r.cosine - sqrtf((1 - s) * (1 + s)) * r.sine;
}

/* What a window must score with the rounded template, if there is one that scores best with it, to score as much as that one
 * with the template itself. 0 or less: any score will do. */
TM_HOST_DEVICE float tm_rounded_limit(tm_rounding r, float best)
{
    const float least = best > 0 ? tm_rounded_least(r, best) : 0;
    return least > 0 ? tm_rounded_least(r, least) : 0;
}

#endif
