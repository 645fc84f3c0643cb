/* SPDX-License-Identifier: MIT */
/* Rows of a match as matches of their own: for several devices, and for frames and
 * maps that are larger than a memory. */
#ifndef TMATCH_MATCH_SLICES_H
#define TMATCH_MATCH_SLICES_H

#include "lcc/lcc.h"

/* Rows [first, end) of a score map, or of something that all maps of a call are
 * counted by. */
typedef struct tm_rows {
    int64_t first, end;
} tm_rows;

/* The same part of a map of height rows as the given part of a map of whole rows:
 * parts that meet go to parts that meet. */
tm_rows tm_rows_scale(tm_rows rows, int64_t whole, int64_t height);

/* Part number index of rows that are shared out by weights. */
tm_rows tm_rows_divide(tm_rows rows, const double *weights, int count, int index);

/* The job that makes these rows of job's map, which are not none. The frame's edge
 * stays where it is: only rows outside of the frame count as zeros, not those
 * outside of the slice. held: the frame's row that job->frame.samples points at.
 * Where peaks are wanted, the slice has a row more at each end that is not the
 * map's, to compare with, and is to be given a list of its own. */
tm_job tm_job_rows(const tm_job *job, tm_rows rows, int64_t held);

/* Ranks the best match of those rows among the whole job's, and adds their peaks. */
void tm_job_merge(tm_job *job, const tm_job *slice, tm_rows rows);

#endif
