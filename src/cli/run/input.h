/* SPDX-License-Identifier: MIT */
/* The pictures that the command line names. */
#ifndef TMATCH_CLI_INPUT_H
#define TMATCH_CLI_INPUT_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "run/frames.h"
#include "io/io.h"

/* A file and the part of it that is meant. An operand that cannot be read as
 * such has no path and a reason: it fails when its turn comes, as a broken
 * picture does. */
typedef struct cli_operand {
    const char *given;
    char *path;
    char *name;     /* of one of several pictures, "scan.tif#3"; NULL: path is its name */
    cli_part *part; /* the frame's */
    bool has_crop;
    io_crop crop; /* where there is none: zeros */
    io_error error;
} cli_operand;

/* The frame's strings are the operand's until it is freed. */
void operand_init(cli_operand *operand, const cli_frame *frame);
void operand_free(cli_operand *operand);

/* The part that is meant becomes this one; an operand that has a crop is then one
 * that cannot be read. */
void operand_restrict(cli_operand *operand, const io_crop *roi);

/* The picture's name, or what was given. */
const char *operand_name(const cli_operand *operand);

/* A decoded operand. The source stays open: standard input cannot be read
 * twice, and the annotated picture needs the colours. */
typedef struct cli_input {
    io_source source;
    io_picture gray; /* cropped; without samples where rows is not NULL */
    io_rows *rows;   /* of the whole picture, none read yet; or NULL */
    io_picture color; /* likewise, where colours are wanted and the file has some */
    int64_t whole_width, whole_height;
    bool opened;   /* the file was read, whatever came of it */
    int64_t bytes; /* of it */
    double read_ms;
} cli_input;

/* Bytes for a picture and what is held beside it: so many a pixel. */
typedef struct cli_room {
    int64_t bytes; /* INT64_MAX: no limit */
    int64_t beside;
} cli_room;

/* How pictures are wanted. */
typedef struct input_settings {
    cli_room room;
    io_limits limits;
    const char *reader;     /* the operands that would read a converted file from a pipe */
    int64_t max_memory;     /* in all, of which room is what a frame gets; 0: no limit */
    bool color;             /* where the file has colours; gray in any case */
    int depth;              /* 8 or 16 bits, or 32: floats; 0: as the file has it */
    bool alpha;             /* transparency as a mask */
    bool stored_orientation; /* not what EXIF says is upright */
    const io_picture *mask; /* of the whole picture, or of its crop; or NULL */
    io_memory *memory;      /* for samples, or NULL */
} input_settings;

/* A picture that there is no room for is not decoded, but opened to be read by rows; if
 * there is for the part that is meant, only that is decoded. */
bool input_load(cli_input *input, const cli_operand *operand, const input_settings *settings,
                io_error *error);

/* The bytes alone, of an operand that has a path; the source is to be closed. */
bool input_open(io_source *source, const cli_operand *operand, const input_settings *settings,
                io_error *error);

/* Rows of a picture that is read by rows: those before the crop are skipped, of the
 * others its part is kept. row has room for one of the whole picture. */
bool input_skip_rows(io_rows *rows, int64_t count, uint8_t *row, io_error *error);
bool input_read_rows(io_rows *rows, const io_crop *crop, io_color color, uint8_t *row,
                     int64_t count, uint8_t *to, ptrdiff_t stride, io_error *error);

/* Reads a mask's file, with the settings' limits and orientation; false after a message. */
bool input_load_mask(io_picture *mask, const char *path, const input_settings *settings);

/* Zeros may be freed, and what was freed. */
void input_free(cli_input *input);

/* Prints "PNG, 64x48, alpha ignored", for -v. */
void input_describe(const cli_input *input, const cli_operand *operand);

/* The gray picture or the colour one, with the mask. */
tm_image input_image(const cli_input *input, bool color);

#endif
