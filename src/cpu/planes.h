/* SPDX-License-Identifier: MIT */
/* Matches on the CPU of pictures other than 8-bit gray that no kernel takes as they are: each
 * product of planes becomes a map, by the direct algorithm or FFT, and the scores are made of
 * these maps. */
#ifndef TMATCH_CPU_PLANES_H
#define TMATCH_CPU_PLANES_H

#include "lcc/planes.h"
#include "memory.h"

/* Bytes where the settings have no limit. */
#define TM_PLANES_MEMORY ((int64_t)1 << 30)

/* Memory that is kept across frames. Zero-initialise. */
typedef struct tm_planes_memory {
    tm_memory planes, maps, rows;
} tm_planes_memory;

void tm_planes_free(tm_planes_memory *memory);

/* Makes the map of one product: runs a plain job of TM_METRIC_CCORR. */
typedef tm_status tm_product_fn(void *context, tm_job *job);

typedef struct tm_planes_call {
    int threads;
    int64_t limit; /* bytes of tm_planes_memory: a job that needs more is done in bands */
    tm_product_fn *match_product;
    void *context;
    /* Written: */
    int64_t bands;
    int64_t refused; /* bytes that one row takes, where that is more than limit; else 0 */
} tm_planes_call;

/* Errors: MEMORY, also where a row is refused, and those of match_product. */
tm_status tm_planes_match(tm_planes_memory *memory, tm_job *job, tm_planes_call *call);

#endif
