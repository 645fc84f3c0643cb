/* SPDX-License-Identifier: MIT */
/* Exact scores of posed templates, one position at a time, and what a search for them shares. */
#ifndef TMATCH_LCC_CPU_POSE_SCORES_H
#define TMATCH_LCC_CPU_POSE_SCORES_H

#include <pthread.h>

#include "lcc/cpu/pose_search.h"

/* One search, seen by all its threads. */
typedef struct tm_pose_run {
    tm_cpu *cpu;
    tm_pose_search *search;
    const tm_pose_class *class; /* that is being searched */
    const tm_pose_cells *cells; /* of it, that are looked at first, or NULL */
    struct tm_cell_frames *frames;
    const struct tm_pose_look *look; /* at windows that its cells do not rule out; else NULL */
    tm_memory *windows;         /* of each thread: for a window that reaches beyond the frame */
    int64_t least;   /* the value that a position must reach to matter; by atomic operations */
    int64_t scored;  /* likewise */
    int64_t in_vain; /* as many besides, before the class was searched anew */
    int64_t limit;   /* how many may be scored until scoring all would have been as quick */
    double done;     /* how many of all positions were looked at; likewise */
    int64_t of_class; /* positions */
    pthread_mutex_t noting;
    size_t room;
    bool failed, declined; /* likewise */
} tm_pose_run;

/* The position whose picture has its corner at (x, y) of the frame, scored. */
tm_pose_peak tm_pose_score(const tm_pose_run *run, int thread, const tm_pose_member *member,
                           int64_t x, int64_t y);

/* The samples of a picture's box in the frame, extended with zeros, and their sums where it counts. */
typedef struct tm_pose_box {
    const uint8_t *samples; /* NULL: memory ran out */
    ptrdiff_t stride;
    int64_t s_f, s_ff;
} tm_pose_box;
tm_pose_box tm_pose_box_at(const tm_pose_run *run, int thread, const tm_pose_member *member, int64_t x,
                           int64_t y);

/* The products of its samples with the member's taps, added up. */
int64_t tm_pose_product(const tm_pose_run *run, const tm_pose_member *member, const tm_pose_box *box);

/* The position whose picture has this box, scored. */
tm_pose_peak tm_pose_score_box(const tm_pose_run *run, const tm_pose_member *member, int64_t x,
                               int64_t y, const tm_pose_box *box);

/* Takes note of a scored position. */
void tm_pose_note(tm_pose_run *run, const tm_pose_peak *peak);

/* Leaves the most best positions, where so many are wanted, and lets others matter only if they are as good. */
void tm_pose_keep_most(tm_pose_run *run);

/* Good positions to begin with, the best first, none near another one. */
enum { TM_POSE_GUESSES = 24 };
typedef struct tm_pose_guesses {
    tm_pose_peak list[TM_POSE_GUESSES];
    int count;
} tm_pose_guesses;

/* Puts a position in its place, unless a better one is near: nearer than so many halves of a pixel. */
void tm_pose_guesses_add(tm_pose_guesses *guesses, const tm_pose_peak *peak, int64_t near);

/* Climbs from a position to the best one nearby: at first by so many pixels, angles and scales. Errors: those of the
 * search's device, and MEMORY with one; without, a position for which there is no memory is passed over. */
tm_status tm_pose_climb(const tm_pose_run *run, const tm_pose_peak *from, int64_t step, int64_t turn, int64_t ratio,
                        tm_pose_peak *best);

/* Sets the floor, and what positions must reach at first. */
void tm_pose_set_floor(tm_pose_run *run, const tm_pose_guesses *guesses);

/* How many of these positions of pictures with so many pixels that count may be scored one by one until scoring all would
 * have been as quick. */
int64_t tm_pose_limit_of(int64_t pairs, double pixels);

/* Finds those of all classes. Errors: MEMORY. */
tm_status tm_pose_guess(const tm_pose_run *run, tm_pose_guesses *guesses);

#endif
