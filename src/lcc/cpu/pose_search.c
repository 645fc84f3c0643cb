/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_search.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "integers.h"
#include "lcc/cpu/family.h"
#include "lcc/cpu/pose_scores.h"

/* Nanoseconds, about: of a position where all are scored, one after the other; of one that is scored
 * by itself, and of each of its pixels, of which the sums may be known already. */
#define EXHAUSTIVE_NS 10.0
#define ONE_NS 50.0
#define SUMMED_PIXEL_NS 0.05
#define PIXEL_NS 0.15

/* Scores are within 2^-22 of the true value. */
#define SCORE_MARGIN 0x1p-20f

/* What the core's score must reach where the whole picture's is to be at least so much: with a the
 * core's share of the template's variance, that is at most sqrt(1 - a (1 - core^2)). */
static float least_of_core(const tm_pose_class *c, float score)
{
    if (c->whole)
        return score;
    const double square = ((double)score * score - (1 - c->share)) / c->share;
    return score > 0 && square > 0 ? (float)(sqrt(square) * (1 - 1e-6)) : -2;
}

static float least_of(void *context)
{
    const tm_pose_run *run = context;
    int64_t least;
#pragma omp atomic read
    least = run->least;
    const float score = least < INT32_MIN ? -2 : tm_score_of_order((int32_t)least);
    return least_of_core(run->class, score - SCORE_MARGIN);
}

static void visit(void *context, int thread, const tm_family_window *window)
{
    tm_pose_run *run = context;
    const tm_pose_class *c = run->class;
    int64_t scored = 0;
    bool over;

#pragma omp atomic read
    over = run->declined;
    for (int i = 0; i < window->count && !over; i++) {
        const tm_pose_member *member = &c->members[window->members[i]];
        const int64_t x = window->x - (member->width - c->family.width) / 2;
        const int64_t y = window->y - (member->height - c->family.height) / 2;
        tm_geometry g;
        if (!tm_pose_positions(run, member, &g) || x < -g.pad_x || x >= g.map_width - g.pad_x ||
            y < -g.pad_y || y >= g.map_height - g.pad_y)
            continue;
        const tm_pose_peak peak =
            c->whole ? tm_pose_score_sums(run, member, x, y, window->samples, window->stride,
                                          window->s_f, window->s_ff)
                     : tm_pose_score(run, thread, member, x, y);
        scored++;
        if (peak.pose == SIZE_MAX) {
#pragma omp atomic write
            run->failed = true;
        } else {
            tm_pose_note(run, &peak);
        }
    }
#pragma omp atomic capture
    {
        run->scored += scored;
        scored = run->scored;
    }
    if (scored > run->limit) {
#pragma omp atomic write
        run->declined = true;
    }
}

/* How many positions all of the class's pictures have. */
static int64_t count_pairs(const tm_pose_run *run)
{
    const tm_pose_class *c = run->class;
    int64_t pairs = 0;
    tm_geometry g;

    for (size_t i = 0; i < c->count; i++)
        pairs += tm_pose_positions(run, &c->members[i], &g) ? g.map_width * g.map_height : 0;
    return pairs;
}

/* All of them, as windows of the core. */
static void set_windows(const tm_pose_run *run, tm_family_search *s)
{
    const tm_pose_class *c = run->class;
    int64_t left = INT64_MAX, top = INT64_MAX, right = INT64_MIN, bottom = INT64_MIN;

    for (size_t i = 0; i < c->count; i++) {
        const tm_pose_member *member = &c->members[i];
        const int64_t x = (member->width - c->family.width) / 2;
        const int64_t y = (member->height - c->family.height) / 2;
        tm_geometry g;
        if (!tm_pose_positions(run, member, &g))
            continue;
        left = smaller(left, x - g.pad_x);
        top = smaller(top, y - g.pad_y);
        right = larger(right, x - g.pad_x + g.map_width);
        bottom = larger(bottom, y - g.pad_y + g.map_height);
    }
    s->x = left;
    s->y = top;
    s->width = right > left ? right - left : 0;
    s->height = bottom > top ? bottom - top : 0;
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

/* Leaves the peaks of the positions that were collected, the best first. False if memory ran out. */
static bool keep_peaks(tm_pose_search *s)
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

static tm_status search_class(tm_pose_run *run)
{
    tm_family_search s = {.family = &run->class->family,
                          .frame = run->search->frame,
                          .context = run,
                          .least = least_of,
                          .visit = visit};

    set_windows(run, &s);
    return s.width && s.height ? tm_cpu_search_family(run->cpu, &s) : TM_OK;
}

/* How many positions may be scored until scoring all would have been as quick. */
static int64_t limit_of(const tm_pose_class *c, int64_t pairs)
{
    const double pixels = (double)c->members[0].pixels;
    return (int64_t)((double)pairs * EXHAUSTIVE_NS /
                     (ONE_NS + pixels * (c->whole ? SUMMED_PIXEL_NS : PIXEL_NS)));
}

/* Sets the floor, and what positions must reach at first. Where fewer places were guessed than wanted,
 * the others may score less. */
static void set_floor(tm_pose_run *run, const tm_pose_guesses *g)
{
    tm_pose_search *s = run->search;

    if (s->wanted && g->count) {
        const bool all = (size_t)g->count >= s->wanted;
        const int64_t last = g->list[all ? (int)s->wanted - 1 : g->count - 1].value;
        const int64_t guessed =
            all ? last : tm_score_order(fmaxf(tm_score_of_order((int32_t)last) - TM_POSE_LOWER, 0));
        s->floor = larger(s->floor, smaller(s->ceiling, guessed));
    }
    run->least = g->count ? smaller(g->list[0].value, s->floor) : INT64_MIN;
}

/* Finds what to begin with in all classes, and how much may be scored. */
static tm_status begin(tm_pose_run *run)
{
    tm_pose_search *search = run->search;
    const tm_pose_families *f = search->families;
    tm_pose_guesses guesses = {.count = 0};
    tm_status status = TM_OK;

    search->pairs = 0;
    for (int k = 0; k < f->count && status == TM_OK; k++) {
        run->class = &f->list[k];
        const int64_t pairs = count_pairs(run);
        search->pairs += pairs;
        run->limit += limit_of(run->class, pairs);
        status = tm_pose_guess(run, &guesses);
    }
    set_floor(run, &guesses);
    run->declined = search->wanted && !guesses.count; /* nothing says how low the floor must be */
    return status;
}

static tm_status search_classes(tm_pose_run *run)
{
    const tm_pose_families *f = run->search->families;
    tm_status status = TM_OK;

    for (int k = 0; k < f->count && status == TM_OK && !run->declined; k++) {
        run->class = &f->list[k];
        status = search_class(run);
    }
    return status;
}

tm_status tm_cpu_search_poses(tm_cpu *cpu, tm_pose_search *search)
{
    tm_pose_run run = {.cpu = cpu, .search = search};

    search->best = (tm_pose_peak)TM_NO_POSE_PEAK;
    search->items = NULL;
    search->count = 0;
    run.windows = calloc((size_t)cpu->threads, sizeof *run.windows);
    if (!run.windows)
        return TM_ERR_MEMORY;
    tm_status status = begin(&run);
    if (status == TM_OK)
        status = search_classes(&run);
    for (int i = 0; i < cpu->threads; i++)
        tm_memory_free(&run.windows[i]);
    free(run.windows);
    search->scored = run.scored;
    search->declined = run.declined;
    if (status == TM_OK && (run.failed || (!run.declined && !keep_peaks(search))))
        status = TM_ERR_MEMORY;
    if (status != TM_OK || search->declined) {
        free(search->items);
        search->items = NULL;
        search->count = 0;
    }
    return status;
}
