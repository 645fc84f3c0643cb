/* SPDX-License-Identifier: MIT */
/* Certified search for the members of a family on the CPU: windows that family.h's bound proves to
 * score less than what matters with a member are left out, the others are listed. */
#ifndef TMATCH_LCC_CPU_FAMILY_H
#define TMATCH_LCC_CPU_FAMILY_H

#include "lcc/cpu/direct.h"
#include "lcc/family.h"

/* A window of the core's box that some members pass in. */
typedef struct tm_family_window {
    int64_t x, y;         /* of its corner in the frame */
    int64_t s_f, s_ff;    /* over the core; s_ff: of samples of 8 bits alone */
    const uint8_t *samples; /* of the box, extended with zeros, TM_BLOCK columns more can be read */
    ptrdiff_t stride;
    const int32_t *members;
    const float *bounds;  /* of each: its score is that at most, and what roundings add */
    int count;
    const int32_t *products; /* with the first basis template; product_step elements on, those of the next */
    ptrdiff_t product_step;
} tm_family_window;

/* What is searched. The callbacks are called by several threads. */
typedef struct tm_family_search {
    const tm_family *family;
    const tm_image *frame; /* 8-bit gray */
    /* Where samples are unit * frame + rests, as sums over cells are: 8-bit gray of the same size, of
     * samples below unit, which is 256 at most; unit times the core's pixels is TM_FAMILY_PIXELS at
     * most. Else NULL. */
    const tm_image *rests;
    int unit;
    int64_t x, y;          /* of the first window's corner in the frame, which may lie outside */
    int64_t width, height; /* windows */
    void *context;
    float (*least)(void *context); /* what scores of windows that matter reach, at the moment */
    /* Where members differ in that: for each thread the family without a chain, whose coordinates have a row more, of
     * what a member's score must reach, with its sign changed. least says the lowest; bounds are less that. Else NULL. */
    const tm_family *members;
    void (*visit)(void *context, int thread, const tm_family_window *window);
    void (*advance)(void *context, double share); /* so much of the search is done; NULL: nobody asks */
    int64_t passed;        /* out: members that passed, of all windows */
    int64_t windows;       /* out: that one passed in */
} tm_family_search;

/* Which of the window's members is the likest, in its list. */
static inline int tm_family_likest(const tm_family_window *window)
{
    int likest = 0;
    for (int i = 1; i < window->count; i++)
        likest = window->bounds[i] > window->bounds[likest] ? i : likest;
    return likest;
}

/* Adds what a visit scored to what all threads did; returns that. */
static inline int64_t tm_family_add_scored(int64_t *all, int64_t scored)
{
#pragma omp atomic capture
    {
        *all += scored;
        scored = *all;
    }
    return scored;
}

/* Errors: MEMORY. */
tm_status tm_cpu_search_family(tm_cpu *cpu, tm_family_search *search);

#endif
