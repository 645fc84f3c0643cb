/* SPDX-License-Identifier: MIT */
/* What the files behind the public API share of a matcher. */
#ifndef TMATCH_MATCH_MATCHER_H
#define TMATCH_MATCH_MATCHER_H

#include "match/cuda_loader.h"
#include "match/pool/pool.h"

struct tm_matcher {
    tm_settings settings;
    tm_message message;
    tm_message warning; /* of the last match */
    tm_device *cpu;     /* NULL until opened */
    tm_cuda_library library;
    tm_pool *pool;      /* NULL until opened */
    bool on_pool;       /* the last match, so far */
    bool pinned_bands;  /* its memory */
    tm_message refusal; /* why AUTO has no device; "" while it has not looked */
    tm_job *jobs;       /* room that calls prepare theirs in */
    size_t job_capacity;
    double cpu_ms;    /* spent so far */
    double missed_ms; /* what FFT would have saved, had it been started */

    /* Of the running call, or the last; tm_matcher_prepare begins them anew. */
    int64_t fft_bytes; /* that the FFT may use on the CPU; 0: no limit */
    tm_times times;
    char device[160];
    const char *algorithm;
    char plan[512];
};

/* Records a failure on the handle, and returns its status. */
__attribute__((format(printf, 3, 4))) tm_status
tm_matcher_fail(tm_matcher *matcher, tm_status status, const char *format, ...);
/* In the status's own words. */
tm_status tm_matcher_fail_plain(tm_matcher *matcher, tm_status status);

/* Appends to the sentence about what was chosen. */
__attribute__((format(printf, 2, 3))) void tm_matcher_say(tm_matcher *matcher, const char *format,
                                                          ...);

/* The CPU's, by the settings. */
int tm_matcher_threads(const tm_matcher *matcher);

/* Does nothing where it is open. */
tm_status tm_matcher_open_cpu(tm_matcher *matcher);
/* Opens the devices of the settings, which are not open. */
tm_status tm_matcher_open_cuda(tm_matcher *matcher);

/* Begins a call: makes its jobs, count of them, for the matcher's metric and domain. maps may
 * be NULL. *jobs stays the matcher's, until the next call. */
tm_status tm_matcher_prepare(tm_matcher *matcher, const tm_image *frame,
                             const tm_template *const *tmpls, size_t count, const tm_map *maps,
                             tm_job **jobs);

/* Runs jobs of one frame. */
tm_status tm_matcher_run(tm_matcher *matcher, tm_job *jobs, size_t count);
/* Runs more jobs in the same call: its times and its warning go on. */
tm_status tm_matcher_run_more(tm_matcher *matcher, tm_job *jobs, size_t count);

/* A finished job's best match, in the frame. */
tm_peak tm_peak_of_job(const tm_job *job);

#endif
