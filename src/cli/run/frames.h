/* SPDX-License-Identifier: MIT */
/* The pictures that the command line, a folder or a list names, in order. */
#ifndef TMATCH_CLI_FRAMES_H
#define TMATCH_CLI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io.h"

/* Which picture is meant, of a file or a stream that holds several. */
typedef struct cli_part {
    int64_t number; /* from 1; 0: of a stream the only one */
    bool spelled;   /* the frame's path ends in "#number", before its crop */
    io_part place;
    io_source held; /* its bytes, where it came by a stream, until they are decoded */
} cli_part;

typedef struct cli_frame {
    char *path;    /* as it is opened and printed */
    uint32_t tree; /* where the part of path begins that output folders mirror */
    bool named;    /* by the user, so a crop may follow; else exactly a file's name */
    bool stream;   /* a pipe or a device, of which nobody knows yet how many frames it holds */
    char *error;   /* why it is known that there is nothing to read, or NULL */
    cli_part *part; /* NULL: the file's only picture */
} cli_frame;

/* Files of a folder that look like pictures or movies and are not read. */
typedef struct cli_skipped {
    char ending[8]; /* ".heic" */
    size_t count;
} cli_skipped;

enum { FRAMES_SKIPPED_KINDS = 16 };

typedef struct cli_frames {
    cli_frame *list;
    size_t count, capacity;
    bool from_folders; /* or lists, or files of several: their number was not the user's to see */
    bool streamed;     /* there will be more than are listed */
    bool in_list;      /* what is added is of a list */
    bool one_each;     /* a file of several pictures is an error, unless one is named */
    bool recursive;    /* folders are descended into, */
    cli_skipped skipped[FRAMES_SKIPPED_KINDS]; /* the first whose count is 0 is no more */
    const char *not_below[2]; /* but not into these, if they exist: own outputs */
} cli_frames;

/* A file, or a folder's pictures in the order of their names' bytes. What cannot be
 * read becomes a frame with an error. Names that begin with a dot are passed over;
 * links to files are followed, links to folders below the operand are not. Each is
 * false if memory ran out. */
bool frames_add(cli_frames *frames, const char *operand);

/* Takes over what the frame points to. */
bool frames_append(cli_frames *frames, cli_frame frame);

/* Operands from a file, or standard input for "-", each ended by the byte. False
 * after a message. */
bool frames_add_list(cli_frames *frames, const char *path, char end);

/* One line about the files that were passed over, if there are any; of them the first
 * folder is named if there was one folder only. */
void frames_note_skipped(const cli_frames *frames, const char *folder);

/* Frees what it points to. */
void frame_free(cli_frame *frame);

void frames_free(cli_frames *frames);

#endif
