/* SPDX-License-Identifier: MIT */
/* tmatch-bench's commands and the options that they share. */
#ifndef TMATCH_BENCH_OPTIONS_H
#define TMATCH_BENCH_OPTIONS_H

#include "bench.h"
#include "report.h"

enum { MOST_LISTED = 24 };

/* One of --devices. */
typedef struct bench_device {
    tm_device_kind kind; /* CPU or CUDA */
    int index;           /* CUDA */
    int threads;         /* CPU; 0: all */
} bench_device;

typedef struct bench_options {
    bench_cases cases;
    char **words; /* operands of a command that takes no sizes */
    int word_count;
    bench_device devices[MOST_LISTED];
    int device_count;
    const char *algorithms; /* the list, or NULL for all */
    bench_effort effort;
    bool map, pageable, copies;
    int gpus;
    const char *format; /* or NULL for all */
    double limit_ms;
    uint64_t seed;
    const char *json, *peers, *tables, *costs;
} bench_options;

typedef enum bench_option {
    OPTION_SUITE, OPTION_DEVICES, OPTION_ALGORITHMS, OPTION_ALGORITHM, OPTION_METRIC,
    OPTION_DOMAIN, OPTION_BEST, OPTION_TEMPLATES, OPTION_SAMPLES, OPTION_BUDGET,
    OPTION_THESIS_LIMIT, OPTION_THREADS, OPTION_SEED, OPTION_FORMAT, OPTION_MAP, OPTION_PAGEABLE,
    OPTION_GPUS, OPTION_LIMIT, OPTION_COPIES, OPTION_JSON, OPTION_PEERS, OPTION_TABLES, OPTION_COSTS,
    OPTION_COUNT
} bench_option;

typedef struct bench_command {
    const char *name;
    const char *operands; /* as its usage has them; NULL: none */
    const char *summary;  /* a line for the list of commands */
    const char *details;  /* further lines for its own help */
    const char *sizes;    /* where no size is given: suites and sizes, by spaces; NULL: it takes no sizes */
    const char *devices;  /* where --devices is not given, or NULL */
    int samples;          /* where --samples is not given */
    bool measures;        /* it writes a report */
    uint32_t options;     /* bits 1 << bench_option */
    bool (*run)(bench_options *options, bench_report *report); /* false: an error, which was said */
} bench_command;

/* Writes why a command failed to standard error; returns false. */
bool bench_fail(const char *what, const char *why);

/* Reads argv, whose first element is the command's name. *help: --help was answered. */
bool bench_options_parse(bench_options *options, const bench_command *command, int argc,
                         char **argv, bool *help);
void bench_options_free(bench_options *options);

/* Whether name stands in the comma-separated list; NULL has all. */
bool bench_listed(const char *list, const char *name);

/* "cpu", "cuda:0" */
typedef struct bench_name {
    char text[16];
} bench_name;
bench_name bench_device_name(const bench_device *device);

/* A matcher's settings for it. */
tm_settings bench_settings(const bench_device *device, tm_algorithm algorithm);

/* The only algorithm of --algorithm, AUTO where it was not given. */
tm_algorithm bench_algorithm(const bench_options *options);

bool bench_match(bench_options *options, bench_report *report);
bool bench_plan(bench_options *options, bench_report *report);
bool bench_formats(bench_options *options, bench_report *report);
bool bench_floats(bench_options *options, bench_report *report);
bool bench_peaks(bench_options *options, bench_report *report);
bool bench_devices(bench_options *options, bench_report *report);
bool bench_costs(bench_options *options, bench_report *report);
bool bench_start(bench_options *options, bench_report *report);
#if BENCH_HAVE_PICTURES
bool bench_batch(bench_options *options, bench_report *report);
bool bench_frame(bench_options *options, bench_report *report);
bool bench_certified(bench_options *options, bench_report *report);
#endif

#endif
