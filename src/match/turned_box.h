/* SPDX-License-Identifier: MIT */
/* Boxes of templates in poses, and non-maximum suppression by them. */
#ifndef TMATCH_MATCH_TURNED_BOX_H
#define TMATCH_MATCH_TURNED_BOX_H

#include <stdbool.h>
#include <stddef.h>

#include "lcc/pose.h"

/* Corners have whole coordinates in halves of a millionth of a pixel, in which boxes that are not
 * turned, or by quarters, have exact ones. */
#define TM_BOX_PIXEL (2 * TM_POSE_UNIT)

/* Top left, top right, bottom right and bottom left as in the template; x and y. Pixels' centres are
 * at whole pixels. */
typedef struct tm_turned_box {
    int64_t corners[4][2];
} tm_turned_box;

/* The box of a template of this size; its centre is given in halves of a pixel. */
tm_turned_box tm_turned_box_make(int64_t width, int64_t height, tm_turn turn, int64_t x, int64_t y);

/* The least box of whole pixels that holds it. */
void tm_turned_box_bounds(const tm_turned_box *box, int64_t *x, int64_t *y, int64_t *width,
                          int64_t *height);

/* Whether the intersection is more than that part of the union, as doubles say; exactly where the
 * sides of both are upright. overlap: from 0 to 1. */
bool tm_turned_box_overlaps(const tm_turned_box *a, const tm_turned_box *b, double overlap);

/* Taken boxes by the cells that their centres lie in. A cell is as large as centres of boxes that
 * overlap can be apart, so a box meets 3 x 3 of them. */
typedef struct tm_turned_taken {
    double overlap;
    int64_t cell;
    struct tm_turned_entry *entries;
    size_t count, room;
    size_t *heads; /* of chains of entries, by the hash of a cell */
    size_t size;   /* of heads: a power of two, or 0 */
} tm_turned_taken;

/* reach: no corner is farther from its centre, in halves of a millionth of a pixel. */
void tm_turned_taken_init(tm_turned_taken *taken, int64_t reach, double overlap);
void tm_turned_taken_free(tm_turned_taken *taken);

/* Whether the box overlaps a taken one. */
bool tm_turned_taken_covers(const tm_turned_taken *taken, const tm_turned_box *box);

/* False if memory ran out. */
bool tm_turned_taken_add(tm_turned_taken *taken, const tm_turned_box *box);

#endif
