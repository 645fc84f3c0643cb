/* SPDX-License-Identifier: MIT */
#include "run/pipeline_state.h"

#include <stdlib.h>

#include "run/pipeline_devices.h"
#include "run/pipeline_repeats.h"

bool pipeline_make_queues(cli_pipeline *p)
{
    p->to_match.ring = calloc(p->window, sizeof *p->to_match.ring);
    p->to_write.ring = calloc(p->window, sizeof *p->to_write.ring);
    p->to_decode.ring = calloc(p->window, sizeof *p->to_decode.ring);
    if (p->s.plan->frame_input.stays) /* what movies are decoded on is the first device */
        p->decoded->ring = calloc(p->window, sizeof *p->decoded->ring);
    return p->to_match.ring && p->to_write.ring && p->to_decode.ring &&
           (p->decoded->ring || !p->s.plan->frame_input.stays);
}

void pipeline_free_queues(cli_pipeline *p)
{
    free(p->to_match.ring);
    free(p->to_write.ring);
    free(p->to_decode.ring);
    for (int i = 0; i < PIPELINE_MOST_DEVICES; i++)
        free(p->decoded[i].ring);
}

void pipeline_push(job_queue *q, size_t window, cli_job *job)
{
    q->ring[(q->first + q->count++) % window] = job;
}

cli_job *pipeline_pop(job_queue *q, size_t window)
{
    if (q->count == 0)
        return NULL;
    cli_job *job = q->ring[q->first];
    q->first = (q->first + 1) % window;
    q->count--;
    return job;
}

bool pipeline_takes_no_more(const cli_pipeline *p)
{
    return p->stopped || (p->taken == p->s.frames->count && !p->feeding);
}

bool pipeline_is_over(const cli_pipeline *p)
{
    return pipeline_takes_no_more(p) && p->under_way == 0;
}

void pipeline_wake_all(cli_pipeline *p)
{
    pthread_cond_broadcast(&p->work);
    pthread_cond_broadcast(&p->read);
    pthread_cond_broadcast(&p->coded);
    pthread_cond_broadcast(&p->matched_all);
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

void pipeline_finish(cli_pipeline *p, cli_job *job)
{
    pthread_mutex_unlock(&p->lock);
    job_write(job, p->s.plan);
    pthread_mutex_lock(&p->lock);
    job->finished = true;
    p->under_way--;
    p->in_memory -= !job_holds_pictures(job);
    if (pipeline_is_over(p))
        pipeline_wake_all(p);
    else if (p->s.devices)
        pthread_cond_signal(&p->work); /* a frame has left room in memory */
    if (job == &p->jobs[p->returned % p->window])
        pthread_cond_signal(&p->done);
}

void pipeline_note_matched(cli_pipeline *p, cli_job *job)
{
    if (job->batch && --*job->batch == 0)
        pthread_cond_broadcast(&p->matched_all);
    job->batch = NULL;
}

static void match(cli_pipeline *p, const cli_engine *engine, cli_job *job)
{
    pthread_mutex_unlock(&p->lock);
    job_match(job, p->s.plan, engine);
    pthread_mutex_lock(&p->lock);
    if (job->loaded)
        pipeline_consider_device(p, job);
}

/* To those who decode it, or match it. */
static void hand_on(cli_pipeline *p, cli_job *job)
{
    if (job->input.place.size) {
        pipeline_push(p->decoded, p->window, job);
        pthread_cond_broadcast(&p->read);
    } else if (job->input.undecoded) {
        pipeline_push(&p->to_decode, p->window, job);
        pthread_cond_signal(&p->coded);
    } else {
        pipeline_push(&p->to_match, p->window, job);
        pthread_cond_signal(&p->read);
    }
}

void pipeline_place(cli_pipeline *p, const cli_engine *engine, cli_job *job)
{
    while (job) {
        if (!engine && job->loaded && !p->broken) {
            hand_on(p, job);
            return;
        }
        if (engine && job->loaded)
            match(p, engine, job);
        cli_job *next = pipeline_settle(p, job);
        pipeline_finish(p, job);
        job = next;
    }
}

void pipeline_expect(cli_pipeline *p, double frames)
{
    pthread_mutex_lock(&p->lock);
    p->expected = frames;
    pthread_mutex_unlock(&p->lock);
}

void pipeline_give_up(cli_pipeline *p)
{
    cli_job *job;
    p->broken = true;
    while ((job = pipeline_pop(&p->to_match, p->window)) || (job = pipeline_pop(&p->to_decode, p->window)) ||
           (job = pipeline_pop(p->decoded, p->window))) {
        pipeline_note_matched(p, job);
        pipeline_place(p, NULL, job);
    }
    pipeline_stop(p);
}

bool pipeline_start(cli_pipeline *p, cli_engine *engine, void *(*run)(void *))
{
    pipeline_thread *t = &p->threads[p->thread_count];
    *t = (pipeline_thread){.pipeline = p, .engine = engine};
    if (pthread_create(&t->thread, NULL, run, t) != 0)
        return false;
    p->thread_count++;
    return true;
}
