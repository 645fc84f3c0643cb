/* SPDX-License-Identifier: MIT */
#include "run/pipeline_threads.h"

static void push(queue *q, size_t window, cli_job *job)
{
    q->ring[(q->first + q->count++) % window] = job;
}

static cli_job *pop(queue *q, size_t window)
{
    if (q->count == 0)
        return NULL;
    cli_job *job = q->ring[q->first];
    q->first = (q->first + 1) % window;
    q->count--;
    return job;
}

static bool exhausted(const cli_pipeline *p)
{
    return p->stopped || (p->taken == p->s.frames->count && !p->feeding);
}

bool pipeline_is_over(const cli_pipeline *p)
{
    return exhausted(p) && p->under_way == 0;
}

void pipeline_wake_all(cli_pipeline *p)
{
    pthread_cond_broadcast(&p->work);
    pthread_cond_broadcast(&p->read);
    pthread_cond_broadcast(&p->done);
    pthread_cond_broadcast(&p->room);
}

void pipeline_stop(cli_pipeline *p)
{
    if (p->feeding && !p->stopped)
        p->s.stop_feed(p->s.feed_data);
    p->stopped = true;
    pipeline_wake_all(p);
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
    return !p->stopped && p->taken < p->s.frames->count &&
           (p->taken < p->ready || p->ready == p->window) &&
           p->taken - p->returned < p->window && has_room(p);
}

static cli_job *take(cli_pipeline *p)
{
    cli_job *job = &p->jobs[p->taken % p->window];
    job->frame = p->s.frames->list[p->taken++];
    p->under_way++;
    p->in_memory++;
    pthread_cond_signal(&p->room);
    return job;
}

/* Writes what there is to write and hands the job over. The lock is held before and
 * after. */
static void finish(cli_pipeline *p, cli_job *job)
{
    pthread_mutex_unlock(&p->lock);
    job_write(job, p->s.plan);
    pthread_mutex_lock(&p->lock);
    job->finished = true;
    p->under_way--;
    p->in_memory--;
    if (pipeline_is_over(p))
        pipeline_wake_all(p);
    else if (p->s.devices)
        pthread_cond_signal(&p->work); /* a frame has left room in memory */
    if (job == &p->jobs[p->returned % p->window])
        pthread_cond_signal(&p->done);
}

bool pipeline_start(cli_pipeline *p, cli_engine *engine, void *(*run)(void *))
{
    member *m = &p->members[p->member_count];
    *m = (member){.pipeline = p, .engine = engine};
    if (pthread_create(&m->thread, NULL, run, m) != 0)
        return false;
    p->member_count++;
    return true;
}

/* Asks for a device where more matching is left than its opening takes. Called after a frame was
 * matched on the CPU. */
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
        p->late_begun = pipeline_start(p, &p->s.engines[p->s.engine_count], pipeline_open_and_match);
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
    if (engine)
        job_match(job, p->s.plan, engine);
    pthread_mutex_lock(&p->lock);
    note_size(p, job);
    if (engine && job->loaded)
        consider_device(p, job);
    if (engine || !job->loaded || p->broken) {
        finish(p, job);
    } else {
        push(&p->to_match, p->window, job);
        pthread_cond_signal(&p->read);
    }
}

void *pipeline_work(void *argument)
{
    member *m = argument;
    cli_pipeline *p = m->pipeline;
    cli_job *job;

    pthread_mutex_lock(&p->lock);
    while (!pipeline_is_over(p)) {
        if ((job = pop(&p->to_write, p->window)))
            finish(p, job);
        else if (may_take(p))
            begin(p, m->engine);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The first device that has a frame to match makes as many slots as frames are in memory when
 * none has to wait; but only if each will be used a few times. The lock is held before and
 * after. */
static bool make_slots(cli_pipeline *p, const member *m)
{
    const size_t count = p->s.in_flight, left = p->s.frames->count - p->taken;

    p->slots_asked = true;
    if (!p->feeding && left < 4 * count)
        return false;
    pthread_mutex_unlock(&p->lock);
    const bool made = slots_make(p->s.slots, m->engine->matcher, count, p->s.slot_bytes);
    pthread_mutex_lock(&p->lock);
    return made;
}

/* Freeing one takes a third of a millisecond: it is done while the last frames are still read. */
static void free_slots(cli_pipeline *p, const member *m)
{
    pthread_mutex_unlock(&p->lock);
    slots_free(p->s.slots, m->engine->matcher);
    pthread_mutex_lock(&p->lock);
}

static void *match(void *argument)
{
    member *m = argument;
    cli_pipeline *p = m->pipeline;
    bool made_slots = false;
    cli_job *job;

    pthread_mutex_lock(&p->lock);
    while (!pipeline_is_over(p)) {
        if (!(job = pop(&p->to_match, p->window))) {
            pthread_cond_wait(&p->read, &p->lock);
            continue;
        }
        if (!p->slots_asked)
            made_slots = make_slots(p, m);
        pthread_mutex_unlock(&p->lock);
        job_match(job, p->s.plan, m->engine);
        job_release(job, p->s.plan);
        pthread_mutex_lock(&p->lock);
        if (made_slots && exhausted(p))
            free_slots(p, m);
        push(&p->to_write, p->window, job);
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    if (made_slots)
        slots_free(p->s.slots, m->engine->matcher);
    return NULL;
}

/* A device that was asked for cannot be opened: there are no results. */
static void give_up(cli_pipeline *p)
{
    cli_job *job;
    p->broken = true;
    while ((job = pop(&p->to_match, p->window)))
        finish(p, job);
    pipeline_stop(p);
}

void *pipeline_find_and_match(void *argument)
{
    member *m = argument;
    cli_pipeline *p = m->pipeline;
    const size_t count = p->s.find_devices(p->s.device_data);

    pthread_mutex_lock(&p->lock);
    if (p->s.ahead_bytes && count > p->s.engine_count)
        p->s.in_flight = p->s.in_flight_ahead += 2 * (count - p->s.engine_count);
    for (size_t i = 1; i < count && !pipeline_is_over(p); i++)
        if (!pipeline_start(p, &p->s.engines[i], pipeline_open_and_match))
            break;
    pthread_mutex_unlock(&p->lock);
    return pipeline_open_and_match(m);
}

/* Once the device is open, workers read ahead of it. */
void *pipeline_open_and_match(void *argument)
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
    engine_close(m->engine);
    return NULL;
}
