/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLOCK_H
#define TMATCH_CLOCK_H

#include <pthread.h>
#include <time.h>

/* Milliseconds that only differences say something of. */
static inline double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Makes a condition that is waited for until a time of the same clock. */
static inline void clock_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

#endif
