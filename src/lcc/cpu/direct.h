/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_LCC_CPU_DIRECT_H
#define TMATCH_LCC_CPU_DIRECT_H

#include "lcc/coarse.h"
#include "lcc/cpu/kernels.h"
#include "lcc/lcc.h"
#include "memory.h"

typedef struct tm_cpu_scratch tm_cpu_scratch;

/* What the first guess of a certified search keeps. */
typedef struct tm_guess_memory {
    tm_coarse coarse;
    tm_peak_list list;
    bool has_list;
} tm_guess_memory;

/* The direct algorithm's threads, kernels and memory, kept across frames.
 * Zero-initialise, then tm_cpu_init. */
typedef struct tm_cpu {
    tm_cpu_kernels kernels;
    int threads;
    tm_cpu_scratch *scratch; /* one per thread */
    tm_memory taps;          /* the packed template */
    tm_memory certified_taps;
    tm_guess_memory guess;
} tm_cpu;

/* threads > 0. Errors: MEMORY. */
tm_status tm_cpu_init(tm_cpu *cpu, int threads, uint32_t features);
void tm_cpu_free(tm_cpu *cpu);

/* Whether it takes a job: every plain one, and others if their planes' sums fit in 32 bits. */
bool tm_cpu_takes(const tm_job *job);

struct tm_certified_plan; /* certified.h */

/* Matches a job that it takes, and sets its scored. By certified search where there is a plan:
 * the job has no tm_certified_fault; sets its declined, and no more, where that does not pay.
 * Errors: MEMORY. */
tm_status tm_cpu_match(tm_cpu *cpu, tm_job *job, const struct tm_certified_plan *certified);

/* The best matches of up to TM_SHARED_MASK jobs of one frame that it takes and that share their mask; sets
 * their scored. Errors: MEMORY. */
tm_status tm_cpu_match_masked(tm_cpu *cpu, tm_job *jobs, int count);

/* The best matches of up to TM_CERTIFIED_GROUP templates of one size in one frame, by certified search:
 * sets each job's best and scored, or its declined. The jobs want neither maps nor peaks, the levels have
 * the same blocks, and no plan is in_tiles. Errors: MEMORY. */
tm_status tm_cpu_match_group(tm_cpu *cpu, tm_job *const *jobs,
                             const struct tm_certified_plan *plans, int count);

#endif
