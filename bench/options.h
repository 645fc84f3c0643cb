/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_BENCH_OPTIONS_H
#define TMATCH_BENCH_OPTIONS_H

#include "bench.h"

typedef struct bench_options {
    bench_cases cases;
    bench_effort effort;
    const char *devices;    /* NULL: one CPU thread, all of them, every GPU */
    const char *algorithms; /* NULL: all */
    const char *json, *peers, *tables;
    uint64_t seed;
} bench_options;

/* False after a message; *help is set where there is nothing more to do. */
bool bench_options_parse(bench_options *options, int argc, char **argv, bool *help);

/* Whether a comma-separated list, NULL for all, contains a name. */
bool bench_listed(const char *list, const char *name);

#endif
