/* SPDX-License-Identifier: MIT */
/* The public API: the matches of a frame by the positions of its parts. */
#include <math.h>
#include <stdlib.h>

#include "match/search.h"
#include "match/settings.h"
#include "match/suppress.h"
#include "row_spans.h"

static int compare(const void *a, const void *b)
{
    const tm_part_hit *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank > q->rank ? -1 : 1;
    if (p->hit.peak.y != q->hit.peak.y)
        return p->hit.peak.y < q->hit.peak.y ? -1 : 1;
    return p->hit.peak.x < q->hit.peak.x ? -1 : p->hit.peak.x > q->hit.peak.x;
}

/* Whether the place can be one of a map: those of other programs' making must not overflow. */
static bool is_place(const tm_part_hit *p)
{
    const int64_t most = (int64_t)1 << 33;
    return p->hit.peak.x > -most && p->hit.peak.x < most && p->hit.peak.y > -most && p->hit.peak.y < most &&
           isfinite(p->hit.peak.score) && fabs(p->hit.dx) <= 0.5 && fabs(p->hit.dy) <= 0.5;
}

static bool has_places(const tm_part_hits *p)
{
    bool good = (p->items || (p->count == 0 && !p->cut_off)) && (!p->has_best || is_place(&p->best));
    for (size_t i = 0; i < p->count && good; i++)
        good = is_place(&p->items[i]);
    return good;
}

/* Whether the part agrees with the first one, and has rows. */
static bool is_sound(const tm_part_hits *p, const tm_part_hits *first)
{
    return p && p->size >= sizeof *p && p->metric == first->metric && tm_metric_name(p->metric) &&
           p->template_width == first->template_width && p->template_width > 0 &&
           p->template_width <= INT32_MAX && p->template_height == first->template_height &&
           p->template_height > 0 && p->template_height <= INT32_MAX &&
           p->map_height == first->map_height && p->first >= 0 && p->first < p->end &&
           p->end <= p->map_height && has_places(p);
}

/* Whether the parts are of one map, and have no row twice, nor miss one where all are wanted. */
static bool fit_together(const tm_part_hits *const *parts, size_t count, bool whole)
{
    row_span *spans = malloc(count * sizeof *spans), reach = {0};
    bool good = spans && parts[0] && parts[0]->size >= sizeof **parts;

    for (size_t i = 0; i < count && good; i++) {
        good = is_sound(parts[i], parts[0]);
        if (good)
            spans[i] = (row_span){parts[i]->first, parts[i]->end, i};
    }
    if (good)
        row_spans_sort(spans, count);
    for (size_t i = 0; i < count && good; i++) {
        good = whole ? spans[i].first == reach.end : spans[i].first >= reach.end;
        row_spans_pass(&reach, &spans[i]);
    }
    good = good && (!whole || reach.end == parts[0]->map_height);
    free(spans);
    return good;
}

typedef struct merge {
    tm_part_hit *items; /* all parts', the best first */
    size_t count;
    const tm_part_hit *last; /* worse ones may be missing; NULL: none is */
} merge;

static bool gather(merge *g, const tm_part_hits *const *parts, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += parts[i]->count;
    g->items = malloc((all + 1) * sizeof *g->items);
    if (!g->items)
        return false;
    for (size_t i = 0; i < count; i++) {
        const tm_part_hits *p = parts[i];
        for (size_t k = 0; k < p->count; k++)
            g->items[g->count++] = p->items[k];
        if (p->cut_off && p->count && (!g->last || compare(&p->items[p->count - 1], g->last) < 0))
            g->last = &p->items[p->count - 1];
    }
    qsort(g->items, g->count, sizeof *g->items, compare);
    return true;
}

/* Takes matches as one call for the whole map would: greedily, the best first. */
static bool take(tm_hits *hits, const merge *g, const tm_search *search, int64_t floor,
                 tm_suppressor *taken)
{
    const size_t most = search->most ? (size_t)search->most : SIZE_MAX;
    const bool suppresses = search->overlap < 1;
    int64_t left = 0, top = 0; /* a suppressor's coordinates are not negative */

    for (size_t i = 0; i < g->count; i++) {
        left = g->items[i].hit.peak.x < left ? g->items[i].hit.peak.x : left;
        top = g->items[i].hit.peak.y < top ? g->items[i].hit.peak.y : top;
    }
    for (size_t i = 0; i < g->count && (search->margin || hits->count < most); i++) {
        const tm_part_hit *p = &g->items[i];
        const int64_t x = p->hit.peak.x - left, y = p->hit.peak.y - top;
        if (g->last && compare(p, g->last) > 0) {
            hits->cut_off = hits->count < most;
            break;
        }
        if (suppresses && tm_suppressor_covers(taken, x, y))
            continue;
        if (hits->count > 0 && search->margin)
            hits->items[hits->count - 1].margin = p->hit.peak.score;
        if (hits->count == most || p->rank < floor)
            break;
        hits->items[hits->count++] = p->hit;
        if (suppresses && !tm_suppressor_take(taken, x, y))
            return false;
    }
    return true;
}

static const tm_part_hit *best_of(const tm_part_hits *const *parts, size_t count)
{
    const tm_part_hit *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (parts[i]->has_best && (!best || compare(&parts[i]->best, best) < 0))
            best = &parts[i]->best;
    return best;
}

tm_status tm_merge_parts(const tm_part_hits *const *parts, size_t count, const tm_search *search,
                         int whole, tm_hits *hits)
{
    merge g = {0};
    tm_search s;

    if (!hits)
        return TM_ERR_INVALID;
    *hits = (tm_hits){0};
    if (!parts || count == 0 || tm_search_read(&s, search) || !fit_together(parts, count, whole))
        return TM_ERR_INVALID;
    const tm_part_hit *best = best_of(parts, count);
    if (!best)
        return TM_ERR_NO_POSITION;
    if (!gather(&g, parts, count))
        return TM_ERR_MEMORY;
    const tm_part_hits *p = parts[0];
    tm_suppressor taken;
    tm_suppressor_init(&taken, p->template_width, p->template_height, s.overlap);
    hits->items = malloc((g.count + 1) * sizeof *hits->items);
    const bool good =
        hits->items &&
        take(hits, &g, &s, tm_search_floor(s.min_score, p->metric, tm_is_integer(p->metric)), &taken);
    tm_suppressor_free(&taken);
    hits->cut_off = hits->cut_off || (g.last && !(s.most && hits->count == (size_t)s.most));
    free(g.items);
    hits->best = best->hit.peak;
    if (!good)
        tm_hits_free(hits);
    return good ? TM_OK : TM_ERR_MEMORY;
}
