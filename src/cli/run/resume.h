/* SPDX-License-Identifier: MIT */
/* The log of --resume: a JSON line for each frame and template, with an id that tells what was
 * matched. A later run with the same log passes over what it finds there. A line is
 *
 *     {"frame":...,"template":...,...,"matches":[...],"id":"0123456789abcdef","sum":"..."}
 *     {"frame":...,"template":...,"error":"...","id":"0123456789abcdef","sum":"..."}
 *
 * The sum is that of the line's own bytes: a line that the disk has damaged is ignored. The id is a
 * hash of the frame's path, size and time of change, the template's samples, and the options that
 * change results or outputs; for a template that is broken, of its name, size and time. A line has
 * no id where another run might go well: where a file could not be opened, memory ran out, or a
 * picture could not be written.
 *
 * The lines of a frame are written by one write after its pictures, so a run that is killed loses
 * at most the frames in flight. A power cut loses at most what came in RESUME_SYNC_S seconds. */
#ifndef TMATCH_CLI_RESUME_H
#define TMATCH_CLI_RESUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "options.h"
#include "run/frames.h"
#include "run/log_line.h"
#include "run/mask.h"
#include "run/shard_log.h"
#include "run/template.h"

enum { RESUME_SYNC_S = 5 };

typedef struct cli_resume cli_resume;

/* Locks a log, by LOCK_EX or LOCK_SH; false where another run has it. Waits a moment, as a run that was killed holds
 * its log until all its memory is freed. */
bool resume_lock(int fd, int kind);

/* Locks the file, reads it, says how many lines are damaged, and cuts a torn last line
 * off. shard, or NULL: gets its settings and run, is to stay where it is, and the log gets a line that begins
 * it, of these frames. False after a message;
 * *resume is NULL then. */
bool resume_open(cli_resume **resume, const cli_options *options, const cli_templates *templates,
                 const cli_masks *masks, cli_shard *shard, const cli_frames *frames);

/* With a shard: appends the line that says that it is finished, with its exit status. False after a message. */
bool resume_finish(cli_resume *resume, int status);

/* Syncs and closes the log. False after a message. NULL is allowed. */
bool resume_close(cli_resume **resume);

/* Computes the ids of a frame, which is in the file, with every template; zeros where the file's
 * size and time are not known. May be called by several threads. */
void resume_identify(const cli_resume *resume, const cli_frame *frame, const char *file,
                     uint64_t *ids);

/* The line of an id that was there when the log was opened, or NULL. */
const log_line *resume_find(const cli_resume *resume, uint64_t id);

/* With a shard: whether the line is the last one of this run at the place, so that --merge finds it. */
bool resume_is_placed(const cli_resume *resume, const log_line *line, const shard_place *place);

/* Its text; malloc'ed, NULL if it cannot be read. */
char *resume_text(const cli_resume *resume, const log_line *line);

/* Appends whole lines. False after a message: then the log is as it was before. */
bool resume_append(cli_resume *resume, const char *lines, size_t size);

#endif
