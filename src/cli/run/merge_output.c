/* SPDX-License-Identifier: MIT */
#include "run/merge_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "run/log_line.h"

static bool fail(const char *path)
{
    message(path, "%s", strerror(errno));
    return false;
}

/* A file that has no name any more. */
static FILE *open_unnamed(void)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/tmatch-merge-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        return NULL;
    const int fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    else
        fail(path);
    free(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

bool merge_output_open(merge_output *o, const cli_options *given)
{
    io_error error;

    *o = (merge_output){.given = given};
    if (given->resume && access(given->resume, F_OK) == 0) {
        message(given->resume, "exists already, and the merged log would be a new file");
        return false;
    }
    if (given->resume && !io_output_open(&o->log, given->resume, &error)) {
        o->log = (io_output){0};
        message(given->resume, "%s", error.reason);
        return false;
    }
    if (given->report)
        o->places = open_unnamed();
    return !given->report || o->places;
}

static void put_line(FILE *out, const char *text, size_t result, uint64_t id)
{
    fwrite(text, 1, result, out);
    log_line_end(out, text, result, id);
}

void merge_output_add(merge_output *o, const char *text, size_t length, uint64_t id)
{
    const size_t result = log_line_result(text, length);
    o->count++;
    if (o->log.file)
        put_line(o->log.file, text, result, id);
    if (o->places)
        put_line(o->places, text, result, o->count);
}

bool merge_output_finish_log(merge_output *o)
{
    io_error error;
    if (!o->log.file)
        return true;
    io_output_make_lasting();
    const bool good = io_output_commit(&o->log, &error);
    o->log = (io_output){0};
    if (!good)
        message(o->given->resume, "%s", error.reason);
    return good;
}

cli_exit merge_output_report(merge_output *o, const cli_options *shards, const cli_shard *shard)
{
    cli_options options = *shards;
    char log[64];

    if (!o->places)
        return CLI_FOUND;
    errno = 0;
    if (fflush(o->places) != 0 || ferror(o->places)) {
        fail("the temporary log");
        return CLI_FAILED;
    }
    if (options.files_from && strcmp(options.files_from, "-") == 0 && isatty(STDIN_FILENO)) {
        message(o->given->report, "the shards read their list of frames from standard input, and so does a report");
        return CLI_FAILED;
    }
    snprintf(log, sizeof log, "/proc/self/fd/%d", fileno(o->places));
    options.merged = shard;
    options.resume = log;
    options.report = o->given->report;
    options.format = CLI_TEXT;
    options.quiet = true;
    options.verbose = options.verify = options.time = false;
    options.output = options.crops = options.map = options.heatmap = options.dump_template = NULL;
    options.heatmap_overlay = false;
    /* Nothing is matched. */
    options.settings.device = TM_DEVICE_CPU;
    options.settings.algorithm = TM_ALGORITHM_AUTO;
    options.settings.strategy = TM_STRATEGY_AUTO;
    options.settings.threads = o->given->settings.threads;
    return cli_run(&options);
}

void merge_output_close(merge_output *o)
{
    if (o->log.file)
        io_output_abort(&o->log);
    if (o->places)
        fclose(o->places);
}
