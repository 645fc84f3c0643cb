/* SPDX-License-Identifier: MIT */
/* The pictures that a job writes: annotated frames, crops and thumbnails. */
#ifndef TMATCH_CLI_PICTURES_H
#define TMATCH_CLI_PICTURES_H

#include <stdbool.h>

#include "run/job.h"

/* Whether jobs have any to write. */
bool pictures_wanted(const cli_options *options);

/* The whole frame, in 8 bits to look at. */
bool pictures_decode(const cli_job *job, const cli_plan *plan, io_color color, io_picture *picture,
                     io_error *error);

/* Draws the matches of all templates on the frame, and cuts them out; where the output is a movie, the drawing
 * stays in the job. False after a message. */
bool pictures_write(cli_job *job, const cli_plan *plan);

/* How wide thumbnails are for so many frames; 0: nobody knows how many. */
int pictures_thumbnail_side(size_t frames);

/* Makes the thumbnail of a frame that an earlier run has matched, and sets the frame's size;
 * neither if it cannot be read now. */
void pictures_make_thumbnail(cli_job *job, const cli_plan *plan);

#endif
