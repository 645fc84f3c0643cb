/* SPDX-License-Identifier: MIT */
#include "lcc/pose_grid.h"

#include <math.h>
#include <stdlib.h>

#include "integers.h"
#include "lcc/lcc.h"

#define UNIT TM_POSE_UNIT

/* Posed templates a step apart correlate by this at least. */
#define LEAST_CORRELATION 0.98

/* Steps that are chosen from, in millionths. */
static const int64_t angle_steps[] = {
    50000,   100000,  150000,  200000,  250000,  300000,  400000,  500000,
    600000,  750000,  1000000, 1200000, 1500000, 2000000, 2500000, 3000000,
    4000000, 5000000, 6000000, 8000000, 10000000, 12000000, 15000000};
static const int64_t scale_steps[] = {2000, 5000, 10000, 20000, 25000, 40000, 50000, 100000};

/* Where in a range steps are tried, in hundredths of it. Quarters of a turn are not among them, nor
 * quarters apart from each other. */
static const int64_t bases[] = {5, 36, 59, 83};
enum { BASES = sizeof bases / sizeof *bases };

static int64_t millionths(double value)
{
    return llround(value * (double)UNIT);
}

/* Whether a range of more than one value has a step that leads out of it at once. */
static bool is_too_long(double step, double from, double to)
{
    return from < to && millionths(step) > millionths(to) - millionths(from);
}

const char *tm_poses_fault(const tm_pose_grid *g)
{
    if (!(g->angle_from >= -3600 && g->angle_to <= 3600))
        return "angles are from -3600 to 3600 degrees";
    if (!(g->scale_from >= 0.05 && g->scale_to <= 20))
        return "scales are from 0.05 to 20";
    if (!(g->angle_from <= g->angle_to && g->scale_from <= g->scale_to))
        return "a range of poses ends before it begins";
    if (!(g->angle_step >= 0 && g->angle_step <= 3600 && g->scale_step >= 0 && g->scale_step <= 20) ||
        (g->angle_step > 0 && millionths(g->angle_step) == 0) ||
        (g->scale_step > 0 && millionths(g->scale_step) == 0))
        return "a step of poses is 0.000001 or more, or 0 for one that suits the template";
    if (is_too_long(g->angle_step, g->angle_from, g->angle_to))
        return "the step is longer than the range of angles, of which only the first would be searched";
    if (is_too_long(g->scale_step, g->scale_from, g->scale_to))
        return "the step is longer than the range of scales, of which only the first would be searched";
    if (g->support < TM_SUPPORT_AUTO || g->support > TM_SUPPORT_FULL)
        return "no such support";
    return NULL;
}

typedef struct sums {
    tm_int128 n, ab, aa, bb;
    tm_int128 a[TM_MAX_CHANNELS], b[TM_MAX_CHANNELS];
} sums;

/* Sums over the pixels that count in both pictures, whose centres lie on each other. */
static sums sums_of(const tm_posed *a, const tm_posed *b, const tm_image *image)
{
    const int64_t width = smaller(a->width, b->width), height = smaller(a->height, b->height);
    const int channels = tm_image_channels(image);
    sums s = {0};

    for (int64_t i = 0; i < width * height; i++) {
        const int64_t x = i % width, y = i / width;
        const int64_t at_a =
            (y + (a->height - height) / 2) * a->width + x + (a->width - width) / 2;
        const int64_t at_b =
            (y + (b->height - height) / 2) * b->width + x + (b->width - width) / 2;
        if (!a->mask[at_a] || !b->mask[at_b])
            continue;
        s.n++;
        for (int c = 0; c < channels; c++) {
            const int64_t sample_a = tm_sample_at(a->samples, at_a * channels + c, image->type);
            const int64_t sample_b = tm_sample_at(b->samples, at_b * channels + c, image->type);
            s.ab += sample_a * sample_b;
            s.aa += sample_a * sample_a;
            s.bb += sample_b * sample_b;
            s.a[c] += sample_a;
            s.b[c] += sample_b;
        }
    }
    return s;
}

double tm_posed_correlation(const tm_posed *a, const tm_posed *b, const tm_image *image)
{
    const sums s = sums_of(a, b, image);
    tm_int128 num = s.n * s.ab, var_a = s.n * s.aa, var_b = s.n * s.bb;

    for (int c = 0; c < TM_MAX_CHANNELS; c++) {
        num -= s.a[c] * s.b[c];
        var_a -= s.a[c] * s.a[c];
        var_b -= s.b[c] * s.b[c];
    }
    return var_a && var_b ? (double)num / sqrt((double)var_a) / sqrt((double)var_b) : 1;
}

/* The canvases of all poses have the template's parity with this support, so that their centres lie
 * on each other. */
static tm_status correlate(double *result, const tm_image *image, tm_turn one, tm_turn other)
{
    const tm_pose_support all = {.disc = true, .distance = INT64_MAX};
    tm_posed a, b;

    tm_status status = tm_pose_make(&a, image, one, &all);
    if (status != TM_OK)
        return status;
    status = tm_pose_make(&b, image, other, &all);
    if (status == TM_OK)
        *result = a.count && b.count ? tm_posed_correlation(&a, &b, image) : 1;
    tm_posed_free(&a);
    tm_posed_free(&b);
    return status;
}

/* The range of an axis, before it has a step. */
typedef struct range {
    int64_t from, to;
} range;

static int64_t base_of(range r, int k)
{
    return r.from + (r.to - r.from) * bases[k] / 100;
}

/* Two poses a step apart. */
typedef void pose_pair(tm_turn pair[2], range angles, range scales, int64_t step, int base);

/* Angles are tried at the greatest scale. */
static void angle_pair(tm_turn pair[2], range angles, range scales, int64_t step, int base)
{
    for (int i = 0; i < 2; i++)
        pair[i] = (tm_turn){base_of(angles, base) + (2 * i - 1) * step / 2, scales.to};
}

static void scale_pair(tm_turn pair[2], range angles, range scales, int64_t step, int base)
{
    for (int i = 0; i < 2; i++)
        pair[i] = (tm_turn){base_of(angles, 0),
                            clamp(base_of(scales, base) + (2 * i - 1) * step / 2,
                                  TM_POSE_LEAST_SCALE, TM_POSE_MOST_SCALE)};
}

/* By bisection the longest of the steps whose pairs of poses all correlate, or the shortest. */
static tm_status choose_step(int64_t *chosen, const tm_image *image, range angles, range scales,
                             pose_pair *make_pair, const int64_t *steps, int count)
{
    int low = 0, high = count - 1;

    while (low < high) {
        const int middle = high - (high - low) / 2;
        double least = 1;
        for (int k = 0; k < BASES && least >= LEAST_CORRELATION; k++) {
            tm_turn pair[2];
            double result;
            make_pair(pair, angles, scales, steps[middle], k);
            const tm_status status = correlate(&result, image, pair[0], pair[1]);
            if (status != TM_OK)
                return status;
            least = fmin(least, result);
        }
        if (least >= LEAST_CORRELATION)
            low = middle;
        else
            high = middle - 1;
    }
    *chosen = steps[low];
    return TM_OK;
}

static tm_pose_axis make_axis(range r, int64_t step, int64_t most)
{
    return (tm_pose_axis){.from = r.from,
                          .step = step,
                          .count = step ? smaller(r.to - r.from, most) / step + 1 : 1};
}

static tm_status choose_steps(tm_poses *poses, const tm_image *image, const tm_pose_grid *g)
{
    const range angles = {millionths(g->angle_from), millionths(g->angle_to)};
    const range scales = {millionths(g->scale_from), millionths(g->scale_to)};
    int64_t angle_step = millionths(g->angle_step), scale_step = millionths(g->scale_step);
    tm_status status = TM_OK;

    if (!angle_step && angles.from < angles.to)
        status = choose_step(&angle_step, image, angles, scales, angle_pair, angle_steps,
                             sizeof angle_steps / sizeof *angle_steps);
    if (status == TM_OK && !scale_step && scales.from < scales.to)
        status = choose_step(&scale_step, image, angles, scales, scale_pair, scale_steps,
                             sizeof scale_steps / sizeof *scale_steps);
    if (status != TM_OK)
        return status;
    poses->angles = make_axis(angles, angle_step, TM_POSE_TURN - 1);
    poses->scales = make_axis(scales, scale_step, INT64_MAX);
    return (tm_int128)poses->angles.count * poses->scales.count > TM_MAX_POSES ? TM_ERR_INVALID
                                                                               : TM_OK;
}

/* The largest disc that counts in all poses. */
static tm_status choose_distance(int64_t *distance, const tm_poses *poses, const tm_image *image)
{
    *distance = INT64_MAX;
    for (int64_t i = 0; i < tm_poses_count(poses) && *distance; i++) {
        const tm_status status = tm_pose_reach(distance, image, tm_poses_turn(poses, i));
        if (status != TM_OK)
            return status;
    }
    return TM_OK;
}

/* Whether the disc may replace all pixels: those of one angle need none, and of very different
 * scales the smallest would say how little of the largest counts. */
static bool may_be_disc(const tm_poses *poses)
{
    const tm_turn first = tm_poses_turn(poses, 0);
    const tm_turn last = tm_poses_turn(poses, tm_poses_count(poses) - 1);
    return poses->angles.count > 1 && 10 * last.scale <= 13 * first.scale;
}

/* Whether the disc has at least 0.7 of the pixels that count in the first pose. */
static tm_status disc_suffices(bool *suffices, const tm_poses *poses, const tm_image *image)
{
    const tm_turn first = tm_poses_turn(poses, 0);
    const tm_pose_support full = {.disc = false};
    tm_posed disc, all;

    tm_status status = tm_pose_make(&disc, image, first, &poses->support);
    if (status != TM_OK)
        return status;
    status = tm_pose_make(&all, image, first, &full);
    *suffices = disc.count > 0 && 10 * disc.count >= 7 * all.count;
    tm_posed_free(&disc);
    tm_posed_free(&all);
    return status;
}

static tm_status choose_support(tm_poses *poses, const tm_image *image, tm_support wanted)
{
    poses->support = (tm_pose_support){.disc = false};
    if (wanted == TM_SUPPORT_FULL || (wanted == TM_SUPPORT_AUTO && !may_be_disc(poses)))
        return TM_OK;
    tm_pose_support disc = {.disc = true};
    tm_status status = choose_distance(&disc.distance, poses, image);
    if (status != TM_OK)
        return status;
    poses->support = disc;
    if (wanted == TM_SUPPORT_AUTO) {
        bool suffices = false;
        status = disc_suffices(&suffices, poses, image);
        poses->support.disc = suffices;
    }
    return status;
}

tm_status tm_poses_choose(tm_poses *poses, const tm_image *image, const tm_pose_grid *grid)
{
    const tm_status status = choose_steps(poses, image, grid);
    return status == TM_OK ? choose_support(poses, image, grid->support) : status;
}
