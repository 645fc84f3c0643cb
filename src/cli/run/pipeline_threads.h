/* SPDX-License-Identifier: MIT */
/* The threads of a pipeline, which read, match and write, and what they share with
 * the caller's side in pipeline.c. */
#ifndef TMATCH_CLI_BATCH_PIPELINE_THREADS_H
#define TMATCH_CLI_BATCH_PIPELINE_THREADS_H

#include <pthread.h>

#include "run/pipeline.h"

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
    pthread_cond_t room;  /* for the feed: a frame has been taken */
    place *places;
    size_t window;
    size_t ready; /* places whose jobs are there, from the first on */
    size_t taken, returned; /* frames, from the first on */
    size_t under_way;       /* taken and not finished */
    size_t in_memory;
    queue to_match, to_write;
    bool stopped, interrupted;
    bool feeding; /* more frames may come */
    bool feeder_runs;
    pthread_t feeder;
    bool broken;                 /* a device cannot be opened: nothing more is handed over */
    size_t frame_bytes;          /* of the largest frame so far */
    bool late_begun, late_ready; /* the device that the CPU asked for */
    bool slots_asked;            /* a device's thread has made them, or found no use */
    size_t matched;
    double match_ms; /* of those, all threads' together */
    member *members;
    size_t member_count;
};

/* The lock is held for all of these. */
bool pipeline_is_over(const cli_pipeline *p);
void pipeline_wake_all(cli_pipeline *p);
void pipeline_stop(cli_pipeline *p);

/* One more member, which runs one of the two below. */
bool pipeline_start(cli_pipeline *p, cli_engine *engine, void *(*run)(void *));

/* Of a worker; of the first device, which looks for the others; of a device, which it
 * opens. The argument is the member. */
void *pipeline_work(void *member);
void *pipeline_find_and_match(void *member);
void *pipeline_open_and_match(void *member);

#endif
