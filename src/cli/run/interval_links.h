/* SPDX-License-Identifier: MIT */
/* Which matches of a frame go on with which appearances: those that lie where one was last, or where its movement has
 * brought it. */
#ifndef TMATCH_CLI_INTERVAL_LINKS_H
#define TMATCH_CLI_INTERVAL_LINKS_H

#include "run/intervals.h"

/* A match that may go on with an appearance, and how far it is from where that is expected. */
typedef struct interval_link {
    double distance;
    size_t open, match; /* the appearance's index and the match's */
} interval_link;

typedef struct interval_links {
    interval_link *list;
    size_t count, room;
} interval_links;

/* Lists them, the nearest first, for a result of this time and the appearances of its template's slot. Matches that are
 * used are left out. False when memory ran out; the list is to be freed in either case. */
bool interval_links_find(interval_links *links, cli_appearance *const *open, size_t open_count, size_t slot, double time,
                         const cli_result *result, const bool *used);

/* Notes how the appearance has moved, up to the match. */
void interval_links_move(cli_appearance *appearance, const cli_match *match, double time);

#endif
