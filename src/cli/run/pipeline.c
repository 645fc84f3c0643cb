/* SPDX-License-Identifier: MIT */
#include "run/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "signals.h"
#include "run/pipeline_decoders.h"
#include "run/pipeline_devices.h"
#include "run/pipeline_repeats.h"

/* How many frames workers can read while a device is opened, and how many whose bytes are held
 * may wait for a worker. */
enum { MIN_AHEAD = 512, HELD_AHEAD = 2 };

static void interrupt(void *data)
{
    cli_pipeline *p = data;
    pthread_mutex_lock(&p->lock);
    p->interrupted = true;
    pipeline_stop(p);
    pthread_mutex_unlock(&p->lock);
    if (style_moves_cursor()) /* somebody waits there */
        message_info(NULL, "ends when the frames that are begun are done; once more ends it at once");
}

static void *feed(void *argument)
{
    cli_pipeline *p = argument;
    p->s.feed(p->s.feed_data, p);
    pthread_mutex_lock(&p->lock);
    p->feeding = false;
    pipeline_wake_all(p);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Where devices match, a codec is not to wait until a worker wakes. */
static size_t most_held(const cli_pipeline *p)
{
    return p->s.devices && p->s.ahead_bytes ? p->s.in_flight : HELD_AHEAD;
}

void pipeline_add(cli_pipeline *p, cli_frame frame)
{
    const bool held = frame.part && cli_part_is_held(frame.part);
    pthread_mutex_lock(&p->lock);
    while (held && !p->stopped && p->s.frames->count - p->taken >= most_held(p))
        pthread_cond_wait(&p->room, &p->lock);
    p->expected -= p->expected >= 1;
    if (frames_append(p->s.frames, frame)) {
        pthread_cond_signal(&p->work);
    } else {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        p->broken = true;
        pipeline_stop(p);
    }
    pthread_mutex_unlock(&p->lock);
}

/* A run that is fed for years keeps no list of what is done. A frame's index tells its job, so
 * a whole number of windows is forgotten. */
static void forget(cli_pipeline *p)
{
    cli_frames *frames = p->s.frames;
    const size_t done = p->returned / p->window * p->window;
    if (!p->s.feed || done == 0 || done < frames->count / 2)
        return;
    for (size_t i = 0; i < done; i++)
        frame_free(&frames->list[i]);
    frames->count -= done;
    memmove(frames->list, frames->list + done, frames->count * sizeof *frames->list);
    p->taken -= done;
    p->returned -= done;
}

/* Initialising a hundred jobs takes a millisecond: workers read meanwhile. */
static bool make_jobs(cli_pipeline *p, size_t count)
{
    while (p->ready < count) {
        if (!job_init(&p->jobs[p->ready], p->s.plan))
            return false;
        pthread_mutex_lock(&p->lock);
        p->ready++;
        pthread_cond_signal(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
    return true;
}

/* The caller's thread hands the jobs on, in order. */
static void hand_over(cli_pipeline *p)
{
    const bool made = make_jobs(p, p->window);

    pthread_mutex_lock(&p->lock);
    if (!made) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        p->broken = true;
        pipeline_stop(p);
    }
    for (;;) {
        cli_job *job = &p->jobs[p->returned % p->window];
        if (p->returned < p->taken && job->finished) {
            const bool broken = p->broken, held = job_holds_pictures(job);
            job->finished = false;
            pthread_mutex_unlock(&p->lock);
            const bool wanted = !broken && p->s.finished(p->s.data, job);
            job_end(job);
            pthread_mutex_lock(&p->lock);
            p->returned++;
            p->in_memory -= held;
            forget(p);
            pthread_cond_signal(&p->work);
            if (!wanted)
                pipeline_stop(p);
        } else if (pipeline_is_over(p) && p->returned == p->taken) {
            break;
        } else {
            pthread_cond_wait(&p->done, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

/* Frames that wait for others' results keep no thread busy, so some more may be read where that bound is not firm. */
static bool has_room(const cli_pipeline *p)
{
    const size_t more = !p->s.ahead_bytes ? 0 : p->waiting < p->s.in_flight ? p->waiting : p->s.in_flight;
    if (p->in_memory < p->s.in_flight + more)
        return true;
    return p->s.devices && p->frame_bytes > 0 &&
           (p->in_memory + 1) * p->frame_bytes <= p->s.ahead_bytes;
}

static bool may_take(const cli_pipeline *p)
{
    return !p->stopped && p->taken < p->s.frames->count &&
           (p->taken < p->ready || p->ready == p->window) &&
           p->taken - p->returned < p->window && has_room(p);
}

static cli_job *take(cli_pipeline *p)
{
    cli_job *job = &p->jobs[p->taken % p->window];
    job->frame = p->s.frames->list[p->taken++];
    job->serial = ++p->begun;
    job->settled = job->repeatable = false;
    job->follower = NULL;
    p->under_way++;
    p->in_memory++;
    pthread_cond_signal(&p->room);
    return job;
}

static void note_size(cli_pipeline *p, const cli_job *job)
{
    const cli_input *input = &job->input;
    const size_t bytes = job->loaded ? io_picture_bytes(&input->gray) +
                                           io_picture_bytes(&input->color) + input->source.size
                                     : 0;
    if (bytes > p->frame_bytes)
        p->frame_bytes = bytes;
}

/* Reads a frame, and matches it unless that is for a device. */
static void begin(cli_pipeline *p, cli_engine *engine)
{
    cli_job *job = take(p);
    if (p->late_ready)
        engine = NULL;
    pthread_mutex_unlock(&p->lock);
    job_begin(job, p->s.plan);
    job_load(job, p->s.plan);
    pthread_mutex_lock(&p->lock);
    note_size(p, job);
    pipeline_place(p, engine, pipeline_repeat(p, job));
}

static void *work(void *argument)
{
    pipeline_thread *t = argument;
    cli_pipeline *p = t->pipeline;
    cli_job *job;

    pthread_mutex_lock(&p->lock);
    while (!pipeline_is_over(p)) {
        if ((job = pipeline_pop(&p->to_write, p->window)))
            pipeline_finish(p, job);
        else if (may_take(p))
            begin(p, t->engine);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts a thread for a device where one is needed, one for the feed, and as many workers as can be
 * had. False if not even one of each can be started. The lock is held, as the first of them may ask for another
 * already. */
static bool start_all(cli_pipeline *p)
{
    const pipeline_settings *s = &p->s;
    size_t workers = 0;

    if (s->devices && !pipeline_start(p, s->engines, pipeline_find_and_match))
        return false;
    p->feeder_runs = s->feed && pthread_create(&p->feeder, NULL, feed, p) == 0;
    if (s->feed && !p->feeder_runs)
        return false;
    while (workers < s->workers &&
           pipeline_start(p, s->devices ? NULL : &s->engines[workers], work))
        workers++;
    return workers > 0;
}

static bool init(cli_pipeline *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->read, NULL);
    pthread_cond_init(&p->coded, NULL);
    pthread_cond_init(&p->matched_all, NULL);
    pthread_cond_init(&p->done, NULL);
    pthread_cond_init(&p->room, NULL);
    /* Some frames take several times as long as others: the rest goes on meanwhile. Only results wait for their
     * turn, not pictures, but for those of a movie, which count as frames in memory. */
    p->window = 8 * p->s.in_flight_ahead;
    if (p->s.ahead_bytes && p->s.open_device && p->window < MIN_AHEAD)
        p->window = MIN_AHEAD;
    if (!p->s.feed && p->window > p->s.frames->count)
        p->window = p->s.frames->count + 1;
    p->jobs = calloc(p->window, sizeof *p->jobs);
    p->threads = calloc(p->s.workers + PIPELINE_MOST_DEVICES * (1 + PIPELINE_DECODERS), sizeof *p->threads);
    return p->jobs && p->threads && pipeline_make_queues(p) &&
           make_jobs(p, p->s.workers < p->window ? p->s.workers : p->window);
}

static void destroy(cli_pipeline *p)
{
    for (size_t i = 0; p->jobs && i < p->window; i++)
        job_free(&p->jobs[i], p->s.plan);
    free(p->jobs);
    pipeline_free_queues(p);
    free(p->threads);
    pthread_cond_destroy(&p->room);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->matched_all);
    pthread_cond_destroy(&p->coded);
    pthread_cond_destroy(&p->read);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
}

/* The first device's thread may start others until it ends. */
static void join_all(cli_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->thread_count; i++) {
        const pthread_t thread = p->threads[i].thread;
        pthread_mutex_unlock(&p->lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

bool pipeline_run(const pipeline_settings *settings, bool *interrupted)
{
    cli_pipeline p = {.s = *settings, .feeding = settings->feed != NULL};
    const bool made = init(&p);

    pthread_mutex_lock(&p.lock);
    const bool started = made && start_all(&p);
    if (made && !started)
        pipeline_stop(&p);
    pthread_mutex_unlock(&p.lock);
    if (started) {
        /* Where there is one frame, there is nothing to save by finishing it. */
        if (settings->feed || settings->frames->count > 1)
            signals_on_interrupt(interrupt, &p);
        hand_over(&p);
        signals_on_interrupt(NULL, NULL);
    }
    join_all(&p);
    if (p.feeder_runs)
        pthread_join(p.feeder, NULL);
    *interrupted = p.interrupted;
    const bool broken = p.broken;
    destroy(&p);
    if (!made)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    else if (!started)
        message_no_thread();
    return started && !broken;
}
