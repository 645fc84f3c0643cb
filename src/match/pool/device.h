/* SPDX-License-Identifier: MIT */
/* What a pool's thread does with its device: it matches the slice that it got, in one go or,
 * where the device's memory is too small for that, band by band. */
#ifndef TMATCH_MATCH_POOL_DEVICE_H
#define TMATCH_MATCH_POOL_DEVICE_H

#include <pthread.h>

#include "match/pool/pool.h"
#include "lcc/slices.h"

/* For all of a call's jobs. */
typedef struct tm_pool_room {
    tm_job *jobs; /* the jobs of a band */
    tm_estimate *estimates;
    tm_candidate *bests;
    tm_peak_list *lists; /* the bands' peaks; initialised where jobs want any */
    size_t capacity;
} tm_pool_room;

typedef struct tm_pool_device {
    tm_pool *pool;
    pthread_mutex_t *lock; /* the pool's */
    const tm_backend *backend;
    int index;
    tm_device *device; /* NULL: not opened, or closed after a failure */
    pthread_t thread;
    bool has_thread;
    tm_guard *guard;  /* of the thread, where there is a limit of time */
    uint64_t seen;    /* the guard's call, and how long it has been the same */
    double same_ms;
    bool given_up;    /* it did not answer, and may still hold its thread */
    pthread_cond_t wake; /* with the pool's lock: busy became true, or quit */
    bool busy;

    /* of the running call */
    const tm_pool_call *call;
    int64_t height; /* of the call's highest map, by whose rows all are counted */
    tm_rows rows;   /* the slice: what is still to be done */
    bool shares; /* others have slices of the same call */
    tm_seat seat; /* where a call of one job is shared */
    bool failed;    /* it gets no more rows in this call */
    tm_status status;
    tm_message message;
    tm_pool_room room;
    tm_plan last_plan; /* the last job's */
    tm_work work;
    bool certified; /* a job was */
    int64_t scored; /* windows that were scored exactly */
    double begun_ms, ended_ms; /* 0: it got no slice */
    tm_device_report report;   /* so far */

    /* kept across calls */
    double speed;         /* estimated milliseconds of work that it does in one; 0: not known */
    bool warm;            /* it has matched before */
    int64_t most_windows; /* the largest band that its memory has room for; 0: not known */
    bool grown;           /* most_windows was doubled last, on trial */
    int fitted;           /* bands of most_windows that fitted since it was changed */
    int patience;         /* how many of them have to fit before it is doubled */
    int failures;         /* in succession */
    int wait;             /* calls until it is opened again */
} tm_pool_device;

/* About how long these rows of the call's jobs take, in milliseconds of a common device. */
double tm_pool_cost(const tm_backend *backend, const tm_pool_call *call, tm_rows rows,
                    int64_t height);

/* Gives it new room for the call's jobs, with the bests so far. The other room is left to the thread that
 * was given up, which frees it when it comes back, but for the bests. False where memory ran out. */
bool tm_pool_device_renew(tm_pool_device *device);

/* Forgets the call before. Error: MEMORY. */
tm_status tm_pool_device_begin(tm_pool_device *device, const tm_pool_call *call, int64_t height);

/* Frees what calls needed. */
void tm_pool_room_free(tm_pool_room *room);

/* Makes the jobs that match these rows, in device->jobs, and returns how many there are: maps
 * of few rows may have none of them. */
size_t tm_pool_device_cut(tm_pool_device *device, tm_rows rows);

/* Ranks what those jobs found in device->bests, adds their peaks to the call's, and counts the
 * windows that they scored. */
void tm_pool_device_merge(tm_pool_device *device, tm_rows rows);

/* Matches device->rows, and leaves there what it could not do. False: it was given up meanwhile, and
 * nothing here is the thread's to touch any more but its guard, which it frees. */
bool tm_pool_device_work(tm_pool_device *device);

#endif
