/* SPDX-License-Identifier: MIT */
/* Faults on demand, for tests: TMATCH_FAULT makes a device's calls fail. It lists
 * DEVICE:CALL:ERROR with commas between: from its opening on, call number CALL of
 * device DEVICE (counted from 1) fails with CUDA's error number ERROR. After any
 * error but 2, out of memory, so does every later call, as CUDA has it; "2+" makes
 * that last too, "1-" does not. TMATCH_CHUNK_BYTES makes chunks of so many bytes. The
 * CUDA backend looks at either only where it is built with fault injection.
 * TMATCH_ALWAYS_WIDE has it take the kernel for wide templates also where another one
 * is faster. */
#ifndef TMATCH_LCC_CUDA_FAULT_H
#define TMATCH_LCC_CUDA_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TM_FAULT_MEMORY = 2 };

typedef struct tm_fault {
    int64_t call; /* 0: none */
    int error;
    bool lasts;
    int64_t calls; /* so far */
} tm_fault;

static inline tm_fault tm_fault_for(int device)
{
    tm_fault fault = {0, 0, false, 0};
    const char *text = getenv("TMATCH_FAULT");

    for (; text && *text; text = strchr(text, ',') ? strchr(text, ',') + 1 : "") {
        int which, error;
        long long call;
        char mark = '\0';
        const int read = sscanf(text, "%d:%lld:%d%c", &which, &call, &error, &mark);
        if (read < 3 || which != device)
            continue;
        fault.call = call;
        fault.error = error;
        fault.lasts = mark == '+' || (mark != '-' && error != TM_FAULT_MEMORY);
    }
    return fault;
}

static inline int64_t tm_fault_chunk_bytes(int64_t usual)
{
#ifdef TM_FAULT_INJECTION
    const char *text = getenv("TMATCH_CHUNK_BYTES");
    if (text)
        return strtoll(text, NULL, 10);
#endif
    return usual;
}

/* Any build looks at this: it changes what takes how long, and no result. */
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

#endif
