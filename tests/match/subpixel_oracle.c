/* SPDX-License-Identifier: MIT */
/* Sub-pixel places by elimination of six equations of least squares. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "peaks_oracle.h"

/* Six equations by elimination. */
static void solve(double a[6][7])
{
    for (int i = 0; i < 6; i++) {
        int pivot = i;
        for (int k = i; k < 6; k++)
            pivot = fabs(a[k][i]) > fabs(a[pivot][i]) ? k : pivot;
        for (int c = 0; c < 7; c++) {
            double keep = a[i][c];
            a[i][c] = a[pivot][c];
            a[pivot][c] = keep;
        }
        for (int k = 0; k < 6; k++) {
            if (k == i)
                continue;
            const double factor = a[k][i] / a[i][i];
            for (int c = i; c < 7; c++)
                a[k][c] -= factor * a[i][c];
        }
    }
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t clip64(int64_t value, int64_t low, int64_t high)
{
    return value > high ? high : value < low ? low : value;
}

/* The surface that nine values' least squares give: b x + c y + d x^2 + e x y + k y^2. */
typedef struct surface {
    double b, c, d, e, k;
    double doubt; /* how far its top may be off, since the values are rounded */
} surface;

/* Its tops along the axes, where the other coordinate is given; without one, stay. */
static double top_across(const surface *s, double y, double stay)
{
    return s->d < 0 ? -(s->b + s->e * y) / (2 * s->d) : stay;
}

static double top_down(const surface *s, double x, double stay)
{
    return s->k < 0 ? -(s->c + s->e * x) / (2 * s->k) : stay;
}

/* The surface and its top, from the middle value; the peak is at (px, py). Which case it
 * is may depend on rounding: then false. */
static bool surface_top(double z[3][3], double px, double py, surface *s, double *dx, double *dy,
                        bool *has_top)
{
    double a[6][7] = {{0}}, greatest = 0;

    for (int v = -1; v <= 1; v++) {
        for (int u = -1; u <= 1; u++) {
            const double term[6] = {1, u, v, u * u, u * v, v * v};
            greatest = fmax(greatest, fabs(z[v + 1][u + 1]));
            for (int i = 0; i < 6; i++) {
                const double weighted = term[i] * (2 - abs(u)) * (2 - abs(v));
                for (int k = 0; k < 6; k++)
                    a[i][k] += weighted * term[k];
                a[i][6] += weighted * (z[v + 1][u + 1] - z[1][1]);
            }
        }
    }
    solve(a);
    const double b = a[1][6] / a[1][1], c = a[2][6] / a[2][2], d = a[3][6] / a[3][3],
                 e = a[4][6] / a[4][4], k = a[5][6] / a[5][5];
    const double det = 4 * d * k - e * e, size = fabs(d) + fabs(k) + fabs(e);
    if (!(size > 0) || fabs(det) < 1e-6 * size * size || fabs(d) < 1e-6 * size ||
        fabs(k) < 1e-6 * size)
        return false;
    *has_top = d < 0 && k < 0 && det > 0;
    *s = (surface){b, c, d, e, k, 4 * DBL_EPSILON * greatest * size / fabs(det)};
    *dx = *has_top ? (e * c - 2 * k * b) / det : top_across(s, py, px);
    *dy = *has_top ? (e * b - 2 * d * c) / det : top_down(s, px, py);
    return true;
}

/* A score as what it lacks to that of a copy, to the power of 11/8. */
static double lacking(double score, tm_metric metric)
{
    const double u = tm_metric_is_distance(metric) ? -score : 1 - score;
    return u > 0 ? -pow(u, 11.0 / 8) : 0;
}

void check_subpixel(const truth *t, tm_metric metric, const tm_hit *expected,
                           const tm_hit *hit, const char *text)
{
    const int64_t x = expected->peak.x, y = expected->peak.y;
    const int64_t x0 = clip64(x, 1, t->width - 2), y0 = clip64(y, 1, t->height - 2);
    const double left = (double)(x0 - x), top = (double)(y0 - y);
    double s[3][3], z[3][3], dx, dy;
    bool has_top, near = false;
    surface f;

    if (t->width < 3 || t->height < 3) {
        CHECK(fabs(hit->dx) <= 0.5 && fabs(hit->dy) <= 0.5);
        return;
    }
    for (int i = 0; i < 9; i++) {
        s[i / 3][i % 3] = truth_at(t, x0 + i % 3 - 1, y0 + i / 3 - 1);
        z[i / 3][i % 3] = lacking(s[i / 3][i % 3], metric);
        if (s[i / 3][i % 3] == -INFINITY) {
            CHECK(hit->dx == 0 && hit->dy == 0);
            return;
        }
    }
    if (metric != TM_METRIC_CCORR && metric != TM_METRIC_CCOEFF) {
        if (!surface_top(z, -left, -top, &f, &dx, &dy, &has_top))
            return;
        const double far = fmax(fabs(dx + left), fabs(dy + top));
        if (has_top && fabs(far - 0.6) < 1e-6)
            return;
        near = has_top && far < 0.6;
    }
    if (!near && !surface_top(s, -left, -top, &f, &dx, &dy, &has_top))
        return;
    /* beyond the map's edge: along it */
    if (-left * dx > 1 && f.k < 0) {
        dx = -left;
        dy = top_down(&f, dx, 0);
    }
    if (-top * dy > 1 && f.d < 0) {
        dy = -top;
        dx = top_across(&f, dy, 0);
    }
    dx = clip(dx + left, x ? -0.5 : 0, x < t->width - 1 ? 0.5 : 0);
    dy = clip(dy + top, y ? -0.5 : 0, y < t->height - 1 ? 0.5 : 0);
    const double most = fmax(1e-6, f.doubt);
    if (!(fabs(dx - hit->dx) < most && fabs(dy - hit->dy) < most))
        check_fail(__FILE__, __LINE__, "%s: at (%" PRId64 ", %" PRId64 ") off by (%g, %g), expected (%g, %g)",
                   text, x, y, hit->dx, hit->dy, dx, dy);
}
