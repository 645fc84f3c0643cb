/* SPDX-License-Identifier: MIT */
/* Random samples, the same in each run. */
#ifndef TMATCH_BENCH_NOISE_H
#define TMATCH_BENCH_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "tmatch/tmatch.h"

/* splitmix64 by its counter, so that any element can be drawn by itself, also by
 * peers.py: https://prng.di.unimi.it/splitmix64.c (public domain) */
static inline uint64_t noise_word(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void noise_bytes(void *to, size_t bytes, uint64_t seed);

/* Draws base + k * step, k of 0 to 65535. */
void noise_floats(float *to, size_t count, float base, float step, uint64_t seed);

/* Returns samples of a type, floats of 0 to 256, which the caller frees; NULL if memory
 * ran out. */
uint8_t *noise_samples(tm_sample_type type, size_t count, uint64_t seed);

#endif
