/* SPDX-License-Identifier: MIT */
#include "run/log_line.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define ID_START ",\"id\":\""
#define SUM_START ",\"sum\":\""

enum {
    DIGITS = 16,
    ID_LENGTH = sizeof ID_START - 1 + DIGITS + 1,
    SUM_LENGTH = sizeof SUM_START - 1 + DIGITS + 1,
    DEEPEST = 16 /* more than any line is nested */
};

static const char *skip_value(const char *s, int depth);

static const char *skip_string(const char *s)
{
    if (!s || *s++ != '"')
        return NULL;
    for (; *s != '"'; s++) {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s == '\\' && *++s == '\0')
            return NULL;
    }
    return s + 1;
}

/* Skips an object or an array, whose members are separated by commas without spaces, as we write
 * them. */
static const char *skip_members(const char *s, char end, int depth)
{
    if (depth == DEEPEST)
        return NULL;
    if (*++s == end)
        return s + 1;
    for (;; s++) {
        if (end == '}') {
            s = skip_string(s);
            if (!s || *s++ != ':')
                return NULL;
        }
        s = skip_value(s, depth + 1);
        if (!s || *s == end)
            return s ? s + 1 : NULL;
        if (*s != ',')
            return NULL;
    }
}

static const char *skip_word(const char *s, const char *word)
{
    return strncmp(s, word, strlen(word)) == 0 ? s + strlen(word) : NULL;
}

static const char *skip_number(const char *s)
{
    char *end;
    const char *digit = s + (*s == '-');
    if (!isdigit((unsigned char)*digit) || tolower((unsigned char)digit[1]) == 'x')
        return NULL;
    strtod(s, &end);
    return end;
}

/* Returns what comes after the value, or NULL if there is none. */
static const char *skip_value(const char *s, int depth)
{
    switch (*s) {
    case '{': return skip_members(s, '}', depth);
    case '[': return skip_members(s, ']', depth);
    case '"': return skip_string(s);
    case 'n': return skip_word(s, "null");
    case 't': return skip_word(s, "true");
    case 'f': return skip_word(s, "false");
    default: return skip_number(s);
    }
}

/* Reads the number of a field at the end of the text; false if there is no such field. */
static bool read_last(const char *text, size_t length, const char *start, uint64_t *value)
{
    const size_t field = strlen(start) + DIGITS + 1;
    char digits[DIGITS + 1] = "";

    if (length < field || memcmp(text + length - field, start, strlen(start)) != 0 ||
        text[length - 1] != '"')
        return false;
    memcpy(digits, text + length - 1 - DIGITS, DIGITS);
    *value = strtoull(digits, NULL, 16);
    return strspn(digits, "0123456789abcdef") == DIGITS;
}

static uint64_t sum_of(const char *result, size_t length, const char *id, size_t id_length)
{
    return hash_bytes(hash_bytes(0, result, length), id, id_length);
}

/* Quotes in strings are escaped, so what is looked for here and below cannot be part of a name. */
static bool has_shape(const char *text, size_t length)
{
    const char *end = skip_value(text, 0);
    return end == text + length && strncmp(text, LOG_LINE_START, strlen(LOG_LINE_START)) == 0 &&
           strstr(text, ",\"template\":") &&
           (strstr(text, ",\"error\":\"") || strstr(text, ",\"matches\":["));
}

/* Reads what comes after the matches. */
static void read_rest(log_line *line, const char *text)
{
    static const char weak[] = ",\"weak\":true", best[] = ",\"best\":{", score[] = "\"score\":";
    const char *found = strncmp(text, best, sizeof best - 1) == 0 ? strstr(text, score) : NULL;

    line->weak = strncmp(text, weak, sizeof weak - 1) == 0;
    if (found)
        line->best = strtod(found + sizeof score - 1, NULL);
}

bool log_line_parse(log_line *line, const char *text, size_t length)
{
    uint64_t sum;

    *line = (log_line){.length = (uint32_t)length, .best = NAN};
    if (length > UINT32_MAX || length == 0 || text[length - 1] != '}')
        return false;
    const bool summed = read_last(text, length - 1, SUM_START, &sum);
    const size_t body = length - 1 - (summed ? SUM_LENGTH : 0);
    const size_t result = body - (read_last(text, body, ID_START, &line->id) ? ID_LENGTH : 0);
    if (summed ? sum != sum_of(text, result, text + result, body - result)
               : strstr(text, SUM_START) || !has_shape(text, length))
        return false;
    line->failed = strstr(text, ",\"error\":\"") != NULL;
    static const char matches[] = ",\"matches\":";
    const char *match = strstr(text, matches);
    const char *end = match ? skip_value(match + sizeof matches - 1, 0) : NULL;
    while (match && (match = strstr(match + 1, "{\"x\":")) && match < end)
        line->matches++;
    if (end)
        read_rest(line, end);
    return true;
}

size_t log_line_result(const char *text, size_t length)
{
    uint64_t value;
    length--; /* the brace */
    const bool summed = read_last(text, length, SUM_START, &value);
    length -= summed ? SUM_LENGTH : 0;
    length -= read_last(text, length, ID_START, &value) ? ID_LENGTH : 0;
    const char *shard = summed ? strstr(text, LOG_LINE_SHARD) : NULL;
    return shard && shard < text + length ? (size_t)(shard - text) : length;
}

void log_line_end(FILE *out, const char *result, size_t length, uint64_t id)
{
    char field[ID_LENGTH + 1] = "";
    if (id != 0)
        snprintf(field, sizeof field, ID_START "%016" PRIx64 "\"", id);
    fprintf(out, "%s" SUM_START "%016" PRIx64 "\"}\n", field,
            sum_of(result, length, field, strlen(field)));
}
