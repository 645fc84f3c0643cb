/* SPDX-License-Identifier: MIT */
/* A matrix of numbers, one row a line, separated by blanks or commas. Empty
 * lines and what follows a '#' are skipped. Whole numbers from 0 to 255 alone are
 * 8-bit samples; with any other number in it the matrix is of floats. */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line of prose does not look like numbers for so long. */
enum { PROBED_BYTES = 64 << 10 };

typedef struct scanner {
    const uint8_t *at, *end, *line_start;
    int64_t line;
} scanner;

/* What was read so far: as bytes, until a number does not fit in one. */
typedef struct matrix {
    const io_source *source;
    int64_t width, height; /* as measured */
    bool is_ragged;        /* the file is too short for so many numbers */
    size_t count, room;    /* how many numbers were read, and are kept: 0 where they are only looked at */
    bool has_floats;
    uint8_t *bytes;
    float *floats;
} matrix;

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
    return (c >= '0' && c <= '9') || (c && strchr(".-+eEnNaAiIfF", c)); /* this admits nan and inf too */
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

/* Passes over lines without numbers. False at the end of the file. */
static bool skip_empty_lines(scanner *text)
{
    for (; text->at < text->end; next_line(text)) {
        skip_blanks(text);
        if (!at_line_end(text))
            return true;
    }
    return false;
}

/* The first line with content, which may be the whole file, has to begin like numbers, so that
 * prose is not taken for a matrix with an error in it. */
static bool probe(const uint8_t *data, size_t size)
{
    scanner text = start(data, size);
    bool digit = false;
    if (!skip_empty_lines(&text))
        return false;
    if (text.end - text.at > PROBED_BYTES)
        text.end = text.at + PROBED_BYTES;
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

/* Numbers of a row that is too long, which is refused at its end, are not kept. */
static bool put_byte(matrix *m, uint8_t value)
{
    const size_t i = m->count++;
    if (i < m->room && m->floats)
        m->floats[i] = value;
    else if (i < m->room)
        m->bytes[i] = value;
    return true;
}

static bool put_float(matrix *m, float value, io_error *error)
{
    m->has_floats = true;
    if (m->room == 0)
        return false; /* it was looked for, and is no error */
    if (!m->floats) {
        m->floats = malloc(m->room * sizeof *m->floats);
        if (!m->floats)
            return io_fail(error, "not enough memory");
        for (size_t i = 0; i < m->count && i < m->room; i++)
            m->floats[i] = m->bytes[i];
        free(m->bytes);
        m->bytes = NULL;
    }
    const size_t i = m->count++;
    if (i < m->room)
        m->floats[i] = value;
    return true;
}

/* Reads numbers such as 12.0, 1e1, 007 and 0.5, and says what is wrong with others. */
static bool parse_slowly(scanner *text, matrix *m, io_error *error)
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
    const float number = strtof(token, &rest);
    if (!numeric || *rest != '\0')
        return fail_at(text, "not a number", error);
    if (!isfinite(number)) {
        char what[128];
        snprintf(what, sizeof what, "%s is not a finite float", token);
        return fail_at(text, what, error);
    }
    text->at += length;
    if (number >= 0 && number <= 255 && number == (float)(int)number)
        return put_byte(m, (uint8_t)number);
    return put_float(m, number, error);
}

static bool parse_value(scanner *text, matrix *m, io_error *error)
{
    unsigned number = 0;
    const uint8_t *c = text->at;
    for (; c < text->end && c - text->at < 3 && *c >= '0' && *c <= '9'; c++)
        number = number * 10 + (*c - (unsigned)'0');
    if (c == text->at || number > 255 || (c < text->end && !ends_value(*c)))
        return parse_slowly(text, m, error);
    text->at = c;
    return put_byte(m, (uint8_t)number);
}

static void skip_separator(scanner *text)
{
    skip_blanks(text);
    if (text->at < text->end && *text->at == ',') {
        text->at++;
        skip_blanks(text);
    }
}

/* Counts the numbers of the first row, and the rows, whatever they are. Fails as soon as they are
 * more pixels than the limit; stops as soon as one of the rows must be too short. */
static bool measure(const io_source *source, scanner text, const io_limits *limits, matrix *m, io_error *error)
{
    const size_t size = (size_t)(text.end - text.at);
    const int64_t most = limits->max_pixels;

    *m = (matrix){.source = source};
    if (!skip_empty_lines(&text))
        return io_fail(error, IO_LOST);
    for (; !at_line_end(&text) && m->width <= most; m->width++) {
        while (text.at < text.end && !ends_value(*text.at))
            text.at++;
        skip_separator(&text);
    }
    do {
        m->height++;
        /* A number and what ends it are two bytes. */
        m->is_ragged = m->width > (int64_t)(size / 2 + 1) / m->height;
        if (!m->is_ragged && m->height > most / m->width)
            return io_fail(error, "more pixels than the limit of %" PRId64 " (--max-pixels raises it)",
                           most);
        next_line(&text);
    } while (!m->is_ragged && skip_empty_lines(&text));
    return true;
}

/* Reads one line. A comma may end it. */
static bool parse_row(scanner *text, matrix *m, io_error *error)
{
    enum { OFTEN = 1 << 12 };
    while (!at_line_end(text)) {
        if (m->count % OFTEN == 0 && io_source_late(m->source, error))
            return false;
        if (!parse_value(text, m, error))
            return false;
        skip_separator(text);
    }
    return true;
}

static bool parse_rows(scanner *text, matrix *m, io_error *error)
{
    for (int64_t y = 0; y < m->height; y++, next_line(text)) {
        const size_t before = m->count;
        if (!skip_empty_lines(text))
            return io_fail(error, IO_LOST);
        if (!parse_row(text, m, error))
            return false;
        const int64_t count = (int64_t)(m->count - before);
        if (count != m->width)
            return io_fail(error,
                           "line %" PRId64 " has %" PRId64 " numbers, the first row has %" PRId64,
                           text->line, count, m->width);
    }
    return true;
}

static bool make_picture(io_picture *picture, const matrix *m, const io_request *request,
                         const io_limits *limits, io_error *error)
{
    if (!io_picture_allocate(picture, m->width, m->height, request->color, m->floats ? 32 : 8,
                             limits, error))
        return false;
    const int64_t count = m->width * m->height;
    if (!m->floats) {
        io_put_row(picture->samples, request->color, m->bytes, 1, count);
        return true;
    }
    io_put_float_row((float *)(void *)picture->samples, request->color, m->floats, 1, count);
    return io_finish_floats(picture, request, error);
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    scanner text = start(source->data, source->size);
    matrix m;
    if (!measure(source, text, limits, &m, error))
        return false;
    m.room = m.is_ragged ? 1 : (size_t)(m.width * m.height);
    m.bytes = malloc(m.room);
    const bool good = m.bytes ? parse_rows(&text, &m, error) &&
                                    make_picture(picture, &m, request, limits, error)
                              : io_fail(error, "not enough memory");
    free(m.bytes);
    free(m.floats);
    return good;
}

/* True where all numbers are whole, from 0 to 255 and without a sign or a point. */
static bool is_plain(scanner text)
{
    unsigned number = 0;
    for (; skip_empty_lines(&text); next_line(&text), number = 0)
        for (; !at_line_end(&text); text.at++) {
            const unsigned digit = *text.at - (unsigned)'0';
            number = digit <= 9 ? 10 * number + digit : 0;
            if (number > 255 || (digit > 9 && !ends_value(*text.at)))
                return false;
        }
    return true;
}

/* Where a number is none, those before it count; decoding says what is wrong. */
static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    scanner text = start(rows->source->data, rows->source->size);
    matrix m;
    io_error wrong;
    if (!measure(rows->source, text, limits, &m, error))
        return false;
    if (m.is_ragged)
        return io_fail(error, "rows of different lengths"); /* decoding says which */
    if (!is_plain(text))
        parse_rows(&text, &m, &wrong);
    rows->width = m.width;
    rows->height = m.height;
    rows->floats = m.has_floats;
    rows->decoder_bytes = m.has_floats ? sizeof *m.floats : sizeof *m.bytes;
    rows->whole = "a text matrix";
    return true;
}

const io_format io_format_text = {
    .name = "text",
    .not_in_folders = true,
    .probe = probe,
    .decode = decode,
    .rows_open = rows_open,
};
