/* SPDX-License-Identifier: MIT */
#include "run/movie_output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"

/* Whether the frames are all of a movie, or of a stream that may be one; those of Y4M files are listed. */
static bool are_one_movie(const cli_frames *frames)
{
    const cli_frame *first = frames->list;
    if (frames->count == 1 && first->stream)
        return true;
    for (size_t i = 0; i < frames->count; i++) {
        const cli_part *part = frames->list[i].part;
        if (!part || !part->location.timed || part->spelled || strcmp(frames->list[i].path, first->path) != 0)
            return false;
    }
    return frames->count > 0;
}

bool movie_output_wanted(const cli_options *options, const cli_frames *frames)
{
    struct stat status;
    return options->output && io_is_written_movie_name(options->output) && are_one_movie(frames) &&
           !(stat(options->output, &status) == 0 && S_ISDIR(status.st_mode));
}

bool movie_output_check(const cli_options *options, const io_streamed *streamed)
{
    const char *path = options->output;
    io_error error;

    if (options->resume) {
        message_usage("--resume cannot be combined with a movie as --output, which would lack the frames done before");
        return false;
    }
    if (streamed && !streamed->timed) {
        message(path, "a movie is made of a movie's frames, and pictures from a pipe say no times");
        return false;
    }
    const char *encoder = io_movie_encoder(path, &error);
    if (!encoder)
        message(path, "%s", error.reason);
    else if (options->verbose)
        message_info(path, "a movie, encoded by %s", encoder);
    return encoder != NULL;
}

static bool fail(cli_movie_output *m, const io_error *error)
{
    message(m->plan->options->output, "%s", error->reason);
    m->failed = true;
    return false;
}

/* Only a file can be read twice. */
static bool is_file(const char *path)
{
    struct stat status;
    return path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool begin(cli_movie_output *m, const cli_job *job, double time, io_error *error)
{
    const cli_options *o = m->plan->options;
    const cli_result *frame = &job->pairs[0].result;
    const char *path = job->operand.path;
    m->width = frame->frame_width;
    m->height = frame->frame_height;
    m->begin = o->movie.has_from ? time : 0; /* a part is shown from its beginning */
    const io_movie_sound sound = {.path = is_file(path) ? path : NULL, .from = m->begin,
                                  .to = o->movie.has_to ? o->movie.to : INFINITY};
    if (!io_movie_create(&m->writer, o->output, m->width, m->height, o->settings.threads, &sound, error))
        return false;
    if (!o->quiet && *io_movie_refused_sound(m->writer))
        message_note(o->output, "without sound: that of %s, %s, cannot be in such a file", path,
                     io_movie_refused_sound(m->writer));
    return true;
}

bool movie_output_add(cli_movie_output *m, const cli_job *job)
{
    const cli_result *frame = &job->pairs[0].result;
    const cli_part *part = job->frame.part;
    io_error error;

    if (m->failed || !job->drawn.samples || !part)
        return !m->failed;
    const double time = part->location.time;
    if (!m->writer && !begin(m, job, time, &error))
        return fail(m, &error);
    if (frame->frame_width != m->width || frame->frame_height != m->height) {
        snprintf(error.reason, sizeof error.reason,
                 "not written: it begins with frames of %" PRId64 "x%" PRId64 " pixels, and %s has %" PRId64 "x%" PRId64,
                 m->width, m->height, operand_name(&job->operand), frame->frame_width, frame->frame_height);
        return fail(m, &error);
    }
    return io_movie_add(m->writer, &job->drawn, time - m->begin, &error) || fail(m, &error);
}

bool movie_output_close(cli_movie_output *m, bool wanted)
{
    io_error error;
    if (m->writer && wanted && !m->failed)
        return io_movie_commit(&m->writer, &error) || fail(m, &error);
    io_movie_abort(&m->writer);
    return true;
}
