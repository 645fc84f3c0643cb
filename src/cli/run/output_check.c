/* SPDX-License-Identifier: MIT */
#include "run/output_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/movie/movie.h"
#include "message.h"
#include "run/mirror.h"
#include "run/movie_output.h"

/* Where a path leads: a file, or a name in a directory. */
typedef struct target {
    const char *path;
    const char *name; /* NULL: the file exists */
    dev_t device;
    ino_t inode;
} target;

static bool same_target(const target *a, const target *b)
{
    return a->device == b->device && a->inode == b->inode && !a->name == !b->name &&
           (!a->name || strcmp(a->name, b->name) == 0);
}

static bool find_directory(target *found, const char *path)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    const bool exists = directory && stat(directory, &status) == 0;

    if (exists && access(directory, W_OK) == 0) {
        found->device = status.st_dev;
        found->inode = status.st_ino;
        found->name = slash ? slash + 1 : path;
        free(directory);
        return true;
    }
    message(path, "cannot write in the directory: %s", strerror(errno));
    free(directory);
    return false;
}

/* Finds where an output will be written. A log is appended to: where it exists, no temporary file
 * is made in its directory. */
static bool find_output(target *found, const char *path, bool appended)
{
    struct stat status;

    *found = (target){.path = path};
    const bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        message(path, "is a directory");
        return false;
    }
    /* The directory is looked at even if the file exists: that is where the
     * temporary file will be. Devices and pipes are written to as they are. */
    if ((!exists || (S_ISREG(status.st_mode) && !appended)) && !find_directory(found, path))
        return false;
    if (!exists)
        return true;
    found->name = NULL;
    found->device = status.st_dev;
    found->inode = status.st_ino;
    return true;
}

/* How one frame is asked for, where that is what was probably meant: many a GIF has no more. */
static const char *first_of_movie(const cli_frames *frames)
{
    return frames->count == 1 && frames->list[0].movie ? "; #1 behind the movie's name means its first frame" : "";
}

static bool check_numbers(const cli_options *o, const cli_frames *frames, size_t templates)
{
    size_t movies = 0;
    for (size_t i = 0; i < frames->count; i++)
        movies += frames->list[i].movie || frames->list[i].stream;
    if (o->chapters && movies > 1) {
        message_usage("--chapters takes one movie, not %zu", movies);
        return false;
    }
    if ((o->map || o->heatmap) && frames->streamed) {
        message_usage("%s takes one frame, not a stream of them%s", o->map ? "--map" : "--heatmap", first_of_movie(frames));
        return false;
    }
    if ((o->map || o->heatmap) && (frames->count != 1 || templates != 1)) {
        message_usage("%s takes one frame and one template, not %zu and %zu",
                      o->map ? "--map" : "--heatmap", frames->count, templates);
        return false;
    }
    if (o->dump_template && templates != 1) {
        message_usage("--dump-template takes one template, not %zu", templates);
        return false;
    }
    return true;
}

static bool check_protected(const target *outputs, int count, cli_protected *protected)
{
    io_error error;
    for (int i = 0; i < count; i++)
        if (!protected_allows(protected, outputs[i].path, &error)) {
            message(outputs[i].path, "%s", error.reason);
            return false;
        }
    return true;
}

static bool picture_ending(const char *path)
{
    io_error error;
    if (io_can_write(path, &error))
        return true;
    message(path, "%s", error.reason);
    return false;
}

bool output_is_folder(const cli_options *options, const cli_frames *frames)
{
    const char *path = options->output;
    struct stat status;
    io_error error;

    if (!path || movie_output_wanted(options, frames))
        return false;
    const size_t length = strlen(path);
    return frames->from_folders || frames->count > 1 || (length > 0 && path[length - 1] == '/') ||
           (!io_can_write(path, &error) && stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* Every picture written there would be the next frame, or replace one. */
static bool is_watched(const cli_options *options, const struct stat *folder)
{
    struct stat watched;
    return options->watch && stat(options->watch, &watched) == 0 &&
           watched.st_dev == folder->st_dev && watched.st_ino == folder->st_ino;
}

/* suffixed: the files get other names than the frames. */
static bool check_folder(const cli_options *options, const char *folder, bool suffixed,
                         const cli_frames *frames, cli_protected *protected)
{
    struct stat status;
    io_error error;
    const bool exists = stat(folder, &status) == 0;

    /* joined with a name, an empty path would be the root */
    if (!*folder || (exists ? !S_ISDIR(status.st_mode) : io_can_write(folder, &error))) {
        message(folder, suffixed ? "is not a folder, into which --crops writes%s"
                                 : "is not a folder, and the pictures of many frames need one%s",
                first_of_movie(frames));
        return false;
    }
    if (!exists && io_is_movie_name(folder)) {
        message(folder, "a movie is written of one movie's frames, as " IO_WRITTEN_MOVIES "; else name a folder, for "
                        "a picture of each frame");
        return false;
    }
    if (exists && is_watched(options, &status)) {
        message(folder, "is the watched folder: what is written there would become a frame");
        return false;
    }
    return mirror_check(folder, frames, suffixed ? NULL : protected);
}

static bool check_folders(const cli_options *options, const cli_frames *frames,
                          cli_protected *protected)
{
    return (!output_is_folder(options, frames) ||
            check_folder(options, options->output, false, frames, protected)) &&
           (!options->crops || check_folder(options, options->crops, true, frames, protected));
}

static bool check_files(const cli_options *options, const cli_frames *frames,
                        cli_protected *protected)
{
    const char *paths[] = {output_is_folder(options, frames) ? NULL : options->output,
                           options->map, options->heatmap, options->dump_template,
                           options->report, options->resume, options->chapters, options->edl};
    target targets[8];
    int used = 0;

    if ((paths[0] && !movie_output_wanted(options, frames) && !picture_ending(paths[0])) ||
        (options->heatmap && !picture_ending(options->heatmap)))
        return false;
    for (int i = 0; i < 8; i++) {
        if (!paths[i])
            continue;
        target *output = &targets[used];
        if (!find_output(output, paths[i], paths[i] == options->resume))
            return false;
        for (int k = 0; k < used; k++)
            if (same_target(output, &targets[k])) {
                message(output->path, "is named for two outputs");
                return false;
            }
        used++;
    }
    return check_protected(targets, used, protected);
}

bool output_check(const cli_options *options, const cli_frames *frames,
                  const cli_templates *templates, cli_protected *protected)
{
    return check_numbers(options, frames, templates->count) &&
           check_folders(options, frames, protected) && check_files(options, frames, protected);
}
