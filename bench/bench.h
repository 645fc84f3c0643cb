/* SPDX-License-Identifier: MIT */
/* What the commands share: a case to measure, the problem drawn for it, and a result. */
#ifndef TMATCH_BENCH_BENCH_H
#define TMATCH_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tmatch/tmatch.h"

/* One row: a size and what is asked for. */
typedef struct bench_case {
    char suite[16];
    int64_t frame_width, frame_height, template_width, template_height;
    tm_metric metric;
    tm_domain domain;
    bool map;      /* the map is made, and on whole calls brought to the caller */
    int templates; /* of this size, all in one frame */
    int table;     /* of the thesis, 1 to 4, or 0 */
} bench_case;

typedef struct bench_cases {
    bench_case *items;
    int count;
} bench_cases;

/* "WxH" or "N", and "FRAME,TEMPLATE". False where it is none or larger than
 * tmatch takes. */
bool bench_parse_size(const char *text, int64_t *width, int64_t *height);
bool bench_parse_case(const char *text, bench_case *parsed);

/* False if memory ran out. */
bool bench_cases_add(bench_cases *cases, const bench_case *item);

/* Adds the suite's cases; those of thesis are read from tables. The fault is a
 * message, NULL on success. */
const char *bench_add_suite(bench_cases *cases, const char *suite, const char *tables);

/* Milliseconds over repeated runs; samples is 0 where nothing was measured. */
enum { BENCH_MAX_SAMPLES = 201 };
typedef struct bench_spread {
    int samples;
    double min, q1, median, q3, max;
} bench_spread;

/* Sorts ms. */
bench_spread bench_spread_of(double *ms, int samples);

/* A frame of noise, templates cut from it, and the exact answer. */
typedef struct problem {
    const bench_case *of;
    tm_image frame;
    tm_image *templates; /* of->templates */
    int64_t map_width, map_height;
    void *expected; /* dense map of templates[0] */
    tm_peak *best;  /* of->templates */
    void *got;      /* room for another map */
    char proof[128]; /* how expected was established */
} problem;

/* Draws the problem and solves it: by the oracle where that is cheap, otherwise
 * by the direct algorithm on all CPU threads, then compared with the oracle at
 * places all over the map. The fault is a message, NULL on success. */
const char *problem_make(problem *p, const bench_case *of, uint64_t seed);
void problem_free(problem *p);

/* The map in got, and the best match, against the exact ones, bit for bit. */
bool problem_map_equal(const problem *p);
bool problem_best_equal(const problem *p, int which, tm_peak best);

/* How far a float map is off. */
typedef struct bench_error {
    double relative;    /* sum |a - b| / sum |b| */
    double max_abs;
    int64_t not_finite; /* left out of both */
} bench_error;
bench_error problem_error(const problem *p, const float *map);

typedef enum bench_status { BENCH_OK, BENCH_SKIPPED, BENCH_FAILED, BENCH_WRONG } bench_status;

typedef struct bench_result {
    bench_case of;
    char algorithm[32]; /* "direct", "reference", a baseline's name */
    char device[16];    /* "cpu", "cuda:0" */
    int threads;        /* on the CPU */
    char plan[200];
    bench_status status;
    char note[256]; /* why it is not OK, or what it leaves out */
    char check[160];
    bool exact; /* compared bit for bit; else error holds */
    bench_error error;
    bench_spread kernel; /* resident on the device, one launch of many back to back */
    bench_spread cold;   /* the same, alone, after the L2 cache was overwritten */
    bench_spread call;   /* the whole tm_match, copies included */
    bench_spread to_device, from_device;
    int64_t device_memory; /* in use on the device after the match, by everybody */
} bench_result;

/* What is asked of a measurement. */
typedef struct bench_effort {
    int samples;
    double budget_ms; /* a measurement takes about this long at most */
    double thesis_cpu_taps;
    int threads; /* of device "cpu"; 0: all */
} bench_effort;

/* Checks, then times; with many all templates are in one call. An answer that is not
 * the exact one is WRONG. */
void bench_cpu(bench_result *result, problem *p, tm_algorithm algorithm, int threads,
               bool many, const bench_effort *effort);

/* A CUDA device, gpu.h. */
typedef struct bench_gpu bench_gpu;
void bench_cuda(bench_result *result, problem *p, bench_gpu *gpu, tm_algorithm algorithm,
                bool many, const bench_effort *effort);

#endif
