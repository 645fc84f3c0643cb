/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <errno.h>
#include <inttypes.h>

#include "clock.h"
#include "device.h"
#include "frame.h"
#include "limits.h"
#include "same.h"

static void note_damage(io_movie *m, int status)
{
    if (m->sought && m->wanted == 0) /* what the first frame is not made from may be broken */
        return;
    if (m->damaged++ == 0)
        movie_explain(m, status);
}

static int codec_complaints(io_movie *m)
{
    pthread_mutex_lock(&m->log.lock);
    const int count = m->log.of_codec;
    pthread_mutex_unlock(&m->log.lock);
    return count;
}

static int read_packet(io_movie *m)
{
    const int status = m->has_packet ? 0 : m->libav->av_read_frame(m->container, m->packet);
    m->has_packet = false;
    m->bytes += status < 0 ? 0 : movie_bytes(m->packet);
    if (m->bytes <= m->input.most_bytes)
        return status;
    io_fail(&m->input.error, "its index names the same bytes again and again");
    m->libav->av_packet_unref(m->packet);
    return AVERROR_INVALIDDATA;
}

/* Gives the codec the next packet, or tells it that there is none. */
static void feed_codec(io_movie *m)
{
    const io_libav *av = m->libav;
    const int read = read_packet(m);
    int sent = 0;

    if (read < 0) {
        m->torn = read != AVERROR_EOF || m->log.of_container > 0;
        if (m->torn && (m->damaged == 0 || *m->input.error.reason))
            movie_explain(m, read);
        av->avcodec_send_packet(m->codec, NULL);
        return;
    }
    if (m->packet->stream_index == m->track->index && (!m->only_keys || m->packet->flags & AV_PKT_FLAG_KEY)) {
        if (m->packet->flags & AV_PKT_FLAG_CORRUPT)
            note_damage(m, AVERROR_INVALIDDATA);
        if (!(m->packet->flags & AV_PKT_FLAG_DISCARD))
            movie_owed_add(&m->owed, m->packet, codec_complaints(m));
        sent = av->avcodec_send_packet(m->codec, m->packet);
    }
    av->av_packet_unref(m->packet);
    if (sent < 0)
        note_damage(m, sent);
}

/* At the end, where the codec has given all that it has. */
static void note_lost(io_movie *m)
{
    if (m->damaged == 0 && movie_owed_lost(&m->owed, codec_complaints(m)) > 0)
        note_damage(m, AVERROR_INVALIDDATA);
}

/* Decodes the next frame. False at the end. */
static bool decode(io_movie *m)
{
    for (;;) {
        const int status = m->libav->avcodec_receive_frame(m->codec, m->frame);
        if (status >= 0) {
            movie_owed_pay(&m->owed, m->frame);
            return true;
        }
        if (status == AVERROR_EOF)
            note_lost(m);
        if (status == AVERROR_EOF || m->refused || movie_input_is_over(&m->input))
            return false;
        if (status == AVERROR(EAGAIN))
            feed_codec(m);
        else
            note_damage(m, status);
    }
}

/* When the frame is shown, in seconds. False where nobody knows. */
static bool find_time(const io_movie *m, double *time)
{
    const AVRational rate = m->libav->av_guess_frame_rate(m->container, m->track, NULL);
    const int64_t start = m->container->start_time, stamp = m->frame->best_effort_timestamp;
    const AVRational unit = m->track->time_base;

    if (stamp != AV_NOPTS_VALUE && unit.den > 0)
        *time = (double)stamp * unit.num / unit.den - (start == AV_NOPTS_VALUE ? 0 : (double)start / AV_TIME_BASE);
    else if (rate.num > 0 && rate.den > 0)
        *time = (double)(m->number - 1) * rate.den / rate.num;
    else
        return false;
    return true;
}

static io_next end(io_movie *m, io_error *error)
{
    if (atomic_load(&m->input.stopped))
        return IO_NEXT_STOPPED;
    if (m->input.late) {
        movie_fail_late(error);
        return IO_NEXT_FAILED;
    }
    if (m->refused) {
        *error = m->input.error;
        return IO_NEXT_FAILED;
    }
    if (m->number == 0 && !m->damaged && !m->torn) {
        io_fail(error, "a movie without a frame%s",
                m->track->duration > 0 ? ", or with an index that takes too much memory" : "");
        return IO_NEXT_FAILED;
    }
    const io_movie_wish *wish = &m->settings.wish;
    if (m->wanted == 0 && wish->after == 0 && (wish->has_from || wish->has_to) && !m->damaged && !m->torn) {
        io_fail(error, "no frame is shown in the time that --from and --to leave");
        return IO_NEXT_FAILED;
    }
    if (!m->damaged && !m->torn)
        return IO_NEXT_END;
    io_fail(error, "%s: %s%s", m->torn ? "the movie is cut short or damaged" : "parts of the movie are damaged", m->reason,
            movie_explain_pipe(m));
    return IO_NEXT_FAILED;
}

static bool is_key(const AVFrame *frame)
{
#ifdef AV_FRAME_FLAG_KEY
    return frame->flags & AV_FRAME_FLAG_KEY;
#else
    return frame->key_frame;
#endif
}

/* Counts the frame. What comes before the first that is wanted may lack what it was made from, where decoding has
 * begun in the middle. */
static void count(io_movie *m)
{
    const int64_t stamp = m->frame->best_effort_timestamp;
    m->number = m->sought && (m->wanted == 0 || m->only_keys) ? movie_times_before(&m->times, stamp) + 1 : m->number + 1;
    if (m->sought && m->wanted == 0)
        movie_owed_forget(&m->owed, stamp);
}

/* Whether the frame is the last one that was handed on once more. It becomes the last. */
static bool repeats(io_movie *m)
{
    const bool same = m->last->buf[0] && movie_same_samples(m->libav, m->last, m->frame);
    m->libav->av_frame_unref(m->last);
    if (m->libav->av_frame_ref(m->last, m->frame) < 0)
        m->libav->av_frame_unref(m->last);
    return same;
}

io_next io_movie_next(io_movie *m, io_streamed *frame, int64_t *number, io_error *error)
{
    const io_movie_wish *wish = &m->settings.wish;
    for (;;) {
        if (m->settings.max_ms > 0)
            m->input.deadline = clock_ms() + m->settings.max_ms;
        if (!decode(m) || movie_input_is_over(&m->input))
            return end(m, error);
        count(m);
        *frame = (io_streamed){.timed = false};
        frame->timed = find_time(m, &frame->time);
        if (wish->has_to && frame->timed && frame->time >= wish->to)
            return end(m, error);
        if ((wish->key_frames && !is_key(m->frame)) ||
            !io_movie_wants(wish, m->number, frame->timed, frame->time, &m->wanted))
            continue;
        if (m->frame->flags & AV_FRAME_FLAG_CORRUPT || m->frame->decode_error_flags) {
            note_damage(m, AVERROR_INVALIDDATA);
            continue;
        }
        *number = m->number;
        frame->repeats = !m->memory && repeats(m); /* a decoder has few pictures in a GPU's memory */
        if (m->memory ? movie_device_keep(&frame->source, m, error)
                      : io_movie_keep(&frame->source, m->libav, m->frame, m->orientation) ||
                            io_fail(error, "not enough memory"))
            return IO_NEXT_PICTURE;
        return IO_NEXT_FAILED;
    }
}

int io_movie_bits(const io_movie *m)
{
    const AVPixFmtDescriptor *layout = m->libav->av_pix_fmt_desc_get(m->track->codecpar->format);
    return !layout ? 0 : layout->comp[0].depth > 8 ? 16 : 8;
}

double io_movie_expect(const io_movie *m)
{
    const io_movie_wish *wish = &m->settings.wish;
    const AVRational rate = m->libav->av_guess_frame_rate(m->container, m->track, NULL), unit = m->track->time_base;
    double begin = wish->has_from ? wish->from : 0;
    double end = m->track->duration > 0 && unit.den > 0 ? (double)m->track->duration * unit.num / unit.den
                                                        : (double)m->container->duration / AV_TIME_BASE;

    if (end <= 0 || rate.num <= 0 || rate.den <= 0 || wish->key_frames)
        return -1;
    if (wish->after > 0 && wish->after_time > begin)
        begin = wish->after_time;
    if (wish->has_to && wish->to < end)
        end = wish->to;
    return begin >= end ? 0 : (end - begin) * rate.num / rate.den / (wish->every > 1 ? (double)wish->every : 1);
}

bool io_movie_frame(io_source *source, const char *path, int64_t number, const io_movie_settings *settings,
                    io_error *error)
{
    io_movie_settings own = *settings;
    io_movie *m = NULL;
    io_streamed frame;
    int64_t found = 0;

    own.wish = (io_movie_wish){.after = number - 1};
    if (!io_movie_open(&m, path, NULL, &own, error))
        return false;
    const io_next next = io_movie_next(m, &frame, &found, error);
    if (next == IO_NEXT_PICTURE && found == number) {
        *source = frame.source;
    } else if (next == IO_NEXT_PICTURE) {
        io_source_close(&frame.source);
        io_fail(error, "its frame #%" PRId64 " is damaged", number);
    } else if (next == IO_NEXT_END) {
        io_fail(error, "the movie holds %" PRId64 " frame%s, not #%" PRId64, m->number, m->number == 1 ? "" : "s", number);
    }
    io_movie_close(&m);
    return next == IO_NEXT_PICTURE && found == number;
}
