/* SPDX-License-Identifier: MIT */
/* All poses of a template as families, for certified search: each of scales that differ little, of
 * angles too if they are to be narrow, and of posed pictures whose widths and heights have one
 * parity, so that their centres lie on the same pixels. */
#ifndef TMATCH_LCC_POSE_FAMILIES_H
#define TMATCH_LCC_POSE_FAMILIES_H

#include "lcc/family.h"
#include "lcc/lcc.h"
#include "lcc/pose_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TM_POSE_PIXELS = 65536, /* of a posed picture at most: products fit 32 bits */
    TM_POSE_STRIDE = 64,    /* rows of taps are padded to a multiple of this */
};

/* A posed template. */
typedef struct tm_pose_member {
    int64_t pose;
    int width, height;
    ptrdiff_t stride;
    const int8_t *taps;   /* T - 128 where pixels count, else 0 */
    const int8_t *counts; /* 1 where pixels count, else 0 */
    int64_t pixels;
    tm_scorer scorer;
} tm_pose_member;

/* Bytes of a member's taps and of what counts. */
int64_t tm_pose_taps_size(const tm_posed *posed);

/* Fills in the taps, what counts and the sizes of an 8-bit gray picture, where mask NULL is all; taps: room for
 * tm_pose_taps_size. */
void tm_pose_member_fill(tm_pose_member *member, const tm_posed *posed, int8_t *taps);

/* By which an 8-bit gray picture's positions are scored. */
tm_scorer tm_pose_scorer_of(const tm_posed *posed);

/* Makes the whole member of a picture that has a mask. */
void tm_pose_member_make(tm_pose_member *member, const tm_posed *posed, int64_t pose, int8_t *taps);

/* The members again, of cells of their core: squares of pixels, each as its sum. A window's part that is
 * equal within cells is looked at for a fraction of what all of it takes. Each is there at several places, so
 * that one window of cells is looked at for several of pixels. */
typedef struct tm_pose_cells {
    tm_family family; /* empty where that would say too little. Member p * n + i is the class's member i of n,
                         moved by p % places columns and p / places rows */
    int side;         /* columns and rows of a cell */
    int places;       /* a divisor of side */
    int x, y;         /* of the family's box in that of the class's family, whose members are not moved */
    double share;     /* of a member's variance that is its cells': at least so much */
    double error;     /* the distance of a member of norm 1 here from the true one's cells, at most */
} tm_pose_cells;

/* Large cells, for high scores, and smaller ones. */
enum { TM_POSE_LEVELS = 2 };

typedef struct tm_pose_class {
    tm_family family;
    tm_pose_member *members;
    size_t count;
    bool whole;   /* the core's pixels are all that count */
    double share; /* of a member's variance that is the core's: at least so much */
    tm_pose_cells cells[TM_POSE_LEVELS];
    /* A few of the poses, in which the template has cells of the frame for pixels; empty where there
     * is none. poses: the members that they are near to. */
    tm_family coarse;
    int64_t *poses;
} tm_pose_class;

typedef struct tm_pose_families {
    tm_pose_class *list;
    int count;
    int cell;          /* columns and rows of a cell */
    tm_poses poses;
    tm_pose_member **members; /* of each pose, or NULL where it is left out */
    int8_t *taps;      /* all members' */
    struct tm_pose_large *large; /* pose_large.h: there is that instead; else NULL */
    const char *fault; /* why there is no certified search in these poses, a clause; NULL: there is */
    bool narrower;     /* narrow families would have more in common */
} tm_pose_families;

/* About how many classes these poses have. */
int64_t tm_pose_families_expect(const tm_poses *poses);

/* Whether its posed pictures are surely too large, or too many, to be all kept. */
bool tm_pose_families_too_large(const tm_image *image, const tm_poses *poses);

/* Makes what a certified search by LCC needs of an 8-bit gray template, which *families then
 * contains, with fault where there can be none. narrow: families have few angles each where a template has
 * little in common with itself in all of them, as a long one has. large: a template that is too large for its posed
 * pictures to be kept has families by cells, for the CPU. threads: to be used at most. Errors: MEMORY. To be
 * freed with tm_pose_families_free. */
tm_status tm_pose_families_make(tm_pose_families *families, const tm_image *image,
                                const tm_poses *poses, bool narrow, bool large, int threads);
void tm_pose_families_free(tm_pose_families *families);

#ifdef __cplusplus
}
#endif

#endif
