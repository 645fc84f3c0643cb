/* SPDX-License-Identifier: MIT */
/* The calling thread serves the first device, and each other device has a thread
 * that sleeps between calls; with a limit of time each has one. */
#include "clock.h"
#include "lcc/threads.h"
#include "match/forked.h"
#include "match/pool/private.h"

#include <stdio.h>
#include <stdlib.h>

/* False where the device was given up: nothing here is the thread's to touch then. */
static bool open_device(tm_pool_device *d)
{
    const tm_pool *pool = d->pool;
    const tm_device_settings settings = {
        .index = d->index, .memory = pool->memory, .algorithm = pool->algorithm, .guard = d->guard,
        .rates = pool->rates && d->index < TM_POOL_MOST ? &pool->rates[d->index] : NULL};
    tm_device *device = NULL;
    tm_message message = {""};
    const tm_status status = pool->backend->open(&device, &settings, &message);
    if (tm_guard_is_given_up(settings.guard)) {
        free(settings.guard);
        return false;
    }
    d->device = device;
    d->status = status;
    d->message = message;
    return true;
}

static void *serve(void *argument)
{
    tm_pool_device *d = argument;
    tm_pool *pool = d->pool;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!d->busy && !pool->quit)
            pthread_cond_wait(&d->wake, &pool->lock);
        if (pool->quit)
            break;
        const bool opening = pool->opening;
        pthread_mutex_unlock(&pool->lock);
        if (!(opening ? open_device(d) : tm_pool_device_work(d)))
            return NULL;
        pthread_mutex_lock(&pool->lock);
        d->busy = false;
        pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void tm_pool_run_devices(tm_pool *pool, tm_pool_device *const *list, int count)
{
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < count; i++) {
        if (!list[i]->has_thread)
            continue;
        list[i]->busy = true;
        pthread_cond_signal(&list[i]->wake);
    }
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < count; i++) {
        if (list[i]->has_thread)
            continue;
        if (pool->opening)
            open_device(list[i]);
        else
            tm_pool_device_work(list[i]);
    }
    pthread_mutex_lock(&pool->lock);
    tm_pool_wait(pool, list, count);
    pthread_mutex_unlock(&pool->lock);
}

/* One that is open, or else the first. */
static const tm_pool_device *some_device(const tm_pool *pool)
{
    for (int i = 0; i < pool->count; i++) {
        if (pool->devices[i].device)
            return &pool->devices[i];
    }
    return pool->devices;
}

void tm_pool_open_devices(tm_pool *pool, tm_pool_device *const *list, int count)
{
    pool->opening = true;
    tm_pool_run_devices(pool, list, count);
    pool->opening = false;
}

tm_status tm_pool_host_alloc(tm_pool *pool, size_t size, void **memory, tm_message *message)
{
    const tm_pool_device *d = some_device(pool);
    if (tm_pool_is_inherited(pool) || (pool->given_up && *pool->given_up))
        return TM_OK;
    return d->device ? pool->backend->host_alloc(d->device, size, memory, message) : TM_OK;
}

void tm_pool_host_free(const tm_pool *pool, void *memory)
{
    if (!tm_pool_is_inherited(pool) && !(pool->given_up && *pool->given_up))
        pool->backend->host_free(some_device(pool)->index, memory);
}

size_t tm_pool_reports(const tm_pool *pool, tm_device_report *reports, size_t capacity)
{
    size_t count = 0;
    for (int i = 0; i < pool->count; i++) {
        const tm_device_report *report = &pool->devices[i].report;
        if (report->busy_ms == 0)
            continue;
        if (count < capacity)
            reports[count] = *report;
        count++;
    }
    return count;
}

void tm_pool_name(const tm_pool *pool, char *name, size_t size)
{
    size_t used = (size_t)snprintf(name, size, "cuda");
    for (int i = 0; i < pool->count && used < size; i++)
        used += (size_t)snprintf(name + used, size - used, "%c%d", i ? ',' : ':',
                                 pool->devices[i].index);
}

/* The calling thread is not one that can be given up. */
static tm_status start(tm_pool *pool, tm_message *message)
{
    tm_pool_device *list[TM_POOL_MOST];

    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = list[i] = &pool->devices[i];
        const bool has_thread = i > 0 || pool->timeout_ms > 0;
        if (pool->timeout_ms > 0 && !(d->guard = calloc(1, sizeof *d->guard))) {
            snprintf(message->text, sizeof message->text, "out of memory");
            return TM_ERR_MEMORY;
        }
        if (has_thread && pthread_create(&d->thread, NULL, serve, d) != 0) {
            snprintf(message->text, sizeof message->text, TM_NO_THREAD);
            return TM_ERR_MEMORY;
        }
        d->has_thread = has_thread;
    }
    tm_pool_open_devices(pool, list, pool->count);
    for (int i = 0; i < pool->count; i++) {
        if (list[i]->status != TM_OK) {
            *message = list[i]->message;
            return list[i]->status;
        }
    }
    return TM_OK;
}

tm_status tm_pool_create(tm_pool **created, const tm_backend *backend,
                         const tm_pool_settings *settings, tm_message *message)
{
    const int count = settings->count;
    tm_pool *pool = calloc(1, sizeof *pool);
    tm_pool_device *devices = calloc((size_t)count, sizeof *devices);

    message->text[0] = '\0';
    if (!pool || !devices) {
        free(pool);
        free(devices);
        snprintf(message->text, sizeof message->text, "out of memory");
        return TM_ERR_MEMORY;
    }
    *pool = (tm_pool){.backend = backend,
                      .memory = settings->memory,
                      .algorithm = settings->algorithm,
                      .least_ms = settings->least_ms,
                      .rates = settings->rates,
                      .timeout_ms = settings->timeout_ms,
                      .given_up = settings->given_up,
                      .forks = tm_forks(),
                      .count = count,
                      .devices = devices};
    pthread_mutex_init(&pool->lock, NULL);
    clock_cond_init(&pool->idle);
    for (int i = 0; i < count; i++) {
        devices[i].pool = pool;
        devices[i].lock = &pool->lock;
        devices[i].backend = backend;
        devices[i].index = settings->indices[i];
        pthread_cond_init(&devices[i].wake, NULL);
    }
    const tm_status status = start(pool, message);
    if (status != TM_OK)
        tm_pool_destroy(&pool);
    *created = pool;
    return status;
}

void tm_pool_destroy(tm_pool **destroyed)
{
    tm_pool *pool = *destroyed;
    *destroyed = NULL;
    if (!pool || tm_pool_is_inherited(pool))
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    for (int i = 0; i < pool->count; i++)
        pthread_cond_signal(&pool->devices[i].wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = &pool->devices[i];
        if (d->has_thread)
            pthread_join(d->thread, NULL);
        if (d->device)
            pool->backend->close(d->device);
        pthread_cond_destroy(&d->wake);
        tm_pool_room_free(&d->room);
        if (!d->given_up)
            free(d->guard);
    }
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->lock);
    free(pool->devices);
    free(pool);
}

bool tm_pool_is_inherited(const tm_pool *pool)
{
    return pool->forks != tm_forks();
}
