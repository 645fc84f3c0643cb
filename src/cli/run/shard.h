/* SPDX-License-Identifier: MIT */
/* --shard: which of the frames this run takes. It depends on nothing but a frame's name, so that runs on
 * several machines share frames out without talking. docs/many-machines.md says how; it never changes, as a
 * log is gone on with by later versions. */
#ifndef TMATCH_CLI_SHARD_H
#define TMATCH_CLI_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "run/frames.h"

typedef struct cli_shard {
    int64_t number, count; /* part 3 of 8 */
    size_t frames;         /* in the list of all shards */
    size_t own;            /* of this one */
    uint64_t list;         /* a hash of all names in that list, in order */
    /* A log's (run/resume.h): */
    uint64_t settings; /* a hash of the options that change results, and of the templates */
    uint64_t run;      /* of these, the list and which part it is: lines of another part in the log do not count */
} cli_shard;

/* In which of so many shards the frame of a name is, from 1. */
int64_t shard_of(const char *name, int64_t count);

/* Whether all frames of the list can be shared out: there are no streams among them. False after a message. */
bool shard_allows(const cli_frames *frames);

/* With --shard: leaves the shard's frames in the list, each with its place, and fills in the shard but for what is a
 * log's. For the report of --merge: leaves all, with their places, if they are those of the logs. Else does nothing.
 * False after a message. */
bool shard_take(cli_shard *shard, cli_frames *frames, const cli_options *options);

/* Whether none of the frames is the shard's, and says so. */
bool shard_is_empty(const cli_shard *shard);
void shard_note_empty(const cli_shard *shard);

#endif
