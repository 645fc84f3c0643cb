/* SPDX-License-Identifier: MIT */
#include "batch/mirror.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "identity.h"
#include "input.h"
#include "message.h"

char *mirror_path(const char *folder, const cli_frame *frame, const char *suffix)
{
    cli_operand operand;
    io_error error;
    char *path = NULL;

    operand_init(&operand, frame); /* takes a crop off the name */
    const char *file = operand_name(&operand);
    const char *name = strcmp(file, "-") == 0 ? "stdin" : file + frame->tree;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    const char *ending = *suffix || io_can_write(name, &error) ? "" : ".png";
    if (asprintf(&path, "%s%s%s%s%s", folder, slash, name, suffix, ending) < 0)
        path = NULL;
    operand_free(&operand);
    return path;
}

bool mirror_make_folders(const char *path, io_error *error)
{
    char *folder = strdup(path);
    bool good = folder != NULL;

    errno = ENOMEM;
    for (char *slash = folder; good && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        good = mkdir(folder, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    if (!good)
        snprintf(error->reason, sizeof error->reason, "%s", strerror(errno));
    free(folder);
    return good;
}

typedef struct place {
    char *path;
    const char *frame;
} place;

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const place *)a)->path, ((const place *)b)->path);
}

static int compare_identities(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(cli_identity));
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

/* Sorted, malloc'ed; NULL if memory ran out. */
static cli_identity *identify_inputs(const cli_frames *frames, const char *const *others,
                                 size_t other_count, size_t *count)
{
    cli_identity *inputs = malloc((frames->count + other_count + 1) * sizeof *inputs);

    *count = 0;
    if (!inputs)
        return NULL;
    for (size_t i = 0; i < frames->count; i++) {
        cli_operand operand;
        operand_init(&operand, &frames->list[i]); /* takes a crop off the name */
        *count += identify(operand.path, &inputs[*count]);
        operand_free(&operand);
    }
    for (size_t i = 0; i < other_count; i++)
        *count += identify(others[i], &inputs[*count]);
    qsort(inputs, *count, sizeof *inputs, compare_identities);
    return inputs;
}

/* Only a place that exists can be an input; on a first run there is none. */
static bool check_inputs(const place *places, size_t count, const cli_frames *frames,
                         const char *const *others, size_t other_count)
{
    cli_identity *inputs = NULL, id;
    size_t input_count = 0;
    bool good = true;

    for (size_t i = 0; i < count && good; i++) {
        if (!identify(places[i].path, &id))
            continue;
        if (!inputs)
            inputs = identify_inputs(frames, others, other_count, &input_count);
        good = inputs && !bsearch(&id, inputs, input_count, sizeof id, compare_identities);
        if (!good)
            message(places[i].path, inputs ? "is an input too, and would be overwritten"
                                           : "out of memory");
    }
    free(inputs);
    return good;
}

bool mirror_check(const char *folder, const cli_frames *frames, const char *const *others,
                  size_t other_count)
{
    place *places = calloc(frames->count + 1, sizeof *places);
    size_t count = 0;
    bool good = places != NULL;

    for (size_t i = 0; i < frames->count && good; i++) {
        const cli_frame *frame = &frames->list[i];
        if (frame->error)
            continue;
        places[count] = (place){mirror_path(folder, frame, ""), frame->path};
        good = places[count++].path != NULL;
    }
    if (!good)
        message(NULL, "out of memory");
    good = good && check_distinct(places, count) &&
           check_inputs(places, count, frames, others, other_count);
    for (size_t i = 0; i < count; i++)
        free(places[i].path);
    free(places);
    return good;
}
