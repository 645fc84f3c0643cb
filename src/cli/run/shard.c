/* SPDX-License-Identifier: MIT */
#include "run/shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tmatch/tmatch.h>

#include "hash.h"
#include "message.h"

int64_t shard_of(const char *name, int64_t count)
{
    return (int64_t)(hash_bytes(0, name, strlen(name)) % (uint64_t)count) + 1;
}

/* The path as the list has it; of one of several pictures in a file "scan.tif#3", so that a movie is
 * shared out, too. NULL if memory ran out. */
static char *name_of(const cli_frame *frame)
{
    const cli_part *part = frame->part;
    char *name = NULL;
    if (!part || part->spelled || part->number == 0)
        return strdup(frame->path);
    return asprintf(&name, "%s#%" PRId64, frame->path, part->number) < 0 ? NULL : name;
}

bool shard_allows(const cli_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        if (frames->list[i].stream) {
            message(frames->list[i].path, "--shard shares out frames that are files, and this is a stream that only one "
                                          "run can read");
            return false;
        }
    return true;
}

bool shard_take(cli_shard *shard, cli_frames *frames, int64_t number, int64_t count)
{
    *shard = (cli_shard){.number = number, .count = count, .frames = frames->count};
    for (size_t i = 0; i < shard->frames; i++) {
        cli_frame *frame = &frames->list[i];
        char *name = name_of(frame);
        if (!name) {
            message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
            memmove(frames->list + shard->own, frame, (shard->frames - i) * sizeof *frame);
            frames->count = shard->own + shard->frames - i;
            return false;
        }
        shard->list = hash_bytes(shard->list, name, strlen(name));
        frame->place = i + 1;
        if (shard_of(name, count) == number)
            frames->list[shard->own++] = *frame;
        else
            frame_free(frame);
        free(name);
    }
    frames->count = shard->own;
    return true;
}
