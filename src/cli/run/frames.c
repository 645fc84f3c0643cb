/* SPDX-License-Identifier: MIT */
#include "run/frames.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool frames_grow(void **list, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity ? 2 * *capacity : 64;
    void *larger = realloc(*list, more * size);
    if (!larger)
        return false;
    *list = larger;
    *capacity = more;
    return true;
}

bool frames_append(cli_frames *frames, cli_frame frame)
{
    if (frame.path &&
        frames_grow((void **)&frames->list, &frames->capacity, frames->count, sizeof frame)) {
        frames->list[frames->count++] = frame;
        return true;
    }
    frame_free(&frame);
    return false;
}

void frames_thin(cli_frames *frames, const io_movie_wish *wish)
{
    int64_t counted = 0;
    size_t kept = 0;
    for (size_t i = 0; i < frames->count; i++) {
        const cli_frame frame = frames->list[i];
        const cli_part *part = frame.part;
        const bool movie = part && part->location.timed && !part->spelled;
        if (movie && part->number == 1)
            counted = 0;
        if (!movie || io_movie_wants(wish, part->number, true, part->location.time, &counted))
            frames->list[kept++] = frame;
        else
            frame_free(&frames->list[i]);
    }
    frames->count = kept;
}

void frames_drop_held(cli_frames *frames, size_t first)
{
    for (size_t i = first; i < frames->count; i++)
        if (frames->list[i].part)
            io_source_close(&frames->list[i].part->held);
}

void frame_free(cli_frame *frame)
{
    free(frame->path);
    free(frame->error);
    if (frame->part)
        io_source_close(&frame->part->held);
    free(frame->part);
}

void frames_free(cli_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        frame_free(&frames->list[i]);
    free(frames->list);
    *frames = (cli_frames){0};
}

static bool is_file(const char *path)
{
    struct stat status;
    return strcmp(path, "-") == 0 ||
           (stat(path, &status) == 0 && S_ISREG(status.st_mode));
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

bool frames_add_error(cli_frames *frames, char *path, uint32_t tree, bool named, const char *reason)
{
    const cli_frame frame = {.path = path, .tree = tree, .named = named, .error = strdup(reason)};
    if (frame.error)
        return frames_append(frames, frame);
    free(path);
    return false;
}

/* Fails the frame, of whose path the caller keeps its own copy. */
static bool add_error(cli_frames *frames, const cli_frame *frame, const char *reason)
{
    return frames_add_error(frames, strdup(frame->path), frame->tree, frame->named, reason);
}

typedef struct taker {
    cli_frames *frames;
    const cli_frame *frame;
    int64_t number; /* the last picture's, or that of the only one that is wanted */
    bool only;
    bool added;
} taker;

static bool add_part(taker *t, const io_part *location, const char *reason)
{
    const cli_frame *frame = t->frame;
    cli_frame one = {.path = strdup(frame->path), .tree = frame->tree, .named = frame->named,
                     .part = calloc(1, sizeof *one.part),
                     .error = reason ? strdup(reason) : NULL};
    if (!one.part || (reason && !one.error)) {
        frame_free(&one);
        return false;
    }
    *one.part = (cli_part){.number = t->number, .spelled = t->only, .location = *location};
    t->added = true;
    return frames_append(t->frames, one);
}

/* For io_find_parts. A template or a mask has to be one picture: a file of several becomes an error, once. */
static bool take(void *data, const io_part *location, const char *reason)
{
    taker *t = data;
    if (!t->only)
        t->number++;
    if (!t->frames->one_each || t->only)
        return add_part(t, location, reason);
    t->added = true;
    if (t->number > 1)
        return true;
    char why[96];
    snprintf(why, sizeof why, "holds several pictures, and %s is one%s", t->frames->one_each,
             strcmp(t->frame->path, "-") == 0 ? "" : ": #1 behind the file's name means the first");
    return add_error(t->frames, t->frame, why);
}

/* Adds the picture that "file#3" names. file: the path without number and crop. */
static bool add_numbered(taker *t, const char *file)
{
    char reason[96];
    const int64_t wanted = t->number > 0 ? t->number : INT64_MAX;
    const int64_t count = io_find_parts(file, wanted, take, t);
    if (t->added || count < 0)
        return count >= 0;
    snprintf(reason, sizeof reason, "the file holds %" PRId64 " picture%s, not #%" PRId64, count,
             count == 1 ? "" : "s", t->number);
    t->added = true;
    return add_error(t->frames, t->frame, reason);
}

/* Adds the frame of a movie that "clip.mp4#3" names. */
static bool add_movie_frame(taker *t)
{
    if (t->number > 0)
        return add_part(t, &(io_part){.frame = t->number}, NULL);
    t->added = true;
    return add_error(t->frames, t->frame, "a movie's first frame is #1");
}

/* Whether a file is a movie. In folders and lists only those are looked into whose names are a movie's. */
static bool is_movie(const cli_frames *frames, const cli_frame *frame, const char *file)
{
    return (frame->named && !frames->in_list ? is_file(file) : io_is_movie_name(file)) && io_is_movie(file);
}

/* Adds a movie, which is no template. */
static bool add_movie(taker *t)
{
    cli_frame movie = *t->frame;
    t->added = true;
    if (t->frames->one_each) {
        char why[96];
        snprintf(why, sizeof why, "a movie, and %s is one picture: #1 behind the file's name means its first frame", t->frames->one_each);
        return add_error(t->frames, t->frame, why);
    }
    movie.path = strdup(movie.path);
    movie.stream = movie.movie = true;
    return frames_append(t->frames, movie);
}

/* Adds the pictures of a file that holds several, or the one that is asked for; else nothing. file:
 * the frame's path without a crop. */
static bool add_parts(taker *t, char *file)
{
    if (is_file(file)) {
        if (!io_may_have_pages(file, !t->frame->named || t->frames->in_list))
            return true;
        const bool good = io_find_parts(file, 0, take, t) >= 0;
        t->frames->from_folders |= t->added;
        return good;
    }
    if (!t->frame->named)
        return true;
    char *mark = find_number(file, &t->number);
    if (!mark)
        return true;
    *mark = '\0';
    t->only = true;
    if (!is_file(file) || strcmp(file, "-") == 0)
        return true;
    return io_is_movie(file) ? add_movie_frame(t) : add_numbered(t, file);
}

bool frames_add_file(cli_frames *frames, cli_frame frame)
{
    taker t = {.frames = frames, .frame = &frame};
    char *file = NULL;
    io_crop crop;
    bool has_crop, good = true;
    io_error error;

    if (!frame.path)
        return false;
    if (!frame.named)
        file = strdup(frame.path);
    else
        io_split_crop(frame.path, &file, &crop, &has_crop, &error); /* a failure is told when it is loaded */
    if (file && frame.named && !frames->one_each && io_is_stream(file)) {
        frame.stream = !frames->in_list || strcmp(file, "-") == 0;
        if (!frame.stream) {
            t.added = true;
            good = add_error(frames, &frame,
                             "a pipe or a device is named on the command line, not in a list");
        }
    } else if (file && is_movie(frames, &frame, file)) {
        good = add_movie(&t);
    } else if (file && !(frames->one_each && io_is_stream(file))) {
        good = add_parts(&t, file);
    }
    free(file);
    if (!t.added && good)
        return frames_append(frames, frame);
    frame_free(&frame);
    return good;
}
