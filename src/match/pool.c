/* SPDX-License-Identifier: MIT */
/* The calling thread serves the first device, and each other device has a thread
 * that sleeps between calls. A call goes in rounds: the rows are shared out, the
 * devices do their shares, and what the failed ones left is shared out again. */
#include "match/pool_device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64 };

struct tm_pool {
    const tm_cuda_plugin *plugin;
    int64_t memory;
    double least_ms;
    int count;
    tm_pool_device *devices;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* a device stopped being busy */
    bool quit, opening;
    tm_pool_call *call;
    int64_t height;  /* of its highest map: what rows are counted by */
    int64_t rescued; /* rows that the CPU took */
};

__attribute__((format(printf, 2, 3))) static void append(tm_message *message, const char *format, ...)
{
    const size_t used = strlen(message->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text + used, sizeof message->text - used, format, arguments);
    va_end(arguments);
}

static void open_device(tm_pool_device *d)
{
    tm_pool *pool = d->pool;
    d->status = pool->plugin->open(&d->cuda, d->index, pool->memory, &d->message);
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
        if (opening)
            open_device(d);
        else
            tm_pool_device_work(d);
        pthread_mutex_lock(&pool->lock);
        d->busy = false;
        pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Sets the listed devices to work, the first in this thread if it is the pool's
 * first, and waits for all. */
static void run_devices(tm_pool *pool, tm_pool_device *const *list, int count)
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
    for (int i = 0; i < count; i++) {
        while (list[i]->busy)
            pthread_cond_wait(&pool->idle, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

/* The devices that can still take rows. */
static int list_usable(tm_pool *pool, tm_pool_device **list)
{
    int count = 0;
    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = &pool->devices[i];
        if (d->cuda && !d->failed)
            list[count++] = d;
    }
    return count;
}

/* As many as the work is worth, with their shares of the rows; those whose speed is
 * not known count as the mean of the others. */
static int share_out(tm_pool *pool, tm_pool_device **list, int usable, tm_rows rows)
{
    double weights[MOST_DEVICES], known = 0;
    int knowing = 0, count = usable;

    for (int i = 0; i < usable; i++) {
        known += list[i]->speed;
        knowing += list[i]->speed > 0;
    }
    const double mean = knowing ? known / knowing : 1;
    const double ms = tm_pool_cost(pool->call, rows, pool->height) / mean;
    while (count > 1 && ms < count * pool->least_ms)
        count--;
    for (int i = 0; i < count; i++)
        weights[i] = list[i]->speed > 0 ? list[i]->speed : mean;
    for (int i = 0; i < count; i++)
        list[i]->rows = tm_rows_share(rows, weights, count, i);
    return count;
}

/* One that ran out of memory may have it for the next call; others are lost. */
static void note_failure(tm_pool *pool, tm_pool_device *d)
{
    append(&pool->call->warning, "%s%s", pool->call->warning.text[0] ? "; " : "",
           d->message.text);
    if (d->status == TM_ERR_DEVICE_MEMORY)
        return;
    pool->plugin->close(d->cuda);
    d->cuda = NULL;
}

static tm_status rescue(tm_pool *pool, tm_rows rows)
{
    tm_pool_call *call = pool->call;
    tm_pool_device *d = pool->devices; /* its room for slices is free */
    const int64_t done = d->report.rows;
    const size_t count = tm_pool_device_cut(d, rows);
    const tm_status status = call->rescue(call->context, d->slices, count, &call->message);
    if (status != TM_OK)
        return status;
    tm_pool_device_keep(d, rows);
    d->report.rows = done;
    pool->rescued += rows.end - rows.first;
    return TM_OK;
}

/* Shares out the rows. What failed devices leave is added to left. */
static tm_status run_round(tm_pool *pool, tm_rows rows, tm_rows *left, int *count)
{
    tm_pool_device *list[MOST_DEVICES];
    const int usable = list_usable(pool, list);

    if (!usable)
        return rescue(pool, rows);
    const int used = share_out(pool, list, usable, rows);
    run_devices(pool, list, used);
    for (int i = 0; i < used; i++) {
        tm_pool_device *d = list[i];
        if (!d->failed)
            continue;
        if (d->status != TM_ERR_DEVICE_MEMORY && d->status != TM_ERR_DEVICE) {
            pool->call->message = d->message;
            return d->status;
        }
        note_failure(pool, d);
        left[(*count)++] = d->rows;
    }
    return TM_OK;
}

static tm_status begin(tm_pool *pool, tm_pool_call *call)
{
    tm_status status = TM_OK;

    call->times = (tm_times){0};
    call->plan = (tm_plan){0};
    call->message.text[0] = call->warning.text[0] = '\0';
    pool->call = call;
    pool->height = pool->rescued = 0;
    for (size_t i = 0; i < call->count; i++) {
        tm_job *job = &call->jobs[i];
        job->best = (tm_candidate)TM_NO_CANDIDATE;
        if (job->geometry.map_height > pool->height)
            pool->height = job->geometry.map_height;
    }
    for (int i = 0; i < pool->count && status == TM_OK; i++)
        status = tm_pool_device_begin(&pool->devices[i], call, pool->height);
    if (status != TM_OK)
        append(&call->message, "out of memory");
    return status;
}

static double device_ms(const tm_times *t)
{
    return t->to_device + t->kernel + t->from_device;
}

/* How long those that had a part waited for others. */
static void note_waits(tm_pool *pool)
{
    double first = 0, last = 0;
    for (int i = 0; i < pool->count; i++) {
        const tm_pool_device *d = &pool->devices[i];
        if (d->begun_ms > 0 && (first == 0 || d->begun_ms < first))
            first = d->begun_ms;
        if (d->ended_ms > last)
            last = d->ended_ms;
    }
    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = &pool->devices[i];
        if (d->begun_ms == 0)
            continue;
        d->report.start_ms = d->begun_ms - first;
        d->report.wait_ms += last - d->ended_ms;
    }
}

static void finish(tm_pool *pool)
{
    tm_pool_call *call = pool->call;

    for (int i = 0; i < pool->count; i++) {
        const tm_pool_device *d = &pool->devices[i];
        for (size_t k = 0; k < call->count; k++) {
            if (tm_candidate_beats(d->bests[k], call->jobs[k].best))
                call->jobs[k].best = d->bests[k];
        }
        if (device_ms(&d->work.times) > device_ms(&call->times))
            call->times = d->work.times;
        if (d->begun_ms > 0 && call->plan.ms == 0)
            call->plan = d->last_plan;
    }
    if (!call->warning.text[0] && !pool->rescued)
        return;
    if (!call->warning.text[0])
        append(&call->warning, "no CUDA device is left");
    append(&call->warning, pool->rescued ? ": the CPU took over" : ": other devices took over");
}

tm_status tm_pool_match(tm_pool *pool, tm_pool_call *call)
{
    /* Every range but the first was left by another device. */
    tm_rows left[MOST_DEVICES + 1];
    int count = 1;

    tm_status status = begin(pool, call);
    left[0] = (tm_rows){0, pool->height};
    while (status == TM_OK && count > 0) {
        const tm_rows rows = left[--count];
        status = run_round(pool, rows, left, &count);
    }
    if (status == TM_OK)
        finish(pool);
    note_waits(pool);
    return status;
}

tm_status tm_pool_host_alloc(tm_pool *pool, size_t size, void **memory, tm_message *message)
{
    for (int i = 0; i < pool->count; i++) {
        if (pool->devices[i].cuda)
            return pool->plugin->host_alloc(pool->devices[i].cuda, size, memory, message);
    }
    return TM_OK;
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

static tm_status start(tm_pool *pool, tm_message *message)
{
    tm_pool_device *list[MOST_DEVICES];

    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = list[i] = &pool->devices[i];
        if (i > 0 && pthread_create(&d->thread, NULL, serve, d) != 0) {
            append(message, "cannot start a thread");
            return TM_ERR_MEMORY;
        }
        d->has_thread = i > 0;
    }
    pool->opening = true;
    run_devices(pool, list, pool->count);
    pool->opening = false;
    for (int i = 0; i < pool->count; i++) {
        if (list[i]->status != TM_OK) {
            *message = list[i]->message;
            return list[i]->status;
        }
    }
    return TM_OK;
}

tm_status tm_pool_create(tm_pool **created, const tm_cuda_plugin *plugin,
                         const tm_pool_settings *settings, tm_message *message)
{
    const int count = settings->count;
    tm_pool *pool = calloc(1, sizeof *pool);
    tm_pool_device *devices = calloc((size_t)count, sizeof *devices);

    message->text[0] = '\0';
    if (!pool || !devices) {
        free(pool);
        free(devices);
        append(message, "out of memory");
        return TM_ERR_MEMORY;
    }
    *pool = (tm_pool){.plugin = plugin,
                      .memory = settings->memory,
                      .least_ms = settings->least_ms,
                      .count = count,
                      .devices = devices};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->idle, NULL);
    for (int i = 0; i < count; i++) {
        devices[i].pool = pool;
        devices[i].lock = &pool->lock;
        devices[i].plugin = plugin;
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
    if (!pool)
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
        if (d->cuda)
            pool->plugin->close(d->cuda);
        pthread_cond_destroy(&d->wake);
        tm_pool_device_free(d);
    }
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->lock);
    free(pool->devices);
    free(pool);
    *destroyed = NULL;
}
