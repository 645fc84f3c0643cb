/* SPDX-License-Identifier: MIT */
/* Frames and templates for certified search: real ones, and those on which a bound from block
 * means is tight, worthless or prone to rounding. */
#ifndef TMATCH_TESTS_CERTIFIED_SCENES_H
#define TMATCH_TESTS_CERTIFIED_SCENES_H

#include "tmatch/tmatch.h"

typedef struct drawn {
    tm_image image; /* 8-bit gray; rows may lie apart or upside down */
    uint8_t *memory;
    const char *name; /* what it shows */
} drawn;

/* Smooth texture with fine grain. */
drawn draw_smooth(int64_t width, int64_t height);

/* Cut at (x, y), with noise and less contrast. */
drawn cut_template(const drawn *frame, int64_t x, int64_t y, int64_t width, int64_t height);

void drawn_free(drawn *d);

enum { SCENE_TEMPLATES = 5 };

/* A frame and a few templates, none of them flat; there may be none. */
typedef struct scene {
    drawn frame, tmpls[SCENE_TEMPLATES];
    size_t count;
    tm_domain domain;
    char text[300]; /* what was drawn, for a failure's message */
} scene;

/* A scene whose first template makes at most so many products with its windows. */
void scene_make(scene *s, double products);
/* The same, but most windows can be left out, and unless that makes too many products there are so
 * many that a good one is found before all were seen. */
void scene_make_easy(scene *s, double products);
void scene_free(scene *s);

#endif
