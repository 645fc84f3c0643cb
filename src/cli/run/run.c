/* SPDX-License-Identifier: MIT */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "run/arguments.h"
#include "run/decoder.h"
#include "run/dump.h"
#include "run/emit.h"
#include "run/engine.h"
#include "run/feed.h"
#include "run/inputs.h"
#include "run/interval_files.h"
#include "run/layout.h"
#include "run/output_check.h"
#include "run/page/page.h"
#include "run/pictures.h"
#include "run/pipeline.h"
#include "run/resume.h"
#include "run/shard.h"
#include "run/template.h"
#include "run/watch.h"

typedef struct runner {
    const cli_options *options;
    cli_frames frames, names; /* names: those of the templates */
    cli_templates templates;
    cli_protected protected;
    cli_inputs inputs;
    cli_plan plan;
    cli_emitter emitter;
    cli_resume *resume;
    cli_shard shard;
    cli_page *page;
    cli_movie_output movie;
    cli_watch watch;
    cli_feed feed;
    layout layout;
    pinned_buffers pinned;
    pipeline_settings pipeline;
    cli_engine *engines;
    size_t engine_count;
} runner;

static bool find_pictures(runner *r)
{
    const cli_options *o = r->options;

    if (o->sandbox)
        io_movies_refuse();
    if (!arguments_find(o, &r->frames, &r->names, &r->watch))
        return false;
    if (!cli_templates_init(&r->templates, &r->names)) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    return (!o->shards || shard_allows(&r->frames)) && feed_open(&r->feed, o, &r->frames);
}

static bool has_movies(const runner *r)
{
    bool any = r->feed.in_movie;
    for (size_t i = 0; i < r->frames.count; i++)
        any |= r->frames.list[i].movie;
    return any;
}

static bool check_movie(const runner *r)
{
    const bool streamed = r->feed.begun && !r->feed.in_movie;
    return !movie_output_wanted(r->options, &r->frames) ||
           movie_output_check(r->options, streamed ? &r->feed.picture : NULL);
}

/* How many frames there will be; 0 where nobody knows. */
static size_t count_frames(const runner *r)
{
    return r->options->watch || r->feed.several ? 0 : r->frames.count;
}

/* Opens the engines. Those of devices are opened by the threads that use them, while others read
 * frames already; then the first engine, on the CPU, only judges the templates. */
static bool open_engines(runner *r)
{
    const pipeline_settings *s = &r->pipeline;
    const size_t count = s->devices ? 1 : s->engine_count;
    const size_t frames = r->options->shards ? r->shard.frames : r->frames.count;

    for (size_t i = 0; i < count; i++) {
        tm_settings settings = r->layout.settings;
        if (s->devices) {
            settings.device = TM_DEVICE_CPU;
            settings.algorithm = TM_ALGORITHM_AUTO;
        }
        r->engine_count++;
        if (!engine_open(&r->engines[i], r->options, &settings, r->templates.count))
            return false;
        r->engines[i].alone = frames == 1 && !r->options->watch;
    }
    return true;
}

/* For the pipeline. */
static size_t find_devices(void *data)
{
    runner *r = data;
    return layout_find_devices(&r->layout, count_frames(r));
}

static bool open_device(void *data, size_t i, cli_engine *engine)
{
    runner *r = data;
    const tm_settings settings = layout_device(&r->layout, i);

    *engine = (cli_engine){0};
    if (engine_driver_hangs() || (r->layout.may_open_device && !layout_has_device(&r->layout)))
        return false;
    return engine_open(engine, r->options, &settings, r->templates.count) &&
           engine_prepare(engine, &r->templates);
}

static bool make_layout(runner *r)
{
    pipeline_settings *s = &r->pipeline;

    s->held_bytes = r->feed.several && r->options->max_memory ? (size_t)r->options->max_memory / 2
                                                            : r->feed.held;
    layout_make(&r->layout, r->options, s, count_frames(r));
    if (r->options->watch) {
        s->feed = watch_feed;
        s->stop_feed = watch_stop;
        s->feed_data = &r->watch;
    } else if (r->feed.several) {
        s->feed = feed_run;
        s->stop_feed = feed_stop;
        s->feed_data = &r->feed;
        r->feed.plan = &r->plan;
    }
    r->plan.frame_input.room = r->plan.template_input.room = r->layout.room;
    if (s->devices || r->layout.may_open_device)
        r->plan.frame_input.memory = &r->pinned.memory;
    s->pinned = &r->pinned;
    r->engines = calloc((s->devices ? PIPELINE_MOST_DEVICES : s->engine_count) + 1,
                        sizeof *r->engines);
    if (!r->engines)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    s->engines = s->devices ? r->engines + 1 : r->engines;
    s->open_device = s->devices || r->layout.may_open_device ? open_device : NULL;
    s->find_devices = find_devices;
    s->device_data = r;
    return r->engines != NULL;
}

/* Loads the templates and prepares them for each engine. Those that fail then fail with every
 * frame. */
static bool prepare_templates(runner *r)
{
    cli_templates_load(&r->templates, &r->plan.template_input, r->options);
    engine_judge(&r->engines[0], &r->templates);
    if (r->options->has_rows && !inputs_want_rows(&r->inputs, &r->plan))
        return false;
    for (size_t i = 1; i < r->engine_count; i++)
        if (!engine_prepare(&r->engines[i], &r->templates))
            return false;
    return true;
}

/* False after a message. */
static bool open_log(runner *r)
{
    const bool good = !r->options->resume ||
                      resume_open(&r->resume, r->options, &r->templates, &r->inputs.masks,
                                  r->plan.shard ? &r->shard : NULL, &r->frames);
    r->plan.resume = r->resume;
    if (r->resume) /* a line of the log says that its pictures are there */
        io_output_make_lasting();
    return good;
}

static bool open_page(runner *r)
{
    return !r->options->report || page_open(&r->page, &r->plan);
}

static bool run_pipeline(runner *r, bool *interrupted)
{
    cli_emitter *e = &r->emitter;
    const size_t frames = count_frames(r);

    if (!prepare_templates(r) || !open_log(r) || !open_page(r) ||
        !emitter_begin(e, &r->plan, r->resume, r->page, r->plan.output_is_movie ? &r->movie : NULL, frames))
        return false;
    e->failed = !dump_template(&r->engines[0], &r->templates, &r->protected) || r->templates.usable < r->templates.count;
    if (r->options->posed && r->options->verify && !r->options->quiet)
        message_note(NULL, "--verify computes the matches' scores again: with --angle or --scale, not "
                           "those of all positions in all poses");
    if (shard_is_empty(&r->shard)) {
        if (!r->options->quiet)
            shard_note_empty(&r->shard);
        return true;
    }
    r->pipeline.finished = emitter_take;
    r->pipeline.data = e;
    return pipeline_run(&r->pipeline, interrupted) && !r->watch.failed && !r->feed.failed;
}

/* Where all frames of a shard are in its log, that gets a line that says so. */
static bool finish_shard(runner *r, bool good)
{
    const cli_emitter *e = &r->emitter;
    if (!r->plan.shard || e->log_failed || e->report.error || (size_t)e->frames < r->shard.own)
        return true;
    return resume_finish(r->resume, !good ? CLI_FAILED : e->matches ? CLI_FOUND : CLI_NOT_FOUND);
}

static cli_exit match_all(runner *r)
{
    const cli_options *o = r->options;
    const cli_emitter *e = &r->emitter;
    bool interrupted = false;
    bool good = run_pipeline(r, &interrupted);
    /* false where no device could be opened, for example */
    const bool begun = good || interrupted || r->watch.failed || e->frames > 0;

    progress_hide(&r->emitter.progress);
    good = report_end(&r->emitter.report) && good;
    good = (!begun || !e->report.intervals || interval_files_write(o, e->report.intervals)) && good;
    good = stills_are_good(e->stills) && good;
    good = page_close(&r->page, e->report.intervals, begun, interrupted && !o->watch) && good;
    good = movie_output_close(&r->movie, begun && !interrupted) && good;
    good = good && !e->failed;
    good = (!begun || interrupted || finish_shard(r, good)) && good;
    good = resume_close(&r->resume) && good;
    if (e->report.error)
        message(NULL, "standard output: %s", strerror(e->report.error));
    if (interrupted || (begun && !shard_is_empty(&r->shard) && e->lines && !o->quiet && e->frames != 1 &&
                        (r->frames.from_folders || o->resume || o->verbose ||
                         notes_were_held(&e->notes))))
        emitter_summarize(e);
    const int64_t found = e->report.intervals && o->intervals ? intervals_count(e->report.intervals) : e->matches;
    return e->report.error ? CLI_FAILED
           : interrupted   ? CLI_INTERRUPTED
           : !good         ? CLI_FAILED
           : found || shard_is_empty(&r->shard) ? CLI_FOUND
                                                     : CLI_NOT_FOUND;
}

cli_exit cli_run(const cli_options *given)
{
    cli_options chosen = *given;
    const cli_options *options = &chosen;
    runner r = {.options = options};
    cli_exit status = CLI_FAILED;

    pinned_init(&r.pinned);
    r.plan = (cli_plan){.options = options, .templates = &r.templates, .protected = &r.protected};
    r.pipeline.plan = &r.plan;
    r.pipeline.frames = &r.frames;
    if (decoder_choose(&chosen) && inputs_open(&r.inputs, &r.plan) && find_pictures(&r) &&
        protected_init(&r.protected, options, &r.frames, &r.templates, &r.inputs.masks) &&
        output_check(options, &r.frames, &r.templates, &r.protected) && check_movie(&r)) {
        r.plan.output_is_folder = output_is_folder(options, &r.frames);
        r.plan.output_is_movie = movie_output_wanted(options, &r.frames);
        r.movie.plan = &r.plan;
        r.plan.has_movies = has_movies(&r);
        r.plan.thumbnail_side = pictures_thumbnail_side(count_frames(&r));
        r.plan.shard = options->shards && options->resume ? &r.shard : NULL;
        if (shard_take(&r.shard, &r.frames, options) && feed_take(&r.feed, &r.frames) && make_layout(&r) && open_engines(&r))
            status = match_all(&r);
    }
    pinned_destroy(&r.pinned);
    emitter_end(&r.emitter);
    watch_close(&r.watch);
    for (size_t i = 0; i < r.engine_count; i++)
        engine_close(&r.engines[i]);
    free(r.engines);
    protected_free(&r.protected);
    cli_templates_free(&r.templates);
    frames_free(&r.names);
    frames_free(&r.frames);
    inputs_close(&r.inputs);
    feed_close(&r.feed);
    return status;
}
