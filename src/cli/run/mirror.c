/* SPDX-License-Identifier: MIT */
#include "run/mirror.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/input.h"
#include "message.h"

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

/* What somebody else has put there could lead anywhere. */
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

bool mirror_prepare(const char *folder, const char *path, cli_inputs *inputs, io_error *error)
{
    struct stat status;

    if (!make_folders(folder, path, error))
        return false;
    if (is_link(path))
        return fail(error, "is a symbolic link, which is not followed among outputs");
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(error, S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
    return inputs_spare(inputs, path, error);
}

typedef struct place {
    char *path;
    const char *frame;
} place;

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const place *)a)->path, ((const place *)b)->path);
}

static bool check_distinct(place *places, size_t count)
{
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 1; i < count; i++)
        if (compare_places(&places[i - 1], &places[i]) == 0) {
            message(places[i].path, "would be the output of two frames, '%s' and '%s'",
                    places[i - 1].frame, places[i].frame);
            return false;
        }
    return true;
}

bool mirror_check(const char *folder, const cli_frames *frames, cli_inputs *inputs)
{
    place *places = calloc(frames->count + 1, sizeof *places);
    size_t count = 0;
    bool good = places != NULL;
    io_error error;

    for (size_t i = 0; i < frames->count && good; i++) {
        const cli_frame *frame = &frames->list[i];
        if (frame->error)
            continue;
        places[count] = (place){mirror_path(folder, frame, ""), frame->path};
        good = places[count++].path != NULL;
    }
    if (!good)
        message(NULL, "out of memory");
    good = good && check_distinct(places, count);
    for (size_t i = 0; i < count && good && inputs; i++) {
        good = inputs_spare(inputs, places[i].path, &error);
        if (!good)
            message(places[i].path, "%s", error.reason);
    }
    for (size_t i = 0; i < count; i++)
        free(places[i].path);
    free(places);
    return good;
}
