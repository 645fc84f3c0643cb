/* SPDX-License-Identifier: MIT */
/* Option arguments; option is its name without the dashes. Each prints the usage error that it
 * returns false for. */
#ifndef TMATCH_CLI_PARSE_H
#define TMATCH_CLI_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "option_table.h"

bool parse_choice(const char *option, const char *text, const choice *choices, int *value);
bool parse_integer(const char *option, const char *text, int64_t low, int64_t high,
                   int64_t *value);
/* "512M": bytes, or with K, M, G, T so many times 1024, 1024^2, ...; at least 1. */
bool parse_bytes(const char *option, const char *text, int64_t *value);
bool parse_number(const char *option, const char *text, double *value);

#endif
