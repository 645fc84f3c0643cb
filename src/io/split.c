/* SPDX-License-Identifier: MIT */
#include "split.h"
#include "format.h"

#include <inttypes.h>
#include <string.h>

/* What is longer than this is no header. */
enum { LONGEST_HEADER = 64 << 10, LONGEST_SIGNATURE = 26 };

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little_endian(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static int finish(io_splitter *s, size_t end)
{
    s->end = end;
    return IO_SPLIT_PICTURE;
}

/* Ends a picture whose length is known. */
static int scan_known(io_splitter *s, const uint8_t *data, size_t size)
{
    (void)data;
    return size >= s->need ? finish(s, (size_t)s->need) : IO_SPLIT_MORE;
}

static int known(io_splitter *s, uint64_t length, size_t size)
{
    s->need = length;
    s->scan = scan_known;
    return scan_known(s, NULL, size);
}

/* Reads the next number of a PNM header, behind white space and comments. MORE where it may go on
 * behind the data. */
static int pnm_number(const uint8_t *data, size_t size, size_t *at, uint64_t *value)
{
    while (*at < size && (is_space(data[*at]) || data[*at] == '#')) {
        if (data[*at] == '#') {
            const uint8_t *newline = memchr(data + *at, '\n', size - *at);
            if (!newline)
                return IO_SPLIT_MORE;
            *at = (size_t)(newline - data);
        }
        ++*at;
    }
    if (*at < size && !is_digit(data[*at]))
        return IO_SPLIT_BROKEN;
    for (*value = 0; *at < size && is_digit(data[*at]); ++*at)
        if ((*value = *value * 10 + (data[*at] - '0')) > 1000000000000000)
            return IO_SPLIT_BROKEN;
    return *at < size ? IO_SPLIT_PICTURE : IO_SPLIT_MORE;
}

/* Passes over samples as text: numbers, or the digits of a bitmap. */
static int scan_plain(io_splitter *s, const uint8_t *data, size_t size)
{
    enum { BETWEEN, NUMBER, COMMENT };
    const bool bitmap = data[1] == '1';
    for (; s->at < size; s->at++) {
        const uint8_t c = data[s->at];
        if (s->stage == COMMENT) {
            s->stage = c == '\n' ? BETWEEN : COMMENT;
            continue;
        }
        if (is_digit(c) && (bitmap || s->stage == BETWEEN))
            s->left--;
        else if (!is_digit(c) && !is_space(c) && c != '#')
            return c == 'P' ? finish(s, s->at) : IO_SPLIT_BROKEN; /* this one is torn, and another begins */
        s->stage = c == '#' ? COMMENT : is_digit(c) ? NUMBER : BETWEEN;
        if (s->left == 0 && (bitmap || s->stage != NUMBER))
            return finish(s, s->at + (bitmap || is_space(c)));
    }
    return IO_SPLIT_MORE;
}

static int scan_pnm(io_splitter *s, const uint8_t *data, size_t size)
{
    const int variant = data[1] - '0';
    const bool bitmap = variant % 3 == 1, raw = variant > 3;
    uint64_t width, height, maxval = 1, row, bytes;
    size_t at = 2;
    int found;

    if ((found = pnm_number(data, size, &at, &width)) == IO_SPLIT_PICTURE &&
        (found = pnm_number(data, size, &at, &height)) == IO_SPLIT_PICTURE && !bitmap)
        found = pnm_number(data, size, &at, &maxval);
    if (found == IO_SPLIT_PICTURE && raw && data[at] == '#') {
        const uint8_t *newline = memchr(data + at, '\n', size - at);
        at = newline ? (size_t)(newline - data) : at;
        found = newline ? IO_SPLIT_PICTURE : IO_SPLIT_MORE;
    }
    if (found != IO_SPLIT_PICTURE)
        return found == IO_SPLIT_MORE && size > LONGEST_HEADER ? IO_SPLIT_BROKEN : found;
    row = variant % 3 == 0 ? 3 * width : width;
    if (raw)
        row = bitmap ? (row + 7) / 8 : maxval > 255 ? 2 * row : row;
    if ((raw && !is_space(data[at])) || width == 0 || height == 0 || maxval == 0 ||
        maxval > 65535 || __builtin_mul_overflow(row, height, &bytes) || bytes > INT64_MAX / 2)
        return IO_SPLIT_BROKEN;
    if (raw)
        return known(s, bytes + at + 1, size);
    s->at = at;
    s->left = bytes;
    s->need = at + bytes;
    s->scan = scan_plain;
    return scan_plain(s, data, size);
}

/* Passes over chunks up to IEND. */
static int scan_png(io_splitter *s, const uint8_t *data, size_t size)
{
    if (s->at == 0)
        s->at = 8;
    while (s->at <= size && size - s->at >= 8) {
        const uint8_t *chunk = data + s->at;
        const uint32_t length = big_endian(chunk);
        if (length > INT32_MAX)
            return IO_SPLIT_BROKEN;
        for (int i = 4; i < 8; i++)
            if ((chunk[i] | 32) < 'a' || (chunk[i] | 32) > 'z')
                return IO_SPLIT_BROKEN;
        if (memcmp(chunk + 4, "IEND", 4) == 0)
            return known(s, s->at + length + 12, size);
        s->at += (size_t)length + 12;
    }
    s->need = s->at + 12;
    return IO_SPLIT_MORE;
}

/* Passes over segments and, behind SOS, coded data, in which 0xff stands only before 0 and the
 * numbers of restarts. A picture that is torn ends where another begins. */
static int scan_jpeg(io_splitter *s, const uint8_t *data, size_t size)
{
    size_t at = s->at ? s->at : 2;
    while (at < size) {
        const uint8_t *mark = memchr(data + at, 0xff, size - at);
        if (!mark) {
            at = size;
            break;
        }
        at = (size_t)(mark - data);
        if (size - at < 2)
            break;
        const uint8_t code = mark[1];
        if (code == 0xd9)
            return finish(s, at + 2);
        if (code == 0xd8)
            return finish(s, at);
        if (code == 0xff) {
            at++;
        } else if (code <= 1 || (code >= 0xd0 && code <= 0xd7)) {
            at += 2;
        } else if (size - at < 4) {
            break;
        } else {
            at += 2 + (size_t)(mark[2] << 8 | mark[3]);
        }
    }
    s->at = at;
    s->need = at + 2;
    return IO_SPLIT_MORE;
}

static int scan_bmp(io_splitter *s, const uint8_t *data, size_t size)
{
    return known(s, little_endian(data + 2), size);
}

/* Ends a RIFF file, whose header says how long it is; chunks have even lengths. */
static int scan_webp(io_splitter *s, const uint8_t *data, size_t size)
{
    const uint64_t length = little_endian(data + 4);
    return known(s, 8 + length + (length & 1), size);
}

static int scan_npy(io_splitter *s, const uint8_t *data, size_t size)
{
    uint64_t length;
    bool whole;
    if (!io_npy_measure(data, size, &length, &whole))
        return IO_SPLIT_BROKEN;
    s->need = length;
    return whole ? known(s, length, size) : IO_SPLIT_MORE;
}

static int scan_movie(io_splitter *s, const uint8_t *data, size_t size)
{
    io_error error;
    const size_t most = size < IO_Y4M_LONGEST_HEADER ? size : IO_Y4M_LONGEST_HEADER;
    const uint8_t *newline = memchr(data, '\n', most);
    if (!newline)
        return size < IO_Y4M_LONGEST_HEADER ? IO_SPLIT_MORE : IO_SPLIT_BROKEN;
    s->end = (size_t)(newline - data);
    if (!io_y4m_parse(&s->video, data, s->end++, &error))
        return IO_SPLIT_BROKEN;
    s->in_movie = true;
    return IO_SPLIT_HEADER;
}

static int scan_movie_frame(io_splitter *s, const uint8_t *data, size_t size)
{
    const size_t most = size < IO_Y4M_LONGEST_HEADER ? size : IO_Y4M_LONGEST_HEADER;
    const uint8_t *newline = memchr(data, '\n', most);
    if (!newline)
        return size < IO_Y4M_LONGEST_HEADER ? IO_SPLIT_MORE : IO_SPLIT_BROKEN;
    return known(s, (uint64_t)(newline + 1 - data) + s->video.frame_size, size);
}

static bool has_signature(const uint8_t *data, size_t size, const char *bytes, size_t length)
{
    return size >= length && memcmp(data, bytes, length) == 0;
}

/* The function for the format that the bytes begin with; NULL: none that is read. */
static int (*find_scan(const io_splitter *s, const uint8_t *data, size_t size))(
    io_splitter *, const uint8_t *, size_t)
{
    if (s->in_movie && has_signature(data, size, "FRAME", 5) && size > 5 &&
        (data[5] == '\n' || data[5] == ' '))
        return scan_movie_frame;
    if (size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' &&
        (is_space(data[2]) || data[2] == '#'))
        return scan_pnm;
    if (has_signature(data, size, "\x89PNG\r\n\x1a\n", 8))
        return scan_png;
    if (has_signature(data, size, "\xff\xd8\xff", 3))
        return scan_jpeg;
    if (has_signature(data, size, "\x93NUMPY", 6))
        return scan_npy;
    if (io_y4m_begins(data, size))
        return scan_movie;
    if (size < LONGEST_SIGNATURE || !io_find_format(data, size))
        return NULL;
    if (memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0)
        return scan_webp;
    /* a length that holds the headers, and four bytes that are always 0 */
    if (memcmp(data, "BM", 2) == 0 && memcmp(data + 6, "\0\0\0\0", 4) == 0 &&
        little_endian(data + 2) >= 26)
        return scan_bmp;
    return NULL;
}

io_split io_split_next(io_splitter *s, const uint8_t *data, size_t size, bool ended)
{
    if (!s->scan) {
        s->scan = find_scan(s, data, size);
        if (!s->scan)
            return size < LONGEST_SIGNATURE && !ended ? IO_SPLIT_MORE : IO_SPLIT_NONE;
        s->in_movie = s->scan == scan_movie_frame;
    }
    const int found = s->scan(s, data, size);
    if (found != IO_SPLIT_MORE) {
        const io_splitter done = *s;
        *s = (io_splitter){.in_movie = done.in_movie, .video = done.video, .end = done.end};
        if (done.need > (found == IO_SPLIT_PICTURE ? done.end : size))
            s->said = done.need;
    }
    return (io_split)found;
}

size_t io_split_skip(const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (i < size && is_space(data[i]))
        i++;
    return i;
}

void io_split_fail(io_split found, int64_t offset, io_error *error)
{
    io_fail(error,
            found == IO_SPLIT_NONE
                ? "no picture begins at byte %" PRId64 ", and nothing after it is read"
                : "the picture at byte %" PRId64
                  " is damaged: where it ends cannot be told, and nothing after it is read",
            offset);
}
