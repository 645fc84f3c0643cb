/* SPDX-License-Identifier: MIT */
/* A matcher, for the files behind the public API. */
#ifndef TMATCH_MATCH_MATCHER_H
#define TMATCH_MATCH_MATCHER_H

#include "lcc/coarse.h"
#include "lcc/pauses.h"
#include "match/cuda_loader.h"
#include "match/pool/pool.h"

enum { TM_MATCHER_DEVICES = 64 }; /* that one may have */

struct tm_matcher {
    tm_settings settings;
    char *costs;        /* the settings' own, or NULL */
    tm_rates cuda_rates[TM_MATCHER_DEVICES]; /* of CUDA devices by their indices */
    bool cpu_measured, cuda_measured; /* the costs have the CPU, or a CUDA device */
    tm_message message;
    tm_message warning; /* what went wrong in the last match and was made good */
    tm_device *cpu;     /* NULL until opened */
    tm_cuda_library library;
    tm_pool *pool;      /* NULL until opened */
    int given_up;       /* devices of the pool that did not answer in time */
    tm_message refusal; /* why AUTO has no CUDA device; "" while it has not looked for one */
    tm_job *jobs;       /* room for a call's jobs */
    size_t job_capacity;
    double cpu_ms;    /* that the CPU has matched for, so far */
    double missed_ms; /* that FFT on the CPU would have saved, had it been started */
    tm_pauses cut_pauses; /* of probes for certified searches: cut.h */
    tm_pauses pose_pauses; /* of certified searches in poses */
    tm_coarse coarse; /* for the likely places of a cut */

    const tm_on_device *on_device; /* of the running call's frame, where it is in device memory */

    /* What the running call, or the last one, did; tm_matcher_prepare clears it. */
    bool on_pool;      /* the devices of the pool matched */
    int64_t fft_bytes; /* that the FFT may use on the CPU; 0: no limit */
    bool certified;    /* a job was searched so */
    bool pyramid;      /* poses were searched by a pyramid */
    int64_t windows;   /* that the call's maps have */
    int64_t scored;    /* windows that were scored exactly, again where jobs ran again */
    const char *pose_fault; /* why poses are not searched by certified search; NULL: no reason */
    tm_times times;
    char device[160];
    const char *algorithm;
    char plan[512];
};

/* Records a failure on the handle, and returns its status. */
__attribute__((format(printf, 3, 4))) tm_status
tm_matcher_fail(tm_matcher *matcher, tm_status status, const char *format, ...);
/* The same in the words of tm_strerror. */
tm_status tm_matcher_fail_plain(tm_matcher *matcher, tm_status status);

/* Appends to the sentence about what was chosen. */
__attribute__((format(printf, 2, 3))) void tm_matcher_say(tm_matcher *matcher, const char *format,
                                                          ...);

/* The threads of the CPU that the settings allow. */
int tm_matcher_threads(const tm_matcher *matcher);

/* Does nothing where it is open. */
tm_status tm_matcher_open_cpu(tm_matcher *matcher);
/* The indices of the CUDA devices that the settings name, which there are; TM_MATCHER_DEVICES at most. */
tm_status tm_matcher_list_cuda(tm_matcher *matcher, int *indices, int *count);
/* Opens the devices that the settings name, none of which is open yet. */
tm_status tm_matcher_open_cuda(tm_matcher *matcher);
/* Opens them if they are not, for a frame that lies on one of them, or their memory. Error: INVALID where the settings
 * are of the CPU alone. */
tm_status tm_matcher_open_devices(tm_matcher *matcher);

/* Refuses a template of too many pixels. */
tm_status tm_template_pixels(tm_matcher *matcher, const tm_image *image);
/* Whether the template has nothing that the metric could compare. */
bool tm_template_is_flat(const tm_template *tmpl, tm_metric metric);

/* Begins a call: makes its jobs, count of them, for the matcher's metric and domain. maps may
 * be NULL. *jobs stays the matcher's, until the next call. */
tm_status tm_matcher_prepare(tm_matcher *matcher, const tm_image *frame,
                             const tm_template *const *tmpls, size_t count, const tm_map *maps,
                             tm_job **jobs);

/* Refuses a frame of other samples or channels than the template. */
tm_status tm_matcher_compare_kinds(tm_matcher *matcher, const tm_image *frame, tm_sample_type type,
                                   int channels);

/* Begins a call without jobs. */
tm_status tm_matcher_begin(tm_matcher *matcher, const tm_image *frame);
/* Makes the call's next jobs; *jobs stays the matcher's, until it makes others. */
tm_status tm_matcher_add_jobs(tm_matcher *matcher, const tm_image *frame,
                              const tm_template *const *tmpls, size_t count, tm_job **jobs);

/* Runs jobs of one frame. */
tm_status tm_matcher_run(tm_matcher *matcher, tm_job *jobs, size_t count);
/* Whether CUDA devices will run the jobs; they are opened for that. */
bool tm_matcher_uses_cuda(tm_matcher *matcher, const tm_job *jobs, size_t count);

/* Whether CUDA devices take work of so many milliseconds of the CPU over, on TM_DEVICE_AUTO; they are opened for that. */
bool tm_matcher_turns_to_cuda(tm_matcher *matcher, double ms);

/* Whether the settings let windows be left out. */
bool tm_matcher_wants_certified(const tm_matcher *matcher);

/* Whether the CPU would leave windows out of the job, which is for the best match, and of one for
 * more. *part becomes how much of the direct algorithm's time the quickest other way takes, at
 * most 1. */
bool tm_matcher_certifies(const tm_matcher *matcher, const tm_job *job, double *part);

/* Runs a slice of a job on the CPU, directly and exhaustively, in the same call. Its windows are not
 * counted. */
tm_status tm_matcher_run_slice(tm_matcher *matcher, tm_job *slice);

/* The plan for a job on the CPU. */
tm_plan tm_matcher_plan_cpu(const tm_matcher *matcher, const tm_job *job, tm_strategy strategy);
/* How long the quickest way without certified search takes. */
double tm_matcher_other_ms(const tm_matcher *matcher, const tm_estimate *estimate);

/* The jobs that the CPU matched together. */
typedef struct tm_together_note {
    bool *done;    /* of each of all jobs; NULL: none */
    tm_candidate *known; /* what was found of the others */
    tm_job *jobs;
    size_t all, used, count;
    int basis;     /* templates of the last family's basis */
    double scored; /* the share of their windows that was scored exactly */
} tm_together_note;

/* Runs those of the jobs together that are of many templates of one size, where that pays. *note is to be ended by
 * tm_matcher_say_together, which says what was done, also after a failure. */
tm_status tm_matcher_run_together(tm_matcher *matcher, tm_job *jobs, size_t count, tm_together_note *note);
void tm_matcher_say_together(tm_matcher *matcher, tm_together_note *note);

/* Runs more jobs in the same call: its times and its warning go on. */
tm_status tm_matcher_run_more(tm_matcher *matcher, tm_job *jobs, size_t count);

/* The best match of a job that has run, by its position in the frame. */
tm_peak tm_peak_of_job(const tm_job *job);

#endif
