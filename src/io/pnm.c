/* SPDX-License-Identifier: MIT */
/* netpbm's P1 to P6: bitmaps, gray and colour, plain and raw. */
#include "format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct pnm {
    const io_source *source;
    const uint8_t *data, *at, *end;
    int64_t width, height;
    int channels;
    int maxval; /* 1 for bitmaps, whose 1 is black */
    bool bitmap, raw;
    bool deep;  /* rows are read in 16 bits */
    uint8_t scaled[256]; /* a file's sample as 0..255, if maxval is below 256 */
} pnm;

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' &&
           (is_space(data[2]) || data[2] == '#');
}

static bool fail_truncated(io_error *error)
{
    return io_fail(error, "damaged PNM: the file is truncated");
}

static void skip_comment(pnm *file)
{
    while (file->at < file->end && *file->at != '\n')
        file->at++;
}

static void skip_space(pnm *file)
{
    while (file->at < file->end && (is_space(*file->at) || *file->at == '#'))
        if (*file->at == '#')
            skip_comment(file);
        else
            file->at++;
}

static bool parse_number(pnm *file, int64_t *value, io_error *error)
{
    const int64_t largest = 1000000000000000;
    skip_space(file);
    if (file->at == file->end)
        return fail_truncated(error);
    if (!is_digit(*file->at))
        return io_fail(error, "damaged PNM: byte %td is not part of a number",
                       file->at - file->data);
    for (*value = 0; file->at < file->end && is_digit(*file->at); file->at++)
        if ((*value = *value * 10 + (*file->at - '0')) > largest)
            return io_fail(error, "damaged PNM: a number is too large");
    return true;
}

/* One whitespace character ends a raw file's header: what follows may look like
 * whitespace and is samples. A comment there ends with that character. */
static bool end_header(pnm *file, io_error *error)
{
    if (!file->raw)
        return true;
    if (file->at < file->end && *file->at == '#')
        skip_comment(file);
    if (file->at == file->end)
        return fail_truncated(error);
    return is_space(*file->at++) || io_fail(error, "damaged PNM: the header does not end");
}

static bool parse_header(pnm *file, io_error *error)
{
    int variant = file->data[1] - '0';
    int64_t maxval = 1;
    file->raw = variant > 3;
    file->bitmap = variant % 3 == 1;
    file->channels = variant % 3 == 0 ? 3 : 1;
    file->at += 2;
    if (!parse_number(file, &file->width, error) || !parse_number(file, &file->height, error) ||
        (!file->bitmap && !parse_number(file, &maxval, error)) || !end_header(file, error))
        return false;
    if (maxval < 1 || maxval > 65535)
        return io_fail(error, "damaged PNM: the greatest sample is %" PRId64, maxval);
    file->maxval = (int)maxval;
    for (int i = 0; i <= file->maxval && i < 256; i++)
        file->scaled[i] = (uint8_t)((i * 255 + file->maxval / 2) / file->maxval);
    if (file->bitmap) {
        file->scaled[0] = 255;
        file->scaled[1] = 0;
    }
    return true;
}

/* Called before memory is taken, so that a short file that announces a large picture costs nothing.
 * A plain sample takes a digit and, except in P1, a space. */
static bool check_length(const pnm *file, io_error *error)
{
    int64_t samples = file->width * file->channels, needed = samples;
    if (file->raw && file->bitmap)
        needed = (samples + 7) / 8;
    else if (!file->raw && !file->bitmap)
        needed = 2 * samples;
    else if (file->maxval > 255)
        needed = 2 * samples;
    int64_t available = file->end - file->at + !file->raw;
    return needed <= available / file->height || fail_truncated(error);
}

static bool read_plain_row(pnm *file, uint8_t *row, io_error *error)
{
    for (int64_t i = 0; i < file->width * file->channels; i++) {
        int64_t value;
        if (file->bitmap) {
            skip_space(file);
            if (file->at == file->end)
                return fail_truncated(error);
            value = *file->at++ - '0';
        } else if (!parse_number(file, &value, error)) {
            return false;
        }
        if (value < 0 || value > file->maxval)
            return io_fail(error, "damaged PNM: a sample is outside 0..%d", file->maxval);
        row[i] = file->scaled[value];
    }
    return true;
}

static void read_raw_bits(pnm *file, uint8_t *row)
{
    for (int64_t x = 0; x < file->width; x++)
        row[x] = file->scaled[(file->at[x / 8] >> (7 - x % 8)) & 1];
    file->at += (file->width + 7) / 8;
}

static bool read_raw_scaled(pnm *file, uint8_t *row, io_error *error)
{
    int64_t samples = file->width * file->channels;
    uint8_t greatest = 0;
    for (int64_t i = 0; i < samples; i++) {
        greatest = file->at[i] > greatest ? file->at[i] : greatest;
        row[i] = file->scaled[file->at[i]];
    }
    file->at += samples;
    return greatest <= file->maxval ||
           io_fail(error, "damaged PNM: a sample is outside 0..%d", file->maxval);
}

/* Points *row at the next row's samples, in scratch or in the file itself. */
static bool read_row(pnm *file, uint8_t *scratch, const uint8_t **row, io_error *error)
{
    *row = scratch;
    if (!file->raw)
        return read_plain_row(file, scratch, error);
    if (file->bitmap) {
        read_raw_bits(file, scratch);
        return true;
    }
    if (file->maxval < 255)
        return read_raw_scaled(file, scratch, error);
    *row = file->at;
    file->at += file->width * file->channels;
    return true;
}

/* Reads a row of samples of two bytes, or of numbers up to maxval, scaled to 0..65535 or 0..255. */
static bool read_deep_row(pnm *file, uint16_t *row, io_error *error)
{
    const uint64_t most = file->deep ? 65535 : 255, maxval = (uint64_t)file->maxval;
    for (int64_t i = 0; i < file->width * file->channels; i++) {
        int64_t value;
        if (file->raw) {
            value = file->at[0] << 8 | file->at[1];
            file->at += 2;
        } else if (!parse_number(file, &value, error)) {
            return false;
        }
        if (value > file->maxval)
            return io_fail(error, "damaged PNM: a sample is outside 0..%d", file->maxval);
        row[i] = (uint16_t)(((uint64_t)value * most + maxval / 2) / maxval);
    }
    return true;
}

/* Reads the rows of a file of more than 8 bits. */
static bool read_deep_rows(pnm *file, io_picture *picture, void *memory, io_error *error)
{
    const size_t stride =
        (size_t)(picture->width * picture->channels * io_sample_size(picture));
    const int64_t samples = file->width * file->channels;
    uint16_t *row = memory;
    for (int64_t y = 0; y < picture->height; y++) {
        uint8_t *to = picture->samples + (size_t)y * stride;
        if (io_source_late(file->source, error) || !read_deep_row(file, row, error))
            return false;
        if (file->deep) {
            io_put_deep_row((uint16_t *)(void *)to, picture->channels, row, file->channels,
                            picture->width);
            continue;
        }
        uint8_t *narrow = memory;
        for (int64_t i = 0; i < samples; i++)
            narrow[i] = (uint8_t)row[i];
        io_put_row(to, picture->channels, narrow, file->channels, picture->width);
    }
    return true;
}

static bool read_rows(pnm *file, io_picture *picture, uint8_t *scratch, io_error *error)
{
    size_t stride = (size_t)(picture->width * picture->channels);
    if (file->maxval > 255)
        return read_deep_rows(file, picture, scratch, error);
    for (int64_t y = 0; y < picture->height; y++) {
        const uint8_t *row;
        if (io_source_late(file->source, error) || !read_row(file, scratch, &row, error))
            return false;
        io_put_row(picture->samples + (size_t)y * stride, picture->channels, row,
                   file->channels, picture->width);
    }
    return true;
}

static bool begin(pnm *file, const io_source *source, const io_limits *limits, io_error *error)
{
    *file = (pnm){.source = source, .data = source->data, .at = source->data, .end = source->data + source->size};
    return parse_header(file, error) && io_check_size(file->width, file->height, limits, error) &&
           check_length(file, error);
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    pnm file;
    if (!begin(&file, source, limits, error))
        return false;
    /* as with libpng, luma is computed in 16 bits first, which loses less */
    const bool luma = file.channels == 3 && request->color == IO_GRAY;
    file.deep = file.maxval > 255 && (request->deep || luma);
    if (!io_picture_allocate(picture, file.width, file.height, request->color,
                             file.deep ? 16 : 8, limits, error))
        return false;
    picture->colored = file.channels == 3;
    uint8_t *scratch = malloc((size_t)(file.width * file.channels) * sizeof(uint16_t));
    bool ok = scratch ? read_rows(&file, picture, scratch, error)
                      : io_fail(error, "not enough memory");
    free(scratch);
    return ok && (request->deep || io_set_bits(picture, 8, error));
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    pnm *file = rows->state;
    if (!begin(file, rows->source, limits, error))
        return false;
    rows->width = file->width;
    rows->height = file->height;
    rows->colored = file->channels == 3;
    rows->deep = file->maxval > 255;
    rows->onwards = !file->raw;
    rows->whole = rows->deep ? "a PNM of 16-bit samples" : NULL;
    rows->row = malloc((size_t)(rows->width * file->channels));
    return rows->row || io_fail(error, "not enough memory");
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    pnm *file = rows->state;
    const uint8_t *row;
    if (!read_row(file, rows->row, &row, error))
        return false;
    io_put_row(to, rows->color, row, file->channels, rows->width);
    rows->used = (size_t)(file->at - file->data);
    return true;
}

/* The file is long enough, as begin has seen. */
static int64_t rows_skip(io_rows *rows, int64_t count)
{
    pnm *file = rows->state;
    if (!file->raw)
        return 0;
    const int64_t samples = file->width * file->channels;
    file->at += count * (file->bitmap ? (samples + 7) / 8 : samples);
    return count;
}

const io_format io_format_pnm = {
    .name = "PNM",
    .probe = probe,
    .decode = decode,
    .rows_state = sizeof(pnm),
    .rows_open = rows_open,
    .rows_read = rows_read,
    .rows_skip = rows_skip,
};
