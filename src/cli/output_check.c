/* SPDX-License-Identifier: MIT */
#include "output_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/mirror.h"
#include "input.h"
#include "message.h"

/* Where a path leads: a file, or a name in a directory. */
typedef struct place {
    const char *path;
    const char *name; /* NULL: the file exists */
    dev_t device;
    ino_t inode;
} place;

static bool same_place(const place *a, const place *b)
{
    return a->device == b->device && a->inode == b->inode && !a->name == !b->name &&
           (!a->name || strcmp(a->name, b->name) == 0);
}

static bool find_directory(place *found, const char *path)
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

static bool find_output(place *found, const char *path)
{
    struct stat status;

    *found = (place){.path = path};
    const bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        message(path, "is a directory");
        return false;
    }
    /* The directory is looked at even if the file exists: that is where the
     * temporary file will be. Devices and pipes are written to as they are. */
    if ((!exists || S_ISREG(status.st_mode)) && !find_directory(found, path))
        return false;
    if (!exists)
        return true;
    found->name = NULL;
    found->device = status.st_dev;
    found->inode = status.st_ino;
    return true;
}

static bool is_input(const place *output, const cli_operand *operand)
{
    struct stat status;
    if (output->name || !operand->path)
        return false;
    if (strcmp(operand->path, "-") == 0 ? fstat(STDIN_FILENO, &status)
                                        : stat(operand->path, &status))
        return false;
    return status.st_dev == output->device && status.st_ino == output->inode;
}

static bool check_numbers(const cli_options *o, size_t frames, size_t templates)
{
    if ((o->map || o->heatmap) && (frames != 1 || templates != 1)) {
        message_usage("%s takes one frame and one template, not %zu and %zu",
                      o->map ? "--map" : "--heatmap", frames, templates);
        return false;
    }
    if (o->dump_template && templates != 1) {
        message_usage("--dump-template takes one template, not %zu", templates);
        return false;
    }
    return true;
}

static bool check_input(const place *outputs, int count, const cli_operand *operand)
{
    for (int i = 0; i < count; i++)
        if (is_input(&outputs[i], operand)) {
            message(outputs[i].path, "is an input too, and would be overwritten");
            return false;
        }
    return true;
}

static bool check_inputs(const place *outputs, int count, const cli_frames *frames,
                         const cli_templates *templates)
{
    bool good = true;
    for (size_t i = 0; i < frames->count && good && count > 0; i++) {
        cli_operand operand;
        operand_init(&operand, &frames->list[i]);
        good = check_input(outputs, count, &operand);
        operand_free(&operand);
    }
    for (size_t i = 0; i < templates->count && good; i++)
        good = check_input(outputs, count, &templates->list[i].operand);
    return good;
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

    if (!path)
        return false;
    const size_t length = strlen(path);
    return frames->from_folders || frames->count > 1 || (length > 0 && path[length - 1] == '/') ||
           (!io_can_write(path, &error) && stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

static bool check_folder(const char *folder, const cli_frames *frames)
{
    struct stat status;
    io_error error;

    if (stat(folder, &status) == 0 ? !S_ISDIR(status.st_mode) : io_can_write(folder, &error)) {
        message(folder, "is no folder, which the pictures of many frames need");
        return false;
    }
    return mirror_check(folder, frames);
}

bool output_check(const cli_options *options, const cli_frames *frames,
                  const cli_templates *templates)
{
    const bool folder = output_is_folder(options, frames);
    const char *paths[] = {folder ? NULL : options->output, options->map,
                           options->heatmap, options->dump_template, options->report};
    place places[5];
    int used = 0;

    if (!check_numbers(options, frames->count, templates->count) ||
        (paths[0] && !picture_ending(paths[0])) ||
        (options->heatmap && !picture_ending(options->heatmap)) ||
        (folder && !check_folder(options->output, frames)) ||
        (options->crops && !check_folder(options->crops, frames)))
        return false;
    for (int i = 0; i < 5; i++) {
        if (!paths[i])
            continue;
        place *output = &places[used];
        if (!find_output(output, paths[i]))
            return false;
        for (int k = 0; k < used; k++)
            if (same_place(output, &places[k])) {
                message(output->path, "is named for two outputs");
                return false;
            }
        used++;
    }
    return check_inputs(places, used, frames, templates);
}
