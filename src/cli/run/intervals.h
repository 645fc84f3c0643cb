/* SPDX-License-Identifier: MIT */
/* Appearances: what is found of a template in a movie's frames, one after the other, at one place or one that moves.
 * They depend on the results alone, so that those of an earlier run, of a log, give the same. */
#ifndef TMATCH_CLI_INTERVALS_H
#define TMATCH_CLI_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "run/report.h"

/* A match in one frame. */
typedef struct cli_sighting {
    int64_t index; /* of the frame in its movie, from 1 */
    double time;   /* at which it is shown */
    cli_match match;
} cli_sighting;

/* The frames that were matched of a movie. */
typedef struct interval_movie {
    char *name;
    bool timed; /* else it is a picture, which no time belongs to */
    int64_t first_index, last_index;
    double first_time, last_time;
    double end; /* when the last frame has been shown; set at the movie's end */
    struct interval_movie *next;
} interval_movie;

typedef struct cli_appearance {
    const interval_movie *movie;
    const char *tmpl;
    bool posed, integers;
    cli_sighting first, last, best;
    int64_t frames; /* in how many it was found */
    double end;     /* when the first frame without it is shown, or the last one has been */
    char *still;    /* the file with the frame of the best match, or NULL */
    struct cli_appearance *next;
    /* For the tracker: */
    size_t slot;
    bool missing, over;
    double speed[2]; /* in 1/2000 of a pixel a second */
} cli_appearance;

/* Whether the options ask for appearances. A report shows those of movies, where a score says what counts, and it has
 * all frames. */
static inline bool intervals_asked(const cli_options *o)
{
    return o->intervals || o->chapters || o->edl;
}

static inline bool intervals_wanted(const cli_options *o)
{
    const bool judged = o->has_min_score || o->settings.metric == TM_METRIC_LCC;
    return intervals_asked(o) || (o->report && judged && !o->shards);
}

/* Opens the tracker of a report with so many templates, and prints the header. To be closed in either case. Each of
 * these is false when memory ran out. */
bool intervals_open(cli_intervals **intervals, const cli_options *options, size_t templates, FILE *out);

/* Takes the result of a frame and a template, in order; failed: there is none. With --intervals prints what is over. */
bool intervals_take(cli_intervals *intervals, const cli_result *result, bool failed);

/* Ends what is not over, at the end of the last frame. */
void intervals_finish(cli_intervals *intervals);

/* How many appearances there were. */
int64_t intervals_count(const cli_intervals *intervals);

/* For files: the movies, and all appearances in the order of their beginning, in one movie after the other. */
const interval_movie *intervals_movies(const cli_intervals *intervals);
const cli_appearance *intervals_kept(const cli_intervals *intervals);

/* Whether the match says that the template is there: where nobody has chosen a threshold, it must not be weak and
 * reach what -n 0 asks of large templates. */
bool intervals_match_counts(const cli_options *options, const cli_match *match);

/* Appearances that are not over, from the first, number 0, on; NULL: there are no more. */
const cli_appearance *intervals_open_one(const cli_intervals *intervals, size_t i);

/* From now on ended is called for each appearance that is over. */
void intervals_on_end(cli_intervals *intervals, void (*ended)(void *data, cli_appearance *appearance), void *data);

/* NULL is allowed. */
void intervals_close(cli_intervals **intervals);

#endif
