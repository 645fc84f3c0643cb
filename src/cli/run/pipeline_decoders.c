/* SPDX-License-Identifier: MIT */
#include "run/pipeline_decoders.h"

#include <stdlib.h>

#include "clock.h"
#include "message.h"
#include "within.h"
#include "run/decoder.h"

enum { MOST_FRAMES = 16 }; /* that are decoded together */

/* Those of more samples are decoded one after the other. */
#define MOST_BYTES ((size_t)64 << 20)

/* A call of nvJPEG, which may hang: then this is its thread's for good. */
typedef struct decode_call {
    io_nvjpeg *decoder;
    int device;
    bool good;
    io_error error;
    io_nvjpeg_frame frames[MOST_FRAMES];
    size_t count;
} decode_call;

static void open_decoder(void *data)
{
    decode_call *call = data;
    call->good = io_nvjpeg_open(&call->decoder, call->device, &call->error);
}

static void decode(void *data)
{
    decode_call *call = data;
    io_nvjpeg_decode(call->decoder, call->frames, call->count);
}

static bool run(const pipeline_thread *t, void (*step)(void *data), decode_call *call)
{
    const double timeout = t->engine->settings.device_timeout;
    if (within(timeout * 1e3, step, call))
        return true;
    message(NULL, "nvJPEG: cuda:%d did not answer within %g s", call->device, timeout);
    engine_note_driver_hangs();
    return false;
}

/* As many as are there, and may be decoded together. The lock is held. */
static size_t take(cli_pipeline *p, decode_call *call, cli_job **jobs)
{
    size_t bytes = 0;
    for (call->count = 0; call->count < MOST_FRAMES && p->to_decode.count > 0; call->count++) {
        const cli_job *next = p->to_decode.ring[p->to_decode.first];
        const io_nvjpeg_frame frame = input_for_device(&next->input);
        bytes += io_nvjpeg_bytes(&frame);
        if (call->count > 0 && bytes > MOST_BYTES)
            break;
        call->frames[call->count] = frame;
        jobs[call->count] = pipeline_pop(&p->to_decode, p->window);
    }
    return call->count;
}

/* What a thread that hangs may still read stays where it is. */
static void abandon(cli_pipeline *p, cli_job **jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        jobs[i]->input.source = (io_source){0};
        pipeline_finish(p, jobs[i]);
    }
    pipeline_give_up(p);
}

static void note(cli_pipeline *p, const decode_call *call, cli_job *const *jobs, double ms)
{
    for (size_t i = 0; i < call->count; i++)
        job_decoded(jobs[i], p->s.plan, &call->frames[i], call->device, io_nvjpeg_stream(call->decoder), ms);
}

/* Hands the frames to the device's thread, and waits until it has matched them. */
static void hand_over(cli_pipeline *p, job_queue *decoded, const decode_call *call, cli_job *const *jobs)
{
    size_t left = 0;
    for (size_t i = 0; i < call->count; i++) {
        cli_job *job = jobs[i];
        if (!job->loaded || p->broken) {
            pipeline_finish(p, job);
            continue;
        }
        left++;
        job->batch = &left;
        pipeline_push(decoded, p->window, job);
        pthread_cond_broadcast(&p->read);
    }
    while (left > 0)
        pthread_cond_wait(&p->matched_all, &p->lock);
}

/* The lock is held before and after. False: the decoder hangs. */
static bool serve(const pipeline_thread *t, decode_call *call)
{
    cli_pipeline *p = t->pipeline;
    cli_job *jobs[MOST_FRAMES];

    while (!pipeline_is_over(p)) {
        if (take(p, call, jobs) == 0) {
            pthread_cond_wait(&p->coded, &p->lock);
            continue;
        }
        const size_t count = call->count;
        pthread_mutex_unlock(&p->lock);
        const double start = clock_ms();
        const bool good = run(t, decode, call);
        if (good)
            note(p, call, jobs, clock_ms() - start);
        pthread_mutex_lock(&p->lock);
        if (!good) {
            abandon(p, jobs, count);
            return false;
        }
        hand_over(p, &p->decoded[t->engine - p->s.engines], call, jobs);
    }
    return true;
}

static void *work(void *argument)
{
    pipeline_thread *t = argument;
    cli_pipeline *p = t->pipeline;
    decode_call *call = calloc(1, sizeof *call);
    bool answers = true;

    if (call) {
        call->device = decoder_device(&t->engine->settings);
        answers = run(t, open_decoder, call);
    }
    const bool good = call && answers && call->good;
    pthread_mutex_lock(&p->lock);
    if (good && p->s.plan->options->verbose && !p->decoder_named)
        message_info(NULL, "JPEG is decoded by %s, on cuda:%d", io_nvjpeg_name(call->decoder), call->device);
    if (!good && !p->broken) {
        if (!call || answers)
            message(NULL, "%s", call ? call->error.reason : tm_strerror(TM_ERR_MEMORY));
        pipeline_give_up(p);
    }
    p->decoder_named |= good;
    if (good)
        answers = serve(t, call);
    pthread_mutex_unlock(&p->lock);
    if (answers && call) {
        if (!engine_driver_hangs())
            io_nvjpeg_close(&call->decoder);
        free(call);
    }
    return NULL;
}

bool pipeline_start_decoders(cli_pipeline *p, cli_engine *engine)
{
    job_queue *decoded = &p->decoded[engine - p->s.engines];
    int count = 0;

    decoded->ring = calloc(p->window, sizeof *decoded->ring);
    if (!decoded->ring) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    while (count < PIPELINE_DECODERS && pipeline_start(p, engine, work))
        count++;
    if (count == 0)
        message_no_thread();
    return count > 0;
}
