/* SPDX-License-Identifier: MIT */
/* Matches other than 8-bit gray on the CPU, that the direct algorithm does not take
 * as they are: the planes' correlations as maps by whichever algorithm takes plain
 * jobs, then the sums put together. */
#ifndef TMATCH_MATCH_PARTS_H
#define TMATCH_MATCH_PARTS_H

#include "lcc/planes.h"

/* Bytes where the settings have no limit. */
#define TM_PLANES_MEMORY ((int64_t)1 << 30)

/* Memory that is kept across frames. Zero-initialise. */
typedef struct tm_planes_memory {
    void *planes, *maps, *rows;
    size_t planes_size, maps_size, rows_size;
} tm_planes_memory;

void tm_planes_free(tm_planes_memory *memory);

/* Runs a plain job of TM_METRIC_CCORR with a map. */
typedef tm_status tm_plain_fn(void *context, tm_job *job);

typedef struct tm_planes_call {
    int threads;
    int64_t limit; /* bytes of tm_planes_memory: a larger job goes in bands of rows */
    tm_plain_fn *plain;
    void *context;
    /* Written: */
    int64_t bands;
    int64_t refused; /* bytes that one row takes, where that is more than limit; else 0 */
} tm_planes_call;

/* Errors: MEMORY, also where a row is refused, and plain's. */
tm_status tm_planes_match(tm_planes_memory *memory, tm_job *job, tm_planes_call *call);

#endif
