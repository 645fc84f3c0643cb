/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert.h"
#include "encoders.h"
#include "sound.h"

enum { BUFFER_BYTES = 64 << 10 };

struct io_movie_writer {
    const io_libav *libav;
    io_output output;
    AVIOContext *io;
    AVFormatContext *container;
    AVStream *track;
    AVCodecContext *codec;
    AVPacket *packet;
    movie_sound sound;
    io_libav_log log;
    int64_t last; /* the time of the last picture, in the codec's ticks, */
    int64_t step; /* and of the one before, until then */
    bool begun;   /* the header is written */
};

#if LIBAVFORMAT_VERSION_MAJOR >= 61
static int write_bytes(void *data, const uint8_t *bytes, int size)
#else
static int write_bytes(void *data, uint8_t *bytes, int size)
#endif
{
    io_movie_writer *w = data;
    errno = EIO;
    return fwrite(bytes, 1, (size_t)size, w->output.file) == (size_t)size ? size : AVERROR(errno);
}

static int64_t seek(void *data, int64_t offset, int whence)
{
    io_movie_writer *w = data;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE)
        return AVERROR(ENOSYS);
    return fseeko(w->output.file, (off_t)offset, whence) == 0 ? (int64_t)ftello(w->output.file) : AVERROR(errno);
}

static bool fail(io_movie_writer *w, int status, io_error *error)
{
    char meaning[64] = "";
    w->libav->av_strerror(status, meaning, sizeof meaning);
    pthread_mutex_lock(&w->log.lock);
    io_fail(error, "the movie cannot be written: %s", *w->log.first ? w->log.first : meaning);
    pthread_mutex_unlock(&w->log.lock);
    return false;
}

static bool open_io(io_movie_writer *w, const char *path, io_error *error)
{
    if (!io_output_open(&w->output, path, error))
        return false;
    uint8_t *buffer = w->libav->av_malloc(BUFFER_BYTES);
    const bool seeks = lseek(fileno(w->output.file), 0, SEEK_CUR) >= 0;
    if (buffer)
        w->io = w->libav->avio_alloc_context(buffer, BUFFER_BYTES, 1, w, NULL, write_bytes, seeks ? seek : NULL);
    if (!w->io && buffer)
        w->libav->av_freep(&buffer);
    return w->io || io_fail(error, "not enough memory");
}

static bool open_container(io_movie_writer *w, const char *path, io_error *error)
{
    const char *name = strrchr(path, '/'); /* the format is known by its ending */
    const int status = w->libav->avformat_alloc_output_context2(&w->container, NULL, NULL, name ? name + 1 : path);
    if (status < 0)
        return fail(w, status, error);
    w->container->opaque = &w->log;
    w->container->pb = w->io;
    w->container->flags |= AVFMT_FLAG_CUSTOM_IO;
    w->track = w->libav->avformat_new_stream(w->container, NULL);
    w->packet = w->libav->av_packet_alloc();
    return (w->track && w->packet) || io_fail(error, "not enough memory");
}

static bool open_codec(io_movie_writer *w, const movie_encoder *encoder, int64_t width, int64_t height, int threads,
                       const io_movie_sound *sound, io_error *error)
{
    if (width > INT_MAX / 4 || height > INT_MAX / 4)
        return io_fail(error, "no movie can have such large pictures");
    int status = movie_open_encoder(&w->codec, encoder, w->libav, (int)width, (int)height, threads,
                                    w->container->oformat->flags & AVFMT_GLOBALHEADER, &w->log);
    if (status >= 0)
        status = w->libav->avcodec_parameters_from_context(w->track->codecpar, w->codec);
    w->track->time_base = w->codec ? w->codec->time_base : (AVRational){1, 1};
    if (status >= 0)
        status = movie_sound_open(&w->sound, w->libav, sound, w->container);
    if (status >= 0)
        status = w->libav->avformat_write_header(w->container, NULL);
    w->begun = status >= 0;
    return w->begun || fail(w, status, error);
}

bool io_movie_create(io_movie_writer **writer, const char *path, int64_t width, int64_t height, int threads,
                     const io_movie_sound *sound, io_error *error)
{
    const io_libav *libav = io_libav_open(error);
    const movie_encoder *encoder = libav ? movie_find_encoder(libav, path, error) : NULL;
    io_movie_writer *w = encoder ? calloc(1, sizeof *w) : NULL;

    if (!w)
        return encoder ? io_fail(error, "not enough memory") : false;
    *w = (io_movie_writer){.libav = libav, .last = INT64_MIN};
    pthread_mutex_init(&w->log.lock, NULL);
    *writer = w;
    if (open_io(w, path, error) && open_container(w, path, error) &&
        open_codec(w, encoder, width, height, threads, sound, error))
        return true;
    io_movie_abort(writer);
    return false;
}

/* Gives the codec a frame, or NULL at the end, and writes what comes of it and those before. */
static int encode(io_movie_writer *w, const AVFrame *frame)
{
    const io_libav *av = w->libav;
    int status = av->avcodec_send_frame(w->codec, frame);

    while (status >= 0) {
        status = av->avcodec_receive_packet(w->codec, w->packet);
        if (status == AVERROR(EAGAIN) || status == AVERROR_EOF)
            return 0;
        if (status < 0)
            return status;
        w->packet->stream_index = w->track->index;
        if (!frame) /* the last is shown as long as the one before */
            w->packet->duration = w->step;
        av->av_packet_rescale_ts(w->packet, w->codec->time_base, w->track->time_base);
        status = av->av_interleaved_write_frame(w->container, w->packet); /* takes over what it holds */
    }
    return status;
}

bool io_movie_add(io_movie_writer *w, const io_picture *picture, double time, io_error *error)
{
    const int64_t tick = llround(time * w->codec->time_base.den);
    AVFrame *frame = w->libav->av_frame_alloc();

    if (!frame)
        return io_fail(error, "not enough memory");
    frame->format = w->codec->pix_fmt;
    frame->width = w->codec->width;
    frame->height = w->codec->height;
    frame->colorspace = w->codec->colorspace;
    frame->color_range = w->codec->color_range;
    frame->pts = tick > w->last ? tick : w->last + 1;
    frame->quality = w->codec->global_quality;
    w->step = w->last == INT64_MIN ? 0 : frame->pts - w->last;
    w->last = frame->pts;
    int status = w->libav->av_frame_get_buffer(frame, 0);
    if (status >= 0) {
        movie_convert(frame, picture);
        status = encode(w, frame);
    }
    if (status >= 0)
        status = movie_sound_copy(&w->sound, w->container, time);
    w->libav->av_frame_free(&frame);
    return status >= 0 || fail(w, status, error);
}

const char *io_movie_refused_sound(const io_movie_writer *w)
{
    return w->sound.refused;
}

static void close_libav(io_movie_writer *w)
{
    movie_sound_close(&w->sound);
    w->libav->avcodec_free_context(&w->codec);
    w->libav->av_packet_free(&w->packet);
    w->libav->avformat_free_context(w->container);
    if (w->io) {
        w->libav->av_freep(&w->io->buffer);
        w->libav->avio_context_free(&w->io);
    }
    pthread_mutex_destroy(&w->log.lock);
}

bool io_movie_commit(io_movie_writer **writer, io_error *error)
{
    io_movie_writer *w = *writer;
    int status = encode(w, NULL);
    if (status >= 0)
        status = movie_sound_copy(&w->sound, w->container, INFINITY);
    if (status >= 0)
        status = w->libav->av_write_trailer(w->container);
    if (status < 0) {
        fail(w, status, error);
        io_movie_abort(writer);
        return false;
    }
    close_libav(w);
    const bool good = io_output_commit(&w->output, error);
    free(w);
    *writer = NULL;
    return good;
}

void io_movie_abort(io_movie_writer **writer)
{
    io_movie_writer *w = *writer;
    if (!w)
        return;
    close_libav(w);
    if (w->output.file)
        io_output_abort(&w->output);
    free(w);
    *writer = NULL;
}
