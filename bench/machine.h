/* SPDX-License-Identifier: MIT */
/* Where and from what a measurement was made. */
#ifndef TMATCH_BENCH_MACHINE_H
#define TMATCH_BENCH_MACHINE_H

#include <stdbool.h>

#include "tmatch/tmatch.h"

enum { MOST_DEVICES = 17 };

typedef struct machine {
    char commit[64];
    bool dirty;
    char date[32]; /* UTC, ISO 8601 */
    char driver[64];
    char compiler[64];
    tm_device_info devices[MOST_DEVICES]; /* the CPU first */
    int device_count;
    char no_cuda[256]; /* why there is no GPU */
    double copy_rate;  /* device to device on cuda:0, bytes read and written a second; 0: not measured */
} machine;

void machine_describe(machine *m);

#endif
