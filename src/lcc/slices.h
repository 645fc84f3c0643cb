/* SPDX-License-Identifier: MIT */
/* Rows of a match as matches of their own: for several devices, and for frames and
 * maps that are larger than a memory. */
#ifndef TMATCH_LCC_SLICES_H
#define TMATCH_LCC_SLICES_H

#include "lcc/lcc.h"

/* Rows [first, end) of a score map. Where a call has maps of several heights, the rows of the
 * highest one stand for the same part of each. */
typedef struct tm_rows {
    int64_t first, end;
} tm_rows;

/* The rows of a map of so many rows, height, that correspond to the given ones of a map of whole
 * rows. Rows that meet correspond to rows that meet. */
tm_rows tm_rows_scale(tm_rows rows, int64_t whole, int64_t height);

/* Slice number index of the rows, which are divided in proportion to the weights. */
tm_rows tm_rows_divide(tm_rows rows, const double *weights, int count, int index);

/* The job that makes these rows of the job's map, at least one. Only rows outside of the frame
 * count as zeros, not those outside of the slice. held: the frame's row that
 * job->frame.samples points at. Where peaks are wanted, the slice has a row more at each end
 * that is not the map's, to compare with, and its peaks are those of the job's own rows; it must be given a
 * list of its own. */
tm_job tm_job_rows(const tm_job *job, tm_rows rows, int64_t held);

/* Ranks the best match of those rows among the whole job's, and adds their peaks. */
void tm_job_merge(tm_job *job, const tm_job *slice, tm_rows rows);

#endif
