/* SPDX-License-Identifier: MIT */
#include "lcc/slices.h"

#include "integers.h"

/* a * b / c, whose product does not overflow: sizes are below 2^32. */
static int64_t scale(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)((uint64_t)a * (uint64_t)b / (uint64_t)c);
}

tm_rows tm_rows_scale(tm_rows rows, int64_t whole, int64_t height)
{
    return (tm_rows){scale(rows.first, height, whole), scale(rows.end, height, whole)};
}

tm_rows tm_rows_divide(tm_rows rows, const double *weights, int count, int index)
{
    double before = 0, own = weights[index], all = 0;
    const int64_t length = rows.end - rows.first;

    for (int i = 0; i < count; i++) {
        all += weights[i];
        if (i < index)
            before += weights[i];
    }
    tm_rows slice = {rows.first + (int64_t)((double)length * (before / all)),
                     rows.first + (int64_t)((double)length * ((before + own) / all))};
    if (index == count - 1 || slice.end > rows.end)
        slice.end = rows.end;
    if (slice.first > rows.end)
        slice.first = rows.end;
    return slice;
}

/* With the rows that peaks are compared with. */
static tm_rows with_neighbours(const tm_job *job, tm_rows rows)
{
    if (job->peaks) {
        rows.first -= rows.first > 0;
        rows.end += rows.end < job->geometry.map_height;
    }
    return rows;
}

tm_job tm_job_rows(const tm_job *job, tm_rows rows, int64_t held)
{
    const tm_geometry *g = &job->geometry;
    tm_rows own = rows;
    tm_job slice = *job;

    rows = with_neighbours(job, rows);
    if (job->peaks) { /* a part of a frame has neighbours itself */
        own.first = larger(own.first, job->first_row);
        own.end = larger(smaller(own.end, job->last_row), own.first);
    }
    slice.first_row = own.first - rows.first;
    slice.last_row = own.end - rows.first;
    int64_t top = rows.first - g->pad_y, bottom = rows.end - 1 - g->pad_y + g->template_height;

    if (bottom > g->frame_height)
        bottom = g->frame_height;
    slice.geometry.pad_y = top < 0 ? -top : 0;
    if (top < 0)
        top = 0;
    slice.geometry.frame_height = slice.frame.height = bottom - top;
    slice.geometry.map_height = rows.end - rows.first;
    slice.frame.samples += (top - held) * job->frame.stride;
    if (slice.frame.mask)
        slice.frame.mask += (top - held) * job->frame.mask_stride;
    if (job->map.data)
        slice.map.data = (char *)job->map.data + rows.first * job->map.stride;
    slice.best = (tm_candidate)TM_NO_CANDIDATE;
    return slice;
}

void tm_job_merge(tm_job *job, const tm_job *slice, tm_rows rows)
{
    /* where the slice's first element lies in the map */
    const int64_t position = with_neighbours(job, rows).first * job->geometry.map_width;
    tm_candidate best = slice->best;
    if (job->peaks)
        tm_peak_list_merge(job->peaks, slice->peaks, position);
    if (best.position == INT64_MAX) /* every position was skipped */
        return;
    best.position += position;
    if (tm_candidate_beats(best, job->best))
        job->best = best;
}
