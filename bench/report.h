/* SPDX-License-Identifier: MIT */
/* What the bench writes: a table on standard output, and JSON. */
#ifndef TMATCH_BENCH_REPORT_H
#define TMATCH_BENCH_REPORT_H

#include "bench.h"
#include "machine.h"
#include "modules.h"

typedef struct report {
    machine machine;
    missing missing[MOST_MISSING];
    int missing_count;
    char *command;
    const char *peers; /* a JSON file to put in, or NULL */
    bench_result *results;
    int count;
    bench_effort effort;
    uint64_t seed;
} report;

void report_header(const report *r);
void report_case(const bench_case *c);
void report_line(const bench_result *result);

/* False if memory ran out. */
bool report_add(report *r, const bench_result *result);

/* Replaces the file at once, so that an interrupted bench leaves whole JSON. The
 * fault is a message, NULL on success. */
const char *report_write(const report *r, const char *path);

#endif
