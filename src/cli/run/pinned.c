/* SPDX-License-Identifier: MIT */
#include "run/pinned.h"

#include <stdlib.h>

#include "run/engine.h"

static void *take(io_memory *memory, size_t size)
{
    pinned_buffers *s = (pinned_buffers *)memory;
    void *buffer = NULL;

    pthread_mutex_lock(&s->lock);
    if (size > s->wanted)
        s->wanted = size;
    if (size <= s->size && s->unused_count > 0) {
        s->used[s->used_count++] = s->unused[--s->unused_count];
        buffer = s->used[s->used_count - 1].data;
    }
    pthread_mutex_unlock(&s->lock);
    return buffer;
}

static void give_back(io_memory *memory, void *data)
{
    pinned_buffers *s = (pinned_buffers *)memory;
    size_t i = 0;
    pthread_mutex_lock(&s->lock);
    while (s->used[i].data != data)
        i++;
    s->unused[s->unused_count++] = s->used[i];
    s->used[i] = s->used[--s->used_count];
    pthread_mutex_unlock(&s->lock);
}

void pinned_init(pinned_buffers *s)
{
    *s = (pinned_buffers){.memory = {take, give_back}};
    pthread_mutex_init(&s->lock, NULL);
}

void pinned_destroy(pinned_buffers *s)
{
    pthread_mutex_destroy(&s->lock);
    free(s->unused);
    free(s->used);
}

static size_t allocate(tm_host_memory *buffers, tm_matcher *matcher, size_t count, size_t size)
{
    size_t made = 0;
    while (made < count && tm_host_alloc(matcher, size, &buffers[made]) == TM_OK) {
        if (!buffers[made].pinned) {
            tm_host_free(matcher, &buffers[made]);
            break;
        }
        made++;
    }
    return made;
}

bool pinned_make(pinned_buffers *s, tm_matcher *matcher, size_t count, size_t bytes)
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

void pinned_free(pinned_buffers *s, tm_matcher *matcher)
{
    pthread_mutex_lock(&s->lock);
    s->size = 0;
    while (s->unused_count > 0 && !engine_device_hangs()) { /* the driver would wait for it */
        tm_host_memory buffer = s->unused[--s->unused_count];
        pthread_mutex_unlock(&s->lock);
        tm_host_free(matcher, &buffer);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}
