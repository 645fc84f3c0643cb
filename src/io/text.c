/* SPDX-License-Identifier: MIT */
/* A matrix of numbers, one row a line, separated by blanks or commas. Empty
 * lines and what follows a '#' are skipped. */
#include "format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct scanner {
    const uint8_t *at, *end, *line_start;
    int64_t line;
} scanner;

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool ends_value(uint8_t c)
{
    return is_blank(c) || c == ',' || c == '\n' || c == '#';
}

static bool is_numeric(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

static scanner start(const uint8_t *data, size_t size)
{
    size_t mark = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return (scanner){data + mark, data + size, data + mark, 1};
}

static void skip_blanks(scanner *text)
{
    while (text->at < text->end && is_blank(*text->at))
        text->at++;
}

static bool at_line_end(const scanner *text)
{
    return text->at == text->end || *text->at == '\n' || *text->at == '#';
}

static void next_line(scanner *text)
{
    const uint8_t *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    text->at = text->line_start = newline ? newline + 1 : text->end;
    text->line++;
}

/* False at the end of the file. */
static bool skip_empty_lines(scanner *text)
{
    for (; text->at < text->end; next_line(text)) {
        skip_blanks(text);
        if (!at_line_end(text))
            return true;
    }
    return false;
}

/* The first line with content has to look like numbers, so that prose is not
 * taken for a matrix with an error in it. */
static bool probe(const uint8_t *data, size_t size)
{
    scanner text = start(data, size);
    bool digit = false;
    if (!skip_empty_lines(&text))
        return false;
    for (; !at_line_end(&text); text.at++) {
        if (!is_numeric(*text.at) && !ends_value(*text.at))
            return false;
        digit = digit || (*text.at >= '0' && *text.at <= '9');
    }
    return digit;
}

static bool fail_at(const scanner *text, const char *what, io_error *error)
{
    return io_fail(error, "line %" PRId64 ", column %td: %s", text->line,
                   text->at - text->line_start + 1, what);
}

/* 12.0, 1e1, 007 and every error. */
static bool parse_slowly(scanner *text, uint8_t *value, io_error *error)
{
    char token[64];
    size_t length = 0;
    bool numeric = true;
    for (const uint8_t *c = text->at; c < text->end && !ends_value(*c); c++) {
        numeric = numeric && is_numeric(*c) && length + 1 < sizeof token;
        if (numeric)
            token[length++] = (char)*c;
    }
    token[length] = '\0';
    if (length == 0)
        return fail_at(text, numeric ? "a number is missing" : "not a number", error);
    char *rest;
    double number = strtod(token, &rest);
    if (!numeric || *rest != '\0')
        return fail_at(text, "not a number", error);
    if (!(number >= 0 && number <= 255) || number != (double)(int)number) {
        char what[128];
        snprintf(what, sizeof what, "%s; only whole numbers from 0 to 255 are read so far", token);
        return fail_at(text, what, error);
    }
    *value = (uint8_t)number;
    text->at += length;
    return true;
}

static bool parse_value(scanner *text, uint8_t *value, io_error *error)
{
    unsigned number = 0;
    const uint8_t *c = text->at;
    for (; c < text->end && c - text->at < 3 && *c >= '0' && *c <= '9'; c++)
        number = number * 10 + (*c - (unsigned)'0');
    if (c == text->at || number > 255 || (c < text->end && !ends_value(*c)))
        return parse_slowly(text, value, error);
    *value = (uint8_t)number;
    text->at = c;
    return true;
}

/* Reads one line to samples and counts its values. A comma may end the line. */
static bool parse_row(scanner *text, uint8_t *samples, int64_t *count, io_error *error)
{
    *count = 0;
    while (!at_line_end(text)) {
        if (!parse_value(text, &samples[*count], error))
            return false;
        ++*count;
        skip_blanks(text);
        if (text->at < text->end && *text->at == ',') {
            text->at++;
            skip_blanks(text);
        }
    }
    return true;
}

static bool parse_rows(scanner *text, io_picture *picture, io_error *error)
{
    uint8_t *next = picture->samples;
    for (; skip_empty_lines(text); next_line(text)) {
        int64_t count;
        if (!parse_row(text, next, &count, error))
            return false;
        if (picture->height == 0)
            picture->width = count;
        if (count != picture->width)
            return io_fail(error,
                           "line %" PRId64 " has %" PRId64 " numbers, the first row has %" PRId64,
                           text->line, count, picture->width);
        next += count;
        picture->height++;
    }
    return true;
}

/* Fits the allocation to the size; gray becomes RGB from the end, in place. */
static bool resize(io_picture *picture, io_color color, io_error *error)
{
    int64_t bytes;
    void *samples = NULL;
    if (!__builtin_mul_overflow(picture->width * picture->height, (int)color, &bytes))
        samples = realloc(picture->samples, (size_t)bytes);
    if (!samples)
        return io_fail(error, "not enough memory");
    picture->samples = samples;
    picture->channels = color;
    picture->bits = 8;
    if (color == IO_RGB)
        for (int64_t i = picture->width * picture->height - 1; i >= 0; i--)
            memset(picture->samples + 3 * i, picture->samples[i], 3);
    return true;
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    scanner text = start(source->data, source->size);
    /* A number and its separator are two bytes or more. */
    picture->samples = malloc(source->size / 2 + 1);
    if (!picture->samples)
        return io_fail(error, "not enough memory");
    return parse_rows(&text, picture, error) &&
           io_check_size(picture->width, picture->height, limits, error) &&
           resize(picture, request->color, error);
}

const io_format io_format_text = {
    .name = "text",
    .probe = probe,
    .decode = decode,
};
