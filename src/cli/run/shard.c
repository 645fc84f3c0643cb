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
            message(frames->list[i].path, "is a %s, which only one run can read; --shard, and --rows with --resume, "
                                          "take frames that are files%s", frames->list[i].movie ? "movie" : "stream",
                    frames->list[i].movie ? " (--from and --to share a movie out)" : "");
            return false;
        }
    return true;
}

/* Leaves the shard's frames in the list, each with its place. False after a message. */
static bool take(cli_shard *shard, cli_frames *frames, int64_t number, int64_t count)
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

bool shard_take(cli_shard *shard, cli_frames *frames, const cli_options *o)
{
    if (o->shards)
        return take(shard, frames, o->shard, o->shards);
    if (!o->merged)
        return true;
    if (!take(shard, frames, 1, 1))
        return false;
    if (shard->list != o->merged->list)
        message(o->report, "the frames, %zu, are not those of the logs, %zu: a report wants them as the shards had them, "
                           "from the same folder", shard->frames, o->merged->frames);
    return shard->list == o->merged->list;
}

bool shard_is_empty(const cli_shard *shard)
{
    return shard->count > 0 && shard->own == 0;
}

void shard_note_empty(const cli_shard *s)
{
    if (s->frames == 1)
        message_note(NULL, "the only frame is not in shard %" PRId64 "/%" PRId64, s->number, s->count);
    else
        message_note(NULL, "none of the %zu frames is in shard %" PRId64 "/%" PRId64, s->frames, s->number, s->count);
}
