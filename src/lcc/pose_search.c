/* SPDX-License-Identifier: MIT */
#include "lcc/pose_search.h"

#include <math.h>
#include <stdlib.h>

#include "integers.h"

bool tm_pose_positions_of(const tm_pose_search *search, int64_t width, int64_t height, tm_geometry *g)
{
    const tm_image *frame = search->frame;
    return tm_geometry_init(g, search->domain, frame->width, frame->height, width, height) == TM_OK;
}

bool tm_pose_positions(const tm_pose_search *search, const tm_pose_member *member, tm_geometry *g)
{
    return tm_pose_positions_of(search, member->width, member->height, g);
}

int64_t tm_pose_count_pairs(const tm_pose_search *search, const tm_pose_class *c)
{
    int64_t pairs = 0;
    tm_geometry g;

    for (size_t i = 0; i < c->count; i++)
        pairs += tm_pose_positions(search, &c->members[i], &g) ? g.map_width * g.map_height : 0;
    return pairs;
}

void tm_pose_windows(const tm_pose_search *search, const tm_pose_class *c, int64_t *first_x,
                     int64_t *first_y, int64_t *across, int64_t *down)
{
    int64_t left = INT64_MAX, top = INT64_MAX, right = INT64_MIN, bottom = INT64_MIN;

    for (size_t i = 0; i < c->count; i++) {
        const tm_pose_member *member = &c->members[i];
        const int64_t x = (member->width - c->family.width) / 2;
        const int64_t y = (member->height - c->family.height) / 2;
        tm_geometry g;
        if (!tm_pose_positions(search, member, &g))
            continue;
        left = smaller(left, x - g.pad_x);
        top = smaller(top, y - g.pad_y);
        right = larger(right, x - g.pad_x + g.map_width);
        bottom = larger(bottom, y - g.pad_y + g.map_height);
    }
    *first_x = left;
    *first_y = top;
    *across = right > left ? right - left : 0;
    *down = bottom > top ? bottom - top : 0;
}

float tm_pose_rival(float score, double ratio)
{
    const double rival = fmin(1 - (1 - (double)score) / ratio - 1e-7, (double)score - TM_POSE_NEAR);
    return fmaxf((float)rival, TM_POSE_LEAST_CUT);
}

/* Places may have been guessed badly, or not at all: so a first search is for what is alike, which is soon over. */
void tm_pose_raise_floor(tm_pose_search *s, const tm_pose_peak *guesses, size_t count)
{
    const bool all = count >= s->wanted;
    const float best = tm_score_of_order((int32_t)guesses->value);
    float last = tm_score_of_order((int32_t)guesses[all ? s->wanted - 1 : count - 1].value);

    if (!all)
        last = fmaxf(last - TM_POSE_LOWER, 0);
    if (s->ceiling == INT64_MAX)
        last = fmaxf(last, best - TM_POSE_ALIKE);
    if (s->ratio > 0) {
        last = tm_pose_rival(last, s->ratio);
        if (count > s->wanted) /* that one comes near enough, and nothing worse matters */
            last = fmaxf(last, tm_score_of_order((int32_t)guesses[s->wanted].value));
    }
    s->floor = larger(s->floor, smaller(s->ceiling, tm_score_order(last)));
}

/* By pose, then by position. */
static int by_place(const void *left, const void *right)
{
    const tm_pose_peak *a = left, *b = right;
    return a->pose != b->pose ? (a->pose < b->pose ? -1 : 1)
           : a->y != b->y     ? (a->y < b->y ? -1 : 1)
           : a->x != b->x     ? (a->x < b->x ? -1 : 1)
                              : 0;
}

/* Whether it ranks before each of its neighbours, of which those that reach the floor are in the
 * list. */
static bool is_peak(const tm_pose_search *s, const tm_pose_peak *peak)
{
    for (int i = 0; i < 9; i++) {
        tm_pose_peak other = *peak;
        other.x += 2 * (i % 3 - 1);
        other.y += 2 * (i / 3 - 1);
        const tm_pose_peak *found = bsearch(&other, s->items, s->count, sizeof other, by_place);
        if (i != 4 && found && tm_pose_peak_beats(found, peak))
            return false;
    }
    return true;
}

bool tm_pose_keep_peaks(tm_pose_search *s)
{
    tm_pose_peak *peaks = s->count ? malloc(s->count * sizeof *peaks) : NULL;
    size_t count = 0;

    if (s->count && !peaks)
        return false;
    if (s->count)
        qsort(s->items, s->count, sizeof *s->items, by_place);
    for (size_t i = 0; i < s->count; i++) {
        if (is_peak(s, &s->items[i]))
            peaks[count++] = s->items[i];
    }
    if (count)
        qsort(peaks, count, sizeof *peaks, tm_pose_peak_by_rank);
    free(s->items);
    s->items = peaks;
    s->count = count;
    return true;
}
