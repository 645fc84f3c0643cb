/* SPDX-License-Identifier: MIT */
#include "run/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>


bool output_map(const char *path, const score_map *map, io_error *error)
{
    const io_npy_type type = map->integers ? IO_NPY_INT64 : IO_NPY_FLOAT32;
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
