/* SPDX-License-Identifier: MIT */
/* What the bench writes: the machine and a line for each result on standard output,
 * and all of it as JSON. */
#ifndef TMATCH_BENCH_REPORT_H
#define TMATCH_BENCH_REPORT_H

#include "bench.h"
#include "json.h"
#include "machine.h"
#include "modules.h"

typedef struct bench_report {
    machine machine;
    missing missing[MOST_MISSING];
    int missing_count;
    const char *command; /* as it was called */
    const char *path;    /* of the JSON, or NULL */
    const char *peers;   /* a JSON file to put in, or NULL */
    uint64_t seed;
    json rows; /* the results, in memory */
    char *text;
    size_t size;
    int count;
} bench_report;

/* Describes the machine on standard output, and writes a report without results, so
 * that a file that cannot be written is known at once. False if it fails, which it says. */
bool report_open(bench_report *r);
void report_close(bench_report *r);

/* A result, whose fields are written between the two. The end replaces the file at
 * once, so that an interrupted bench leaves whole JSON, and with print writes the
 * result to standard output. False if it fails, which it says. */
json *report_row(bench_report *r, const char *suite);
bool report_row_end(bench_report *r, bool print);

/* Results of match and plan are printed as tables: the head, and a line. */
void report_case(const bench_case *c);
bool report_result(bench_report *r, const bench_result *result);

#endif
