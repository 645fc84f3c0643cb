/* SPDX-License-Identifier: MIT */
/* A quadratic surface from the differences of scores along the axes across, down, angle and scale, and
 * between two of them. */
#include "match/poses_refine.h"

#include <math.h>

#include "lcc/threads.h"

enum { ACROSS, DOWN, ANGLE, SCALE, AXES, POINTS = 81 };

/* The scores around a peak, times -1 for distances; NAN where there is none. */
typedef struct stencil {
    double score[POINTS];
    bool active[AXES]; /* has neighbours on both sides */
} stencil;

/* -1, 0 or 1 along an axis. */
static int offset(int point, int axis)
{
    static const int powers[AXES] = {1, 3, 9, 27};
    return point / powers[axis] % 3 - 1;
}

/* The point beside the peak along one axis. */
static int beside(int axis, int way)
{
    static const int powers[AXES] = {1, 3, 9, 27};
    return POINTS / 2 + way * powers[axis];
}

typedef struct refinement {
    tm_metric metric;
    tm_domain domain;
    const tm_image *frame;
    const tm_posed_template *tmpl;
} refinement;

/* Scores the nine positions of one neighbouring pose. */
static void score_positions(const refinement *r, const tm_template *t, const tm_posed_hit *hit,
                            double *scores)
{
    tm_job job = {.metric = r->metric, .frame = *r->frame, .tmpl = t};
    tm_geometry *g = &job.geometry;

    if (tm_template_is_flat(t, r->metric) ||
        tm_geometry_init(g, r->domain, r->frame->width, r->frame->height, t->width, t->height) !=
            TM_OK)
        return;
    const int64_t x = (int64_t)(hit->center_x - (double)(t->width - 1) / 2) + g->pad_x;
    const int64_t y = (int64_t)(hit->center_y - (double)(t->height - 1) / 2) + g->pad_y;
    for (int i = 0; i < 9; i++) {
        const int64_t u = x + offset(i, ACROSS), v = y + offset(i, DOWN);
        if (u < 0 || v < 0 || u >= g->map_width || v >= g->map_height)
            continue;
        const tm_candidate c = tm_reference_window(&job, u, v);
        if (c.position != INT64_MAX)
            scores[i] = tm_is_distance(r->metric) ? -tm_job_score(&job, c.value)
                                                  : tm_job_score(&job, c.value);
    }
}

/* The pose's picture has the parity of the peak's pose, so that centres can lie on each other. */
static tm_status score_pose(const refinement *r, const tm_posed_hit *hit, tm_turn turn,
                            double *scores)
{
    const tm_pose_slot *slot = &r->tmpl->slots[hit->pose];
    tm_template *t = NULL;
    tm_posed posed;

    tm_status status = tm_pose_make_like(&posed, &r->tmpl->image, turn, &r->tmpl->poses.support,
                                         slot->width, slot->height);
    if (status != TM_OK)
        return status == TM_ERR_TEMPLATE_TOO_LARGE ? TM_OK : status;
    if (posed.count) {
        const tm_image image = tm_posed_image_of(r->tmpl, &posed);
        status = tm_template_prepare(&t, &image);
    }
    if (t)
        score_positions(r, t, hit, scores);
    tm_template_destroy(&t);
    tm_posed_free(&posed);
    return status;
}

static tm_status score_poses(const refinement *r, const tm_posed_hit *hit, stencil *s)
{
    const tm_poses *poses = &r->tmpl->poses;
    const tm_turn own = tm_poses_turn(poses, (int64_t)hit->pose);
    tm_status status = TM_OK;

    for (int i = 0; i < POINTS; i++)
        s->score[i] = NAN;
    for (int i = 0; i < POINTS && status == TM_OK; i += 9) {
        const int i_angle = offset(i, ANGLE), i_scale = offset(i, SCALE);
        const tm_turn turn = {own.angle + i_angle * poses->angles.step,
                              own.scale + i_scale * poses->scales.step};
        if ((i_angle && !poses->angles.step) || (i_scale && !poses->scales.step) ||
            turn.scale < TM_POSE_LEAST_SCALE || turn.scale > TM_POSE_MOST_SCALE)
            continue;
        status = score_pose(r, hit, turn, s->score + i);
    }
    for (int axis = 0; axis < AXES; axis++)
        s->active[axis] =
            !isnan(s->score[beside(axis, -1)]) && !isnan(s->score[beside(axis, 1)]);
    return status;
}

typedef struct surface {
    double gradient[AXES], hessian[AXES][AXES];
} surface;

/* How far the score beside the peak along one axis, and along another one, is from the peak's. */
static double score_beside(const stencil *s, int axis, int way, int other, int other_way)
{
    const int centre = POINTS / 2;
    return s->score[beside(axis, way) + beside(other, other_way) - centre] - s->score[centre];
}

/* Along and between axes that are active. False where a score is missing. */
static bool fit(surface *f, const stencil *s)
{
    double sum = 0;

    *f = (surface){.gradient = {0}};
    for (int a = 0; a < AXES; a++) {
        if (!s->active[a])
            continue;
        const double low = score_beside(s, a, -1, a, 0), high = score_beside(s, a, 1, a, 0);
        f->gradient[a] = (high - low) / 2;
        f->hessian[a][a] = high + low;
        for (int b = 0; b < a; b++) {
            if (!s->active[b])
                continue;
            f->hessian[a][b] = (score_beside(s, a, 1, b, 1) - score_beside(s, a, 1, b, -1) -
                                score_beside(s, a, -1, b, 1) + score_beside(s, a, -1, b, -1)) /
                               4;
            sum += f->hessian[a][b];
        }
    }
    return !isnan(sum);
}

/* By Cholesky's decomposition of the negative of the Hessian. False where that is not positive
 * definite: the surface has no top. */
static bool find_top(const surface *f, const bool active[AXES], double top[AXES])
{
    double l[AXES][AXES] = {{0}}, y[AXES] = {0};

    for (int i = 0; i < AXES; i++) {
        for (int k = 0; k <= i; k++) {
            double sum = active[i] && active[k] ? -f->hessian[i][k] : i == k;
            for (int j = 0; j < k; j++)
                sum -= l[i][j] * l[k][j];
            if (i == k && !(sum > 0))
                return false;
            l[i][k] = i == k ? sqrt(sum) : sum / l[k][k];
        }
        y[i] = active[i] ? f->gradient[i] : 0;
        for (int j = 0; j < i; j++)
            y[i] -= l[i][j] * y[j];
        y[i] /= l[i][i];
    }
    for (int i = AXES - 1; i >= 0; i--) {
        top[i] = y[i];
        for (int j = i + 1; j < AXES; j++)
            top[i] -= l[j][i] * top[j];
        top[i] /= l[i][i];
    }
    return true;
}

/* Where there is no top: that along each axis through the peak. */
static void find_tops_of_axes(const surface *f, double top[AXES])
{
    for (int i = 0; i < AXES; i++)
        top[i] = f->hessian[i][i] < 0 ? -f->gradient[i] / f->hessian[i][i] : 0;
}

static double limited(double value)
{
    return value < -0.5 ? -0.5 : value > 0.5 ? 0.5 : value;
}

static tm_status refine(const refinement *r, tm_posed_hit *hit)
{
    const tm_poses *poses = &r->tmpl->poses;
    const double unit = (double)TM_POSE_UNIT;
    double top[AXES];
    stencil s;
    surface f;

    const tm_status status = score_poses(r, hit, &s);
    if (status != TM_OK || isnan(s.score[POINTS / 2]) || !fit(&f, &s))
        return status;
    if (!find_top(&f, s.active, top))
        find_tops_of_axes(&f, top);
    hit->fine_x += limited(top[ACROSS]);
    hit->fine_y += limited(top[DOWN]);
    hit->fine_angle += limited(top[ANGLE]) * (double)poses->angles.step / unit;
    hit->fine_scale += limited(top[SCALE]) * (double)poses->scales.step / unit;
    return TM_OK;
}

tm_status tm_poses_refine(const tm_matcher *matcher, const tm_image *frame,
                          const tm_posed_template *tmpl, tm_posed_hit *hits, size_t count)
{
    const refinement r = {matcher->settings.metric, matcher->settings.domain, frame, tmpl};
    const int threads = tm_matcher_threads(matcher);
    const int team = threads > 1 && count > 1 ? tm_team_size(threads) : 1;
    tm_status status = TM_OK;

    for (size_t i = 0; i < count && status == TM_OK; i++) /* what is found out is kept */
        status = tm_posed_know(tmpl, hits[i].pose);
    if (status != TM_OK)
        return status;
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = 0; i < count; i++) {
        const tm_status own = refine(&r, &hits[i]);
        if (own != TM_OK) {
#pragma omp atomic write
            status = own;
        }
    }
    return status;
}
