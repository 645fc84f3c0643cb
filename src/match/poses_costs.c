/* SPDX-License-Identifier: MIT */
/* Whether certified search in poses is expected to be quicker than exhaustive search. */
#include <math.h>

#include "cuda/group_costs.h"
#include "match/poses.h"

/* In nanoseconds. */
typedef struct search_costs {
    /* exhaustively: a position where all pixels count, and another one; for each pixel of the latter, but at most
     * transform for all */
    double whole, position, product, transform;
    /* what a search takes in any case, a window that a family is looked at in, and for each of its pixels, if it has few
     * members or many */
    double begin, look, few, many;
    double share; /* it has to take less than so much of the time */
} search_costs;

/* One thread's, and an H200's (bench/poses_cuda.py --cases costs). */
static const search_costs cpu_costs = {10, 5, 0.012, 40, 0, 10, 0.01, 0.04, 0.6};
static const search_costs cuda_costs = {0.022, 0.022, 1.1e-5, INFINITY, 150e3, 0.075, 6e-5, 6e-5, 0.75};

/* Poses of a launch on a CUDA device, and what each takes on the host. */
#define GROUP 64
#define GROUPED_NS 5000.0

/* To make a pixel of a member and of its family, by one thread. */
#define MAKE_NS 60.0
#define FEW 16

/* A pixel of a pose whose picture is not kept, and of the frame, if a CUDA device looks at bundles and if not. */
#define MAKE_LARGE_NS 12.0
#define LOOK_LARGE_NS 40.0
#define LOOK_LARGE_CUDA_NS 4.0

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

double tm_poses_large_ms(const tm_image *frame, int threads)
{
    return (double)frame->width * (double)frame->height * LOOK_LARGE_NS * 1e-6 / threads;
}

static double pixels_of(const tm_posed_template *t)
{
    const double scale = (double)tm_poses_turn(&t->poses, 0).scale / TM_POSE_UNIT;
    return (double)t->image.width * (double)t->image.height * scale * scale;
}

/* Under a disc all poses are templates of one size with one mask. */
static bool has_groups(const tm_posed_template *t, const tm_device_traits *cuda)
{
    const double side = sqrt((double)t->poses.support.distance);
    return t->poses.support.disc && !t->mask && tm_cuda_has_groups(cuda, side, side, (int64_t)t->count);
}

double tm_poses_exhaustive_ns(const tm_image *frame, const tm_posed_template *t, const tm_device_traits *cuda,
                              bool best_alone)
{
    const search_costs *c = cuda ? &cuda_costs : &cpu_costs;
    const double windows = (double)frame->width * (double)frame->height, poses = (double)t->count,
                 masked = (double)count_masked(t);

    if (cuda && best_alone && has_groups(t, cuda)) {
        const double side = sqrt((double)t->poses.support.distance), launches = ceil(poses / GROUP);
        return launches * tm_cuda_group_ns(side, side, windows * poses / launches) + GROUPED_NS * poses;
    }
    return windows * ((poses - masked) * c->whole + masked * (c->position + fmin(c->product * pixels_of(t), c->transform)));
}

bool tm_poses_pay(const tm_image *frame, const tm_posed_template *t, bool on_cuda, double exhaustive)
{
    const search_costs *c = on_cuda ? &cuda_costs : &cpu_costs;
    const double pixels = pixels_of(t), windows = (double)frame->width * (double)frame->height, poses = (double)t->count,
                 classes = (double)tm_pose_families_expect(&t->poses);
    const bool large = tm_pose_families_too_large(&t->image, &t->poses);
    const double look = on_cuda ? LOOK_LARGE_CUDA_NS : LOOK_LARGE_NS;
    const double looks = c->begin + windows * (large ? look : classes * (c->look + (poses < FEW * classes ? c->few : c->many) * pixels));
    const double making = t->kept->families[!on_cuda || large] ? 0 : poses * pixels * (large ? MAKE_LARGE_NS : MAKE_NS) / (on_cuda ? t->threads : 1);

    if (looks >= c->share * exhaustive)
        return false;
    const bool pays = making + looks < c->share * (exhaustive + t->kept->spent);
    t->kept->spent += exhaustive;
    return pays;
}
