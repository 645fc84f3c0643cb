/* SPDX-License-Identifier: MIT */
/* YUV4MPEG2: the first frame of a movie. Gray is the file's luma as it is. Colours are Rec. 601's,
 * in the limited range (16 to 235) where the header does not say XCOLORRANGE=FULL, and a chroma
 * sample holds for all the pixels that share it. */
#include "y4m.h"
#include "format.h"

#include <stdlib.h>
#include <string.h>

#define SIGNATURE "YUV4MPEG2"

/* The layouts that the header's C names, without the "p10" behind: how many pixels share a chroma
 * sample, each way. */
static const struct chroma_layout {
    const char *name;
    int across, down; /* 0: no chroma */
    bool alpha;
} layouts[] = {
    {"420jpeg", 2, 2, false}, {"420mpeg2", 2, 2, false}, {"420paldv", 2, 2, false},
    {"420", 2, 2, false},     {"411", 4, 1, false},      {"422", 2, 1, false},
    {"440", 1, 2, false},     {"444alpha", 1, 1, true},  {"444", 1, 1, false},
    {"410", 4, 4, false},     {"mono", 0, 0, false},
};

static bool parse_integer(const char *text, size_t length, int64_t *value)
{
    *value = 0;
    if (length == 0 || length > 15)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (text[i] - '0');
    }
    return true;
}

/* "420p10", "mono16", "422" */
static bool parse_chroma(io_y4m *video, const struct chroma_layout **layout, const char *text,
                         size_t length, io_error *error)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const size_t known = strlen(layouts[i].name);
        if (length < known || strncmp(text, layouts[i].name, known) != 0)
            continue;
        const char *rest = text + known;
        size_t left = length - known;
        int64_t bits = 8;
        if (left > 1 && *rest == 'p') {
            rest++;
            left--;
        }
        if (left > 0 && !parse_integer(rest, left, &bits))
            continue;
        if (bits < 8 || bits > 16)
            break;
        *layout = &layouts[i];
        video->bits = (int)bits;
        return true;
    }
    return io_fail(error, "a Y4M movie in the layout '%.*s', which is not read",
                   (int)(length < 40 ? length : 40), text);
}

static void parse_rate(io_y4m *video, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    int64_t rate, scale;
    if (colon && parse_integer(text, (size_t)(colon - text), &rate) &&
        parse_integer(colon + 1, length - (size_t)(colon + 1 - text), &scale) && rate && scale) {
        video->rate = rate;
        video->scale = scale;
    }
}

static bool find_size(io_y4m *video, const struct chroma_layout *layout, io_error *error)
{
    uint64_t luma, chroma = 0, samples;
    video->alpha = layout->alpha;
    if (layout->across) {
        video->chroma_width = (video->width + layout->across - 1) / layout->across;
        video->chroma_height = (video->height + layout->down - 1) / layout->down;
    }
    const uint64_t planes = layout->alpha ? 2 : 1, bytes = video->bits > 8 ? 2 : 1;
    if (__builtin_mul_overflow((uint64_t)video->width, (uint64_t)video->height, &luma) ||
        __builtin_mul_overflow((uint64_t)video->chroma_width, (uint64_t)video->chroma_height,
                               &chroma) ||
        luma > INT64_MAX / 16 || chroma > INT64_MAX / 16)
        return io_fail(error, "damaged Y4M: a frame's size is out of range");
    samples = planes * luma + 2 * chroma;
    video->frame_size = (size_t)(samples * bytes);
    return true;
}

bool io_y4m_parse(io_y4m *video, const uint8_t *line, size_t length, io_error *error)
{
    const struct chroma_layout *layout = &layouts[0];
    const char *text = (const char *)line, *end = text + length;

    *video = (io_y4m){.bits = 8};
    for (text += strlen(SIGNATURE); text < end;) {
        const char *space = memchr(text, ' ', (size_t)(end - text));
        const size_t size = (size_t)((space ? space : end) - text);
        bool good = true;
        if (size > 1 && *text == 'W')
            good = parse_integer(text + 1, size - 1, &video->width);
        else if (size > 1 && *text == 'H')
            good = parse_integer(text + 1, size - 1, &video->height);
        else if (size > 1 && *text == 'F')
            parse_rate(video, text + 1, size - 1);
        else if (size == 16 && strncmp(text, "XCOLORRANGE=FULL", 16) == 0)
            video->full_range = true;
        else if (size > 1 && *text == 'C' &&
                 !parse_chroma(video, &layout, text + 1, size - 1, error))
            return false;
        if (!good)
            return io_fail(error, "damaged Y4M: a frame's size is out of range");
        text += size + 1;
    }
    if (video->width < 1 || video->height < 1)
        return io_fail(error, "damaged Y4M: the header says no size");
    return find_size(video, layout, error);
}

bool io_y4m_begins(const uint8_t *data, size_t size)
{
    return size > strlen(SIGNATURE) && memcmp(data, SIGNATURE " ", strlen(SIGNATURE) + 1) == 0;
}

static bool fail_truncated(io_error *error)
{
    return io_fail(error, "damaged Y4M: the file is truncated");
}

/* Where the first frame's luma begins, or NULL. */
static const uint8_t *find_frame(io_y4m *video, const io_source *source, io_error *error)
{
    const uint8_t *end = source->data + source->size;
    const uint8_t *newline = memchr(source->data, '\n', source->size);
    if (!newline) {
        fail_truncated(error);
        return NULL;
    }
    if (!io_y4m_parse(video, source->data, (size_t)(newline - source->data), error))
        return NULL;
    const uint8_t *frame = newline + 1;
    if (end - frame < 5 || memcmp(frame, "FRAME", 5) != 0) {
        if (end == frame)
            io_fail(error, "a Y4M movie without a frame");
        else if (end - frame < 5)
            fail_truncated(error);
        else
            io_fail(error, "damaged Y4M: byte %td is not where a frame begins", frame - source->data);
        return NULL;
    }
    newline = memchr(frame, '\n', (size_t)(end - frame));
    if (!newline || (size_t)(end - newline - 1) < video->frame_size) {
        fail_truncated(error);
        return NULL;
    }
    return newline + 1;
}

static int sample_at(const io_y4m *video, const uint8_t *plane, int64_t i)
{
    return video->bits > 8 ? plane[2 * i] | plane[2 * i + 1] << 8 : plane[i];
}

/* Scales to 8 or 16 bits by a shift, so that white, 940 in 10 bits, becomes 235 in 8. */
static int scale_sample(int value, int from, int to)
{
    const int most = (1 << to) - 1;
    value = from <= to ? value << (to - from) : (value + (1 << (from - to - 1))) >> (from - to);
    return value > most ? most : value;
}

static void put_sample(uint8_t *to, int bits, int64_t i, int value)
{
    if (bits == 16)
        memcpy(to + 2 * i, &(uint16_t){(uint16_t)value}, 2);
    else
        to[i] = (uint8_t)value;
}

static void put_luma_row(uint8_t *to, int bits, const io_y4m *video, const uint8_t *luma, int64_t y)
{
    const int64_t first = y * video->width;
    if (video->bits == 8 && bits == 8) {
        memcpy(to, luma + first, (size_t)video->width);
        return;
    }
    for (int64_t x = 0; x < video->width; x++)
        put_sample(to, bits, x, scale_sample(sample_at(video, luma, first + x), video->bits, bits));
}

static int to_range(double value, int most)
{
    return value <= 0 ? 0 : value >= most ? most : (int)(value + 0.5);
}

static void put_color_row(uint8_t *to, int bits, const io_y4m *video, const uint8_t *luma, int64_t y)
{
    const int size = video->bits > 8 ? 2 : 1, most = bits == 16 ? 65535 : 255;
    const double unit = 1 << (video->bits - 8), full = (1 << video->bits) - 1;
    const double black = video->full_range ? 0 : 16 * unit, middle = 128 * unit;
    const double light_scale = most / (video->full_range ? full : 219 * unit);
    const double chroma_scale = most / (video->full_range ? full : 224 * unit);
    const int64_t cw = video->chroma_width, ch = video->chroma_height;
    const uint8_t *blue = luma + video->width * video->height * size;
    const uint8_t *red = blue + cw * ch * size;
    const int64_t across = cw ? (video->width + cw - 1) / cw : 1;
    const int64_t down = ch ? (video->height + ch - 1) / ch : 1;

    for (int64_t x = 0; x < video->width; x++) {
        const int64_t k = cw ? y / down * cw + x / across : 0;
        const double light = (sample_at(video, luma, y * video->width + x) - black) * light_scale;
        const double b = cw ? (sample_at(video, blue, k) - middle) * chroma_scale : 0;
        const double r = cw ? (sample_at(video, red, k) - middle) * chroma_scale : 0;
        put_sample(to, bits, 3 * x, to_range(light + 1.402 * r, most));
        put_sample(to, bits, 3 * x + 1, to_range(light - 0.344136 * b - 0.714136 * r, most));
        put_sample(to, bits, 3 * x + 2, to_range(light + 1.772 * b, most));
    }
}

static void put_row(uint8_t *to, int bits, io_color color, const io_y4m *video, const uint8_t *luma,
                    int64_t y)
{
    (color == IO_RGB ? put_color_row : put_luma_row)(to, bits, video, luma, y);
}

static bool put_alpha(io_picture *picture, const io_y4m *video, const uint8_t *luma,
                      const io_request *request, io_error *error)
{
    const int64_t count = video->width * video->height;
    picture->alpha_ignored = video->alpha && !request->alpha;
    if (!video->alpha || !request->alpha)
        return true;
    const uint8_t *alpha = luma + video->frame_size - (size_t)(count * (video->bits > 8 ? 2 : 1));
    picture->mask = malloc((size_t)count);
    for (int64_t i = 0; picture->mask && i < count; i++)
        picture->mask[i] = sample_at(video, alpha, i) ? 255 : 0;
    return picture->mask || io_fail(error, "not enough memory");
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    io_y4m video;
    const uint8_t *luma = find_frame(&video, source, error);
    const int bits = video.bits > 8 && request->deep ? 16 : 8;
    if (!luma || !io_picture_allocate(picture, video.width, video.height, request->color, bits,
                                      limits, error))
        return false;
    picture->colored = video.chroma_width > 0;
    const size_t stride = (size_t)(video.width * request->color * bits / 8);
    for (int64_t y = 0; y < video.height; y++)
        put_row(picture->samples + (size_t)y * stride, bits, request->color, &video, luma, y);
    return put_alpha(picture, &video, luma, request, error);
}

typedef struct row_reader {
    io_y4m video;
    const uint8_t *luma;
} row_reader;

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    row_reader *reader = rows->state;
    const io_y4m *video = &reader->video;
    reader->luma = find_frame(&reader->video, rows->source, error);
    if (!reader->luma || !io_check_size(video->width, video->height, limits, error))
        return false;
    rows->width = video->width;
    rows->height = video->height;
    rows->colored = video->chroma_width > 0;
    rows->alpha_ignored = video->alpha;
    rows->deep = video->bits > 8;
    rows->whole = rows->deep ? "a Y4M of 16-bit samples" : NULL;
    return true;
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    const row_reader *reader = rows->state;
    (void)error;
    put_row(to, 8, rows->color, &reader->video, reader->luma, rows->next);
    return true; /* colours lie further on, so all bytes are of use up to the end */
}

const io_format io_format_y4m = {
    .name = "Y4M",
    .probe = io_y4m_begins,
    .decode = decode,
    .rows_state = sizeof(row_reader),
    .rows_open = rows_open,
    .rows_read = rows_read,
};
