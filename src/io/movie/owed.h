/* SPDX-License-Identifier: MIT */
/* Which of the last packets have become no frame. A codec with several threads forgets some errors when it
 * is emptied at the movie's end. */
#ifndef TMATCH_IO_MOVIE_OWED_H
#define TMATCH_IO_MOVIE_OWED_H

#include "libav.h"

/* More than a codec's threads and the frames that it reorders. */
enum { OWED_PACKETS = 64 };

typedef struct movie_owed {
    struct {
        int64_t time;   /* when it is shown, or else its turn to be decoded */
        int complaints; /* how many the codec had made before */
        bool open;
    } list[OWED_PACKETS];
    int next;
} movie_owed;

/* The codec gets a packet. */
void movie_owed_add(movie_owed *owed, const AVPacket *packet, int complaints);

/* A frame has come. */
void movie_owed_pay(movie_owed *owed, const AVFrame *frame);

/* Packets that are shown before the time are owed no more. */
void movie_owed_forget(movie_owed *owed, int64_t time);

/* How many packets became no frame, and the codec has complained since it got them: who makes no frame of a
 * packet for a good reason, as of one that says "the same again", does not. */
int movie_owed_lost(const movie_owed *owed, int complaints);

#endif
