/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool parse_number(const char **text, int64_t *value)
{
    *value = 0;
    if (!isdigit((unsigned char)**text))
        return false;
    for (; isdigit((unsigned char)**text); ++*text)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, **text - '0', value))
            return false;
    return true;
}

static bool parse_char(const char **text, char expected)
{
    return *(*text)++ == expected;
}

/* text stands after the '['. */
static bool parse_crop(const char *text, io_crop *crop)
{
    return parse_number(&text, &crop->width) && parse_char(&text, 'x') &&
           parse_number(&text, &crop->height) && parse_char(&text, '+') &&
           parse_number(&text, &crop->x) && parse_char(&text, '+') &&
           parse_number(&text, &crop->y) && parse_char(&text, ']') && *text == '\0' &&
           crop->width > 0 && crop->height > 0;
}

/* The '[' of a suffix that can only be meant as a crop: a digit follows, and
 * nothing follows its ']' (photo[1].png is a name). */
static const char *find_suffix(const char *operand)
{
    struct stat status;
    const char *bracket = strrchr(operand, '[');
    if (!bracket || !isdigit((unsigned char)bracket[1]) || stat(operand, &status) == 0)
        return NULL;
    const char *closing = strchr(bracket, ']');
    return !closing || closing[1] == '\0' ? bracket : NULL;
}

bool io_split_crop(const char *operand, char **path, io_crop *crop, bool *has_crop,
                   io_error *error)
{
    const char *bracket = find_suffix(operand);
    io_crop parsed = {0};
    if (bracket && !parse_crop(bracket + 1, &parsed))
        return io_fail(error, "the crop '%.100s' is not [WIDTHxHEIGHT+X+Y]", bracket);
    char *name = bracket ? strndup(operand, (size_t)(bracket - operand)) : strdup(operand);
    if (!name)
        return io_fail(error, "not enough memory");
    *path = name;
    *has_crop = bracket != NULL;
    if (bracket)
        *crop = parsed;
    return true;
}

bool io_check_crop(const io_crop *crop, int64_t width, int64_t height, io_error *error)
{
    /* Differences are compared, because sums may overflow. */
    if (crop->width <= 0 || crop->height <= 0 || crop->x < 0 || crop->y < 0 ||
        crop->width > width || crop->x > width - crop->width || crop->height > height ||
        crop->y > height - crop->height)
        return io_fail(error,
                       "the region %" PRId64 "x%" PRId64 "+%" PRId64 "+%" PRId64
                       " is not inside the picture of %" PRId64 "x%" PRId64 " pixels",
                       crop->width, crop->height, crop->x, crop->y, width, height);
    return true;
}

/* Packs the crop's pixels at the beginning. shrink: the memory is malloc's and can be made smaller. */
static void cut(uint8_t **pixels, bool shrink, int64_t width, const io_crop *crop, int pixel)
{
    size_t stride = (size_t)(width * pixel), row = (size_t)(crop->width * pixel);
    uint8_t *to = *pixels;
    const uint8_t *from = to + (size_t)crop->y * stride + (size_t)(crop->x * pixel);
    for (int64_t y = 0; y < crop->height; y++, to += row, from += stride)
        memmove(to, from, row);
    uint8_t *smaller = shrink ? realloc(*pixels, row * (size_t)crop->height) : NULL;
    if (smaller)
        *pixels = smaller;
}

bool io_crop_picture(io_picture *picture, const io_crop *crop, io_error *error)
{
    if (!io_check_crop(crop, picture->width, picture->height, error))
        return false;
    cut(&picture->samples, !picture->memory, picture->width, crop,
        picture->channels * io_sample_size(picture));
    if (picture->mask)
        cut(&picture->mask, true, picture->width, crop, 1);
    picture->width = crop->width;
    picture->height = crop->height;
    return true;
}
