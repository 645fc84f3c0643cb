/* SPDX-License-Identifier: MIT */
/* A certified search for a template in all poses of a grid, for a device to make. */
#ifndef TMATCH_LCC_POSE_SEARCH_H
#define TMATCH_LCC_POSE_SEARCH_H

#include "lcc/pose_families.h"
#include "lcc/pose_peak.h"

/* How much lower a floor is set where what is known down to a score is not enough. */
#define TM_POSE_LOWER 0.1f

/* Places that are wanted score about as the best does, it is thought at first: so much less at most. */
#define TM_POSE_ALIKE 0.06f

/* A place comes near another one that scores so much more at most. */
#define TM_POSE_NEAR 0.1

/* The lowest score that a search goes down to for margins. */
#define TM_POSE_LEAST_CUT 0.3f

typedef struct tm_pose_search {
    const tm_pose_families *families; /* without fault */
    const tm_image *image;            /* of which they were made, */
    bool narrow;                      /* and whether with few angles each */
    const tm_image *frame;            /* 8-bit gray without a mask */
    tm_domain domain;
    /* All peaks are found whose value reaches the floor; INT64_MAX: the best position alone. Where
     * places are wanted, the floor is raised to what so many of them seem to score, but not above the
     * ceiling; out: to what it was. */
    int64_t floor, ceiling;
    size_t wanted;
    bool has_least; /* CPU: nothing matters that is less than least, not even the best position: there may be none */
    int64_t least;
    double ratio; /* not 0: the floor is set to tm_pose_rival of that, for margins */
    size_t most; /* positions that are held at a time */
    double exhaustive_ns; /* CUDA: about how long it takes to score all; what would take longer is declined */
    const struct tm_large_device *device; /* CPU: pose_large_device.h, that large classes are looked at by; or NULL */
    bool best_most; /* CPU: the peaks among the most best positions are found instead; the floor is INT64_MIN */

    tm_pose_peak best;   /* out: of all positions and poses */
    tm_pose_peak *items; /* out: the peaks, the best first; the caller's to free */
    size_t count;
    int64_t pairs;  /* out: positions of all poses, */
    int64_t scored; /* and those of them that were scored exactly */
    bool declined;  /* out: that would be too many, and nothing has been found */
    bool narrower;  /* out: likewise nothing, as narrow families will be quicker */
} tm_pose_search;

#ifdef __cplusplus
extern "C" {
#endif

/* Where a posed picture can lie: its corner, from (-pad_x, -pad_y) of the frame on. False where the frame
 * is too small. */
bool tm_pose_positions_of(const tm_pose_search *search, int64_t width, int64_t height, tm_geometry *g);
bool tm_pose_positions(const tm_pose_search *search, const tm_pose_member *member, tm_geometry *g);

/* How many positions all of the class's pictures have. */
int64_t tm_pose_count_pairs(const tm_pose_search *search, const tm_pose_class *c);

/* All of them, as windows of the core: across x down, the first one's corner at (*first_x, *first_y) of the
 * frame. */
void tm_pose_windows(const tm_pose_search *search, const tm_pose_class *c, int64_t *first_x,
                     int64_t *first_y, int64_t *across, int64_t *down);

/* What another place scores that comes near one of this score, at least: that is not ratio times as near to 1, or nearer, or has
 * TM_POSE_NEAR less at most. A little less, for roundings, and no less than TM_POSE_LEAST_CUT. */
float tm_pose_rival(float score, double ratio);

/* Raises the floor to what so many places as are wanted score, of those that were guessed, the best first: at
 * least one. Where they are fewer the others may score less. */
void tm_pose_raise_floor(tm_pose_search *search, const tm_pose_peak *guesses, size_t count);

/* Leaves the peaks of the positions in search->items, which are all that reach the floor, the best first.
 * False if memory ran out. */
bool tm_pose_keep_peaks(tm_pose_search *search);

#ifdef __cplusplus
}
#endif

#endif
