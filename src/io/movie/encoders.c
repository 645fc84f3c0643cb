/* SPDX-License-Identifier: MIT */
#include "encoders.h"

#include <string.h>
#include <strings.h>

#include "writer.h"

/* 120000 ticks are whole numbers of them for the rates of film and television, and for milliseconds. */
static const movie_encoder x264 = {.name = "libx264", .options = {{"preset", "veryfast"}, {"crf", "18"}},
                                   .ticks = 120000, .even = true};
static const movie_encoder vp9 = {.name = "libvpx-vp9", .options = {{"crf", "24"}, {"cpu-used", "5"}, {"row-mt", "1"}},
                                  .ticks = 120000};
static const movie_encoder vp8 = {.name = "libvpx", .options = {{"crf", "8"}, {"cpu-used", "5"}}, .bits_a_pixel = 6,
                                  .ticks = 120000};
static const movie_encoder mpeg4 = {.name = "mpeg4", .quantizer = 2, .ticks = 60000};
static const movie_encoder ffv1 = {.name = "ffv1", .options = {{"level", "3"}}, .ticks = 120000};

static const struct {
    const char *ending;
    const movie_encoder *encoders[4];
} formats[] = {
    {".mp4", {&x264, &mpeg4}},        {".m4v", {&x264, &mpeg4}}, {".mov", {&x264, &mpeg4}},
    {".mkv", {&x264, &mpeg4, &ffv1}}, {".webm", {&vp9, &vp8}},
};

static const movie_encoder *const *encoders_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(dot, formats[i].ending) == 0)
            return formats[i].encoders;
    return NULL;
}

bool io_is_written_movie_name(const char *name)
{
    return encoders_of(name) != NULL;
}

const movie_encoder *movie_find_encoder(const io_libav *libav, const char *name, io_error *error)
{
    const movie_encoder *const *list = encoders_of(name);
    char names[64] = "";

    if (!list) {
        io_fail(error, "a movie's name has to end in " IO_WRITTEN_MOVIES);
        return NULL;
    }
    for (int i = 0; i < 4 && list[i]; i++) {
        if (libav->avcodec_find_encoder_by_name(list[i]->name))
            return list[i];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", list[i]->name);
    }
    io_fail(error, "the libavcodec that is installed has none of the encoders for such a movie: %s", names);
    return NULL;
}

const char *io_movie_encoder(const char *name, io_error *error)
{
    const io_libav *libav = io_libav_open(error);
    const movie_encoder *encoder = libav ? movie_find_encoder(libav, name, error) : NULL;
    return encoder ? encoder->name : NULL;
}

/* Players take larger movies that name no colours for Rec. 709, and smaller ones for Rec. 601: they are named, and so
 * chosen that this does not matter. */
static void name_colors(AVCodecContext *c)
{
    const bool high = c->height >= 720;
    c->color_range = AVCOL_RANGE_MPEG;
    c->colorspace = high ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    c->color_primaries = high ? AVCOL_PRI_BT709 : AVCOL_PRI_SMPTE170M;
    c->color_trc = high ? AVCOL_TRC_BT709 : AVCOL_TRC_SMPTE170M;
}

int movie_open_encoder(AVCodecContext **codec, const movie_encoder *e, const io_libav *av, int width, int height,
                       int threads, bool global_header, io_libav_log *log)
{
    enum { USUAL_RATE = 25, LEVEL_RATE = 60 };
    const AVCodec *own = av->avcodec_find_encoder_by_name(e->name);
    AVCodecContext *c = own ? av->avcodec_alloc_context3(own) : NULL;
    AVDictionary *options = NULL;

    if (!c)
        return AVERROR(ENOMEM);
    *codec = c;
    c->opaque = log;
    c->width = width;
    c->height = height;
    c->pix_fmt = e->even && (width | height) & 1 ? AV_PIX_FMT_YUV444P : AV_PIX_FMT_YUV420P;
    c->time_base = (AVRational){1, e->ticks};
    c->framerate = (AVRational){LEVEL_RATE, 1}; /* times tell the rate; this chooses the level */
    c->thread_count = threads;
    c->bit_rate = (int64_t)width * height * e->bits_a_pixel * USUAL_RATE;
    c->flags |= global_header ? AV_CODEC_FLAG_GLOBAL_HEADER : 0;
    if (e->quantizer) {
        c->flags |= AV_CODEC_FLAG_QSCALE;
        c->global_quality = e->quantizer * FF_QP2LAMBDA;
    }
    name_colors(c);
    for (int i = 0; i < 3 && e->options[i][0]; i++)
        av->av_dict_set(&options, e->options[i][0], e->options[i][1], 0);
    const int status = av->avcodec_open2(c, own, &options);
    av->av_dict_free(&options);
    return status;
}
