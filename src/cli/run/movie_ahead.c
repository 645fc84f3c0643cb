/* SPDX-License-Identifier: MIT */
#include "run/movie_ahead.h"

/* Waking costs a system call, also where nobody waits for it. */
static void wake(movie_ahead *a, bool waits)
{
    if (waits)
        pthread_cond_signal(&a->changed);
}

static void put(movie_ahead *a, const movie_ahead_frame *frame)
{
    a->ring[(a->first + a->count++) % MOVIE_AHEAD] = *frame;
    wake(a, a->reads);
}

static void *decode(void *argument)
{
    movie_ahead *a = argument;
    movie_ahead_frame frame = {.next = IO_NEXT_PICTURE};

    pthread_mutex_lock(&a->lock);
    while (!a->quit && frame.next == IO_NEXT_PICTURE) {
        if (a->count == MOVIE_AHEAD) {
            a->decodes = true;
            pthread_cond_wait(&a->changed, &a->lock);
            a->decodes = false;
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        frame.next = io_movie_next(a->movie, &frame.picture, &frame.number, &frame.error);
        pthread_mutex_lock(&a->lock);
        put(a, &frame);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

void movie_ahead_open(movie_ahead *a, io_movie *movie, bool is_ahead)
{
    *a = (movie_ahead){.movie = movie};
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->runs = is_ahead && pthread_create(&a->thread, NULL, decode, a) == 0;
}

io_next movie_ahead_next(movie_ahead *a, io_streamed *frame, int64_t *number, io_error *error)
{
    if (!a->runs)
        return io_movie_next(a->movie, frame, number, error);
    pthread_mutex_lock(&a->lock);
    a->reads = true;
    while (a->count == 0)
        pthread_cond_wait(&a->changed, &a->lock);
    a->reads = false;
    const movie_ahead_frame found = a->ring[a->first];
    a->first = (a->first + 1) % MOVIE_AHEAD;
    a->count--;
    wake(a, a->decodes);
    pthread_mutex_unlock(&a->lock);
    *frame = found.picture;
    *number = found.number;
    *error = found.error;
    return found.next;
}

void movie_ahead_close(movie_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->quit = true;
    wake(a, a->decodes);
    pthread_mutex_unlock(&a->lock);
    if (a->runs)
        pthread_join(a->thread, NULL);
    for (; a->count > 0; a->count--, a->first++)
        if (a->ring[a->first % MOVIE_AHEAD].next == IO_NEXT_PICTURE)
            io_source_close(&a->ring[a->first % MOVIE_AHEAD].picture.source);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
}
