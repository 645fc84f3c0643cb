/* SPDX-License-Identifier: MIT */
#include "batch/slots.h"

#include <stdlib.h>

enum { PAGE = 4096 };

static void *take(io_memory *memory, size_t size)
{
    frame_slots *s = (frame_slots *)memory;
    void *slot = NULL;

    pthread_mutex_lock(&s->lock);
    if (size > s->wanted)
        s->wanted = size;
    if (size <= s->size && s->unused_count > 0)
        slot = s->unused[--s->unused_count];
    pthread_mutex_unlock(&s->lock);
    return slot;
}

static void give_back(io_memory *memory, void *data)
{
    frame_slots *s = (frame_slots *)memory;
    pthread_mutex_lock(&s->lock);
    s->unused[s->unused_count++] = data;
    pthread_mutex_unlock(&s->lock);
}

void slots_init(frame_slots *s)
{
    *s = (frame_slots){.memory = {take, give_back}};
    pthread_mutex_init(&s->lock, NULL);
}

void slots_destroy(frame_slots *s)
{
    pthread_mutex_destroy(&s->lock);
}

bool slots_make(frame_slots *s, tm_matcher *matcher, size_t count, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    const size_t size = (s->wanted + PAGE - 1) / PAGE * PAGE;
    pthread_mutex_unlock(&s->lock);

    if (size == 0 || size > bytes)
        return false;
    if (count > bytes / size)
        count = bytes / size;
    tm_host_memory block = {0};
    void **unused = calloc(count, sizeof *unused);
    if (!unused || tm_host_alloc(matcher, count * size, &block) != TM_OK || !block.pinned) {
        tm_host_free(matcher, &block);
        free(unused);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        unused[i] = (uint8_t *)block.data + i * size;

    pthread_mutex_lock(&s->lock);
    s->block = block;
    s->unused = unused;
    s->unused_count = count;
    s->size = size;
    pthread_mutex_unlock(&s->lock);
    return true;
}

void slots_free(frame_slots *s, tm_matcher *matcher)
{
    tm_host_free(matcher, &s->block);
    free(s->unused);
    s->unused = NULL;
    s->unused_count = s->size = 0;
}
