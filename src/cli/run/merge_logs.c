/* SPDX-License-Identifier: MIT */
#include "run/merge_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "run/log_line.h"
#include "run/resume.h"

/* What a process has open besides logs: standard files, what it writes, and what libraries may hold. */
enum { OTHER_FILES = 32 };

static bool fail(const char *path, const char *reason)
{
    message(path, "%s", reason);
    return false;
}

static bool open_file(merged_log *log)
{
    struct stat status;
    const int fd = open(log->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    log->file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!log->file || fstat(fd, &status) != 0) {
        const int number = errno;
        if (fd >= 0 && !log->file)
            close(fd);
        return fail(log->path, strerror(number));
    }
    if (!S_ISREG(status.st_mode))
        return fail(log->path, "is not a regular file, which a log has to be");
    if (!resume_lock(fd, LOCK_SH))
        return fail(log->path, "a run is still writing this log");
    return true;
}

/* Calls take with each whole line and where it is. False after a message. */
static bool each_line(const merged_log *log, bool (*take)(void *data, char *text, size_t length, off_t offset), void *data)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length = 0;
    off_t offset = 0;
    int number = 0;

    rewind(log->file);
    errno = 0;
    while (number == 0 && (length = getline(&text, &size, log->file)) > 0 && text[length - 1] == '\n') {
        text[length - 1] = '\0';
        if (!take(data, text, (size_t)length - 1, offset))
            number = ENOMEM;
        offset += length;
        errno = 0;
    }
    if (number == 0 && length < 0 && !feof(log->file)) /* getline gives up without memory, too */
        number = errno ? errno : EIO;
    free(text);
    return number == 0 || fail(log->path, strerror(number));
}

static bool take_record(void *data, char *text, size_t length, off_t offset)
{
    (void)offset;
    return shard_record_take(data, text, length);
}

/* The logs stay open, and locked, until all is printed; a process may begin with a limit of 1,024 files, and raise it.
 * False after a message. */
static bool allow_files(size_t logs)
{
    const rlim_t needed = (rlim_t)logs + OTHER_FILES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed)
        return true;
    const bool enough = limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= needed;
    limit.rlim_cur = needed;
    if (enough && setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return true;
    message(NULL, "%zu logs cannot be open at a time, as the limit is %llu files (ulimit -Hn); raise it, or make fewer parts",
            logs, (unsigned long long)limit.rlim_max);
    return false;
}

typedef struct taker {
    merged_logs *logs;
    size_t log;
} taker;

merged_line *merge_line(const merged_logs *logs, size_t log, size_t frame, size_t tmpl)
{
    const size_t places = logs->frames * logs->templates;
    return &logs->lines[(logs->by_rows ? log * places : 0) + frame * logs->templates + tmpl];
}

/* The last line of a place counts. */
static bool take_line(void *data, char *text, size_t length, off_t offset)
{
    const taker *t = data;
    merged_log *log = &t->logs->list[t->log];
    shard_place place;
    log_line line;

    if (!log_line_parse(&line, text, length)) {
        log->damaged++;
        return true;
    }
    if (!shard_log_find_place(text, &place) || place.run != log->record.shard.run || place.frame - 1 >= t->logs->frames ||
        place.tmpl - 1 >= t->logs->templates)
        return true;
    merged_line *found = merge_line(t->logs, t->log, place.frame - 1, place.tmpl - 1);
    log->lines += found->log == 0;
    *found = (merged_line){offset, line.length, (uint32_t)t->log + 1};
    return true;
}

/* How many bytes the logs have; a place takes more than one of them. */
static size_t count_bytes(const merged_logs *logs)
{
    struct stat status;
    size_t bytes = 0;
    for (size_t i = 0; i < logs->count; i++)
        bytes += fstat(fileno(logs->list[i].file), &status) == 0 ? (size_t)status.st_size : 0;
    return bytes;
}

static bool find_lines(merged_logs *logs)
{
    const size_t most = count_bytes(logs);
    bool good = true;

    logs->frames = logs->list[0].record.shard.frames;
    logs->templates = logs->list[0].record.template_count;
    logs->by_rows = logs->list[0].record.has_rows;
    const size_t layers = logs->by_rows ? logs->count : 1;
    if (logs->frames > most / layers / (logs->templates > 0 ? logs->templates : 1))
        return fail(NULL, "the logs are too short to have all results: run them again, and they go on");
    logs->lines = calloc(layers * logs->frames * logs->templates + 1, sizeof *logs->lines);
    if (!logs->lines)
        return fail(NULL, tm_strerror(TM_ERR_MEMORY));
    for (size_t i = 0; i < logs->count && good; i++)
        good = each_line(&logs->list[i], take_line, &(taker){logs, i});
    return good;
}

static void note_damage(const merged_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++) {
        const merged_log *log = &logs->list[i];
        if (log->damaged > 0)
            message_note(log->path, "%zu damaged line%s ignored", log->damaged, log->damaged == 1 ? " is" : "s are");
    }
}

bool merge_open(merged_logs *logs, const cli_options *options)
{
    const size_t count = (size_t)options->frame_count;
    bool good = true;

    *logs = (merged_logs){0};
    if (!allow_files(count))
        return false;
    *logs = (merged_logs){.list = calloc(count, sizeof *logs->list), .count = count};
    if (!logs->list) {
        logs->count = 0;
        return fail(NULL, tm_strerror(TM_ERR_MEMORY));
    }
    for (size_t i = 0; i < count; i++) {
        merged_log *log = &logs->list[i];
        log->path = options->frames[i];
        good = open_file(log) && each_line(log, take_record, &log->record) && good;
    }
    if (!good || !merge_check_shards(logs) || !find_lines(logs))
        return false;
    if (!options->quiet)
        note_damage(logs);
    return merge_check_lines(logs);
}

void merge_close(merged_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++) {
        if (logs->list[i].file)
            fclose(logs->list[i].file);
        shard_record_free(&logs->list[i].record);
    }
    free(logs->list);
    free(logs->lines);
    *logs = (merged_logs){0};
}

char *merge_text(const merged_logs *logs, const merged_line *line)
{
    const merged_log *log = &logs->list[line->log - 1];
    char *text = malloc((size_t)line->length + 1);

    errno = text ? EIO : ENOMEM; /* where less is there than before */
    if (!text || pread(fileno(log->file), text, line->length, line->offset) != (ssize_t)line->length) {
        fail(log->path, strerror(errno));
        free(text);
        return NULL;
    }
    text[line->length] = '\0';
    return text;
}
