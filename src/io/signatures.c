/* SPDX-License-Identifier: MIT */
/* How files are recognised whose formats need optional libraries, so that a build without one can
 * say so. */
#include "format.h"

#include <string.h>


/* The third byte is 42, or 43 for BigTIFF. */
bool io_is_tiff(const uint8_t *data, size_t size)
{
    return size >= 4 && (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0 ||
                         memcmp(data, "II+\0", 4) == 0 || memcmp(data, "MM\0+", 4) == 0);
}

bool io_is_webp(const uint8_t *data, size_t size)
{
    return size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0;
}

#if !TM_HAVE_TIFF
static bool refuse_tiff(const io_source *source, const io_request *request, const io_limits *limits,
                        io_picture *picture, io_error *error)
{
    (void)source, (void)request, (void)limits, (void)picture;
    return io_fail(error, "TIFF, which this build does not read (libtiff was missing)");
}

const io_format io_format_tiff = {
    .name = "TIFF",
    .probe = io_is_tiff,
    .decode = refuse_tiff,
};
#endif

#if !TM_HAVE_WEBP
static bool refuse_webp(const io_source *source, const io_request *request, const io_limits *limits,
                        io_picture *picture, io_error *error)
{
    (void)source, (void)request, (void)limits, (void)picture;
    return io_fail(error, "WebP, which this build does not read (libwebp was missing)");
}

const io_format io_format_webp = {
    .name = "WebP",
    .probe = io_is_webp,
    .decode = refuse_webp,
};
#endif
