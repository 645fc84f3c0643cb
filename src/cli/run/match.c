/* SPDX-License-Identifier: MIT */
#include "run/match.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "run/doubt.h"
#include "run/match_part.h"
#include "run/match_poses.h"
#include "run/match_rows.h"
#include "run/outcome.h"
#include "run/verify.h"
#include "run/weak.h"
#include "text.h"

static bool wants_map(const cli_options *o)
{
    return o->map || o->heatmap;
}

static const char *samples_of(int bits)
{
    return bits == 32 ? "32-bit" : bits == 16 ? "16-bit" : "8-bit";
}

enum { MOST_OF_NAME = 100 };

/* What a message about a frame calls the template: where there are several, by its name, of which the end says most. A log,
 * which --merge lets say the same, keeps names that are UTF-8. */
static void call_template(const cli_engine *e, const cli_template *tmpl, char (*text)[MOST_OF_NAME + 32])
{
    const char *name = tmpl->operand.given;
    const size_t length = strlen(name);

    if (e->count == 1 || !text_is_utf8(name)) {
        strcpy(*text, "the template");
        return;
    }
    size_t from = length > MOST_OF_NAME ? length - MOST_OF_NAME : 0;
    while (((unsigned char)name[from] & 0xC0) == 0x80)
        from++; /* within a character */
    snprintf(*text, sizeof *text, "the template %s%s", from > 0 ? "..." : "", name + from);
}

bool match_fail_bits(io_error *error, int bits, const char *tmpl, int template_bits)
{
    snprintf(error->reason, sizeof error->reason,
             "%s samples, and %s has %s ones; %s says how to compare them",
             samples_of(bits), tmpl, samples_of(template_bits),
             bits == 32 || template_bits == 32 ? "--depth float" : "--depth 8 or --depth 16");
    return false;
}

/* That a frame which comes by rows cannot be brought to --depth, match_rows says. */
static bool agree(const cli_engine *e, const cli_input *frame, const cli_template *tmpl, io_error *error)
{
    const int bits = 8 * io_sample_size(&frame->gray);
    const int template_bits = 8 * io_sample_size(&tmpl->input.gray);
    if (bits == template_bits || (frame->rows && e->options->depth))
        return true;
    char called[MOST_OF_NAME + 32];
    call_template(e, tmpl, &called);
    return match_fail_bits(error, bits, called, template_bits);
}

static bool fits(const cli_engine *e, const cli_input *frame, const cli_template *tmpl,
                 io_error *error)
{
    char called[MOST_OF_NAME + 32];
    const int64_t width = frame->gray.width;
    const int64_t height = e->options->has_rows ? frame->whole_height : frame->gray.height;
    if (tmpl->width <= width && tmpl->height <= height)
        return true;
    const bool part = width != frame->whole_width || height != frame->whole_height;
    const bool swapped = e->alone && e->count == 1 && !part && tmpl->width >= width &&
                         tmpl->height >= height;
    call_template(e, tmpl, &called);
    snprintf(error->reason, sizeof error->reason,
             "%s, %" PRId64 "x%" PRId64 ", is larger than the %s, %" PRId64 "x%" PRId64 "%s",
             called, tmpl->width, tmpl->height, part ? "frame's region" : "frame", width, height,
             swapped ? ": are the two swapped?" : "");
    return false;
}

static bool has_colors(const cli_input *frame, const cli_template *tmpl)
{
    return frame->color.samples && tmpl->input.color.samples;
}

/* Whether frame and template can be compared at all. */
static bool is_comparable(const cli_engine *e, const cli_input *frame,
                          const cli_templates *templates, size_t i, io_error *error)
{
    const cli_template *tmpl = &templates->list[i];
    const bool color = has_colors(frame, tmpl);
    if (e->options->posed) /* a template that is larger than the frame may fit in some poses */
        return agree(e, frame, tmpl, error) &&
               (e->posed[color][i] || library_fail(error, NULL, TM_ERR_FLAT_TEMPLATE));
    return fits(e, frame, tmpl, error) && agree(e, frame, tmpl, error) &&
           (e->prepared[color][i] || library_fail(error, NULL, TM_ERR_FLAT_TEMPLATE));
}

/* Whether the template can be matched with a frame that comes by rows. Of --mask, which is every
 * template's, match_rows says that it cannot. */
static bool suits_rows(const cli_engine *e, const cli_input *frame, const cli_template *tmpl,
                       io_error *error)
{
    if (!frame->rows || e->options->mask || tmpl->pixels == tmpl->width * tmpl->height)
        return true;
    snprintf(error->reason, sizeof error->reason,
             "--max-memory has no room for %" PRId64 "x%" PRId64
             " pixels, and a template with transparent pixels needs them all",
             frame->gray.width, frame->gray.height);
    return false;
}

static void note_luma(const cli_engine *e, const cli_input *frame, const cli_template *tmpl,
                      const cli_pair *pair)
{
    if (!e->options->quiet && !frame->color.samples != !tmpl->input.color.samples)
        message_note(pair->result.frame, "the %s has no colours: compared by luma",
                frame->color.samples ? "template" : "frame");
}

/* Makes a result of hits that are in the crop, with what the engine's matcher says of the search. */
static bool take_hits(const cli_engine *e, cli_pair *pair, const tm_hits *hits, const io_crop *crop)
{
    outcome_of_search(e, &pair->result);
    const bool good = outcome_take_hits(e->options, pair, hits, crop->x, crop->y);
    if (hits->cut_off)
        outcome_cut_off(e, &pair->result);
    return good;
}

static bool match_one(const cli_engine *e, const cli_input *frame, const io_crop *crop,
                      const cli_templates *templates, size_t i, cli_pair *pair)
{
    const cli_template *tmpl = &templates->list[i];
    const bool color = has_colors(frame, tmpl);
    const tm_device_image view = input_view(frame, color), *image = &view;
    tm_hits hits;
    if (e->options->has_rows) {
        note_luma(e, frame, tmpl, pair);
        return match_part(e, frame, &image->image, color, i, pair);
    }
    if (e->options->verify && image->image.type == TM_SAMPLE_F32) {
        strcpy(pair->error.reason, "--verify compares bits, and scores of float samples "
                                   "are exact only within a bound");
        return false;
    }
    note_luma(e, frame, tmpl, pair);
    if (e->options->posed)
        return match_poses(e, frame, image, color, crop, i, pair);
    pair->searched = doubt_search(e, i, &pair->result, &pair->search);
    if (wants_map(e->options) &&
        !score_map_create(&pair->map, &e->options->settings, &image->image, tmpl->width, tmpl->height,
                          &pair->error))
        return false;
    if (!engine_find_one(e, e->matcher, image, e->prepared[color][i], &hits, &pair->map, pair))
        return false;
    bool good = take_hits(e, pair, &hits, crop) &&
                (!e->options->verify || verify_pair(e, image, color, templates, i, &hits, pair));
    tm_hits_free(&hits);
    good = good && doubt_judge(e, image, color, i, pair);
    if (good)
        doubt_hints(e, frame, image, color, i, pair);
    return good;
}

/* False where it fails: then each template is tried by itself. */
static bool match_together(const cli_engine *e, const cli_input *frame, const tm_device_image *image,
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
    if (engine_find(e, e->matcher, image, e->chosen, count, searched ? &search : NULL, e->hits, NULL) !=
        TM_OK)
        return false;
    for (size_t k = 0; k < count; k++) {
        cli_pair *pair = &pairs[e->order[k]];
        pair->searched = searched;
        pair->search = search;
        pair->done = take_hits(e, pair, &e->hits[k], crop);
        tm_hits_free(&e->hits[k]);
    }
    for (size_t k = 0; k < count; k++) {
        cli_pair *pair = &pairs[e->order[k]];
        pair->done = pair->done && doubt_judge(e, image, false, e->order[k], pair);
        pair->lasting = pair->done;
        if (pair->done)
            doubt_hints(e, frame, image, false, e->order[k], pair);
    }
    return true;
}

/* Whether they are matched in one call. A device gets the frame once for all templates then, and the CPU may search many
 * of one size together; few are matched one by one, so that each has its own times. */
static bool go_together(const cli_engine *e, const cli_templates *templates, size_t count)
{
    enum { MANY = 16 };
    size_t alike = 0;

    if (count < 2 || wants_map(e->options) || e->options->verify || e->options->color || e->options->posed ||
        e->options->has_rows || weak_sets_thresholds(e->options))
        return false;
    for (size_t k = 0; k < count; k++) {
        const cli_template *tmpl = &templates->list[e->order[k]], *first = &templates->list[e->order[0]];
        alike += tmpl->width == first->width && tmpl->height == first->height;
    }
    return e->settings.device == TM_DEVICE_CUDA || (alike >= MANY && e->settings.strategy != TM_STRATEGY_EXHAUSTIVE);
}

/* Where the frame is matched by rows, all templates are matched together or none is. */
static void match_by_rows(const cli_engine *e, const cli_input *frame, const io_crop *crop,
                          size_t count, cli_pair *pairs)
{
    io_error error;
    const bool good = count == 0 || match_rows(e, frame, crop, count, pairs, &error);

    if (!good && !io_source_late(&frame->source, NULL))
        message(pairs[e->order[0]].result.frame, "%s", error.reason);
    for (size_t k = 0; k < count; k++) {
        cli_pair *pair = &pairs[e->order[k]];
        tm_hit hit = {.peak = e->peaks[k], .margin = NAN};
        const tm_hits hits = {.items = &hit, .count = 1, .best = e->peaks[k]};
        if (good)
            pair->done = pair->lasting = take_hits(e, pair, &hits, crop) &&
                                         doubt_judge(e, NULL, false, e->order[k], pair);
        else
            pair->error = error;
    }
}

/* Lists the templates that can be matched in e->order, and returns their number. The others get
 * the reason why not. */
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
        } else if (!suits_rows(e, frame, tmpl, &pair->error)) {
            message(pair->result.frame, "%s", pair->error.reason);
        } else {
            e->order[count++] = i;
        }
    }
    return count;
}

void match_frame(const cli_engine *e, const cli_input *frame, const io_crop *crop,
                      const cli_templates *templates, cli_pair *pairs)
{
    const tm_device_image image = input_view(frame, false);
    const size_t count = choose(e, frame, templates, pairs);

    if (frame->rows) {
        match_by_rows(e, frame, crop, count, pairs);
        return;
    }
    if (go_together(e, templates, count) && match_together(e, frame, &image, crop, pairs, count))
        return;
    for (size_t k = 0; k < count && !io_source_late(&frame->source, NULL); k++) {
        cli_pair *pair = &pairs[e->order[k]];
        pair->done = match_one(e, frame, crop, templates, e->order[k], pair);
        pair->lasting |= pair->done;
        if (!pair->done)
            message(pair->result.frame, "%s", pair->error.reason);
    }
}
