/* SPDX-License-Identifier: MIT */
#include "run/verify_poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the hit's posed template has its upper left corner. */
static int64_t corner(double center, int64_t size)
{
    return (int64_t)floor(center - (double)(size - 1) / 2 + 0.5);
}

/* Copies a window that may hang over the frame, which goes on with zeros. */
static void cut(const tm_image *frame, int64_t left, int64_t top, const tm_image *window,
                uint8_t *samples)
{
    const int64_t pixel = (frame->type == TM_SAMPLE_U16 ? 2 : 1) * (frame->channels > 1 ? frame->channels : 1);
    const int64_t x0 = left < 0 ? -left : 0;
    const int64_t x1 = left + window->width > frame->width ? frame->width - left : window->width;

    for (int64_t y = 0; y < window->height && x0 < x1; y++)
        if (top + y >= 0 && top + y < frame->height)
            memcpy(samples + y * window->stride + x0 * pixel,
                   frame->samples + (top + y) * frame->stride + (left + x0) * pixel,
                   (size_t)((x1 - x0) * pixel));
}

/* Scores one hit again. samples and mask have room for its posed template, window for as much. */
static tm_status score_again(const cli_engine *e, const tm_image *frame,
                             const tm_posed_template *posed, const tm_posed_hit *hit,
                             const tm_pose *pose, uint8_t *buffers[3], double *score)
{
    tm_image image = *frame;
    tm_template *tmpl = NULL;
    tm_peak best;

    image.width = pose->width;
    image.height = pose->height;
    image.stride = (ptrdiff_t)(pose->width * (frame->type == TM_SAMPLE_U16 ? 2 : 1) *
                               (frame->channels > 1 ? frame->channels : 1));
    image.samples = buffers[0];
    image.mask = buffers[1];
    image.mask_stride = (ptrdiff_t)pose->width;
    tm_status status = tm_posed_template_image(posed, hit->pose, buffers[0], buffers[1]);
    if (status == TM_OK)
        status = tm_template_create(&tmpl, e->oracle, &image);
    image.samples = buffers[2];
    image.mask = NULL;
    cut(frame, corner(hit->center_x, pose->width), corner(hit->center_y, pose->height), &image,
        buffers[2]);
    if (status == TM_OK)
        status = tm_match(e->oracle, &image, tmpl, &best, NULL);
    if (status == TM_OK)
        *score = best.score;
    tm_template_destroy(&tmpl);
    return status;
}

static tm_status compare(const cli_engine *e, const tm_image *frame, const tm_posed_template *tmpl,
                         const tm_posed_hit *hit, verification *v)
{
    uint8_t *buffers[3] = {NULL, NULL, NULL};
    double score = 0;
    tm_pose pose;

    tm_status status = tm_posed_template_pose(tmpl, hit->pose, &pose);
    if (status != TM_OK)
        return status;
    const size_t pixels = (size_t)(pose.width * pose.height);
    for (int i = 0; i < 3; i++)
        buffers[i] = calloc(pixels, sizeof(uint16_t) * TM_MAX_CHANNELS);
    status = buffers[0] && buffers[1] && buffers[2]
                 ? score_again(e, frame, tmpl, hit, &pose, buffers, &score)
                 : TM_ERR_MEMORY;
    for (int i = 0; i < 3; i++)
        free(buffers[i]);
    if (status != TM_OK)
        return status;
    v->positions++;
    if (memcmp(&score, &hit->score, sizeof score) != 0) {
        const double error = fabs(score - hit->score);
        v->differing++;
        v->max_abs_error = fmax(v->max_abs_error, error);
        v->relative_l1_error = v->max_abs_error / fabs(score);
    }
    return status;
}

bool verify_poses(const cli_engine *e, const tm_image *image, const tm_posed_template *tmpl,
                  const tm_posed_hits *hits, cli_pair *pair)
{
    verification *v = &pair->result.verification;
    tm_status status = TM_OK;

    *v = (verification){.same_peak = true};
    for (size_t i = 0; i < hits->count && status == TM_OK; i++)
        status = compare(e, image, tmpl, &hits->items[i], v);
    if (hits->count == 0 && !isnan(hits->best.score))
        status = compare(e, image, tmpl, &hits->best, v);
    pair->result.verified = status == TM_OK;
    return status == TM_OK || library_fail(&pair->error, e->oracle, status);
}
