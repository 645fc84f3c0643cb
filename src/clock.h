/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLOCK_H
#define TMATCH_CLOCK_H

#include <time.h>

/* Milliseconds that only differences say something of. */
static inline double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

#endif
