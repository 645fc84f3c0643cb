/* SPDX-License-Identifier: MIT */
/* What tmatch is compared with in the same process. Those on the GPU are modules,
 * opened at run time: a machine without cuFFT or NPP runs the bench all the same
 * and says what is missing. */
#ifndef TMATCH_BENCH_BASELINE_H
#define TMATCH_BENCH_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASELINE_VERSION 3
enum { BASELINE_SAMPLES = 201 };

typedef struct baseline_request {
    int64_t frame_width, frame_height, template_width, template_height;
    const uint8_t *frame, *tmpl; /* packed rows */
    bool lcc;                    /* else plain correlation */
    bool full;                   /* every overlap, else the template inside the frame */
    int device;
    int samples;
    double budget_ms;
    float *map; /* dense */
    /* Is shown the map before anything is timed; false if it is not to be timed. */
    bool (*accept)(void *context);
    void *context;
} baseline_request;

typedef struct baseline_reply {
    bool supported; /* false: it cannot do this case, note says why */
    char note[256]; /* the failure, if run returned false */
    double to_device, from_device; /* ms, pageable memory as the caller has it */
    double ms[BASELINE_SAMPLES];   /* resident, one run of many back to back */
    int taken;
} baseline_reply;

typedef struct baseline {
    const char *name;
    const char *what;
    bool (*run)(const baseline_request *request, baseline_reply *reply);
} baseline;

typedef struct baseline_module {
    int version;
    int count;
    const baseline *baselines;
    /* Overwrites the L2 cache; the rate of a device-to-device copy in bytes read
     * and written a second. NULL where a module does not have them. */
    bool (*flush)(int device);
    double (*copy_rate)(int device);
    int64_t (*memory_used)(int device); /* bytes on the device, by everybody */
    /* Copies pinned host memory to a device: the milliseconds until it is there, the
     * first call's allocation left out; below 0 where it fails. Threads may do that
     * at once, for different devices. */
    double (*upload)(int device, const void *from, size_t size);
} baseline_module;

/* Each module exports this name. */
#define BASELINE_ENTRY baseline_module_get
typedef const baseline_module *baseline_module_get_fn(void);

/* The thesis's program on one CPU core, as it was. */
bool thesis_cpu_run(const baseline_request *request, baseline_reply *reply);

#endif
