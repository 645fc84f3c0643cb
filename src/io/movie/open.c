/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "clock.h"
#include "device.h"
#include "limits.h"

/* Which of EXIF's orientations a display matrix stands for: 0 for none, or one that turns by other
 * angles. */
static int orientation_of(const int32_t *matrix)
{
    static const signed char known[9][4] = {{0}, {1, 0, 0, 1}, {-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1},
                                            {0, 1, 1, 0}, {0, 1, -1, 0}, {0, -1, -1, 0}, {0, -1, 1, 0}};
    const int32_t own[4] = {matrix[0], matrix[1], matrix[3], matrix[4]};
    for (int i = 2; i < 9; i++) {
        bool same = true;
        for (int k = 0; k < 4; k++)
            same &= known[i][k] == (own[k] > 0) - (own[k] < 0);
        if (same)
            return i;
    }
    return 0;
}

static int find_orientation(const io_movie *m)
{
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    const AVCodecParameters *p = m->track->codecpar;
    const AVPacketSideData *data = m->libav->av_packet_side_data_get(p->coded_side_data, p->nb_coded_side_data,
                                                                     AV_PKT_DATA_DISPLAYMATRIX);
    const uint8_t *bytes = data ? data->data : NULL;
    const size_t size = data ? data->size : 0;
#else
    size_t size = 0;
    const uint8_t *bytes = m->libav->av_stream_get_side_data(m->track, AV_PKT_DATA_DISPLAYMATRIX, &size);
#endif
    int32_t matrix[9];
    if (!bytes || size < sizeof matrix)
        return 0;
    memcpy(matrix, bytes, sizeof matrix);
    return orientation_of(matrix);
}

/* A container may name other files and addresses, none of which is opened. */
static int open_nothing(AVFormatContext *container, AVIOContext **input, const char *url, int flags,
                        AVDictionary **options)
{
    (void)container, (void)input, (void)url, (void)flags, (void)options;
    return AVERROR(EPERM);
}

void movie_explain(io_movie *m, int status)
{
    pthread_mutex_lock(&m->log.lock);
    if (*m->input.error.reason)
        snprintf(m->reason, sizeof m->reason, "%s", m->input.error.reason);
    else if (*m->log.first)
        snprintf(m->reason, sizeof m->reason, "%s", m->log.first);
    else
        m->libav->av_strerror(status, m->reason, sizeof m->reason);
    pthread_mutex_unlock(&m->log.lock);
}

/* libavformat may have read all of it to find the index, and cannot go back. */
const char *movie_explain_pipe(const io_movie *m)
{
    const bool read = m->container && strstr(m->container->iformat->name, "mp4") && m->number == 0;
    return m->input.stream && (read || strstr(m->reason, "moov"))
               ? " (its index is at its end: from a pipe it is read only where that comes first)" : "";
}

bool movie_fail_late(io_error *error)
{
    return io_fail(error, "takes longer than --max-time-per-frame allows");
}

static bool fail_open(io_movie *m, int status, io_error *error)
{
    if (m->input.late)
        return movie_fail_late(error);
    movie_explain(m, status);
    return io_fail(error, "a movie that cannot be read: %s%s", m->reason, movie_explain_pipe(m));
}

static bool open_container(io_movie *m, io_error *error)
{
    const io_libav *av = m->libav;
    AVFormatContext *container = av->avformat_alloc_context();
    if (!container)
        return io_fail(error, "not enough memory");
    container->pb = m->input.context;
    container->opaque = &m->log;
    container->interrupt_callback = (AVIOInterruptCB){movie_input_is_over, &m->input};
    container->io_open = open_nothing;
    container->protocol_whitelist = av->av_strdup("none");
    movie_limit_container(container, av, &m->settings);
    const AVInputFormat *kind = NULL;
    const int known = av->av_probe_input_buffer2(m->input.context, &kind, "", container, 0, 0);
    if (known < 0 || !io_libav_is_movie(kind)) {
        av->avformat_free_context(container);
        return known < 0 ? fail_open(m, known, error)
                         : io_fail(error, "libavformat takes it for %s, which is no movie by itself", kind->name);
    }
    const int status = av->avformat_open_input(&container, "", kind, NULL); /* frees it where it fails */
    if (status < 0)
        return fail_open(m, status, error);
    m->container = container;
    const int found = av->avformat_find_stream_info(container, NULL);
    return found >= 0 || fail_open(m, found, error);
}

static bool has_track(const io_movie *m, enum AVMediaType type, int *index)
{
    *index = m->libav->av_find_best_stream(m->container, type, -1, -1, NULL, 0);
    return *index >= 0 && !(m->container->streams[*index]->disposition & AV_DISPOSITION_ATTACHED_PIC);
}

/* Nothing is read of the other tracks. */
static void choose_track(io_movie *m, int index)
{
    m->track = m->container->streams[index];
    for (unsigned i = 0; i < m->container->nb_streams; i++)
        if ((int)i != index)
            m->container->streams[i]->discard = AVDISCARD_ALL;
}

static bool choose_pictures(io_movie *m, io_error *error)
{
    int index, sound;
    if (!has_track(m, AVMEDIA_TYPE_VIDEO, &index))
        return io_fail(error, "holds no moving pictures%s", has_track(m, AVMEDIA_TYPE_AUDIO, &sound) ? ", only sound" : "");
    choose_track(m, index);
    return true;
}

static bool open_codec(io_movie *m, io_error *error)
{
    const io_libav *av = m->libav;
    const AVCodecParameters *p = m->track->codecpar;
    const AVCodec *codec = av->avcodec_find_decoder(p->codec_id);

    if (!codec)
        return io_fail(error, "its codec, %s, is not read by the libavcodec that is installed", av->avcodec_get_name(p->codec_id));
    if (p->width < 1 || p->height < 1)
        return io_fail(error, "a movie that cannot be read: it says no size%s", movie_explain_pipe(m));
    if (!movie_check_size(&m->settings, p->width, p->height, error))
        return false;
    m->codec = av->avcodec_alloc_context3(codec);
    m->packet = av->av_packet_alloc();
    m->frame = av->av_frame_alloc();
    m->last = av->av_frame_alloc();
    if (!m->codec || !m->packet || !m->frame || !m->last || av->avcodec_parameters_to_context(m->codec, p) < 0)
        return io_fail(error, "not enough memory");
    m->codec->opaque = &m->log;
    m->codec->thread_count = movie_threads(&m->settings);
    m->codec->pkt_timebase = m->track->time_base;
    movie_limit_codec(m->codec, &m->settings);
    if (m->settings.nvdec && !movie_device_open(m, error))
        return false;
    movie_place_luma(m, codec);
    const int status = av->avcodec_open2(m->codec, codec, NULL);
    return status >= 0 || fail_open(m, status, error);
}

static bool open_movie(io_movie **movie, const char *path, io_stream *stream, const io_movie_settings *settings,
                       io_error *error)
{
    const io_libav *libav = io_libav_open(error);
    io_movie *m = libav ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return libav ? io_fail(error, "not enough memory") : false;
    *m = (io_movie){.libav = libav, .settings = *settings};
    pthread_mutex_init(&m->log.lock, NULL);
    m->input.fd = -1;
    bool good = movie_input_open(&m->input, libav, path, stream, error);
    if (settings->max_ms > 0)
        m->input.deadline = clock_ms() + settings->max_ms;
    good = good && open_container(m, error) && choose_pictures(m, error) && open_codec(m, error);
    if (good) {
        m->orientation = find_orientation(m);
        *movie = m;
        return true;
    }
    io_movie_close(&m);
    return false;
}

static int64_t ticks_of(const io_movie *m, double time)
{
    const int64_t start = m->container->start_time;
    const double seconds = time + (start == AV_NOPTS_VALUE ? 0 : (double)start / AV_TIME_BASE);
    const double ticks = ceil(seconds * m->track->time_base.den / m->track->time_base.num - 1e-3);
    return ticks > 0x1p62 ? INT64_MAX / 2 : ticks < -0x1p62 ? INT64_MIN / 2 : (int64_t)ticks;
}

/* Looks through the packets of a file for where to begin, and goes there. False where that cannot be done:
 * then the file is to be opened again, and decoded from its beginning. */
static bool seek(io_movie *m)
{
    const io_movie_wish *wish = &m->settings.wish;
    const io_libav *av = m->libav;
    const bool resumed = wish->after > 0 && wish->after_time > 0;
    const double time = resumed ? wish->after_time : wish->has_from ? wish->from : 0;
    const int64_t wanted = wish->key_frames ? INT64_MAX : ticks_of(m, time);

    m->input.deadline = 0;
    if (!movie_times_read(&m->times, av, m->container, m->track, wanted, m->input.most_bytes) || m->times.count == 0 ||
        (!wish->key_frames && !m->times.has_key))
        return false;
    if (resumed && movie_times_before(&m->times, wanted) + 1 != wish->after)
        return false;
    const int64_t to = wish->key_frames ? m->times.list[0] : m->times.key;
    if (av->av_seek_frame(m->container, m->track->index, to, AVSEEK_FLAG_BACKWARD) < 0)
        return false;
    /* The first packet tells whether that went well; it is the next one to be decoded. */
    do {
        av->av_packet_unref(m->packet);
        if (av->av_read_frame(m->container, m->packet) < 0)
            return false;
    } while (m->packet->stream_index != m->track->index);
    m->has_packet = true;
    m->sought = true;
    m->only_keys = wish->key_frames;
    if (m->only_keys)
        m->codec->skip_frame = AVDISCARD_NONKEY;
    return m->packet->pts != AV_NOPTS_VALUE && m->packet->pts <= to && m->packet->flags & AV_PKT_FLAG_KEY;
}

static bool leaves_out(const io_movie_wish *wish)
{
    return wish->key_frames || (wish->has_from && wish->from > 0) || (wish->after > 0 && wish->after_time > 0);
}

bool io_movie_open(io_movie **movie, const char *path, io_stream *stream, const io_movie_settings *settings,
                   io_error *error)
{
    io_movie *m = NULL;
    const bool seeks = !stream && leaves_out(&settings->wish);
    if (!open_movie(&m, path, stream, settings, error))
        return false;
    if (seeks && !seek(m)) {
        io_movie_close(&m);
        if (!open_movie(&m, path, stream, settings, error))
            return false;
    }
    m->log.of_container = 0; /* what it could be opened with is no damage */
    *m->log.first = '\0';
    *movie = m;
    return true;
}

io_movie *movie_open_sound(const char *path)
{
    io_error error;
    const io_libav *libav = io_libav_open(&error);
    io_movie *m = libav ? calloc(1, sizeof *m) : NULL;
    int index;

    if (!m)
        return NULL;
    *m = (io_movie){.libav = libav};
    pthread_mutex_init(&m->log.lock, NULL);
    m->input.fd = -1;
    m->packet = libav->av_packet_alloc();
    if (m->packet && movie_input_open(&m->input, libav, path, NULL, &error) && open_container(m, &error) &&
        has_track(m, AVMEDIA_TYPE_AUDIO, &index))
        choose_track(m, index);
    else
        io_movie_close(&m);
    return m;
}

void io_movie_close(io_movie **movie)
{
    io_movie *m = *movie;
    if (!m)
        return;
    m->libav->avcodec_free_context(&m->codec); /* ends its threads, which may complain until then */
    m->libav->avformat_close_input(&m->container);
    m->libav->av_packet_free(&m->packet);
    m->libav->av_frame_free(&m->frame);
    m->libav->av_frame_free(&m->last);
    movie_device_close(m);
    movie_times_free(&m->times);
    movie_input_close(&m->input);
    pthread_mutex_destroy(&m->log.lock);
    free(m);
    *movie = NULL;
}

void io_movie_stop(io_movie *m)
{
    atomic_store(&m->input.stopped, true);
}
