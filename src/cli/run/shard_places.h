/* SPDX-License-Identifier: MIT */
/* Where the last line of a shard's log is for each of its frames and templates: that is the one that counts. */
#ifndef TMATCH_CLI_SHARD_PLACES_H
#define TMATCH_CLI_SHARD_PLACES_H

#include <sys/types.h>

#include "run/shard_log.h"

typedef struct shard_places {
    uint64_t run;
    size_t *frames; /* the places of the shard's frames, rising */
    size_t count, templates;
    off_t *last; /* -1: there is no line */
} shard_places;

/* No line is there yet. False if memory ran out; to be freed in either case. */
bool shard_places_make(shard_places *places, uint64_t run, const cli_frames *frames, size_t templates);
void shard_places_free(shard_places *places);

/* Where that is noted for a place; NULL where the place is of another run or shard. */
off_t *shard_places_find(const shard_places *places, const shard_place *place);

#endif
