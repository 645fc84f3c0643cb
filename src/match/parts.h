/* SPDX-License-Identifier: MIT */
/* Matches other than 8-bit gray on the CPU, that the direct algorithm does not take
 * as they are: the planes' correlations as maps by whichever algorithm takes plain
 * jobs, then the sums put together. */
#ifndef TMATCH_MATCH_PARTS_H
#define TMATCH_MATCH_PARTS_H

#include "lcc/planes.h"

/* Memory that is kept across frames. Zero-initialise. */
typedef struct tm_parts_memory {
    void *planes, *maps, *rows;
    size_t planes_size, maps_size, rows_size;
} tm_parts_memory;

void tm_parts_free(tm_parts_memory *memory);

/* Runs a plain job of TM_METRIC_CCORR with a map. */
typedef tm_status tm_plain_fn(void *context, tm_job *job);

/* Errors: MEMORY, and plain's. */
tm_status tm_parts_match(tm_parts_memory *memory, tm_job *job, int threads, tm_plain_fn *plain,
                         void *context);

#endif
