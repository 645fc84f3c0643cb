/* SPDX-License-Identifier: MIT */
#include "run/mirror.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "run/operand.h"

char *mirror_path(const char *folder, const cli_frame *frame, const char *suffix)
{
    cli_operand operand;
    io_error error;
    char *path = NULL;

    operand_init(&operand, frame); /* takes a crop off the name */
    const char *file = operand_name(&operand);
    const bool standard = file[0] == '-' && (file[1] == '\0' || file[1] == '#');
    const char *name = file + (standard ? 1 : frame->tree);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    const char *ending = *suffix || io_can_write(name, &error) ? "" : ".png";
    if (asprintf(&path, "%s%s%s%s%s%s", folder, slash, standard ? "stdin" : "", name, suffix,
                 ending) < 0)
        path = NULL;
    operand_free(&operand);
    return path;
}

/* Links are not followed: who else can write in the folder could make them lead anywhere. */
static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static bool fail(io_error *error, const char *reason)
{
    snprintf(error->reason, sizeof error->reason, "%s", reason);
    return false;
}

/* Below the folder that the user named no link is followed. */
static bool make_folders(const char *root, const char *path, io_error *error)
{
    const size_t named = strlen(root);
    char *folder = strdup(path);
    bool good = folder || fail(error, strerror(ENOMEM));

    for (char *slash = folder; good && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        good = mkdir(folder, 0777) == 0 || errno == EEXIST || fail(error, strerror(errno));
        if (good && (size_t)(slash - folder) > named && is_link(folder)) {
            snprintf(error->reason, sizeof error->reason,
                     "its folder %.160s is a symbolic link, which is not followed among outputs",
                     folder);
            good = false;
        }
        *slash = '/';
    }
    free(folder);
    return good;
}

bool mirror_prepare(const char *folder, const char *path, cli_protected *protected, io_error *error)
{
    struct stat status;

    if (!make_folders(folder, path, error))
        return false;
    if (is_link(path))
        return fail(error, "is a symbolic link, which is not followed among outputs");
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(error, S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
    return protected_allows(protected, path, error);
}

typedef struct target {
    char *path;
    const char *frame;
} target;

static int compare_targets(const void *a, const void *b)
{
    return strcmp(((const target *)a)->path, ((const target *)b)->path);
}

static bool check_distinct(target *targets, size_t count)
{
    qsort(targets, count, sizeof *targets, compare_targets);
    for (size_t i = 1; i < count; i++)
        if (compare_targets(&targets[i - 1], &targets[i]) == 0) {
            message(targets[i].path, "would be the output of two frames, '%s' and '%s'",
                    targets[i - 1].frame, targets[i].frame);
            return false;
        }
    return true;
}

bool mirror_check(const char *folder, const cli_frames *frames, cli_protected *protected)
{
    target *targets = calloc(frames->count + 1, sizeof *targets);
    size_t count = 0;
    bool good = targets != NULL;
    io_error error;

    for (size_t i = 0; i < frames->count && good; i++) {
        const cli_frame *frame = &frames->list[i];
        if (frame->error)
            continue;
        targets[count] = (target){mirror_path(folder, frame, ""), frame->path};
        good = targets[count++].path != NULL;
    }
    if (!good)
        message(NULL, "out of memory");
    good = good && check_distinct(targets, count);
    for (size_t i = 0; i < count && good && protected; i++) {
        good = protected_allows(protected, targets[i].path, &error);
        if (!good)
            message(targets[i].path, "%s", error.reason);
    }
    for (size_t i = 0; i < count; i++)
        free(targets[i].path);
    free(targets);
    return good;
}
