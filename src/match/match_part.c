/* SPDX-License-Identifier: MIT */
/* The public API: some rows of a frame's map, for frames that several processes match together. */
#include <stdlib.h>

#include "clock.h"
#include "integers.h"
#include "match/forked.h"
#include "match/part_peaks.h"
#include "match/settings.h"
#include "match/subpixel.h"

typedef struct part_call {
    tm_matcher *matcher;
    const tm_image *rows;
    tm_part part;
    const tm_template *const *tmpls;
    size_t count;
    tm_search search;
    tm_part_hits *hits;
    tm_job *jobs; /* the matcher's: slices of the whole ones */
    tm_part_job *parts;
} part_call;

static bool part_read(tm_part *part, const tm_part *given)
{
    if (!given || given->size < sizeof *part)
        return false;
    *part = *given;
    return part->frame_height > 0 && part->frame_first >= 0 &&
           part->frame_first < part->frame_height && part->first >= 0 && part->first < part->end;
}

/* A peak's neighbours are in the rows next to it, and the surface of its sub-pixel place has three
 * rows, also at the map's edge. */
static tm_rows rows_held(tm_rows own, int64_t map_height)
{
    return (tm_rows){larger(smaller(own.first - 1, map_height - 3), 0),
                     smaller(larger(own.end + 1, 3), map_height)};
}

/* The rows of the frame that rows of the map are made of. */
static tm_rows frame_rows(const tm_geometry *g, tm_rows rows)
{
    return (tm_rows){larger(rows.first - g->pad_y, 0),
                     smaller(rows.end - 1 - g->pad_y + g->template_height, g->frame_height)};
}

tm_status tm_part_rows(tm_domain domain, int64_t template_height, const tm_part *part,
                       int64_t *first, int64_t *end)
{
    tm_geometry g;
    tm_part own = {.size = 0};

    if (!first || !end || !part || part->size < sizeof own)
        return TM_ERR_INVALID;
    own = *part;
    own.frame_first = 0;
    if (!part_read(&own, &own))
        return TM_ERR_INVALID;
    const tm_status status = tm_geometry_init(&g, domain, 1, own.frame_height, 1, template_height);
    if (status != TM_OK)
        return status;
    if (own.first >= g.map_height)
        return TM_ERR_INVALID;
    const tm_rows rows = {own.first, smaller(own.end, g.map_height)};
    const tm_rows needed = frame_rows(&g, rows_held(rows, g.map_height));
    *first = needed.first;
    *end = needed.end;
    return TM_OK;
}

/* Makes the slice of a whole job, and takes its place. */
static tm_status slice_job(const part_call *c, size_t i, bool with_peaks)
{
    tm_matcher *m = c->matcher;
    const tm_part *part = &c->part;
    tm_part_job *p = &c->parts[i];
    tm_job *job = &c->jobs[i];
    const tm_geometry *g = &p->whole.geometry;

    p->whole = *job;
    if (part->first >= g->map_height)
        return tm_matcher_fail(m, TM_ERR_INVALID,
                               "row %lld is not in the map, which has %lld row%s",
                               (long long)part->first, (long long)g->map_height, g->map_height == 1 ? "" : "s");
    p->own = (tm_rows){part->first, smaller(part->end, g->map_height)};
    p->held = with_peaks ? rows_held(p->own, g->map_height) : p->own;
    const tm_rows needed = frame_rows(g, rows_held(p->own, g->map_height));
    if (needed.first < part->frame_first || needed.end > part->frame_first + c->rows->height)
        return tm_matcher_fail(m, TM_ERR_INVALID,
                               "the part needs rows %lld to %lld of the frame, and has %lld to %lld",
                               (long long)needed.first, (long long)needed.end - 1,
                               (long long)part->frame_first,
                               (long long)(part->frame_first + c->rows->height - 1));
    *job = tm_job_rows(&p->whole, p->held, part->frame_first);
    c->hits[i].metric = job->metric;
    c->hits[i].template_width = g->template_width;
    c->hits[i].template_height = g->template_height;
    c->hits[i].map_height = g->map_height;
    c->hits[i].first = p->own.first;
    c->hits[i].end = p->own.end;
    return TM_OK;
}

/* The jobs of the whole frame are checked as if all its rows were there, and never run. */
static tm_status slice_jobs(part_call *c, bool with_peaks)
{
    tm_matcher *m = c->matcher;
    const char *fault = tm_image_fault(c->rows);
    tm_image whole;

    if (fault)
        return tm_matcher_fail(m, TM_ERR_INVALID, "%s", fault);
    if (tm_sample_is_float(c->rows->type))
        return tm_matcher_fail(m, TM_ERR_INVALID,
                               "scores of float samples are not the same bits in every part of a frame");
    if (c->rows->height > c->part.frame_height - c->part.frame_first)
        return tm_matcher_fail(m, TM_ERR_INVALID, "the part has more rows than the frame");
    whole = *c->rows;
    whole.height = c->part.frame_height;
    tm_status status = tm_matcher_prepare(m, &whole, c->tmpls, c->count, NULL, &c->jobs);
    m->windows = 0;
    for (size_t i = 0; i < c->count && status == TM_OK; i++) {
        status = slice_job(c, i, with_peaks);
        m->windows += c->jobs[i].geometry.map_width * c->jobs[i].geometry.map_height;
    }
    return status;
}

/* Finds the best position of the part's own rows; the slice's may be a neighbour's. */
static tm_status take_best(const part_call *c, size_t i)
{
    const tm_part_job *p = &c->parts[i];
    tm_part_hits *hits = &c->hits[i];
    tm_candidate best = c->jobs[i].best;
    int64_t first = p->held.first;

    const int64_t row = first + best.position / p->whole.geometry.map_width;
    if (best.position != INT64_MAX && (row < p->own.first || row >= p->own.end)) {
        tm_job own = tm_job_rows(&p->whole, p->own, c->part.frame_first);
        const tm_status status = tm_matcher_run_more(c->matcher, &own, 1);
        if (status != TM_OK)
            return status;
        best = own.best;
        first = p->own.first;
    }
    hits->has_best = best.position != INT64_MAX;
    if (hits->has_best)
        hits->best = tm_part_hit_of(p, best, first);
    return TM_OK;
}

/* Refines the positions' places, with the rows of the neighbours at hand. */
static tm_status refine(const part_call *c, size_t i)
{
    const tm_part_job *p = &c->parts[i];
    tm_part_hits *hits = &c->hits[i];
    const tm_rows held = rows_held(p->own, p->whole.geometry.map_height);
    const tm_job job = tm_job_rows(&p->whole, held, c->part.frame_first);
    /* the slice's map begins at a row of its own */
    const int64_t down = held.first - p->whole.geometry.pad_y + job.geometry.pad_y;
    tm_hits places = {.items = malloc(hits->count * sizeof *places.items), .count = hits->count};

    if (hits->count == 0) {
        free(places.items);
        return TM_OK;
    }
    if (!places.items)
        return tm_matcher_fail_plain(c->matcher, TM_ERR_MEMORY);
    for (size_t k = 0; k < hits->count; k++) {
        places.items[k] = hits->items[k].hit;
        places.items[k].peak.y -= down;
    }
    tm_subpixel(&places, &job, tm_matcher_threads(c->matcher));
    for (size_t k = 0; k < hits->count; k++) {
        hits->items[k].hit.dx = places.items[k].dx;
        hits->items[k].hit.dy = places.items[k].dy;
    }
    free(places.items);
    return TM_OK;
}

/* The best match alone, which a job without peaks finds. */
static tm_status take_one(const part_call *c, size_t i)
{
    const tm_job *job = &c->jobs[i];
    size_t room = 0;

    const tm_status status = take_best(c, i);
    if (status != TM_OK || !c->hits[i].has_best ||
        job->best.value < tm_search_floor(c->search.min_score, job->metric, tm_job_is_integer(job)))
        return status;
    return tm_part_add(&c->hits[i], &room, &c->parts[i], job->best)
               ? TM_OK
               : tm_matcher_fail_plain(c->matcher, TM_ERR_MEMORY);
}

static tm_status match_bests(part_call *c)
{
    tm_status status = tm_matcher_run(c->matcher, c->jobs, c->count);
    for (size_t i = 0; i < c->count && status == TM_OK; i++)
        status = take_one(c, i);
    return status;
}

/* Runs the slice again where its peaks do not suffice. */
static tm_status take_peaks(const part_call *c, size_t i)
{
    tm_matcher *m = c->matcher;
    tm_part_job *p = &c->parts[i];
    tm_job *job = &c->jobs[i];
    bool enough = false;

    tm_status status = take_best(c, i);
    tm_cut_note(m, job, &p->cut);
    while (status == TM_OK && !enough) {
        if (!tm_part_take(&c->hits[i], &c->search, p, job, &enough))
            status = tm_matcher_fail_plain(m, TM_ERR_MEMORY);
        else if (!enough)
            status = tm_matcher_run_more(m, job, 1);
    }
    return status;
}

static tm_status match_peaks(part_call *c)
{
    tm_matcher *m = c->matcher;
    const tm_peak_search first = tm_search_start(&c->search, c->jobs);
    tm_status status = TM_OK;

    for (size_t i = 0; i < c->count; i++) {
        tm_peak_list_init(&c->parts[i].list, &first);
        c->jobs[i].peaks = &c->parts[i].list;
        c->jobs[i].first_row = c->parts[i].own.first - c->parts[i].held.first;
        c->jobs[i].last_row = c->parts[i].own.end - c->parts[i].held.first;
    }
    if (!tm_matcher_uses_cuda(m, c->jobs, c->count))
        for (size_t i = 0; i < c->count && status == TM_OK; i++)
            status = tm_cut_choose(m, &c->search, &c->jobs[i], &c->parts[i].cut);
    if (status == TM_OK)
        status = tm_matcher_run(m, c->jobs, c->count);
    for (size_t i = 0; i < c->count && status == TM_OK; i++)
        status = take_peaks(c, i);
    for (size_t i = 0; i < c->count; i++) {
        tm_peak_list_free(&c->parts[i].list);
        tm_cut_free(&c->parts[i].cut);
    }
    return status;
}

static tm_status find_part(void *context)
{
    part_call *c = context;
    tm_matcher *m = c->matcher;
    const double start = clock_ms();
    const bool best = tm_search_is_for_best(&c->search);

    c->parts = calloc(c->count + 1, sizeof *c->parts);
    if (!c->parts)
        return tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    tm_status status = slice_jobs(c, !best);
    if (status == TM_OK)
        status = best ? match_bests(c) : match_peaks(c);
    for (size_t i = 0; i < c->count && status == TM_OK && c->search.subpixel; i++)
        status = refine(c, i);
    for (size_t i = 0; i < c->count && status != TM_OK; i++)
        tm_part_hits_free(&c->hits[i]);
    free(c->parts);
    m->times.total = clock_ms() - start;
    return status;
}

tm_status tm_match_part(tm_matcher *matcher, const tm_image *rows, const tm_part *part,
                        const tm_template *const *tmpls, size_t count, const tm_search *search,
                        tm_part_hits *hits)
{
    part_call c = {.matcher = matcher, .rows = rows, .tmpls = tmpls, .count = count, .hits = hits};

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits || !tmpls || count == 0)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    for (size_t i = 0; i < count; i++)
        hits[i] = (tm_part_hits){.size = sizeof *hits};
    if (!part_read(&c.part, part))
        return tm_matcher_fail(matcher, TM_ERR_INVALID,
                               "a part is of some rows of the map, and begins in the frame");
    const char *fault = tm_search_read(&c.search, search);
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);
    return tm_run_forked(matcher, find_part, &c);
}

void tm_part_hits_free(tm_part_hits *hits)
{
    if (!hits)
        return;
    free(hits->items);
    *hits = (tm_part_hits){.size = sizeof *hits};
}
