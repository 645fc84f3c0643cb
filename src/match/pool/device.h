/* SPDX-License-Identifier: MIT */
/* What a pool's thread does with its device. */
#ifndef TMATCH_MATCH_POOL_DEVICE_H
#define TMATCH_MATCH_POOL_DEVICE_H

#include <pthread.h>

#include "match/pool/pool.h"
#include "lcc/slices.h"

typedef struct tm_pool_device {
    tm_pool *pool;
    pthread_mutex_t *lock; /* the pool's */
    const tm_backend *backend;
    int index;
    tm_device *device; /* NULL: not opened, or closed after a failure */
    pthread_t thread;
    bool has_thread;
    pthread_cond_t wake; /* with the pool's lock: busy became true, or quit */
    bool busy;

    /* of the running call */
    const tm_pool_call *call;
    int64_t height; /* of its highest map: what rows are counted by */
    tm_rows rows;   /* to be done */
    bool failed;    /* no more rows for it in this call */
    tm_status status;
    tm_message message;
    tm_job *slices; /* room for all jobs, as plans and bests */
    tm_estimate *estimates;
    tm_plan *plans;
    tm_candidate *bests;
    tm_peak_list *lists; /* of the slices; initialised where jobs want peaks */
    size_t capacity;
    tm_plan last_plan; /* of the last job's rows */
    tm_work work;
    double begun_ms, ended_ms; /* 0: it has no part */
    tm_device_report report;   /* so far */

    /* kept across calls */
    double speed;         /* units of cost a millisecond; 0: not known */
    bool warm;            /* it has matched before */
    int64_t most_windows; /* that its memory was found to have room for; 0: not known */
    bool grown;           /* that was doubled last, on trial */
    int fitted;           /* pieces of so many since it was changed */
    int patience;         /* fitted pieces before it is doubled */
    int failures;         /* since it last did its rows */
    int wait;             /* calls before it is opened again */
} tm_pool_device;

/* About how long these rows of the call's jobs take, in milliseconds of a common device. */
double tm_pool_cost(const tm_backend *backend, const tm_pool_call *call, tm_rows rows,
                    int64_t height);

/* For a new call. Error: MEMORY. */
tm_status tm_pool_device_begin(tm_pool_device *device, const tm_pool_call *call, int64_t height);

/* Frees what a call needed, for good. */
void tm_pool_device_free(tm_pool_device *device);

/* Makes the jobs' slices of these rows in device->slices and returns how many have
 * any; then ranks their best matches in device->bests. */
size_t tm_pool_device_cut(tm_pool_device *device, tm_rows rows);
void tm_pool_device_keep(tm_pool_device *device, tm_rows rows);

/* Does device->rows, and leaves there what it could not do. */
void tm_pool_device_work(tm_pool_device *device);

#endif
