/* SPDX-License-Identifier: MIT */
/* The list of frames, or of templates: one for each picture, in order. */
#ifndef TMATCH_CLI_FRAMES_H
#define TMATCH_CLI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/movie/movie.h"

/* Which picture of a file or a stream that holds several. */
typedef struct cli_part {
    int64_t number; /* from 1; 0: the only one of a stream */
    bool spelled;   /* the frame's path ends in "#number", before its crop */
    io_part location;
    bool repeats;   /* it has the very samples of the frame before it in the list, of the same movie */
    io_source held; /* what came of it through a stream, until it is made a picture */
} cli_part;

static inline bool cli_part_is_held(const cli_part *part)
{
    return part->held.data || part->held.frame;
}

typedef struct cli_frame {
    char *path;    /* as it is opened and printed */
    uint32_t tree; /* where in path the part begins that is repeated in output folders */
    bool named;    /* named by the user, so a crop may follow; else exactly a file's name */
    bool stream;   /* a pipe, a device or a movie; nobody knows yet how many frames it holds */
    bool movie;    /* a file that libav reads */
    char *error;   /* why there is nothing to read, where that is known, or NULL */
    cli_part *part; /* NULL: the file's only picture */
    size_t place;   /* with --shard: in the list of all shards, from 1 */
} cli_frame;

/* Files of a folder that look like pictures or movies and are not read. */
typedef struct cli_skipped {
    char ending[8]; /* ".heic" */
    size_t count;
} cli_skipped;

enum { FRAMES_SKIPPED_ENDINGS = 16 };

typedef struct cli_frames {
    cli_frame *list;
    size_t count, capacity;
    bool from_folders; /* from folders or lists: the user did not see how many */
    bool streamed;     /* there will be more than are listed */
    bool in_list;      /* a list is being read */
    const char *one_each; /* "a template" or "a mask": a file of several pictures is an error, unless one is named; or NULL */
    bool recursive;    /* folders in folders are read, too, */
    cli_skipped skipped[FRAMES_SKIPPED_ENDINGS]; /* up to the first whose count is 0 */
    const char *not_below[2]; /* but not these, where outputs are written; or NULL */
} cli_frames;

/* Appends a file's frame, or one for each of its pictures, or the one that "#N" behind the
 * name of a named file asks for. A file of that very name goes before. Takes over what the
 * frame points to. False if memory ran out. */
bool frames_add_file(cli_frames *frames, cli_frame frame);

/* Appends a frame that fails for the reason. Takes over the path, which may be NULL for want of
 * memory. False if memory ran out. */
bool frames_add_error(cli_frames *frames, char *path, uint32_t tree, bool named, const char *reason);

/* Appends one frame and takes over what it points to; its path may be NULL for want of memory.
 * False if memory ran out. */
bool frames_append(cli_frames *frames, cli_frame frame);

/* Makes room for one more element in a list that has so many of this size. False if memory ran
 * out. */
bool frames_grow(void **list, size_t *capacity, size_t count, size_t size);

/* Takes out the frames of Y4M files that are not wanted. */
void frames_thin(cli_frames *frames, const io_movie_wish *wish);

/* Gives back what came through streams for the frames from first on, which nobody will read. */
void frames_drop_held(cli_frames *frames, size_t first);

/* Frees what it points to. */
void frame_free(cli_frame *frame);

void frames_free(cli_frames *frames);

#endif
