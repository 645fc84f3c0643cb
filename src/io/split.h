/* SPDX-License-Identifier: MIT */
/* Where pictures end that stand one after the other in a stream of bytes: PNM, PNG, JPEG,
 * BMP and WebP, mixed, and the frames of Y4M. Nothing is decoded, and each byte is looked
 * at once, however the stream arrives. */
#ifndef TMATCH_IO_SPLIT_H
#define TMATCH_IO_SPLIT_H

#include "io.h"
#include "y4m.h"

typedef enum io_split {
    IO_SPLIT_MORE,    /* the picture does not end here; more bytes may tell */
    IO_SPLIT_PICTURE, /* the first end bytes are one */
    IO_SPLIT_HEADER,  /* the first end bytes begin a movie, whose frames follow */
    IO_SPLIT_NONE,    /* none of these begins here, or it says nowhere how long it is */
    IO_SPLIT_BROKEN   /* one begins, and is so damaged that its end cannot be told */
} io_split;

/* Zeros to begin with; the fields are the splitter's. */
typedef struct io_splitter {
    int (*scan)(struct io_splitter *splitter, const uint8_t *data, size_t size); /* or NULL */
    size_t at;     /* of the picture's bytes, how many were looked at */
    uint64_t need; /* of them, how many it has at least */
    uint64_t left; /* samples of a plain PNM */
    int stage;
    bool in_movie; /* the picture that ended last is, or the header begins, a movie's */
    io_y4m video;
    size_t end;
} io_splitter;

/* data: what there is from the picture's beginning on, the same and more with each call.
 * ended: no more will come; then what remains of a torn picture is MORE yet. */
io_split io_split_next(io_splitter *splitter, const uint8_t *data, size_t size, bool ended);

/* Says what NONE and BROKEN mean behind other pictures. */
void io_split_fail(io_split found, int64_t offset, io_error *error);

/* White space between pictures. */
size_t io_split_skip(const uint8_t *data, size_t size);

#endif
