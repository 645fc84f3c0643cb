/* SPDX-License-Identifier: MIT */
#include "run/doubt.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "run/weak.h"

/* Whether a score below 0 means the opposite of a match. */
static bool has_sign(tm_metric metric)
{
    return metric == TM_METRIC_LCC || metric == TM_METRIC_CCOEFF;
}

bool doubt_search(const cli_engine *e, size_t index, const cli_result *r, tm_search *search)
{
    const cli_options *o = e->options;

    *search = e->search;
    if (weak_sets_thresholds(o))
        search->min_score = (float)weak_least_score(weak_most_pixels(o, r->template_pixels));
    else if (!o->has_min_score && o->most_matches != 1 && has_sign(o->settings.metric))
        search->min_score = FLT_MIN; /* more than 0 */
    search->only_matches = o->only_matches;
    if (e->doubtful[index])
        search->margin = 1;
    return e->searches || e->doubtful[index];
}

/* The best score at other places, or what it is below. */
static double rest_of(double margin, double below)
{
    return isnan(margin) ? below : margin;
}

/* The best score outside the best match's overlap, by one more search of the frame. */
static bool look_again(const cli_engine *e, const tm_device_image *image, bool color, size_t index,
                       cli_pair *pair, double *rest)
{
    const tm_template *tmpl = e->prepared[color][index];
    tm_search search = e->search;
    tm_posed_hits posed = {0};
    tm_hits hits = {0};

    search.most = 1;
    search.min_score = NAN;
    search.margin = 1;
    search.subpixel = 0;
    const tm_status status =
        e->options->posed
            ? tm_match_posed(e->matcher, &image->image, e->posed[color][index], &search, &posed)
            : engine_peaks(e->matcher, image, &tmpl, 1, &search, &hits, NULL);
    if (status != TM_OK)
        return library_fail(&pair->error, e->matcher, status);
    *rest = posed.count ? rest_of(posed.items[0].margin, posed.items[0].margin_below) : hits.items[0].margin;
    tm_posed_hits_free(&posed);
    tm_hits_free(&hits);
    pair->result.times.kernel += tm_matcher_times(e->matcher).kernel;
    pair->result.times.total += tm_matcher_times(e->matcher).total;
    return true;
}

void doubt_mark(cli_result *r, double rest, bool unknown)
{
    for (size_t i = 0; i < r->match_count; i++) {
        cli_match *m = &r->matches[i];
        m->weak = unknown || weak_is(m->score, rest, m->pixels);
        r->weak_count += m->weak;
    }
    r->rest = rest;
}

bool doubt_is_settled(const cli_options *o, const cli_result *r)
{
    /* with -n 0 all matches reach the least score */
    return !weak_is_judged(o) || r->match_count == 0 ||
           (o->most_matches == 0 && r->matches[0].score >= weak_least_score(r->matches[0].pixels));
}

/* Several matches are compared with the best score that is not among them, as they may be copies of
 * one thing. */
bool doubt_judge(const cli_engine *e, const tm_device_image *image, bool color, size_t index,
                 cli_pair *pair)
{
    cli_result *r = &pair->result;
    if (doubt_is_settled(e->options, r))
        return true;
    const cli_match *best = &r->matches[0];
    double rest = rest_of(r->matches[r->match_count - 1].margin, r->matches[r->match_count - 1].margin_below);
    const bool doubtful = weak_needs_rest(best->score, best->pixels);

    if (doubtful && !r->knows_margins && image && !look_again(e, image, color, index, pair, &rest))
        return false;
    doubt_mark(r, rest, doubtful && !r->knows_margins && !image);
    e->doubtful[index] = doubtful;
    return true;
}

/* Whether all pixels are the same. Of what only a device has nothing is said. */
static bool is_flat(const tm_image *gray, size_t sample)
{
    const uint8_t *first = gray->samples, *row = first;
    const size_t bytes = (size_t)gray->width * sample;
    bool flat = first && memcmp(first, first + sample, bytes - sample) == 0;

    for (int64_t y = 1; y < gray->height && flat; y++) {
        row += gray->stride;
        flat = memcmp(first, row, bytes) == 0;
    }
    return flat;
}

/* Counts positions that score as the best does. It takes another search, which is worth it for a
 * single frame. */
static void count_equal(const cli_engine *e, const tm_device_image *image, const tm_template *tmpl,
                        cli_result *r)
{
    tm_search search = e->search;
    tm_hits hits;

    search.most = RESULT_MOST_EQUAL;
    search.min_score = r->matches[0].score;
    search.margin = search.subpixel = 0;
    if (engine_peaks(e->matcher, image, &tmpl, 1, &search, &hits, NULL) != TM_OK)
        return; /* then there is no hint */
    r->equal = (int)hits.count;
    tm_hits_free(&hits);
}

void doubt_hints(const cli_engine *e, const cli_input *frame, const tm_device_image *image,
                 bool color, size_t index, cli_pair *pair)
{
    cli_result *r = &pair->result;
    const cli_options *o = e->options;

    if (o->quiet || r->match_count == 0)
        return;
    const tm_image gray = input_image(frame, false);
    r->flat = r->weak_count > 0 && r->matches[0].score == 0 && is_flat(&gray, (size_t)io_sample_size(&frame->gray));
    if (e->alone && r->weak_count == 0 && o->most_matches == 1 && frame->gray.colored && !o->color &&
        !o->posed)
        count_equal(e, image, e->prepared[color][index], r);
}
