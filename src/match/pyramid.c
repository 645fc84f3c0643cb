/* SPDX-License-Identifier: MIT */
/* The levels of a template: how far down it is recognized, and how fine poses have to be there. */
#include "match/pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/reduce.h"

/* At the top the template's smaller side has so many cells at least, */
#define LEAST_SIDE 12

/* it correlates by this at least with itself moved by half a cell, */
#define LEAST_LIKENESS 0.6

/* and so many cells count in its first pose. */
#define LEAST_CELLS 64

/* Poses at the top are so many times further apart than those that correlate by 0.98. */
#define STRIDE 4

/* A view of a picture without its first columns and rows. */
static tm_image without(const tm_image *image, int64_t left, int64_t top)
{
    tm_image view = *image;
    view.samples += top * image->stride + left * tm_image_channels(image) * tm_sample_size(image->type);
    view.mask = image->mask ? image->mask + top * image->mask_stride + left : NULL;
    view.width -= left;
    view.height -= top;
    return view;
}

/* How much a picture's cells, of 2^times pixels, correlate with those that begin half a cell further. */
static tm_status likeness(double *result, const tm_image *image, int times)
{
    const int64_t half = INT64_C(1) << (times - 1);
    tm_image reduced[2] = {{0}, {0}};
    tm_posed posed[2] = {{0}, {0}};
    tm_status status = TM_OK;

    *result = 0;
    for (int i = 0; i < 2 && status == TM_OK; i++) {
        tm_image view = without(image, i * half, i * half);
        view.width = image->width - half; /* both have the same size, so that what is lost is the same */
        view.height = image->height - half;
        status = tm_reduce_template(&reduced[i], &view, times);
        if (status == TM_OK && reduced[i].samples)
            status = tm_posed_of(&posed[i], &reduced[i]);
    }
    if (status == TM_OK && posed[0].count && posed[1].count)
        *result = tm_posed_correlation(&posed[0], &posed[1], image);
    for (int i = 0; i < 2; i++) {
        tm_reduced_free(&reduced[i]);
        tm_posed_free(&posed[i]);
    }
    return status;
}

/* How many times the template is halved before it is posed for a level: so that a cell of the frame has two of its
 * pixels or more in every direction, if it has so many, and that scales are not too small for a pose. */
static int halvings_of(const tm_poses *poses, int64_t cell)
{
    const int64_t last = poses->scales.from + (poses->scales.count - 1) * poses->scales.step;
    int times = 0;

    while ((INT64_C(4) << times) * last <= cell * TM_POSE_UNIT ||
           (poses->scales.from << times) < TM_POSE_LEAST_SCALE * cell)
        times++;
    return times;
}

/* The largest power of two that is not more than so many times how far apart poses may be. */
static int64_t stride_of(int64_t step, int64_t own)
{
    int64_t stride = 1;
    while (own && 2 * stride * own <= STRIDE * step)
        stride *= 2;
    return stride;
}

static tm_pose_axis strided(tm_pose_axis axis, int64_t stride, int64_t times, int64_t over)
{
    return (tm_pose_axis){.from = (2 * axis.from * times + over) / (2 * over),
                          .step = (2 * axis.step * stride * times + over) / (2 * over),
                          .count = ceil_div(axis.count, stride)};
}

/* Angles keep their sign. */
static tm_pose_axis strided_angles(tm_pose_axis axis, int64_t stride)
{
    return (tm_pose_axis){axis.from, axis.step * stride, ceil_div(axis.count, stride)};
}

/* How far apart poses may be at the top. */
static tm_status choose_strides(tm_pyramid_level *level, const tm_posed_template *t, const tm_image *image,
                                int64_t own, int64_t cell)
{
    const tm_poses *poses = &t->poses;
    const double unit = (double)TM_POSE_UNIT, size = (double)own / (double)cell / unit;
    const tm_turn first = tm_poses_turn(poses, 0), last = tm_poses_turn(poses, tm_poses_count(poses) - 1);
    const tm_pose_grid grid = {.angle_from = (double)first.angle / unit,
                               .angle_to = (double)last.angle / unit,
                               .scale_from = (double)first.scale * size,
                               .scale_to = (double)last.scale * size,
                               .support = TM_SUPPORT_FULL};
    tm_poses chosen;

    const tm_status status = tm_poses_choose(&chosen, image, &grid);
    level->turn = stride_of(chosen.angles.step, poses->angles.step);
    level->ratio = stride_of(chosen.scales.step * cell / own, poses->scales.step);
    return status;
}

/* A disc's distance that counts in all poses of a template without mask: what is sampled of its outermost pixels lies
 * less than a pixel of the template further out. */
static int64_t disc_of(const tm_posed_template *t)
{
    const double side = (double)smaller(t->image.width, t->image.height);
    const double across = (side - 1 - 2) * (double)t->poses.scales.from / TM_POSE_UNIT; /* in halves of a pixel */
    return across > 0 ? (int64_t)(across * across) : 0;
}

/* Makes a level's template, of which *image becomes part. */
static tm_status make_template(tm_pyramid_level *level, const tm_posed_template *t, tm_image *image, int64_t own,
                               int64_t cell)
{
    tm_posed_template *made = level->tmpl = calloc(1, sizeof *made);

    if (!made)
        return TM_ERR_MEMORY;
    made->image = *image;
    made->image.channels = tm_image_channels(image);
    made->samples = (uint8_t *)(uintptr_t)image->samples;
    made->mask = (uint8_t *)(uintptr_t)image->mask;
    *image = (tm_image){0};
    made->metric = t->metric;
    made->threads = t->threads;
    made->poses = (tm_poses){.angles = strided_angles(t->poses.angles, level->turn),
                             .scales = strided(t->poses.scales, level->ratio, own, cell),
                             .support = t->poses.support};
    if (made->poses.support.disc)
        made->poses.support.distance = smaller(t->poses.support.distance / (cell * cell), disc_of(made));
    made->count = (size_t)tm_poses_count(&made->poses);
    made->slots = calloc(made->count, sizeof *made->slots);
    made->held_bytes = calloc(1, sizeof *made->held_bytes);
    made->kept = calloc(1, sizeof *made->kept);
    return made->slots && made->held_bytes && made->kept ? TM_OK : TM_ERR_MEMORY;
}

static tm_status make_level(tm_pyramid *p, int k, const tm_posed_template *t)
{
    const int64_t cell = INT64_C(1) << k;
    const int times = halvings_of(&t->poses, cell);
    const int64_t own = INT64_C(1) << times;
    tm_pyramid_level *level = &p->levels[k];
    tm_image image;

    tm_status status = tm_reduce_template(&image, &t->image, times);
    if (status != TM_OK || !image.samples)
        return status;
    if (k == p->top) {
        status = choose_strides(level, t, &image, own, cell);
    } else {
        level->turn = larger(1, p->levels[k + 1].turn / 2);
        level->ratio = larger(1, p->levels[k + 1].ratio / 2);
    }
    if (status == TM_OK)
        status = make_template(level, t, &image, own, cell);
    tm_reduced_free(&image);
    return status;
}

/* Finds the largest cells in which the template is recognized at all its scales. */
static tm_status choose_top(tm_pyramid *p, const tm_posed_template *t)
{
    const int64_t side = smaller(t->image.width, t->image.height);
    const int64_t scale = t->poses.scales.from;
    tm_status status = TM_OK;

    int times = 0; /* that the template is halved for cells as large as the frame's */

    for (int k = 1; k < TM_PYRAMID_LEVELS; k++) {
        double like = 1;
        if (side * scale < (LEAST_SIDE * TM_POSE_UNIT << k))
            break;
        while ((scale << (times + 1)) <= TM_POSE_UNIT << k)
            times++;
        if (times)
            status = likeness(&like, &t->image, times);
        if (status != TM_OK || like < LEAST_LIKENESS)
            break;
        p->top = k;
    }
    return status;
}

tm_status tm_pyramid_make(tm_pyramid **pyramid, const tm_posed_template *t)
{
    tm_pyramid *p = *pyramid = calloc(1, sizeof *p);

    if (!p)
        return TM_ERR_MEMORY;
    p->levels[0] = (tm_pyramid_level){.turn = 1, .ratio = 1};
    tm_status status = choose_top(p, t);
    while (status == TM_OK && p->top) {
        status = make_level(p, p->top, t);
        const tm_posed_template *top = p->levels[p->top].tmpl;
        if (status == TM_OK && top)
            status = tm_posed_know(top, 0);
        if (status != TM_OK || (top && !top->slots[0].left_out && top->slots[0].pixels >= LEAST_CELLS))
            break;
        tm_posed_template_destroy(&p->levels[p->top--].tmpl);
    }
    for (int k = p->top - 1; k > 0 && status == TM_OK; k--)
        status = make_level(p, k, t);
    if (status != TM_OK) {
        tm_pyramid_free(p);
        *pyramid = NULL;
    }
    return status;
}

void tm_pyramid_free(tm_pyramid *p)
{
    for (int k = 0; p && k < TM_PYRAMID_LEVELS; k++)
        tm_posed_template_destroy(&p->levels[k].tmpl);
    free(p);
}
