/* SPDX-License-Identifier: MIT */
/* The log of --resume: a JSON line for each frame and template, with an id of what
 * it is the result of. A later run with the same log passes over what it finds
 * there. A line is
 *
 *     {"frame":...,"template":...,...,"matches":[...],"id":"0123456789abcdef","sum":"..."}
 *     {"frame":...,"template":...,"error":"...","id":"0123456789abcdef","sum":"..."}
 *
 * with a sum of its own bytes, so that one that the disk has damaged does not count, and
 * has no id where the same might go well another time: a file that cannot be
 * opened, memory that ran out, a picture that could not be written. The id stands for
 * the frame's path, size and time of change, the template's samples, and the options
 * that change results or outputs; of a template that is broken, for its name, size and
 * time.
 *
 * The lines of a frame are written by one write after its pictures, so a kill loses
 * at most the frames in flight; what a power cut may lose is bounded by RESUME_SYNC_S. */
#ifndef TMATCH_CLI_RESUME_H
#define TMATCH_CLI_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/log_line.h"
#include "run/frames.h"
#include "options.h"
#include "run/template.h"

enum { RESUME_SYNC_S = 5 };

typedef struct cli_resume cli_resume;

/* Locks the file, reads it, says how many lines are damaged, and cuts a torn last line
 * off. False after a message;
 * *resume is NULL then. */
bool resume_open(cli_resume **resume, const cli_options *options, const cli_templates *templates,
                 const io_picture *frame_mask);

/* Syncs and closes the log. False after a message. NULL is allowed. */
bool resume_close(cli_resume **resume);

/* Computes the ids of a frame, which is in the file, with every template; zeros where the file's
 * size and time are not known. May be called by several threads. */
void resume_identify(const cli_resume *resume, const cli_frame *frame, const char *file,
                     uint64_t *ids);

/* The line of an id that was there when the log was opened, or NULL. */
const log_line *resume_find(const cli_resume *resume, uint64_t id);

/* Its text; malloc'ed, NULL if it cannot be read. */
char *resume_text(const cli_resume *resume, const log_line *line);

/* Appends whole lines. False after a message: then the log is as it was before. */
bool resume_append(cli_resume *resume, const char *lines, size_t size);

#endif
