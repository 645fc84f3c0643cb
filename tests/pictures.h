/* SPDX-License-Identifier: MIT */
/* Pictures and masks that are made up, for all tests that match: random ones, and those
 * with the greatest sums, the least variances and the worst rounding errors. What is
 * returned is malloc'ed; the caller frees it. */
#ifndef TMATCH_TESTS_PICTURES_H
#define TMATCH_TESTS_PICTURES_H

#include <stddef.h>

#include "tmatch/tmatch.h"

/* What an integer picture shows. "Most" is the greatest sample. */
typedef enum picture_content {
    PICTURE_NOISE,
    PICTURE_TWO_VALUES, /* 0 or most, at random */
    PICTURE_MOST_BUT_ONE,
    PICTURE_CHECKERBOARD,
    PICTURE_GRADIENT,
    PICTURE_BROKEN_CHECKERBOARD, /* from some sample on the other way round */
    PICTURE_HALVES,              /* one of most, one of 0 above noise */
    PICTURE_STRIPES,
    PICTURE_ZEROS,
    PICTURE_ZEROS_BUT_ONE,
    PICTURE_MOST,
    PICTURE_NEAR_FLAT, /* near most */
    PICTURE_CONTENTS
} picture_content;

extern const char *const picture_content_names[PICTURE_CONTENTS];

/* Noise as often as all others together. */
picture_content picture_random_content(void);

/* 8-bit gray samples, row after row. */
uint8_t *picture_bytes(picture_content content, int64_t width, int64_t height);
void picture_noise(void *samples, size_t size);

/* Sets image to a picture of 8 or 16 bits, whose rows may lie apart or upside down; what
 * lies between them is not the picture's. */
void *picture_make(tm_image *image, int64_t width, int64_t height, tm_sample_type type,
                   int channels, picture_content content);

/* Copies a part of frame, at a random place, to tmpl, which has the same kind of samples. */
void picture_cut(const tm_image *tmpl, const tm_image *frame);

/* What a picture of floats shows: numbers that other ways of adding up stumble over. */
typedef enum picture_f32_content {
    PICTURE_F32_NOISE,     /* from 0 to 1 */
    PICTURE_F32_OFFSET,    /* a large one */
    PICTURE_F32_LAST_BIT,  /* contrast of a unit in the last place */
    PICTURE_F32_FLAT,      /* mostly */
    PICTURE_F32_DENORMALS,
    PICTURE_F32_GREAT,     /* of all finite numbers */
    PICTURE_F32_FAR_APART, /* in magnitude */
    PICTURE_F32_LEVELS,    /* two, each almost flat */
    PICTURE_F32_BYTES,     /* whole numbers below 256 */
    PICTURE_F32_OUTLIERS,  /* black, bright, and samples far beyond all */
    PICTURE_F32_BRIGHTER,  /* and brighter */
    PICTURE_F32_SIGNS,     /* both, about 0 */
    PICTURE_F32_RAMP,
    PICTURE_F32_CONTENTS
} picture_f32_content;

picture_f32_content picture_f32_random_content(void);

/* Sets image to floats, row after row. */
float *picture_make_f32(tm_image *image, int64_t width, int64_t height, int channels,
                        picture_f32_content content);

/* The ways in which picture_mask masks a template; with the first one it is not masked. */
enum { PICTURE_MASKS = 10, PICTURE_FEW_HOLES = 8 };
extern const char *const picture_mask_names[PICTURE_MASKS];

/* Sets image's mask, of rows without gaps; NULL with the first way. */
uint8_t *picture_mask(tm_image *image, int way);

/* The same with one of so many pixels masked out, at random. */
uint8_t *picture_mask_out(tm_image *image, unsigned one_of);

/* The same with few pixels masked out, or windows that touch none would be rare. */
uint8_t *picture_mask_frame(tm_image *image);

#endif
