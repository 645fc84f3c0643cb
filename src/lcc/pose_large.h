/* SPDX-License-Identifier: MIT */
/* Poses of a template that is too large for all of its posed pictures to be kept: what certified search keeps are
 * sums over cells, of bundles of poses and places that are alike.
 *
 * A box of cells lies over the middle of all posed pictures. A window of cells stands for the reach * reach places that
 * a picture's corner can have in it: at (x, y) of the box's corner those from tm_pose_large_corner on. With s the
 * coefficient of a window's cells and a posed template's at a place, and r that of the window's cells and a bundle's
 * picture, which is no farther from the template's than an angle spread, acos(r) <= acos(s) + spread. */
#ifndef TMATCH_LCC_POSE_LARGE_H
#define TMATCH_LCC_POSE_LARGE_H

#include "lcc/pose_families.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Poses that follow each other. */
typedef struct tm_pose_range {
    int64_t first;
    int count;
} tm_pose_range;

/* The cells of one pose's picture, from its corner on, all by themselves. */
typedef struct tm_pose_reduced {
    tm_pose_member member; /* of the cells' rounded means; without taps where the pose is left out */
    int8_t *taps;
    double sum, energy; /* of these: their variance times their number */
    double share; /* of the picture's variance that is its cells': at least so much */
    double turn;  /* the angle between the cells' means and the rounded ones at most */
} tm_pose_reduced;

/* Poses whose scales differ little. */
typedef struct tm_large_class {
    tm_pose_range poses;
    int side;           /* columns and rows of a cell */
    int reach;          /* a divisor of it: places each way */
    int columns;        /* and rows of the box */
    int cells;          /* of it that lie in all of the pictures at all places */
    int *firsts, *ends; /* these, in each row */
    tm_family family;   /* of bundles, each over all places */
    tm_pose_range *bundles, *parts; /* parts: of the first bundle, then of the next one, .. */
    int *first_parts;               /* of each bundle, and an end */
    int part_reach;                 /* a divisor of reach: places each way of a part */
    int64_t stride;  /* c->cells rounded up to TM_POSE_STRIDE */
    int8_t *taps;    /* of each part at each of (reach / part_reach)^2 squares of places, for each cell: the sum is 0 */
    double *lengths; /* of these */
    double *turns;   /* the angles at most between these and those of the part's middle square, */
    double *most_turns, *steps; /* the greatest of a part, and that between its middle and that of the part before */
    double share;    /* of any picture's variance that is its cells': at least so much */
    double most_share, most_rest, most_beyond; /* that is its cells', that is the pixels' of the cells besides, and all others': at most */
    double spread, part_spread;
} tm_large_class;

struct tm_pose_large {
    tm_large_class *list;
    int count;
    int *sizes;               /* width and height of each pose's picture; 0 where it is left out */
    tm_scorer *scorers;       /* of each pose */
    int side;                 /* of the cells that are there for each pose; 0: there are none */
    tm_pose_reduced *reduced; /* of each pose */
    tm_pose_member **held;    /* whole pictures that were needed, a cache; see tm_pose_large_hold */
    int64_t held_bytes;
};

/* A part's square of places in the middle. */
static inline int tm_pose_large_middle(const tm_large_class *c)
{
    const int across = c->reach / c->part_reach;
    return across / 2 * across + across / 2;
}

/* Where a picture of this size has its corner in a box whose corner is at 0, at the first place. */
static inline int tm_pose_large_corner(const tm_large_class *c, int size)
{
    const int room = c->columns * c->side - size;
    return (room - (room & 1)) / 2 - c->reach / 2;
}

/* Makes it; *fault: why there is none, a clause, or NULL. Errors: MEMORY, TEMPLATE_TOO_LARGE. To be freed
 * with tm_pose_large_free. */
tm_status tm_pose_large_make(struct tm_pose_large **large, const tm_image *image, const tm_poses *poses, int threads,
                             const char **fault);
void tm_pose_large_free(struct tm_pose_large *large);

/* The picture of a pose that is not left out, made if it is not there; NULL: memory ran out. Not of one pose by several
 * threads at a time. */
const tm_pose_member *tm_pose_large_hold(struct tm_pose_large *large, const tm_image *image, const tm_poses *poses,
                                         int64_t pose);
/* Lets go of it, where those that are kept take too much memory. */
void tm_pose_large_release(struct tm_pose_large *large, int64_t pose);

#ifdef __cplusplus
}
#endif

#endif
