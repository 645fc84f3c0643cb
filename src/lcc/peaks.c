/* SPDX-License-Identifier: MIT */
#include "lcc/peaks.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

static void swap(tm_candidate *a, tm_candidate *b)
{
    tm_candidate c = *a;
    *a = *b;
    *b = c;
}

/* Hoare's FIND: the best k go first, the worst of them to items[k - 1]. */
static void select_best(tm_candidate *items, size_t count, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, wanted = (ptrdiff_t)k - 1;

    while (low < high) {
        const tm_candidate pivot = items[low + (high - low) / 2];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (tm_candidate_beats(items[i], pivot))
                i++;
            while (tm_candidate_beats(pivot, items[j]))
                j--;
            if (i <= j)
                swap(&items[i++], &items[j--]);
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            return;
    }
}

/* Makes room for one more, up to twice the capacity. */
static bool make_room(tm_peak_set *set)
{
    if (set->count < set->room)
        return true;
    if (set->room >= 2 * set->capacity) {
        select_best(set->items, set->count, set->capacity);
        set->count = set->capacity;
        set->worst = set->items[set->capacity - 1];
        set->full = set->more = true;
        return true;
    }
    size_t room = set->room ? 2 * set->room : FIRST_ROOM;
    room = room < 2 * set->capacity ? room : 2 * set->capacity;
    tm_candidate *items = realloc(set->items, room * sizeof *items);
    if (!items)
        return false;
    set->items = items;
    set->room = room;
    return true;
}

static bool put(tm_peak_set *set, tm_candidate candidate)
{
    if (set->capacity == 0) {
        set->more = true;
        return true;
    }
    if (set->full && !tm_candidate_beats(candidate, set->worst))
        return true;
    if (!make_room(set))
        return false;
    if (!set->full || tm_candidate_beats(candidate, set->worst))
        set->items[set->count++] = candidate;
    return true;
}

static void trim(tm_peak_set *set)
{
    if (set->count <= set->capacity)
        return;
    select_best(set->items, set->count, set->capacity);
    set->count = set->capacity;
    set->more = true;
}

void tm_peak_list_init(tm_peak_list *list, const tm_peak_search *search)
{
    *list = (tm_peak_list){.search = *search, .cut = INT64_MIN};
    list->above.capacity = search->most;
    list->below.capacity = search->least;
}

void tm_peak_list_free(tm_peak_list *list)
{
    free(list->above.items);
    free(list->below.items);
    *list = (tm_peak_list){0};
}

void tm_peak_list_clear(tm_peak_list *list)
{
    list->above.count = list->below.count = 0;
    list->above.more = list->below.more = list->failed = false;
    list->above.full = list->below.full = false;
}

void tm_peak_list_add(tm_peak_list *list, const tm_candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool reaches = candidates[i].value >= list->search.floor;
        if (!put(reaches ? &list->above : &list->below, candidates[i]))
            list->failed = true;
    }
}

static int by_position(const void *a, const void *b)
{
    const int64_t x = ((const tm_candidate *)a)->position, y = ((const tm_candidate *)b)->position;
    return (x > y) - (x < y);
}

/* Whether a window is beaten by one of those, sorted, at a position or left or right of it, in one row.
 * *from: the first one that may be there, which grows with the position. */
static bool is_beaten(const tm_candidate *window, const tm_candidate *windows, size_t count, size_t *from,
                      int64_t middle, int64_t width)
{
    const int64_t x = window->position % width, y = window->position / width;
    while (*from < count && windows[*from].position < middle - 1)
        (*from)++;
    for (size_t i = *from; i < count && windows[i].position <= middle + 1; i++) {
        const int64_t right = windows[i].position % width - x, below = windows[i].position / width - y;
        if (right >= -1 && right <= 1 && below >= -1 && below <= 1 && tm_candidate_beats(windows[i], *window))
            return true;
    }
    return false;
}

void tm_peak_list_add_windows(tm_peak_list *list, tm_candidate *windows, size_t count, int64_t width,
                              int64_t first, int64_t end)
{
    size_t from[3] = {0, 0, 0};

    qsort(windows, count, sizeof *windows, by_position);
    for (size_t i = 0; i < count; i++) {
        const tm_candidate *own = &windows[i];
        bool beaten = false;
        for (int row = -1; row <= 1; row++)
            beaten |= is_beaten(own, windows, count, &from[row + 1], own->position + row * width, width);
        if (!beaten && own->position >= first * width && own->position < end * width)
            tm_peak_list_add(list, own, 1);
    }
}

static void merge(tm_peak_list *list, tm_peak_set *to, const tm_peak_set *set, int64_t position)
{
    for (size_t i = 0; i < set->count; i++) {
        const tm_candidate peak = {set->items[i].value, set->items[i].position + position};
        tm_peak_list_add(list, &peak, 1);
    }
    to->more = to->more || set->more;
}

void tm_peak_list_merge(tm_peak_list *list, const tm_peak_list *slice, int64_t position)
{
    merge(list, &list->above, &slice->above, position);
    merge(list, &list->below, &slice->below, position);
    list->failed = list->failed || slice->failed;
    list->cut = slice->cut > list->cut ? slice->cut : list->cut;
}

int64_t tm_peak_list_least(const tm_peak_list *list)
{
    const int64_t least = list->above.full            ? list->above.worst.value
                          : list->below.capacity == 0 ? list->search.floor
                          : list->below.full          ? list->below.worst.value
                                                      : INT64_MIN;
    return least > list->cut ? least : list->cut;
}

/* Ascending keys are the order of ranking: a value's, before the position. */
static uint64_t value_key(const tm_candidate *c)
{
    return ~((uint64_t)c->value ^ (UINT64_C(1) << 63));
}

static unsigned digit(const tm_candidate *c, int i)
{
    const uint64_t key = i < 8 ? (uint64_t)c->position : value_key(c);
    return (unsigned)(key >> 8 * (i % 8)) & 255;
}

static void sort_by(int i, const tm_candidate *from, tm_candidate *to, size_t count)
{
    size_t places[256] = {0}, next = 0;
    for (size_t k = 0; k < count; k++)
        places[digit(&from[k], i)]++;
    for (int d = 0; d < 256; d++) {
        const size_t own = places[d];
        places[d] = next;
        next += own;
    }
    for (size_t k = 0; k < count; k++)
        to[places[digit(&from[k], i)]++] = from[k];
}

/* Radix sort from the last byte, without those in which all agree: Knuth, The Art of
 * Computer Programming, vol. 3, 5.2.5. */
static bool sort(tm_peak_set *set)
{
    tm_candidate *from = set->items, *to = malloc(set->count * sizeof *to);
    uint64_t differ[2] = {0, 0};

    if (!to)
        return false;
    for (size_t k = 1; k < set->count; k++) {
        differ[0] |= (uint64_t)(from[k].position ^ from[0].position);
        differ[1] |= (uint64_t)(from[k].value ^ from[0].value);
    }
    for (int i = 0; i < 16; i++) {
        if (!(differ[i / 8] >> 8 * (i % 8) & 255))
            continue;
        sort_by(i, from, to, set->count);
        tm_candidate *sorted = to;
        to = from;
        from = sorted;
    }
    free(to);
    set->items = from;
    set->room = set->count;
    return true;
}

bool tm_peak_list_finish(tm_peak_list *list)
{
    tm_peak_set *above = &list->above, *below = &list->below;

    trim(above);
    trim(below);
    if (!list->failed && !above->more && below->count) {
        const size_t count = above->count + below->count;
        tm_candidate *items = realloc(above->items, count * sizeof *items);
        if (items) {
            memcpy(items + above->count, below->items, below->count * sizeof *items);
            above->items = items;
            above->room = above->count = count;
        } else {
            list->failed = true;
        }
    }
    if (!list->failed && above->count)
        list->failed = !sort(above);
    return !list->failed;
}

bool tm_peak_list_is_whole(const tm_peak_list *list)
{
    return !list->above.more && list->cut == INT64_MIN &&
           (list->search.floor == INT64_MIN || (list->search.least && !list->below.more));
}
