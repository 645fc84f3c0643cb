/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "run/merge_command.h"

/* Of shards that are missing so many are named. */
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

/* Whether the log belongs to the run that the first is of. */
static bool check_run(const merged_log *log, const merged_log *first)
{
    const cli_shard *s = &log->record.shard, *f = &first->record.shard;
    char what[512];

    if (s->count == 0) {
        message(log->path, "is not the log of a shard, which a run with --shard I/N --resume LOG writes");
        return false;
    }
    if (f->count == 0)
        return true;
    if (s->count != f->count) {
        message(log->path, "is of shard %" PRId64 "/%" PRId64 ", but %s is of %" PRId64 "/%" PRId64, s->number, s->count,
                first->path, f->number, f->count);
        return false;
    }
    if (!same_templates(&log->record, &first->record)) {
        char *other = merge_command(first, f->number);
        snprintf(what, sizeof what, "has other options or templates than %s; it was run as", first->path);
        fail_log(log, what);
        message(first->path, "was run as: %s", other ? other : "");
        free(other);
        return false;
    }
    if (s->list != f->list) {
        snprintf(what, sizeof what, "has another list of frames, %zu, than %s, %zu; run again what has not seen all, this one by",
                 s->frames, first->path, f->frames);
        return fail_log(log, what);
    }
    return true;
}

static bool check_finished(const merged_log *log)
{
    char what[96];
    if (log->record.finished)
        return true;
    snprintf(what, sizeof what, "shard %" PRId64 "/%" PRId64 " is not finished; run it again, and it goes on",
             log->record.shard.number, log->record.shard.count);
    return fail_log(log, what);
}

/* Says which shards are missing. Always false if there are any. */
static bool check_missing(const merged_logs *logs, const bool *there)
{
    const merged_log *first = &logs->list[0];
    const int64_t count = first->record.shard.count;
    int64_t missing = 0;

    for (int64_t number = 1; number <= count; number++) {
        if (there[number] || missing++ >= MOST_NAMED)
            continue;
        char *command = merge_command(first, number);
        message(NULL, "shard %" PRId64 "/%" PRId64 " is missing: %s", number, count, command ? command : "run it");
        free(command);
    }
    if (missing > MOST_NAMED)
        message(NULL, "%" PRId64 " more shards are missing", missing - MOST_NAMED);
    return missing == 0;
}

static bool check_numbers(const merged_logs *logs)
{
    const int64_t count = logs->list[0].record.shard.count;
    bool *there = calloc((size_t)count + 1, sizeof *there);
    bool good = there != NULL;

    if (!there)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    for (size_t i = 0; i < logs->count && there; i++) {
        const int64_t number = logs->list[i].record.shard.number;
        for (size_t k = 0; k < i && there[number]; k++)
            if (logs->list[k].record.shard.number == number) {
                message(logs->list[i].path, "is of shard %" PRId64 "/%" PRId64 ", and so is %s: give one of them", number,
                        count, logs->list[k].path);
                good = false;
                break;
            }
        there[number] = true;
    }
    good = there && check_missing(logs, there) && good;
    free(there);
    return good;
}

bool merge_check_shards(const merged_logs *logs)
{
    bool good = true;

    for (size_t i = 0; i < logs->count; i++)
        good = check_run(&logs->list[i], &logs->list[0]) && good;
    if (!good)
        return false;
    for (size_t i = 0; i < logs->count; i++)
        good = check_finished(&logs->list[i]) && good;
    return check_numbers(logs) && good;
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
