/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "message.h"
#include "row_spans.h"
#include "run/merge_command.h"

/* So many of the missing shards are named. */
enum { MOST_NAMED = 10 };

/* Says what is wrong with a log, and how its shard is to be run again. Always false. */
static bool fail_log(const merged_log *log, const char *what)
{
    char *command = merge_command(log, log->record.shard.number);
    message(log->path, "%s: %s", what, command ? command : "run it again");
    free(command);
    return false;
}

static bool same_templates(const shard_record *a, const shard_record *b)
{
    return a->shard.settings == b->shard.settings && a->template_count == b->template_count;
}

/* Says what differs. Always false. */
static bool fail_templates(const merged_log *log, const merged_log *first)
{
    char what[512];

    if (merge_same_arguments(log, first)) {
        snprintf(what, sizeof what, "saw other templates%s than %s did; run again what has not seen the present ones, this one by",
                 merge_has_option(log, "--frame-mask") ? ", or a --frame-mask of another size or time of change," : "",
                 first->path);
        return fail_log(log, what);
    }
    snprintf(what, sizeof what, "has other options, templates or masks than %s; it was run as", first->path);
    fail_log(log, what);
    char *other = merge_command(first, first->record.shard.number);
    message(first->path, "was run as: %s", other ? other : "");
    free(other);
    return false;
}

/* Whether the log belongs to the run that the first is of. */
static bool check_run(const merged_log *log, const merged_log *first)
{
    const cli_shard *s = &log->record.shard, *f = &first->record.shard;
    char what[512];

    if (s->count == 0) {
        message(log->path, "is not the log of a part, which a run with --resume LOG and --shard I/N or --rows A:B writes");
        return false;
    }
    if (f->count == 0)
        return true;
    if (log->record.has_rows != first->record.has_rows) {
        message(log->path, "is of a run %s --rows, but %s is not", log->record.has_rows ? "with" : "without", first->path);
        return false;
    }
    if (s->count != f->count) {
        message(log->path, "is of shard %" PRId64 "/%" PRId64 ", but %s is of %" PRId64 "/%" PRId64, s->number, s->count,
                first->path, f->number, f->count);
        return false;
    }
    if (!same_templates(&log->record, &first->record))
        return fail_templates(log, first);
    if (s->list != f->list || s->frames != f->frames) {
        snprintf(what, sizeof what, "has another list of frames, %zu, than %s, %zu; run again what has not seen all, this one by",
                 s->frames, first->path, f->frames);
        return fail_log(log, what);
    }
    return true;
}

/* Writes "rows 0 to 999", or "rows from 1000 on". */
static void name_rows(char text[64], int64_t first, int64_t end)
{
    if (end == INT64_MAX)
        snprintf(text, 64, "rows from %" PRId64 " on", first);
    else
        snprintf(text, 64, "rows %" PRId64 " to %" PRId64, first, end - 1);
}

static bool check_finished(const merged_log *log)
{
    char what[128], rows[64];
    if (log->record.finished)
        return true;
    if (log->record.has_rows) {
        name_rows(rows, log->record.first_row, log->record.end_row);
        snprintf(what, sizeof what, "the run of %s is not finished; run it again, and it goes on", rows);
        return fail_log(log, what);
    }
    snprintf(what, sizeof what, "shard %" PRId64 "/%" PRId64 " is not finished; run it again, and it goes on",
             log->record.shard.number, log->record.shard.count);
    return fail_log(log, what);
}

/* The first of the logs before last that is of this shard; or last. */
static size_t find_shard(const merged_logs *logs, int64_t number, size_t last)
{
    size_t i = 0;
    while (i < last && logs->list[i].record.shard.number != number)
        i++;
    return i;
}

/* Says which shards are missing. Always false if there are any. distinct: how many are there. */
static bool check_missing(const merged_logs *logs, int64_t distinct)
{
    const merged_log *first = &logs->list[0];
    const int64_t count = first->record.shard.count, missing = count - distinct;
    int64_t named = 0;

    for (int64_t number = 1; named < missing && named < MOST_NAMED; number++) {
        if (find_shard(logs, number, logs->count) < logs->count)
            continue;
        char *command = merge_command(first, number);
        message(NULL, "shard %" PRId64 "/%" PRId64 " is missing: %s", number, count, command ? command : "run it");
        free(command);
        named++;
    }
    if (missing > MOST_NAMED)
        message(NULL, "%" PRId64 " more shards are missing", missing - MOST_NAMED);
    return missing == 0;
}

static bool check_numbers(const merged_logs *logs)
{
    const int64_t count = logs->list[0].record.shard.count;
    int64_t distinct = 0;

    for (size_t i = 0; i < logs->count; i++) {
        const int64_t number = logs->list[i].record.shard.number;
        const size_t other = find_shard(logs, number, i);
        distinct += other == i;
        if (other < i)
            message(logs->list[i].path, "is of shard %" PRId64 "/%" PRId64 ", and so is %s: give one of them", number,
                    count, logs->list[other].path);
    }
    return check_missing(logs, distinct) && (size_t)distinct == logs->count;
}

/* Whether each frame of the list is one shard's, or by rows every log's. */
static bool check_frames(const merged_logs *logs)
{
    const size_t frames = logs->list[0].record.shard.frames;
    const bool by_rows = logs->list[0].record.has_rows;
    size_t left = frames;

    for (size_t i = 0; i < logs->count; i++) {
        const size_t own = logs->list[i].record.shard.own;
        if (own > left || (own < left && (by_rows || i + 1 == logs->count))) {
            message(logs->list[i].path, "the list has %zu frame%s, and not so many are shared out", frames,
                    frames == 1 ? "" : "s");
            return false;
        }
        left -= by_rows ? 0 : own;
    }
    return true;
}

static void say_missing(const merged_logs *logs, int64_t first, int64_t end)
{
    char rows[64], *command = merge_rows_command(&logs->list[0], first, end);
    name_rows(rows, first, end);
    message(NULL, "%s are in no log: %s", rows, command ? command : "match them");
    free(command);
}

/* Says which rows lie between those so far and the next ones, or are in both. False where there are any. */
static bool check_seam(const merged_logs *logs, const row_span *reach, const row_span *next)
{
    const char *path = logs->list[next->part].path;
    const bool same = next->first == reach->first && next->end == reach->end;
    char rows[64];

    if (next->first > reach->end) {
        say_missing(logs, reach->end, next->first);
    } else if (next->first < reach->end) {
        name_rows(rows, next->first, smaller(next->end, reach->end));
        message(path, "has %s, and so has %s: %s", rows, logs->list[reach->part].path,
                same ? "give one of them" : "each row may be in one log only");
    }
    return next->first == reach->end;
}

/* Whether the rows follow each other from the first on, and puts the logs in their order. Whether they go to the end,
 * the maps say. */
static bool check_rows(merged_logs *logs)
{
    row_span *spans = calloc(logs->count, sizeof *spans), reach = {0};
    merged_log *sorted = calloc(logs->count, sizeof *sorted);
    bool good = spans && sorted;

    if (!good)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    const size_t count = good ? logs->count : 0;
    for (size_t i = 0; i < count; i++)
        spans[i] = (row_span){logs->list[i].record.first_row, logs->list[i].record.end_row, i};
    row_spans_sort(spans, count);
    for (size_t i = 0; i < count; i++) {
        good = check_seam(logs, &reach, &spans[i]) && good;
        row_spans_pass(&reach, &spans[i]);
        sorted[i] = logs->list[spans[i].part];
    }
    if (count > 0)
        memcpy(logs->list, sorted, count * sizeof *sorted);
    free(sorted);
    free(spans);
    return good;
}

/* Why parts that somebody has matched may be missing. */
static bool note_others(const merged_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++)
        if (logs->list[i].record.had_other)
            message(logs->list[i].path, "has had another part, too, and only its last one counts: each part needs a log of its own");
    return false;
}

bool merge_check_shards(merged_logs *logs)
{
    bool good = true;

    for (size_t i = 0; i < logs->count; i++)
        good = check_run(&logs->list[i], &logs->list[0]) && good;
    if (!good)
        return false;
    for (size_t i = 0; i < logs->count; i++)
        good = check_finished(&logs->list[i]) && good;
    if (!(logs->list[0].record.has_rows ? check_rows(logs) : check_numbers(logs)))
        return note_others(logs);
    return good && check_frames(logs);
}

bool merge_check_lines(const merged_logs *logs)
{
    bool good = true;
    for (size_t i = 0; i < logs->count; i++) {
        const merged_log *log = &logs->list[i];
        const size_t wanted = log->record.shard.own * logs->templates;
        char what[128];
        if (log->lines >= wanted)
            continue;
        snprintf(what, sizeof what, "%zu of %zu results are missing, as lines are damaged or gone; run it again, and it goes on",
                 wanted - log->lines, wanted);
        good = fail_log(log, what);
    }
    return good;
}
