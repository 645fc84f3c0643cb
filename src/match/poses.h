/* SPDX-License-Identifier: MIT */
/* A template in all poses of a grid, and the peaks of all their maps. */
#ifndef TMATCH_MATCH_POSES_H
#define TMATCH_MATCH_POSES_H

#include "lcc/pose_grid.h"
#include "lcc/pose_search.h"
#include "match/matcher.h"

/* What is known of a pose. */
typedef struct tm_pose_slot {
    tm_template *tmpl; /* NULL while it is not there */
    bool held;         /* it stays until the end */
    int64_t width, height, pixels;
    bool known;    /* the above is */
    bool left_out; /* the pose is flat, or has no pixels */
} tm_pose_slot;

/* What certified search keeps. */
typedef struct tm_pose_kept {
    tm_pose_families *families[2]; /* the second: narrow ones; NULL until they are needed */
    uint64_t hash;              /* of the picture and its poses; 0 until it is needed */
    struct tm_pyramid *pyramid; /* pyramid.h; NULL until it is needed */
    double spent;               /* nanoseconds on frames that were searched exhaustively, to save making families */
} tm_pose_kept;

struct tm_posed_template {
    tm_image image; /* its samples and mask are packed, and the template's own */
    uint8_t *samples, *mask;
    tm_metric metric;
    int threads;
    tm_poses poses;
    tm_pose_grid grid; /* as chosen */
    size_t count;
    tm_pose_slot *slots; /* a cache, as which it and the next two change in a const template */
    int64_t *held_bytes; /* of templates that are held */
    tm_pose_kept *kept;
};

/* Makes the templates of poses [first, first + count) that are not there. Errors: MEMORY,
 * TEMPLATE_TOO_LARGE. */
tm_status tm_posed_hold(const tm_posed_template *t, size_t first, size_t count);

/* Finds out a pose's size and whether it is left out. Errors: as tm_posed_hold. */
tm_status tm_posed_know(const tm_posed_template *t, size_t index);

/* Makes the templates of poses [first, first + count), and lists those of poses that have one and fit
 * into the frame, with their numbers if poses is not NULL; returns how many. *status is tm_posed_hold's;
 * after OK tm_posed_release is to follow. */
size_t tm_posed_list(const tm_posed_template *t, const tm_image *frame, size_t first, size_t count,
                     const tm_template **tmpls, size_t *poses, tm_status *status);

/* Lets go of those of them for which what is held across frames has no room. */
void tm_posed_release(const tm_posed_template *t, size_t first, size_t count);

/* The picture as an image of the template's kind. */
tm_image tm_posed_image_of(const tm_posed_template *t, const tm_posed *posed);

/* The peaks of all poses. */
typedef struct tm_pose_peaks {
    tm_pose_peak best;   /* of all positions and poses, peaks or not */
    tm_pose_peak *items; /* the best first: the best search.most of those that reach the floor; where
                            those are all of them, followed by the best search.least of the others */
    size_t count;
    bool more_above; /* others reach the floor */
    bool whole;      /* there are no others at all */
} tm_pose_peaks;

/* Finds the peaks of a frame; the matcher's call has begun. search is NULL where the best position is
 * wanted alone. The caller frees found->items. Errors: those of a match, but NO_POSITION. */
tm_status tm_poses_search(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl,
                          const tm_peak_search *search, tm_pose_peaks *found);

/* Says that all poses are larger than the frame, and returns that. */
tm_status tm_poses_fail_too_large(tm_matcher *matcher, const tm_image *frame);

/* Puts what was searched exhaustively before how the last poses were. */
void tm_poses_say(tm_matcher *matcher, size_t count);

/* Why there is no certified search, a clause; NULL: there may be. */
const char *tm_poses_certified_fault(const tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl);

/* Makes the template's families, those of all angles or narrow ones, if they are not there; large: whether by cells where its pictures
 * cannot all be kept. Errors: MEMORY, TEMPLATE_TOO_LARGE. */
tm_status tm_poses_make_families(const tm_posed_template *tmpl, bool narrow, bool large);

/* What a certified search of a posed template is to find. */
typedef struct tm_certified_poses {
    int64_t floor, ceiling; /* as tm_pose_search's; out: the floor that was searched to */
    size_t wanted, most;
    double ratio; /* as tm_pose_search's */
    bool has_least;
    int64_t least;
} tm_certified_poses;

/* About how long an exhaustive search takes, in nanoseconds: by one thread, or on a CUDA device of these traits, by which
 * the best match alone may take less. */
double tm_poses_exhaustive_ns(const tm_image *frame, const tm_posed_template *tmpl, const tm_device_traits *cuda,
                              bool best_alone);

/* Whether certified search is expected to be quicker than that, with the families that it needs first. Where those take
 * longer than a frame, they are made when frames have taken as long as they will. Notes the frame's time. */
bool tm_poses_pay(const tm_image *frame, const tm_posed_template *tmpl, bool on_cuda, double exhaustive_ns);

/* What certified search for a large template takes the CPU, about, once its families are made. */
double tm_poses_large_ms(const tm_image *frame, int threads);

/* Whether the template is so large that the CPU searches it, with a CUDA device's help or without. */
bool tm_poses_are_for_cpu(const tm_matcher *matcher, const tm_posed_template *tmpl);

/* Searches on the CPU. Where the families are those of a large template the pool's device helps; what it fails to do the
 * CPU makes good, and the matcher's warning says so. Errors: MEMORY. */
tm_status tm_poses_match_on_cpu(tm_matcher *matcher, tm_pose_search *search);

/* On TM_DEVICE_AUTO: opens a CUDA device for a large template once that is worth it; whether it did. Several would match all
 * poses exhaustively, and so would one whose time is limited. */
bool tm_poses_turn_to_cuda(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl);

/* Finds the best position and the peaks down to a floor by certified search; false where that is not
 * to be, or would not pay, and then nothing is found. *status is its own, as those of a match. */
bool tm_poses_certify(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl,
                      tm_certified_poses *wanted, tm_pose_peaks *found, tm_status *status);

#endif
