/* SPDX-License-Identifier: MIT */
#include "match/pool/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

double tm_pool_cost(const tm_backend *backend, const tm_pool_call *call, tm_rows rows,
                    int64_t height)
{
    double ms = 0;
    for (size_t i = 0; i < call->count; i++) {
        const tm_job *job = &call->jobs[i];
        const tm_rows part = tm_rows_scale(rows, height, job->geometry.map_height);
        ms += (double)(part.end - part.first) * backend->row_ms(job, i == 0);
    }
    return ms;
}

void tm_pool_device_free(tm_pool_device *d)
{
    for (size_t i = 0; i < d->capacity; i++)
        tm_peak_list_free(&d->lists[i]);
    free(d->slices);
    free(d->estimates);
    free(d->plans);
    free(d->bests);
    free(d->lists);
}

static bool fit(tm_pool_device *d, size_t count)
{
    if (d->capacity >= count)
        return true;
    tm_pool_device_free(d);
    d->slices = malloc(count * sizeof *d->slices);
    d->estimates = malloc(count * sizeof *d->estimates);
    d->plans = malloc(count * sizeof *d->plans);
    d->bests = malloc(count * sizeof *d->bests);
    d->lists = calloc(count, sizeof *d->lists);
    d->capacity =
        d->slices && d->estimates && d->plans && d->bests && d->lists ? count : 0;
    return d->capacity > 0;
}

tm_status tm_pool_device_begin(tm_pool_device *d, const tm_pool_call *call, int64_t height)
{
    if (!fit(d, call->count))
        return TM_ERR_MEMORY;
    for (size_t i = 0; i < call->count; i++)
        d->bests[i] = (tm_candidate)TM_NO_CANDIDATE;
    for (size_t i = 0; i < call->count; i++) {
        tm_peak_list_free(&d->lists[i]);
        if (call->jobs[i].peaks)
            tm_peak_list_init(&d->lists[i], &call->jobs[i].peaks->search);
    }
    d->call = call;
    d->height = height;
    d->failed = false;
    d->begun_ms = d->ended_ms = 0;
    if (!call->continues)
        d->report = (tm_device_report){.index = d->index};
    d->last_plan = (tm_plan){0};
    d->work = (tm_work){0};
    return TM_OK;
}

size_t tm_pool_device_cut(tm_pool_device *d, tm_rows rows)
{
    size_t count = 0;
    for (size_t i = 0; i < d->call->count; i++) {
        const tm_job *job = &d->call->jobs[i];
        const tm_rows part = tm_rows_scale(rows, d->height, job->geometry.map_height);
        if (part.first == part.end)
            continue;
        d->slices[count] = tm_job_rows(job, part, 0);
        if (job->peaks) {
            tm_peak_list_clear(&d->lists[i]);
            d->slices[count].peaks = &d->lists[i];
        }
        count++;
    }
    return count;
}

void tm_pool_device_keep(tm_pool_device *d, tm_rows rows)
{
    size_t count = 0;
    for (size_t i = 0; i < d->call->count; i++) {
        tm_job whole = d->call->jobs[i];
        const tm_rows part = tm_rows_scale(rows, d->height, whole.geometry.map_height);
        if (part.first == part.end)
            continue;
        whole.best = d->bests[i];
        pthread_mutex_lock(d->lock); /* the lists of peaks are the jobs' */
        tm_job_merge(&whole, &d->slices[count++], part);
        pthread_mutex_unlock(d->lock);
        d->bests[i] = whole.best;
        d->report.rows += part.end - part.first;
    }
}

/* Memory that ran out may come back: after so many pieces that fit, twice as many rows
 * are tried. To fail costs about as much as a piece, so the next trial waits twice as
 * long. */
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

/* Of a piece that was as large as it might be. */
static void note_room(tm_pool_device *d)
{
    if (++d->fitted < d->patience)
        return;
    d->most_windows *= 2;
    d->grown = true;
    d->fitted = 0;
}

/* As many of the rows as memory was found to have room for, at least one. */
static tm_rows next_piece(const tm_pool_device *d)
{
    int64_t count = d->rows.end - d->rows.first;
    if (d->most_windows) {
        int64_t most = d->most_windows / d->call->jobs->geometry.map_width;
        most = most > 1 ? most : 1;
        count = count < most ? count : most;
    }
    return (tm_rows){d->rows.first, d->rows.first + count};
}

/* Chooses the slices' algorithms. */
static tm_status plan_slices(tm_pool_device *d, size_t count)
{
    const tm_estimate_request request = {.algorithm = d->call->algorithm};

    d->backend->estimate(d->device, d->slices, count, &request, d->estimates);
    for (size_t i = 0; i < count; i++) {
        tm_plan *plan = &d->plans[i];
        tm_plan_choose(plan, &d->estimates[i], d->call->algorithm);
        if (plan->algorithm != TM_ALGORITHM_FFT)
            continue;
        if (plan->estimate.fault) {
            snprintf(d->message.text, sizeof d->message.text, "no FFT: %s", plan->estimate.fault);
            return TM_ERR_INVALID;
        }
        d->slices[i].tiling = &plan->estimate.tiling;
    }
    return TM_OK;
}

static tm_status match_piece(tm_pool_device *d, tm_rows piece)
{
    tm_work work = {0};
    const size_t count = tm_pool_device_cut(d, piece);
    if (count) {
        tm_status status = plan_slices(d, count);
        if (status == TM_OK)
            status = d->backend->match(d->device, d->slices, count, &work, &d->message);
        if (status != TM_OK)
            return status;
        d->last_plan = d->plans[count - 1];
    }
    tm_pool_device_keep(d, piece);
    d->work.times.to_device += work.times.to_device;
    d->work.times.kernel += work.times.kernel;
    d->work.times.from_device += work.times.from_device;
    d->report.bytes_to_device += work.bytes_to_device;
    d->report.bytes_from_device += work.bytes_from_device;
    return TM_OK;
}

/* The first call allocates and prepares, and says nothing of the next. */
static void measure_speed(tm_pool_device *d, double cost, double ms)
{
    if (d->warm && ms > 0)
        d->speed = d->speed > 0 ? 0.7 * d->speed + 0.3 * cost / ms : cost / ms;
    d->warm = true;
}

void tm_pool_device_work(tm_pool_device *d)
{
    const double start = clock_ms(), cost = tm_pool_cost(d->backend, d->call, d->rows, d->height);

    if (d->begun_ms == 0)
        d->begun_ms = start;
    while (d->rows.first < d->rows.end && !d->failed) {
        const tm_rows piece = next_piece(d);
        const int64_t count = piece.end - piece.first;
        const bool limited = piece.end < d->rows.end;
        d->status = match_piece(d, piece);
        if (d->status == TM_ERR_DEVICE_MEMORY && count > 1)
            note_no_room(d, count);
        else if (d->status != TM_OK)
            d->failed = true;
        else if (limited)
            note_room(d);
        if (d->status == TM_OK)
            d->rows.first = piece.end;
    }
    d->ended_ms = clock_ms();
    d->report.busy_ms += d->ended_ms - start;
    if (d->failed || cost == 0)
        return;
    d->failures = 0;
    measure_speed(d, cost, d->ended_ms - start);
}
