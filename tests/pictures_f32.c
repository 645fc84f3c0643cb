/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "pictures.h"

static double unit(void)
{
    return (double)(check_random() >> 11) * 0x1p-53;
}

static float draw(picture_f32_content content, int64_t x, int64_t y)
{
    switch (content) {
    case PICTURE_F32_NOISE:
        return (float)unit();
    case PICTURE_F32_OFFSET:
        return (float)(1e6 + 2 * unit() - 1);
    case PICTURE_F32_LAST_BIT:
        return check_random() % 4 ? 16777215.0f : 16777214.0f;
    case PICTURE_F32_FLAT:
        return x < 9 || y > 12 ? -7.3f : (float)unit();
    case PICTURE_F32_DENORMALS:
        return (float)(check_random() % 1000) * 0x1p-149f;
    case PICTURE_F32_GREAT:
        return (float)((unit() - 0.5) * 6e38);
    case PICTURE_F32_FAR_APART:
        return (float)ldexp(unit() - 0.5, (int)check_random_in(-60, 60));
    case PICTURE_F32_LEVELS:
        return (float)((x + y) % 16 < 8 ? 1e7 : 1e-3) + (float)(check_random() % 2);
    case PICTURE_F32_BYTES:
        return (float)(check_random() % 256);
    case PICTURE_F32_OUTLIERS:
        return x < 40 ? 0 : check_random() % 2000 ? (float)unit() : 1e30f;
    case PICTURE_F32_BRIGHTER:
        return (float)ldexp(0.5 + unit(), (int)(x / 8 % 128) - 10);
    case PICTURE_F32_SIGNS:
        return (float)(unit() - 0.5);
    default:
        return 3e5f + (float)x + 0.25f * (float)y;
    }
}

picture_f32_content picture_f32_random_content(void)
{
    return (picture_f32_content)check_random_in(0, PICTURE_F32_CONTENTS - 1);
}

float *picture_make_f32(tm_image *image, int64_t w, int64_t h, int channels,
                        picture_f32_content content)
{
    float *samples = malloc((size_t)(w * h * channels) * sizeof *samples);
    CHECK(samples);
    for (int64_t i = 0; i < w * h * channels; i++)
        samples[i] = draw(content, i / channels % w, i / channels / w);
    *image = (tm_image){.samples = (uint8_t *)samples,
                        .width = w,
                        .height = h,
                        .stride = (ptrdiff_t)(w * channels) * 4,
                        .type = TM_SAMPLE_F32,
                        .channels = channels};
    return samples;
}
