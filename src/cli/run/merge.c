/* SPDX-License-Identifier: MIT */
#include "run/merge.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options_intervals.h"
#include "run/interval_files.h"
#include "run/log_line.h"
#include "run/log_read.h"
#include "run/merge_command.h"
#include "run/merge_output.h"
#include "run/merge_rows.h"
#include "run/notes.h"
#include "run/report.h"

/* So many frames are told whose parts do not fit together. */
enum { MOST_WRONG = 10 };

/* What is to be said of a template that fails with all frames. */
typedef struct broken_template {
    bool told;
    char *error; /* of this frame's line, or NULL */
} broken_template;

/* What has failed of a frame. */
typedef struct frame_errors {
    char *said; /* last; or NULL */
    bool any;
} frame_errors;

typedef struct merger {
    const cli_options *given; /* the command line of --merge */
    cli_options options;      /* of the shards, */
    char **argv;              /* which they point into, but how results are printed */
    merged_logs logs;
    merge_output output;
    cli_report report;
    cli_notes notes;
    int64_t matches, broken_frames;
    bool failed; /* something failed: a frame, a template or an output */
    broken_template *broken; /* for each template */
} merger;

/* Reads the shards' command line again, which says how results are printed. */
static bool read_options(merger *m)
{
    const merged_log *first = &m->logs.list[0];
    int count = 0;

    m->argv = merge_arguments(first, m->given->argv[0]);
    if (!m->argv) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    while (m->argv[count])
        count++;
    optind = 1;
    if (!cli_options_parse(&m->options, count, m->argv) || m->options.action != CLI_MATCH) {
        message(first->path, "its command line is not this version's");
        return false;
    }
    m->options.format = m->given->format;
    m->options.intervals = m->given->intervals;
    m->options.gap = m->given->gap;
    m->options.chapters = m->given->chapters;
    m->options.edl = m->given->edl;
    m->options.quiet = m->given->quiet;
    m->options.verbose = m->given->verbose;
    return options_check_intervals(&m->options);
}

static bool print_line(merger *m, const char *text, size_t length, const char *tmpl, log_result *read)
{
    cli_result *r = &read->result;
    r->tmpl = tmpl;
    if (m->options.format == CLI_JSON && !m->options.intervals) {
        if (!report_take(&m->report, r, read->error != NULL))
            return false;
        fwrite(text, 1, log_line_result(text, length), m->report.out);
        fputs("}\n", m->report.out);
        return true;
    }
    return read->error ? report_failure(&m->report, r, read->error) : report_result(&m->report, r);
}

/* Says why a frame has failed, though it may have with every template. What a line says of a template that fails with
 * all frames is kept until the frame's other lines are known: it may be the frame that has failed. */
static void say_error(merger *m, const shard_record *record, size_t tmpl, const log_result *read, frame_errors *errors)
{
    if (!read->error)
        return;
    errors->any = true;
    if (record->broken[tmpl]) {
        broken_template *b = &m->broken[tmpl];
        b->error = b->told || b->error ? b->error : strdup(read->error);
    } else if (!errors->said || strcmp(errors->said, read->error) != 0) {
        message(read->frame, "%s", read->error);
        free(errors->said);
        errors->said = strdup(read->error);
    }
}

/* Says it once of each such template. */
static void say_broken(merger *m, const frame_errors *errors)
{
    for (size_t i = 0; i < m->logs.templates; i++) {
        broken_template *b = &m->broken[i];
        if (b->error && !(errors->said && strcmp(errors->said, b->error) == 0)) {
            message(m->logs.list[0].record.templates[i], "%s", b->error);
            b->told = true;
        }
        free(b->error);
        b->error = NULL;
    }
}

/* Merges the lines of the frame's parts, and keeps nothing of it. False after a message. */
static bool is_whole(const merger *m, const cli_options *silent, size_t frame)
{
    bool good = true;
    for (size_t tmpl = 0; tmpl < m->logs.templates && good; tmpl++) {
        char *text = merge_rows_text(&m->logs, silent, frame, tmpl);
        good = text != NULL;
        free(text);
    }
    return good;
}

/* Lines of parts may be there and sound, and yet not fit together: that is found before anything is printed. */
static bool check_parts(const merger *m)
{
    cli_options silent = m->options;
    size_t wrong = 0, frame = 0;

    silent.quiet = true;
    for (; m->logs.by_rows && frame < m->logs.frames && wrong < MOST_WRONG; frame++)
        wrong += !is_whole(m, &silent, frame);
    if (wrong == MOST_WRONG && frame < m->logs.frames)
        message(NULL, "%zu more frame%s not looked at", m->logs.frames - frame,
                m->logs.frames - frame == 1 ? " was" : "s were");
    return wrong == 0;
}

/* Counts and prints the line. False when standard output has failed, or after a message. */
static bool take_line(merger *m, size_t frame, size_t tmpl, frame_errors *errors)
{
    const merged_line *at = merge_line(&m->logs, 0, frame, tmpl);
    char *text = m->logs.by_rows ? merge_rows_text(&m->logs, &m->options, frame, tmpl) : merge_text(&m->logs, at);
    const size_t length = text ? strlen(text) : 0;
    log_result read = {0};
    log_line line;

    bool good = text && log_line_parse(&line, text, length) && log_read_result(&read, text);
    if (text && !good)
        message(m->logs.list[at->log - 1].path, "has changed, or memory ran out");
    if (good) {
        say_error(m, &m->logs.list[at->log - 1].record, tmpl, &read, errors);
        m->failed |= line.failed || line.id == 0;
        if (read.error)
            m->logs.list[at->log - 1].told = true;
        m->matches += line.matches;
        notes_take_line(&m->notes, read.frame, &line);
        merge_output_add(&m->output, text, length, line.id);
        good = print_line(m, text, length, m->logs.list[0].record.templates[tmpl], &read);
    }
    log_read_free(&read);
    free(text);
    return good;
}

static bool has_broken(const shard_record *record)
{
    for (size_t i = 0; i < record->template_count; i++)
        if (record->broken[i])
            return true;
    return false;
}

/* A run may have failed for what no line of its log has: a picture that it could not write. */
static void say_failures(const merger *m)
{
    for (size_t i = 0; i < m->logs.count && !m->logs.by_rows; i++) {
        const merged_log *log = &m->logs.list[i];
        if (log->record.status == CLI_FAILED && !log->told && !has_broken(&log->record))
            message(log->path, "its run has failed (status 2), though it has all results: a picture could not be "
                               "written, say; run again, it says why");
    }
}

static void summarize(const merger *m)
{
    char found[NOTES_SUMMARY_SIZE];
    notes_summary(&m->notes, found);
    message_info(NULL, "%zu frame%s of %zu %s%s: %" PRId64 " match%s%s, %" PRId64 " failed", m->logs.frames,
                 m->logs.frames == 1 ? "" : "s", m->logs.count, m->logs.by_rows ? "part" : "shard",
                 m->logs.count == 1 ? "" : "s", m->matches,
                 m->matches == 1 ? "" : "es", found, m->broken_frames);
}

/* Returns the status, or another where the report fails. A run that makes a report says that there are frames that
 * have failed. */
static cli_exit write_report(merger *m, cli_exit status)
{
    const cli_exit made = merge_output_report(&m->output, &m->options, &m->logs.list[0].record.shard);
    return made == CLI_FAILED || made == CLI_INTERRUPTED ? made : status;
}

static cli_exit print_all(merger *m)
{
    m->broken = calloc(m->logs.templates + 1, sizeof *m->broken);
    if (!m->broken) {
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
        return CLI_FAILED;
    }
    bool good = report_begin(&m->report, &m->options, m->logs.templates, false, stdout);

    notes_begin(&m->notes, &m->options, NULL);
    m->notes.integers = tm_metric_is_integer(m->options.settings.metric);
    for (size_t i = 0; i < m->logs.count && !m->logs.by_rows; i++) /* a template may have no such rows */
        m->failed |= m->logs.list[i].record.status == CLI_FAILED;
    for (size_t frame = 0; frame < m->logs.frames && good; frame++) {
        frame_errors errors = {0};
        for (size_t tmpl = 0; tmpl < m->logs.templates && good; tmpl++)
            good = take_line(m, frame, tmpl, &errors);
        say_broken(m, &errors);
        m->broken_frames += errors.any;
        free(errors.said);
    }
    good = report_end(&m->report) && good;
    if (good && m->report.intervals)
        m->failed |= !interval_files_write(&m->options, m->report.intervals);
    const int64_t found = m->options.intervals ? intervals_count(m->report.intervals) : m->matches;
    if (good)
        say_failures(m);
    if (m->report.error)
        message(NULL, "standard output: %s", strerror(m->report.error));
    else if (good && !m->given->quiet)
        summarize(m);
    good = good && merge_output_finish_log(&m->output);
    return !good ? CLI_FAILED : write_report(m, m->failed ? CLI_FAILED : found ? CLI_FOUND : CLI_NOT_FOUND);
}

cli_exit merge_run(const cli_options *options)
{
    merger m = {.given = options};
    cli_exit status = CLI_FAILED;

    if (merge_open(&m.logs, options) && read_options(&m) && check_parts(&m) && merge_output_open(&m.output, options))
        status = print_all(&m);
    report_free(&m.report);
    merge_output_close(&m.output);
    cli_options_free(&m.options);
    free(m.argv);
    free(m.broken);
    merge_close(&m.logs);
    return status;
}
