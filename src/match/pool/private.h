/* SPDX-License-Identifier: MIT */
/* The pool itself, for its own files. */
#ifndef TMATCH_MATCH_POOL_PRIVATE_H
#define TMATCH_MATCH_POOL_PRIVATE_H

#include "match/pool/device.h"

enum { TM_POOL_MOST = 64 }; /* devices */

struct tm_pool {
    const tm_backend *backend;
    int64_t memory;
    tm_algorithm algorithm;
    const tm_rates *rates; /* by index; NULL: the usual ones */
    double least_ms;
    double timeout_ms; /* 0: none */
    int *given_up;
    int count;
    tm_pool_device *devices;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* a device stopped being busy */
    bool quit, opening;
    tm_pool_call *call;
    tm_meeting meeting; /* of its devices */
    int64_t height;  /* of the call's highest map, by whose rows all are counted */
    int64_t rescued; /* rows that the CPU did */
    unsigned forks;  /* tm_forks() of the process that opened the devices */
};

/* Sets the listed devices to work and waits for all. The pool's first device works in this
 * thread. */
void tm_pool_run_devices(tm_pool *pool, tm_pool_device *const *list, int count);

/* Waits until the listed devices are done, or do not answer in time; then they have failed. The lock is
 * held before and after. */
void tm_pool_wait(tm_pool *pool, tm_pool_device *const *list, int count);

/* Opens the listed devices, all at once. Each one's status says whether it is open. */
void tm_pool_open_devices(tm_pool *pool, tm_pool_device *const *list, int count);

#endif
