/* SPDX-License-Identifier: MIT */
/* What the threads of a pipeline share: workers and the caller's, in pipeline.c, and those of devices. */
#ifndef TMATCH_CLI_PIPELINE_STATE_H
#define TMATCH_CLI_PIPELINE_STATE_H

#include <pthread.h>

#include "run/pipeline.h"

/* Jobs in a ring that has room for all. */
typedef struct job_queue {
    cli_job **ring;
    size_t first, count;
} job_queue;

typedef struct pipeline_thread {
    cli_pipeline *pipeline;
    cli_engine *engine; /* NULL for a worker where devices match */
    pthread_t thread;
} pipeline_thread;

struct cli_pipeline {
    pipeline_settings s;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;  /* for workers: a frame may be taken, or has been matched */
    pthread_cond_t read;  /* for devices: a frame has been read */
    pthread_cond_t coded; /* for decoders: a frame has been read that they decode */
    pthread_cond_t matched_all; /* for decoders: all that one of them has decoded has been matched */
    pthread_cond_t done;  /* for the caller: a frame has been finished */
    pthread_cond_t room;  /* for the feed: a frame has been taken */
    cli_job *jobs; /* frame i has jobs[i % window] */
    size_t window;
    size_t ready; /* how many of the jobs are initialised, from the first on */
    size_t taken, returned; /* how many frames, from the first on */
    size_t under_way;       /* frames that were taken and are not finished */
    size_t in_memory;
    uint64_t begun;  /* how many frames were taken, also those that were forgotten */
    size_t waiting;  /* jobs that wait for the results of the frame before theirs */
    job_queue to_match, to_write;
    job_queue to_decode; /* undecoded: for any device's decoders */
    job_queue decoded[PIPELINE_MOST_DEVICES]; /* for one device; a ring where it has decoders */
    bool stopped, interrupted;
    bool feeding; /* more frames may come: */
    double expected; /* so many; negative: nobody knows */
    bool feeder_runs;
    pthread_t feeder;
    bool broken;                 /* a device cannot be opened: nothing more is handed over */
    size_t frame_bytes;          /* what the largest frame so far takes */
    bool late_begun, late_ready; /* whether the device that the CPU asked for is opened, is open */
    bool decoder_named;           /* a device's decoder has said what it is */
    bool pinned_asked;            /* a device's thread has made them, or found no use for them */
    size_t matched;  /* or repeated */
    double match_ms; /* how long those took, all threads together */
    pipeline_thread *threads;
    size_t thread_count;
};

/* Makes the queues that every run has, with room for window frames; false if memory ran out. To be freed in any case. */
bool pipeline_make_queues(cli_pipeline *p);
void pipeline_free_queues(cli_pipeline *p);

/* The lock is held by the caller of all functions below. */

/* Queues of frames that have been read, or matched. pop returns NULL where there is none. */
void pipeline_push(job_queue *queue, size_t window, cli_job *job);
cli_job *pipeline_pop(job_queue *queue, size_t window);

/* Whether no more frames will be begun, and whether those that were begun are also done. */
bool pipeline_takes_no_more(const cli_pipeline *p);
bool pipeline_is_over(const cli_pipeline *p);

void pipeline_wake_all(cli_pipeline *p);
void pipeline_stop(cli_pipeline *p);

/* Hands a job that was read on to who matches it: this thread where it has an engine, or devices. Where nobody can, it is
 * finished. job may be NULL. */
void pipeline_place(cli_pipeline *p, const cli_engine *engine, cli_job *job);

/* Writes a job's pictures, with the lock given up meanwhile, and marks the job as finished. */
void pipeline_finish(cli_pipeline *p, cli_job *job);

/* After a job was matched, or given up: the memory that a decoder has for it may be used again. */
void pipeline_note_matched(cli_pipeline *p, cli_job *job);

/* A device that was asked for cannot be used: there are no results. */
void pipeline_give_up(cli_pipeline *p);

/* Starts one more thread; run's argument is its pipeline_thread. False if there is none to be had. */
bool pipeline_start(cli_pipeline *p, cli_engine *engine, void *(*run)(void *));

#endif
