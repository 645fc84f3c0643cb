/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "batch/emit.h"
#include "batch/pipeline.h"
#include "batch/resume.h"
#include "engine.h"
#include "frames.h"
#include "message.h"
#include "output.h"
#include "output_check.h"
#include "template.h"

typedef struct runner {
    const cli_options *options;
    cli_frames frames, names; /* names: of the templates */
    cli_templates templates;
    cli_plan plan;
    cli_emitter emitter;
    cli_resume *resume;
    pipeline_settings pipeline;
    cli_engine *engines;
    size_t engine_count;
} runner;

static bool add_operands(cli_frames *frames, const char **operands, int count)
{
    for (int i = 0; i < count; i++)
        if (!frames_add(frames, operands[i])) {
            message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
            return false;
        }
    return true;
}

static int standard_inputs(const cli_frames *frames)
{
    int count = 0;
    for (size_t i = 0; i < frames->count; i++)
        count += frames->list[i].named && strncmp(frames->list[i].path, "-", 1) == 0 &&
                 strchr("[", frames->list[i].path[1]);
    return count;
}

static bool find_pictures(runner *r)
{
    const cli_options *o = r->options;

    r->frames.recursive = r->names.recursive = o->recursive;
    r->frames.not_below[0] = o->output;
    r->frames.not_below[1] = o->crops;
    if (!add_operands(&r->frames, o->frames, o->frame_count) ||
        !add_operands(&r->names, o->templates, o->template_count) ||
        (o->files_from && !frames_add_list(&r->frames, o->files_from, o->null_names ? '\0' : '\n')))
        return false;
    if (standard_inputs(&r->frames) + standard_inputs(&r->names) +
            (o->files_from && strcmp(o->files_from, "-") == 0) > 1) {
        message(NULL, "standard input ('-') can be only one of the pictures");
        return false;
    }
    if (cli_templates_init(&r->templates, &r->names))
        return true;
    message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    return false;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t count_cores(const cli_options *options)
{
    cpu_set_t cores;
    if (options->settings.threads > 0)
        return (size_t)options->settings.threads;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (size_t)CPU_COUNT(&cores) : 1;
}

/* On the CPU one thread a frame needs no barriers, as long as there are frames for
 * all cores. */
static void share_out(runner *r, tm_settings *settings)
{
    const size_t cores = count_cores(r->options), frames = r->frames.count;
    pipeline_settings *s = &r->pipeline;

    *settings = r->options->settings;
    s->devices = settings->device == TM_DEVICE_CUDA;
    s->workers = min_size(cores, frames ? frames : 1);
    if (r->options->in_flight)
        s->workers = min_size(s->workers, (size_t)r->options->in_flight);
    s->in_flight = s->devices ? 2 * s->workers + 2 : s->workers;
    if (r->options->in_flight)
        s->in_flight = (size_t)r->options->in_flight;
    s->engine_count = s->devices ? 1 : s->workers;
    if (!s->devices && s->workers > 1) {
        settings->device = TM_DEVICE_CPU;
        settings->threads = (int)(cores / s->workers);
    }
    if (r->options->verbose && frames > 1)
        message(NULL, "%zu frames, %zu at a time, at most %zu in memory", frames, s->workers,
                s->in_flight);
}

static bool open_engines(runner *r)
{
    tm_settings settings;

    share_out(r, &settings);
    r->engines = calloc(r->pipeline.engine_count, sizeof *r->engines);
    for (size_t i = 0; r->engines && i < r->pipeline.engine_count; i++) {
        r->engine_count++;
        if (!cli_engine_open(&r->engines[i], r->options, &settings, r->templates.count))
            return false;
    }
    if (!r->engines)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    r->pipeline.engines = r->engines;
    return r->engines != NULL;
}

/* Templates that fail go on to fail with every frame. */
static bool prepare_templates(runner *r)
{
    cli_templates_load(&r->templates, &r->plan.limits, r->options->verbose);
    cli_engine_judge(&r->engines[0], &r->templates);
    for (size_t i = 1; i < r->engine_count; i++)
        if (!cli_engine_prepare(&r->engines[i], &r->templates))
            return false;
    return true;
}

static bool dump_template(const runner *r)
{
    const cli_options *o = r->options;
    const cli_template *tmpl = &r->templates.list[0];
    io_error error;

    if (!o->dump_template || !tmpl->usable ||
        output_template(o->dump_template, r->engines[0].prepared[0], tmpl->width, tmpl->height,
                        &error))
        return true;
    message(o->dump_template, "%s", error.reason);
    return false;
}

/* False after a message. */
static bool open_log(runner *r)
{
    const bool good = !r->options->resume || resume_open(&r->resume, r->options, &r->templates);
    r->plan.resume = r->resume;
    return good;
}

static bool run_pipeline(runner *r, bool *interrupted)
{
    cli_emitter *e = &r->emitter;

    if (!prepare_templates(r) || !open_log(r) || !emitter_begin(e, &r->plan, r->resume))
        return false;
    e->failed = !dump_template(r) || r->templates.usable < r->templates.count;
    r->pipeline.finished = emitter_take;
    r->pipeline.data = e;
    return pipeline_run(&r->pipeline, interrupted);
}

static cli_exit match_all(runner *r)
{
    const cli_options *o = r->options;
    const cli_emitter *e = &r->emitter;
    bool interrupted = false;
    bool good = run_pipeline(r, &interrupted);

    good = resume_close(&r->resume) && good && !e->failed;
    if (e->report.error)
        message(NULL, "standard output: %s", strerror(e->report.error));
    if (interrupted || (e->lines && !o->quiet && e->frames != 1 &&
                        (r->frames.from_folders || o->resume || o->verbose)))
        emitter_summarize(e);
    return e->report.error ? CLI_FAILED
           : interrupted   ? CLI_INTERRUPTED
           : !good         ? CLI_FAILED
           : e->matches    ? CLI_FOUND
                           : CLI_NOT_FOUND;
}

cli_exit cli_run(const cli_options *options)
{
    runner r = {.options = options};
    cli_exit status = CLI_FAILED;

    r.plan = (cli_plan){.options = options,
                        .limits = {options->max_pixels},
                        .templates = &r.templates};
    r.pipeline.plan = &r.plan;
    r.pipeline.frames = &r.frames;
    if (find_pictures(&r) && output_check(options, &r.frames, &r.templates)) {
        r.plan.output_is_folder = output_is_folder(options, &r.frames);
        if (open_engines(&r))
            status = match_all(&r);
    }
    emitter_end(&r.emitter);
    for (size_t i = 0; i < r.engine_count; i++)
        cli_engine_close(&r.engines[i]);
    free(r.engines);
    cli_templates_free(&r.templates);
    frames_free(&r.names);
    frames_free(&r.frames);
    return status;
}
