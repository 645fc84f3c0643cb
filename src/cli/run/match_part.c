/* SPDX-License-Identifier: MIT */
#include "run/match_part.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "run/doubt.h"
#include "run/outcome.h"
#include "run/weak.h"

/* Makes the result of what these rows have by themselves. Where the frame's mask leaves no position in them,
 * nothing is found. */
static bool take_own(const cli_engine *e, size_t index, cli_pair *pair)
{
    const tm_part_hits *const own[] = {&pair->part};
    tm_hits hits;

    outcome_of_search(e, &pair->result);
    if (!pair->part.has_best)
        return true;
    const tm_status status = tm_merge_parts(own, 1, &pair->search, 0, &hits);
    if (status != TM_OK)
        return library_fail(&pair->error, NULL, status);
    const bool good = outcome_take_hits(e->options, pair, &hits, 0, 0) &&
                      doubt_judge(e, NULL, false, index, pair);
    if (good && hits.cut_off)
        outcome_cut_off(e, &pair->result);
    tm_hits_free(&hits);
    return good;
}

bool match_part(const cli_engine *e, const cli_input *frame, const tm_image *image, bool color,
                size_t index, cli_pair *pair)
{
    const cli_options *o = e->options;
    const tm_part part = {.size = sizeof part,
                          .frame_height = frame->whole_height,
                          .frame_first = frame->first_row,
                          .first = o->rows_first,
                          .end = o->rows_end};
    const tm_template *tmpl = e->prepared[color][index];
    cli_result *r = &pair->result;

    doubt_search(e, index, r, &pair->search);
    /* there is no other look at the frame that would tell whether matches are weak */
    pair->search.margin |= weak_is_judged(o);
    pair->searched = true;
    const tm_status status = tm_match_part(e->matcher, image, &part, &tmpl, 1, &pair->search, &pair->part);
    pair->lasting = status == TM_ERR_INVALID;
    if (status != TM_OK)
        return library_fail(&pair->error, e->matcher, status);
    r->has_rows = true;
    r->first_row = pair->part.first;
    r->end_row = pair->part.end;
    return take_own(e, index, pair);
}

static void log_position(FILE *out, const tm_part_hit *p)
{
    fprintf(out, "[%" PRId64 ",%" PRId64 ",%.17g,%" PRId64, p->hit.peak.x, p->hit.peak.y, p->hit.peak.score,
            p->rank);
    if (p->hit.dx != 0 || p->hit.dy != 0)
        fprintf(out, ",%.17g,%.17g", p->hit.dx, p->hit.dy);
    putc(']', out);
}

void match_part_log(FILE *out, const cli_pair *pair)
{
    const tm_part_hits *part = &pair->part;

    fprintf(out, ",\"part\":{\"map_rows\":%" PRId64 ",\"pixels\":%" PRId64, part->map_height,
            pair->result.template_pixels);
    if (!isnan(pair->search.min_score))
        fprintf(out, ",\"least\":%.17g", pair->search.min_score);
    fprintf(out, ",\"margin\":%s,\"cut_off\":%s", pair->search.margin ? "true" : "false",
            part->cut_off ? "true" : "false");
    if (part->has_best) {
        fputs(",\"top\":", out);
        log_position(out, &part->best);
    }
    fputs(",\"open\":[", out);
    for (size_t i = 0; i < part->count; i++) {
        if (i > 0)
            putc(',', out);
        log_position(out, &part->items[i]);
    }
    fputs("]}", out);
}
