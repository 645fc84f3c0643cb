/* SPDX-License-Identifier: MIT */
#include "run/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ending.h"
#include "message.h"
#include "run/output.h"
#include "run/pose.h"

static bool dump_plain(const cli_engine *e, const cli_template *tmpl, io_error *error)
{
    const tm_template *luma = e->prepared[0][0]; /* NULL: flat but for its colours */
    return luma ? output_template(e->options->dump_template, luma, tmpl->width, tmpl->height, error)
                : library_fail(error, NULL, TM_ERR_FLAT_TEMPLATE);
}

/* A pose as a template that is matched by itself. */
typedef struct posed_picture {
    tm_pose pose;
    tm_image image; /* its samples and mask are ours */
    uint8_t *samples, *mask;
} posed_picture;

static tm_status make_picture(const tm_posed_template *posed, size_t index, const tm_image *like,
                              posed_picture *p)
{
    *p = (posed_picture){.image = *like};
    tm_status status = tm_posed_template_pose(posed, index, &p->pose);
    if (status != TM_OK || p->pose.left_out)
        return status;
    const size_t pixels = (size_t)(p->pose.width * p->pose.height);
    const size_t pixel = (size_t)like->channels * (like->type == TM_SAMPLE_U16 ? 2 : 1);
    p->samples = malloc(pixels * pixel);
    p->mask = malloc(pixels);
    if (!p->samples || !p->mask)
        return TM_ERR_MEMORY;
    p->image.samples = p->samples;
    p->image.mask = p->mask;
    p->image.width = p->pose.width;
    p->image.height = p->pose.height;
    p->image.stride = (ptrdiff_t)((size_t)p->pose.width * pixel);
    p->image.mask_stride = (ptrdiff_t)p->pose.width;
    return tm_posed_template_image(posed, index, p->samples, p->mask);
}

static bool write_values(const cli_engine *e, const char *path, const posed_picture *p,
                         io_error *error)
{
    tm_template *tmpl = NULL;
    const tm_status status = tm_template_create(&tmpl, e->matcher, &p->image);
    const bool good = status == TM_OK ? output_template(path, tmpl, p->pose.width, p->pose.height, error)
                                      : library_fail(error, e->matcher, status);
    tm_template_destroy(&tmpl);
    return good;
}

/* As it is matched, with the pixels that do not count transparent: read as a template, it scores the
 * same. */
static bool write_picture(const char *path, const posed_picture *p, io_error *error)
{
    const size_t pixels = (size_t)(p->pose.width * p->pose.height);
    const size_t size = p->image.type == TM_SAMPLE_U16 ? 2 : 1;
    const size_t pixel = (size_t)p->image.channels * size;
    io_picture picture = {.width = p->pose.width,
                          .height = p->pose.height,
                          .channels = p->image.channels + 1,
                          .bits = 8 * (int)size,
                          .samples = malloc(pixels * (pixel + size))};

    if (!picture.samples)
        return library_fail(error, NULL, TM_ERR_MEMORY);
    for (size_t i = 0; i < pixels; i++) {
        uint8_t *to = picture.samples + i * (pixel + size);
        memcpy(to, p->samples + i * pixel, pixel);
        memset(to + pixel, p->mask[i] ? 0xff : 0, size);
    }
    const bool written = io_write_picture(path, &picture, error);
    io_picture_free(&picture);
    return written;
}

/* "t.png" becomes "t.30deg.1.25x.png". */
static char *path_of(const char *path, const tm_pose *pose)
{
    const char *ending = strrchr(path, '.');
    char suffix[POSE_SUFFIX_SIZE], *text = NULL;
    pose_suffix(suffix, pose->angle, pose->scale);
    if (asprintf(&text, "%.*s%s%s", (int)(ending - path), path, suffix, ending) < 0)
        text = NULL;
    return text;
}

/* False after a message. */
static bool write_pose(const cli_engine *e, const posed_picture *p, cli_protected *protected)
{
    char *path = path_of(e->options->dump_template, &p->pose);
    io_error error;
    const bool good = path ? protected_allows(protected, path, &error) &&
                                 (has_ending(path, ".txt") ? write_values(e, path, p, &error)
                                                           : write_picture(path, p, &error))
                           : library_fail(&error, NULL, TM_ERR_MEMORY);
    if (!good)
        message(path ? path : e->options->dump_template, "%s", error.reason);
    free(path);
    return good;
}

/* False after a message. */
static bool dump_poses(const cli_engine *e, const cli_template *tmpl, cli_protected *protected)
{
    const char *path = e->options->dump_template;
    const bool color = tmpl->input.color.samples && !has_ending(path, ".txt"); /* a matrix is of luma */
    const tm_posed_template *posed = e->posed[color][0];
    const size_t count = tm_posed_template_count(posed);
    tm_image like = input_image(&tmpl->input, color);
    bool good = posed != NULL;

    if (!posed)
        message(path, "%s", tm_strerror(TM_ERR_FLAT_TEMPLATE));
    like.channels = like.channels ? like.channels : 1;
    for (size_t i = 0; i < count && good; i++) {
        posed_picture p;
        const tm_status status = make_picture(posed, i, &like, &p);
        if (status != TM_OK)
            message(path, "%s", tm_strerror(status));
        good = status == TM_OK && (p.pose.left_out || write_pose(e, &p, protected));
        free(p.samples);
        free(p.mask);
    }
    return good;
}

bool dump_template(const cli_engine *e, const cli_templates *templates, cli_protected *protected)
{
    const cli_options *o = e->options;
    const cli_template *tmpl = &templates->list[0];
    io_error error;

    if (!o->dump_template || !tmpl->usable)
        return true;
    if (o->posed)
        return dump_poses(e, tmpl, protected);
    if (dump_plain(e, tmpl, &error))
        return true;
    message(o->dump_template, "%s", error.reason);
    return false;
}
