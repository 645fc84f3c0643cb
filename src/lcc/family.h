/* SPDX-License-Identifier: MIT */
/* Families: many templates with some pixels in common, their core, where few basis templates nearly
 * make them up, as a template turned to all angles does. By the products of a window with the basis a
 * bound of its scores with all of them is known.
 *
 * Window f and template t, both centred on the core's pixels, t of norm 1, P the projection on the
 * basis:
 *
 *     <f, t> = <Pf, Pt> + <f - Pf, t - Pt> <= <Pf, Pt> + sqrt(|f|^2 - |Pf|^2) rest
 *     rest^2 = 1 - |Pt|^2
 *
 * and the score is <f, t> / |f|. docs/exactness.md has the proof with its roundings. */
#ifndef TMATCH_LCC_FAMILY_H
#define TMATCH_LCC_FAMILY_H

#include <math.h>

#include "lcc/pose.h"
#include "lcc/score.h"

/* Scores are within 2^-22 of the true value. */
#define TM_FAMILY_SCORE_MARGIN 0x1p-20f

/* What roundings in binary32 may take off a bound, besides what they make of p: off 1 - |p|^2 / |f|^2, and off lengths. */
#define TM_FAMILY_ROUNDING 1e-5f

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TM_FAMILY_BASIS = 32,  /* basis templates at most, in pairs */
    TM_FAMILY_UNIT = 32,   /* arrays of the members are padded to a multiple of this */
    TM_FAMILY_PIXELS = 65536, /* of the core's box at most: sums of squares fit 32 bits */
    TM_FAMILY_ROWS = 512,
};

/* Pixels [x, end) of a row. */
typedef struct tm_family_run {
    int y, x, end;
} tm_family_run;

typedef struct tm_family {
    int width, height;   /* of the box about the centre that holds the core */
    int64_t pixels;      /* in the core */
    tm_family_run *runs; /* the core */
    int run_count;
    int count, padded;   /* members */
    int basis;           /* an even number */
    int unit;            /* samples of windows are below 256 times this; 0 is 1. Set it before tm_family_finish */
    /* Its members are there turned by half a turn, too, nearly: set it before tm_family_finish, which takes it back where
     * the core is another one then. Each basis template is the same turned by half a turn, or the opposite, as bit k of
     * odd says; where there is a pixel in the middle, its tap is even. */
    bool half_turns;
    uint32_t odd;
    uint8_t *samples;    /* each basis template q, packed: q + 128, and 128 outside of the core; the
                            sum of q is 0 */
    /* The products z with the basis make coordinates p of the window: p[i] = the sum over j <= i of
     * solve[i][j] z[j]; then |Pf| = |p|. */
    float solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS];
    /* basis rows with a member's coordinates in each column, and a row of rests; where there is no
     * member, 0 and a rest of -2. TM_FAMILY_UNIT more can be read. */
    float *coordinates;
    float radius[TM_FAMILY_BASIS / 2]; /* of each pair of rows: the greatest length in it */
    float rest;                        /* the greatest */
    double rest_rms;
    float error; /* what roundings in binary32 make p differ by at most, for |f| = 1 */
    /* A chain of some of the members, from the first to the last, by whose chords the others nearly are: where one of them
     * reaches a score, one of the two ends of its chord does with what it has besides. Those are the greatest rest of
     * the members up to the chain's points before and after, and the greatest distance of these from the chord, which
     * |p| is to be multiplied with. NULL where they are hardly fewer. */
    struct tm_family *chain;
    int *points; /* of the chain: which members they are */
    /* The same members by the first three quarters of the basis; NULL where the basis is small.
     * Runs and samples are this one's. */
    struct tm_family *first;
} tm_family;

/* Begins a family of posed templates of 8-bit gray, whose pictures have sizes of one parity: finds its
 * core, the pixels that count in all. *family is empty where these are few, or too many, or where there
 * are no members. Errors: MEMORY. To be freed with tm_family_free. */
tm_status tm_family_begin(tm_family *family, const tm_posed *members, size_t count);

/* Makes the rest of it, with a basis of so many templates, 2 or more, or fewer if the family is small.
 * While that leaves rest_rms above rest, it gets twice as many, up to TM_FAMILY_BASIS. *family becomes
 * empty where the core's pixels are equal in a member. Errors: MEMORY, and *family is empty. */
tm_status tm_family_finish(tm_family *family, const tm_posed *members, int basis, double rest);

/* Both, with a basis of so many templates at most. */
tm_status tm_family_make(tm_family *family, const tm_posed *members, size_t count, int basis);
void tm_family_free(tm_family *family);

/* A posed template's variance times its pixels. */
double tm_family_energy(const tm_posed *member);

/* The core's share of a member's variance, from below. */
double tm_family_share(const tm_family *family, const tm_posed *member);

/* What the score on a part of the picture must reach where the whole picture's is to be at least so much: with a
 * that part's share of the template's variance, that is at most sqrt(1 - a (1 - part^2)). */
TM_HOST_DEVICE float tm_family_least(double share, float score)
{
    const double square = ((double)score * score - (1 - share)) / share;
    return share == 1 ? score : score > 0 && square > 0 ? (float)(sqrt(square) * (1 - 1e-6)) : -2;
}

/* Sums over a member's pixels in the core, less 128. */
typedef struct tm_family_sums {
    double sum;    /* exact */
    double length; /* of what they differ by from their mean */
} tm_family_sums;

/* Writes the core's pixels of a member, less 128; false where they are equal. */
bool tm_family_read(const tm_family *family, const tm_posed *member, int16_t *pixels, tm_family_sums *sums);

#ifdef __cplusplus
}
#endif

#endif
