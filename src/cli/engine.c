/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"

static bool open_matcher(tm_matcher **matcher, const tm_settings *settings)
{
    const tm_status status = tm_matcher_create(matcher, settings);
    if (status != TM_OK)
        message(NULL, "%s", library_reason(*matcher, status));
    return status == TM_OK;
}

bool cli_engine_open(cli_engine *e, const cli_options *options)
{
    *e = (cli_engine){.options = options};
    if (!open_matcher(&e->matcher, &options->settings))
        return false;
    if (!options->verify)
        return true;
    tm_settings settings = options->settings;
    settings.device = TM_DEVICE_CPU;
    settings.device_mask = 0;
    settings.algorithm = TM_ALGORITHM_REFERENCE;
    return open_matcher(&e->oracle, &settings);
}

void cli_engine_close(cli_engine *e)
{
    tm_matcher_destroy(&e->matcher);
    tm_matcher_destroy(&e->oracle);
}

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

static bool match(tm_matcher *matcher, const tm_image *image, const tm_template *tmpl,
                  tm_peak *peak, const score_map *map, io_error *error)
{
    tm_map view = score_map_view(map);
    const tm_status status = tm_match(matcher, image, tmpl, peak, map->data ? &view : NULL);
    if (status != TM_OK)
        snprintf(error->reason, sizeof error->reason, "%s", library_reason(matcher, status));
    return status == TM_OK;
}

static bool same_peak(const tm_peak *a, const tm_peak *b)
{
    return a->x == b->x && a->y == b->y && memcmp(&a->score, &b->score, sizeof a->score) == 0;
}

/* Where no map was asked for, the match ran without one, which may take another
 * way to its peak: so it runs again, and the two peaks must agree as well. */
static bool verify(const cli_engine *e, const tm_image *image, const cli_template *tmpl,
                   const tm_peak *peak, score_map *map, verification *outcome, io_error *error)
{
    tm_peak mapped = *peak, truth;
    score_map truth_map = {0};
    bool done = false;

    if (!map->data && (!reserve_map(e, map, image, tmpl, error) ||
                       !match(e->matcher, image, tmpl->prepared, &mapped, map, error)))
        return false;
    if (reserve_map(e, &truth_map, image, tmpl, error) &&
        match(e->oracle, image, tmpl->truth, &truth, &truth_map, error)) {
        *outcome = verify_compare(map, &truth_map);
        outcome->same_peak = same_peak(peak, &truth) && same_peak(&mapped, &truth);
        done = true;
    }
    score_map_free(&truth_map);
    return done;
}

static bool fits(const tm_image *image, const cli_template *tmpl, io_error *error)
{
    if (tmpl->width <= image->width && tmpl->height <= image->height)
        return true;
    snprintf(error->reason, sizeof error->reason,
             "the template, %" PRId64 "x%" PRId64 ", is larger than the frame, %" PRId64
             "x%" PRId64,
             tmpl->width, tmpl->height, image->width, image->height);
    return false;
}

bool cli_engine_match(const cli_engine *e, const cli_input *frame, const cli_template *tmpl,
                      cli_result *result, score_map *map, verification *outcome, io_error *error)
{
    const cli_options *o = e->options;
    const tm_image image = input_image(frame);

    if (!fits(&image, tmpl, error) || (o->map && !reserve_map(e, map, &image, tmpl, error)) ||
        !match(e->matcher, &image, tmpl->prepared, &result->peak, map, error))
        return false;
    result->times = tm_matcher_times(e->matcher);
    result->found = !o->has_min_score || result->peak.score >= o->min_score;
    if (o->verify) {
        if (!verify(e, &image, tmpl, &result->peak, map, outcome, error))
            return false;
        result->verification = outcome;
    }
    result->algorithm = tm_matcher_algorithm(e->matcher);
    result->device = tm_matcher_device(e->matcher);
    return true;
}
