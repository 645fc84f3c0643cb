/* SPDX-License-Identifier: MIT */
#include "orientation.h"

#include <string.h>

bool io_decode(const io_source *source, io_color color, const io_limits *limits,
               io_picture *picture, io_error *error)
{
    const io_request request = {.color = color};
    return io_decode_as(source, &request, limits, picture, error);
}

static bool decode(const io_format *format, const io_source *source, const io_request *request,
                   const io_limits *limits, io_picture *picture, io_error *error)
{
    const int orientation = io_file_orientation(format, source);
    const io_limits its = io_limits_of(source, limits);
    const bool turns = io_orientation_turns(orientation) && !request->stored_orientation;
    /* The caller's memory is for the upright samples. */
    *picture = (io_picture){.format = format->name,
                            .memory = turns ? NULL : request->memory,
                            .orientation = orientation,
                            .as_stored = request->stored_orientation};
    if (!format->decode(source, request, &its, picture, error))
        return false;
    return request->stored_orientation ||
           io_orient_picture(picture, orientation, request->memory, error);
}

bool io_decode_as(const io_source *source, const io_request *request, const io_limits *limits,
                  io_picture *picture, io_error *error)
{
    if (source->size == 0)
        return io_fail(error, IO_EMPTY);
    const io_format *format = io_find_format(source->data, source->size);
    if (!format)
        return io_source_lost(source) ? io_fail(error, IO_LOST) : io_fail_unknown(error);
    io_picture decoded;
    const bool good = decode(format, source, request, limits, &decoded, error);
    if (good && !io_source_lost(source)) {
        *picture = decoded;
        return true;
    }
    io_picture_free(&decoded);
    return io_source_lost(source) ? io_fail(error, IO_LOST) : false;
}
