/* SPDX-License-Identifier: MIT */
/* What the frames of certified_scenes.h show. */
#ifndef TMATCH_TESTS_CERTIFIED_FRAMES_H
#define TMATCH_TESTS_CERTIFIED_FRAMES_H

#include <stdint.h>

/* Samples while a frame is drawn, row after row. */
typedef struct canvas {
    int64_t width, height;
    uint8_t *samples;
} canvas;

/* Draws something, and returns its name. */
const char *certified_frame(const canvas *c);

/* Octaves of noise from 64 samples down to 1, each of this part of the one before. */
void certified_texture(const canvas *c, double persistence, double contrast);

/* A size of blocks or cells, or a part of one, at which patterns repeat. */
int64_t certified_period(void);

/* About normal, of variance 1. */
double certified_normal(void);

/* Rounded and clipped. */
uint8_t certified_sample(double value);

#endif
