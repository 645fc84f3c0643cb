/* SPDX-License-Identifier: MIT */
#include "run/log_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/log_line.h"

/* Is printed as "-0.000", as which it was read. */
#define NEGATIVE_ZERO (-1e-9)

/* Writes the character as UTF-8; what stands for a byte that is none, U+DC80 to U+DCFF, as that byte. */
static char *put_character(char *to, unsigned code)
{
    if (code < 0x80 || (code >= 0xdc80 && code <= 0xdcff)) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

static int short_escape(int letter)
{
    switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter; /* a quote or a backslash */
    }
}

char *log_read_string(const char *json, const char **end)
{
    char *string = *json == '"' ? malloc(strlen(json)) : NULL, *to = string;
    const char *s = json + 1;
    unsigned code;

    if (!string)
        return NULL;
    while (*s && *s != '"') {
        if (*s != '\\') {
            *to++ = *s++;
        } else if (s[1] == 'u' && strspn(s + 2, "0123456789abcdef") >= 4) {
            sscanf(s + 2, "%4x", &code);
            to = put_character(to, code);
            s += 6;
        } else {
            *to++ = (char)short_escape(s[1]);
            s += s[1] ? 2 : 1;
        }
    }
    *to = '\0';
    if (end)
        *end = s + (*s != '\0');
    return string;
}

char **log_read_strings(const char *json)
{
    size_t count = 0, capacity = 1;
    for (const char *s = json; (s = strchr(s, '"')); s++)
        capacity++;
    char **strings = calloc(capacity, sizeof *strings);

    while (strings && *json && *json != ']' && json[1] == '"') {
        strings[count] = log_read_string(json + 1, &json);
        if (!strings[count++]) {
            log_read_free_strings(strings);
            return NULL;
        }
    }
    return strings;
}

void log_read_free_strings(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

/* What comes after the key, which is to be before end; NULL where it is not. */
static const char *find(const char *text, const char *end, const char *key)
{
    const char *found = strstr(text, key);
    return found && found < end ? found + strlen(key) : NULL;
}

static double number(const char *text, const char *end, const char *key)
{
    const char *found = find(text, end, key);
    return found ? strtod(found, NULL) : 0;
}

/* A size or a coordinate without its fraction; none is as large as what int64_t does not hold. */
static int64_t whole_of(double number)
{
    return fabs(number) < 0x1p62 ? (int64_t)number : 0;
}

/* Whether a score was printed as an integer; then all of its result's are. */
static bool is_integer(const char *score)
{
    const size_t digits = strspn(score, "-0123456789");
    return strchr(",}", score[digits]) && strncmp(score, "-0", digits) != 0;
}

static void read_numbers(const char *text, double *numbers, int count)
{
    for (int i = 0; i < count && text; i++) {
        char *after;
        text += strspn(text, "[],");
        numbers[i] = strtod(text, &after);
        text = after;
    }
}

static void read_pose(cli_pose *pose, const char *text, const char *end)
{
    pose->angle = pose->fine_angle = number(text, end, ",\"angle\":");
    pose->scale = pose->fine_scale = number(text, end, ",\"scale\":");
    read_numbers(find(text, end, ",\"center\":"), pose->center, 2);
    read_numbers(find(text, end, ",\"corners\":"), pose->corners[0], 8);
}

/* Reads a coordinate, which a fit may have given a fraction. */
static void read_coordinate(const char *text, const char *end, const char *key, int64_t *whole, double *fraction)
{
    const double value = number(text, end, key);
    *whole = whole_of(value);
    *fraction = value == 0 && signbit(value) ? NEGATIVE_ZERO : value - (double)*whole;
}

/* Reads the object of a match, {"x":...}, up to the brace that ends it. */
static void read_match(log_result *read, cli_match *m, const char *text, const char *end)
{
    const char *score = find(text, end, "\"score\":");

    *m = (cli_match){.w = whole_of(number(text, end, "\"w\":")), .h = whole_of(number(text, end, "\"h\":")),
                     .weak = find(text, end, "\"weak\":true") != NULL};
    read_coordinate(text, end, "\"x\":", &m->x, &m->dx);
    read_coordinate(text, end, "\"y\":", &m->y, &m->dy);
    if (score) {
        read->result.integers &= is_integer(score);
        /* A score that is no integer is a float. */
        m->score = is_integer(score) ? strtod(score, NULL) : (double)strtof(score, NULL);
    }
    read_pose(&m->pose, text, end);
}

static bool read_matches(log_result *read, const char *text, const char *end)
{
    cli_result *r = &read->result;
    size_t count = 0;

    for (const char *s = text; (s = find(s, end, "{\"x\":")); s++)
        count++;
    r->matches = calloc(count + 1, sizeof *r->matches);
    if (!r->matches)
        return false;
    const bool all_weak = find(text, end, "],\"weak\":true") != NULL;
    for (const char *s = text; (s = find(s, end, "{\"x\":")); r->match_count++) {
        const char *next = find(s, end, "{\"x\":");
        read_match(read, &r->matches[r->match_count], s - strlen("\"x\":"), next ? next : end);
        r->matches[r->match_count].weak |= all_weak;
    }
    return true;
}

char *log_read_frame(const char *text)
{
    const char *shard = strstr(text, LOG_LINE_SHARD);
    const char *bytes = shard ? strstr(shard, ",\"name\":") : NULL;
    if (strncmp(text, LOG_LINE_START, strlen(LOG_LINE_START)) != 0)
        return NULL;
    return log_read_string(bytes ? bytes + strlen(",\"name\":") : text + strlen(LOG_LINE_START), NULL);
}

bool log_read_result(log_result *read, const char *text)
{
    cli_result *r = &read->result;
    const char *end = text + strlen(text), *shard = strstr(text, LOG_LINE_SHARD), *rest;

    *read = (log_result){.result.integers = true};
    read->frame = log_read_frame(text);
    if (!read->frame)
        return false;
    r->frame = read->frame;
    const char *seconds = shard ? find(shard, end, ",\"seconds\":") : NULL;
    seconds = seconds ? seconds : find(text, end, ",\"time\":");
    r->timed = seconds != NULL;
    r->time = seconds ? strtod(seconds, NULL) : 0;
    r->index = whole_of(number(text, end, ",\"index\":"));
    const char *error = find(text, end, ",\"error\":"), *matches = find(text, end, ",\"matches\":[");
    if (error) {
        read->error = log_read_string(error, NULL);
        return read->error != NULL;
    }
    r->poses = (size_t)whole_of(number(text, end, ",\"poses\":"));
    rest = find(text, end, ",\"best\":");
    if (!matches || !read_matches(read, matches, rest ? rest : shard ? shard : end))
        return false;
    r->none = r->match_count == 0;
    r->has_best = rest != NULL;
    if (rest)
        read_match(read, &r->best, rest, shard ? shard : end);
    return true;
}

void log_read_free(log_result *read)
{
    free(read->result.matches);
    free(read->frame);
    free(read->error);
    *read = (log_result){0};
}
