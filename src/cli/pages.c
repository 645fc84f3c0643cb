/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/io.h"

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The '#' of "file#3", with the number, or NULL. */
static char *find_number(char *path, int64_t *number)
{
    char *mark = strrchr(path, '#'), *end;
    if (!mark || !isdigit((unsigned char)mark[1]))
        return NULL;
    errno = 0;
    *number = strtoll(mark + 1, &end, 10);
    if (errno)
        *number = INT64_MAX;
    return *end ? NULL : mark;
}

static bool add_part(cli_frames *frames, const cli_frame *frame, int64_t number, bool spelled)
{
    cli_frame one = {.path = strdup(frame->path), .tree = frame->tree, .named = frame->named,
                     .part = malloc(sizeof *one.part)};
    if (!one.part) {
        frame_free(&one);
        return false;
    }
    *one.part = (cli_part){.number = number, .spelled = spelled};
    return frames_append(frames, one);
}

static bool add_error(cli_frames *frames, const cli_frame *frame, const char *reason, int64_t count,
                      int64_t number)
{
    cli_frame one = {.path = strdup(frame->path), .tree = frame->tree, .named = frame->named};
    if (asprintf(&one.error, reason, count, number) < 0)
        one.error = NULL;
    if (!one.error) {
        frame_free(&one);
        return false;
    }
    return frames_append(frames, one);
}

static bool add_parts(cli_frames *frames, const cli_frame *frame, int64_t count)
{
    bool good = true;
    frames->from_folders = true;
    if (frames->one_each)
        return add_error(frames, frame,
                         "holds %" PRId64 " pictures, and a template is one: name it with #N "
                         "behind the file's name, from #1",
                         count, 0);
    for (int64_t number = 1; number <= count && good; number++)
        good = add_part(frames, frame, number, false);
    return good;
}

/* file is the frame's path without a crop. */
static bool add(cli_frames *frames, const cli_frame *frame, char *file, bool *added)
{
    int64_t count, number;

    *added = true;
    if (is_file(file)) {
        if (io_may_have_pages(file, !frame->named) && (count = io_count_pages(file)) > 1)
            return add_parts(frames, frame, count);
    } else if (frame->named) {
        char *mark = find_number(file, &number);
        if (mark)
            *mark = '\0';
        if (mark && is_file(file)) {
            count = io_count_pages(file);
            if (number >= 1 && number <= count)
                return add_part(frames, frame, number, true);
            return add_error(frames, frame,
                             count == 1 ? "the file holds %" PRId64 " picture, not #%" PRId64
                                        : "the file holds %" PRId64 " pictures, not #%" PRId64,
                             count, number);
        }
    }
    *added = false;
    return true;
}

bool pages_add(cli_frames *frames, cli_frame frame)
{
    char *file = NULL;
    io_crop crop;
    bool has_crop, added = false, good = true;
    io_error error;

    if (frame.path && strcmp(frame.path, "-") != 0) {
        if (!frame.named)
            file = strdup(frame.path);
        else
            io_split_crop(frame.path, &file, &crop, &has_crop, &error); /* or its turn says why not */
        good = !file || add(frames, &frame, file, &added);
        free(file);
    }
    if (!added)
        return frames_append(frames, frame) && good;
    frame_free(&frame);
    return good;
}
