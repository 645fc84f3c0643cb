/* SPDX-License-Identifier: MIT */
/* Sines and cosines that are the same on every machine. */
#include "integers.h"
#include "lcc/metrics.h"
#include "lcc/pose.h"

/* The series are added up with so many fractional bits. */
enum { SERIES_BITS = 62 };

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)(((tm_int128)a * b + (INT64_C(1) << (SERIES_BITS - 1))) >> SERIES_BITS);
}

/* The Taylor series of the sine, from = 1, or the cosine, from = 0, of 0 to 45 degrees. The error is
 * below 2^-59, and no sine of a whole number of millionths lies as near to where rounding to
 * TM_SINE_BITS would change. */
static int64_t series(int64_t angle, int from)
{
    const int64_t unit = INT64_C(2700766203474729657); /* pi / 180e6 * 2^87 */
    const int64_t x = (int64_t)(((tm_int128)angle * unit + (1 << 24)) >> 25);
    const int64_t square = times(x, x);
    int64_t term = from ? x : INT64_C(1) << SERIES_BITS, sum = 0;

    for (int k = from; term; k += 2) {
        sum += term;
        term = -times(term, square) / ((k + 1) * (k + 2));
    }
    const int drop = SERIES_BITS - TM_SINE_BITS;
    return (sum + (INT64_C(1) << (drop - 1))) >> drop;
}

int64_t tm_sine(int64_t angle)
{
    const int64_t quarter = TM_POSE_TURN / 4;
    angle %= TM_POSE_TURN;
    if (angle < 0)
        angle += TM_POSE_TURN;
    if (angle >= 2 * quarter)
        return -tm_sine(angle - 2 * quarter);
    if (angle > quarter)
        angle = 2 * quarter - angle;
    return angle <= quarter / 2 ? series(angle, 1) : series(quarter - angle, 0);
}

int64_t tm_cosine(int64_t angle)
{
    return tm_sine(angle % TM_POSE_TURN + TM_POSE_TURN / 4);
}
