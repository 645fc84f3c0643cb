/* SPDX-License-Identifier: MIT */
/* The public API: whole frames matched, for the best match or for peaks. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "match/forked.h"
#include "match/matcher.h"
#include "match/search.h"
#include "match/settings.h"

/* One call: for the best match, or for peaks. */
typedef struct call {
    tm_matcher *matcher;
    const tm_image *frame;
    const tm_template *const *tmpls;
    size_t count;
    const tm_map *maps;
    tm_peak *best;
    tm_search search;
    tm_hits *hits;
} call;

static tm_status find_best(void *context)
{
    const call *c = context;
    tm_matcher *matcher = c->matcher;
    const double start = clock_ms();

    tm_job *jobs;
    tm_status status = tm_matcher_prepare(matcher, c->frame, c->tmpls, c->count, c->maps, &jobs);
    if (status == TM_OK)
        status = tm_matcher_run(matcher, jobs, c->count);
    if (status != TM_OK)
        return status;
    for (size_t i = 0; i < c->count; i++) {
        if (jobs[i].best.position == INT64_MAX)
            return tm_matcher_fail_plain(matcher, TM_ERR_NO_POSITION);
        c->best[i] = tm_peak_of_job(&jobs[i]);
    }
    matcher->times.total = clock_ms() - start;
    return TM_OK;
}

tm_status tm_match_many(tm_matcher *matcher, const tm_image *frame, const tm_template *const *tmpls,
                        size_t count, tm_peak *best, const tm_map *maps)
{
    if (!matcher)
        return TM_ERR_INVALID;
    if (!best)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    call c = {.matcher = matcher, .frame = frame, .tmpls = tmpls, .count = count, .maps = maps,
              .best = best};
    return tm_run_forked(matcher, find_best, &c);
}

tm_status tm_match(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl,
                   tm_peak *best, const tm_map *map)
{
    return tm_match_many(matcher, frame, &tmpl, 1, best, map);
}

/* Runs a job again where its peaks do not suffice; its map is there by then. */
static tm_status take_hits(tm_matcher *m, const tm_search *search, tm_job *job, tm_hits *hits)
{
    bool enough = false;

    if (job->best.position == INT64_MAX)
        return tm_matcher_fail_plain(m, TM_ERR_NO_POSITION);
    while (!enough) {
        tm_status status = tm_search_take(hits, search, job, tm_matcher_threads(m), &enough);
        if (status != TM_OK)
            return tm_matcher_fail_plain(m, status);
        job->map.data = NULL;
        if (!enough && (status = tm_matcher_run_more(m, job, 1)) != TM_OK)
            return status;
    }
    hits->best = tm_peak_of_job(job);
    return TM_OK;
}

static tm_status find_peaks(void *context)
{
    const call *c = context;
    tm_matcher *matcher = c->matcher;
    const double start = clock_ms();

    tm_job *jobs;
    tm_status status = tm_matcher_prepare(matcher, c->frame, c->tmpls, c->count, c->maps, &jobs);
    if (status != TM_OK)
        return status;
    tm_peak_list *lists = malloc(c->count * sizeof *lists);
    if (!lists)
        return tm_matcher_fail_plain(matcher, TM_ERR_MEMORY);
    const tm_peak_search first = tm_search_start(&c->search, &jobs[0]);
    for (size_t i = 0; i < c->count; i++) {
        tm_peak_list_init(&lists[i], &first);
        jobs[i].peaks = &lists[i];
    }
    status = tm_matcher_run(matcher, jobs, c->count);
    for (size_t i = 0; i < c->count && status == TM_OK; i++)
        status = take_hits(matcher, &c->search, &jobs[i], &c->hits[i]);
    for (size_t i = 0; i < c->count; i++) {
        tm_peak_list_free(&lists[i]);
        if (status != TM_OK)
            tm_hits_free(&c->hits[i]);
    }
    free(lists);
    matcher->times.total = clock_ms() - start;
    return status;
}

tm_status tm_match_peaks(tm_matcher *matcher, const tm_image *frame,
                         const tm_template *const *tmpls, size_t count, const tm_search *search,
                         tm_hits *hits, const tm_map *maps)
{
    call c = {.matcher = matcher, .frame = frame, .tmpls = tmpls, .count = count, .maps = maps,
              .hits = hits};

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits || !search || search->size < sizeof search->size)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    for (size_t i = 0; i < count; i++)
        hits[i] = (tm_hits){0};
    tm_search_default(&c.search, sizeof c.search);
    memcpy(&c.search, search, search->size < sizeof c.search ? search->size : sizeof c.search);
    const char *fault = tm_search_fault(&c.search);
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);
    return tm_run_forked(matcher, find_peaks, &c);
}
