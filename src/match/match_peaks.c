/* SPDX-License-Identifier: MIT */
/* The public API: several matches of a template in a frame. */
#include <stdlib.h>

#include "clock.h"
#include "match/forked.h"
#include "match/search.h"
#include "match/settings.h"

typedef struct peaks_call {
    tm_matcher *matcher;
    const tm_image *frame;
    const tm_template *const *tmpls;
    size_t count;
    const tm_map *maps;
    tm_search search;
    tm_hits *hits;
    tm_job *jobs;
} peaks_call;

/* The peaks of a job. */
typedef struct found_peaks {
    tm_peak_list list;
    tm_cut cut;
    tm_cut_rule rule;
} found_peaks;

/* Runs the job again where its peaks do not suffice; its map is there by then. */
static tm_status take_hits(const peaks_call *c, tm_job *job, const found_peaks *found,
                           tm_hits *hits)
{
    tm_matcher *m = c->matcher;
    const int threads = tm_matcher_threads(m);
    bool enough = false;

    tm_cut_note(m, job, &found->cut);
    while (!enough) {
        tm_status status = tm_search_take(hits, &c->search, job, &found->cut, threads, &enough);
        if (status != TM_OK)
            return tm_matcher_fail_plain(m, status);
        job->map.data = NULL;
        job->cutter = NULL;
        if (!enough && (status = tm_matcher_run_more(m, job, 1)) != TM_OK)
            return status;
    }
    return TM_OK;
}

/* Each job's best match has been found. */
static tm_status take_all(const peaks_call *c, const found_peaks *found)
{
    tm_matcher *m = c->matcher;
    tm_status status = TM_OK;

    for (size_t i = 0; i < c->count && status == TM_OK; i++) {
        tm_job *job = &c->jobs[i];
        if (job->best.position == INT64_MAX)
            return tm_matcher_fail_plain(m, TM_ERR_NO_POSITION);
        if (found)
            status = take_hits(c, job, &found[i], &c->hits[i]);
        else if (!tm_search_take_best(&c->hits[i], &c->search, job, tm_matcher_threads(m)))
            status = tm_matcher_fail_plain(m, TM_ERR_MEMORY);
        c->hits[i].best = tm_peak_of_job(job);
    }
    return status;
}

/* Chooses cuts, or lets devices do so. */
static tm_status choose_cuts(const peaks_call *c, found_peaks *found)
{
    tm_status status = TM_OK;

    const bool on_devices = tm_matcher_uses_cuda(c->matcher, c->jobs, c->count);
    for (size_t i = 0; i < c->count && status == TM_OK; i++) {
        if (on_devices)
            tm_cut_by_device(&found[i].rule, &c->search, &c->jobs[i]);
        else
            status = tm_cut_choose(c->matcher, &c->search, &c->jobs[i], &found[i].cut);
    }
    return status;
}

static tm_status match_peaks(const peaks_call *c)
{
    found_peaks *found = calloc(c->count, sizeof *found);
    const tm_peak_search first = tm_search_start(&c->search, c->jobs);

    if (!found)
        return tm_matcher_fail_plain(c->matcher, TM_ERR_MEMORY);
    for (size_t i = 0; i < c->count; i++) {
        tm_peak_list_init(&found[i].list, &first);
        c->jobs[i].peaks = &found[i].list;
    }
    tm_status status = choose_cuts(c, found);
    if (status == TM_OK)
        status = tm_matcher_run(c->matcher, c->jobs, c->count);
    if (status == TM_OK)
        status = take_all(c, found);
    for (size_t i = 0; i < c->count; i++) {
        tm_peak_list_free(&found[i].list);
        tm_cut_free(&found[i].cut);
    }
    free(found);
    return status;
}

static tm_status match_bests(const peaks_call *c)
{
    const tm_status status = tm_matcher_run(c->matcher, c->jobs, c->count);
    return status == TM_OK ? take_all(c, NULL) : status;
}

static tm_status find_peaks(void *context)
{
    peaks_call *c = context;
    tm_matcher *m = c->matcher;
    const double start = clock_ms();

    tm_status status = tm_matcher_prepare(m, c->frame, c->tmpls, c->count, c->maps, &c->jobs);
    if (status != TM_OK)
        return status;
    status = tm_search_is_for_best(&c->search) ? match_bests(c) : match_peaks(c);
    for (size_t i = 0; i < c->count && status != TM_OK; i++)
        tm_hits_free(&c->hits[i]);
    m->times.total = clock_ms() - start;
    return status;
}

tm_status tm_match_peaks(tm_matcher *matcher, const tm_image *frame,
                         const tm_template *const *tmpls, size_t count, const tm_search *search,
                         tm_hits *hits, const tm_map *maps)
{
    peaks_call c = {.matcher = matcher, .frame = frame, .tmpls = tmpls, .count = count,
                    .maps = maps, .hits = hits};

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    for (size_t i = 0; i < count; i++)
        hits[i] = (tm_hits){0};
    const char *fault = tm_search_read(&c.search, search);
    if (!fault && c.search.subpixel && matcher->on_device)
        fault = "sub-pixel places are found on the host, and the frame lies in a device's memory";
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);
    return tm_run_forked(matcher, find_peaks, &c);
}
