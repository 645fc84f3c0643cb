/* SPDX-License-Identifier: MIT */
#include "run/feed.h"

#include <stdlib.h>
#include <string.h>

#include <tmatch/tmatch.h>

#include "run/decoder.h"
#include "run/match.h"
#include "run/movie_ahead.h"

static io_movie_settings settings_of(const cli_options *o, const input_settings *input)
{
    return (io_movie_settings){.wish = o->movie, .threads = o->settings.threads, .max_pixels = o->max_pixels,
                               .max_memory = o->max_memory, .max_ms = o->max_frame_ms,
                               .nvdec = o->decoder == CLI_NVDEC, .device = decoder_device(&o->settings),
                               .memory = input->lends ? input->memory : NULL};
}

/* Whether the log has frame number of the movie with all templates; *time gets when it is shown, or 0. */
static bool is_done(const cli_feed *f, const cli_frame *frame, const char *path, int64_t number, uint64_t *ids,
                    double *time)
{
    static const char key[] = ",\"time\":";
    const cli_plan *plan = f->plan;
    cli_part part = {.number = number};
    const cli_frame one = {.path = frame->path, .part = &part};

    resume_identify(plan->resume, &one, path, ids);
    for (size_t i = 0; i < plan->templates->count; i++)
        if (!resume_find(plan->resume, ids[i]))
            return false;
    char *text = resume_text(plan->resume, resume_find(plan->resume, ids[0]));
    const char *found = text ? strstr(text, key) : NULL;
    *time = found ? strtod(found + strlen(key), NULL) : 0;
    free(text);
    return true;
}

/* Finds how many frames of the movie an earlier run has done, from the first on, and hands these on, to be passed
 * over. A report shows them, so for it they are decoded again. */
static void pass_over(cli_feed *f, cli_pipeline *pipeline, const cli_frame *frame, const char *path,
                      io_movie_wish *wish)
{
    uint64_t *ids = calloc(f->plan->templates->count + 1, sizeof *ids);
    const bool can = ids && f->plan->resume && !f->options->report && f->plan->templates->count > 0 &&
                     !wish->has_from && !wish->key_frames;
    const int64_t step = wish->every ? wish->every : 1;

    for (int64_t number = 1; can && is_done(f, frame, path, number, ids, &wish->after_time); number += step) {
        wish->after = number;
        if (!feed_add(f, pipeline, frame, number, NULL, NULL))
            break;
    }
    free(ids);
}

/* Who stops the feed ends the movie's waiting, too, from now on; NULL: no longer. */
static void publish(cli_feed *f, io_movie *movie)
{
    pthread_mutex_lock(&f->lock);
    f->movie = movie;
    if (movie && f->stopped)
        io_movie_stop(movie);
    pthread_mutex_unlock(&f->lock);
}

/* Hands on the movie's frames and, where not all could be read, the reason. */
static void run(cli_feed *f, cli_pipeline *pipeline, const cli_frame *frame, movie_ahead *movie)
{
    int64_t number = 0;
    io_streamed picture;
    io_error error;
    io_next next;

    while ((next = movie_ahead_next(movie, &picture, &number, &error)) == IO_NEXT_PICTURE) {
        if (!feed_admit(f, picture.source.size, &error)) {
            io_source_close(&picture.source);
            next = IO_NEXT_FAILED;
            break;
        }
        if (!feed_add(f, pipeline, frame, number, &picture, NULL))
            return;
    }
    if (next == IO_NEXT_FAILED && !feed_is_stopped(f))
        feed_add(f, pipeline, frame, 0, NULL, error.reason);
}

/* Whether any template has samples like the movie's, or they are made alike: that none has is said once, not of each
 * frame. */
static bool suits(const cli_feed *f, const io_movie *movie, io_error *error)
{
    const cli_templates *templates = f->plan->templates;
    const int bits = io_movie_bits(movie);
    int other = 0;

    for (size_t i = 0; i < templates->count && bits && !f->options->depth; i++) {
        const int own = 8 * io_sample_size(&templates->list[i].input.gray);
        if (templates->list[i].usable && own == bits)
            return true;
        if (templates->list[i].usable)
            other = own;
    }
    return !other || match_fail_bits(error, bits, "the template", other);
}

void feed_movie(cli_feed *f, cli_pipeline *pipeline, const cli_frame *frame, const char *path)
{
    io_movie_settings settings = settings_of(f->options, &f->plan->frame_input);
    io_movie *movie = NULL;
    movie_ahead ahead;
    io_error error;
    bool good = false;

    if (f->options->sandbox)
        strcpy(error.reason, INPUT_NO_SANDBOX_FOR_MOVIES);
    else if (!path && !f->stream)
        strcpy(error.reason, tm_strerror(TM_ERR_MEMORY));
    if (path && !f->options->sandbox)
        pass_over(f, pipeline, frame, path, &settings.wish);
    if (!f->options->sandbox && (path || f->stream))
        good = io_movie_open(&movie, path, path ? NULL : f->stream, &settings, &error) && suits(f, movie, &error);
    if (good) {
        publish(f, movie);
        pipeline_expect(pipeline, io_movie_expect(movie));
        movie_ahead_open(&ahead, movie, !f->options->max_memory && !f->options->in_flight);
        run(f, pipeline, frame, &ahead);
        movie_ahead_close(&ahead);
        publish(f, NULL);
        pipeline_expect(pipeline, 0);
    } else if (!feed_is_stopped(f)) {
        feed_add(f, pipeline, frame, 0, NULL, error.reason);
    }
    io_movie_close(&movie);
}
