/* SPDX-License-Identifier: MIT */
#include "format.h"

/* Text comes last: it has no signature, so its probe reads furthest. */
const io_format *const io_formats[] = {
    &io_format_png,
    &io_format_jpeg,
    &io_format_pnm,
    &io_format_npy,
    &io_format_text,
    NULL,
};

const char *io_library(int index)
{
    for (const io_format *const *format = io_formats; *format; format++)
        if ((*format)->library && index-- == 0)
            return (*format)->library;
    return NULL;
}
