/* SPDX-License-Identifier: MIT */
/* From hits to a result. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubt.h"
#include "engine.h"
#include "message.h"

static cli_match match_of(const tm_hit *hit, const io_crop *crop)
{
    return (cli_match){.x = hit->peak.x + crop->x,
                       .y = hit->peak.y + crop->y,
                       .score = hit->peak.score,
                       .margin = hit->margin,
                       .dx = hit->dx,
                       .dy = hit->dy};
}

static bool add_match(cli_pair *pair, const tm_hit *hit, const io_crop *crop)
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
    r->matches[r->match_count++] = match_of(hit, crop);
    return true;
}

/* Without a threshold, the user's or that of -n 0, the best place is a match whatever it scores. */
static bool add_best(const cli_engine *e, cli_pair *pair, const tm_hits *hits, const io_crop *crop)
{
    const tm_hit best = {.peak = hits->best, .margin = NAN};
    cli_result *r = &pair->result;

    r->knows_margins = false;
    r->has_best = e->options->has_min_score || doubt_searches_differ(e->options);
    r->best = match_of(&best, crop);
    return r->has_best || add_match(pair, &best, crop);
}

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

/* Distances reach a score from above. */
static bool reaches(const cli_options *o, double score)
{
    return tm_metric_is_distance(o->settings.metric) ? score <= o->min_score
                                                     : score >= o->min_score;
}

bool cli_engine_take(const cli_engine *e, cli_pair *pair, const tm_hits *hits,
                     const io_crop *crop)
{
    const cli_options *o = e->options;
    cli_result *r = &pair->result;
    bool good = true;

    r->times = tm_matcher_times(e->matcher);
    snprintf(r->algorithm, sizeof r->algorithm, "%s", tm_matcher_algorithm(e->matcher));
    snprintf(r->device, sizeof r->device, "%s", tm_matcher_device(e->matcher));
    if (!o->quiet && *tm_matcher_warning(e->matcher))
        message_note(r->frame, "warning: %s", tm_matcher_warning(e->matcher));
    if (o->verbose) {
        message_info(r->frame, "%s", tm_matcher_plan(e->matcher));
        note_devices(r->frame, e->matcher);
    }
    r->knows_margins = pair->searched && pair->search.margin;
    for (size_t i = 0; i < hits->count && good; i++)
        if (!o->has_min_score || reaches(o, hits->items[i].peak.score))
            good = add_match(pair, &hits->items[i], crop);
    if (good && r->match_count == 0)
        good = add_best(e, pair, hits, crop);
    if (hits->cut_off && !o->quiet)
        message_note(r->frame, "there are more than %" PRId64 " peaks; only the best of them were "
                          "looked at, and worse matches are not reported",
                e->search.peaks);
    return good;
}
