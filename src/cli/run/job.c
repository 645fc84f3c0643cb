/* SPDX-License-Identifier: MIT */
#include "run/job.h"

#include <inttypes.h>
#include <stdlib.h>

#include "clock.h"
#include "message.h"
#include "run/heatmap.h"
#include "run/match.h"
#include "run/output.h"
#include "run/pictures.h"

bool job_init(cli_job *job, const cli_plan *plan)
{
    *job = (cli_job){0};
    job->pairs = calloc(plan->templates->count + 1, sizeof *job->pairs);
    job->ids = calloc(plan->templates->count + 1, sizeof *job->ids);
    job->thumbnail = open_memstream(&job->thumb, &job->thumb_size);
    job->messages = open_memstream(&job->text, &job->text_size);
    return job->pairs && job->ids && job->thumbnail && job->messages;
}

void job_free(cli_job *job, const cli_plan *plan)
{
    for (size_t i = 0; job->pairs && i < plan->templates->count; i++) {
        free(job->pairs[i].result.matches);
        tm_part_hits_free(&job->pairs[i].part);
    }
    free(job->pairs);
    free(job->ids);
    if (job->thumbnail)
        fclose(job->thumbnail);
    if (job->messages)
        fclose(job->messages);
    free(job->thumb);
    free(job->text);
}

static void clear_pair(cli_pair *pair, const cli_job *job, const char *tmpl)
{
    cli_result *r = &pair->result;
    const cli_part *part = job->frame.part;
    tm_part_hits_free(&pair->part);
    *pair = (cli_pair){.result = {.frame = operand_name(&job->operand),
                                  .tmpl = tmpl,
                                  .index = part ? part->number : 0,
                                  .timed = part && part->location.timed,
                                  .time = part ? part->location.time : 0,
                                  .matches = r->matches,
                                  .match_capacity = r->match_capacity}};
}

/* Whether the log has the results with all templates. */
static bool look_up(cli_job *job, const cli_plan *plan)
{
    bool all = true;
    resume_identify(plan->resume, &job->frame, job->operand.path, job->ids);
    for (size_t i = 0; i < plan->templates->count; i++)
        all &= resume_find(plan->resume, job->ids[i]) != NULL;
    return all;
}

void job_begin(cli_job *job, const cli_plan *plan)
{
    job->loaded = job->failed = false;
    job->bytes = 0;
    operand_init(&job->operand, &job->frame);
    if (plan->options->has_roi)
        operand_restrict(&job->operand, &plan->options->roi);
    for (size_t i = 0; i < plan->templates->count; i++)
        clear_pair(&job->pairs[i], job, plan->templates->list[i].operand.given);
    job->skipped = plan->resume && look_up(job, plan);
}

/* The frame's error becomes that of every pair. If the file was read, another run would come to the
 * same. */
static void fail_frame(cli_job *job, const cli_plan *plan, const io_error *error)
{
    message(operand_name(&job->operand), "%s", error->reason);
    for (size_t i = 0; i < plan->templates->count; i++) {
        job->pairs[i].error = *error;
        job->pairs[i].lasting = job->input.opened;
    }
}

/* Says so where the file holds more pictures than are frames. */
static void note_rest(const cli_job *job)
{
    static const char *const notes[] = {
        [IO_REST_OF_PNM] = "holds several pictures, of which the first is matched; named on the command line, all are",
        [IO_REST_OF_STREAM] = "holds several pictures, of which the first is matched; on standard input, all are",
        [IO_REST_OF_TIFF] = "another picture follows the TIFF and is not matched; tiffcp makes one file of several"};
    const cli_part *part = job->frame.part;
    const io_rest rest = part && part->number > 1 ? IO_REST_NONE : io_rest_of(&job->input.source);
    if (rest != IO_REST_NONE)
        message_note(job->operand.path, "%s", notes[rest]);
}

/* The file is needed again only to draw pictures. */
static void close_source(cli_job *job, const cli_plan *plan)
{
    const cli_input *input = &job->input;
    const bool needed = input->rows || input->undecoded || input->lent.samples || (input->place.size && input->source.frame);
    if (job->loaded && !needed && !pictures_wanted(plan->options))
        io_source_close(&job->input.source);
}

void job_load(cli_job *job, const cli_plan *plan)
{
    const cli_templates *templates = plan->templates;
    io_error error;

    if (job->skipped) {
        /* A report shows the frame all the same; with --max-memory there are no pictures. */
        if (plan->options->report && plan->options->max_memory == 0)
            pictures_make_thumbnail(job, plan);
        return;
    }
    if (templates->usable == 0) {
        for (size_t i = 0; i < templates->count; i++)
            job->pairs[i].error = templates->list[i].error;
        return;
    }
    FILE *before = message_redirect(job->messages);
    job->loaded = input_load(&job->input, &job->operand, &plan->frame_input, &error);
    job->bytes = job->input.bytes;
    if (!job->loaded)
        fail_frame(job, plan, &error);
    else if (plan->options->verbose)
        input_describe(&job->input, &job->operand);
    if (job->loaded && !plan->options->quiet && !plan->options->has_rows)
        note_rest(job);
    close_source(job, plan);
    for (size_t i = 0; i < templates->count && job->loaded; i++) {
        job->pairs[i].result.frame_width = job->input.whole_width;
        job->pairs[i].result.frame_height = job->input.whole_height;
        job->pairs[i].result.read_ms = job->input.read_ms;
    }
    message_redirect(before);
}

void job_decoded(cli_job *job, const cli_plan *plan, const io_nvjpeg_frame *frame, int device, void *stream, double ms)
{
    const input_settings *settings = &plan->frame_input;
    const bool here = !frame->decoded && frame->declined && settings->jpeg == INPUT_EITHER_JPEG;
    io_error error = frame->error;

    FILE *before = message_redirect(job->messages);
    if (here && plan->options->verbose)
        message_info(operand_name(&job->operand), "%s: decoded by libjpeg", frame->error.reason);
    if (frame->decoded)
        input_take_place(&job->input, &job->operand, frame, device, stream);
    job->loaded = frame->decoded || (here && input_take_back(&job->input, &job->operand, settings, &error));
    if (job->loaded && io_source_late(&job->input.source, &error))
        job->loaded = false;
    for (size_t i = 0; i < plan->templates->count; i++)
        job->pairs[i].result.read_ms += ms;
    job->input.read_ms += ms;
    close_source(job, plan);
    if (!job->loaded) {
        job->input.opened = (frame->declined || here) && !io_source_late(&job->input.source, NULL);
        fail_frame(job, plan, &error);
        input_free(&job->input);
    }
    message_redirect(before);
}

static void note_times(const cli_result *result)
{
    const tm_times *t = &result->times;
    message_info(result->frame,
            "read=%.3f to_device=%.3f kernel=%.3f from_device=%.3f match=%.3f total=%.3f ms",
            result->read_ms, t->to_device, t->kernel, t->from_device, t->total,
            result->read_ms + t->total);
}

static void note_verification(const cli_options *o, const cli_result *result)
{
    const verification *v = &result->verification;
    if (verification_passed(v)) {
        if (o->format == CLI_CSV && !o->quiet)
            message_info(result->frame, "verify: %" PRId64 " positions, none differs", v->positions);
    } else if (v->differing) {
        message(result->frame, "%" PRId64 " of %" PRId64 " scores differ from the definition's",
                v->differing, v->positions);
    } else {
        message(result->frame, "the best match differs from the definition's");
    }
}

/* What was found so far is not told: another run might find more. */
static void fail_late(cli_job *job, const cli_plan *plan, const io_error *error)
{
    fail_frame(job, plan, error);
    for (size_t i = 0; i < plan->templates->count; i++) {
        job->pairs[i].done = job->pairs[i].lasting = false;
        job->pairs[i].result.match_count = 0;
    }
    input_free(&job->input);
    job->loaded = false;
}

void job_match(cli_job *job, const cli_plan *plan, const cli_engine *engine)
{
    const cli_options *o = plan->options;
    io_error error;

    if (!job->loaded)
        return;
    FILE *before = message_redirect(job->messages);
    const long said = ftell(job->messages);
    bool plain = !o->verify && !o->has_rows;
    if (o->max_frame_ms > 0)
        job->input.source.deadline = clock_ms() + o->max_frame_ms - job->input.read_ms;
    match_frame(engine, &job->input, &job->operand.crop, plan->templates, job->pairs);
    if (io_source_late(&job->input.source, &error))
        fail_late(job, plan, &error);
    job->input.source.deadline = 0; /* pictures may still be drawn from it */
    for (size_t i = 0; i < plan->templates->count; i++) {
        const cli_pair *pair = &job->pairs[i];
        plain = plain && pair->done && !pair->map.data;
        if (pair->done && o->time && o->format != CLI_JSON)
            note_times(&pair->result);
        if (pair->result.verified) {
            note_verification(o, &pair->result);
            job->failed |= !verification_passed(&pair->result.verification);
        }
    }
    job->repeatable = plain && ftell(job->messages) == said;
    message_redirect(before);
}

void job_release(cli_job *job, const cli_plan *plan)
{
    if (!job->loaded || pictures_wanted(plan->options))
        return;
    input_free(&job->input);
    job->loaded = false;
}

static bool write_heatmap(const cli_job *job, const cli_plan *plan, const cli_pair *pair)
{
    const cli_options *o = plan->options;
    io_picture frame = {0};
    io_error error;
    if (!o->heatmap || !pair->done || !pair->map.data)
        return true;
    const bool written =
        (!o->heatmap_overlay || pictures_decode(job, plan, IO_GRAY, &frame, &error)) &&
        heatmap_write(o->heatmap, o, &pair->map, &pair->result, &job->operand.crop,
                      o->heatmap_overlay ? &frame : NULL, &error);
    if (!written)
        message(o->heatmap, "%s", error.reason);
    io_picture_free(&frame);
    return written;
}

static bool write_map(const cli_options *o, const cli_pair *pair)
{
    io_error error;
    if (!pair->map.data || !pair->done || !o->map || output_map(o->map, &pair->map, &error))
        return true;
    message(o->map, "%s", error.reason);
    return false;
}

void job_write(cli_job *job, const cli_plan *plan)
{
    FILE *before = message_redirect(job->messages);
    for (size_t i = 0; i < plan->templates->count; i++) {
        cli_pair *pair = &job->pairs[i];
        job->failed |= !write_map(plan->options, pair);
        job->failed |= !write_heatmap(job, plan, pair);
        score_map_free(&pair->map);
    }
    if (job->loaded && !job->input.rows && pictures_wanted(plan->options))
        job->failed |= !pictures_write(job, plan);
    message_redirect(before);
    if (job->loaded)
        input_free(&job->input);
    job->loaded = false;
}

void job_end(cli_job *job)
{
    if (job->frame.part) /* where it was not looked at */
        io_source_close(&job->frame.part->held);
    operand_free(&job->operand);
    rewind(job->messages);
    rewind(job->thumbnail);
    job->thumb_size = 0;
    io_picture_free(&job->drawn);
    io_picture_free(&job->still);
    job->drawn = job->still = (io_picture){0};
}
