/* SPDX-License-Identifier: MIT */
/* The public API: templates in poses. */
#include "match/pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "lcc/threads.h"
#include "match/settings.h"

/* Templates of poses that are held across frames take so many bytes at most. */
#define MOST_HELD (INT64_C(256) << 20)

void tm_pose_grid_default(tm_pose_grid *grid, size_t size)
{
    const tm_pose_grid defaults = {.size = size, .scale_from = 1, .scale_to = 1};
    if (grid && size >= sizeof grid->size)
        memcpy(grid, &defaults, size < sizeof defaults ? size : sizeof defaults);
}

/* A template has its samples and mask, and planes of these where it is not plain. */
static int64_t bytes_of(const tm_template *t)
{
    return 2 * t->n * (t->channels * tm_sample_size(t->type) + (t->mask != NULL));
}

tm_image tm_posed_image_of(const tm_posed_template *t, const tm_posed *posed)
{
    tm_image image = t->image;
    image.samples = posed->samples;
    image.width = posed->width;
    image.height = posed->height;
    image.stride = (ptrdiff_t)(posed->width * image.channels * tm_sample_size(image.type));
    image.mask = posed->mask;
    image.mask_stride = (ptrdiff_t)posed->width;
    return image;
}

/* Makes one pose's template, if it is to be matched. */
static tm_status make(const tm_posed_template *t, size_t index)
{
    tm_pose_slot *slot = &t->slots[index];
    tm_template *tmpl = NULL;
    tm_posed posed;

    tm_status status =
        tm_pose_make(&posed, &t->image, tm_poses_turn(&t->poses, (int64_t)index), &t->poses.support);
    if (status != TM_OK)
        return status;
    if (posed.count) {
        const tm_image image = tm_posed_image_of(t, &posed);
        status = tm_template_prepare(&tmpl, &image);
    }
    if (status == TM_OK) {
        slot->left_out = !tmpl || tm_template_is_flat(tmpl, t->metric);
        slot->width = posed.width;
        slot->height = posed.height;
        slot->pixels = posed.count;
        slot->known = true;
    }
    tm_posed_free(&posed);
    if (status == TM_OK && slot->left_out)
        tm_template_destroy(&tmpl);
    slot->tmpl = tmpl;
    return status;
}

static bool is_missing(const tm_pose_slot *slot)
{
    return !slot->tmpl && !(slot->known && slot->left_out);
}

tm_status tm_posed_hold(const tm_posed_template *t, size_t first, size_t count)
{
    tm_status status = TM_OK;
    int missing = 0;

    for (size_t i = first; i < first + count; i++)
        missing += is_missing(&t->slots[i]);
    const int team = missing > 1 && t->threads > 1 ? tm_team_size(t->threads) : 1;
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = first; i < first + count; i++) {
        const tm_status made = is_missing(&t->slots[i]) ? make(t, i) : TM_OK;
        if (made != TM_OK) {
#pragma omp atomic write
            status = made;
        }
    }
    return status;
}

size_t tm_posed_list(const tm_posed_template *t, const tm_image *frame, size_t first, size_t count,
                     const tm_template **tmpls, size_t *poses, tm_status *status)
{
    size_t listed = 0;

    *status = tm_posed_hold(t, first, count);
    for (size_t i = first; i < first + count && *status == TM_OK; i++) {
        const tm_template *tmpl = t->slots[i].tmpl;
        if (!tmpl || tmpl->width > frame->width || tmpl->height > frame->height)
            continue;
        if (poses)
            poses[listed] = i;
        tmpls[listed++] = tmpl;
    }
    return listed;
}

void tm_posed_release(const tm_posed_template *t, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        tm_pose_slot *slot = &t->slots[i];
        if (!slot->tmpl || slot->held)
            continue;
        const int64_t bytes = bytes_of(slot->tmpl);
        slot->held = *t->held_bytes + bytes <= MOST_HELD;
        if (slot->held)
            *t->held_bytes += bytes;
        else
            tm_template_destroy(&slot->tmpl);
    }
}

/* Copies the picture. False if memory ran out. */
static bool copy_image(tm_posed_template *t, const tm_image *image)
{
    t->image = *image;
    t->image.channels = tm_image_channels(image);
    const size_t row = (size_t)tm_image_row_bytes(image), width = (size_t)image->width;

    t->samples = malloc(row * (size_t)image->height);
    t->mask = image->mask ? malloc(width * (size_t)image->height) : NULL;
    if (!t->samples || (image->mask && !t->mask))
        return false;
    for (int64_t y = 0; y < image->height; y++) {
        memcpy(t->samples + (size_t)y * row, image->samples + y * image->stride, row);
        if (image->mask)
            memcpy(t->mask + (size_t)y * width, image->mask + y * image->mask_stride, width);
    }
    t->image.samples = t->samples;
    t->image.stride = (ptrdiff_t)row;
    t->image.mask = t->mask;
    t->image.mask_stride = (ptrdiff_t)width;
    return true;
}

static double decimal(int64_t value)
{
    return (double)value / (double)TM_POSE_UNIT;
}

/* A chosen step that is longer than the range would be refused if it were given. */
static double stated_step(const tm_pose_axis *axis, double wanted)
{
    return wanted > 0 || axis->count > 1 ? decimal(axis->step) : 0;
}

static void state_grid(tm_posed_template *t, const tm_pose_grid *wanted)
{
    t->grid = *wanted;
    t->grid.angle_step = stated_step(&t->poses.angles, wanted->angle_step);
    t->grid.scale_step = stated_step(&t->poses.scales, wanted->scale_step);
    t->grid.support = t->poses.support.disc ? TM_SUPPORT_DISC : TM_SUPPORT_FULL;
}

tm_status tm_posed_know(const tm_posed_template *t, size_t index)
{
    if (t->slots[index].known)
        return TM_OK;
    const tm_status status = tm_posed_hold(t, index, 1);
    if (status == TM_OK)
        tm_posed_release(t, index, 1);
    return status;
}

/* Makes poses until one can be matched. */
static tm_status find_pose(const tm_posed_template *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const tm_status status = tm_posed_know(t, i);
        if (status != TM_OK || !t->slots[i].left_out)
            return status;
    }
    return TM_ERR_FLAT_TEMPLATE;
}

static tm_status prepare(tm_posed_template *t, const tm_image *image, const tm_pose_grid *grid)
{
    t->held_bytes = calloc(1, sizeof *t->held_bytes);
    t->kept = calloc(1, sizeof *t->kept);
    if (!copy_image(t, image) || !t->held_bytes || !t->kept)
        return TM_ERR_MEMORY;
    const tm_status status = tm_poses_choose(&t->poses, &t->image, grid);
    if (status != TM_OK)
        return status;
    t->count = (size_t)tm_poses_count(&t->poses);
    t->slots = calloc(t->count, sizeof *t->slots);
    if (!t->slots)
        return TM_ERR_MEMORY;
    state_grid(t, grid);
    return find_pose(t);
}

static tm_status refuse(tm_matcher *m, tm_status status)
{
    switch (status) {
    case TM_ERR_INVALID:
        return tm_matcher_fail(m, status, "a grid has %d poses at most", TM_MAX_POSES);
    case TM_ERR_TEMPLATE_TOO_LARGE:
        return tm_matcher_fail(m, status,
                               "the template has more than %lld pixels in a pose, which is what "
                               "exact 64-bit sums allow",
                               (long long)TM_MAX_TEMPLATE_PIXELS);
    case TM_ERR_FLAT_TEMPLATE:
        return tm_matcher_fail(m, status, "in none of its poses has the template pixels that "
                                          "count and differ");
    default:
        return tm_matcher_fail_plain(m, status);
    }
}

/* False where there is none. */
static bool read_grid(tm_pose_grid *grid, const tm_pose_grid *given)
{
    if (!given || given->size < sizeof given->size)
        return false;
    tm_pose_grid_default(grid, sizeof *grid);
    memcpy(grid, given, given->size < sizeof *grid ? given->size : sizeof *grid);
    return true;
}

const char *tm_pose_grid_fault(const tm_pose_grid *grid)
{
    tm_pose_grid wanted;
    return read_grid(&wanted, grid) ? tm_poses_fault(&wanted) : tm_strerror(TM_ERR_INVALID);
}

tm_status tm_posed_template_create(tm_posed_template **tmpl, tm_matcher *matcher,
                                   const tm_image *image, const tm_pose_grid *grid)
{
    tm_pose_grid wanted;

    if (!tmpl || !matcher)
        return TM_ERR_INVALID;
    if (!read_grid(&wanted, grid))
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    const char *fault = tm_image_fault(image);
    if (!fault)
        fault = tm_poses_fault(&wanted);
    if (!fault && tm_sample_is_float(image->type))
        fault = "templates of floats are not posed: turning them is not exact";
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);
    if (image->width * image->height > TM_MAX_TEMPLATE_PIXELS)
        return refuse(matcher, TM_ERR_TEMPLATE_TOO_LARGE);

    tm_posed_template *t = calloc(1, sizeof *t);
    if (!t)
        return tm_matcher_fail_plain(matcher, TM_ERR_MEMORY);
    t->metric = matcher->settings.metric;
    t->threads = tm_matcher_threads(matcher);
    const tm_status status = prepare(t, image, &wanted);
    if (status != TM_OK) {
        tm_posed_template_destroy(&t);
        return refuse(matcher, status);
    }
    *tmpl = t;
    return TM_OK;
}

void tm_posed_template_destroy(tm_posed_template **tmpl)
{
    if (!tmpl || !*tmpl)
        return;
    tm_posed_template *t = *tmpl;
    for (size_t i = 0; t->slots && i < t->count; i++)
        tm_template_destroy(&t->slots[i].tmpl);
    free(t->slots);
    free(t->held_bytes);
    for (int narrow = 0; t->kept && narrow < 2; narrow++) {
        if (t->kept->families[narrow])
            tm_pose_families_free(t->kept->families[narrow]);
        free(t->kept->families[narrow]);
    }
    if (t->kept)
        tm_pyramid_free(t->kept->pyramid);
    free(t->kept);
    free(t->samples);
    free(t->mask);
    free(t);
    *tmpl = NULL;
}

tm_status tm_posed_template_grid(const tm_posed_template *tmpl, tm_pose_grid *grid)
{
    if (!tmpl || !grid || grid->size < sizeof grid->size)
        return TM_ERR_INVALID;
    tm_pose_grid chosen = tmpl->grid;
    chosen.size = grid->size;
    memcpy(grid, &chosen, grid->size < sizeof chosen ? grid->size : sizeof chosen);
    return TM_OK;
}

size_t tm_posed_template_count(const tm_posed_template *tmpl)
{
    return tmpl ? tmpl->count : 0;
}

tm_status tm_posed_template_pose(const tm_posed_template *tmpl, size_t index, tm_pose *pose)
{
    if (!tmpl || !pose || index >= tmpl->count)
        return TM_ERR_INVALID;
    const tm_pose_slot *slot = &tmpl->slots[index];
    const tm_status status = tm_posed_know(tmpl, index);
    if (status != TM_OK)
        return status;
    const tm_turn turn = tm_poses_turn(&tmpl->poses, (int64_t)index);
    *pose = (tm_pose){.angle = decimal(turn.angle),
                      .scale = decimal(turn.scale),
                      .width = slot->width,
                      .height = slot->height,
                      .pixels = slot->pixels,
                      .left_out = slot->left_out};
    return TM_OK;
}

tm_status tm_posed_template_image(const tm_posed_template *tmpl, size_t index, void *samples,
                                  uint8_t *mask)
{
    tm_posed posed;

    if (!tmpl || !samples || index >= tmpl->count)
        return TM_ERR_INVALID;
    const tm_status status =
        tm_pose_make(&posed, &tmpl->image, tm_poses_turn(&tmpl->poses, (int64_t)index),
                     &tmpl->poses.support);
    if (status != TM_OK)
        return status;
    const size_t pixels = (size_t)(posed.width * posed.height);
    if (pixels) {
        const int64_t bytes = tmpl->image.channels * tm_sample_size(tmpl->image.type);
        memcpy(samples, posed.samples, pixels * (size_t)bytes);
        if (mask)
            memcpy(mask, posed.mask, pixels);
    }
    tm_posed_free(&posed);
    return TM_OK;
}
