/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/window_guesses.h"

float tm_window_guesses_least(void *context)
{
    const tm_window_guesses *g = context;
    float least;
#pragma omp atomic read
    least = g->least;
    return least;
}

void tm_window_guesses_raise(tm_window_guesses *g)
{
    if (g->count < TM_WINDOW_GUESSES)
        return;
#pragma omp atomic write
    g->least = g->list[TM_WINDOW_GUESSES - 1].bound;
}

void tm_window_guesses_visit(void *context, int thread, const tm_family_window *window)
{
    tm_window_guesses *g = context;
    const int likest = tm_family_likest(window);
    const tm_window_guess best = {.bound = window->bounds[likest],
                                  .x = window->x,
                                  .y = window->y,
                                  .class = g->class,
                                  .member = window->members[likest]};

    (void)thread;
    pthread_mutex_lock(&g->putting);
    g->put(g, &best);
    pthread_mutex_unlock(&g->putting);
}
