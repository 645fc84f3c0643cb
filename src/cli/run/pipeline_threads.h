/* SPDX-License-Identifier: MIT */
/* The threads of a pipeline, which read, match and write, and what they share with
 * the caller's side in pipeline.c. */
#ifndef TMATCH_CLI_PIPELINE_THREADS_H
#define TMATCH_CLI_PIPELINE_THREADS_H

#include <pthread.h>

#include "run/pipeline.h"

/* Jobs in a ring that has room for all. */
typedef struct queue {
    cli_job **ring;
    size_t first, count;
} queue;

typedef struct member {
    cli_pipeline *pipeline;
    cli_engine *engine; /* NULL for a worker where devices match */
    pthread_t thread;
} member;

struct cli_pipeline {
    pipeline_settings s;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;  /* for workers: a frame may be taken, or has been matched */
    pthread_cond_t read;  /* for devices: a frame has been read */
    pthread_cond_t done;  /* for the caller: a frame has been finished */
    pthread_cond_t room;  /* for the feed: a frame has been taken */
    cli_job *jobs; /* frame i has jobs[i % window] */
    size_t window;
    size_t ready; /* how many of the jobs are initialised, from the first on */
    size_t taken, returned; /* how many frames, from the first on */
    size_t under_way;       /* frames that were taken and are not finished */
    size_t in_memory;
    queue to_match, to_write;
    bool stopped, interrupted;
    bool feeding; /* more frames may come */
    bool feeder_runs;
    pthread_t feeder;
    bool broken;                 /* a device cannot be opened: nothing more is handed over */
    size_t frame_bytes;          /* what the largest frame so far takes */
    bool late_begun, late_ready; /* whether the device that the CPU asked for is opened, is open */
    bool slots_asked;            /* a device's thread has made slots, or found no use for them */
    size_t matched;
    double match_ms; /* how long those took, all threads together */
    member *members;
    size_t member_count;
};

/* The lock is held for all of these. */
bool pipeline_is_over(const cli_pipeline *p);
void pipeline_wake_all(cli_pipeline *p);
void pipeline_stop(cli_pipeline *p);

/* Starts one more thread, which runs one of the functions below. */
bool pipeline_start(cli_pipeline *p, cli_engine *engine, void *(*run)(void *));

/* What threads run; the argument is the member. A worker reads frames, writes pictures and, without
 * devices, matches. A device's thread opens it and matches; the first device's looks for the
 * others before. */
void *pipeline_work(void *member);
void *pipeline_open_and_match(void *member);
void *pipeline_find_and_match(void *member);

#endif
