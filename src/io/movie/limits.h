/* SPDX-License-Identifier: MIT */
/* What a movie may take, whatever its container and its codec say. */
#ifndef TMATCH_IO_MOVIE_LIMITS_H
#define TMATCH_IO_MOVIE_LIMITS_H

#include "libav.h"
#include "movie.h"

/* How many threads a codec gets. */
int movie_threads(const io_movie_settings *settings);

/* Before the container is opened, which builds an index, and decodes frames to learn what they are: no single
 * piece of memory that libav takes becomes larger than a frame may be. It counts for all of the process. */
void movie_limit_container(AVFormatContext *container, const io_libav *libav, const io_movie_settings *settings);

/* Whether frames of this size may be decoded. */
bool movie_check_size(const io_movie_settings *settings, int width, int height, io_error *error);

/* Lets the codec refuse frames that are larger than those of movie_check_size, as the size may change. */
void movie_limit_codec(AVCodecContext *codec, const io_movie_settings *settings);

/* What a packet counts for among the bytes of a file: time is lost by many small ones, too. */
int64_t movie_bytes(const AVPacket *packet);

/* How many bytes the packets of a file of this size may hold together. An index may name the same bytes
 * again and again. */
int64_t movie_most_bytes(int64_t file_size);

#endif
