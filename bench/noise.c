/* SPDX-License-Identifier: MIT */
#include "noise.h"

#include <stdlib.h>
#include <string.h>

#include "lcc/lcc.h"

void noise_bytes(void *to, size_t bytes, uint64_t seed)
{
    uint8_t *out = to;
#pragma omp parallel for if (bytes >> 28 > 0)
    for (size_t word = 0; word < (bytes + 7) / 8; word++) {
        const uint64_t bits = noise_word(seed, word);
        const size_t left = bytes - 8 * word;
        memcpy(out + 8 * word, &bits, left < 8 ? left : 8);
    }
}

void noise_floats(float *to, size_t count, float base, float step, uint64_t seed)
{
#pragma omp parallel for if (count >> 26 > 0)
    for (size_t i = 0; i < count; i++)
        to[i] = base + (float)(noise_word(seed, i) >> 48) * step;
}

uint8_t *noise_samples(tm_sample_type type, size_t count, uint64_t seed)
{
    void *samples = malloc(count * (size_t)tm_sample_size(type));
    if (samples && type == TM_SAMPLE_F32)
        noise_floats(samples, count, 0, 1.0f / 256, seed);
    else if (samples)
        noise_bytes(samples, count * (size_t)tm_sample_size(type), seed);
    return samples;
}
