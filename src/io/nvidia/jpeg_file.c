/* SPDX-License-Identifier: MIT */
/* Which JPEG files nvJPEG may decode: those whose luma libjpeg takes from the file as it is. */
#include "nvjpeg.h"

#include <string.h>

#include "../format.h"
#include "../orientation.h"

enum { SOF0 = 0xc0, SOF2 = 0xc2, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, SOF15 = 0xcf, RST0 = 0xd0, EOI = 0xd9, SOS = 0xda,
       DRI = 0xdd, APP0 = 0xe0, APP14 = 0xee };

typedef struct jpeg_file {
    const uint8_t *data;
    size_t size, scan; /* scan: where the first one begins */
    const uint8_t *frame; /* the segment of its size, behind its length */
    size_t frame_size;
    int process; /* the marker of that */
    bool jfif, adobe;
    int transform; /* that Adobe's marker tells */
    int64_t restarts; /* a marker after each so many MCUs; 0: none */
} jpeg_file;

static void take_segment(jpeg_file *f, int marker, const uint8_t *data, size_t size)
{
    if (marker >= SOF0 && marker <= SOF15 && marker != DHT && marker != JPG && marker != DAC) {
        f->process = marker;
        f->frame = data;
        f->frame_size = size;
    } else if (marker == DRI && size >= 2) {
        f->restarts = data[0] << 8 | data[1];
    } else if (marker == APP0 && size >= 5 && memcmp(data, "JFIF", 5) == 0) {
        f->jfif = true;
    } else if (marker == APP14 && size >= 12 && memcmp(data, "Adobe", 5) == 0) {
        f->adobe = true;
        f->transform = data[11];
    }
}

/* Goes to the first scan; false where there is none. */
static bool read_segments(jpeg_file *f)
{
    size_t at = 2;
    while (f->size - at >= 4) {
        const uint8_t *marker = f->data + at;
        const size_t size = (size_t)(marker[2] << 8 | marker[3]);
        if (marker[0] != 0xff || marker[1] == 0 || marker[1] == 0xff) {
            at++;
            continue;
        }
        if (marker[1] == EOI || size < 2 || size > f->size - at - 2)
            return false;
        if (marker[1] == SOS) {
            f->scan = at;
            return f->frame != NULL;
        }
        take_segment(f, marker[1], marker + 4, size - 2);
        at += 2 + size;
    }
    return false;
}

/* Finds the next such marker from at on; its place, or SIZE_MAX. */
static size_t find_marker(const jpeg_file *f, size_t at, uint8_t marker)
{
    while (at + 1 < f->size) {
        const uint8_t *found = memchr(f->data + at, 0xff, f->size - at - 1);
        if (!found)
            break;
        if (found[1] == marker)
            return (size_t)(found - f->data);
        at = (size_t)(found - f->data) + 1;
    }
    return SIZE_MAX;
}

static bool has_end(const jpeg_file *f)
{
    const uint8_t *last = f->data + f->size - 2;
    return (last[0] == 0xff && last[1] == EOI) || find_marker(f, f->scan, EOI) != SIZE_MAX;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* How many MCUs the only scan has, which has all components. */
static int64_t count_mcus(const jpeg_file *f)
{
    const int64_t height = f->frame[1] << 8 | f->frame[2], width = f->frame[3] << 8 | f->frame[4];
    const int components = f->frame[5];
    int across = 1, down = 1;
    for (int i = 0; i < components && components > 1; i++) {
        const int factors = f->frame[6 + 3 * i + 1];
        across = factors >> 4 > across ? factors >> 4 : across;
        down = (factors & 15) > down ? factors & 15 : down;
    }
    return divide_up(width, 8 * across) * divide_up(height, 8 * down);
}

/* Whether a file with restart markers has those that its size asks for: one that was cut short has fewer. Nothing else
 * tells without decoding. */
static bool has_all_restarts(const jpeg_file *f)
{
    const bool only_scan = f->process < SOF2 && f->size - f->scan > 4 && f->data[f->scan + 4] == f->frame[5];
    int64_t missing = f->restarts && only_scan ? divide_up(count_mcus(f), f->restarts) - 1 : 0;
    for (size_t at = f->scan + 2; missing > 0; at += 2) {
        const uint8_t *found = at + 1 < f->size ? memchr(f->data + at, 0xff, f->size - at - 1) : NULL;
        if (!found)
            return false;
        at = (size_t)(found - f->data);
        missing -= found[1] >= RST0 && found[1] < RST0 + 8;
        at -= found[1] == 0xff; /* it may begin a marker itself */
    }
    return true;
}

static int count_scans(const jpeg_file *f)
{
    int scans = 0;
    for (size_t at = f->scan; at != SIZE_MAX && scans <= IO_JPEG_MOST_SCANS; at = find_marker(f, at + 1, SOS))
        scans++;
    return scans;
}

/* As libjpeg tells it, which has to make the luma of such colours. */
static bool is_rgb(const jpeg_file *f)
{
    const uint8_t *c = f->frame + 6;
    if (f->jfif)
        return false;
    return f->adobe ? f->transform == 0 : c[0] == 'R' && c[3] == 'G' && c[6] == 'B';
}

/* Whether a component has more samples than the first, which is the luma. */
static bool has_small_luma(const jpeg_file *f, int components)
{
    const int luma = f->frame[7];
    for (int i = 1; i < components; i++) {
        const int own = f->frame[6 + 3 * i + 1];
        if (own >> 4 > luma >> 4 || (own & 15) > (luma & 15))
            return true;
    }
    return false;
}

static const char *find_obstacle(const jpeg_file *f)
{
    const int components = f->frame[5];
    return f->process > 0xc8 && f->process != 0xcb ? "its arithmetic coding"
           : f->process % 4 == 3                    ? "lossless JPEG"
           : f->process > 0xc2                      ? "hierarchical JPEG"
           : f->frame[0] != 8                       ? "samples of more than 8 bits"
           : components == 4                        ? "CMYK"
           : components != 1 && components != 3     ? "so many channels"
           : components == 3 && is_rgb(f)           ? "RGB"
           : has_small_luma(f, components)          ? "luma of a lower resolution than the colours"
                                                    : NULL;
}

io_nvjpeg_kind io_nvjpeg_look(const io_source *source, const io_limits *limits, io_picture *picture, io_error *error)
{
    jpeg_file f = {.data = source->data, .size = source->size};
    const io_limits its = io_limits_of(source, limits);

    if (source->frame || source->size < 4 || io_find_format(source->data, source->size) != &io_format_jpeg)
        return IO_NVJPEG_OTHER;
    if (!read_segments(&f) || f.frame_size < 6 || f.frame_size < 6 + 3 * (size_t)f.frame[5]) {
        io_fail(error, "damaged JPEG: no scan");
        return IO_NVJPEG_BROKEN;
    }
    *picture = (io_picture){.format = io_format_jpeg.name, .bits = 8, .channels = 1, .colored = f.frame[5] > 1,
                            .height = f.frame[1] << 8 | f.frame[2], .width = f.frame[3] << 8 | f.frame[4],
                            .orientation = io_file_orientation(&io_format_jpeg, source)};
    const char *obstacle = find_obstacle(&f);
    if (obstacle) {
        io_fail(error, "%s", obstacle);
        return IO_NVJPEG_UNSUITED;
    }
    if (!io_check_size(picture->width, picture->height, &its, error))
        return IO_NVJPEG_BROKEN;
    if (!has_end(&f)) {
        io_fail(error, "damaged JPEG: the file is truncated");
        return IO_NVJPEG_BROKEN;
    }
    if (!has_all_restarts(&f)) {
        io_fail(error, "damaged JPEG: its data end too early");
        return IO_NVJPEG_BROKEN;
    }
    if (f.process != SOF2 || count_scans(&f) <= IO_JPEG_MOST_SCANS)
        return IO_NVJPEG_SUITED;
    io_fail(error, "damaged JPEG: more than %d scans", IO_JPEG_MOST_SCANS);
    return IO_NVJPEG_BROKEN;
}
