/* SPDX-License-Identifier: MIT */
/* WebP by libwebp. Gray is the luma of its RGB, as with other formats, so that a crop saved in
 * another format matches where it was. */
#include "orientation.h"

#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

static bool fail_status(VP8StatusCode status, io_error *error)
{
    switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
        return io_fail(error, "not enough memory");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return io_fail(error, "damaged WebP: the file is truncated");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return io_fail(error, "a WebP of a kind that libwebp cannot read");
    default:
        return io_fail(error, "damaged WebP");
    }
}

static uint64_t number_at(const uint8_t *d)
{
    return (uint64_t)d[0] | (uint64_t)d[1] << 8 | (uint64_t)d[2] << 16 | (uint64_t)d[3] << 24;
}

/* The chunk of EXIF data stands behind the samples. */
static int find_orientation(const io_source *source)
{
    enum { FIRST = 12, HEAD = 8 };
    for (uint64_t at = FIRST; at <= source->size && source->size - at >= HEAD;) {
        const uint8_t *chunk = source->data + at;
        const uint64_t size = number_at(chunk + 4), left = source->size - at - HEAD;
        if (memcmp(chunk, "EXIF", 4) == 0)
            return io_exif_orientation(chunk + HEAD, (size_t)(size < left ? size : left));
        at += HEAD + size + size % 2;
    }
    return 0;
}

/* Whether the file is as long as its header says: libwebp does not miss the end. */
static bool check_length(const io_source *source, io_error *error)
{
    return number_at(source->data + 4) + 8 <= source->size ||
           io_fail(error, "damaged WebP: the file is truncated");
}

static bool read_header(const io_source *source, const io_limits *limits,
                        WebPBitstreamFeatures *features, io_error *error)
{
    const VP8StatusCode status = WebPGetFeatures(source->data, source->size, features);
    if (status != VP8_STATUS_OK)
        return fail_status(status, error);
    if (features->has_animation)
        return io_fail(error, "an animated WebP; "
                              "'convert IN.webp -coalesce OUT%%d.png' makes pictures of it");
    return io_check_size(features->width, features->height, limits, error) &&
           check_length(source, error);
}

static bool decode_into(const io_source *source, const WebPBitstreamFeatures *features, bool alpha,
                        uint8_t *pixels, io_error *error)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return io_fail(error, "libwebp is of another version than its header");
    const int stride = features->width * (alpha ? 4 : 3);
    config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = stride;
    config.output.u.RGBA.size = (size_t)stride * (size_t)features->height;
    const VP8StatusCode status = WebPDecode(source->data, source->size, &config);
    WebPFreeDecBuffer(&config.output);
    return status == VP8_STATUS_OK || fail_status(status, error);
}

/* Moves a row's alpha into the mask, in place. */
static void split_row(uint8_t *row, int64_t width, uint8_t *mask)
{
    for (int64_t x = 0; x < width; x++) {
        mask[x] = row[4 * x + 3];
        memmove(row + 3 * x, row + 4 * x, 3);
    }
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    WebPBitstreamFeatures features;
    if (!read_header(source, limits, &features, error) ||
        !io_picture_allocate(picture, features.width, features.height, request->color, 8, limits,
                             error))
        return false;
    const bool alpha = features.has_alpha && request->alpha;
    const int64_t width = picture->width, height = picture->height,
                  stride = width * (alpha ? 4 : 3);
    picture->colored = true;
    picture->alpha_ignored = features.has_alpha && !alpha;
    if (request->color == IO_RGB && !alpha)
        return decode_into(source, &features, false, picture->samples, error);
    uint8_t *pixels = malloc((size_t)(stride * height));
    picture->mask = alpha ? malloc((size_t)(width * height)) : NULL;
    if (!pixels || (alpha && !picture->mask)) {
        free(pixels);
        return io_fail(error, "not enough memory");
    }
    const bool good = decode_into(source, &features, alpha, pixels, error);
    for (int64_t y = 0; y < height && good; y++) {
        if (alpha)
            split_row(pixels + y * stride, width, picture->mask + y * width);
        io_put_row(picture->samples + y * width * request->color, request->color,
                   pixels + y * stride, 3, width);
    }
    free(pixels);
    return good;
}

/* Reads only the header: libwebp decodes several rows at a time, as it likes. */
static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    WebPBitstreamFeatures features;
    if (!read_header(rows->source, limits, &features, error))
        return false;
    rows->width = features.width;
    rows->height = features.height;
    rows->colored = true;
    rows->alpha_ignored = features.has_alpha;
    rows->whole = "a WebP";
    return true;
}

const io_format io_format_webp = {
    .name = "WebP",
    .library = "libwebp " TM_LIBWEBP_VERSION,
    .probe = io_is_webp,
    .orientation = find_orientation,
    .decode = decode,
    .rows_open = rows_open,
};
