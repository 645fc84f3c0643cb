/* SPDX-License-Identifier: MIT */
/* Frames and templates: from what the user named to decoded samples. */
#ifndef TMATCH_CLI_INPUT_H
#define TMATCH_CLI_INPUT_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "io/io.h"
#include "run/operand.h"

/* Why a movie is not read with --sandbox. */
#define INPUT_NO_SANDBOX_FOR_MOVIES "a movie, which --sandbox cannot decode"

/* Who decodes JPEG: libjpeg; nvJPEG, later, on the device that matches; or nvJPEG what it can and libjpeg the rest. */
typedef enum input_jpeg { INPUT_LIBJPEG, INPUT_NVJPEG, INPUT_EITHER_JPEG } input_jpeg;

/* A decoded operand. Its source stays open, as pictures may be drawn from it, and standard input
 * cannot be read twice. */
typedef struct cli_input {
    io_source source;
    io_picture gray; /* cropped; without samples where rows is not NULL */
    io_rows *rows;   /* the whole picture, to be read by rows, none of which is read yet; or NULL */
    bool undecoded;  /* gray has no samples yet: a device is to decode the source */
    tm_device_image place; /* the gray picture, cropped and upright, in a device's memory; size 0: gray has samples */
    tm_image lent;   /* the gray picture, cropped, in the source's memory; without samples: gray has its own */
    char obstacle[64];     /* why nvJPEG, which was wanted, does not decode it, or "" */
    io_picture color; /* cropped; where colours are wanted and the file has some */
    int64_t whole_width, whole_height;
    int64_t first_row; /* of the picture, that the samples begin with */
    bool opened;   /* the file was read, whatever came of it */
    int64_t bytes; /* how large the file is */
    double read_ms;
} cli_input;

/* Memory for a picture and what is held beside it. */
typedef struct cli_room {
    int64_t bytes; /* INT64_MAX: no limit */
    int64_t beside;
} cli_room;

/* Rows of score maps, --rows, for which only some rows of a frame are read. */
typedef struct input_part {
    int64_t first, end; /* of the maps */
    tm_domain domain;
    const int64_t *heights; /* of the templates */
    size_t count;
} input_part;

/* How pictures are to be read. */
typedef struct input_settings {
    cli_room room;
    io_limits limits;
    const char *reader;     /* operands with which a converted file would be read from a pipe, for a hint */
    int64_t max_memory;     /* --max-memory, of which room is one frame's part; 0: no limit */
    double max_ms;          /* how long decoding may take; 0: no limit */
    double max_wait_ms;     /* how long a named pipe's picture may take to arrive; 0: no limit */
    bool color;             /* where the file has colours; gray in any case */
    int depth;              /* 8 or 16 bits, or 32: floats; 0: as the file has it */
    bool alpha;             /* transparency as a mask */
    bool stored_orientation; /* as stored, not as EXIF says is upright */
    const input_part *part;  /* or NULL: all rows */
    const io_picture *mask; /* of the whole picture's size, or of its crop's; or NULL */
    io_memory *memory;      /* for samples, or NULL */
    input_jpeg jpeg;        /* of 8-bit gray without masks or parts, in memory without limits */
    bool lends;             /* gray is matched where a codec has put it, and not decoded, in memory without limits */
    bool stays;             /* gray that a device has decoded is matched there; as jpeg, but of 8 or 16 bits */
    io_decoder *decoder;    /* in whose processes files are decoded; NULL: in this one */
} input_settings;

/* Loads a picture. Where there is no room for it, only its crop is decoded, or, where there is no
 * room for that either, it is opened to be read by rows. False with the reason. */
bool input_load(cli_input *input, const cli_operand *operand, const input_settings *settings,
                io_error *error);

/* Opens the file of an operand that has a path; the source is to be closed. */
bool input_open(io_source *source, const cli_operand *operand, const input_settings *settings,
                io_error *error);

/* Reads rows and keeps the crop's columns, of a picture that is read by rows. row has room for a row
 * of the whole picture. */
bool input_read_rows(io_rows *rows, const io_crop *crop, io_color color, uint8_t *row,
                     int64_t count, uint8_t *to, ptrdiff_t stride, io_error *error);

/* An input of zeros may be freed, and one that was freed before. */
void input_free(cli_input *input);

/* Prints "PNG, 64x48, alpha ignored", for -v. */
void input_describe(const cli_input *input, const cli_operand *operand);

/* The gray picture or the colour one, with the mask, as the library takes it. */
tm_image input_image(const cli_input *input, bool color);

/* The same in a device's memory, if it is there; else with size 0. */
tm_device_image input_view(const cli_input *input, bool color);

/* For input_device.c: decodes an open source. False with the reason. */
bool input_decode(cli_input *input, const cli_operand *operand, const input_settings *settings, io_error *error);

#endif
