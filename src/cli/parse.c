/* SPDX-License-Identifier: MIT */
#include "parse.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "suggest.h"

bool parse_choice(const char *option, const char *text, const choice *choices, int *value)
{
    char names[128] = "", hint[64];
    for (const choice *c = choices; c->name; c++) {
        if (strcmp(text, c->name) == 0) {
            *value = c->value;
            return true;
        }
        const size_t used = strlen(names);
        const char *separator = c == choices ? "" : c[1].name ? ", " : " or ";
        snprintf(names + used, sizeof names - used, "%s%s", separator, c->name);
    }
    suggest_choice(choices, text, hint, sizeof hint);
    message_usage("--%s: '%s' is not any of %s%s", option, text, names, hint);
    return false;
}

bool parse_integer(const char *option, const char *text, int64_t low, int64_t high,
                   int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (strspn(text, "0123456789") == 0 || *end || errno || number < low || number > high) {
        message_usage("--%s: '%s' is not an integer from %lld to %lld", option, text,
                      (long long)low, (long long)high);
        return false;
    }
    *value = number;
    return true;
}

bool parse_bytes(const char *option, const char *text, int64_t *value)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (strspn(text, "0123456789") == 0 || errno || number < 1 || end[unit ? 1 : 0] ||
        number > INT64_MAX >> shift) {
        message_usage("--%s: '%s' is not a number of bytes, such as 512M or 4G", option, text);
        return false;
    }
    *value = (int64_t)number << shift;
    return true;
}

bool parse_number(const char *option, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value)) {
        message_usage("--%s: '%s' is not a number", option, text);
        return false;
    }
    return true;
}
