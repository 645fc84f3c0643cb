/* SPDX-License-Identifier: MIT */
#include "run/slots.h"

#include <stdlib.h>

static void *take(io_memory *memory, size_t size)
{
    frame_slots *s = (frame_slots *)memory;
    void *slot = NULL;

    pthread_mutex_lock(&s->lock);
    if (size > s->wanted)
        s->wanted = size;
    if (size <= s->size && s->unused_count > 0) {
        s->used[s->used_count++] = s->unused[--s->unused_count];
        slot = s->used[s->used_count - 1].data;
    }
    pthread_mutex_unlock(&s->lock);
    return slot;
}

static void give_back(io_memory *memory, void *data)
{
    frame_slots *s = (frame_slots *)memory;
    size_t i = 0;
    pthread_mutex_lock(&s->lock);
    while (s->used[i].data != data)
        i++;
    s->unused[s->unused_count++] = s->used[i];
    s->used[i] = s->used[--s->used_count];
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
    free(s->unused);
    free(s->used);
}

static size_t allocate(tm_host_memory *slots, tm_matcher *matcher, size_t count, size_t size)
{
    size_t made = 0;
    while (made < count && tm_host_alloc(matcher, size, &slots[made]) == TM_OK) {
        if (!slots[made].pinned) {
            tm_host_free(matcher, &slots[made]);
            break;
        }
        made++;
    }
    return made;
}

bool slots_make(frame_slots *s, tm_matcher *matcher, size_t count, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    const size_t size = s->wanted;
    pthread_mutex_unlock(&s->lock);

    if (size == 0 || size > bytes)
        return false;
    if (count > bytes / size)
        count = bytes / size;
    tm_host_memory *unused = calloc(count, sizeof *unused);
    tm_host_memory *used = calloc(count, sizeof *used);
    const size_t made = unused && used ? allocate(unused, matcher, count, size) : 0;

    pthread_mutex_lock(&s->lock);
    s->unused = unused;
    s->used = used;
    s->unused_count = made;
    s->size = made ? size : 0;
    pthread_mutex_unlock(&s->lock);
    return made > 0;
}

void slots_free(frame_slots *s, tm_matcher *matcher)
{
    pthread_mutex_lock(&s->lock);
    s->size = 0;
    while (s->unused_count > 0) {
        tm_host_memory slot = s->unused[--s->unused_count];
        pthread_mutex_unlock(&s->lock);
        tm_host_free(matcher, &slot);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}
