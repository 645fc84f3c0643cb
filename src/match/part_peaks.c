/* SPDX-License-Identifier: MIT */
/* Whether a peak is a match of the whole map depends on the better peaks whose boxes overlap its own.
 * Those in the part's rows are known here. So a peak is surely none if a better one that overlaps it
 * surely is one; surely is one if none overlaps it that may be one; and else may be one.
 * docs/peaks.md has the proof that those that are, or may be, are enough. */
#include "match/part_peaks.h"

#include <math.h>
#include <stdlib.h>

#include "match/suppress.h"

tm_part_hit tm_part_hit_of(const tm_part_job *part, tm_candidate peak, int64_t first_row)
{
    const tm_geometry *g = &part->whole.geometry;
    return (tm_part_hit){
        .hit = {.peak = {.x = peak.position % g->map_width - g->pad_x,
                         .y = peak.position / g->map_width + first_row - g->pad_y,
                         .score = tm_job_score(&part->whole, peak.value)},
                .margin = NAN},
        .rank = peak.value};
}

bool tm_part_add(tm_part_hits *hits, size_t *room, const tm_part_job *part, tm_candidate peak)
{
    if (hits->count == *room) {
        const size_t more = *room ? 2 * *room : 16;
        tm_part_hit *items = realloc(hits->items, more * sizeof *items);
        if (!items)
            return false;
        hits->items = items;
        *room = more;
    }
    hits->items[hits->count++] = tm_part_hit_of(part, peak, part->held.first);
    return true;
}

/* The peaks so far. */
typedef struct sorting {
    tm_part_hits *hits;
    size_t room;
    const tm_part_job *part;
    bool suppresses; /* boxes can overlap by too much */
    tm_suppressor sure, unsure;
    size_t found; /* sure ones that reach the floor */
} sorting;

/* Whether a box in another part's rows may overlap that of row y. */
static bool is_near_others(const sorting *s, int64_t y)
{
    const tm_rows *own = &s->part->own;
    const int64_t reach = s->sure.cell_height - 1; /* boxes in this column overlap at most so far apart */
    return s->suppresses && ((own->first > 0 && y - reach < own->first) ||
                             (own->end < s->part->whole.geometry.map_height && y + reach >= own->end));
}

/* *sure: the peak is a match of the whole map, if it is good enough. False if memory ran out. */
static bool sort_peak(sorting *s, tm_candidate peak, bool *sure)
{
    const int64_t width = s->part->whole.geometry.map_width;
    const int64_t x = peak.position % width, y = peak.position / width + s->part->held.first;

    *sure = false;
    if (s->suppresses && tm_suppressor_covers(&s->sure, x, y))
        return true;
    *sure = !is_near_others(s, y) && !(s->suppresses && tm_suppressor_covers(&s->unsure, x, y));
    return tm_part_add(s->hits, &s->room, s->part, peak) &&
           (!s->suppresses || tm_suppressor_take(*sure ? &s->sure : &s->unsure, x, y));
}

/* *closed: whatever the other parts have, no worse peak of this one is a match, or tells a match's
 * margin. False if memory ran out. */
static bool sort_peaks(sorting *s, const tm_search *search, const tm_peak_list *list, bool *closed)
{
    const int64_t width = s->part->whole.geometry.map_width;
    const size_t most = search->most ? (size_t)search->most : SIZE_MAX;

    *closed = false;
    for (size_t i = 0; i < list->above.count && list->above.items[i].value >= list->cut; i++) {
        const tm_candidate peak = list->above.items[i];
        const int64_t y = peak.position / width + s->part->held.first;
        const bool beyond = s->found == most || peak.value < list->search.floor;
        bool sure;
        if (beyond && !search->margin) {
            *closed = true;
            break;
        }
        if (y < s->part->own.first || y >= s->part->own.end)
            continue;
        if (!sort_peak(s, peak, &sure))
            return false;
        if (sure && beyond) {
            *closed = true;
            break;
        }
        s->found += sure;
    }
    *closed |= s->found == most && !search->margin;
    return true;
}

bool tm_part_take(tm_part_hits *hits, const tm_search *search, tm_part_job *part,
                  const tm_job *slice, bool *enough)
{
    const tm_geometry *g = &part->whole.geometry;
    tm_peak_list *list = slice->peaks;
    sorting s = {.hits = hits, .part = part, .suppresses = search->overlap < 1};
    bool closed = false;

    if (!tm_peak_list_finish(list))
        return false;
    tm_suppressor_init(&s.sure, g->template_width, g->template_height, search->overlap);
    tm_suppressor_init(&s.unsure, g->template_width, g->template_height, search->overlap);
    const bool good = sort_peaks(&s, search, list, &closed);
    tm_suppressor_free(&s.sure);
    tm_suppressor_free(&s.unsure);
    if (!good)
        return false;
    *enough = closed || (search->margin ? tm_peak_list_is_whole(list)
                                        : !list->above.more && list->cut <= list->search.floor);
    if (!*enough && tm_search_goes_on(list, search, INT64_MIN)) {
        free(hits->items);
        hits->items = NULL;
        hits->count = 0;
        return true;
    }
    hits->cut_off = list->above.more && !closed;
    *enough = true;
    return true;
}
