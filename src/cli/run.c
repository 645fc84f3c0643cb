/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "input.h"
#include "map.h"
#include "message.h"
#include "output.h"
#include "report.h"
#include "template.h"
#include "verify.h"

typedef struct runner {
    const cli_options *options;
    io_limits limits;
    cli_engine engine;
    cli_operand *frames;
    cli_template *templates;
    int usable; /* templates */
    cli_report report;
    bool found, failed;
} runner;

static void note_times(const cli_result *result)
{
    const tm_times *t = &result->times;
    message(result->frame,
            "read=%.3f to_device=%.3f kernel=%.3f from_device=%.3f match=%.3f total=%.3f ms",
            result->read_ms, t->to_device, t->kernel, t->from_device, t->total,
            result->read_ms + t->total);
}

static void note_devices(const cli_result *result, const tm_matcher *matcher)
{
    tm_device_report reports[64];
    const size_t count = tm_matcher_reports(matcher, reports, 64);
    for (size_t i = 0; i < count && i < 64; i++) {
        const tm_device_report *d = &reports[i];
        message(result->frame,
                "cuda:%d: rows=%" PRId64 " start=%.3f busy=%.3f wait=%.3f ms, %" PRId64
                " bytes to it, %" PRId64 " from it",
                d->index, d->rows, d->start_ms, d->busy_ms, d->wait_ms, d->bytes_to_device,
                d->bytes_from_device);
    }
}

static void note_verification(const runner *r, const cli_result *result)
{
    const verification *v = result->verification;
    if (!v || verify_passed(v)) {
        if (v && r->options->format == CLI_CSV && !r->options->quiet)
            message(result->frame, "verify: %" PRId64 " positions, none differs", v->positions);
        return;
    }
    if (v->differing)
        message(result->frame, "%" PRId64 " of %" PRId64 " scores differ from the definition's",
                v->differing, v->positions);
    else
        message(result->frame, "the best match differs from the definition's");
}

static bool write_outputs(const runner *r, const cli_input *frame, const cli_result *result,
                          const score_map *map)
{
    const cli_options *o = r->options;
    io_error error;
    bool written = true;

    if (o->map && !output_map(o->map, map, &error)) {
        message(o->map, "%s", error.reason);
        written = false;
    }
    if (o->output && !result->found) {
        if (!o->quiet)
            message(o->output, "not written: nothing reaches --min-score");
    } else if (o->output && !output_annotated(o->output, frame, &r->limits, result,
                                              o->settings.metric, &error)) {
        message(o->output, "%s", error.reason);
        written = false;
    }
    return written;
}

/* False when standard output has failed: there is nobody to work for. */
static bool fail_pair(runner *r, const cli_operand *frame, const cli_template *tmpl,
                      const char *reason)
{
    r->failed = true;
    return report_failure(&r->report, operand_name(frame), tmpl->operand.given, reason);
}

static bool finish_pair(runner *r, const cli_input *frame, const cli_result *result,
                        const score_map *map)
{
    const cli_options *o = r->options;

    if (!o->quiet && *tm_matcher_warning(r->engine.matcher))
        message(result->frame, "warning: %s", tm_matcher_warning(r->engine.matcher));
    if (o->verbose) {
        message(result->frame, "%s", tm_matcher_plan(r->engine.matcher));
        note_devices(result, r->engine.matcher);
    }
    if (o->time && o->format != CLI_JSON)
        note_times(result);
    const bool printed = report_result(&r->report, result);
    note_verification(r, result);
    if (result->verification && !verify_passed(result->verification))
        r->failed = true;
    if (!write_outputs(r, frame, result, map))
        r->failed = true;
    if (result->found)
        r->found = true;
    return printed;
}

static bool run_pair(runner *r, const cli_operand *operand, const cli_input *frame,
                     const cli_template *tmpl)
{
    cli_result result = {.frame = operand_name(operand),
                         .tmpl = tmpl->operand.given,
                         .frame_width = frame->whole_width,
                         .frame_height = frame->whole_height,
                         .template_width = tmpl->width,
                         .template_height = tmpl->height,
                         .read_ms = frame->read_ms};
    verification outcome;
    score_map map = {0};
    io_error error;
    bool printed;

    if (!tmpl->prepared)
        return fail_pair(r, operand, tmpl, tmpl->error.reason);
    if (cli_engine_match(&r->engine, frame, tmpl, &result, &map, &outcome, &error)) {
        result.peak.x += operand->crop.x;
        result.peak.y += operand->crop.y;
        printed = finish_pair(r, frame, &result, &map);
    } else {
        message(operand_name(operand), "%s", error.reason);
        printed = fail_pair(r, operand, tmpl, error.reason);
    }
    score_map_free(&map);
    return printed;
}

static bool run_frame(runner *r, const cli_operand *operand)
{
    cli_input frame;
    io_error error;
    bool printed = true;
    const int count = r->options->template_count;

    if (r->usable == 0) {
        for (int i = 0; i < count && printed; i++)
            printed = fail_pair(r, operand, &r->templates[i], r->templates[i].error.reason);
        return printed;
    }
    if (!input_load(&frame, operand, &r->limits, &error)) {
        message(operand_name(operand), "%s", error.reason);
        for (int i = 0; i < count && printed; i++)
            printed = fail_pair(r, operand, &r->templates[i], error.reason);
        return printed;
    }
    if (r->options->verbose)
        input_describe(&frame, operand);
    for (int i = 0; i < count && printed; i++)
        printed = run_pair(r, operand, &frame, &r->templates[i]);
    input_free(&frame);
    return printed;
}

static void load_templates(runner *r)
{
    const cli_options *o = r->options;
    io_error error;

    for (int i = 0; i < o->template_count; i++) {
        cli_template *tmpl = &r->templates[i];
        if (!cli_template_load(tmpl, r->engine.matcher, r->engine.oracle, &r->limits, o->verbose)) {
            message(operand_name(&tmpl->operand), "%s", tmpl->error.reason);
            r->failed = true;
            continue;
        }
        r->usable++;
        if (o->dump_template && !output_template(o->dump_template, tmpl->prepared, tmpl->width,
                                                 tmpl->height, &error)) {
            message(o->dump_template, "%s", error.reason);
            r->failed = true;
        }
    }
}

static bool is_standard_input(const cli_operand *operand)
{
    return operand->path && strcmp(operand->path, "-") == 0;
}

static bool init_operands(runner *r)
{
    const cli_options *o = r->options;
    int from_standard_input = 0;

    r->frames = calloc((size_t)o->frame_count, sizeof *r->frames);
    r->templates = calloc((size_t)o->template_count, sizeof *r->templates);
    if (!r->frames || !r->templates) {
        message(NULL, "out of memory");
        return false;
    }
    for (int i = 0; i < o->frame_count; i++) {
        operand_init(&r->frames[i], o->frames[i]);
        from_standard_input += is_standard_input(&r->frames[i]);
    }
    for (int i = 0; i < o->template_count; i++) {
        operand_init(&r->templates[i].operand, o->templates[i]);
        from_standard_input += is_standard_input(&r->templates[i].operand);
    }
    if (from_standard_input > 1)
        message(NULL, "standard input ('-') can be only one of the pictures");
    return from_standard_input <= 1;
}

static bool check_outputs(const runner *r)
{
    const cli_options *o = r->options;
    bool good = output_check(o, r->frames, o->frame_count);
    for (int i = 0; i < o->template_count && good; i++)
        good = output_check(o, &r->templates[i].operand, 1);
    return good;
}

static void free_operands(runner *r)
{
    for (int i = 0; r->frames && i < r->options->frame_count; i++)
        operand_free(&r->frames[i]);
    for (int i = 0; r->templates && i < r->options->template_count; i++)
        cli_template_free(&r->templates[i]);
    free(r->frames);
    free(r->templates);
}

cli_exit cli_run(const cli_options *options)
{
    runner r = {.options = options, .limits = {options->max_pixels}};

    if (init_operands(&r) && check_outputs(&r) && cli_engine_open(&r.engine, options)) {
        bool printed = report_begin(&r.report, options, stdout);
        load_templates(&r);
        for (int i = 0; i < options->frame_count && printed; i++)
            printed = run_frame(&r, &r.frames[i]);
        if (!printed) {
            message(NULL, "standard output: %s", strerror(r.report.error));
            r.failed = true;
        }
    } else {
        r.failed = true;
    }
    free_operands(&r);
    cli_engine_close(&r.engine);
    return r.failed ? CLI_FAILED : r.found ? CLI_FOUND : CLI_NOT_FOUND;
}
