/* SPDX-License-Identifier: MIT */
/* Several CUDA devices for one call: each gets a slice of the rows, and has a thread on the host. */
#ifndef TMATCH_MATCH_POOL_H
#define TMATCH_MATCH_POOL_H

#include "lcc/pose_search.h"
#include "match/plan.h"

typedef struct tm_pool tm_pool;

typedef struct tm_pool_settings {
    const int *indices; /* of the devices; one may be in it more than once */
    int count;          /* 1 to 64 */
    int64_t memory;     /* bytes on each; 0: no limit */
    double least_ms;    /* the least work, about, that is worth a slice of its own */
    tm_algorithm algorithm; /* that calls will ask for, or AUTO */
    double timeout_ms;      /* of a device's driver for one call; 0: no limit */
    int *given_up;          /* counts devices that were given up; needed with a limit, and the
                               caller's, who keeps it as long as the pool */
    const tm_rates *rates;  /* by the devices' indices below 64, and as long as the pool; NULL: the usual ones */
} tm_pool_settings;

/* Waking a device, starting its copies and waiting for it takes a fifth of this. */
#define TM_POOL_LEAST_MS 0.3

/* Opens the devices, all at once. *pool is the caller's, freed by destroy; the
 * plugin stays loaded until then. Errors: MEMORY and those of the plugin's open,
 * with the message of the first device that failed. */
tm_status tm_pool_create(tm_pool **pool, const tm_backend *backend,
                         const tm_pool_settings *settings, tm_message *message);
void tm_pool_destroy(tm_pool **pool);

/* Whether another process opened the devices, and this one was forked from it: nothing
 * can be done with them here, and to destroy the pool leaves its memory as it is. */
bool tm_pool_is_inherited(const tm_pool *pool);

/* One call. All jobs have the same frame, domain and metric. */
typedef struct tm_pool_call {
    tm_job *jobs;
    size_t count;
    tm_algorithm algorithm; /* AUTO, DIRECT, FFT or CUFFT */
    tm_strategy strategy;
    /* Runs on the CPU what no device could. */
    tm_status (*rescue)(void *context, tm_job *jobs, size_t count, tm_message *message);
    void *context;
    bool continues; /* the reports add up with those of the call before */
    /* Written: the longest that any device took for each step, or why it failed. */
    tm_times times;
    tm_message message;
    /* Written: how the first device that got a slice matched the last job. */
    tm_plan plan;
    bool certified; /* Written: any job was, anywhere. */
    int64_t scored; /* Written: windows that were scored exactly. */
    /* Written: devices that failed, where others did their rows; or "". */
    tm_message warning;
} tm_pool_call;

/* Writes each job's best, map and peaks. A frame in the memory of a device is matched by that one
 * alone, whose failure is the call's. Else, a device that runs out of memory tries fewer rows
 * at a time, and later more; one that fails is closed, its rows go to the others, and it
 * is opened again for a later call. One that does not answer in time is given up, with its thread
 * and the memory that this may still use, and never opened again.
 * Errors: MEMORY, INVALID where FFT or CUFFT is asked for and cannot run, and those of
 * rescue. */
tm_status tm_pool_match(tm_pool *pool, tm_pool_call *call);

/* Copies a picture from the memory of one of the devices: see tm_backend's fetch. INVALID also where
 * it is none of the pool's. */
tm_status tm_pool_fetch(tm_pool *pool, const tm_image *image, const tm_on_device *place, uint8_t *samples,
                        uint8_t *mask, tm_message *message);

/* Memory of the device of that index. Once a device was given up none is freed, as for pinned memory.
 * Errors: INVALID, DEVICE, DEVICE_MEMORY. */
tm_status tm_pool_device_alloc(tm_pool *pool, int index, size_t size, void **memory, tm_message *message);
void tm_pool_device_free(tm_pool *pool, int index, void *memory);

/* tm_backend's read_start, read_bytes and read_free, of the device of that index. Once a device was given up, what is read is not
 * freed. Errors: theirs, and DEVICE in a process that was forked since. */
tm_status tm_pool_read_start(tm_pool *pool, int index, tm_reader **reader, void *stream, const void *memory, size_t most,
                             size_t size, tm_message *message);
tm_status tm_pool_read_bytes(tm_pool *pool, tm_reader *reader, bool wait, const void **bytes, tm_message *message);
void tm_pool_read_free(tm_pool *pool, tm_reader *reader);

/* Why the pool makes no certified search in poses, or helps the CPU with none, a clause; NULL: it does. */
const char *tm_pool_poses_fault(const tm_pool *pool, bool helps);

/* Its first device's traits; of none, zeros. */
tm_device_traits tm_pool_poses_traits(const tm_pool *pool);

/* Makes one, as tm_backend's match_poses. After an error the device's next match fails too, and is made good, or
 * finds more memory. */
tm_status tm_pool_match_poses(tm_pool *pool, tm_pose_search *search, tm_work *work, tm_message *message);

/* Whether the pool's devices look at large classes; and lets the first one do so, as tm_backend's functions. */
bool tm_pool_looks_at_large(const tm_pool *pool);
tm_status tm_pool_look_at_large(tm_pool *pool, const struct tm_large_look *look, tm_message *message);
tm_status tm_pool_list_large(tm_pool *pool, struct tm_large_list *list, tm_message *message);
tm_status tm_pool_sum_large(tm_pool *pool, const struct tm_large_batch *batch, tm_message *message);

/* Pinned memory; *memory stays NULL where no device is left. Once one was given up, none is made, and
 * none given back, as the driver would wait for that one. Error: MEMORY. */
tm_status tm_pool_host_alloc(tm_pool *pool, size_t size, void **memory, tm_message *message);
void tm_pool_host_free(const tm_pool *pool, void *memory);

/* See tm_matcher_reports. */
size_t tm_pool_reports(const tm_pool *pool, tm_device_report *reports, size_t capacity);

/* The devices as "cuda:0,2" says them. */
void tm_pool_name(const tm_pool *pool, char *name, size_t size);

#endif
