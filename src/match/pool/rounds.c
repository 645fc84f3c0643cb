/* SPDX-License-Identifier: MIT */
/* A call goes in rounds: the rows are divided into slices, the devices match theirs, and what
 * failed ones left is divided anew. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "match/pool/private.h"

__attribute__((format(printf, 2, 3))) static void append(tm_message *message, const char *format,
                                                         ...)
{
    const size_t used = strlen(message->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text + used, sizeof message->text - used, format, arguments);
    va_end(arguments);
}

/* Where the call's frame lies in a device's memory, or NULL. */
static const tm_on_device *place_of(const tm_pool_call *call)
{
    return call->count ? call->jobs->on_device : NULL;
}

/* The devices that can still take rows. A frame that lies on one of them is all that one's. */
static int list_usable(tm_pool *pool, tm_pool_device **list)
{
    const tm_on_device *place = place_of(pool->call);
    int count = 0;
    for (int i = 0; i < pool->count && !(place && count); i++) {
        tm_pool_device *d = &pool->devices[i];
        if (d->device && !d->failed && (!place || d->index == place->device))
            list[count++] = d;
    }
    return count;
}

/* Gives a slice each to as many devices as the work is worth, and says how many those are. A
 * device whose speed is not known counts as the mean of the others. */
static int divide(tm_pool *pool, tm_pool_device **list, int usable, tm_rows rows)
{
    double weights[TM_POOL_MOST], known = 0;
    int knowing = 0, count = usable;

    for (int i = 0; i < usable; i++) {
        known += list[i]->speed;
        knowing += list[i]->speed > 0;
    }
    const double mean = knowing ? known / knowing : 1;
    const double ms = tm_pool_cost(pool->backend, pool->call, rows, pool->height) / mean;
    while (count > 1 && ms < count * pool->least_ms)
        count--;
    for (int i = 0; i < count; i++)
        weights[i] = list[i]->speed > 0 ? list[i]->speed : mean;
    pool->meeting.missing = count;
    for (int i = 0; i < count; i++) {
        list[i]->rows = tm_rows_divide(rows, weights, count, i);
        list[i]->shares = count > 1;
        list[i]->seat = (tm_seat){count > 1 && pool->call->count == 1 ? &pool->meeting : NULL, false};
    }
    return count;
}

/* The device is opened again for the next call, as the failure may have been the call's fault;
 * each time that it fails once more, after twice as many. To open a device that is lost takes
 * no time. */
static void note_closed(tm_pool_device *d)
{
    enum { MOST_DOUBLINGS = 10 };
    d->device = NULL;
    d->warm = false;
    d->wait = (1 << d->failures) - 1;
    d->failures += d->failures < MOST_DOUBLINGS;
}

static void open_again(tm_pool *pool)
{
    tm_pool_device *list[TM_POOL_MOST];
    int count = 0;

    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = &pool->devices[i];
        if (!d->device && !d->given_up && d->wait-- == 0)
            list[count++] = d;
    }
    if (count)
        tm_pool_open_devices(pool, list, count);
    for (int i = 0; i < count; i++) {
        if (list[i]->status != TM_OK)
            note_closed(list[i]);
    }
}

/* A device that ran out of memory may have it for the next call; others are closed. */
static void note_failure(tm_pool *pool, tm_pool_device *d)
{
    append(&pool->call->warning, "%s%s", pool->call->warning.text[0] ? "; " : "", d->message.text);
    if (d->status == TM_ERR_DEVICE_MEMORY || d->given_up)
        return;
    pool->backend->close(d->device);
    note_closed(d);
}

static tm_status rescue(tm_pool *pool, tm_rows rows)
{
    tm_pool_call *call = pool->call;
    tm_pool_device *d = pool->devices; /* its room for jobs is free */
    const int64_t done = d->report.rows;
    const size_t count = tm_pool_device_cut(d, rows);
    const tm_status status = call->rescue(call->context, d->room.jobs, count, &call->message);
    if (status != TM_OK)
        return status;
    tm_pool_device_merge(d, rows);
    d->report.rows = done;
    pool->rescued += rows.end - rows.first;
    return TM_OK;
}

/* Divides the rows and has them matched. What failed devices leave is added to left. */
static tm_status run_round(tm_pool *pool, tm_rows rows, tm_rows *left, int *count)
{
    tm_pool_device *list[TM_POOL_MOST];
    const int usable = list_usable(pool, list);

    if (!usable)
        return rescue(pool, rows);
    const int used = divide(pool, list, usable, rows);
    tm_pool_run_devices(pool, list, used);
    for (int i = 0; i < used; i++) {
        tm_pool_device *d = list[i];
        if (!d->failed)
            continue;
        if (d->status != TM_ERR_DEVICE_MEMORY && d->status != TM_ERR_DEVICE) {
            pool->call->message = d->message;
            return d->status;
        }
        const tm_status status = d->status;
        note_failure(pool, d);
        if (place_of(pool->call)) {
            pool->call->message = d->message;
            return status;
        }
        left[(*count)++] = d->rows;
    }
    return TM_OK;
}

static tm_status begin(tm_pool *pool, tm_pool_call *call)
{
    tm_status status = TM_OK;

    call->times = (tm_times){0};
    call->plan = (tm_plan){0};
    call->certified = false;
    call->scored = 0;
    call->message.text[0] = call->warning.text[0] = '\0';
    pool->call = call;
    pool->meeting.least = INT64_MIN;
    pool->height = pool->rescued = 0;
    for (size_t i = 0; i < call->count; i++) {
        tm_job *job = &call->jobs[i];
        job->best = (tm_candidate)TM_NO_CANDIDATE;
        if (job->geometry.map_height > pool->height)
            pool->height = job->geometry.map_height;
    }
    open_again(pool);
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

/* How long those that got a slice waited for others. */
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
            if (tm_candidate_beats(d->room.bests[k], call->jobs[k].best))
                call->jobs[k].best = d->room.bests[k];
        }
        if (device_ms(&d->work.times) > device_ms(&call->times))
            call->times = d->work.times;
        if (d->begun_ms > 0 && call->plan.ms == 0)
            call->plan = d->last_plan;
        call->certified |= d->certified;
        call->scored += d->scored;
    }
    if (!call->warning.text[0] && !pool->rescued)
        return;
    if (!call->warning.text[0])
        append(&call->warning, "no CUDA device is left");
    append(&call->warning, pool->rescued ? ": the CPU took over" : ": other devices took over");
}

/* The open device of an index, where something lies, as what says. */
static tm_status find_device(tm_pool *pool, const char *what, int index, tm_pool_device **found,
                             tm_message *message)
{
    bool known = false;

    for (int i = 0; i < pool->count; i++) {
        tm_pool_device *d = &pool->devices[i];
        known |= d->index == index;
        if (d->index == index && d->device) {
            *found = d;
            return TM_OK;
        }
    }
    char name[160];
    tm_pool_name(pool, name, sizeof name);
    if (known)
        snprintf(message->text, sizeof message->text,
                 "%s on cuda:%d, which failed in an earlier call", what, index);
    else
        snprintf(message->text, sizeof message->text,
                 "%s on cuda:%d, and the matcher is of %s", what, index, name);
    return known ? TM_ERR_DEVICE : TM_ERR_INVALID;
}

static const char picture_lies[] = "the picture lies";

/* Lets the device on which the call's frame lies look whether all of it does. */
static tm_status accept_frame(tm_pool *pool, tm_pool_call *call, tm_pool_device **found)
{
    tm_status status = find_device(pool, picture_lies, place_of(call)->device, found, &call->message);

    if (status != TM_OK)
        return status;
    tm_pool_device *d = *found;
    status = pool->backend->accept(d->device, call->jobs, call->count, &call->message);
    if (status == TM_ERR_DEVICE) {
        d->status = status;
        d->message = call->message;
        note_failure(pool, d);
    }
    return status;
}

/* Lets the caller's stream wait for what nobody else waits for. */
static tm_status hand_over(tm_pool *pool, tm_pool_call *call, tm_pool_device *d)
{
    const tm_on_device *place = place_of(call);
    return place && place->async ? pool->backend->hand_over(d->device, place, &call->message) : TM_OK;
}

static tm_status refuse_inherited(tm_message *message)
{
    snprintf(message->text, sizeof message->text,
             "the matcher's devices were opened before this process was forked; it needs a "
             "matcher of its own");
    return TM_ERR_DEVICE;
}

tm_status tm_pool_fetch(tm_pool *pool, const tm_image *image, const tm_on_device *place, uint8_t *samples,
                        uint8_t *mask, tm_message *message)
{
    tm_pool_device *d;

    if (tm_pool_is_inherited(pool))
        return refuse_inherited(message);
    const tm_status status = find_device(pool, picture_lies, place->device, &d, message);
    return status == TM_OK ? pool->backend->fetch(d->device, image, place, samples, mask, message) : status;
}

tm_status tm_pool_device_alloc(tm_pool *pool, int index, size_t size, void **memory, tm_message *message)
{
    tm_pool_device *d;

    if (tm_pool_is_inherited(pool))
        return refuse_inherited(message);
    const tm_status status = find_device(pool, "memory is wanted", index, &d, message);
    return status == TM_OK ? pool->backend->device_alloc(d->device, size, memory, message) : status;
}

void tm_pool_device_free(tm_pool *pool, int index, void *memory)
{
    tm_pool_device *d = NULL;
    tm_message message;

    if (tm_pool_is_inherited(pool) || (pool->given_up && *pool->given_up))
        return;
    find_device(pool, "memory is freed", index, &d, &message);
    pool->backend->device_free(d ? d->device : NULL, index, memory);
}

tm_status tm_pool_read_start(tm_pool *pool, int index, tm_reader **reader, void *stream, const void *memory, size_t most,
                             size_t size, tm_message *message)
{
    tm_pool_device *d;

    if (tm_pool_is_inherited(pool))
        return refuse_inherited(message);
    const tm_status status = find_device(pool, "memory is read", index, &d, message);
    return status == TM_OK ? pool->backend->read_start(d->device, reader, stream, memory, most, size, message) : status;
}

tm_status tm_pool_read_bytes(tm_pool *pool, tm_reader *reader, bool wait, const void **bytes, tm_message *message)
{
    return tm_pool_is_inherited(pool) ? refuse_inherited(message) : pool->backend->read_bytes(reader, wait, bytes, message);
}

void tm_pool_read_free(tm_pool *pool, tm_reader *reader)
{
    if (!tm_pool_is_inherited(pool) && !(pool->given_up && *pool->given_up))
        pool->backend->read_free(reader);
}

tm_status tm_pool_match(tm_pool *pool, tm_pool_call *call)
{
    tm_pool_device *home = NULL;
    /* Every range but the first was left by another device. */
    tm_rows left[TM_POOL_MOST + 1];
    int count = 1;

    if (tm_pool_is_inherited(pool))
        return refuse_inherited(&call->message);
    tm_status status = begin(pool, call);
    if (status == TM_OK && place_of(call))
        status = accept_frame(pool, call, &home);
    left[0] = (tm_rows){0, pool->height};
    while (status == TM_OK && count > 0) {
        const tm_rows rows = left[--count];
        status = run_round(pool, rows, left, &count);
    }
    if (status == TM_OK)
        finish(pool);
    note_waits(pool);
    return status == TM_OK ? hand_over(pool, call, home) : status;
}
