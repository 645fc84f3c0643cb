/* SPDX-License-Identifier: MIT */
/* The table of formats, and what is done by the format that a file's bytes or its name tell. */
#include "format.h"

#include <string.h>
#include <strings.h>

#include "orientation.h"

const io_format *const io_formats[] = {
#define FORMAT(id, endings) &io_format_##id,
#include "formats.def"
#undef FORMAT
    NULL,
};

static const char *const endings_of[] = {
#define FORMAT(id, endings) endings,
#include "formats.def"
#undef FORMAT
};

const io_format *io_find_format(const uint8_t *data, size_t size)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if ((*format)->probe(data, size))
            return *format;
    return NULL;
}

const io_format *io_format_of(const io_source *source)
{
    return source->frame ? source->frame->format : io_find_format(source->data, source->size);
}

const io_format *io_named_format(const char *name)
{
    const char *dot = strrchr(name, '.');
    const size_t length = dot ? strlen(dot + 1) : 0;

    if (length == 0 || dot == name)
        return NULL;
    for (int i = 0; io_formats[i]; i++)
        for (const char *ending = endings_of[i]; ending; ending = strchr(ending, '|')) {
            ending += *ending == '|';
            if (strcspn(ending, "|") == length && strncasecmp(ending, dot + 1, length) == 0)
                return io_formats[i];
        }
    return NULL;
}

bool io_is_picture_name(const char *name)
{
    const io_format *format = io_named_format(name);
    return format && !format->not_in_folders;
}

void io_format_names(char *to, size_t size)
{
    size_t length = 0;
    *to = '\0';
    for (const io_format *const *format = io_formats; *format && length < size; format++) {
        const char *between = !length ? "" : format[1] ? ", " : " or ";
        length += (size_t)snprintf(to + length, size - length, "%s%s", between,
                                   *format == &io_format_text ? "a text matrix" : (*format)->name);
    }
}

const char *io_library(int index)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if ((*format)->library && index-- == 0)
            return (*format)->library;
    static const char *const beside[] = {
#ifdef TM_LIBDEFLATE_VERSION
        "libdeflate " TM_LIBDEFLATE_VERSION,
#endif
#ifdef TM_LIBAVFORMAT_VERSION
        "libavformat " TM_LIBAVFORMAT_VERSION,
#endif
#ifdef TM_LIBSECCOMP_VERSION
        "libseccomp " TM_LIBSECCOMP_VERSION,
#endif
        NULL};
    return index < (int)(sizeof beside / sizeof *beside) ? beside[index] : NULL;
}

bool io_fail_unknown(io_error *error)
{
    char names[128];
    io_format_names(names, sizeof names);
    return io_fail(error, "not a picture that tmatch reads (%s)", names);
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
    if (source->decoder && !source->frame)
        return source->decoder->decode(source->decoder, source, request, limits, picture, error);
    const io_format *format = io_format_of(source);
    if (!format)
        return io_source_lost(source) ? io_fail(error, IO_LOST) : io_fail_unknown(error);
    io_picture decoded;
    const bool good = decode(format, source, request, limits, &decoded, error) && !io_source_late(source, error);
    if (good && !io_source_lost(source)) {
        *picture = decoded;
        return true;
    }
    io_picture_free(&decoded);
    return io_source_lost(source) ? io_fail(error, IO_LOST) : false;
}

bool io_decode(const io_source *source, io_color color, const io_limits *limits,
               io_picture *picture, io_error *error)
{
    const io_request request = {.color = color};
    return io_decode_as(source, &request, limits, picture, error);
}

bool io_can_write(const char *path, io_error *error)
{
    const io_format *named = io_named_format(path);
    if (named && named->encode)
        return true;
    io_fail(error, "a picture's name has to end in");
    for (int i = 0; io_formats[i]; i++)
        for (const char *ending = io_formats[i]->encode ? endings_of[i] : NULL; ending;
             ending = strchr(ending, '|')) {
            ending += *ending == '|';
            const size_t used = strlen(error->reason);
            snprintf(error->reason + used, sizeof error->reason - used, " .%.*s",
                     (int)strcspn(ending, "|"), ending);
        }
    return false;
}

bool io_encode(const io_picture *picture, const char *name, FILE *file, io_error *error)
{
    return io_can_write(name, error) && io_named_format(name)->encode(picture, file, error);
}

bool io_write_picture(const char *path, const io_picture *picture, io_error *error)
{
    io_output output;
    if (!io_can_write(path, error) || !io_output_open(&output, path, error))
        return false;
    if (!io_named_format(path)->encode(picture, output.file, error)) {
        io_output_abort(&output);
        return false;
    }
    return io_output_commit(&output, error);
}
