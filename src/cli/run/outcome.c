/* SPDX-License-Identifier: MIT */
#include "run/outcome.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "run/weak.h"

static void note_devices(const char *frame, const tm_matcher *matcher)
{
    tm_device_report reports[64];
    const size_t count = tm_matcher_reports(matcher, reports, 64);
    for (size_t i = 0; i < count && i < 64; i++) {
        const tm_device_report *d = &reports[i];
        message_info(frame,
                "cuda:%d: rows=%" PRId64 " start=%.3f busy=%.3f wait=%.3f ms, %" PRId64
                " bytes to it, %" PRId64 " from it",
                d->index, d->rows, d->start_ms, d->busy_ms, d->wait_ms, d->bytes_to_device,
                d->bytes_from_device);
    }
}

void outcome_of_search(const cli_engine *e, cli_result *r)
{
    const cli_options *o = e->options;

    r->times = tm_matcher_times(e->matcher);
    snprintf(r->algorithm, sizeof r->algorithm, "%s", tm_matcher_algorithm(e->matcher));
    r->search = tm_matcher_strategy(e->matcher);
    r->scored = tm_matcher_scored(e->matcher);
    snprintf(r->device, sizeof r->device, "%s", tm_matcher_device(e->matcher));
    engine_note_hangs(e);
    if (!o->quiet && *tm_matcher_warning(e->matcher))
        message_note(r->frame, "warning: %s", tm_matcher_warning(e->matcher));
    if (o->verbose) {
        message_info(r->frame, "%s", tm_matcher_plan(e->matcher));
        note_devices(r->frame, e->matcher);
    }
}

void outcome_cut_off(const cli_engine *e, const cli_result *r)
{
    if (!e->options->quiet)
        message_note(r->frame, "there are more than %" PRId64 " peaks; only the best of them were "
                          "looked at, and worse matches are not reported",
                e->search.peaks);
}

bool outcome_reaches(const cli_options *o, double score)
{
    return tm_metric_is_distance(o->settings.metric) ? score <= o->min_score
                                                     : score >= o->min_score;
}

bool outcome_add(cli_pair *pair, const cli_match *match)
{
    cli_result *r = &pair->result;
    if (r->match_count == r->match_capacity) {
        const size_t capacity = r->match_capacity ? 2 * r->match_capacity : 1;
        cli_match *matches = realloc(r->matches, capacity * sizeof *matches);
        if (!matches) {
            strcpy(pair->error.reason, tm_strerror(TM_ERR_MEMORY));
            return false;
        }
        r->matches = matches;
        r->match_capacity = capacity;
    }
    r->matches[r->match_count++] = *match;
    return true;
}

bool outcome_add_best(const cli_options *o, cli_pair *pair, const cli_match *best)
{
    cli_result *r = &pair->result;

    r->none = o->has_min_score || weak_sets_thresholds(o);
    r->has_best = r->none && !o->only_matches;
    r->best = *best;
    return r->none || outcome_add(pair, best);
}

static cli_match match_of(const cli_result *r, const tm_hit *hit, int64_t x, int64_t y)
{
    return (cli_match){.x = hit->peak.x + x,
                       .y = hit->peak.y + y,
                       .w = r->template_width,
                       .h = r->template_height,
                       .pixels = r->template_pixels,
                       .score = hit->peak.score,
                       .margin = hit->margin,
                       .margin_below = NAN,
                       .dx = hit->dx,
                       .dy = hit->dy};
}

bool outcome_take_hits(const cli_options *o, cli_pair *pair, const tm_hits *hits, int64_t x, int64_t y)
{
    cli_result *r = &pair->result;
    bool good = true;

    r->knows_margins = pair->searched && pair->search.margin;
    for (size_t i = 0; i < hits->count && good; i++) {
        const cli_match match = match_of(r, &hits->items[i], x, y);
        if (!o->has_min_score || outcome_reaches(o, match.score))
            good = outcome_add(pair, &match);
    }
    if (good && r->match_count == 0) {
        const tm_hit hit = {.peak = hits->best, .margin = NAN};
        const cli_match best = match_of(r, &hit, x, y);
        r->knows_margins = false;
        good = outcome_add_best(o, pair, &best);
    }
    return good;
}
