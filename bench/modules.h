/* SPDX-License-Identifier: MIT */
/* The baselines: those of this program and those of the modules beside it. */
#ifndef TMATCH_BENCH_MODULES_H
#define TMATCH_BENCH_MODULES_H

#include "baseline.h"
#include "bench.h"

/* Something that could not be measured here, and why. */
typedef struct missing {
    char name[32];
    char why[200];
} missing;
enum { MOST_MISSING = 8 };

/* Opens the GPU modules from the program's directory. */
void modules_open(void);
void modules_close(void);

/* Lists what could not be opened; returns how many. */
int modules_missing(missing *list);

/* Calls see with each baseline that runs on a GPU, or on the CPU. */
typedef void module_visit(const baseline *baseline, void *context);
void modules_visit(bool gpu, module_visit *see, void *context);

/* Runs a baseline on a problem. Its errors are measured before its time; one that
 * is far off is WRONG and not timed. */
void bench_baseline(bench_result *result, problem *p, const baseline *baseline, int device,
                    const bench_effort *effort);

/* What baseline_module has. Where no module can: false, 0, 0 and -1. */
bool modules_flush(int device);
int64_t modules_memory_used(int device);
double modules_copy_rate(int device);
double modules_upload(int device, const void *from, size_t size);

#endif
