/* SPDX-License-Identifier: MIT */
/* Where pictures end that stand one after the other in a stream of bytes: PNM, PNG, JPEG,
 * BMP, WebP and NPY, mixed, and the frames of Y4M. Nothing is decoded, and each byte is looked
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

/* Zeros before the first call; the fields are the splitter's own. */
typedef struct io_splitter {
    int (*scan)(struct io_splitter *splitter, const uint8_t *data, size_t size); /* or NULL */
    size_t at;     /* how many of the picture's bytes were looked at */
    uint64_t need; /* how many bytes the picture has at least */
    uint64_t left; /* samples of a plain PNM that are still to come */
    uint64_t said; /* with PICTURE and BROKEN, of a picture that is torn or damaged: how many bytes it was to have at least, or 0 */
    int stage;
    bool in_movie; /* the last picture, or header, was a movie's */
    io_y4m video;
    size_t end;
} io_splitter;

/* Looks for the end of a picture. data: what there is from its beginning on, the same and more with
 * each call. ended: no more will come; a torn picture then still gets MORE. */
io_split io_split_next(io_splitter *splitter, const uint8_t *data, size_t size, bool ended);

/* Writes what NONE or BROKEN means for bytes that follow other pictures. */
void io_split_fail(io_split found, int64_t offset, io_error *error);

/* How long a NumPy array is, with its header; arrays of numbers have a length, whether they are read or not. Where
 * the header goes on behind the data, whole is false, and needed what it takes at least. False where the length
 * cannot be told. */
bool io_npy_measure(const uint8_t *data, size_t size, uint64_t *needed, bool *whole);

/* How many bytes of white space there are before the next picture. */
size_t io_split_skip(const uint8_t *data, size_t size);

#endif
