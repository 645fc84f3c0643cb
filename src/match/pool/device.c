/* SPDX-License-Identifier: MIT */
#include "match/pool/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

double tm_pool_cost(const tm_backend *backend, const tm_pool_call *call, tm_rows rows,
                    int64_t height)
{
    double ms = 0;
    for (size_t i = 0; i < call->count; i++) {
        const tm_job *job = &call->jobs[i];
        const tm_rows own = tm_rows_scale(rows, height, job->geometry.map_height);
        ms += (double)(own.end - own.first) * backend->row_ms(job, i == 0);
    }
    return ms;
}

void tm_pool_room_free(tm_pool_room *room)
{
    for (size_t i = 0; i < room->capacity; i++)
        tm_peak_list_free(&room->lists[i]);
    free(room->jobs);
    free(room->estimates);
    free(room->bests);
    free(room->lists);
}

static bool fit(tm_pool_room *room, size_t count)
{
    if (room->capacity >= count)
        return true;
    tm_pool_room_free(room);
    room->jobs = malloc(count * sizeof *room->jobs);
    room->estimates = malloc(count * sizeof *room->estimates);
    room->bests = malloc(count * sizeof *room->bests);
    room->lists = calloc(count, sizeof *room->lists);
    room->capacity = room->jobs && room->estimates && room->bests && room->lists ? count : 0;
    return room->capacity > 0;
}

bool tm_pool_device_renew(tm_pool_device *d)
{
    tm_candidate *bests = d->room.bests;
    const size_t count = d->call->count;

    d->room = (tm_pool_room){0};
    const bool good = fit(&d->room, count);
    if (good)
        memcpy(d->room.bests, bests, count * sizeof *bests);
    free(bests);
    for (size_t i = 0; i < count && good; i++)
        if (d->call->jobs[i].peaks)
            tm_peak_list_init(&d->room.lists[i], &d->call->jobs[i].peaks->search);
    return good;
}

tm_status tm_pool_device_begin(tm_pool_device *d, const tm_pool_call *call, int64_t height)
{
    if (!fit(&d->room, call->count))
        return TM_ERR_MEMORY;
    for (size_t i = 0; i < call->count; i++)
        d->room.bests[i] = (tm_candidate)TM_NO_CANDIDATE;
    for (size_t i = 0; i < call->count; i++) {
        tm_peak_list_free(&d->room.lists[i]);
        if (call->jobs[i].peaks)
            tm_peak_list_init(&d->room.lists[i], &call->jobs[i].peaks->search);
    }
    d->call = call;
    d->height = height;
    d->failed = false;
    d->begun_ms = d->ended_ms = 0;
    if (!call->continues)
        d->report = (tm_device_report){.index = d->index};
    d->last_plan = (tm_plan){0};
    d->work = (tm_work){0};
    d->certified = false;
    d->scored = 0;
    return TM_OK;
}

size_t tm_pool_device_cut(tm_pool_device *d, tm_rows rows)
{
    size_t count = 0;
    for (size_t i = 0; i < d->call->count; i++) {
        const tm_job *job = &d->call->jobs[i];
        const tm_rows own = tm_rows_scale(rows, d->height, job->geometry.map_height);
        if (own.first == own.end)
            continue;
        d->room.jobs[count] = tm_job_rows(job, own, 0);
        if (!job->known || d->room.bests[i].value > job->known->value)
            d->room.jobs[count].known = &d->room.bests[i];
        d->room.jobs[count].seat = d->seat.meeting ? &d->seat : NULL;
        if (job->peaks) {
            tm_peak_list_clear(&d->room.lists[i]);
            d->room.lists[i].cut = INT64_MIN;
            d->room.jobs[count].peaks = &d->room.lists[i];
        }
        count++;
    }
    return count;
}

void tm_pool_device_merge(tm_pool_device *d, tm_rows rows)
{
    size_t count = 0;
    for (size_t i = 0; i < d->call->count; i++) {
        tm_job whole = d->call->jobs[i];
        const tm_rows own = tm_rows_scale(rows, d->height, whole.geometry.map_height);
        if (own.first == own.end)
            continue;
        whole.best = d->room.bests[i];
        const tm_job *job = &d->room.jobs[count++];
        pthread_mutex_lock(d->lock); /* the lists of peaks are the jobs' */
        tm_job_merge(&whole, job, own);
        pthread_mutex_unlock(d->lock);
        d->certified |= job->certified;
        d->scored += tm_job_scored(job);
        d->room.bests[i] = whole.best;
        d->report.rows += own.end - own.first;
    }
}

/* Memory that ran out may come back: after PATIENCE bands that fitted, one of twice as many rows
 * is tried. A trial that fails costs about as much as a band, so the next one waits for twice as
 * many. */
enum { PATIENCE = 16, MOST_PATIENCE = 1024 };

static void note_no_room(tm_pool_device *d, int64_t rows)
{
    const bool on_trial = d->grown && d->fitted == 0;
    d->patience = !on_trial                     ? PATIENCE
                  : d->patience < MOST_PATIENCE ? 2 * d->patience
                                                : MOST_PATIENCE;
    d->most_windows = rows / 2 * d->call->jobs->geometry.map_width;
    d->grown = false;
    d->fitted = 0;
}

/* Counts a band that was as large as it might be, and fitted. */
static void note_room(tm_pool_device *d)
{
    if (++d->fitted < d->patience)
        return;
    d->most_windows *= 2;
    d->grown = true;
    d->fitted = 0;
}

/* Bands' bests are put together on the host, which a call that nobody waits for does without. */
static bool needs_one_band(const tm_pool_device *d)
{
    const tm_on_device *place = d->call->jobs->on_device;
    return place && place->async;
}

/* As many of the rows as memory is known to have room for, at least one. */
static tm_rows next_band(const tm_pool_device *d)
{
    int64_t count = d->rows.end - d->rows.first;
    if (d->most_windows && !needs_one_band(d)) {
        int64_t most = d->most_windows / d->call->jobs->geometry.map_width;
        most = most > 1 ? most : 1;
        count = count < most ? count : most;
    }
    return (tm_rows){d->rows.first, d->rows.first + count};
}

/* Chooses each job's algorithm; *plan becomes the last one's. Where the device was given up, its guard says so,
 * and the status means nothing. */
static tm_status plan_jobs(tm_pool_device *d, size_t count, tm_plan *plan)
{
    /* A slice has its own best window, and where that is not the match, and nobody tells, few windows are left out. */
    const bool alone = d->shares && !d->seat.meeting && d->call->strategy == TM_STRATEGY_AUTO;
    const tm_strategy strategy = alone || needs_one_band(d) ? TM_STRATEGY_EXHAUSTIVE : d->call->strategy;
    const tm_estimate_request request = {.algorithm = d->call->algorithm, .strategy = strategy};

    const tm_guard *guard = d->guard;
    d->backend->estimate(d->device, d->room.jobs, count, &request, d->room.estimates);
    if (tm_guard_is_given_up(guard))
        return TM_ERR_DEVICE;
    for (size_t i = 0; i < count; i++) {
        tm_estimate *estimate = &d->room.estimates[i];
        tm_estimate_limit(estimate, &d->room.jobs[i]);
        *plan = tm_plan_choose(estimate, d->call->algorithm, strategy);
        d->room.jobs[i].certified = plan->certified;
        d->room.jobs[i].other_ms = estimate->direct_ms;
        if (plan->algorithm != TM_ALGORITHM_FFT)
            continue;
        if (estimate->fault) {
            snprintf(d->message.text, sizeof d->message.text, "no FFT: %s", estimate->fault);
            return TM_ERR_INVALID;
        }
        d->room.jobs[i].tiling = &estimate->tiling;
    }
    return TM_OK;
}

/* False where the device was given up. */
static bool match_band(tm_pool_device *d, tm_rows band, tm_status *status)
{
    tm_guard *guard = d->guard;
    tm_pool_room room = d->room; /* this thread's, if it is given up, but for the bests */
    tm_message message = {""};
    tm_work work = {0};
    tm_plan plan;
    const size_t count = tm_pool_device_cut(d, band);

    *status = count ? plan_jobs(d, count, &plan) : TM_OK;
    const bool planned = count && !tm_guard_is_given_up(guard) && *status == TM_OK;
    if (planned)
        *status = d->backend->match(d->device, d->room.jobs, count, &work, &message);
    if (tm_guard_is_given_up(guard)) {
        room.bests = NULL;
        tm_pool_room_free(&room);
        free(guard);
        return false;
    }
    if (planned && *status != TM_OK)
        d->message = message;
    if (*status != TM_OK)
        return true;
    if (count)
        d->last_plan = plan;
    tm_pool_device_merge(d, band);
    d->work.times.to_device += work.times.to_device;
    d->work.times.kernel += work.times.kernel;
    d->work.times.from_device += work.times.from_device;
    d->report.bytes_to_device += work.bytes_to_device;
    d->report.bytes_from_device += work.bytes_from_device;
    return true;
}

/* The first call allocates and prepares, and says nothing of the next. */
static void measure_speed(tm_pool_device *d, double cost, double ms)
{
    if (d->warm && ms > 0)
        d->speed = d->speed > 0 ? 0.7 * d->speed + 0.3 * cost / ms : cost / ms;
    d->warm = true;
}

bool tm_pool_device_work(tm_pool_device *d)
{
    const double start = clock_ms(), cost = tm_pool_cost(d->backend, d->call, d->rows, d->height);

    if (d->begun_ms == 0)
        d->begun_ms = start;
    while (d->rows.first < d->rows.end && !d->failed) {
        const tm_rows band = next_band(d);
        const int64_t count = band.end - band.first;
        const bool limited = band.end < d->rows.end;
        tm_status status;
        if (!match_band(d, band, &status))
            return false;
        d->status = status;
        if (d->status == TM_ERR_DEVICE_MEMORY && count > 1 && !needs_one_band(d))
            note_no_room(d, count);
        else if (d->status != TM_OK)
            d->failed = true;
        else if (limited)
            note_room(d);
        if (d->status == TM_OK)
            d->rows.first = band.end;
    }
    tm_seat_leave(&d->seat);
    d->ended_ms = clock_ms();
    d->report.busy_ms += d->ended_ms - start;
    if (!d->failed && cost > 0)
        d->failures = 0;
    if (!d->failed && cost > 0 && !d->call->jobs->on_device)
        measure_speed(d, cost, d->ended_ms - start);
    return true;
}
