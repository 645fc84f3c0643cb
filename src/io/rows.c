/* SPDX-License-Identifier: MIT */
#include "orientation.h"

#include <stdlib.h>

/* A picture that is turned or mirrored is not decoded by rows: its first row may need the file's
 * last, or come the wrong way round. */
static void orient(io_rows *rows)
{
    if (rows->orientation == 0 || rows->as_stored)
        return;
    if (io_orientation_turns(rows->orientation)) {
        const int64_t width = rows->width;
        rows->width = rows->height;
        rows->height = width;
    }
    snprintf(rows->turned, sizeof rows->turned, "a %s that EXIF turns", rows->format->name);
    if (!rows->whole)
        rows->whole = rows->turned;
}

bool io_rows_open(io_rows **opened, io_source *source, io_color color, const io_limits *limits,
                  io_error *error)
{
    const io_request request = {.color = color};
    return io_rows_open_as(opened, source, &request, limits, error);
}

bool io_rows_open_as(io_rows **opened, io_source *source, const io_request *request,
                     const io_limits *limits, io_error *error)
{
    if (source->size && source->decoder && !source->frame)
        return source->decoder->rows_open(source->decoder, opened, source, request, limits, error);
    const io_format *format = source->size ? io_format_of(source) : NULL;
    if (!format)
        return source->size ? io_fail_unknown(error) : io_fail(error, IO_EMPTY);
    io_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return io_fail(error, "not enough memory");
    source->released = 0; /* memory that was given back before is read again */
    *rows = (io_rows){.format = format,
                      .source = source,
                      .color = request->color,
                      .orientation = io_file_orientation(format, source),
                      .as_stored = request->stored_orientation,
                      .state = calloc(1, format->rows_state + 1)};
    const io_limits its = io_limits_of(source, limits);
    if (!rows->state) {
        io_fail(error, "not enough memory");
    } else if (format->rows_open(rows, &its, error)) {
        orient(rows);
        *opened = rows;
        return true;
    }
    io_rows_close(&rows);
    return false;
}

void io_rows_close(io_rows **rows)
{
    if (!*rows)
        return;
    if ((*rows)->state && (*rows)->format->rows_close)
        (*rows)->format->rows_close(*rows);
    free((*rows)->state);
    free((*rows)->row);
    free(*rows);
    *rows = NULL;
}

int64_t io_rows_width(const io_rows *rows)
{
    return rows->width;
}

int64_t io_rows_height(const io_rows *rows)
{
    return rows->height;
}

int io_rows_orientation(const io_rows *rows)
{
    return rows->orientation;
}

bool io_rows_turned(const io_rows *rows)
{
    return io_orientation_turns(rows->orientation) && !rows->as_stored;
}

bool io_rows_alpha_ignored(const io_rows *rows)
{
    return rows->alpha_ignored;
}

bool io_rows_colored(const io_rows *rows)
{
    return rows->colored;
}

int io_rows_sample_size(const io_rows *rows)
{
    return rows->floats ? 4 : rows->deep ? 2 : 1;
}

int io_rows_decoder_bytes(const io_rows *rows)
{
    return rows->decoder_bytes;
}

const char *io_rows_format(const io_rows *rows)
{
    return rows->format->name;
}

const char *io_rows_whole(const io_rows *rows)
{
    return rows->whole;
}

bool io_rows_seeks(const io_rows *rows)
{
    return !rows->whole && !rows->onwards && rows->format->rows_skip;
}

bool io_rows_skip(io_rows *rows, int64_t count, uint8_t *row, io_error *error)
{
    int64_t skipped = 0;
    if (!rows->whole && rows->format->rows_skip && count > 0) {
        skipped = rows->format->rows_skip(rows, count);
        rows->next += skipped;
    }
    for (; skipped < count; skipped++)
        if (!io_rows_read(rows, row, error))
            return false;
    return true;
}

bool io_rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    if (rows->whole)
        return io_fail(error, "%s is decoded whole, not by rows", rows->whole);
    if (io_source_late(rows->source, error))
        return false;
    const bool good = rows->format->rows_read(rows, to, error);
    if (io_source_lost(rows->source))
        return io_fail(error, IO_LOST);
    if (!good)
        return false;
    rows->next++;
    if (rows->used > rows->source->released + IO_RELEASE_BYTES)
        io_source_release(rows->source, rows->used);
    return true;
}
