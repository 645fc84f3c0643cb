/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if ((o->output || o->map) && (frames != 1 || templates != 1)) {
        message_usage("%s takes one frame and one template, not %zu and %zu",
                      o->output ? "--output" : "--map", frames, templates);
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

bool output_check(const cli_options *options, const cli_frames *frames,
                  const cli_templates *templates)
{
    const char *paths[] = {options->output, options->map, options->dump_template};
    place places[3];
    int used = 0;

    if (!check_numbers(options, frames->count, templates->count))
        return false;
    for (int i = 0; i < 3; i++) {
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

bool output_annotated(const char *path, const cli_input *frame, const io_limits *limits,
                      const cli_result *result, tm_metric metric, io_error *error)
{
    io_picture picture;
    char label[32];

    if (!io_decode(&frame->source, IO_RGB, limits, &picture, error))
        return false;
    for (size_t i = 0; i < result->match_count; i++) {
        const tm_peak *match = &result->matches[i];
        if (metric == TM_METRIC_LCC)
            snprintf(label, sizeof label, "%.4f", match->score);
        else
            snprintf(label, sizeof label, "%" PRId64, (int64_t)match->score);
        io_draw_match(&picture, match->x, match->y, result->template_width,
                      result->template_height, label);
    }
    const bool written = io_write_picture(path, &picture, error);
    io_picture_free(&picture);
    return written;
}

bool output_map(const char *path, const score_map *map, io_error *error)
{
    const io_npy_type type = map->metric == TM_METRIC_LCC ? IO_NPY_FLOAT32 : IO_NPY_INT64;
    return io_write_npy(path, type, map->height, map->width, map->data, error);
}

/* A normalized template is not flat, so high > low. */
static void stretch(uint8_t *samples, const float *values, size_t count)
{
    float low = values[0], high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = fminf(low, values[i]);
        high = fmaxf(high, values[i]);
    }
    for (size_t i = 0; i < count; i++)
        samples[i] = (uint8_t)lrintf((values[i] - low) / (high - low) * 255.0F);
}

bool output_template(const char *path, const tm_template *tmpl, int64_t width, int64_t height,
                     io_error *error)
{
    const size_t count = (size_t)width * (size_t)height;
    float *values = malloc(count * sizeof *values);
    uint8_t *samples = malloc(count);
    bool written = false;

    if (!values || !samples) {
        strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
        goto end;
    }
    const tm_status status = tm_template_normalized(tmpl, values);
    if (status != TM_OK) {
        snprintf(error->reason, sizeof error->reason, "%s", tm_strerror(status));
        goto end;
    }
    if (strcasecmp(path + strlen(path) - 4, ".txt") == 0) {
        written = io_write_text(path, height, width, values, error);
    } else {
        stretch(samples, values, count);
        const io_picture picture = {.width = width, .height = height, .channels = 1,
                                    .samples = samples};
        written = io_write_picture(path, &picture, error);
    }
end:
    free(samples);
    free(values);
    return written;
}
