/* SPDX-License-Identifier: MIT */
/* Endings of files' names. */
#ifndef TMATCH_ENDING_H
#define TMATCH_ENDING_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Whether a file's name ends so, ".png" say, in capitals or not, and has something before it. */
static inline bool has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcasecmp(name + length - tail, ending) == 0;
}

#endif
