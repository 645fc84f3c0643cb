/* SPDX-License-Identifier: MIT */
/* What a device does for a search in large classes (pose_large.h): sums over cells, and what bundles can score at
 * most in all windows of them. */
#ifndef TMATCH_LCC_POSE_LARGE_DEVICE_H
#define TMATCH_LCC_POSE_LARGE_DEVICE_H

#include "lcc/cell_frame.h"
#include "lcc/pose_large.h"

/* Windows of a frame of cells: of the class's family. */
typedef struct tm_large_windows {
    const tm_cell_frame *cells; /* where it lies; what its cells are is written there */
    int64_t x, y, width, height; /* of the first window's corner, in cells; how many, 0 where there are none */
} tm_large_windows;

enum { TM_LARGE_FRAMES = 4 }; /* of cells, that a class has at most */

/* All of a class's windows. */
typedef struct tm_large_look {
    const tm_large_class *of;
    const tm_image *frame; /* NULL: that of the last look, as what else there is until the windows */
    int64_t pad_x, pad_y;  /* how far pictures reach beyond it at most, on any side */
    const uint64_t *squares; /* sums of squares over squares of the class's reach, before each of them in its row; and an end */
    int64_t squares_across, squares_down;
    const tm_image *image; /* the template, and */
    const tm_pose_support *support; /* what counts of it in a pose */
    tm_large_windows windows[TM_LARGE_FRAMES];
    int count;
    float *bounds;    /* of each window of the first frame of cells: the greatest bound of a bundle, but for what roundings */
    int32_t *bundles; /* add; and whose it is */
} tm_large_look;

/* What a window has in the core, without its mean: the squared length of what is equal within cells, and of the rest. */
typedef struct tm_large_energies {
    double cells, rest;
} tm_large_energies;

/* What rounding may take off a cosine, and add to an angle. */
#define TM_LARGE_ROUNDING 1e-6

/* The greatest angle that the window's cells and a member's may have, -4 if none may. With A and B the lengths of what is equal
 * within the cells and of their other pixels, and the template's parts there, and beyond, of P, R and O at most, the score T is
 * at most (s A P + B R + C O) / sqrt(A^2 + B^2 + C^2), whatever C: its square is no more than (s A P + B R)^2 / (A^2 + B^2) +
 * O^2. angle: by the cells' share of pictures alone; core: T^2 - O^2. */
TM_HOST_DEVICE double tm_large_angle_of(double angle, double core, double most_share, double most_rest, tm_large_energies of)
{
    const double length = sqrt(of.cells * most_share), rest = of.rest > 0 ? of.rest : 0;

    if (core <= 0 || length < 1e-3)
        return angle;
    const double least = (sqrt(core * (of.cells + rest)) - sqrt(rest * most_rest)) / length - TM_LARGE_ROUNDING;
    if (least > 1)
        return -4;
    const double own = least > 0 ? acos(least) + TM_LARGE_ROUNDING : angle;
    return own < angle ? own : angle;
}

/* A window that bundles pass in. */
typedef struct tm_large_passed {
    int32_t frame, x, y; /* of the look's windows; in cells */
    uint32_t first, count; /* of the bundles */
    float least; /* that their bounds reach */
} tm_large_passed;

/* What passed in the windows of the last look; all is the caller's to free, also after an error. */
typedef struct tm_large_list {
    float least;  /* that bounds reach in any window */
    double angle; /* that the cells of a window and of a member may have at most, */
    double core;  /* and by what else is in the window: see tm_large_angle_of */
    tm_large_passed *windows;
    size_t count;
    int32_t *bundles;
    float *bounds;
    bool too_many; /* more passed than are listed; none is */
} tm_large_list;

/* A pose with places of its picture's corner in the frame, which follow those of the pose before. */
typedef struct tm_large_pose {
    tm_turn turn;
    int width, height;
    uint32_t count;
} tm_large_pose;

typedef struct tm_large_place {
    int32_t x, y;
} tm_large_place;

/* Sums over the pixels that count: of the frame, of its squares, and of products with the picture. */
typedef struct tm_large_sums {
    uint64_t s_f, s_ff, s_ft;
} tm_large_sums;

/* Places of the last look's frame and template. */
typedef struct tm_large_batch {
    const tm_large_pose *poses;
    size_t count;
    const tm_large_place *places;
    size_t places_count;
    tm_large_sums *sums; /* of each place, to be written */
} tm_large_batch;

/* Errors: MEMORY and those of devices. */
typedef struct tm_large_device {
    void *context;
    tm_status (*look)(void *context, const tm_large_look *look);
    tm_status (*list)(void *context, tm_large_list *list);
    tm_status (*sum)(void *context, const tm_large_batch *batch);
} tm_large_device;

#endif
