/* SPDX-License-Identifier: MIT */
/* Calls what may never return, as a driver that hangs. */
#ifndef TMATCH_WITHIN_H
#define TMATCH_WITHIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

typedef struct within_call {
    void (*run)(void *data);
    void *data;
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
} within_call;

static inline void *within_serve(void *argument)
{
    within_call *call = argument;
    call->run(call->data);
    pthread_mutex_lock(&call->lock);
    call->is_done = true;
    pthread_cond_signal(&call->done);
    pthread_mutex_unlock(&call->lock);
    return NULL;
}

/* Waits in steps: a process that was stopped has not waited for all of the time. */
static inline bool within_wait(within_call *call, double ms)
{
    const double step = ms / 8 < 1000 ? ms / 8 : 1000;
    double waited = 0, last = clock_ms();
    while (!call->is_done && waited < ms) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(step * 1e6);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&call->done, &call->lock, &until);
        const double now = clock_ms();
        waited += now - last < 2 * step ? now - last : 2 * step;
        last = now;
    }
    return call->is_done;
}

/* Calls run in a thread of its own, and waits for so long; ms 0, or no thread to be had: in this one. False: it has
 * not returned, and data, which malloc made, belongs to that thread for good. */
static inline bool within(double ms, void (*run)(void *data), void *data)
{
    within_call *call = ms > 0 ? calloc(1, sizeof *call) : NULL;
    pthread_t thread;
    if (call) {
        *call = (within_call){.run = run, .data = data};
        pthread_mutex_init(&call->lock, NULL);
        clock_cond_init(&call->done);
    }
    if (!call || pthread_create(&thread, NULL, within_serve, call) != 0) {
        free(call);
        run(data);
        return true;
    }
    pthread_mutex_lock(&call->lock);
    const bool done = within_wait(call, ms);
    pthread_mutex_unlock(&call->lock);
    if (!done) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    pthread_cond_destroy(&call->done);
    pthread_mutex_destroy(&call->lock);
    free(call);
    return true;
}

#endif
