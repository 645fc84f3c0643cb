/* SPDX-License-Identifier: MIT */
/* Gray is the luma plane as it is, 8 bits, or more as 16; of movies in RGB it is Rec. 601 luma, as of
 * pictures. Colours are made by the matrix and range that the movie names, Rec. 601 and the limited range
 * where it names none, and a chroma sample holds for all pixels that share it. */
#include "frame.h"

#include <stdlib.h>
#include <string.h>

#include "movie.h"

typedef struct movie_frame {
    io_frame base;
    const io_libav *libav;
    AVFrame *decoded;
    int orientation;
} movie_frame;

/* How a frame's samples become rows. */
typedef struct row_maker {
    const io_libav *libav;
    const AVFrame *frame;
    const AVPixFmtDescriptor *layout;
    io_color color;
    int bits;            /* of the picture */
    uint16_t *lines[3];  /* a row of each component */
    uint8_t *rgb;        /* a row of all of them */
    double *shares[3];   /* what a row's chroma samples add to R, take off G and add to B */
    double black, light, chroma; /* of Y'CbCr: Y' that is black, what a step of Y' and of the others is worth */
    double red, blue;    /* the weights in Y' */
} row_maker;

static const movie_frame *frame_of(const io_source *source)
{
    return (const movie_frame *)source->frame;
}

static bool is_rgb(const AVPixFmtDescriptor *layout)
{
    return layout->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
}

static bool is_palette(const AVPixFmtDescriptor *layout)
{
    return layout->flags & AV_PIX_FMT_FLAG_PAL;
}

static bool has_alpha(const AVPixFmtDescriptor *layout)
{
    return layout->flags & AV_PIX_FMT_FLAG_ALPHA;
}

static bool is_colored(const AVPixFmtDescriptor *layout)
{
    return layout->nb_components - has_alpha(layout) >= 3 || is_palette(layout);
}

static bool has_plain_luma(const AVPixFmtDescriptor *layout)
{
    const AVComponentDescriptor *luma = &layout->comp[0];
    return !is_rgb(layout) && luma->depth == 8 && luma->step == 1;
}

static bool is_full_range(const AVFrame *frame)
{
    return frame->color_range == AVCOL_RANGE_JPEG || frame->format == AV_PIX_FMT_YUVJ420P ||
           frame->format == AV_PIX_FMT_YUVJ422P || frame->format == AV_PIX_FMT_YUVJ444P ||
           frame->format == AV_PIX_FMT_YUVJ440P || frame->format == AV_PIX_FMT_YUVJ411P;
}

static bool check_layout(const AVPixFmtDescriptor *layout, io_error *error)
{
    enum { UNREAD = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT };
    return (layout && !(layout->flags & UNREAD) && layout->comp[0].depth <= 16 && strncmp(layout->name, "xyz", 3) != 0) ||
           io_fail(error, "its samples, %s, are not read", layout ? layout->name : "of an unknown layout");
}

static void name_colors(row_maker *m)
{
    const bool full = is_full_range(m->frame);
    const int depth = m->layout->comp[0].depth;
    const double most = m->bits == 16 ? 65535 : 255;
    const double unit = depth < 8 ? 1.0 / (1 << (8 - depth)) : 1 << (depth - 8);

    m->black = full ? 0 : 16 * unit;
    m->light = most / (full ? (1 << depth) - 1 : 219 * unit);
    m->chroma = most / (full ? (1 << depth) - 1 : 224 * unit);
    m->red = m->frame->colorspace == AVCOL_SPC_BT709        ? 0.2126
             : m->frame->colorspace == AVCOL_SPC_BT2020_NCL ? 0.2627
             : m->frame->colorspace == AVCOL_SPC_BT2020_CL  ? 0.2627
                                                            : 0.299;
    m->blue = m->red == 0.2126 ? 0.0722 : m->red == 0.2627 ? 0.0593 : 0.114;
}

static void put_sample(uint8_t *to, int bits, int64_t i, int value)
{
    if (bits == 16)
        memcpy(to + 2 * i, &(uint16_t){(uint16_t)value}, 2);
    else
        to[i] = (uint8_t)value;
}

static int to_range(double value, int most)
{
    return value <= 0 ? 0 : value >= most ? most : (int)(value + 0.5);
}

/* Scales by a shift, so that white, 940 in 10 bits, becomes 235 in 8, as Y4M has it. */
static int shift_sample(int value, int from, int to)
{
    const int most = (1 << to) - 1;
    value = from <= to ? value << (to - from) : (value + (1 << (from - to - 1))) >> (from - to);
    return value > most ? most : value;
}

/* Reads a component's samples of the row; those of chroma are fewer. */
static void read_line(const row_maker *m, int component, int y)
{
    const bool chroma = !is_rgb(m->layout) && (component == 1 || component == 2);
    const int row = chroma ? y >> m->layout->log2_chroma_h : y;
    const int width = chroma ? AV_CEIL_RSHIFT(m->frame->width, m->layout->log2_chroma_w) : m->frame->width;
    m->libav->av_read_image_line2(m->lines[component], (const uint8_t **)(uintptr_t)m->frame->data, m->frame->linesize,
                                  m->layout, 0, row, component, width, 0, sizeof *m->lines[component]);
}

/* Reads the row's samples of R, G and B, 8 bits or 16 as the picture has. */
static void read_rgb(const row_maker *m, int y)
{
    const int width = m->frame->width, depth = m->layout->comp[0].depth, most = m->bits == 16 ? 65535 : 255;

    if (is_palette(m->layout)) {
        const uint8_t *index = m->frame->data[0] + (ptrdiff_t)y * m->frame->linesize[0];
        for (int x = 0; x < width; x++) {
            uint32_t argb;
            memcpy(&argb, m->frame->data[1] + 4 * index[x], sizeof argb);
            for (int c = 0; c < 3; c++)
                m->lines[c][x] = argb >> (16 - 8 * c) & 255;
        }
        return;
    }
    for (int c = 0; c < 3; c++) {
        const int own = m->layout->comp[c].depth;
        read_line(m, c, y);
        for (int x = 0; x < width && (own != depth || own != m->bits); x++)
            m->lines[c][x] = (uint16_t)((m->lines[c][x] * (uint32_t)most + (1U << (own - 1))) / ((1U << own) - 1));
    }
}

static void put_rgb_row(const row_maker *m, uint8_t *to, int y)
{
    const int width = m->frame->width;
    uint8_t *rgb = m->color == IO_RGB ? to : m->rgb;

    read_rgb(m, y);
    for (int x = 0; x < width; x++)
        for (int c = 0; c < 3; c++)
            put_sample(rgb, m->bits, 3 * x + c, m->lines[c][x]);
    if (m->color == IO_GRAY && m->bits == 8)
        io_put_row(to, IO_GRAY, rgb, IO_RGB, width);
    else if (m->color == IO_GRAY)
        io_put_deep_row((uint16_t *)(void *)to, IO_GRAY, (const uint16_t *)(const void *)rgb, IO_RGB, width);
}

static void put_luma_row(const row_maker *m, uint8_t *to, int y)
{
    const AVComponentDescriptor *luma = &m->layout->comp[0];
    const uint8_t *from = m->frame->data[luma->plane] + (ptrdiff_t)y * m->frame->linesize[luma->plane];

    if (has_plain_luma(m->layout) && m->bits == 8) {
        memcpy(to, from, (size_t)m->frame->width);
        return;
    }
    read_line(m, 0, y);
    for (int x = 0; x < m->frame->width; x++)
        put_sample(to, m->bits, x, shift_sample(m->lines[0][x], luma->depth, m->bits));
}

/* A chroma sample's share is the same in all pixels that it holds for. */
static void make_shares(const row_maker *m)
{
    const int width = AV_CEIL_RSHIFT(m->frame->width, m->layout->log2_chroma_w);
    const int middle = 1 << (m->layout->comp[0].depth - 1);
    const double green = 1 - m->red - m->blue;

    for (int x = 0; x < width; x++) {
        const double b = 2 * (1 - m->blue) * (m->lines[1][x] - middle) * m->chroma;
        const double r = 2 * (1 - m->red) * (m->lines[2][x] - middle) * m->chroma;
        m->shares[0][x] = r;
        m->shares[1][x] = (m->red * r + m->blue * b) / green;
        m->shares[2][x] = b;
    }
}

static void put_color_row(const row_maker *m, uint8_t *to, int y)
{
    const int most = m->bits == 16 ? 65535 : 255, across = m->layout->log2_chroma_w;
    const bool colored = is_colored(m->layout);

    read_line(m, 0, y);
    if (colored && y % (1 << m->layout->log2_chroma_h) == 0) {
        read_line(m, 1, y);
        read_line(m, 2, y);
        make_shares(m);
    }
    for (int x = 0; x < m->frame->width; x++) {
        const double light = (m->lines[0][x] - m->black) * m->light;
        const int i = x >> across;
        put_sample(to, m->bits, 3 * x, to_range(light + m->shares[0][i], most));
        put_sample(to, m->bits, 3 * x + 1, to_range(light - m->shares[1][i], most));
        put_sample(to, m->bits, 3 * x + 2, to_range(light + m->shares[2][i], most));
    }
}

static int orientation(const io_source *source)
{
    return frame_of(source)->orientation;
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    const movie_frame *f = frame_of(source);
    const AVPixFmtDescriptor *layout = f->libav->av_pix_fmt_desc_get(f->decoded->format);
    if (!check_layout(layout, error))
        return false;
    row_maker m = {.libav = f->libav, .frame = f->decoded, .layout = layout, .color = request->color,
                   .bits = layout->comp[0].depth > 8 && request->deep ? 16 : 8};
    if (!io_picture_allocate(picture, f->decoded->width, f->decoded->height, request->color, m.bits, limits, error))
        return false;
    const size_t width = (size_t)f->decoded->width;
    double *shares = calloc(width, 3 * sizeof *shares + 6 * sizeof(uint16_t)); /* 0 where nothing has colours */
    if (!shares)
        return io_fail(error, "not enough memory");
    uint16_t *lines = (uint16_t *)(shares + 3 * width);
    for (int c = 0; c < 3; c++) {
        m.shares[c] = shares + (size_t)c * width;
        m.lines[c] = lines + (size_t)c * width;
    }
    m.rgb = (uint8_t *)(lines + 3 * width);
    name_colors(&m);
    void (*const put_row)(const row_maker *, uint8_t *, int) = is_rgb(layout)               ? put_rgb_row
                                                               : request->color == IO_GRAY ? put_luma_row
                                                                                           : put_color_row;
    const size_t stride = width * request->color * (size_t)m.bits / 8;
    for (int y = 0; y < f->decoded->height; y++)
        put_row(&m, picture->samples + (size_t)y * stride, y);
    free(shares);
    picture->colored = is_colored(layout);
    picture->alpha_ignored = has_alpha(layout);
    return true;
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    const movie_frame *f = frame_of(rows->source);
    const AVPixFmtDescriptor *layout = f->libav->av_pix_fmt_desc_get(f->decoded->format);
    if (!check_layout(layout, error))
        return false;
    if (!io_check_size(f->decoded->width, f->decoded->height, limits, error))
        return false;
    rows->width = f->decoded->width;
    rows->height = f->decoded->height;
    rows->colored = is_colored(layout);
    rows->alpha_ignored = has_alpha(layout);
    rows->deep = layout->comp[0].depth > 8;
    rows->whole = "a movie's frame";
    return true;
}

static const io_format format = {
    .name = "movie",
    .orientation = orientation,
    .decode = decode,
    .rows_open = rows_open,
};

bool io_movie_on_host(const io_source *source, const io_limits *limits, io_luma *luma)
{
    io_error error;
    if (!source->frame || source->frame->format != &format)
        return false;
    const movie_frame *f = frame_of(source);
    const AVFrame *d = f->decoded;
    const AVPixFmtDescriptor *layout = f->libav->av_pix_fmt_desc_get(d->format);
    const io_limits own = io_limits_of(source, limits);
    if (!check_layout(layout, &error) || !has_plain_luma(layout) || !io_check_size(d->width, d->height, &own, &error) ||
        d->linesize[layout->comp[0].plane] < d->width)
        return false;
    *luma = (io_luma){.memory = d->data[layout->comp[0].plane], .pitch = d->linesize[layout->comp[0].plane], .width = d->width,
                      .height = d->height, .bits = 8, .orientation = f->orientation, .colored = is_colored(layout),
                      .alpha_ignored = has_alpha(layout), .device = -1};
    return true;
}

static void free_frame(io_frame *frame)
{
    movie_frame *f = (movie_frame *)frame;
    f->libav->av_frame_free(&f->decoded);
    free(f);
}

bool io_movie_keep(io_source *source, const io_libav *libav, AVFrame *decoded, int stored_orientation)
{
    movie_frame *f = calloc(1, sizeof *f);
    if (!f)
        return false;
    *f = (movie_frame){.base = {&format, free_frame}, .libav = libav, .decoded = libav->av_frame_alloc(),
                       .orientation = stored_orientation};
    if (!f->decoded) {
        free(f);
        return false;
    }
    libav->av_frame_move_ref(f->decoded, decoded);
    *source = (io_source){.frame = &f->base};
    for (int i = 0; i < AV_NUM_DATA_POINTERS && f->decoded->buf[i]; i++)
        source->size += f->decoded->buf[i]->size;
    return true;
}
