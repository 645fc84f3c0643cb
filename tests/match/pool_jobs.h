/* SPDX-License-Identifier: MIT */
/* Matches that devices share, with the tests' own plugin or the real one. */
#ifndef TMATCH_TESTS_POOL_JOBS_H
#define TMATCH_TESTS_POOL_JOBS_H

#include <stdbool.h>

#include "backends.h"
#include "match/cuda_loader.h"
#include "match/pool/pool.h"

enum { MOST = 5 };

extern tm_cuda_library library; /* loaded by open_pool */
extern const tm_rates *pool_rates; /* of pools that are opened, by the devices' indices, or NULL */

/* Sets a variable of the environment, or takes it away where value is NULL. */
void set_variable(const char *name, const char *value);

/* Handles on the devices that there are, one after the other. NULL where a fault
 * was injected into that. */
tm_pool *open_pool(int count, int64_t memory);

/* The same with a limit of time for each call. */
tm_pool *open_pool_within(int count, int64_t memory, double timeout_ms, int *given_up);

/* Whether the devices are those of tests/fake. */
bool is_fake(void);

/* A rescue that counts its calls in *(int *)context. */
tm_status on_cpu(void *context, tm_job *jobs, size_t count, tm_message *message);

typedef struct pool_job {
    problem problem;
    tm_template *tmpl;
    tm_job job;
    void *pinned; /* the frame, and the map behind it; or NULL */
    void *map, *oracle_map;
    size_t map_size;
    tm_peak_list peaks, oracle_peaks; /* where job.peaks is not NULL */
} pool_job;

/* False where the template is flat. */
bool pool_job_draw(tm_pool *pool, pool_job *t, bool with_map);
void pool_job_free(pool_job *t);

/* Copies frame and map to where devices copy from directly. */
void pool_job_pin(tm_pool *pool, pool_job *t);

/* Matches what pool_job_draw drew; fails where a bit differs from the oracle's. */
void pool_job_match(tm_pool *pool, pool_job *t, tm_pool_call *call, int *rescues);

#endif
