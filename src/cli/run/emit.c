/* SPDX-License-Identifier: MIT */
#include "run/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "message.h"
#include "run/log_read.h"
#include "run/match_part.h"

static void hide_progress(void *progress)
{
    progress_hide(progress);
}

static bool begin_stills(cli_emitter *e)
{
    if (!e->page || !e->report.intervals)
        return true;
    e->stills = stills_open(e->plan, e->report.intervals);
    if (!e->stills)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    return e->stills != NULL;
}

bool emitter_begin(cli_emitter *e, const cli_plan *plan, cli_resume *resume, cli_page *page,
                   cli_movie_output *movie, size_t frames)
{
    *e = (cli_emitter){.plan = plan, .resume = resume, .page = page, .movie = movie, .start_ms = clock_ms()};
    progress_begin(&e->progress, frames, frames != 1 && !plan->options->quiet);
    message_make_room(hide_progress, &e->progress);
    notes_begin(&e->notes, plan->options, plan->templates);
    e->lines = open_memstream(&e->text, &e->text_size);
    if (!e->lines)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    return e->lines && report_begin(&e->report, plan->options, plan->templates->count, plan->has_movies, stdout) &&
           begin_stills(e);
}

void emitter_end(cli_emitter *e)
{
    progress_hide(&e->progress);
    message_make_room(NULL, NULL);
    report_free(&e->report);
    stills_close(&e->stills);
    if (e->lines)
        fclose(e->lines);
    free(e->text);
}

/* Where the line of a frame with template i belongs; with a shard. */
static shard_place place_of(const cli_emitter *e, const cli_job *job, size_t i)
{
    return (shard_place){e->plan->shard->run, job->frame.place, i + 1};
}

/* Ends the line that begins at start in the text. */
static bool end_line(cli_emitter *e, const cli_job *job, size_t i, size_t start, uint64_t id)
{
    if (e->plan->shard) {
        const shard_place place = place_of(e, job, i);
        shard_log_place(e->lines, &place, &job->pairs[i].result);
    }
    if (fflush(e->lines) != 0)
        return false;
    log_line_end(e->lines, e->text + start, e->text_size - start, id);
    return fflush(e->lines) == 0;
}

static bool log_pair(cli_emitter *e, const cli_job *job, size_t i)
{
    const cli_pair *pair = &job->pairs[i];
    const size_t start = (size_t)ftello(e->lines); /* the lines of other templates are before it */
    report_constant(e->plan->options, e->lines, &pair->result, pair->done ? NULL : pair->error.reason);
    if (pair->done && pair->result.has_rows)
        match_part_log(e->lines, pair);
    return end_line(e, job, i, start, pair->lasting && !job->failed ? job->ids[i] : 0);
}

/* Whether the log has the line, and where it is looked for. */
static bool is_logged(const cli_emitter *e, const cli_job *job, size_t i)
{
    const log_line *line = resume_find(e->resume, job->ids[i]);
    if (!line || !e->plan->shard)
        return line != NULL;
    const shard_place place = place_of(e, job, i);
    return resume_is_placed(e->resume, line, &place);
}

static bool append_lines(cli_emitter *e, bool made)
{
    if (made && fflush(e->lines) == 0)
        return resume_append(e->resume, e->text, e->text_size);
    message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    return false;
}

/* Logs what an earlier run found, which had another list, or all frames, so that the lines have their
 * places. */
static bool log_again(cli_emitter *e, const cli_job *job)
{
    bool good = true, any = false;
    for (size_t i = 0; i < e->plan->templates->count; i++)
        any |= !is_logged(e, job, i);
    if (!any)
        return true;
    rewind(e->lines);
    for (size_t i = 0; i < e->plan->templates->count && good; i++) {
        const size_t start = (size_t)ftello(e->lines);
        if (is_logged(e, job, i))
            continue;
        char *text = resume_text(e->resume, resume_find(e->resume, job->ids[i]));
        if (!text) {
            message(e->plan->options->resume, "cannot be read, or memory ran out");
            return false;
        }
        fwrite(text, 1, log_line_result(text, strlen(text)), e->lines);
        good = end_line(e, job, i, start, job->ids[i]);
        free(text);
    }
    return append_lines(e, good);
}

/* Appends the frame's lines to the log. Pairs of an earlier run have theirs already. Where a
 * picture could not be written, the lines have no id, so that the frame is matched again. */
static bool log_job(cli_emitter *e, const cli_job *job)
{
    bool good = true;
    rewind(e->lines);
    for (size_t i = 0; i < e->plan->templates->count && good; i++)
        if (!is_logged(e, job, i))
            good = log_pair(e, job, i);
    return append_lines(e, good);
}

/* Appearances go on through frames that an earlier run has matched. False after a message. */
static bool report_earlier(cli_emitter *e, const cli_job *job)
{
    bool good = true;
    for (size_t i = 0; i < e->plan->templates->count && good; i++) {
        char *text = resume_text(e->resume, resume_find(e->resume, job->ids[i]));
        log_result read = {0};
        good = text && log_read_result(&read, text);
        if (!good)
            message(e->plan->options->resume, "cannot be read, or memory ran out");
        read.result.tmpl = e->plan->templates->list[i].operand.given;
        if (good && read.error && e->plan->options->intervals)
            good = report_failure(&e->report, &read.result, read.error);
        else if (good)
            good = report_take(&e->report, &read.result, read.error != NULL);
        log_read_free(&read);
        free(text);
    }
    return good;
}

/* Counts what an earlier run found, so that the exit status is that of one run. */
static void pass_over(cli_emitter *e, const cli_job *job)
{
    bool broken = false;
    for (size_t i = 0; i < e->plan->templates->count; i++) {
        const log_line *line = resume_find(e->resume, job->ids[i]);
        broken |= line->failed;
        e->matches += line->matches;
        notes_take_line(&e->notes, operand_name(&job->operand), line);
    }
    e->failed |= broken;
    e->broken_frames += broken;
    e->frames++;
    e->skipped_frames++;
}

static bool emit_pair(cli_emitter *e, const cli_pair *pair)
{
    if (!pair->done)
        return report_failure(&e->report, &pair->result, pair->error.reason);
    e->matches += (int64_t)pair->result.match_count;
    const bool printed = report_result(&e->report, &pair->result);
    notes_take(&e->notes, &pair->result);
    return printed;
}

bool emitter_take(void *data, cli_job *job)
{
    cli_emitter *e = data;
    bool broken = false, printed = true;

    if (e->page && !e->page_failed && !page_add(e->page, job))
        e->failed = e->page_failed = true;
    if (e->movie && !movie_output_add(e->movie, job))
        e->failed = true;
    if (job->skipped) {
        pass_over(e, job);
        if (e->report.intervals && !report_earlier(e, job)) {
            e->failed = true;
            return false;
        }
        if (e->stills && !stills_take(e->stills, job))
            e->failed = true;
        if (e->plan->shard && !e->log_failed && !log_again(e, job))
            e->failed = e->log_failed = true;
        return !e->plan->shard || !e->log_failed;
    }
    /* Once a line is missing, none comes after it. */
    if (e->log_failed)
        return false;
    if (fflush(job->messages) == 0 && job->text_size > 0) {
        progress_hide(&e->progress);
        fwrite(job->text, 1, job->text_size, stderr);
    }
    if (e->progress.shared)
        progress_hide(&e->progress);
    if (e->resume && !log_job(e, job)) {
        e->failed = e->log_failed = true;
        return false;
    }
    for (size_t i = 0; i < e->plan->templates->count && printed; i++) {
        broken |= !job->pairs[i].done;
        printed = emit_pair(e, &job->pairs[i]);
    }
    if (e->stills && printed && !stills_take(e->stills, job))
        e->failed = true;
    e->failed |= broken || job->failed;
    e->frames++;
    e->broken_frames += broken;
    e->bytes += job->bytes;
    progress_show(&e->progress, (size_t)e->frames, (size_t)(e->frames - e->skipped_frames),
                  (size_t)e->broken_frames);
    return printed;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

void emitter_summarize(const cli_emitter *e)
{
    const double seconds = (clock_ms() - e->start_ms) * 1e-3;
    char before[64] = "", found[NOTES_SUMMARY_SIZE];

    if (e->skipped_frames > 0)
        snprintf(before, sizeof before, " (%" PRId64 " of them before)", e->skipped_frames);
    notes_summary(&e->notes, found);
    message_info(NULL,
            "%" PRId64 " frame%s%s: %" PRId64 " match%s%s, %" PRId64
            " failed; %.2f s, %.1f frames/s, %.1f MB/s",
            e->frames, plural(e->frames), before, e->matches, e->matches == 1 ? "" : "es",
            found, e->broken_frames, seconds,
            (double)(e->frames - e->skipped_frames) / seconds, (double)e->bytes * 1e-6 / seconds);
}
