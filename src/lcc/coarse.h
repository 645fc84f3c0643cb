/* SPDX-License-Identifier: MIT */
/* A first look at a frame: it is reduced to cells of the template's levels, in which the reduced
 * template is looked for; and from a place that looks good there a climb leads to a good window of
 * the frame. For jobs of 8-bit gray without masks, by LCC, with templates of at most TM_LEVEL_PIXELS. */
#ifndef TMATCH_LCC_COARSE_H
#define TMATCH_LCC_COARSE_H

#include "lcc/lcc.h"
#include "lcc/peaks.h"
#include "memory.h"

/* A reduced frame; zero-initialise. It is kept for others of its size. */
typedef struct tm_coarse {
    tm_memory memory;
    tm_image cells;
} tm_coarse;

/* Whether the template can be reduced, and the frame has a window. */
bool tm_coarse_takes(const tm_job *job);

/* Reduces the frame of a job that it takes. False if memory ran out. */
bool tm_coarse_reduce(tm_coarse *coarse, const tm_job *job, int threads);
void tm_coarse_free(tm_coarse *coarse);

/* Makes the job of the reduced template in the reduced frame. */
tm_status tm_coarse_job(tm_job *small, const tm_coarse *coarse, const tm_job *job,
                        tm_peak_list *peaks);

/* Where in the frame that job's window is which small's map has at this position. */
void tm_coarse_place(const tm_job *small, const tm_job *job, int64_t position, int64_t *x,
                     int64_t *y);

/* How windows are scored on the way: by every step-th row of the template. */
typedef struct tm_climber {
    const tm_job *job;
    int64_t step, n, s_t, variance;
} tm_climber;

tm_climber tm_climber_of(const tm_job *job, int64_t step);

/* One whose windows have about as many pixels as are enough for all but the last steps. */
tm_climber tm_climber_quick(const tm_job *job);

/* Ranks the window at (x, y) of the frame. */
tm_candidate tm_climber_score(const tm_climber *climber, int64_t x, int64_t y);

/* Goes from *x, *y to better windows, by steps that become smaller, and ranks the last one, which
 * beats all that are beside it in the frame. */
tm_candidate tm_climb(const tm_climber *climber, int64_t *x, int64_t *y, int64_t step_x,
                      int64_t step_y);

#endif
