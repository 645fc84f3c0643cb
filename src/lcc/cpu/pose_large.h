/* SPDX-License-Identifier: MIT */
/* Certified search for a template that is too large for all of its posed pictures to be kept. */
#ifndef TMATCH_LCC_CPU_POSE_LARGE_H
#define TMATCH_LCC_CPU_POSE_LARGE_H

#include "lcc/cpu/pose_cells.h"
#include "lcc/cpu/pose_scores.h"
#include "lcc/pose_large_device.h"

/* The means of all squares of pixels of a side, rounded down, as frames of those that lie side by side: the one at
 * (x, y) is in frame y % side * side + x % side. Zero-initialise. */
typedef struct tm_mean_frames {
    int side;
    tm_image *list; /* side * side; begin at frame * pixels before the frame, or 0, of which the remainder is theirs */
    uint8_t *samples;
} tm_mean_frames;

/* False if memory ran out. */
bool tm_mean_frames_make(tm_mean_frames *frames, const tm_image *frame, int side, int threads);
void tm_mean_frames_free(tm_mean_frames *frames);

/* Where the square at x begins in its frame. */
static inline int64_t tm_mean_frame_at(int side, int64_t x)
{
    return floor_div(x, side) + (floor_div(x, side) * side != x);
}

/* Sums of squares of pixels over squares of a side, before each of them in its row. Zero-initialise. */
typedef struct tm_square_sums {
    int side;
    int64_t across, down;
    uint64_t *before;
} tm_square_sums;

/* False if memory ran out. */
bool tm_square_sums_make(tm_square_sums *sums, const tm_image *frame, int side, int threads);
void tm_square_sums_free(tm_square_sums *sums);

/* A position and pose whose parts a window of cells could not rule out. */
typedef struct tm_large_part {
    int class;
    int part;     /* of the class */
    int32_t x, y; /* of the box's corner, at the part's first place */
    float cosine;
} tm_large_part;

/* A place of a pose's picture: of its corner in the frame. */
typedef struct tm_large_spot {
    int64_t pose;
    int32_t x, y;
    uint32_t number; /* tm_large_score_spots' own */
} tm_large_spot;

/* Spots that are to be scored together. */
typedef struct tm_large_spots {
    tm_large_spot *list;
    size_t count, room;
} tm_large_spots;

/* What a search of large classes shares, besides what all searches do. */
typedef struct tm_large_run {
    tm_pose_run *run;
    struct tm_pose_large *large;
    const tm_large_class *class;
    const tm_cell_frame *frames, *cells; /* of its size, and the one that is looked at */
    int64_t x, y, width, height; /* of the box's corners that there are positions at */
    tm_mean_frames means;
    tm_square_sums squares; /* of squares as wide as the class's reach */
    tm_large_look look;            /* what the device, if there is one, looked at last */
    const tm_large_class *looked;  /* the class of that; NULL: it did not look */
    tm_large_spots spots;
    tm_large_part *parts;
    size_t count, room;
    bool any; /* all parts of a window matter */
} tm_large_run;

/* Begins with a class: where it has positions, and its frames of cells. Errors: MEMORY. */
tm_status tm_large_enter(tm_large_run *run, const tm_large_class *class);

/* Describes the search of the class's family in run->cells. */
void tm_large_describe(const tm_large_run *run, tm_family_search *search, tm_image images[2]);

/* What the cells of a class must be like at least, as the cosine of an angle that is greater by spread; -2: anything. */
float tm_large_least(const tm_large_run *run, double share, double spread);

/* Lets the search's device look at the class's windows, unless it did so last. Errors: MEMORY, and the device's. */
tm_status tm_large_look_at(tm_large_run *run);

/* Finds parts of bundles that could matter in windows that the device lists, whose bounds reach so much. Errors:
 * likewise. */
tm_status tm_large_visit_listed(tm_large_run *run, float least);

/* The greatest angle that cells of the class may have, at the moment, and what else tm_large_angle_of asks for. */
double tm_large_angle_now(const tm_large_run *run, double *core);

/* Finds parts of bundles that could matter in a window. */
void tm_large_visit(void *run, int thread, const tm_family_window *window);

/* The angle between the cells of a pose's picture and those of the frame there, off by *slack at most; 0 where that is not
 * known. */
double tm_large_angle_at(const tm_large_run *run, int thread, int64_t pose, int64_t x, int64_t y, double *slack);

/* Whether the position of a pose can be ruled out by the cells of its picture. False if it cannot, or memory ran out. */
bool tm_large_rules_out(const tm_large_run *run, int thread, int64_t pose, int64_t x, int64_t y);

/* Scores spots, which it sorts, by the search's device: peaks[i] is that of the i-th before. Errors: MEMORY, and the
 * device's. */
tm_status tm_large_score_spots(const tm_pose_run *run, tm_large_spot *spots, size_t count, tm_pose_peak *peaks);

/* Puts off scoring a spot until all are scored. False if memory ran out. */
bool tm_large_put_off(tm_large_run *run, const tm_large_spot *spot);
tm_status tm_large_score_put_off(tm_large_run *run);

/* Good positions to begin with. Errors: MEMORY. */
tm_status tm_large_guess(tm_large_run *run, tm_pose_guesses *guesses);

/* The search of all classes, with guesses. Errors: MEMORY. */
tm_status tm_large_search(tm_pose_run *run);

#endif
