/* SPDX-License-Identifier: MIT */
#include "run/interval_state.h"

#include <stdlib.h>

#include "run/frames.h"
#include "run/weak.h"

static bool is_better(const cli_options *o, double score, double than)
{
    return tm_metric_is_distance(o->settings.metric) ? score < than : score > than;
}

static void go_on(const cli_intervals *t, cli_appearance *a, const cli_match *m)
{
    interval_links_move(a, m, t->now.time);
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
    *a = (cli_appearance){.movie = t->movie, .tmpl = s->tmpl, .posed = s->posed, .integers = s->integers,
                          .first = t->now, .frames = 1, .slot = slot_index};
    a->first.match = *m;
    a->last = a->best = a->first;
    t->open[t->open_count++] = a;
    appearance_append(&t->list, a);
    s->found = true;
    t->count++;
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

bool intervals_match_counts(const cli_options *o, const cli_match *m)
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
        t->used[k] = !intervals_match_counts(t->options, &r->matches[k]);
        if (t->used[k])
            note_nearest(t, s, &r->matches[k]);
    }
    if (r->has_best)
        note_nearest(t, s, &r->best);
    return true;
}

void interval_matches_miss(cli_intervals *t, size_t slot_index)
{
    for (size_t i = 0; i < t->open_count; i++) {
        cli_appearance *a = t->open[i];
        if (a->slot != slot_index || a->missing)
            continue;
        a->missing = true;
        a->end = t->now.time;
    }
}

bool interval_matches_take(cli_intervals *t, size_t slot_index, const cli_result *r)
{
    if (!choose_matches(t, &t->slots[slot_index], r) ||
        !interval_links_find(&t->links, t->open, t->open_count, slot_index, t->now.time, r, t->used))
        return false;
    for (size_t i = 0; i < t->links.count; i++) {
        const interval_link *link = &t->links.list[i];
        cli_appearance *a = t->open[link->open];
        if (t->used[link->match] || a->last.index == t->now.index)
            continue;
        t->used[link->match] = true;
        go_on(t, a, &r->matches[link->match]);
    }
    for (size_t k = 0; k < r->match_count; k++)
        if (!t->used[k] && !begin_appearance(t, slot_index, &r->matches[k]))
            return false;
    return true;
}
