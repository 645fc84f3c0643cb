/* SPDX-License-Identifier: MIT */
#include "run/intervals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/frames.h"
#include "run/intervals_print.h"
#include "run/weak.h"

/* Places are compared in 1/1000 of a pixel, as they are printed, and times to a microsecond. */
#define UNIT 1000
#define TIME_ERROR 1e-6

#define DEFAULT_GAP 0.5 /* seconds */

/* How long the only frame of a movie lasts. */
#define LONE_FRAME 0.04

/* What is known of a template in this movie. */
typedef struct slot {
    const char *tmpl;
    bool found, has_nearest;
    bool posed, integers;
    cli_sighting nearest; /* the best that is no match */
} slot;

/* A match that may go on with an appearance, and how far it is from where that is expected. */
typedef struct link {
    double distance;
    size_t open, match;
} link;

struct cli_intervals {
    const cli_options *options;
    double gap;
    FILE *out;
    slot *slots; /* one for each template */
    size_t slot_count, turn;
    char *file;  /* the movie's name, or a picture's; NULL: there is none */
    bool timed;
    cli_sighting now; /* the frame's index and time */
    double step;      /* how long the last frame lasts, as the one before it did */
    cli_appearance *head, *tail; /* those that are not printed, in the order of their beginning */
    cli_appearance **open;       /* those of them that are not over */
    size_t open_count, open_room;
    link *links;
    size_t link_room;
    bool *used; /* matches that go on with an appearance */
    size_t used_room;
    int64_t count;
};

bool intervals_open(cli_intervals **intervals, const cli_options *options, size_t templates, FILE *out)
{
    cli_intervals *t = *intervals = calloc(1, sizeof *t);
    if (!t)
        return false;
    *t = (cli_intervals){.options = options, .out = out, .gap = options->gap < 0 ? DEFAULT_GAP : options->gap,
                         .slot_count = templates,
                         .slots = calloc(templates + 1, sizeof *t->slots)};
    intervals_print_head(options, out);
    return t->slots != NULL;
}

void intervals_close(cli_intervals **intervals)
{
    cli_intervals *t = *intervals;
    if (!t)
        return;
    while (t->head) {
        cli_appearance *next = t->head->next;
        free(t->head);
        t->head = next;
    }
    free(t->slots);
    free(t->file);
    free(t->open);
    free(t->links);
    free(t->used);
    free(t);
    *intervals = NULL;
}

int64_t intervals_count(const cli_intervals *t)
{
    return t->count;
}

/* Prints what is over, up to the first that is not. */
static void print_over(cli_intervals *t)
{
    while (t->head && t->head->over) {
        cli_appearance *a = t->head;
        intervals_print(t->options, t->out, t->slot_count > 1, a);
        t->head = a->next;
        free(a);
    }
    if (!t->head)
        t->tail = NULL;
}

static void end_open(cli_intervals *t, size_t i)
{
    t->open[i]->over = true;
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

static void end_movie(cli_intervals *t)
{
    end_all(t);
    for (size_t i = 0; i < t->slot_count && t->file; i++) {
        const slot *s = &t->slots[i];
        const cli_appearance none = {.file = t->file, .tmpl = s->tmpl, .timed = t->timed, .posed = s->posed,
                                     .integers = s->integers, .best = s->nearest};
        if (!s->found && s->has_nearest)
            intervals_print(t->options, t->out, t->slot_count > 1, &none);
    }
    free(t->file);
    t->file = NULL;
}

void intervals_finish(cli_intervals *t)
{
    end_movie(t);
}

/* Whether the frame is one more of the movie: "clip.mp4#51" of "clip.mp4". */
static bool goes_on(const cli_intervals *t, const cli_result *r)
{
    const size_t length = t->file ? strlen(t->file) : 0;
    return t->file && t->timed && r->timed && r->index > t->now.index && strncmp(r->frame, t->file, length) == 0 &&
           r->frame[length] == '#' && !strchr(r->frame + length + 1, '#');
}

/* The time as it is printed and logged, so that it is the same when it is read back. */
static double printed_time(double time)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", time);
    return strtod(text, NULL);
}

static bool begin_movie(cli_intervals *t, const cli_result *r)
{
    const char *number = r->timed && r->index > 0 ? strrchr(r->frame, '#') : NULL;

    end_movie(t);
    for (size_t i = 0; i < t->slot_count; i++)
        t->slots[i] = (slot){0};
    t->file = strndup(r->frame, number ? (size_t)(number - r->frame) : strlen(r->frame));
    t->timed = r->timed;
    t->step = LONE_FRAME;
    return t->file != NULL;
}

/* Takes the frame's place in the movie, of which it may be the first. */
static bool begin_frame(cli_intervals *t, const cli_result *r)
{
    const double time = printed_time(r->time), since = time - t->now.time;
    if (!goes_on(t, r)) {
        if (!begin_movie(t, r))
            return false;
    } else if (since < 0) {
        end_all(t);
    } else if (since > 0) {
        t->step = since / (double)(r->index - t->now.index);
    }
    t->now.index = r->index;
    t->now.time = r->timed ? time : 0;
    return true;
}

/* The middle, in 1/1000 of half a pixel, as the middle of an odd box is. */
static void find_middle(const cli_match *m, double middle[2])
{
    middle[0] = 2 * round(((double)m->x + m->dx) * UNIT) + (double)m->w * UNIT;
    middle[1] = 2 * round(((double)m->y + m->dy) * UNIT) + (double)m->h * UNIT;
}

/* Whether the match lies where the appearance was last, or where its movement has brought it: so near that the boxes
 * overlap. *distance gets how far it is, squared. */
static bool is_within_reach(const cli_intervals *t, const cli_appearance *a, const cli_match *m, double *distance)
{
    const double seconds = t->now.time - a->last.time;
    const double width = (double)(m->w + a->last.match.w) * UNIT, height = (double)(m->h + a->last.match.h) * UNIT;
    double from[2], to[2];

    find_middle(&a->last.match, from);
    find_middle(m, to);
    *distance = INFINITY;
    for (int moved = 0; moved < 2; moved++) {
        const double x = to[0] - from[0] - moved * seconds * a->speed[0];
        const double y = to[1] - from[1] - moved * seconds * a->speed[1];
        if (fabs(x) < width && fabs(y) < height && x * x + y * y < *distance)
            *distance = x * x + y * y;
    }
    return *distance < INFINITY;
}

/* The nearest first; of those that are as near, the one of the older appearance and the better match. */
static int compare_links(const void *a, const void *b)
{
    const link *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->open != y->open)
        return x->open < y->open ? -1 : 1;
    return x->match < y->match ? -1 : x->match > y->match;
}

static bool is_better(const cli_options *o, double score, double than)
{
    return tm_metric_is_distance(o->settings.metric) ? score < than : score > than;
}

static void go_on(const cli_intervals *t, cli_appearance *a, const cli_match *m)
{
    const double seconds = t->now.time - a->last.time;
    double from[2], to[2];

    find_middle(&a->last.match, from);
    find_middle(m, to);
    for (int i = 0; i < 2; i++)
        a->speed[i] = seconds > 0 ? (to[i] - from[i]) / seconds : 0;
    a->last = t->now;
    a->last.match = *m;
    a->frames++;
    a->missing = false;
    if (is_better(t->options, m->score, a->best.match.score))
        a->best = a->last;
}

static bool begin_appearance(cli_intervals *t, size_t slot_index, const cli_match *m)
{
    slot *s = &t->slots[slot_index];
    cli_appearance *a = calloc(1, sizeof *a);

    if (!a || !frames_grow((void **)&t->open, &t->open_room, t->open_count, sizeof(cli_appearance *))) {
        free(a);
        return false;
    }
    *a = (cli_appearance){.file = t->file, .tmpl = s->tmpl, .timed = t->timed, .posed = s->posed,
                          .integers = s->integers, .first = t->now, .frames = 1, .slot = slot_index};
    a->first.match = *m;
    a->last = a->best = a->first;
    t->open[t->open_count++] = a;
    if (t->tail)
        t->tail->next = a;
    else
        t->head = a;
    t->tail = a;
    s->found = true;
    t->count++;
    return true;
}

/* Ends the template's appearances that have been missing for longer than --gap. */
static void end_missing(cli_intervals *t, size_t slot_index)
{
    for (size_t i = 0; i < t->open_count; i++) {
        const cli_appearance *a = t->open[i];
        if (a->slot == slot_index && a->missing && t->now.time - a->end > t->gap + TIME_ERROR)
            end_open(t, i);
    }
    drop_ended(t);
}

/* Finds the matches that go on with an appearance. *count: how many pairs there are. */
static bool find_links(cli_intervals *t, size_t slot_index, const cli_result *r, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < t->open_count; i++) {
        if (t->open[i]->slot != slot_index)
            continue;
        for (size_t k = 0; k < r->match_count; k++) {
            link found = {.open = i, .match = k};
            if (t->used[k] || !is_within_reach(t, t->open[i], &r->matches[k], &found.distance))
                continue;
            if (!frames_grow((void **)&t->links, &t->link_room, *count, sizeof *t->links))
                return false;
            t->links[(*count)++] = found;
        }
    }
    if (*count > 0)
        qsort(t->links, *count, sizeof *t->links, compare_links);
    return true;
}

static void note_nearest(cli_intervals *t, slot *s, const cli_match *m)
{
    if (s->has_nearest && !is_better(t->options, m->score, s->nearest.match.score))
        return;
    s->has_nearest = true;
    s->nearest = t->now;
    s->nearest.match = *m;
}

/* Whether the match says that the template is there: where nobody has chosen a threshold, it must not be weak and
 * reach what -n 0 asks of large templates. */
static bool counts(const cli_options *o, const cli_match *m)
{
    return !m->weak && (o->has_min_score || m->score >= WEAK_LEAST_SCORE);
}

/* Leaves out matches that may be chance. */
static bool choose_matches(cli_intervals *t, slot *s, const cli_result *r)
{
    while (t->used_room < r->match_count)
        if (!frames_grow((void **)&t->used, &t->used_room, t->used_room, sizeof *t->used))
            return false;
    for (size_t k = 0; k < r->match_count; k++) {
        t->used[k] = !counts(t->options, &r->matches[k]);
        if (t->used[k])
            note_nearest(t, s, &r->matches[k]);
    }
    if (r->has_best)
        note_nearest(t, s, &r->best);
    return true;
}

bool intervals_take(cli_intervals *t, const cli_result *r, bool failed)
{
    const size_t slot_index = t->turn, match_count = failed ? 0 : r->match_count;
    size_t count = 0;

    t->turn = (t->turn + 1) % t->slot_count;
    if (slot_index == 0 && !begin_frame(t, r))
        return false;
    slot *s = &t->slots[slot_index];
    s->tmpl = r->tmpl;
    s->posed |= r->poses > 0;
    s->integers = failed ? s->integers : r->integers;
    end_missing(t, slot_index);
    const size_t before = t->open_count;
    if (!failed && (!choose_matches(t, s, r) || !find_links(t, slot_index, r, &count)))
        return false;
    for (size_t i = 0; i < before; i++)
        if (t->open[i]->slot == slot_index && !t->open[i]->missing) {
            t->open[i]->missing = true;
            t->open[i]->end = t->now.time;
        }
    for (size_t i = 0; i < count; i++) {
        cli_appearance *a = t->open[t->links[i].open];
        if (t->used[t->links[i].match] || a->last.index == t->now.index)
            continue;
        t->used[t->links[i].match] = true;
        go_on(t, a, &r->matches[t->links[i].match]);
    }
    for (size_t k = 0; k < match_count; k++)
        if (!t->used[k] && !begin_appearance(t, slot_index, &r->matches[k]))
            return false;
    print_over(t);
    return true;
}
