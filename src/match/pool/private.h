/* SPDX-License-Identifier: MIT */
/* What the pool's files share. */
#ifndef TMATCH_MATCH_POOL_PRIVATE_H
#define TMATCH_MATCH_POOL_PRIVATE_H

#include "match/pool/device.h"

enum { TM_POOL_MOST = 64 }; /* devices */

struct tm_pool {
    const tm_backend *backend;
    int64_t memory;
    tm_algorithm algorithm;
    double least_ms;
    int count;
    tm_pool_device *devices;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* a device stopped being busy */
    bool quit, opening;
    tm_pool_call *call;
    int64_t height;  /* of its highest map: what rows are counted by */
    int64_t rescued; /* rows that the CPU took */
    unsigned forks;  /* tm_forks() of the process that opened the devices */
};

/* Sets the listed devices to work, the first in this thread if it is the pool's
 * first, and waits for all. */
void tm_pool_run_devices(tm_pool *pool, tm_pool_device *const *list, int count);

/* Opens those of the list, all at once; their status says which are. */
void tm_pool_open_devices(tm_pool *pool, tm_pool_device *const *list, int count);

#endif
