/* SPDX-License-Identifier: MIT */
/* Logs of shards that --merge puts together. A line of the input becomes one of a log, with an id and a sum
 * that is right; after "!" it stays as it is; "=" begins the next log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "message.h"
#include "run/log_line.h"
#include "run/log_read.h"
#include "run/merge_command.h"
#include "run/report.h"

enum { MOST_LOGS = 4 };

static const cli_format formats[] = {CLI_TEXT, CLI_JSON, CLI_CSV, CLI_TEXT};

static void put_line(FILE *log, const char *line, size_t length)
{
    if (length > 0 && *line == '!') {
        fwrite(line + 1, 1, length - 1, log);
        putc('\n', log);
        return;
    }
    char *text = (char *)fuzz_copy((const uint8_t *)line, length, true);
    fwrite(text, 1, length, log);
    log_line_end(log, text, length, length % 64);
    free(text);
}

/* Makes the logs; returns how many. */
static int make_logs(const char *text, size_t size, int fds[MOST_LOGS], char paths[MOST_LOGS][FUZZ_PATH])
{
    const char *end = text + size;
    int count = 0;
    while (count < MOST_LOGS && (text < end || count == 0)) {
        char *data = NULL;
        size_t length;
        FILE *log = open_memstream(&data, &length);
        FUZZ_CHECK(log);
        while (text < end) {
            const char *next = memchr(text, '\n', (size_t)(end - text));
            const size_t line = (size_t)((next ? next : end) - text);
            const bool over = line == 1 && *text == '=';
            if (!over)
                put_line(log, text, line);
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

/* All lines are there, each with a result that can be printed; memory may run out. */
static void print(const merged_logs *logs, const cli_options *options, FILE *out)
{
    cli_report report;
    if (!report_begin(&report, options, logs->templates > 1, out))
        return;
    const size_t places = logs->frames * logs->templates;
    for (size_t i = 0; i < (logs->by_rows ? logs->count : 1) * places; i++) {
        const size_t log = i / places, tmpl = i % logs->templates;
        const merged_line *at = merge_line(logs, log, i % places / logs->templates, tmpl);
        log_result read = {0};
        log_line line;
        FUZZ_CHECK(at->log >= 1 && at->log <= logs->count);
        char *text = merge_text(logs, at);
        if (text)
            FUZZ_CHECK(log_line_parse(&line, text, at->length) && log_line_result(text, at->length) < at->length);
        if (text && log_read_result(&read, text)) {
            read.result.tmpl = logs->list[0].record.templates[tmpl];
            if (read.error)
                report_failure(&report, &read.result, read.error);
            else
                report_result(&report, &read.result);
        }
        log_read_free(&read);
        free(text);
    }
    report_end(&report);
}

/* The shards' command line, read again. */
static void read_options(const merged_logs *logs)
{
    char name[] = "tmatch", **words = merge_arguments(&logs->list[0], name);
    int count = 0;
    cli_options options;
    if (!words)
        return;
    while (words[count])
        count++;
    fuzz_forget_options();
    cli_options_parse(&options, count, words);
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
    options.frame_count = make_logs((const char *)data, size, fds, paths);
    for (int i = 0; i < options.frame_count; i++)
        names[i] = paths[i];
    message_redirect(messages);
    fuzz_fail_allocation(control >> 3 & 31, true);
    const bool good = merge_open(&logs, &options);
    if (good) {
        read_options(&logs);
        print(&logs, &options, nowhere);
    }
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
