/* SPDX-License-Identifier: MIT */
/* The pictures of the experiments on rounding errors. */
#ifndef TMATCH_TESTS_FFT_PICTURES_H
#define TMATCH_TESTS_FFT_PICTURES_H

#include <stdlib.h>

#include "check.h"

enum { PICTURES = 5 };
static const char *const names[PICTURES] = {"noise", "0 or 255", "all 255 but one", "checkerboard",
                                            "gradient"};

static uint8_t *draw(int picture, int64_t size)
{
    uint8_t *samples = malloc((size_t)(size * size));
    CHECK(samples);
    for (int64_t i = 0; i < size * size; i++) {
        int64_t x = i % size, y = i / size;
        samples[i] = (uint8_t)(picture == 0   ? (int64_t)(check_random() & 255)
                               : picture == 1 ? 255 * (int64_t)(check_random() & 1)
                               : picture == 2 ? 255 - (i == size)
                               : picture == 3 ? 255 * ((x + y) % 2)
                                              : 255 * (x + y) / (2 * size));
    }
    return samples;
}

#endif
