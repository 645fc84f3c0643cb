/* SPDX-License-Identifier: MIT */
/* Many templates of one size in a frame, matched together where that is quicker than one after the other. */
#ifndef TMATCH_CPU_TOGETHER_H
#define TMATCH_CPU_TOGETHER_H

#include "cpu/estimate.h"
#include "lcc/cpu/together.h"
#include "lcc/pauses.h"

/* The family of the last templates, which the next frame has most likely, too. Zero-initialise. */
typedef struct tm_kept_family {
    tm_template_family family;
    uint64_t seen;    /* the last templates, */
    double missed_ns; /* and how long they have been matched without it */
} tm_kept_family;

typedef struct tm_cpu_together {
    tm_job *const *jobs; /* as tm_together's */
    const double *other_ms; /* how long each takes by itself */
    size_t count;
    tm_candidate *known; /* as tm_together's */
    int basis;           /* out: as tm_together's */
} tm_cpu_together;

/* Sets the jobs' declined where that did not pay, else matches them. Errors: MEMORY. */
tm_status tm_cpu_try_together(tm_cpu *cpu, tm_kept_family *kept, tm_pauses *pauses, const tm_cpu_conditions *conditions,
                              tm_cpu_together *call);

#endif
