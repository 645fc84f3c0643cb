/* SPDX-License-Identifier: MIT */
/* The windows that families say are likest, as places to begin with. */
#ifndef TMATCH_LCC_CPU_WINDOW_GUESSES_H
#define TMATCH_LCC_CPU_WINDOW_GUESSES_H

#include <pthread.h>

#include "lcc/cpu/family.h"

enum { TM_WINDOW_GUESSES = 32 };

typedef struct tm_window_guess {
    float bound;
    int64_t x, y;
    int class, member; /* whose family has this member */
} tm_window_guess;

typedef struct tm_window_guesses {
    tm_window_guess list[TM_WINDOW_GUESSES]; /* the best first */
    int count;
    float least;
    int class;     /* that is being searched */
    int64_t apart; /* as far as guesses of it are, at least */
    /* Puts a guess in its place, unless a better one is near, and then calls tm_window_guesses_raise. */
    void (*put)(struct tm_window_guesses *guesses, const tm_window_guess *guess);
    pthread_mutex_t putting;
} tm_window_guesses;

/* For a search of a family, whose context are the guesses. */
float tm_window_guesses_least(void *context);
void tm_window_guesses_visit(void *context, int thread, const tm_family_window *window);

/* Once the list is full, windows have to be better than the last guess. */
void tm_window_guesses_raise(tm_window_guesses *guesses);

#endif
