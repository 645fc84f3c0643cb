/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <string.h>

bool io_decode(const io_source *source, io_color color, const io_limits *limits,
               io_picture *picture, io_error *error)
{
    const io_request request = {.color = color};
    return io_decode_as(source, &request, limits, picture, error);
}

bool io_decode_as(const io_source *source, const io_request *request, const io_limits *limits,
                  io_picture *picture, io_error *error)
{
    if (source->size == 0)
        return io_fail(error, IO_EMPTY);
    for (const io_format *const *format = io_formats; *format; format++) {
        if (!(*format)->probe(source->data, source->size))
            continue;
        io_picture decoded = {.format = (*format)->name, .memory = request->memory};
        const bool good = (*format)->decode(source, request, limits, &decoded, error);
        if (!good || io_source_lost(source)) {
            io_picture_free(&decoded);
            return io_source_lost(source) ? io_fail(error, IO_LOST) : false;
        }
        *picture = decoded;
        return true;
    }
    return io_fail(error, io_source_lost(source) ? IO_LOST : IO_NO_PICTURE);
}
