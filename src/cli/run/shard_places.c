/* SPDX-License-Identifier: MIT */
#include "run/shard_places.h"

#include <stdlib.h>

bool shard_places_make(shard_places *p, uint64_t run, const cli_frames *frames, size_t templates)
{
    const size_t count = frames->count * templates;

    *p = (shard_places){.run = run, .frames = calloc(frames->count + 1, sizeof *p->frames), .count = frames->count,
                        .templates = templates, .last = calloc(count + 1, sizeof *p->last)};
    if (!p->frames || !p->last)
        return false;
    for (size_t i = 0; i < frames->count; i++)
        p->frames[i] = frames->list[i].place;
    for (size_t i = 0; i < count; i++)
        p->last[i] = -1;
    return true;
}

void shard_places_free(shard_places *p)
{
    free(p->frames);
    free(p->last);
    *p = (shard_places){0};
}

static int compare_sizes(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

off_t *shard_places_find(const shard_places *p, const shard_place *place)
{
    if (place->run != p->run || place->tmpl - 1 >= p->templates)
        return NULL;
    const size_t *found = bsearch(&place->frame, p->frames, p->count, sizeof *p->frames, compare_sizes);
    return found ? &p->last[(size_t)(found - p->frames) * p->templates + place->tmpl - 1] : NULL;
}
