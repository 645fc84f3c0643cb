/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

/* Windows that one template's peaks are found among, at most. */
enum { MOST_WINDOWS = 1 << 18 };

/* A search is given up when it has scored windows for so many times what searching separately takes. */
#define MOST_TIME 1.0

static int64_t least_rank(const tm_together_one *one)
{
    int64_t known;
#pragma omp atomic read
    known = one->known;
    return smaller(known, one->asked);
}

float tm_together_least(const tm_together_one *one)
{
    const int64_t rank = least_rank(one);
    if (one->left_out)
        return 4;
    return (rank < INT32_MIN ? -2 : tm_score_of_order((int32_t)rank)) - TM_FAMILY_SCORE_MARGIN;
}

static float lowest_of(void *context)
{
    const tm_together_run *r = context;
    return r->lowest;
}

/* What each member must reach, in the last row of the thread's coordinates. */
static float *leasts_of(const tm_together_run *r, int thread)
{
    const tm_family *f = &r->members[thread];
    return f->coordinates + (ptrdiff_t)f->basis * f->padded;
}

static void free_members(tm_together_run *r)
{
    for (int i = 0; i < r->cpu->threads && r->members; i++)
        free(r->members[i].coordinates);
    free(r->members);
    r->members = NULL;
}

/* Makes each thread's members, and the lowest score that matters. False if memory ran out. */
static bool make_members(tm_together_run *r, const tm_family *f)
{
    const size_t rows = (size_t)f->basis + 1, size = rows * (size_t)f->padded * sizeof(float);

    r->family = f;
    r->lowest = 4;
    r->members = calloc((size_t)r->cpu->threads, sizeof *r->members);
    for (int i = 0; i < r->cpu->threads && r->members; i++) {
        tm_family *own = &r->members[i];
        *own = *f;
        own->basis++;
        own->chain = own->first = NULL;
        own->coordinates = aligned_alloc(64, (size_t)round_up((int64_t)size + (f->padded + TM_FAMILY_UNIT) * (int64_t)sizeof(float), 64));
        if (!own->coordinates)
            return false;
        memcpy(own->coordinates, f->coordinates, size);
        float *leasts = own->coordinates + rows * (size_t)f->padded;
        for (int a = 0; a < f->padded; a++) {
            leasts[a] = a < f->count ? -tm_together_least(&r->list[a]) : -4;
            r->lowest = fminf(r->lowest, -leasts[a]);
        }
    }
    return r->members != NULL;
}

tm_status tm_together_search(tm_together_run *r, const tm_family *basis, int64_t first, int64_t rows,
                             void (*visit)(void *run, int thread, const tm_family_window *window))
{
    const tm_job *job = r->call->jobs[0];
    const tm_geometry *g = &job->geometry;
    tm_status status = make_members(r, basis) ? TM_OK : TM_ERR_MEMORY;
    tm_family_search s = {.family = basis,
                          .frame = &job->frame,
                          .x = -g->pad_x,
                          .y = first - g->pad_y,
                          .width = g->map_width,
                          .height = rows,
                          .context = r,
                          .least = lowest_of,
                          .members = r->members,
                          .visit = visit};

    if (status == TM_OK)
        status = tm_cpu_search_family(r->cpu, &s);
    free_members(r);
    return status;
}

/* Keeps a window for the template's peaks; false where it has no room. */
static bool keep(tm_together_one *one, tm_candidate window)
{
    if (one->count == one->room) {
        const size_t room = one->room ? 2 * one->room : 64;
        tm_candidate *windows = room <= MOST_WINDOWS ? realloc(one->windows, room * sizeof *windows) : NULL;
        if (!windows)
            return false;
        one->windows = windows;
        one->room = room;
    }
    one->windows[one->count++] = window;
    return true;
}

static void note(tm_together_run *r, tm_together_one *one, tm_candidate window)
{
    if (window.value < least_rank(one))
        return;
    pthread_mutex_lock(&r->noting);
    if (tm_candidate_beats(window, one->best))
        one->best = window;
    if (window.value > one->known) {
#pragma omp atomic write
        one->known = window.value;
    }
    if (window.value >= one->asked && !keep(one, window)) {
#pragma omp atomic write
        r->given_up = true;
    }
    pthread_mutex_unlock(&r->noting);
}

static tm_candidate score(const tm_together_run *r, const tm_together_one *one, const tm_family_window *w)
{
    const tm_job *job = one->job;
    const tm_geometry *g = &job->geometry;
    const int64_t product = r->cpu->kernels.window_product(w->samples, w->stride, one->taps, r->stride,
                                                           (int)g->template_width, (int)g->template_height);
    return tm_job_emit(job, w->x + g->pad_x, w->y + g->pad_y, w->s_f, w->s_ff, product + TM_TAP_BIAS * w->s_f);
}

static void score_passed(void *context, int thread, const tm_family_window *w)
{
    tm_together_run *r = context;
    float *leasts = leasts_of(r, thread);
    int64_t scored = 0;
    bool over;

#pragma omp atomic read
    over = r->given_up;
    for (int i = 0; i < w->count && !over; i++) {
        tm_together_one *one = &r->list[w->members[i]];
        const float before = -leasts[w->members[i]], least = tm_together_least(one);
        leasts[w->members[i]] = -least;
        if (w->bounds[i] + before + r->family->error + TM_FAMILY_ROUNDING < least)
            continue;
        note(r, one, score(r, one, w));
        scored++;
#pragma omp atomic
        one->scored++;
    }
    if (tm_family_add_scored(&r->scored, scored) > r->limit) {
#pragma omp atomic write
        r->given_up = true;
    }
}

static void fill_taps(const tm_together_run *r, tm_together_one *one)
{
    const tm_template *t = one->job->tmpl;

    memset(one->taps, 0, (size_t)(r->stride * t->height));
    for (int64_t y = 0; y < t->height; y++) {
        for (int64_t x = 0; x < t->width; x++)
            one->taps[y * r->stride + x] = (int8_t)(t->samples[y * t->width + x] - TM_TAP_BIAS);
    }
}

/* Each template's own beginning: a window that scores well. */
static tm_status begin(tm_together_run *r)
{
    const tm_together *call = r->call;
    tm_status status = TM_OK;
    double ns = 0;

    for (int i = 0; i < call->count && status == TM_OK; i++) {
        tm_together_one *one = &r->list[i];
        tm_certified guess;
        const size_t size = tm_certified_taps_size(call->jobs[i], &call->plans[i]);
        if (!tm_memory_fit(&r->cpu->certified_taps, size))
            return TM_ERR_MEMORY;
        tm_certified_make(&guess, &r->cpu->kernels, call->jobs[i], &call->plans[i], r->cpu->certified_taps.data);
        status = tm_certified_guess(r->cpu, &guess, i > 0);
        one->known = guess.best;
        one->best = guess.found;
        one->scored = guess.scored;
        fill_taps(r, one);
        ns += call->other_ns[i];
    }
    r->limit = (int64_t)(MOST_TIME * ns / tm_together_score_ns(call));
    return status;
}

/* Tells the jobs what was found, or that they are declined. */
static void tell(tm_together_run *r)
{
    for (int i = 0; i < r->call->count; i++) {
        tm_together_one *one = &r->list[i];
        tm_job *job = one->job;
        job->declined = r->given_up || one->left_out;
        if (job->declined && !job->known && one->best.position != INT64_MAX) {
            r->call->known[i] = one->best;
            job->known = &r->call->known[i];
        }
        if (job->declined)
            continue;
        job->best = one->best;
        job->scored = one->scored;
        if (one->count)
            tm_peak_list_add_windows(job->peaks, one->windows, one->count, job->geometry.map_width, 0,
                                     job->geometry.map_height);
    }
}

static tm_status search(tm_together_run *r, tm_together *call)
{
    const tm_family *basis = NULL;

    tm_status status = begin(r);
    if (status == TM_OK)
        status = tm_together_choose(r, &basis);
    if (status == TM_OK && basis)
        status = tm_together_search(r, basis, 0, call->jobs[0]->geometry.map_height, score_passed);
    r->given_up |= !basis;
    call->basis = r->given_up || status != TM_OK ? 0 : basis->basis;
    if (status == TM_OK)
        tell(r);
    return status;
}

tm_status tm_cpu_match_together(tm_cpu *cpu, tm_together *call)
{
    const tm_template *first = call->jobs[0]->tmpl;
    tm_together_run r = {.cpu = cpu,
                         .call = call,
                         .stride = (ptrdiff_t)round_up(first->width, TM_BLOCK),
                         .noting = PTHREAD_MUTEX_INITIALIZER};
    const size_t size = (size_t)(r.stride * first->height);
    int8_t *taps = malloc(size * (size_t)call->count);
    tm_status status = TM_ERR_MEMORY;

    r.list = calloc((size_t)call->count, sizeof *r.list);
    for (int i = 0; i < call->count && r.list && taps; i++) {
        tm_job *job = call->jobs[i];
        r.list[i] = (tm_together_one){.job = job,
                                      .taps = taps + size * (size_t)i,
                                      .asked = job->peaks ? tm_peak_list_least(job->peaks) : INT64_MAX,
                                      .best = TM_NO_CANDIDATE};
    }
    if (r.list && taps)
        status = search(&r, call);
    for (int i = 0; i < call->count && r.list; i++)
        free(r.list[i].windows);
    free(r.list);
    free(taps);
    return status;
}
