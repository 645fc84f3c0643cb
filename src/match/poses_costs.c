/* SPDX-License-Identifier: MIT */
/* Whether certified search in poses is expected to be quicker than exhaustive search. */
#include <math.h>

#include "match/poses.h"

/* In nanoseconds. */
typedef struct search_costs {
    /* exhaustively: a position where all pixels count, and another one; for each pixel of the latter, but at most
     * transform for all */
    double whole, position, product, transform;
    /* a window that a family is looked at in, and for each of its pixels, if it has few members or many */
    double look, few, many;
} search_costs;

/* One thread's, and an H200's (bench/poses_cuda.py --cases costs). */
static const search_costs cpu_costs = {10, 5, 0.012, 40, 10, 0.01, 0.04};
static const search_costs cuda_costs = {0.022, 0.022, 1.1e-5, INFINITY, 0.075, 6e-5, 6e-5};

/* To make a pixel of a member and of its family, by one thread. */
#define MAKE_NS 60.0
#define FEW 16

/* A pixel of a pose whose picture is not kept, and of the frame. */
#define MAKE_LARGE_NS 12.0
#define LOOK_LARGE_NS 40.0

/* It has to take less than so much of the time. */
#define SHARE 0.6

/* How many poses have pixels that do not count. */
static int64_t count_masked(const tm_posed_template *t)
{
    const int64_t scales = t->poses.scales.count;
    int64_t turned = 0;

    if (t->poses.support.disc || t->mask)
        return (int64_t)t->count;
    for (int64_t i = 0; i < t->poses.angles.count; i++)
        turned += tm_poses_turn(&t->poses, i).angle % (TM_POSE_TURN / 4) != 0;
    return turned * scales;
}

bool tm_poses_pay(const tm_image *frame, const tm_posed_template *t, bool on_cuda)
{
    const search_costs *c = on_cuda ? &cuda_costs : &cpu_costs;
    const double scale = (double)tm_poses_turn(&t->poses, 0).scale / TM_POSE_UNIT;
    const double pixels = (double)t->image.width * (double)t->image.height * scale * scale;
    const double windows = (double)frame->width * (double)frame->height, poses = (double)t->count;
    const double masked = (double)count_masked(t), classes = (double)tm_pose_families_expect(&t->poses);
    const double exhaustive = windows * ((poses - masked) * c->whole +
                                         masked * (c->position + fmin(c->product * pixels, c->transform)));
    const bool large = !on_cuda && tm_pose_families_too_large(&t->image, &t->poses);
    const double looks = windows * (large ? LOOK_LARGE_NS : classes * (c->look + (poses < FEW * classes ? c->few : c->many) * pixels));
    const double making = t->kept->families[!on_cuda] ? 0 : poses * pixels * (large ? MAKE_LARGE_NS : MAKE_NS) / (on_cuda ? t->threads : 1);

    if (looks >= SHARE * exhaustive)
        return false;
    const bool pays = making + looks < SHARE * (exhaustive + t->kept->spent);
    t->kept->spent += exhaustive;
    return pays;
}
