/* SPDX-License-Identifier: MIT */
/* f = a + b*x + c*y + d*x^2 + e*x*y + k*y^2, fitted by least squares to 3 x 3
 * values: the facet model of Haralick and Shapiro, Computer and Robot Vision, vol. 1
 * (1992), ch. 8. The weights are (1, 2, 1) along each axis: where the peak is a ridge,
 * its corners lie far below any quadratic surface. */
#include <math.h>

#include "match/subpixel.h"

#include "integers.h"
#include "lcc/threads.h"

typedef struct surface {
    double b, c, d, e, k;
} surface;

static surface fit(double s[3][3])
{
    static const double weights[3] = {1.0 / 8, 2.0 / 8, 1.0 / 8};
    surface f = {0};
    for (int i = 0; i < 3; i++) {
        f.b += weights[i] * (s[i][2] - s[i][0]);
        f.c += weights[i] * (s[2][i] - s[0][i]);
        f.d += weights[i] * (s[i][0] - 2 * s[i][1] + s[i][2]);
        f.k += weights[i] * (s[0][i] - 2 * s[1][i] + s[2][i]);
    }
    f.e = (s[0][0] - s[0][2] - s[2][0] + s[2][2]) / 4;
    return f;
}

/* The top along one axis where the other coordinate is given, if the surface has one there. */
static double top_across(const surface *f, double y)
{
    return -(f->b + f->e * y) / (2 * f->d);
}

static double top_down(const surface *f, double x)
{
    return -(f->c + f->e * x) / (2 * f->k);
}

/* Where the surface is greatest. False if it has no top: then where it is along each axis
 * through the peak, or the peak itself. */
static bool top_of(const surface *f, const double peak[2], double *x, double *y)
{
    const double determinant = 4 * f->d * f->k - f->e * f->e;
    if (f->d < 0 && f->k < 0 && determinant > 0) {
        *x = (f->e * f->c - 2 * f->k * f->b) / determinant;
        *y = (f->e * f->b - 2 * f->d * f->c) / determinant;
        return true;
    }
    *x = f->d < 0 ? top_across(f, peak[1]) : peak[0];
    *y = f->k < 0 ? top_down(f, peak[0]) : peak[1];
    return false;
}

/* At the map's edge, where the peak is not in the middle: a top that lies beyond the edge is
 * replaced by the top along the edge. */
static void stay_in_map(const surface *f, double way[2], const double peak[2])
{
    if (peak[0] * way[0] > 1 && f->k < 0) {
        way[0] = peak[0];
        way[1] = top_down(f, way[0]);
    }
    if (peak[1] * way[1] > 1 && f->d < 0) {
        way[1] = peak[1];
        way[0] = top_across(f, way[1]);
    }
}

/* How far a score is from that of a copy, for metrics that know it. */
static bool distances_of(double u[3][3], double s[3][3], tm_metric metric)
{
    const bool normed = tm_is_normed(metric);
    for (int i = 0; i < 9; i++)
        u[i / 3][i % 3] = fmax(normed ? 1 - s[i / 3][i % 3] : s[i / 3][i % 3], 0);
    return normed || tm_is_distance(metric);
}

/* u to the power of 11/8: roots have the same bits on every machine. */
static double raised(double u)
{
    const double fourth = sqrt(sqrt(u));
    return u * fourth * sqrt(fourth);
}

/* The distance u from a copy grows more slowly with the way than its square does, u^(11/8)
 * nearly as that. Only where its surface has no top near by are the scores fitted
 * themselves. */
static void fit_top(double s[3][3], tm_metric metric, double way[2], const double centre[2])
{
    const double reach = 0.6; /* half a position, and what the fit is off by */
    const double sign = tm_is_distance(metric) ? -1 : 1;
    const double peak[2] = {-centre[0], -centre[1]};
    double u[3][3], z[3][3];
    bool near = false;
    surface f;

    if (distances_of(u, s, metric)) {
        for (int i = 0; i < 9; i++)
            z[i / 3][i % 3] = -raised(u[i / 3][i % 3]);
        f = fit(z);
        near = top_of(&f, peak, &way[0], &way[1]) && fabs(way[0] + centre[0]) <= reach &&
               fabs(way[1] + centre[1]) <= reach;
    }
    if (!near) {
        for (int i = 0; i < 9; i++)
            z[i / 3][i % 3] = sign * (s[i / 3][i % 3] - s[1][1]);
        f = fit(z);
        top_of(&f, peak, &way[0], &way[1]);
    }
    stay_in_map(&f, way, peak);
}

/* Keeps the top within half a position of the peak, and within the map. */
static double limited(double value, int64_t at, int64_t size)
{
    const double low = at == 0 ? 0 : -0.5, high = at == size - 1 ? 0 : 0.5;
    return value < low ? low : value > high ? high : value;
}

/* The definition, for windows inside the frame without the cases that it has to
 * consider at each sample. */
static tm_candidate window_at(const tm_job *job, int64_t x, int64_t y)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    const int64_t left = x - g->pad_x, top = y - g->pad_y;
    int64_t s_f = 0, s_ff = 0, s_ft = 0;

    if (!tm_job_is_plain(job) || left < 0 || top < 0 || left + t->width > g->frame_width ||
        top + t->height > g->frame_height)
        return tm_reference_window(job, x, y);
    for (int64_t v = 0; v < t->height; v++) {
        const uint8_t *f = job->frame.samples + (top + v) * job->frame.stride + left;
        const uint8_t *row = t->samples + v * t->width;
        for (int64_t u = 0; u < t->width; u++) {
            s_f += f[u];
            s_ff += f[u] * f[u];
            s_ft += f[u] * row[u];
        }
    }
    return tm_job_emit(job, x, y, s_f, s_ff, s_ft);
}

/* At the map's edge the three columns, or rows, next to it are taken; a map of
 * fewer repeats its last one. */
static void refine(tm_hit *hit, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const int64_t x = hit->peak.x + g->pad_x, y = hit->peak.y + g->pad_y;
    const int64_t left = clamp(x - 1, 0, g->map_width < 3 ? 0 : g->map_width - 3);
    const int64_t top = clamp(y - 1, 0, g->map_height < 3 ? 0 : g->map_height - 3);
    const double centre[2] = {(double)(left + 1 - x), (double)(top + 1 - y)};
    double s[3][3], way[2];

    for (int64_t j = 0; j < 3; j++) {
        for (int64_t i = 0; i < 3; i++) {
            const int64_t at_x = clamp(left + i, 0, g->map_width - 1);
            const int64_t at_y = clamp(top + j, 0, g->map_height - 1);
            const tm_candidate c = window_at(job, at_x, at_y);
            if (c.position == INT64_MAX)
                return; /* beside what the frame's mask leaves out */
            s[j][i] = tm_job_score(job, c.value);
        }
    }
    fit_top(s, job->metric, way, centre);
    hit->dx = g->map_width < 3 ? 0 : limited(way[0] + centre[0], x, g->map_width);
    hit->dy = g->map_height < 3 ? 0 : limited(way[1] + centre[1], y, g->map_height);
}

/* So few samples take one thread less time than others need to wake. */
#define SMALL_WORK 1e5

void tm_subpixel(tm_hits *hits, const tm_job *job, int threads)
{
    const double work = 9 * (double)hits->count * (double)job->tmpl->n;
    tm_job alone = *job;
    alone.map.data = NULL;
    const int team = threads > 1 && work > SMALL_WORK ? tm_team_size(threads) : 1;
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = 0; i < hits->count; i++)
        refine(&hits->items[i], &alone);
}
