/* SPDX-License-Identifier: MIT */
#include "run/feed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "run/streams.h"

static stream_limits limits_of(const cli_feed *f)
{
    return (stream_limits){.max_pixels = f->options->max_pixels, .max_memory = f->options->max_memory};
}

bool feed_admit(void *data, size_t bytes, io_error *error)
{
    cli_feed *f = data;
    const stream_limits limits = limits_of(f);
    const size_t most = streams_most(&limits);

    if (!streams_admit(&limits, bytes, error))
        return false;
    pthread_mutex_lock(&f->lock);
    while (!f->stopped && f->held > 0 && f->held + bytes > most)
        pthread_cond_wait(&f->room, &f->lock);
    const bool stopped = f->stopped;
    pthread_mutex_unlock(&f->lock);
    return !stopped;
}

/* For io_source. */
static void give_back(void *data, size_t size)
{
    cli_feed *f = data;
    pthread_mutex_lock(&f->lock);
    f->held -= size;
    pthread_cond_signal(&f->room);
    pthread_mutex_unlock(&f->lock);
}

/* Makes a frame of a stream's picture, which it takes over, or of the reason why there is none, or with neither of
 * a movie's frame that is to be decoded by itself. False if memory ran out. */
static bool make_frame(cli_feed *f, const cli_frame *stream, int64_t number, io_streamed *picture,
                       const char *reason, cli_frame *frame)
{
    *frame = (cli_frame){.path = strdup(stream->path), .tree = stream->tree, .named = true,
                         .part = calloc(1, sizeof *frame->part),
                         .error = reason ? strdup(reason) : NULL};
    if (!frame->part || !frame->path || (reason && !frame->error)) {
        if (picture)
            io_source_close(&picture->source);
        frame_free(frame);
        return false;
    }
    *frame->part = (cli_part){.number = number};
    if (!picture)
        frame->part->location.frame = reason ? 0 : number;
    if (!picture)
        return true;
    frame->part->location.timed = picture->timed;
    frame->part->location.time = picture->time;
    frame->part->repeats = picture->repeats;
    frame->part->held = picture->source;
    if (cli_part_is_held(frame->part)) {
        frame->part->held.closed = give_back;
        frame->part->held.owner = f;
    }
    pthread_mutex_lock(&f->lock);
    f->held += picture->source.size;
    pthread_mutex_unlock(&f->lock);
    return true;
}

static char *path_of(const cli_frame *frame)
{
    char *path = NULL;
    io_crop crop;
    bool has_crop;
    io_error error;
    return io_split_crop(frame->path, &path, &crop, &has_crop, &error) ? path : NULL;
}

/* Opens the stream, reads its first picture, and finds out whether it is the only one. False with
 * an error. */
static bool begin(cli_feed *f, const cli_frame *frame, bool *lone, io_error *error)
{
    char *path = path_of(frame);
    strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
    io_stream *stream = NULL;
    bool good = path && io_stream_open(&stream, path, &(io_stream_room){feed_admit, f}, error);
    if (good && f->options->max_frame_ms > 0 && strcmp(path, "-") != 0)
        io_stream_limit_waiting(stream, f->options->max_frame_ms, false);

    pthread_mutex_lock(&f->lock);
    f->stream = stream;
    if (f->stopped && stream)
        io_stream_stop(stream);
    pthread_mutex_unlock(&f->lock);
    const io_next next = good ? io_stream_next(stream, &f->picture, error) : IO_NEXT_FAILED;
    f->in_movie = next == IO_NEXT_MOVIE;
    good = next == IO_NEXT_PICTURE || f->in_movie;
    if (f->in_movie) {
        *lone = false;
    } else if (good) {
        const io_follows follows = io_stream_follows(stream);
        *lone = streams_may_follow(&f->picture, follows);
        if (follows == IO_FOLLOWS_GARBAGE && *lone && !f->options->quiet)
            message_note(path, "what follows the picture, from byte %" PRId64
                         " on, is not a picture and is not read", io_stream_offset(stream));
        const int64_t pages = io_count_pages(&f->picture.source);
        if (pages > 1 && !f->options->quiet)
            message_note(path, "holds %" PRId64 " pictures, and from a pipe only the first is "
                         "matched: give the file's name", pages);
    }
    free(path);
    return good;
}

static void end(cli_feed *f)
{
    io_stream *stream = f->stream;
    pthread_mutex_lock(&f->lock);
    f->stream = NULL;
    pthread_mutex_unlock(&f->lock);
    io_stream_close(&stream);
    f->begun = false;
}

static cli_frame *find_stream(const cli_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        if (frames->list[i].stream)
            return &frames->list[i];
    return NULL;
}

/* Looks into the only stream. If it has one picture, that, or why it cannot be read, becomes the
 * frame; else the pipeline is to be fed. */
static bool peek(cli_feed *f, cli_frame *stream)
{
    cli_frame frame;
    io_error error;
    bool lone = true;
    const bool good = begin(f, stream, &lone, &error);

    if (good && !lone) {
        f->several = f->begun = true;
        return true;
    }
    end(f);
    if (!make_frame(f, stream, 0, good ? &f->picture : NULL, good ? NULL : error.reason, &frame)) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    frame_free(stream);
    *stream = frame;
    return true;
}

bool feed_open(cli_feed *f, const cli_options *options, cli_frames *frames)
{
    cli_frame *stream = find_stream(frames);

    *f = (cli_feed){.options = options};
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->room, NULL);
    if (!stream)
        return true;
    f->several = frames->count > 1 || stream->movie;
    if (!f->several && !peek(f, stream))
        return false;
    frames->from_folders |= f->several;
    frames->streamed = f->several;
    if (!f->several || !options->watch)
        return true;
    message(stream->path, "is a %s, and with --watch frames come from the folder",
            stream->movie ? "movie" : "stream of pictures");
    return false;
}

bool feed_take(cli_feed *f, cli_frames *frames)
{
    if (!f->several)
        return true;
    const size_t first = (size_t)(find_stream(frames) - frames->list);
    for (size_t i = first; i < frames->count; i++) {
        const cli_frame frame = frames->list[i];
        frames->list[i] = (cli_frame){0};
        if (!frames_append(&f->frames, frame)) {
            message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
            return false;
        }
    }
    frames->count = first;
    return true;
}

void feed_close(cli_feed *f)
{
    if (!f->options)
        return;
    if (f->begun && !f->in_movie)
        io_source_close(&f->picture.source);
    end(f);
    frames_free(&f->frames);
    pthread_cond_destroy(&f->room);
    pthread_mutex_destroy(&f->lock);
}

bool feed_is_stopped(cli_feed *f)
{
    pthread_mutex_lock(&f->lock);
    const bool stopped = f->stopped;
    pthread_mutex_unlock(&f->lock);
    return stopped;
}

bool feed_add(cli_feed *f, cli_pipeline *pipeline, const cli_frame *stream, int64_t number,
              io_streamed *picture, const char *reason)
{
    cli_frame frame;
    if (!make_frame(f, stream, number, picture, reason, &frame)) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        f->failed = true;
        return false;
    }
    pipeline_add(pipeline, frame);
    return !feed_is_stopped(f);
}

static void run_stream(cli_feed *f, cli_pipeline *pipeline, const cli_frame *stream)
{
    io_error error;
    io_next next = IO_NEXT_PICTURE;
    bool lone = false;

    if (!f->begun && !begin(f, stream, &lone, &error)) {
        lone = true;
        next = IO_NEXT_FAILED;
    }
    f->begun = false;
    if (f->in_movie) {
        feed_movie(f, pipeline, stream, NULL);
        return;
    }
    int64_t counted = 0;
    for (int64_t number = !lone; next == IO_NEXT_PICTURE; number++) {
        if (!lone && !io_movie_wants(&f->options->movie, number, f->picture.timed, f->picture.time, &counted))
            io_source_close(&f->picture.source);
        else if (!feed_add(f, pipeline, stream, number, &f->picture, NULL) || lone)
            return;
        next = io_stream_next(f->stream, &f->picture, &error);
        if (next == IO_NEXT_FAILED && !feed_is_stopped(f))
            feed_add(f, pipeline, stream, number + 1, NULL, error.reason);
    }
    if (lone && !feed_is_stopped(f))
        feed_add(f, pipeline, stream, 0, NULL, error.reason);
}

void feed_run(void *data, cli_pipeline *pipeline)
{
    cli_feed *f = data;
    for (size_t i = 0; i < f->frames.count && !feed_is_stopped(f) && !f->failed; i++) {
        cli_frame *frame = &f->frames.list[i];
        if (frame->movie) {
            char *path = path_of(frame);
            feed_movie(f, pipeline, frame, path);
            free(path);
        } else if (frame->stream) {
            pipeline_expect(pipeline, -1);
            run_stream(f, pipeline, frame);
            pipeline_expect(pipeline, 0);
            end(f);
        } else {
            pipeline_add(pipeline, *frame);
            *frame = (cli_frame){0};
        }
    }
}

void feed_stop(void *data)
{
    cli_feed *f = data;
    pthread_mutex_lock(&f->lock);
    f->stopped = true;
    if (f->stream)
        io_stream_stop(f->stream);
    if (f->movie)
        io_movie_stop(f->movie);
    pthread_cond_broadcast(&f->room);
    pthread_mutex_unlock(&f->lock);
}
