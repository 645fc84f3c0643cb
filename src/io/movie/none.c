/* SPDX-License-Identifier: MIT */
/* A build without libavformat: there are no movies. */
#include "movie.h"
#include "writer.h"

#include "io/format.h"

void io_movies_refuse(void)
{
}

bool io_reads_movies(void)
{
    return false;
}

const char *io_movies_unread(void)
{
    return ", and libavformat, which would read it, is missing";
}

bool io_is_movie_name(const char *name)
{
    (void)name;
    return false;
}

bool io_is_movie(const char *path)
{
    (void)path;
    return false;
}

bool io_begins_movie(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return false;
}

bool io_movie_on_device(const io_source *source, io_luma *luma)
{
    (void)source, (void)luma;
    return false;
}

bool io_movie_on_host(const io_source *source, const io_limits *limits, io_luma *luma)
{
    (void)source, (void)limits, (void)luma;
    return false;
}

bool io_movie_open(io_movie **movie, const char *path, io_stream *stream, const io_movie_settings *settings,
                   io_error *error)
{
    (void)movie, (void)path, (void)stream, (void)settings;
    return io_fail(error, "this build reads no movies (libavformat was missing)");
}

void io_movie_close(io_movie **movie)
{
    (void)movie;
}

io_next io_movie_next(io_movie *movie, io_streamed *frame, int64_t *number, io_error *error)
{
    (void)movie, (void)frame, (void)number;
    io_fail(error, "this build reads no movies (libavformat was missing)");
    return IO_NEXT_FAILED;
}

int io_movie_bits(const io_movie *movie)
{
    (void)movie;
    return 0;
}

double io_movie_expect(const io_movie *movie)
{
    (void)movie;
    return -1;
}

void io_movie_stop(io_movie *movie)
{
    (void)movie;
}

bool io_movie_frame(io_source *source, const char *path, int64_t number, const io_movie_settings *settings,
                    io_error *error)
{
    (void)source, (void)path, (void)number, (void)settings;
    return io_fail(error, "this build reads no movies (libavformat was missing)");
}

bool io_is_written_movie_name(const char *name)
{
    (void)name;
    return false;
}

const char *io_movie_encoder(const char *name, io_error *error)
{
    (void)name;
    io_fail(error, "this build writes no movies (libavformat was missing)");
    return NULL;
}

bool io_movie_create(io_movie_writer **writer, const char *path, int64_t width, int64_t height, int threads,
                     const io_movie_sound *sound, io_error *error)
{
    (void)writer, (void)width, (void)height, (void)threads, (void)sound;
    return io_movie_encoder(path, error) != NULL;
}

const char *io_movie_refused_sound(const io_movie_writer *writer)
{
    (void)writer;
    return "";
}

bool io_movie_add(io_movie_writer *writer, const io_picture *picture, double time, io_error *error)
{
    (void)writer, (void)picture, (void)time;
    return io_fail(error, "this build writes no movies (libavformat was missing)");
}

bool io_movie_commit(io_movie_writer **writer, io_error *error)
{
    (void)writer;
    return io_fail(error, "this build writes no movies (libavformat was missing)");
}

void io_movie_abort(io_movie_writer **writer)
{
    (void)writer;
}
