/* SPDX-License-Identifier: MIT */
#include "run/pipeline_devices.h"

#include "run/pipeline_decoders.h"
#include "run/pipeline_repeats.h"

/* How many frames a movie's codec holds beside those that it has handed on: to make others from, and one for each of its
 * threads. */
enum { HELD_BY_CODEC = 36 };

/* The first device that has a frame to match makes as many buffers as frames are in memory when
 * none has to wait; but only if each will be used a few times. The lock is held before and
 * after. */
static bool make_pinned(cli_pipeline *p, const pipeline_thread *t)
{
    const bool in_codec = p->s.plan->has_movies && p->s.plan->frame_input.lends;
    const size_t count = p->s.in_flight + (in_codec ? HELD_BY_CODEC : 0), left = p->s.frames->count - p->taken;

    p->pinned_asked = true;
    if (!p->feeding && left < 4 * count)
        return false;
    pthread_mutex_unlock(&p->lock);
    const bool made = pinned_make(p->s.pinned, t->engine->matcher, count, p->s.pinned_bytes);
    pthread_mutex_lock(&p->lock);
    return made;
}

/* Freeing one takes a third of a millisecond: it is done while the last frames are still read. */
static void free_pinned(cli_pipeline *p, const pipeline_thread *t)
{
    pthread_mutex_unlock(&p->lock);
    pinned_free(p->s.pinned, t->engine->matcher);
    pthread_mutex_lock(&p->lock);
}

static void run_device(const pipeline_thread *t)
{
    cli_pipeline *p = t->pipeline;
    job_queue *decoded = &p->decoded[t->engine - p->s.engines];
    bool made_pinned = false;
    cli_job *job;

    pthread_mutex_lock(&p->lock);
    while (!pipeline_is_over(p)) {
        if (!(job = pipeline_pop(decoded, p->window)) && !(job = pipeline_pop(&p->to_match, p->window))) {
            pthread_cond_wait(&p->read, &p->lock);
            continue;
        }
        if (!p->pinned_asked)
            made_pinned = make_pinned(p, t);
        for (cli_job *next; job; job = next) {
            pthread_mutex_unlock(&p->lock);
            job_match(job, p->s.plan, t->engine);
            job_release(job, p->s.plan);
            pthread_mutex_lock(&p->lock);
            pipeline_note_matched(p, job);
            next = pipeline_settle(p, job);
            pipeline_push(&p->to_write, p->window, job);
            pthread_cond_signal(&p->work);
        }
        if (made_pinned && pipeline_takes_no_more(p))
            free_pinned(p, t);
    }
    while (p->feeding && made_pinned) /* where it was stopped, a codec may still have some */
        pthread_cond_wait(&p->read, &p->lock);
    if (made_pinned)
        frames_drop_held(p->s.frames, p->taken);
    pthread_mutex_unlock(&p->lock);
    if (made_pinned)
        pinned_free(p->s.pinned, t->engine->matcher);
}

void *pipeline_find_and_match(void *argument)
{
    pipeline_thread *t = argument;
    cli_pipeline *p = t->pipeline;
    const size_t count = p->s.find_devices(p->s.device_data);

    pthread_mutex_lock(&p->lock);
    if (p->s.ahead_bytes && count > p->s.engine_count)
        p->s.in_flight = p->s.in_flight_ahead += 2 * (count - p->s.engine_count);
    for (size_t i = 1; i < count && !pipeline_is_over(p); i++)
        if (!pipeline_start(p, &p->s.engines[i], pipeline_open_and_match))
            break;
    pthread_mutex_unlock(&p->lock);
    return pipeline_open_and_match(t);
}

/* Once the device is open, workers read ahead of it. */
void *pipeline_open_and_match(void *argument)
{
    pipeline_thread *t = argument;
    cli_pipeline *p = t->pipeline;
    const bool good = p->s.open_device(p->s.device_data, (size_t)(t->engine - p->s.engines), t->engine);

    pthread_mutex_lock(&p->lock);
    if (good) {
        p->late_ready = p->s.devices = true;
        p->s.in_flight = p->s.in_flight_ahead;
        pthread_cond_broadcast(&p->work);
        if (p->s.plan->frame_input.jpeg != INPUT_LIBJPEG && !pipeline_start_decoders(p, t->engine))
            pipeline_give_up(p);
    } else if (p->s.devices) {
        pipeline_give_up(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (good)
        run_device(t);
    engine_close(t->engine);
    return NULL;
}

/* How many frames there will still be. Where nobody knows, as many as there were: then no more time is lost before a
 * device is opened than it could have saved. */
static double count_left(const cli_pipeline *p)
{
    const double listed = (double)(p->s.frames->count - p->taken);
    return !p->feeding ? listed : p->expected < 0 ? listed + (double)p->matched : listed + p->expected;
}

void pipeline_consider_device(cli_pipeline *p, const cli_job *job)
{
    for (size_t i = 0; i < p->s.plan->templates->count; i++)
        p->match_ms += job->pairs[i].result.times.total;
    p->matched++;
    if (!p->s.open_device || p->late_begun || p->stopped || p->matched < p->s.workers)
        return;
    const double each = p->match_ms / (double)p->matched;
    const double left = count_left(p) * each / (double)p->s.workers;
    if (left > p->s.worth_ms)
        p->late_begun = pipeline_start(p, &p->s.engines[p->s.engine_count], pipeline_open_and_match);
}
