/* SPDX-License-Identifier: MIT */
/* Waiting for devices, with or without a limit of time. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "match/pool/private.h"

/* The thread may come back from the driver at any time: it is left what it may look at then. */
static void give_up(const tm_pool *pool, tm_pool_device *d)
{
    snprintf(d->message.text, sizeof d->message.text, "cuda:%d did not answer within %g s", d->index,
             pool->timeout_ms * 1e-3);
    d->status = TM_ERR_DEVICE;
    if (!pool->opening && !tm_pool_device_renew(d)) {
        d->status = TM_ERR_MEMORY;
        snprintf(d->message.text, sizeof d->message.text, "out of memory");
    }
    pthread_detach(d->thread);
    d->has_thread = d->busy = false;
    d->device = NULL;
    d->failed = d->given_up = true;
    ++*pool->given_up;
}

static struct timespec after(double ms)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += (long)(fmod(ms, 1000) * 1e6);
    time.tv_sec += (time_t)(ms / 1000) + time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Gives the device up if it has been in one call for too long. */
static void look(const tm_pool *pool, tm_pool_device *d, double ms)
{
    const uint64_t calls = tm_guard_look(d->guard);
    d->same_ms = calls == d->seen ? d->same_ms + ms : 0;
    d->seen = calls;
    if (d->same_ms >= pool->timeout_ms && tm_guard_give_up(d->guard, calls))
        give_up(pool, d);
}

static bool any_is_busy(tm_pool_device *const *list, int count)
{
    bool busy = false;
    for (int i = 0; i < count; i++)
        busy |= list[i]->busy;
    return busy;
}

void tm_pool_wait(tm_pool *pool, tm_pool_device *const *list, int count)
{
    const double step = fmin(pool->timeout_ms / 8, 1000);
    double last = clock_ms();

    for (int i = 0; i < count; i++)
        list[i]->same_ms = 0;
    while (any_is_busy(list, count)) {
        if (pool->timeout_ms == 0) {
            pthread_cond_wait(&pool->idle, &pool->lock);
            continue;
        }
        const struct timespec until = after(step);
        pthread_cond_timedwait(&pool->idle, &pool->lock, &until);
        const double now = clock_ms();
        /* a process that was stopped has not waited for all of the time */
        const double ms = fmin(now - last, 2 * step);
        last = now;
        for (int i = 0; i < count; i++)
            if (list[i]->busy)
                look(pool, list[i], ms);
    }
}
