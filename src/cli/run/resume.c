/* SPDX-License-Identifier: MIT */
#include "run/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "hash.h"
#include "message.h"
#include "run/ids.h"
#include "run/log_table.h"
#include "run/shard_places.h"

enum { LOCK_MS = 1000 };

struct cli_resume {
    const char *path;
    int fd;
    bool ready; /* lines can be appended */
    off_t size;
    struct timespec synced;
    uint64_t *templates; /* for each template, the part of the ids that frames do not change; 0: no id */
    size_t template_count;
    log_table table; /* the last line of each id */
    const cli_shard *shard; /* or NULL */
    bool by_place;          /* ids are places */
    shard_places places;
    uint64_t rows_hash; /* what the rows of the maps, of --rows, change in ids; 0: all are matched */
};

static bool fail(const cli_resume *r)
{
    message(r->path, "%s", strerror(errno));
    return false;
}

const log_line *resume_find(const cli_resume *r, uint64_t id)
{
    return log_table_find(&r->table, id);
}

bool resume_is_placed(const cli_resume *r, const log_line *line, const shard_place *place)
{
    const off_t *last = shard_places_find(&r->places, place);
    return last && *last == line->offset;
}

static void note_place(cli_resume *r, const char *text, off_t offset)
{
    shard_place place;
    off_t *last = r->shard && shard_log_find_place(text, &place) ? shard_places_find(&r->places, &place) : NULL;
    if (last)
        *last = offset;
}

/* Whether the text is the beginning of a line that begins so, or the other way round. */
static bool agree(const char *text, size_t length, const char *start)
{
    return strncmp(text, start, length < strlen(start) ? length : strlen(start)) == 0;
}

/* Reads the log. A file that is no log is left alone: a log has at least one whole line, or nothing
 * but the beginning of one. */
static bool read_lines(cli_resume *r, FILE *file, bool quiet)
{
    char *text = NULL;
    size_t size = 0, whole = 0, damaged = 0;
    ssize_t length;
    bool good = true, begun = true;

    while (good && (errno = 0, length = getline(&text, &size, file)) > 0) {
        if (text[length - 1] != '\n') { /* the line is torn: a power cut may leave zeros there */
            begun = agree(text, (size_t)length, LOG_LINE_START) || agree(text, (size_t)length, SHARD_LOG_START);
            break;
        }
        log_line line;
        text[--length] = '\0';
        const bool sound = log_line_parse(&line, text, (size_t)length);
        line.offset = r->size;
        r->size += length + 1;
        if (sound)
            note_place(r, text, line.offset);
        whole += sound;
        damaged += !sound;
        good = !sound || line.id == 0 || log_table_put(&r->table, &line);
    }
    const bool ours = whole > 0 || (damaged == 0 && begun);
    if (!good || errno || ferror(file))
        good = fail(r);
    else if (!ours)
        message(r->path, "is not a log of --resume: nothing was appended to it");
    else if (damaged > 0 && !quiet)
        message_note(r->path, "%zu damaged line%s ignored: frames without another line are matched again",
                     damaged, damaged == 1 ? " is" : "s are");
    free(text);
    return good && ours;
}

bool resume_lock(int fd, int kind)
{
    const double start = clock_ms();
    while (flock(fd, kind | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || clock_ms() - start > LOCK_MS)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return true;
}

/* The log may be new in its folder, which is not that of a link to it. */
static bool sync_folder(const cli_resume *r)
{
    char *own = realpath(r->path, NULL);
    const bool good = io_sync_folder_of(own ? own : r->path);
    free(own);
    return good;
}

static bool open_log(cli_resume *r, bool quiet)
{
    struct stat status;

    r->fd = open(r->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (r->fd < 0 || fstat(r->fd, &status) != 0)
        return fail(r);
    if (!S_ISREG(status.st_mode)) {
        message(r->path, "is not a regular file, which a log has to be");
        return false;
    }
    if (!resume_lock(r->fd, LOCK_EX)) {
        message(r->path, "another run is writing this log");
        return false;
    }
    const int copy = dup(r->fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    if (!file) {
        if (copy >= 0)
            close(copy);
        return fail(r);
    }
    const bool read = read_lines(r, file, quiet);
    fclose(file);
    if (status.st_size == 0 && !sync_folder(r))
        return fail(r);
    return read && (r->size == status.st_size || ftruncate(r->fd, r->size) == 0 || fail(r));
}

static bool begin_shard(cli_resume *r, cli_shard *shard, const cli_options *options, const cli_templates *templates,
                        const cli_frames *frames)
{
    shard->settings = ids_of_settings(r->templates, options, templates);
    const uint64_t facts[] = {shard->list, shard->settings, (uint64_t)shard->count, (uint64_t)shard->number, r->rows_hash};
    shard->run = hash_bytes(0, facts, sizeof facts);
    r->shard = shard;
    if (shard_places_make(&r->places, shard->run, frames, templates->count))
        return true;
    message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    return false;
}

/* Appends the line that begins or ends the shard's run. */
static bool append_record(cli_resume *r, const cli_options *options, const cli_templates *templates, int status)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    bool good = memory && (options ? shard_log_begin(memory, r->shard, options, templates)
                                   : shard_log_finish(memory, r->shard, status));

    good = memory && fclose(memory) == 0 && good;
    if (!good)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    good = good && resume_append(r, text, size);
    free(text);
    return good;
}

bool resume_finish(cli_resume *r, int status)
{
    return append_record(r, NULL, NULL, status);
}

bool resume_open(cli_resume **resume, const cli_options *options, const cli_templates *templates,
                 const cli_masks *masks, cli_shard *shard, const cli_frames *frames)
{
    cli_resume *r = calloc(1, sizeof *r);

    *resume = r;
    if (r)
        *r = (cli_resume){.path = options->resume, .fd = -1, .by_place = options->merged, .rows_hash = ids_rows_hash(options), .template_count = templates->count,
                          .templates = calloc(templates->count + 1, sizeof *r->templates)};
    bool good = r && r->templates;
    if (!good)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    if (good)
        ids_of_templates(r->templates, options, templates, masks);
    if (good && options->merged && ids_of_settings(r->templates, options, templates) != options->merged->settings) {
        message(options->report, "the templates, or the mask of the frames, are not those of the shards any more");
        good = false;
    }
    good = good && (!shard || begin_shard(r, shard, options, templates, frames)) && open_log(r, options->quiet);
    if (good) {
        clock_gettime(CLOCK_MONOTONIC, &r->synced);
        r->ready = true;
        good = !shard || append_record(r, options, templates, 0);
    }
    if (!good)
        resume_close(resume);
    return good;
}

bool resume_close(cli_resume **resume)
{
    cli_resume *r = *resume;
    bool good = true;

    if (!r)
        return true;
    if (r->ready)
        good = fdatasync(r->fd) == 0 || fail(r);
    if (r->fd >= 0)
        close(r->fd);
    free(r->templates);
    log_table_free(&r->table);
    shard_places_free(&r->places);
    free(r);
    *resume = NULL;
    return good;
}

void resume_identify(const cli_resume *r, const cli_frame *frame, const char *file, uint64_t *ids)
{
    if (r->by_place)
        for (size_t i = 0; i < r->template_count; i++)
            ids[i] = (frame->place - 1) * r->template_count + i + 1;
    else
        ids_of_frame(ids, r->templates, r->template_count, frame, file);
    for (size_t i = 0; i < r->template_count && r->rows_hash; i++)
        ids[i] = ids[i] ? ids[i] ^ r->rows_hash : 0;
}

char *resume_text(const cli_resume *r, const log_line *line)
{
    char *text = malloc((size_t)line->length + 1);
    if (text && pread(r->fd, text, line->length, line->offset) == (ssize_t)line->length) {
        text[line->length] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

/* Returns how much could be written; where it is not all, errno says why. A disk with too little
 * room, and a limit on the size of files, take a part first. */
static size_t write_all(int fd, const char *data, size_t size)
{
    size_t written = 0;
    while (written < size) {
        errno = ENOSPC; /* where nothing is written without an error */
        const ssize_t more = write(fd, data + written, size - written);
        if (more <= 0)
            break;
        written += (size_t)more;
    }
    return written;
}

bool resume_append(cli_resume *r, const char *lines, size_t size)
{
    struct timespec now;
    const size_t written = write_all(r->fd, lines, size);

    if (written != size) {
        fail(r);
        /* Nothing but a kill leaves half a line. */
        if (written > 0 && ftruncate(r->fd, r->size) != 0)
            fail(r);
        return false;
    }
    r->size += (int64_t)written;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - r->synced.tv_sec >= RESUME_SYNC_S) {
        r->synced = now;
        return fdatasync(r->fd) == 0 || fail(r);
    }
    return true;
}
