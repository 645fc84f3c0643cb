/* SPDX-License-Identifier: MIT */
/* Faults on demand, for tests: TMATCH_FAULT makes a device's calls fail. It lists
 * DEVICE:CALL:ERROR with commas between: from its opening on, call number CALL of
 * device DEVICE (counted from 1) fails with CUDA's error number ERROR. After any
 * error but 2, out of memory, so does every later call, as CUDA has it; "2+" makes
 * that last too, "1-" does not. Error -1 is no error: that call takes TMATCH_FAULT_HANG_MS, or for
 * ever, as in a device that hangs. TMATCH_CHUNK_BYTES makes chunks of so many bytes. Both
 * are read only in a build with fault injection (meson setup -Dfault_injection=true).
 *
 * TMATCH_ALWAYS_WIDE, which every build reads, has the kernel for wide templates taken
 * also where another one is faster. */
#ifndef TMATCH_LCC_CUDA_FAULT_H
#define TMATCH_LCC_CUDA_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TM_FAULT_MEMORY = 2, TM_FAULT_HANG = -1 };

typedef struct tm_fault {
    int64_t call; /* 0: none */
    int error;
    bool lasts;
    int64_t calls; /* so far */
} tm_fault;

static inline const char *tm_fault_variable(const char *name)
{
#ifdef TM_FAULT_INJECTION
    return getenv(name);
#else
    (void)name;
    return NULL;
#endif
}

static inline tm_fault tm_fault_for(int device)
{
    tm_fault fault = {0, 0, false, 0};
    const char *text = tm_fault_variable("TMATCH_FAULT");

    for (; text && *text; text = strchr(text, ',') ? strchr(text, ',') + 1 : "") {
        int which, error;
        long long call;
        char mark = '\0';
        const int read = sscanf(text, "%d:%lld:%d%c", &which, &call, &error, &mark);
        if (read < 3 || which != device)
            continue;
        fault.call = call;
        fault.error = error;
        fault.lasts = mark == '+' || (mark != '-' && error != TM_FAULT_MEMORY && error != TM_FAULT_HANG);
    }
    return fault;
}

static inline int64_t tm_fault_chunk_bytes(int64_t usual)
{
    const char *text = tm_fault_variable("TMATCH_CHUNK_BYTES");
    return text ? strtoll(text, NULL, 10) : usual;
}

/* No result changes by it, and so the tests of a usual build can compare both kernels. */
static inline bool tm_always_wide(void)
{
    return getenv("TMATCH_ALWAYS_WIDE") != NULL;
}

/* The error that the next call is to fail with, or 0. */
static inline int tm_fault_next(tm_fault *fault)
{
    const int64_t call = ++fault->calls;
    const bool hit = fault->call && (call == fault->call || (fault->lasts && call > fault->call));
    return hit ? fault->error : 0;
}

static inline void tm_fault_hang(void)
{
    const char *text = tm_fault_variable("TMATCH_FAULT_HANG_MS");
    const long ms = text ? strtol(text, NULL, 10) : 0;
    const struct timespec time = {ms ? ms / 1000 : 3600, ms % 1000 * 1000000};
    do
        nanosleep(&time, NULL);
    while (!ms);
}

#endif
