/* SPDX-License-Identifier: MIT */
/* What a frame's name means: a file, one of its pictures, and a crop. */
#ifndef TMATCH_CLI_OPERAND_H
#define TMATCH_CLI_OPERAND_H

#include <stdbool.h>

#include "io/io.h"
#include "run/frames.h"

/* A file, and which picture and crop of it. Where it is known that it cannot be read, path is NULL
 * and error says why: it fails when it is loaded, as a broken picture does. */
typedef struct cli_operand {
    const char *given;
    char *path;
    char *name;     /* "scan.tif#3", for one of several pictures; NULL: its name is path */
    cli_part *part; /* the frame's */
    bool has_crop;
    io_crop crop; /* zeros where there is none */
    io_error error;
} cli_operand;

/* Keeps pointers to the frame's strings. */
void operand_init(cli_operand *operand, const cli_frame *frame);
void operand_free(cli_operand *operand);

/* Crops the operand to the region of interest; an operand that has a crop already cannot be read
 * then. */
void operand_restrict(cli_operand *operand, const io_crop *roi);

/* The picture's name, or what was given. */
const char *operand_name(const cli_operand *operand);

#endif
