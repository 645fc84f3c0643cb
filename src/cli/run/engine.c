/* SPDX-License-Identifier: MIT */
#include "run/engine.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "run/weak.h"

const char *library_reason(const tm_matcher *matcher, tm_status status)
{
    const char *reason = matcher ? tm_matcher_message(matcher) : "";
    return *reason ? reason : tm_strerror(status);
}

bool library_fail(io_error *error, const tm_matcher *matcher, tm_status status)
{
    snprintf(error->reason, sizeof error->reason, "%s", library_reason(matcher, status));
    return false;
}

static atomic_bool device_hangs, driver_hangs;

void engine_note_hangs(const cli_engine *e)
{
    if (tm_matcher_hung(e->matcher))
        device_hangs = true;
}

bool engine_device_hangs(void)
{
    return device_hangs;
}

void engine_note_driver_hangs(void)
{
    device_hangs = driver_hangs = true;
}

bool engine_driver_hangs(void)
{
    return driver_hangs;
}

static atomic_ullong devices_used;

static void note_devices(const cli_engine *e)
{
    enum { MOST = 64 };
    tm_device_report reports[MOST];
    const size_t count = tm_matcher_reports(e->matcher, reports, MOST);

    for (size_t i = 0; i < count && i < MOST; i++)
        if (reports[i].index < MOST)
            atomic_fetch_or(&devices_used, 1ULL << reports[i].index);
}

uint64_t engine_devices_used(void)
{
    return devices_used;
}

static bool open_matcher(tm_matcher **matcher, const tm_settings *settings)
{
    const tm_status status = tm_matcher_create(matcher, settings);
    const bool by_cufft = status == TM_ERR_NO_DEVICE && settings->algorithm == TM_ALGORITHM_CUFFT;
    if (status != TM_OK)
        message(NULL, "%s%s", library_reason(*matcher, status), by_cufft ? "; --algorithm cufft needs a GPU" : "");
    return status == TM_OK;
}

static bool open_oracle(cli_engine *e)
{
    tm_settings settings = e->settings;
    settings.device = TM_DEVICE_CPU;
    settings.device_mask = 0;
    settings.algorithm = TM_ALGORITHM_REFERENCE;
    settings.strategy = TM_STRATEGY_EXHAUSTIVE;
    if (e->options->posed) /* windows are verified one by one */
        settings.domain = TM_DOMAIN_VALID;
    return open_matcher(&e->oracle, &settings);
}

/* A search finds peaks, margins and fractions of positions; the best match alone needs none. */
static void set_search(cli_engine *e)
{
    const cli_options *o = e->options;
    tm_search_default(&e->search, sizeof e->search);
    e->search.most = o->most_matches;
    if (o->has_min_score)
        e->search.min_score = o->min_score;
    e->search.overlap = o->overlap;
    e->search.margin = o->format == CLI_JSON || o->resume || o->report ||
                       (o->most_matches > 1 && weak_is_judged(o));
    e->search.subpixel = o->subpixel;
    e->search.margin_ratio = o->posed ? TM_MARGIN_RATIO : 0; /* other places that are far worse take long to find */
    e->searches = o->most_matches != 1 || e->search.margin || o->subpixel;
}

bool engine_open(cli_engine *e, const cli_options *options, const tm_settings *settings,
                     size_t template_count)
{
    *e = (cli_engine){.options = options, .settings = *settings, .count = template_count};
    for (int color = 0; color < 2; color++) {
        e->prepared[color] = calloc(e->count + 1, sizeof *e->prepared[color]);
        e->truths[color] = calloc(e->count + 1, sizeof *e->truths[color]);
        e->posed[color] = calloc(e->count + 1, sizeof *e->posed[color]);
    }
    e->chosen = calloc(e->count + 1, sizeof *e->chosen);
    e->peaks = calloc(e->count + 1, sizeof *e->peaks);
    e->hits = calloc(e->count + 1, sizeof *e->hits);
    e->order = calloc(e->count + 1, sizeof *e->order);
    e->doubtful = calloc(e->count + 1, sizeof *e->doubtful);
    if (!e->prepared[0] || !e->prepared[1] || !e->truths[0] || !e->truths[1] || !e->posed[0] ||
        !e->posed[1] || !e->chosen ||
        !e->peaks || !e->hits || !e->order || !e->doubtful) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    set_search(e);
    return open_matcher(&e->matcher, settings) && (!options->verify || open_oracle(e));
}

static bool prepare_one(cli_engine *e, size_t i, const cli_template *tmpl, bool color,
                        io_error *error)
{
    const tm_image image = input_image(&tmpl->input, color);
    const bool posed = e->options->posed;
    tm_status status = posed ? tm_posed_template_create(&e->posed[color][i], e->matcher, &image,
                                                        &e->options->poses)
                             : tm_template_create(&e->prepared[color][i], e->matcher, &image);
    if (status == TM_ERR_FLAT_TEMPLATE && tmpl->input.gray.colored && !e->options->color && tmpl->pixels > 0) {
        strcpy(error->reason, "flat template: all its samples have one luma; --color may tell "
                              "them apart");
        return false;
    }
    if (status != TM_OK)
        return library_fail(error, e->matcher, status);
    if (e->oracle && !posed)
        status = tm_template_create(&e->truths[color][i], e->oracle, &image);
    return status == TM_OK || library_fail(error, e->oracle, status);
}

static void describe_axis(char *text, size_t size, const char *name, double from, double to,
                          double step)
{
    if (from == to || step == 0)
        snprintf(text, size, "%s %.10g", name, from);
    else
        snprintf(text, size, "%ss %.10g to %.10g in steps of %.10g", name, from, to, step);
}

/* "24 poses, angles 0 to 360 in steps of 15, scale 1; support disc" */
static void describe_poses(const cli_template *tmpl, const tm_posed_template *posed)
{
    tm_pose_grid grid = {.size = sizeof grid};
    char angles[96], scales[96];

    if (!posed || tm_posed_template_grid(posed, &grid) != TM_OK)
        return;
    describe_axis(angles, sizeof angles, "angle", grid.angle_from, grid.angle_to, grid.angle_step);
    describe_axis(scales, sizeof scales, "scale", grid.scale_from, grid.scale_to, grid.scale_step);
    const size_t count = tm_posed_template_count(posed);
    message_info(operand_name(&tmpl->operand), "%zu pose%s, %s, %s; support %s", count, count == 1 ? "" : "s", angles, scales,
                 grid.support == TM_SUPPORT_DISC ? "disc" : "full");
}

/* Prepares the template in gray and in colour. Colours may all have one luma: that is an error only
 * where luma is used, so the first result does not count. */
static bool prepare(cli_engine *e, size_t i, const cli_template *tmpl, io_error *error)
{
    if (!tmpl->input.color.samples)
        return prepare_one(e, i, tmpl, false, error);
    prepare_one(e, i, tmpl, false, error);
    return prepare_one(e, i, tmpl, true, error);
}

void engine_judge(cli_engine *e, cli_templates *templates)
{
    for (size_t i = 0; i < templates->count; i++) {
        cli_template *tmpl = &templates->list[i];
        if (tmpl->usable && !prepare(e, i, tmpl, &tmpl->error))
            cli_template_fail(templates, tmpl);
        else if (tmpl->usable && e->options->verbose)
            describe_poses(tmpl, e->posed[tmpl->input.color.samples != NULL][i]);
    }
}

bool engine_prepare(cli_engine *e, const cli_templates *templates)
{
    io_error error;
    for (size_t i = 0; i < templates->count; i++) {
        const cli_template *tmpl = &templates->list[i];
        if (tmpl->usable && !prepare(e, i, tmpl, &error)) {
            message(operand_name(&tmpl->operand), "%s", error.reason);
            return false;
        }
    }
    return true;
}

tm_status engine_peaks(tm_matcher *matcher, const tm_device_image *image,
                       const tm_template *const *tmpls, size_t count, const tm_search *search,
                       tm_hits *hits, const tm_map *map)
{
    return image->size ? tm_match_device_peaks(matcher, image, tmpls, count, search, hits, map)
                       : tm_match_peaks(matcher, &image->image, tmpls, count, search, hits, map);
}

tm_status engine_find(const cli_engine *e, tm_matcher *matcher, const tm_device_image *image,
                      const tm_template *const *tmpls, size_t count, const tm_search *search,
                      tm_hits *hits, const tm_map *map)
{
    if (search)
        return engine_peaks(matcher, image, tmpls, count, search, hits, map);
    memset(hits, 0, count * sizeof *hits);
    tm_status status = image->size ? tm_match_device(matcher, image, tmpls, count, e->peaks, map)
                                   : tm_match_many(matcher, &image->image, tmpls, count, e->peaks, map);
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

bool engine_find_one(const cli_engine *e, tm_matcher *matcher, const tm_device_image *image,
                     const tm_template *tmpl, tm_hits *hits, const score_map *map, cli_pair *pair)
{
    const tm_map view = score_map_view(map);
    const tm_search *search = pair->searched ? &pair->search : NULL;
    const tm_status status =
        engine_find(e, matcher, image, &tmpl, 1, search, hits, map->data ? &view : NULL);
    pair->lasting = status == TM_ERR_NO_POSITION;
    return status == TM_OK || library_fail(&pair->error, matcher, status);
}

void engine_close(cli_engine *e)
{
    for (int color = 0; color < 2; color++) {
        for (size_t i = 0; i < e->count; i++) {
            if (e->prepared[color])
                tm_template_destroy(&e->prepared[color][i]);
            if (e->posed[color])
                tm_posed_template_destroy(&e->posed[color][i]);
            if (e->truths[color])
                tm_template_destroy(&e->truths[color][i]);
        }
        free(e->prepared[color]);
        free(e->truths[color]);
        free(e->posed[color]);
    }
    free(e->chosen);
    free(e->peaks);
    free(e->hits);
    free(e->order);
    free(e->doubtful);
    engine_note_hangs(e);
    note_devices(e);
    tm_matcher_destroy(&e->matcher);
    tm_matcher_destroy(&e->oracle);
}
