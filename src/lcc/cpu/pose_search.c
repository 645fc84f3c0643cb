/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_search.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "integers.h"
#include "lcc/cpu/family.h"
#include "lcc/cpu/pose_large.h"
#include "lcc/cpu/pose_look.h"
#include "lcc/cpu/pose_scores.h"

/* Nanoseconds, about: of a position where all are scored, one after the other, and of each of its pixels, of which
 * so many take longer than transforms do, and twice that where pixels that count differ from pose to pose; of one that
 * is scored by itself, and of each of its pixels, of which the sums may be known already. */
#define EXHAUSTIVE_NS 7.0
#define EXHAUSTIVE_PIXEL_NS 0.012
#define TRANSFORM_PIXELS 6000
#define MASKED_TRANSFORM_PIXELS 3000
#define ONE_NS 50.0
#define SUMMED_PIXEL_NS 0.05
#define PIXEL_NS 0.15

/* Cells are looked at where their score must reach so much, if there are smaller ones and if there are none: below
 * that too many windows pass. */
#define LEAST_OF_LARGE 0.75f
#define LEAST_OF_CELLS 0.4f

/* What a position must score to matter, at the moment. */
static float least_score(const tm_pose_run *run)
{
    int64_t least;
#pragma omp atomic read
    least = run->least;
    return (least < INT32_MIN ? -2 : tm_score_of_order((int32_t)least)) - TM_FAMILY_SCORE_MARGIN;
}

static float least_of(void *context)
{
    const tm_pose_run *run = context;
    return tm_family_least(run->class->whole ? 1 : run->class->share, least_score(run));
}

static float least_of_cells(void *context)
{
    const tm_pose_run *run = context;
    const tm_pose_cells *cells = run->cells;
    return tm_family_least(cells->share, least_score(run)) - (float)(cells->error * (1 + 1e-6));
}

/* Whether the member has a position in this window, at (*x, *y). */
static bool position_of(const tm_pose_run *run, const tm_pose_member *member, const tm_family_window *window,
                        int64_t *x, int64_t *y)
{
    const tm_family *f = &run->class->family;
    tm_geometry g;

    *x = window->x - (member->width - f->width) / 2;
    *y = window->y - (member->height - f->height) / 2;
    return tm_pose_positions(run->search, member, &g) && *x >= -g.pad_x && *x < g.map_width - g.pad_x &&
           *y >= -g.pad_y && *y < g.map_height - g.pad_y;
}

/* Nothing is given up for what so much of all positions takes. */
#define TRIED 0.12

/* Whether it would be quicker to score all positions from here on than to go on as so far. */
static bool gives_up(const tm_pose_run *run, int64_t scored)
{
    double done;
#pragma omp atomic read
    done = run->done;
    done = done / (double)run->search->pairs + TRIED;
    return !run->search->best_most && (double)scored * (1 - done) > (double)run->limit * done;
}

static void advance(void *context, double share)
{
    tm_pose_run *run = context;
#pragma omp atomic
    run->done += share * (double)run->of_class;
}

/* Scores so many members in a window, whose box is known if they have one; returns how many have a position there. */
static int64_t score_members(tm_pose_run *run, int thread, const tm_family_window *window, const int32_t *members, int count,
                             tm_pose_box *box)
{
    const tm_pose_class *c = run->class;
    int64_t scored = 0, x, y;

    for (int i = 0; i < count; i++) {
        const tm_pose_member *member = &c->members[members[i]];
        if (!position_of(run, member, window, &x, &y))
            continue;
        if (!c->whole || !box->samples)
            *box = tm_pose_box_at(run, thread, member, x, y);
        if (box->samples) {
            const tm_pose_peak peak = tm_pose_score_box(run, member, x, y, box);
            tm_pose_note(run, &peak);
        } else {
#pragma omp atomic write
            run->failed = true;
        }
        scored++;
    }
    return scored;
}

/* Scores the members that passed in a window; where the core is all that counts they have one box. */
static void visit(void *context, int thread, const tm_family_window *window)
{
    tm_pose_run *run = context;
    const tm_pose_class *c = run->class;
    tm_pose_box box = {.samples = window->samples, .stride = window->stride, .s_f = window->s_f, .s_ff = window->s_ff};
    float coordinates[TM_FAMILY_BASIS + 1];
    int32_t members[TM_POSE_LOOKED];
    int64_t scored = 0;
    bool over;

#pragma omp atomic read
    over = run->declined;
    const bool looked = run->look && !over && tm_pose_look_pays(c, window) &&
                        tm_pose_look_at(run->look, run, thread, window, coordinates);
    if (!over && !looked)
        scored = score_members(run, thread, window, window->members, window->count, &box);
    for (int i = 0; i < window->count && looked;) {
        const int count = tm_pose_look_list(run, coordinates, least_of(run), window, &i, members);
        scored += score_members(run, thread, window, members, count, &box);
    }
    if (gives_up(run, tm_family_add_scored(&run->scored, scored))) {
#pragma omp atomic write
        run->declined = true;
    }
}

/* Chooses the cells that are looked at first; NULL: none. */
static void choose_cells(tm_pose_run *run)
{
    const tm_pose_cells *levels = run->class->cells;

    for (int i = 0; i < TM_POSE_LEVELS && levels[i].family.count; i++) {
        const bool last = i + 1 == TM_POSE_LEVELS || !levels[i + 1].family.count;
        run->cells = &levels[i];
        if (least_of_cells(run) >= (last ? LEAST_OF_CELLS : LEAST_OF_LARGE))
            return;
    }
    run->cells = NULL;
}

/* Searches by cells, or by a part of the basis, and looks at the windows that are left. */
static tm_status search_in_two(tm_pose_run *run, tm_family_search *search)
{
    tm_pose_look look;

    tm_status status = tm_pose_look_open(&look, run->class);
    if (status != TM_OK)
        return status;
    run->look = &look;
    if (run->cells) {
        search->least = least_of_cells;
        status = tm_pose_search_cells(run->cpu, run->frames, run->cells, search);
    } else {
        search->family = run->class->family.first;
        status = tm_cpu_search_family(run->cpu, search);
    }
    run->look = NULL;
    tm_pose_look_close(&look);
    return status;
}

static tm_status search_by_plan(tm_pose_run *run, tm_family_search s)
{
    return run->cells || s.family->first ? search_in_two(run, &s) : tm_cpu_search_family(run->cpu, &s);
}

/* Searches by cells, and where too many positions pass so, anew by pixels. */
static tm_status search_class(tm_pose_run *run)
{
    tm_family_search s = {.family = &run->class->family,
                          .frame = run->search->frame,
                          .context = run,
                          .least = least_of,
                          .visit = visit,
                          .advance = advance};

    run->of_class = tm_pose_count_pairs(run->search, run->class);
    tm_pose_windows(run->search, run->class, &s.x, &s.y, &s.width, &s.height);
    if (!s.width || !s.height)
        return TM_OK;
    choose_cells(run);
    const int64_t scored = run->scored;
    const double done = run->done;
    const size_t count = run->search->count;
    const tm_status status = search_by_plan(run, s);
    if (status != TM_OK || !run->declined || !run->cells || run->failed)
        return status;
    run->in_vain += run->scored - scored;
    run->scored = scored;
    run->done = done;
    run->search->count = count;
    run->declined = false;
    run->cells = NULL;
    return search_by_plan(run, s);
}

/* summed: sums of windows are known. */
static int64_t limit_of(int64_t pairs, double pixels, bool summed)
{
    const double exhaustive = summed ? EXHAUSTIVE_NS + EXHAUSTIVE_PIXEL_NS * fmin(pixels, TRANSFORM_PIXELS)
                                     : 2 * (EXHAUSTIVE_NS + EXHAUSTIVE_PIXEL_NS * fmin(pixels, MASKED_TRANSFORM_PIXELS));
    return (int64_t)((double)pairs * exhaustive / (ONE_NS + pixels * (summed ? SUMMED_PIXEL_NS : PIXEL_NS)));
}

int64_t tm_pose_limit_of(int64_t pairs, double pixels)
{
    return limit_of(pairs, pixels, false);
}

void tm_pose_set_floor(tm_pose_run *run, const tm_pose_guesses *g)
{
    tm_pose_search *s = run->search;

    if (s->wanted && g->count)
        tm_pose_raise_floor(s, g->list, (size_t)g->count);
    run->least = g->count ? smaller(g->list[0].value, s->floor) : INT64_MIN;
    if (s->has_least && g->count && g->list[0].value < s->least) { /* it seems that nothing reaches that */
        run->least = s->least;
        s->floor = larger(s->floor, s->least);
    }
    run->declined = s->wanted && !g->count; /* nothing says how low the floor must be */
}

/* Finds what to begin with in all classes, and how much may be scored. */
static tm_status begin(tm_pose_run *run)
{
    tm_pose_search *search = run->search;
    const tm_pose_families *f = search->families;
    tm_pose_guesses guesses = {.count = 0};

    for (int k = 0; k < f->count; k++) {
        run->class = &f->list[k];
        const int64_t pairs = tm_pose_count_pairs(search, run->class);
        search->pairs += pairs;
        run->limit += limit_of(pairs, (double)run->class->members[0].pixels, run->class->whole);
    }
    const tm_status status = search->best_most ? TM_OK : tm_pose_guess(run, &guesses);
    tm_pose_set_floor(run, &guesses);
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

static tm_status search_families(tm_pose_run *run)
{
    const tm_status status = begin(run);
    return status == TM_OK ? search_classes(run) : status;
}

tm_status tm_cpu_search_poses(tm_cpu *cpu, tm_pose_search *search)
{
    tm_cell_frames frames = {0};
    tm_pose_run run = {.cpu = cpu, .search = search, .frames = &frames, .noting = PTHREAD_MUTEX_INITIALIZER};

    search->best = (tm_pose_peak)TM_NO_POSE_PEAK;
    search->items = NULL;
    search->count = 0;
    run.windows = calloc((size_t)cpu->threads, sizeof *run.windows);
    if (!run.windows)
        return TM_ERR_MEMORY;
    search->pairs = 0;
    search->narrower = false;
    tm_status status = search->families->large ? tm_large_search(&run) : search_families(&run);
    tm_cell_frames_free(&frames);
    for (int i = 0; i < cpu->threads; i++)
        tm_memory_free(&run.windows[i]);
    free(run.windows);
    search->scored = run.scored + run.in_vain;
    search->declined = run.declined;
    if (search->best_most)
        tm_pose_keep_most(&run);
    if (status == TM_OK && (run.failed || (!run.declined && !tm_pose_keep_peaks(search))))
        status = TM_ERR_MEMORY;
    if (status != TM_OK || search->declined) {
        free(search->items);
        search->items = NULL;
        search->count = 0;
    }
    return status;
}
