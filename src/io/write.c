/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <string.h>

#include "ending.h"

static bool has_any_ending(const char *path, const char *const *endings)
{
    for (; endings && *endings; endings++)
        if (has_ending(path, *endings))
            return true;
    return false;
}

static const io_format *format_of(const char *path)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if (has_any_ending(path, (*format)->endings))
            return *format;
    return NULL;
}

bool io_is_picture_name(const char *name)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if (has_any_ending(name, (*format)->in_folders))
            return true;
    return false;
}

bool io_can_write(const char *path, io_error *error)
{
    if (format_of(path))
        return true;
    io_fail(error, "a picture's name has to end in");
    for (const io_format *const *format = io_formats; *format; format++)
        for (const char *const *ending = (*format)->endings; ending && *ending; ending++) {
            size_t used = strlen(error->reason);
            snprintf(error->reason + used, sizeof error->reason - used, " %s", *ending);
        }
    return false;
}

bool io_encode(const io_picture *picture, const char *name, FILE *file, io_error *error)
{
    return io_can_write(name, error) && format_of(name)->encode(picture, file, error);
}

bool io_write_picture(const char *path, const io_picture *picture, io_error *error)
{
    io_output output;
    if (!io_can_write(path, error) || !io_output_open(&output, path, error))
        return false;
    if (!format_of(path)->encode(picture, output.file, error)) {
        io_output_abort(&output);
        return false;
    }
    return io_output_commit(&output, error);
}
