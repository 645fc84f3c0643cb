/* SPDX-License-Identifier: MIT */
#include "batch/pipeline.h"

#include <pthread.h>
#include <stdlib.h>

#include "message.h"
#include "signals.h"

/* Frames that workers can read while a device is opened. */
enum { MIN_AHEAD = 512 };

/* A place for a frame's job; frame i has place i % window. */
typedef struct place {
    cli_job job;
    bool finished;
} place;

/* Places in a ring that has room for all. */
typedef struct queue {
    place **ring;
    size_t first, count;
} queue;

typedef struct member {
    cli_pipeline *pipeline;
    cli_engine *engine; /* NULL for a worker beside devices */
    pthread_t thread;
} member;

struct cli_pipeline {
    pipeline_settings s;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;  /* for workers: a frame may be taken, or has been matched */
    pthread_cond_t read;  /* for devices: a frame has been read */
    pthread_cond_t done;  /* for the caller: a frame has been finished */
    place *places;
    size_t window;
    size_t taken, returned; /* frames, from the first on */
    size_t under_way;       /* taken and not finished */
    size_t in_memory;
    queue to_match, to_write;
    bool stopped, interrupted;
    bool feeding; /* more frames may come */
    bool feeder_runs;
    pthread_t feeder;
    bool broken;         /* a device cannot be opened: nothing more is handed over */
    size_t frame_bytes;  /* of the largest frame so far */
    bool late_begun, late_ready; /* the device that the CPU asked for */
    size_t matched;
    double match_ms; /* of those, all threads' together */
    member *members;
    size_t member_count;
};

static void push(queue *q, size_t window, place *item)
{
    q->ring[(q->first + q->count++) % window] = item;
}

static place *pop(queue *q, size_t window)
{
    if (q->count == 0)
        return NULL;
    place *item = q->ring[q->first];
    q->first = (q->first + 1) % window;
    q->count--;
    return item;
}

static bool exhausted(const cli_pipeline *p)
{
    return p->stopped || (p->taken == p->s.frames->count && !p->feeding);
}

static bool is_over(const cli_pipeline *p)
{
    return exhausted(p) && p->under_way == 0;
}

static void wake_all(cli_pipeline *p)
{
    pthread_cond_broadcast(&p->work);
    pthread_cond_broadcast(&p->read);
    pthread_cond_broadcast(&p->done);
}

static void stop(cli_pipeline *p)
{
    if (p->feeding && !p->stopped)
        p->s.stop_feed(p->s.feed_data);
    p->stopped = true;
    wake_all(p);
}

static void interrupt(void *data)
{
    cli_pipeline *p = data;
    pthread_mutex_lock(&p->lock);
    p->interrupted = true;
    stop(p);
    pthread_mutex_unlock(&p->lock);
}

static bool has_room(const cli_pipeline *p)
{
    if (p->in_memory < p->s.in_flight)
        return true;
    return p->s.devices && p->frame_bytes > 0 &&
           (p->in_memory + 1) * p->frame_bytes <= p->s.ahead_bytes;
}

static bool may_take(const cli_pipeline *p)
{
    return !p->stopped && p->taken < p->s.frames->count && p->taken - p->returned < p->window && has_room(p);
}

static place *take(cli_pipeline *p)
{
    place *item = &p->places[p->taken % p->window];
    item->job.frame = p->s.frames->list[p->taken++];
    p->under_way++;
    p->in_memory++;
    return item;
}

/* Writes what there is to write and hands the job over. The lock is held before and
 * after. */
static void finish(cli_pipeline *p, place *item)
{
    pthread_mutex_unlock(&p->lock);
    job_write(&item->job, p->s.plan);
    pthread_mutex_lock(&p->lock);
    item->finished = true;
    p->under_way--;
    p->in_memory--;
    if (is_over(p))
        wake_all(p);
    else if (p->s.devices)
        pthread_cond_signal(&p->work); /* the room that a frame left */
    if (item == &p->places[p->returned % p->window])
        pthread_cond_signal(&p->done);
}

static bool start(cli_pipeline *p, cli_engine *engine, void *(*run)(void *))
{
    member *m = &p->members[p->member_count];
    *m = (member){.pipeline = p, .engine = engine};
    if (pthread_create(&m->thread, NULL, run, m) != 0)
        return false;
    p->member_count++;
    return true;
}

static void *open_and_match(void *argument);

/* After a frame was matched on the CPU. */
static void consider_device(cli_pipeline *p, const cli_job *job)
{
    for (size_t i = 0; i < p->s.plan->templates->count; i++)
        p->match_ms += job->pairs[i].result.times.total;
    p->matched++;
    if (!p->s.open_device || p->late_begun || p->stopped || p->matched < p->s.workers)
        return;
    const double each = p->match_ms / (double)p->matched;
    const double left = (double)(p->s.frames->count - p->taken) * each / (double)p->s.workers;
    if (left > p->s.worth_ms)
        p->late_begun = start(p, &p->s.engines[p->s.engine_count], open_and_match);
}

static void note_size(cli_pipeline *p, const cli_job *job)
{
    const io_picture *gray = &job->input.gray;
    const size_t bytes = job->loaded ? (size_t)(gray->width * gray->height * gray->channels) +
                                           job->input.source.size
                                     : 0;
    if (bytes > p->frame_bytes)
        p->frame_bytes = bytes;
}

/* Reads a frame, and matches it unless that is for a device. */
static void begin(cli_pipeline *p, cli_engine *engine)
{
    place *item = take(p);
    if (p->late_ready)
        engine = NULL;
    pthread_mutex_unlock(&p->lock);
    job_begin(&item->job, p->s.plan);
    job_load(&item->job, p->s.plan);
    if (engine)
        job_match(&item->job, p->s.plan, engine);
    pthread_mutex_lock(&p->lock);
    note_size(p, &item->job);
    if (engine && item->job.loaded)
        consider_device(p, &item->job);
    if (engine || !item->job.loaded || p->broken) {
        finish(p, item);
    } else {
        push(&p->to_match, p->window, item);
        pthread_cond_signal(&p->read);
    }
}

static void *work(void *argument)
{
    member *m = argument;
    cli_pipeline *p = m->pipeline;
    place *item;

    pthread_mutex_lock(&p->lock);
    while (!is_over(p)) {
        if ((item = pop(&p->to_write, p->window)))
            finish(p, item);
        else if (may_take(p))
            begin(p, m->engine);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *match(void *argument)
{
    member *m = argument;
    cli_pipeline *p = m->pipeline;
    place *item;

    pthread_mutex_lock(&p->lock);
    while (!is_over(p)) {
        if (!(item = pop(&p->to_match, p->window))) {
            pthread_cond_wait(&p->read, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        job_match(&item->job, p->s.plan, m->engine);
        pthread_mutex_lock(&p->lock);
        push(&p->to_write, p->window, item);
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *feed(void *argument)
{
    cli_pipeline *p = argument;
    p->s.feed(p->s.feed_data, p);
    pthread_mutex_lock(&p->lock);
    p->feeding = false;
    wake_all(p);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void pipeline_add(cli_pipeline *p, cli_frame frame)
{
    pthread_mutex_lock(&p->lock);
    if (frames_append(p->s.frames, frame)) {
        pthread_cond_signal(&p->work);
    } else {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        p->broken = true;
        stop(p);
    }
    pthread_mutex_unlock(&p->lock);
}

/* A run that is fed for years keeps no list of what is done: it begins anew whenever
 * nothing is left. */
static void forget(cli_pipeline *p)
{
    cli_frames *frames = p->s.frames;
    if (!p->feeding || p->returned < frames->count)
        return;
    for (size_t i = 0; i < frames->count; i++) {
        free(frames->list[i].path);
        free(frames->list[i].error);
    }
    frames->count = p->taken = p->returned = 0;
}

/* Of the caller's thread: the jobs in order. */
static void hand_over(cli_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    for (;;) {
        place *item = &p->places[p->returned % p->window];
        if (p->returned < p->taken && item->finished) {
            const bool broken = p->broken;
            item->finished = false;
            pthread_mutex_unlock(&p->lock);
            const bool wanted = !broken && p->s.finished(p->s.data, &item->job);
            job_end(&item->job);
            pthread_mutex_lock(&p->lock);
            p->returned++;
            forget(p);
            pthread_cond_signal(&p->work);
            if (!wanted)
                stop(p);
        } else if (is_over(p) && p->returned == p->taken) {
            break;
        } else {
            pthread_cond_wait(&p->done, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

/* Of a device that was asked for: there are no results. */
static void give_up(cli_pipeline *p)
{
    place *item;
    p->broken = true;
    while ((item = pop(&p->to_match, p->window)))
        finish(p, item);
    stop(p);
}

/* From when the device is open, workers read ahead of it. */
static void *open_and_match(void *argument)
{
    member *m = argument;
    cli_pipeline *p = m->pipeline;
    const bool good = p->s.open_device(p->s.device_data, (size_t)(m->engine - p->s.engines), m->engine);

    pthread_mutex_lock(&p->lock);
    if (good) {
        p->late_ready = p->s.devices = true;
        p->s.in_flight = p->s.in_flight_ahead;
        pthread_cond_broadcast(&p->work);
    } else if (p->s.devices) {
        give_up(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (good)
        match(m);
    cli_engine_close(m->engine);
    return NULL;
}

/* As many threads as can be had; false if there is not one of a kind. The lock is held,
 * as the first of them may ask for another already. */
static bool start_all(cli_pipeline *p)
{
    const pipeline_settings *s = &p->s;
    size_t workers = 0, devices = 0;

    while (workers < s->workers && start(p, s->devices ? NULL : &s->engines[workers], work))
        workers++;
    while (s->devices && devices < s->engine_count && start(p, &s->engines[devices], open_and_match))
        devices++;
    p->feeder_runs = s->feed && pthread_create(&p->feeder, NULL, feed, p) == 0;
    return workers > 0 && (devices > 0 || !s->devices) && (p->feeder_runs || !s->feed);
}

static bool init(cli_pipeline *p)
{
    bool good = true;

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->read, NULL);
    pthread_cond_init(&p->done, NULL);
    /* Some frames take several times as long as others; while one does, the rest
     * goes on. What waits is results, not pictures. */
    p->window = 8 * p->s.in_flight_ahead;
    if (p->s.ahead_bytes && p->s.open_device && p->window < MIN_AHEAD)
        p->window = MIN_AHEAD;
    p->places = calloc(p->window, sizeof *p->places);
    p->to_match.ring = calloc(p->window, sizeof *p->to_match.ring);
    p->to_write.ring = calloc(p->window, sizeof *p->to_write.ring);
    p->members = calloc(p->s.workers + p->s.engine_count + 1, sizeof *p->members);
    if (!p->places || !p->to_match.ring || !p->to_write.ring || !p->members)
        return false;
    for (size_t i = 0; i < p->window && good; i++)
        good = job_init(&p->places[i].job, p->s.plan);
    return good;
}

static void destroy(cli_pipeline *p)
{
    for (size_t i = 0; p->places && i < p->window; i++)
        job_free(&p->places[i].job, p->s.plan);
    free(p->places);
    free(p->to_match.ring);
    free(p->to_write.ring);
    free(p->members);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->read);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
}

bool pipeline_run(const pipeline_settings *settings, bool *interrupted)
{
    cli_pipeline p = {.s = *settings, .feeding = settings->feed != NULL};
    bool good = init(&p);

    pthread_mutex_lock(&p.lock);
    if (good && !start_all(&p)) {
        good = false;
        stop(&p);
    }
    pthread_mutex_unlock(&p.lock);
    if (good) {
        /* Where there is one frame, there is nothing to save by finishing it. */
        if (settings->feed || settings->frames->count > 1)
            signals_on_interrupt(interrupt, &p);
        hand_over(&p);
        signals_on_interrupt(NULL, NULL);
    }
    for (size_t i = 0; i < p.member_count; i++)
        pthread_join(p.members[i].thread, NULL);
    if (p.feeder_runs)
        pthread_join(p.feeder, NULL);
    *interrupted = p.interrupted;
    const bool broken = p.broken;
    destroy(&p);
    if (!good)
        message(NULL, "out of memory or threads");
    return good && !broken;
}
