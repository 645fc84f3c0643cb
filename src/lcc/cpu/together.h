/* SPDX-License-Identifier: MIT */
/* Certified search for many templates of one size at once, as a family: in a window those are scored whose bound
 * reaches what matters of each. */
#ifndef TMATCH_LCC_CPU_TOGETHER_H
#define TMATCH_LCC_CPU_TOGETHER_H

#include <pthread.h>

#include "lcc/cpu/certified.h"
#include "lcc/cpu/family.h"
#include "lcc/template_family.h"

/* Fewer are not worth a family. */
enum { TM_TOGETHER_LEAST = 16 };

/* A call of it. What each job finds is what it finds alone. */
typedef struct tm_together {
    tm_template_family *family; /* of the jobs' templates */
    tm_job *const *jobs; /* of one frame and one size, without tm_certified_fault; peaks are wanted of all or of none */
    const tm_certified_plan *plans; /* of each by itself, */
    const double *other_ns;         /* and how long that takes */
    int count;
    tm_candidate *known; /* room for one of each job, as long as that may ask for it */
    double product_ns; /* of a window with a template of this size */
    int basis;         /* out: templates of the basis that was chosen; 0: none, and all are declined */
} tm_together;

/* Sets the jobs' best, scored and peaks, or declined, and known, where one is quicker by itself. Errors: MEMORY. */
tm_status tm_cpu_match_together(tm_cpu *cpu, tm_together *together);

/* One of the templates. */
typedef struct tm_together_one {
    tm_job *job;
    int8_t *taps;       /* T - 128, in rows of the stride */
    int64_t asked;      /* rank that peaks have to reach; INT64_MAX: none are wanted */
    int64_t known;      /* of a window of the job, by atomic operations */
    tm_candidate best;
    tm_candidate *windows; /* those that reach what is asked for */
    size_t count, room;
    int64_t passed[TM_TEMPLATE_BASES]; /* in trials, by atomic operations */
    int64_t scored;     /* likewise */
    bool left_out;
} tm_together_one;

/* A search, seen by all its threads. */
typedef struct tm_together_run {
    tm_cpu *cpu;
    const tm_together *call;
    tm_together_one *list; /* of each job */
    ptrdiff_t stride;
    const tm_family *family; /* the basis that is searched by */
    tm_family *members;    /* of each thread, as tm_family_search has them */
    float lowest;
    int64_t scored, limit; /* of windows, in all */
    pthread_mutex_t noting;
    bool failed, given_up; /* by atomic operations */
} tm_together_run;

/* The score that the template's windows must reach to matter, at the moment; 4, which none does, where it is left out. */
float tm_together_least(const tm_together_one *one);

/* Searches rows of the map with a basis, and gives the windows that pass to visit. Errors: MEMORY. */
tm_status tm_together_search(tm_together_run *run, const tm_family *basis, int64_t first, int64_t rows,
                             void (*visit)(void *run, int thread, const tm_family_window *window));

/* What it takes, in nanoseconds, to look at all windows by a basis of so many templates. */
double tm_together_looks_ns(const tm_together *call, int basis);

/* By how much less than one after the other the templates have to take together. */
double tm_together_share(const tm_together *call);

/* What to score a window takes, in nanoseconds. */
double tm_together_score_ns(const tm_together *call);

/* Chooses a basis by a few rows of the map, and leaves out templates that are quicker by themselves. NULL: that all are.
 * Errors: MEMORY. */
tm_status tm_together_choose(tm_together_run *run, const tm_family **basis);

#endif
