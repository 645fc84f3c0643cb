/* SPDX-License-Identifier: MIT */
#include "match/poses_refine.h"

#include <math.h>

#include "lcc/threads.h"
#include "match/pose_fit.h"

#define RADIAN 0.017453292519943295769

/* Fits what counts in the template. Where a disc alone counts in poses, what lies beyond it may not be in the frame: unless
 * the whole correlates with the frame as much as the match scores, the disc is fitted, too, and the surer of both is taken. By
 * other metrics than LCC a score is no correlation, and mostly both are fitted. */
static void refine(const tm_image *frame, const tm_posed_template *tmpl, tm_posed_hit *hit)
{
    const tm_poses *poses = &tmpl->poses;
    const double unit = (double)TM_POSE_UNIT;
    tm_pose_fit fit = {.frame = frame,
                       .tmpl = &tmpl->image,
                       .turn = tm_poses_turn(poses, (int64_t)hit->pose),
                       .center_x = hit->center_x,
                       .center_y = hit->center_y,
                       .angle_step = poses->angles.count > 1 ? (double)poses->angles.step / unit * RADIAN : 0,
                       .scale_step = poses->scales.count > 1 ? (double)poses->scales.step / unit : 0};
    tm_pose_move move, of_disc;

    bool found = tm_pose_fit_find(&move, &fit);
    const bool good = found && move.square >= hit->score * fabs(hit->score);
    fit.disc = poses->support.disc ? poses->support.distance : 0;
    if (fit.disc && !good && tm_pose_fit_find(&of_disc, &fit) && (!found || of_disc.error < move.error)) {
        move = of_disc;
        found = true;
    }
    if (!found)
        return;
    hit->fine_x += move.x;
    hit->fine_y += move.y;
    hit->fine_angle += move.angle / RADIAN;
    hit->fine_scale += move.scale;
}

void tm_poses_refine(int threads, const tm_image *frame, const tm_posed_template *tmpl, tm_posed_hit *hits, size_t count)
{
    const int team = threads > 1 && count > 1 ? tm_team_size(threads) : 1;

#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = 0; i < count; i++)
        refine(frame, tmpl, &hits[i]);
}
