/* SPDX-License-Identifier: MIT */
#include "format.h"

/* Text comes last: it has no signature, so its probe reads furthest. */
const io_format *const io_formats[] = {
    &io_format_png,
    &io_format_jpeg,
    &io_format_tiff,
    &io_format_bmp,
    &io_format_webp,
    &io_format_pnm,
    &io_format_y4m,
    &io_format_npy,
    &io_format_text,
    NULL,
};

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

bool io_fail_unknown(io_error *error)
{
    char names[128];
    io_format_names(names, sizeof names);
    return io_fail(error, "not a picture that tmatch reads (%s)", names);
}

const io_format *io_find_format(const uint8_t *data, size_t size)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if ((*format)->probe(data, size))
            return *format;
    return NULL;
}

const char *io_library(int index)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if ((*format)->library && index-- == 0)
            return (*format)->library;
    return NULL;
}
