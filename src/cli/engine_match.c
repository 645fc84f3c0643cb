/* SPDX-License-Identifier: MIT */
/* One frame and all templates. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doubt.h"
#include "engine.h"
#include "message.h"
#include "rows.h"

static bool reserve_map(const cli_engine *e, score_map *map, const tm_image *image,
                        const cli_template *tmpl, io_error *error)
{
    const tm_status status =
        score_map_create(map, &e->options->settings, image, tmpl->width, tmpl->height);
    if (status == TM_ERR_MEMORY)
        snprintf(error->reason, sizeof error->reason,
                 "out of memory for a score map of %" PRId64 "x%" PRId64, map->width, map->height);
    else if (status != TM_OK)
        snprintf(error->reason, sizeof error->reason, "%s", tm_strerror(status));
    return status == TM_OK;
}

/* Matches several templates, by a search or for the best match alone; hits are the caller's,
 * empty where it fails. */
static tm_status find(const cli_engine *e, tm_matcher *matcher, const tm_image *image,
                      const tm_template *const *tmpls, size_t count, const tm_search *search,
                      tm_hits *hits, const tm_map *map)
{
    if (search)
        return tm_match_peaks(matcher, image, tmpls, count, search, hits, map);
    memset(hits, 0, count * sizeof *hits);
    tm_status status = tm_match_many(matcher, image, tmpls, count, e->peaks, map);
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        hits[i].items = calloc(1, sizeof *hits[i].items);
        if (hits[i].items) {
            hits[i].items->peak = e->peaks[i];
            hits[i].items->margin = NAN;
            hits[i].count = 1;
            hits[i].best = e->peaks[i];
        } else {
            status = TM_ERR_MEMORY;
        }
    }
    for (size_t i = 0; i < count && status != TM_OK; i++)
        tm_hits_free(&hits[i]);
    return status;
}

static bool match(const cli_engine *e, tm_matcher *matcher, const tm_image *image,
                  const tm_template *tmpl, tm_hits *hits, const score_map *map, cli_pair *pair)
{
    const tm_map view = score_map_view(map);
    const tm_search *search = pair->searched ? &pair->search : NULL;
    const tm_status status =
        find(e, matcher, image, &tmpl, 1, search, hits, map->data ? &view : NULL);
    pair->lasting = status == TM_ERR_NO_POSITION;
    return status == TM_OK || library_fail(&pair->error, matcher, status);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool same_hits(const tm_hits *a, const tm_hits *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        const tm_hit *p = &a->items[i], *q = &b->items[i];
        same = p->peak.x == q->peak.x && p->peak.y == q->peak.y &&
               same_bits(p->peak.score, q->peak.score) && same_bits(p->margin, q->margin);
    }
    return same;
}

/* Where no map was asked for, the match ran without one, which may take another
 * way to its peaks: so it runs again, and both must agree with the oracle's. */
static bool verify(const cli_engine *e, const tm_image *image, bool color,
                   const cli_templates *templates, size_t i, const tm_hits *hits, cli_pair *pair)
{
    const cli_template *tmpl = &templates->list[i];
    score_map *map = &pair->map;
    tm_hits mapped = {0}, truth = {0};
    score_map truth_map = {0};
    bool done = false;
    const bool again = !map->data;

    if (again && (!reserve_map(e, map, image, tmpl, &pair->error) ||
                  !match(e, e->matcher, image, e->prepared[color][i], &mapped, map, pair)))
        return false;
    if (reserve_map(e, &truth_map, image, tmpl, &pair->error) &&
        match(e, e->oracle, image, e->truths[color][i], &truth, &truth_map, pair)) {
        pair->result.verification = verify_compare(map, &truth_map);
        pair->result.verification.same_peak =
            same_hits(hits, &truth) && (!again || same_hits(&mapped, &truth));
        pair->result.verified = true;
        done = true;
    }
    tm_hits_free(&mapped);
    tm_hits_free(&truth);
    score_map_free(&truth_map);
    return done;
}

static bool wants_map(const cli_options *o)
{
    return o->map || o->heatmap;
}

static const char *samples_of(int bits)
{
    return bits == 32 ? "float" : bits == 16 ? "16-bit" : "8-bit";
}

static bool agree(const cli_input *frame, const cli_template *tmpl, io_error *error)
{
    const int bits = 8 * io_sample_size(&frame->gray);
    const int template_bits = 8 * io_sample_size(&tmpl->input.gray);
    if (bits == template_bits)
        return true;
    snprintf(error->reason, sizeof error->reason,
             "%s samples, and the template has %s ones; %s says how to compare them",
             samples_of(bits), samples_of(template_bits),
             bits == 32 || template_bits == 32 ? "--depth float" : "--depth 8 or --depth 16");
    return false;
}

static bool fits(const cli_engine *e, const cli_input *frame, const cli_template *tmpl,
                 io_error *error)
{
    const int64_t width = frame->gray.width, height = frame->gray.height;
    if (tmpl->width <= width && tmpl->height <= height)
        return true;
    const bool part = width != frame->whole_width || height != frame->whole_height;
    const bool swapped = e->alone && e->count == 1 && !part && tmpl->width >= width &&
                         tmpl->height >= height;
    snprintf(error->reason, sizeof error->reason,
             "the template, %" PRId64 "x%" PRId64 ", is larger than the %s, %" PRId64
             "x%" PRId64 "%s",
             tmpl->width, tmpl->height, part ? "frame's region" : "frame", width, height,
             swapped ? ": are the two swapped?" : "");
    return false;
}

static bool has_colors(const cli_input *frame, const cli_template *tmpl)
{
    return frame->color.samples && tmpl->input.color.samples;
}

/* Whether they can be compared at all. */
static bool is_comparable(const cli_engine *e, const cli_input *frame,
                          const cli_templates *templates, size_t i, io_error *error)
{
    const cli_template *tmpl = &templates->list[i];
    return fits(e, frame, tmpl, error) && agree(frame, tmpl, error) &&
           (e->prepared[has_colors(frame, tmpl)][i] ||
            library_fail(error, NULL, TM_ERR_FLAT_TEMPLATE));
}

static void note_luma(const cli_engine *e, const cli_input *frame, const cli_template *tmpl,
                      const cli_pair *pair)
{
    if (!e->options->quiet && !frame->color.samples != !tmpl->input.color.samples)
        message_note(pair->result.frame, "the %s has no colours: compared by luma",
                frame->color.samples ? "template" : "frame");
}

static bool match_one(const cli_engine *e, const cli_input *frame, const io_crop *crop,
                      const cli_templates *templates, size_t i, cli_pair *pair)
{
    const cli_template *tmpl = &templates->list[i];
    const bool color = has_colors(frame, tmpl);
    const tm_image view = input_image(frame, color), *image = &view;
    tm_hits hits;
    if (e->options->verify && image->type == TM_SAMPLE_F32) {
        strcpy(pair->error.reason, "--verify compares bits, and the scores of floats have a bound "
                                   "instead");
        return false;
    }
    note_luma(e, frame, tmpl, pair);
    pair->searched = doubt_search(e, i, &pair->result, &pair->search);
    if (wants_map(e->options) && !reserve_map(e, &pair->map, image, tmpl, &pair->error))
        return false;
    if (!match(e, e->matcher, image, e->prepared[color][i], &hits, &pair->map, pair))
        return false;
    bool good = cli_engine_take(e, pair, &hits, crop) &&
                (!e->options->verify || verify(e, image, color, templates, i, &hits, pair));
    tm_hits_free(&hits);
    good = good && doubt_judge(e, image, e->prepared[color][i], i, pair);
    if (good)
        doubt_hints(e, frame, image, e->prepared[color][i], pair);
    return good;
}

/* False where it fails: then each template is tried by itself. */
static bool match_together(const cli_engine *e, const cli_input *frame, const tm_image *image,
                           const io_crop *crop, cli_pair *pairs, size_t count)
{
    tm_search search;
    bool searched = false;

    for (size_t k = 0; k < count; k++) {
        const size_t i = e->order[k];
        e->chosen[k] = e->prepared[0][i];
        searched |= doubt_search(e, i, &pairs[i].result, &pairs[i].search);
        if (k == 0 || pairs[i].search.margin)
            search = pairs[i].search;
    }
    if (find(e, e->matcher, image, e->chosen, count, searched ? &search : NULL, e->hits, NULL) !=
        TM_OK)
        return false;
    for (size_t k = 0; k < count; k++) {
        cli_pair *pair = &pairs[e->order[k]];
        pair->searched = searched;
        pair->search = search;
        pair->done = cli_engine_take(e, pair, &e->hits[k], crop);
        tm_hits_free(&e->hits[k]);
    }
    for (size_t k = 0; k < count; k++) {
        cli_pair *pair = &pairs[e->order[k]];
        pair->done = pair->done && doubt_judge(e, image, e->chosen[k], e->order[k], pair);
        pair->lasting = pair->done;
        if (pair->done)
            doubt_hints(e, frame, image, e->chosen[k], pair);
    }
    return true;
}

/* The templates that can be tried, to e->order; their number. */
static size_t choose(const cli_engine *e, const cli_input *frame, const cli_templates *templates,
                     cli_pair *pairs)
{
    const bool floats = input_image(frame, false).type == TM_SAMPLE_F32;
    size_t count = 0;
    for (size_t i = 0; i < templates->count; i++) {
        cli_pair *pair = &pairs[i];
        const cli_template *tmpl = &templates->list[i];
        pair->result.template_width = tmpl->width;
        pair->result.template_height = tmpl->height;
        pair->result.template_pixels = tmpl->pixels;
        pair->result.integers = !floats && tm_metric_is_integer(e->options->settings.metric);
        if (!tmpl->usable) {
            pair->error = tmpl->error;
            pair->lasting = tmpl->input.opened;
        } else if (!is_comparable(e, frame, templates, i, &pair->error)) {
            message(pair->result.frame, "%s", pair->error.reason);
            pair->lasting = true;
        } else {
            e->order[count++] = i;
        }
    }
    return count;
}

void cli_engine_match(const cli_engine *e, const cli_input *frame, const io_crop *crop,
                      const cli_templates *templates, cli_pair *pairs)
{
    const tm_image image = input_image(frame, false);
    const size_t count = choose(e, frame, templates, pairs);

    if (frame->rows) {
        cli_rows_match(e, frame, crop, count, pairs);
        return;
    }
    /* A device gets the frame once for all; on the CPU nothing is gained by it, and
     * each has its own times. */
    if (count > 1 && e->settings.device == TM_DEVICE_CUDA && !wants_map(e->options) &&
        !e->options->verify && !e->options->color && !doubt_searches_differ(e->options) &&
        match_together(e, frame, &image, crop, pairs, count))
        return;
    for (size_t k = 0; k < count; k++) {
        cli_pair *pair = &pairs[e->order[k]];
        pair->done = match_one(e, frame, crop, templates, e->order[k], pair);
        pair->lasting |= pair->done;
        if (!pair->done)
            message(pair->result.frame, "%s", pair->error.reason);
    }
}
