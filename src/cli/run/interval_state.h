/* SPDX-License-Identifier: MIT */
/* The tracker of appearances: intervals.c has the movies and what becomes of appearances, interval_matches.c makes
 * them of matches. */
#ifndef TMATCH_CLI_INTERVAL_STATE_H
#define TMATCH_CLI_INTERVAL_STATE_H

#include "run/interval_links.h"

/* What is known of a template in this movie. */
typedef struct slot {
    const char *tmpl;
    bool found, has_nearest;
    bool posed, integers;
    cli_sighting nearest; /* the best that is no match */
} slot;

/* In the order of their beginning. */
typedef struct appearance_list {
    cli_appearance *head, *tail;
} appearance_list;

struct cli_intervals {
    const cli_options *options;
    double gap;
    FILE *out;
    slot *slots; /* one for each template */
    size_t slot_count, turn;
    interval_movie *movie;   /* or a picture; NULL: there is none */
    interval_movie *movies, *last_movie; /* those that are kept */
    cli_sighting now; /* the frame's index and time */
    double step;      /* how long the last frame lasts, as the one before it did */
    appearance_list list, kept;  /* those that are not over, or begin after one that is not; and those for files */
    cli_appearance **open;       /* those that are not over */
    size_t open_count, open_room;
    interval_links links;
    bool *used; /* matches that go on with an appearance */
    size_t used_room;
    int64_t count;
    void (*ended)(void *data, cli_appearance *appearance); /* or NULL */
    void *ended_data;
};

static inline void appearance_append(appearance_list *list, cli_appearance *a)
{
    a->next = NULL;
    if (list->tail)
        list->tail->next = a;
    else
        list->head = a;
    list->tail = a;
}

/* The template's appearances are missing in the frame until a match goes on with them. */
void interval_matches_miss(cli_intervals *intervals, size_t slot);

/* Takes the template's matches in the frame. False when memory ran out. */
bool interval_matches_take(cli_intervals *intervals, size_t slot, const cli_result *result);

#endif
