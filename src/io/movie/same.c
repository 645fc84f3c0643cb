/* SPDX-License-Identifier: MIT */
#include "same.h"

#include <string.h>

enum { PLANES = 4 };

/* Codecs change blocks of about so many rows: one of each tells most frames that differ. */
enum { BLOCK = 16 };

/* Bytes of a row of each plane that hold samples; what follows them is anything. */
static void find_widths(const AVPixFmtDescriptor *layout, int width, size_t *bytes)
{
    for (int i = 0; i < layout->nb_components; i++) {
        const AVComponentDescriptor *c = &layout->comp[i];
        const int samples = i == 1 || i == 2 ? AV_CEIL_RSHIFT(width, layout->log2_chroma_w) : width;
        const size_t own = (size_t)(samples - 1) * (size_t)c->step + (size_t)c->offset + (size_t)(c->shift + c->depth + 7) / 8;
        if (own > bytes[c->plane])
            bytes[c->plane] = own;
    }
}

static int rows_of(const AVPixFmtDescriptor *layout, int plane, int height)
{
    return plane == 1 || plane == 2 ? AV_CEIL_RSHIFT(height, layout->log2_chroma_h) : height;
}

static bool same_row(const AVFrame *a, const AVFrame *b, int plane, int y, size_t bytes)
{
    return memcmp(a->data[plane] + (ptrdiff_t)y * a->linesize[plane], b->data[plane] + (ptrdiff_t)y * b->linesize[plane],
                  bytes) == 0;
}

bool movie_same_samples(const io_libav *libav, const AVFrame *a, const AVFrame *b)
{
    enum { UNTOLD = AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL };
    const AVPixFmtDescriptor *layout = libav->av_pix_fmt_desc_get(a->format);
    size_t bytes[PLANES] = {0};

    if (!layout || layout->flags & UNTOLD || a->format != b->format || a->width != b->width || a->height != b->height ||
        a->color_range != b->color_range || a->colorspace != b->colorspace)
        return false;
    find_widths(layout, a->width, bytes);
    for (int first = 0; first < BLOCK; first++)
        for (int p = 0; p < PLANES && bytes[p] > 0; p++)
            for (int y = first; y < rows_of(layout, p, a->height); y += BLOCK)
                if (!same_row(a, b, p, y, bytes[p]))
                    return false;
    return true;
}
