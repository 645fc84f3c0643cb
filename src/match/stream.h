/* SPDX-License-Identifier: MIT */
/* Frames that come by rows, in bands that fit in a bounded memory: while one is
 * matched, a thread reads the next. */
#ifndef TMATCH_MATCH_STREAM_H
#define TMATCH_MATCH_STREAM_H

#include "lcc/slices.h"

/* Bytes where the settings have no limit. */
#define TM_STREAM_MEMORY ((int64_t)1 << 30)

typedef struct tm_stream {
    const tm_row_source *source;
    const tm_row_sink *sinks; /* of each job, or NULL */
    tm_job *jobs;             /* whole; frame.samples is not looked at */
    size_t count;
    int64_t memory; /* most bytes of bands and rows of maps */

    /* Where the bands come from, pinned or not. */
    tm_status (*allocate)(void *context, size_t size, uint8_t **memory, bool *pinned);
    void (*release)(void *context, uint8_t *memory, bool pinned);
    /* Runs count jobs of one band. */
    tm_status (*match)(void *context, tm_job *jobs, size_t count);
    void *context;

    /* Written: why it failed, or ""; and the bytes that a band takes for which there is too little memory, or 0. */
    char fault[160];
    int64_t needed;
    int64_t bands, band_rows; /* their number, and rows that are new in each */
    double waited_ms;         /* for rows to be read */
} tm_stream;

/* Writes each job's best. Errors: MEMORY, ROWS, and those of allocate and match, which say themselves why: no fault then. */
tm_status tm_stream_match(tm_stream *stream);

#endif
