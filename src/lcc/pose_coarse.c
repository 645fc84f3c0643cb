/* SPDX-License-Identifier: MIT */
#include "lcc/pose_coarse.h"

#include <math.h>
#include <stdlib.h>

#include "integers.h"

enum {
    COARSE_RADIUS = 5,  /* of the template in cells, about */
    COARSE_TURN = 9,    /* degrees from one coarse pose to the next, about */
    COARSE_RATIO = 8,   /* scales: so many percent */
    MOST_COARSE = 512,
};

int tm_pose_coarse_cell(const tm_image *image, const tm_poses *poses)
{
    const int64_t side = smaller(image->width, image->height);
    const int64_t scale = tm_poses_turn(poses, 0).scale;
    const int64_t radius = side * scale / (2 * TM_POSE_UNIT);
    return (int)clamp(radius / COARSE_RADIUS, 1, 16);
}

tm_status tm_pose_coarse_make(tm_pose_class *c, const tm_image *image, const tm_poses *poses, int cell)
{
    const tm_pose_support all = {.disc = true, .distance = INT64_MAX};
    const int64_t turn = larger(1, poses->angles.step ? COARSE_TURN * TM_POSE_UNIT / poses->angles.step : 1);
    const int64_t ratio = larger(1, poses->scales.step
                                        ? poses->scales.from * COARSE_RATIO / 100 / poses->scales.step
                                        : 1);
    tm_posed *posed = calloc(MOST_COARSE, sizeof *posed);
    int64_t last_at = 0, last_scale = 0;
    size_t count = 0;
    tm_status status = TM_OK;

    c->poses = malloc(MOST_COARSE * sizeof *c->poses);
    if (!posed || !c->poses) {
        free(posed);
        return TM_ERR_MEMORY;
    }
    for (size_t i = 0; i < c->count && count < MOST_COARSE && status == TM_OK; i++) {
        const int64_t pose = c->members[i].pose;
        const tm_pose_numbers numbers = tm_poses_numbers(poses, pose);
        const int64_t at = numbers.angle / turn, scale = numbers.scale;
        if (count && scale == last_scale ? at == last_at : count && scale < last_scale + ratio)
            continue;
        tm_turn t = tm_poses_turn(poses, pose);
        t.scale = (2 * t.scale + cell) / (2 * cell);
        if (t.scale < TM_POSE_LEAST_SCALE)
            break;
        status = tm_pose_make(&posed[count], image, t, &all);
        if (status != TM_OK || tm_posed_is_flat(&posed[count])) {
            tm_posed_free(&posed[count]);
            continue;
        }
        c->poses[count++] = (int64_t)i;
        last_at = at;
        last_scale = scale;
    }
    if (status == TM_OK && count)
        status = tm_family_begin(&c->coarse, posed, count);
    c->coarse.half_turns = c->family.half_turns;
    if (status == TM_OK && count)
        status = tm_family_finish(&c->coarse, posed, TM_FAMILY_BASIS / 2, INFINITY);
    for (size_t i = 0; i < count; i++)
        tm_posed_free(&posed[i]);
    free(posed);
    return status;
}
