/* SPDX-License-Identifier: MIT */
/* Logs of shards, or of rows, that --merge puts together. A line of the input becomes one of a log, with an id and a sum
 * that is right; after "!" it stays as it is; "=" begins the next log. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "message.h"
#include "run/ids.h"
#include "run/log_line.h"
#include "run/log_read.h"
#include "run/merge_command.h"
#include "run/merge_rows.h"
#include "run/report.h"

enum { MOST_LOGS = 4 };

static const cli_format formats[] = {CLI_TEXT, CLI_JSON, CLI_CSV, CLI_TEXT};

/* Notes which rows a line says that its run is of, as ids depend on them. */
static void note_rows(cli_options *run, const char *line)
{
    const char *rows = strstr(line, ",\"rows\":[");
    if (strncmp(line, SHARD_LOG_START, strlen(SHARD_LOG_START)) == 0)
        run->has_rows =
            rows && sscanf(rows, ",\"rows\":[%" SCNd64 ",%" SCNd64 "]", &run->rows_first, &run->rows_end) == 2;
}

static void put_line(FILE *log, cli_options *run, bool same, const char *line, size_t length)
{
    const uint64_t id = same ? 77 : length % 64; /* without that of the rows */
    if (length > 0 && *line == '!') {
        fwrite(line + 1, 1, length - 1, log);
        putc('\n', log);
        return;
    }
    char *text = (char *)fuzz_copy((const uint8_t *)line, length, true);
    fwrite(text, 1, length, log);
    note_rows(run, text);
    log_line_end(log, text, length, id ? id ^ ids_rows_hash(run) : 0);
    free(text);
}

/* Makes the logs; returns how many. same: all lines have the same id. */
static int make_logs(const char *text, size_t size, bool same, int fds[MOST_LOGS], char paths[MOST_LOGS][FUZZ_PATH])
{
    const char *end = text + size;
    int count = 0;
    while (count < MOST_LOGS && (text < end || count == 0)) {
        char *data = NULL;
        size_t length;
        cli_options run = {.has_rows = false};
        FILE *log = open_memstream(&data, &length);
        FUZZ_CHECK(log);
        while (text < end) {
            const char *next = memchr(text, '\n', (size_t)(end - text));
            const size_t line = (size_t)((next ? next : end) - text);
            const bool over = line == 1 && *text == '=';
            if (!over)
                put_line(log, &run, same, text, line);
            text += line + (next != NULL);
            if (over)
                break;
        }
        FUZZ_CHECK(fclose(log) == 0);
        fds[count] = fuzz_file((uint8_t *)data, length, paths[count]);
        count++;
        free(data);
    }
    return count;
}

/* Each message begins with the program's name. */
static void check_messages(const char *said, size_t length)
{
    FUZZ_CHECK(length == 0 || said[length - 1] == '\n');
    for (const char *line = said; line < said + length; line = strchr(line, '\n') + 1)
        FUZZ_CHECK(strncmp(line, "tmatch: ", 8) == 0);
}

static void print_text(cli_report *report, const char *text, const char *tmpl)
{
    log_result read = {0};
    if (log_read_result(&read, text)) {
        read.result.tmpl = tmpl;
        if (read.error)
            report_failure(report, &read.result, read.error);
        else
            report_result(report, &read.result);
    }
    log_read_free(&read);
}

/* What is merged of a frame's parts is a line as one run writes it, or a message says why there is none. */
static void print_rows(const merged_logs *logs, const cli_options *options, cli_report *report, FILE *messages)
{
    for (size_t i = 0; i < logs->frames * logs->templates; i++) {
        const size_t tmpl = i % logs->templates;
        log_line line;
        FUZZ_CHECK(fflush(messages) == 0);
        const long said = ftell(messages);
        char *text = merge_rows_text(logs, options, i / logs->templates, tmpl);
        FUZZ_CHECK(fflush(messages) == 0 && (text || ftell(messages) > said));
        if (text) {
            FUZZ_CHECK(log_line_parse(&line, text, strlen(text)));
            print_text(report, text, logs->list[0].record.templates[tmpl]);
        }
        free(text);
    }
}

/* All lines are there, each with a result that can be printed; memory may run out. */
static void print_lines(const merged_logs *logs, cli_report *report)
{
    const size_t places = logs->frames * logs->templates;
    for (size_t i = 0; i < (logs->by_rows ? logs->count : 1) * places; i++) {
        const size_t log = i / places, tmpl = i % logs->templates;
        const merged_line *at = merge_line(logs, log, i % places / logs->templates, tmpl);
        log_line line;
        FUZZ_CHECK(at->log >= 1 && at->log <= logs->count);
        char *text = merge_text(logs, at);
        if (text) {
            FUZZ_CHECK(log_line_parse(&line, text, at->length) && log_line_result(text, at->length) < at->length);
            print_text(report, text, logs->list[0].record.templates[tmpl]);
        }
        free(text);
    }
}

/* Prints as the shards' command line says, read again. */
static void print(const merged_logs *logs, const cli_options *given, FILE *out, FILE *messages)
{
    char name[] = "tmatch", **words = merge_arguments(&logs->list[0], name);
    int count = 0;
    cli_options options;
    cli_report report;
    if (!words)
        return;
    while (words[count])
        count++;
    fuzz_forget_options();
    const bool good = cli_options_parse(&options, count, words) && options.action == CLI_MATCH;
    options.format = given->format;
    options.quiet = given->quiet;
    if (good && report_begin(&report, &options, logs->templates > 1, false, out)) {
        print_lines(logs, &report);
        if (logs->by_rows)
            print_rows(logs, &options, &report, messages);
        report_end(&report);
    }
    cli_options_free(&options);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    const uint32_t control = fuzz_control(data, &size);
    const char *names[MOST_LOGS];
    char paths[MOST_LOGS][FUZZ_PATH], *said = NULL;
    int fds[MOST_LOGS];
    size_t length;
    merged_logs logs;
    cli_options options = {.format = formats[control & 3], .frames = names, .quiet = control & 4};

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    FILE *messages = open_memstream(&said, &length);
    FUZZ_CHECK(nowhere && messages);
    options.frame_count = make_logs((const char *)data, size, !(control >> 8 & 1), fds, paths);
    for (int i = 0; i < options.frame_count; i++)
        names[i] = paths[i];
    message_redirect(messages);
    fuzz_fail_allocation(control >> 3 & 31, true);
    const bool good = merge_open(&logs, &options);
    if (good)
        print(&logs, &options, nowhere, messages);
    fuzz_allocations_succeed();
    merge_close(&logs);
    message_redirect(NULL);
    FUZZ_CHECK(fclose(messages) == 0 && (good || length > 0));
    check_messages(said, length);
    for (int i = 0; i < options.frame_count; i++)
        close(fds[i]);
    free(said);
    return 0;
}
