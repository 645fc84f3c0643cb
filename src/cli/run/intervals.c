/* SPDX-License-Identifier: MIT */
#include "run/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "run/interval_state.h"
#include "run/intervals_print.h"

/* Times are compared to a microsecond. */
#define TIME_ERROR 1e-6

#define DEFAULT_GAP 0.5 /* seconds */

/* How long the only frame of a movie lasts. */
#define LONE_FRAME 0.04

bool intervals_open(cli_intervals **intervals, const cli_options *options, size_t templates, FILE *out)
{
    cli_intervals *t = *intervals = calloc(1, sizeof *t);
    if (!t)
        return false;
    *t = (cli_intervals){.options = options, .out = out, .gap = options->gap < 0 ? DEFAULT_GAP : options->gap,
                         .slot_count = templates,
                         .slots = calloc(templates + 1, sizeof *t->slots)};
    if (options->intervals)
        intervals_print_head(options, out);
    return t->slots != NULL;
}

static cli_appearance *take_head(appearance_list *list)
{
    cli_appearance *a = list->head;
    list->head = a->next;
    if (!list->head)
        list->tail = NULL;
    return a;
}

static void free_appearance(cli_appearance *a)
{
    free(a->still);
    free(a);
}

static void free_movie(interval_movie *movie)
{
    if (movie)
        free(movie->name);
    free(movie);
}

void intervals_close(cli_intervals **intervals)
{
    cli_intervals *t = *intervals;
    if (!t)
        return;
    while (t->list.head)
        free_appearance(take_head(&t->list));
    while (t->kept.head)
        free_appearance(take_head(&t->kept));
    free_movie(t->movie);
    while (t->movies) {
        interval_movie *next = t->movies->next;
        free_movie(t->movies);
        t->movies = next;
    }
    free(t->slots);
    free(t->open);
    free(t->links.list);
    free(t->used);
    free(t);
    *intervals = NULL;
}

int64_t intervals_count(const cli_intervals *t)
{
    return t->count;
}

const interval_movie *intervals_movies(const cli_intervals *t)
{
    return t->movies;
}

const cli_appearance *intervals_kept(const cli_intervals *t)
{
    return t->kept.head;
}

const cli_appearance *intervals_open_one(const cli_intervals *t, size_t i)
{
    return i < t->open_count ? t->open[i] : NULL;
}

void intervals_on_end(cli_intervals *t, void (*ended)(void *data, cli_appearance *appearance), void *data)
{
    t->ended = ended;
    t->ended_data = data;
}

static void print(const cli_intervals *t, const cli_appearance *a)
{
    if (t->options->intervals)
        intervals_print(t->options, t->out, t->slot_count > 1, a);
}

/* Files show movies, and of these all that there is. */
static bool keeps(const cli_intervals *t)
{
    return t->movie->timed && (t->options->chapters || t->options->edl || t->options->report);
}

/* Prints what is over, up to the first that is not. */
static void print_over(cli_intervals *t)
{
    while (t->list.head && t->list.head->over) {
        cli_appearance *a = take_head(&t->list);
        print(t, a);
        if (keeps(t))
            appearance_append(&t->kept, a);
        else
            free_appearance(a);
    }
}

static void end_open(cli_intervals *t, size_t i)
{
    t->open[i]->over = true;
    if (t->ended)
        t->ended(t->ended_data, t->open[i]);
    t->open[i] = NULL;
}

static void drop_ended(cli_intervals *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->open_count; i++)
        if (t->open[i])
            t->open[kept++] = t->open[i];
    t->open_count = kept;
}

/* Ends all appearances, where the movie ends, or its time begins anew. */
static void end_all(cli_intervals *t)
{
    for (size_t i = 0; i < t->open_count; i++) {
        cli_appearance *a = t->open[i];
        if (!a->missing)
            a->end = t->now.time + t->step;
        end_open(t, i);
    }
    t->open_count = 0;
    print_over(t);
}

/* Ends the template's appearances that have been missing for longer than the gap. */
static void end_missing(cli_intervals *t, size_t slot_index)
{
    for (size_t i = 0; i < t->open_count; i++) {
        const cli_appearance *a = t->open[i];
        if (a->slot == slot_index && a->missing && t->now.time - a->end > t->gap + TIME_ERROR)
            end_open(t, i);
    }
    drop_ended(t);
}

static void keep_movie(cli_intervals *t)
{
    if (t->last_movie)
        t->last_movie->next = t->movie;
    else
        t->movies = t->movie;
    t->last_movie = t->movie;
}

static void end_movie(cli_intervals *t)
{
    if (!t->movie)
        return;
    t->movie->end = t->now.time + t->step;
    end_all(t);
    for (size_t i = 0; i < t->slot_count; i++) {
        const slot *s = &t->slots[i];
        const cli_appearance none = {.movie = t->movie, .tmpl = s->tmpl, .posed = s->posed, .integers = s->integers,
                                     .best = s->nearest};
        if (!s->found && s->has_nearest)
            print(t, &none);
        t->slots[i] = (slot){0};
    }
    if (keeps(t))
        keep_movie(t);
    else
        free_movie(t->movie);
    t->movie = NULL;
}

void intervals_finish(cli_intervals *t)
{
    end_movie(t);
}

/* Whether the frame is one more of the movie: "clip.mp4#51" of "clip.mp4". */
static bool goes_on(const cli_intervals *t, const cli_result *r)
{
    const interval_movie *movie = t->movie;
    const size_t length = movie ? strlen(movie->name) : 0;
    return movie && movie->timed && r->timed && r->index > t->now.index &&
           strncmp(r->frame, movie->name, length) == 0 && r->frame[length] == '#' &&
           !strchr(r->frame + length + 1, '#');
}

/* The time as it is printed and logged, so that it is the same when it is read back. */
static double printed_time(double time)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", time);
    return strtod(text, NULL);
}

static bool begin_movie(cli_intervals *t, const cli_result *r, double time)
{
    const char *number = r->timed && r->index > 0 ? strrchr(r->frame, '#') : NULL;

    end_movie(t);
    t->step = LONE_FRAME;
    t->movie = calloc(1, sizeof *t->movie);
    if (!t->movie)
        return false;
    *t->movie = (interval_movie){.timed = r->timed, .first_index = r->index, .first_time = time,
                                 .name = strndup(r->frame, number ? (size_t)(number - r->frame) : strlen(r->frame))};
    return t->movie->name != NULL;
}

/* Takes the frame's place in the movie, of which it may be the first. */
static bool begin_frame(cli_intervals *t, const cli_result *r)
{
    const double time = r->timed ? printed_time(r->time) : 0, since = time - t->now.time;
    if (!goes_on(t, r)) {
        if (!begin_movie(t, r, time))
            return false;
    } else if (since < 0) {
        end_all(t);
    } else if (since > 0) {
        t->step = since / (double)(r->index - t->now.index);
    }
    t->movie->last_index = t->now.index = r->index;
    t->movie->last_time = t->now.time = time;
    return true;
}

bool intervals_take(cli_intervals *t, const cli_result *r, bool failed)
{
    const size_t slot_index = t->turn;

    t->turn = (t->turn + 1) % t->slot_count;
    if (slot_index == 0 && !begin_frame(t, r))
        return false;
    slot *s = &t->slots[slot_index];
    s->tmpl = r->tmpl;
    s->posed |= r->poses > 0;
    s->integers = failed ? s->integers : r->integers;
    end_missing(t, slot_index);
    interval_matches_miss(t, slot_index);
    const bool good = failed || interval_matches_take(t, slot_index, r);
    print_over(t);
    return good;
}
