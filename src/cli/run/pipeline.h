/* SPDX-License-Identifier: MIT */
/* The threads that frames pass through. On the CPU each worker reads a frame,
 * matches it with a matcher of its own and writes its pictures: no core waits for
 * another. With devices the workers read and write, and a thread for each device
 * matches. The caller's thread gets the finished jobs in the frames' order.
 *
 * Nothing polls, and everything is bounded: the frames in memory by in_flight, the
 * results that wait for an earlier frame by the window. */
#ifndef TMATCH_CLI_PIPELINE_H
#define TMATCH_CLI_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "run/engine.h"
#include "run/frames.h"
#include "run/job.h"
#include "run/pinned.h"

enum { PIPELINE_MOST_DEVICES = 64 };

typedef struct cli_pipeline cli_pipeline;

typedef struct pipeline_settings {
    const cli_plan *plan;
    cli_frames *frames;
    /* If not NULL: adds frames, in a thread of its own, until it is stopped. */
    void (*feed)(void *feed_data, cli_pipeline *pipeline);
    void (*stop_feed)(void *feed_data);
    void *feed_data;
    size_t held_bytes; /* how much of --max-memory is for frames that the feed has read */
    size_t workers;    /* threads that read */
    size_t in_flight; /* frames in memory at a time, at least 1 */
    size_t in_flight_ahead; /* the same with devices */
    size_t ahead_bytes; /* more frames may be read ahead of devices up to this; if 0, the
                           bounds above are firm */
    /* On the CPU one for each worker, open, and room for one more. Else one for each device,
     * as far as they are known, and room for PIPELINE_MOST_DEVICES: each is opened by
     * open_device, while frames are read already. */
    cli_engine *engines;
    size_t engine_count;
    bool devices;
    /* With devices: how many engines there will be. CUDA takes a tenth of a second to say, so the
     * first device's thread asks. */
    size_t (*find_devices)(void *device_data);
    /* On the CPU, if not NULL: a device that is opened, in a thread of its own, once
     * there is more than worth_ms of matching left. False: there is none. */
    bool (*open_device)(void *device_data, size_t i, cli_engine *engine);
    void *device_data;
    double worth_ms;
    pinned_buffers *pinned; /* frames are read into them once a device is open */
    size_t pinned_bytes;  /* what all buffers may take; 0: none are made */
    /* Called with each finished job. False: nobody wants more. */
    bool (*finished)(void *data, cli_job *job);
    void *data;
} pipeline_settings;

/* For feed. Takes over what the frame points to. Where that is its bytes, waits until few
 * frames wait to be taken. */
void pipeline_add(cli_pipeline *pipeline, cli_frame frame);

/* For feed: how many frames it will still add, as far as it can tell; negative: nobody knows. 0 before the first call. */
void pipeline_expect(cli_pipeline *pipeline, double frames);

/* Returns when all frames are done, or those that were begun when it was stopped.
 * False after a message: memory or threads ran out. */
bool pipeline_run(const pipeline_settings *settings, bool *interrupted);

#endif
