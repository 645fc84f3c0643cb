/* SPDX-License-Identifier: MIT */
/* The public API: whole frames matched, for the best match or for peaks. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "match/matcher.h"
#include "match/search.h"
#include "match/settings.h"

tm_status tm_match_many(tm_matcher *matcher, const tm_image *frame, const tm_template *const *tmpls,
                        size_t count, tm_peak *best, const tm_map *maps)
{
    const double start = clock_ms();

    if (!matcher)
        return TM_ERR_INVALID;
    if (!best)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    tm_status status = tm_matcher_prepare(matcher, frame, tmpls, count, maps);
    if (status == TM_OK)
        status = tm_matcher_run(matcher, count);
    if (status != TM_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (matcher->jobs[i].best.position == INT64_MAX)
            return tm_matcher_fail_plain(matcher, TM_ERR_NO_POSITION);
        best[i] = tm_peak_of_job(&matcher->jobs[i]);
    }
    matcher->times.total = clock_ms() - start;
    return TM_OK;
}

tm_status tm_match(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl,
                   tm_peak *best, const tm_map *map)
{
    return tm_match_many(matcher, frame, &tmpl, 1, best, map);
}

/* Runs a job of the last call again, without its map, for more peaks. */
static tm_status run_again(tm_matcher *m, size_t index)
{
    tm_job first = m->jobs[0];
    m->jobs[0] = m->jobs[index];
    m->jobs[0].map.data = NULL;
    tm_status status = tm_matcher_run_more(m, 1);
    m->jobs[index] = m->jobs[0];
    if (index != 0)
        m->jobs[0] = first;
    return status;
}

static tm_status take_hits(tm_matcher *m, const tm_search *search, size_t count, tm_hits *hits)
{
    const int threads = m->settings.threads ? m->settings.threads : omp_get_num_procs();
    for (size_t i = 0; i < count; i++) {
        bool enough = false;
        if (m->jobs[i].best.position == INT64_MAX)
            return tm_matcher_fail_plain(m, TM_ERR_NO_POSITION);
        while (!enough) {
            tm_status status = tm_search_take(&hits[i], search, &m->jobs[i], threads, &enough);
            if (status != TM_OK)
                return tm_matcher_fail_plain(m, status);
            if (!enough && (status = run_again(m, i)) != TM_OK)
                return status;
        }
    }
    return TM_OK;
}

tm_status tm_match_peaks(tm_matcher *matcher, const tm_image *frame,
                         const tm_template *const *tmpls, size_t count, const tm_search *search,
                         tm_hits *hits, const tm_map *maps)
{
    const double start = clock_ms();
    tm_search own;

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits || !search || search->size < sizeof search->size)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    tm_search_default(&own, sizeof own);
    memcpy(&own, search, search->size < sizeof own ? search->size : sizeof own);
    const char *fault = tm_search_fault(&own);
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);
    tm_status status = tm_matcher_prepare(matcher, frame, tmpls, count, maps);
    if (status != TM_OK)
        return status;
    tm_peak_list *lists = malloc(count * sizeof *lists);
    if (!lists)
        return tm_matcher_fail_plain(matcher, TM_ERR_MEMORY);
    const tm_peak_search first = tm_search_start(&own, matcher->jobs[0].metric);
    for (size_t i = 0; i < count; i++) {
        hits[i] = (tm_hits){0};
        tm_peak_list_init(&lists[i], &first);
        matcher->jobs[i].peaks = &lists[i];
    }
    status = tm_matcher_run(matcher, count);
    if (status == TM_OK)
        status = take_hits(matcher, &own, count, hits);
    for (size_t i = 0; i < count; i++) {
        tm_peak_list_free(&lists[i]);
        if (status != TM_OK)
            tm_hits_free(&hits[i]);
    }
    free(lists);
    matcher->times.total = clock_ms() - start;
    return status;
}
