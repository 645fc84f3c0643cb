/* SPDX-License-Identifier: MIT */
/* A movie that is being read: opened by open.c, read by movie.c. */
#ifndef TMATCH_IO_MOVIE_STATE_H
#define TMATCH_IO_MOVIE_STATE_H

#include "input.h"
#include "libav.h"
#include "movie.h"
#include "owed.h"
#include "times.h"

struct io_movie {
    const io_libav *libav;
    io_movie_settings settings;
    movie_input input;
    AVFormatContext *container;
    AVStream *track;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    AVFrame *last; /* that was handed on; empty before */
    io_libav_log log;
    struct io_device_memory *memory; /* for NVDEC's frames; NULL: the host decodes */
    bool refused; /* NVDEC does not decode it: input.error says why */
    int orientation;
    movie_times times; /* where frames are left out, in a file whose packets say them */
    bool sought;     /* decoding has begun in the middle, or leaves frames out: times tell the numbers */
    int64_t number;  /* of the last frame */
    bool has_packet; /* the next one has been read already */
    bool only_keys;  /* other packets are not decoded */
    int64_t wanted;  /* how many frames came that are wanted, but for every */
    movie_owed owed;
    int64_t bytes;   /* of packets so far */
    int64_t damaged; /* packets and frames that could not be decoded */
    bool torn;       /* reading has failed */
    char reason[256]; /* what libav says of the first that failed */
};

/* Opens a file's sound, to be read by packets: its track, no codec. NULL where it has none, or none that can be read. To be
 * closed by io_movie_close. */
io_movie *movie_open_sound(const char *path);

/* Keeps why libav gave this status: what it has complained of, or what the status means. */
void movie_explain(io_movie *movie, int status);

/* What is to be said behind such a reason where a pipe's movie may have its index at its end; else "". */
const char *movie_explain_pipe(const io_movie *movie);

bool movie_fail_late(io_error *error);

#endif
