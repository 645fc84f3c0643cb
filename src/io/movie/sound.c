/* SPDX-License-Identifier: MIT */
#include "sound.h"

#include <math.h>
#include <stdio.h>

#include "state.h"

static double seconds(const io_movie *m, int64_t ticks)
{
    return (double)ticks * m->track->time_base.num / m->track->time_base.den;
}

static int64_t find_first(const movie_sound *s)
{
    const io_movie *m = s->movie;
    const int64_t start = m->container->start_time;
    const double from = s->from + (start == AV_NOPTS_VALUE ? 0 : (double)start / AV_TIME_BASE);
    return llround(from * m->track->time_base.den / m->track->time_base.num);
}

int movie_sound_open(movie_sound *s, const io_libav *libav, const io_movie_sound *wish, AVFormatContext *container)
{
    *s = (movie_sound){.from = wish->from, .to = wish->to};
    if (wish->path)
        s->movie = movie_open_sound(wish->path);
    if (!s->movie)
        return 0;
    const AVCodecParameters *codec = s->movie->track->codecpar;
    if (libav->avformat_query_codec(container->oformat, codec->codec_id, FF_COMPLIANCE_NORMAL) != 1) {
        snprintf(s->refused, sizeof s->refused, "%s", libav->avcodec_get_name(codec->codec_id));
        io_movie_close(&s->movie);
        return 0;
    }
    s->track = libav->avformat_new_stream(container, NULL);
    const int status = s->track ? libav->avcodec_parameters_copy(s->track->codecpar, codec) : AVERROR(ENOMEM);
    if (status < 0)
        return status;
    s->track->codecpar->codec_tag = 0; /* the other container's */
    s->track->time_base = s->movie->track->time_base;
    s->first = find_first(s);
    if (s->from > 0) /* else from the beginning; where that cannot be done, what comes before is read and left out */
        libav->av_seek_frame(s->movie->container, s->movie->track->index, s->first, AVSEEK_FLAG_BACKWARD);
    return 0;
}

/* Reads the next packet, unless one waits. False at the end. */
static bool read(movie_sound *s)
{
    io_movie *m = s->movie;

    while (!m->has_packet) {
        if (m->libav->av_read_frame(m->container, m->packet) < 0)
            return false;
        m->has_packet = m->packet->stream_index == m->track->index && m->packet->pts != AV_NOPTS_VALUE && m->packet->pts >= s->first;
        if (!m->has_packet)
            m->libav->av_packet_unref(m->packet);
    }
    return true;
}

int movie_sound_copy(movie_sound *s, AVFormatContext *container, double until)
{
    io_movie *m = s->movie;
    int status = 0;

    if (until > s->to - s->from)
        until = s->to - s->from;
    while (m && status >= 0 && read(s) && seconds(m, m->packet->pts - s->first) < until) {
        AVPacket *packet = m->packet;
        packet->pts -= s->first;
        packet->dts = packet->dts == AV_NOPTS_VALUE ? packet->pts : packet->dts - s->first;
        packet->pos = -1;
        packet->stream_index = s->track->index;
        m->libav->av_packet_rescale_ts(packet, m->track->time_base, s->track->time_base);
        m->has_packet = false;
        status = m->libav->av_interleaved_write_frame(container, packet); /* takes over what it holds */
    }
    return status;
}

void movie_sound_close(movie_sound *s)
{
    io_movie_close(&s->movie);
}
