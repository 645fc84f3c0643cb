/* SPDX-License-Identifier: MIT */
/* Writes JSON, with the commas between values. A key is NULL inside an array. */
#ifndef TMATCH_BENCH_JSON_H
#define TMATCH_BENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench.h"

typedef struct json {
    FILE *out;
    bool comma; /* another value stands before the next one */
} json;

/* bracket: '{' or '[', and '}' or ']'. */
void json_begin(json *j, const char *key, char bracket);
void json_end(json *j, char bracket);

void json_text(json *j, const char *key, const char *text);
void json_number(json *j, const char *key, double value); /* null if it is not finite */
void json_integer(json *j, const char *key, int64_t value);
void json_bool(json *j, const char *key, bool value);
void json_pair(json *j, const char *key, int64_t first, int64_t second);
void json_spread(json *j, const char *key, const bench_spread *spread); /* nothing without samples */

/* Frame and template of a case. */
void json_sizes(json *j, const bench_case *c);

#endif
