/* SPDX-License-Identifier: MIT */
/* The frames of a movie, in the order in which they are shown, as FFmpeg's libraries read them. A build
 * without these knows no movie. */
#ifndef TMATCH_IO_MOVIE_H
#define TMATCH_IO_MOVIE_H

#include "io/io.h"

typedef struct io_movie io_movie;

/* Which frames are wanted. Zeros: all of them. */
typedef struct io_movie_wish {
    int64_t every;  /* one of so many, beginning with the first; 0: each */
    bool has_from, has_to;
    double from, to; /* seconds: frames that are shown from then on, and before then */
    bool key_frames; /* only those that can be decoded without others */
    int64_t after;   /* frames with numbers up to this are passed over, */
    double after_time; /* and this is the time of the last of them, if it is positive */
} io_movie_wish;

/* Whether a frame is wanted, but for key_frames. counted: how many were, but for every; zero before the first. */
static inline bool io_movie_wants(const io_movie_wish *wish, int64_t number, bool timed, double time, int64_t *counted)
{
    if (number <= wish->after || (wish->has_from && timed && time < wish->from) ||
        (wish->has_to && timed && time >= wish->to))
        return false;
    const int64_t before = wish->after > 0 ? number - 1 : *counted;
    ++*counted;
    return wish->every < 2 || before % wish->every == 0;
}

typedef struct io_movie_settings {
    io_movie_wish wish;
    int threads;        /* that decode; 0: one for each core */
    int64_t max_pixels; /* of a frame; 0: the default */
    int64_t max_memory; /* bytes, of which decoding may take a half; 0: no limit */
    double max_ms;      /* how long decoding may take from one frame to the next, but for waiting; 0: no limit */
    bool nvdec;         /* decoded by NVDEC or not at all, and frames stay in the device's memory until they are wanted */
    int device;         /* of nvdec, as CUDA counts them */
    io_memory *memory;  /* for luma, from which a device copies it; or NULL */
} io_movie_settings;

/* From now on no movie is read, nor known but by its name or by first bytes of which tmatch itself knows what
 * they are: libav sees none. Called before there are other threads. */
void io_movies_refuse(void);

/* Whether this build reads movies, and the libraries that do it are installed: looks for them. */
bool io_reads_movies(void);

/* Why no movie is read, to be said behind what a file is; "" where they are. */
const char *io_movies_unread(void);

/* Whether a name's ending is a movie's, in any case, and movies are read or refused. */
bool io_is_movie_name(const char *name);

/* Whether a file, "-" for standard input, is a movie that is read or refused. What begins as another file does, or as
 * text, is none. */
bool io_is_movie(const char *path);

/* The same by a stream's first bytes. */
bool io_begins_movie(const uint8_t *data, size_t size);

/* Opens a file, or what is left of a stream, which stays the caller's, is closed after the movie, and cannot
 * be sought in. */
bool io_movie_open(io_movie **movie, const char *path, io_stream *stream, const io_movie_settings *settings,
                   io_error *error);
void io_movie_close(io_movie **movie);

/* Waits for the next frame. number: which one of the movie's it is, from 1. FAILED, with an error, comes
 * after all frames that could be decoded, where there were others. */
io_next io_movie_next(io_movie *movie, io_streamed *frame, int64_t *number, io_error *error);

/* The luma of a frame where its decoder has put it. */
typedef struct io_luma {
    const uint8_t *memory;
    int64_t pitch, width, height; /* as stored */
    int bits, orientation;        /* as in io_picture, as are */
    bool colored, alpha_ignored;
    int device; /* -1: the host's memory */
} io_luma;

/* Whether NVDEC has decoded the frame: then it is there as long as the source is open, and complete. */
bool io_movie_on_device(const io_source *source, io_luma *luma);

/* Whether the frame's luma is in this memory in 8 bits, and need not be decoded to be gray: likewise. False also where
 * decoding would fail. */
bool io_movie_on_host(const io_source *source, const io_limits *limits, io_luma *luma);

/* How many bits the samples have that frames are read as, 8 or 16; 0: nobody knows. */
int io_movie_bits(const io_movie *movie);

/* How many frames will come, by what the movie says of its duration and rate; negative: nobody knows. */
double io_movie_expect(const io_movie *movie);

/* Ends another thread's opening and waiting; the stream is stopped by itself. */
void io_movie_stop(io_movie *movie);

/* Opens the frame of this number, from 1. */
bool io_movie_frame(io_source *source, const char *path, int64_t number, const io_movie_settings *settings,
                    io_error *error);

#endif
