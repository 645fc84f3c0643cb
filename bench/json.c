/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <inttypes.h>
#include <math.h>

static void put_string(json *j, const char *text)
{
    putc('"', j->out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(j->out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(j->out, "\\u%04x", *c);
        else
            putc(*c, j->out);
    }
    putc('"', j->out);
}

static void before_value(json *j, const char *key)
{
    if (j->comma)
        putc(',', j->out);
    j->comma = true;
    if (key) {
        put_string(j, key);
        putc(':', j->out);
    }
}

void json_begin(json *j, const char *key, char bracket)
{
    before_value(j, key);
    putc(bracket, j->out);
    j->comma = false;
}

void json_end(json *j, char bracket)
{
    putc(bracket, j->out);
    j->comma = true;
}

void json_text(json *j, const char *key, const char *text)
{
    before_value(j, key);
    put_string(j, text);
}

void json_number(json *j, const char *key, double value)
{
    before_value(j, key);
    if (isfinite(value))
        fprintf(j->out, "%.9g", value);
    else
        fputs("null", j->out);
}

void json_integer(json *j, const char *key, int64_t value)
{
    before_value(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void json_bool(json *j, const char *key, bool value)
{
    before_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_pair(json *j, const char *key, int64_t first, int64_t second)
{
    before_value(j, key);
    fprintf(j->out, "[%" PRId64 ",%" PRId64 "]", first, second);
}

void json_spread(json *j, const char *key, const bench_spread *s)
{
    if (!s->samples)
        return;
    before_value(j, key);
    fprintf(j->out,
            "{\"samples\":%d,\"min\":%.6g,\"q1\":%.6g,\"median\":%.6g,\"q3\":%.6g,\"max\":%.6g}",
            s->samples, s->min, s->q1, s->median, s->q3, s->max);
}

void json_sizes(json *j, const bench_case *c)
{
    json_pair(j, "frame", c->frame_width, c->frame_height);
    json_pair(j, "template", c->template_width, c->template_height);
}
