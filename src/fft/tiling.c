/* SPDX-License-Identifier: MIT */
#include "fft/tiling.h"

#include <math.h>

#include "integers.h"

/* Milliseconds of a tiling whose lengths and ranges are set; fills in the rest. */
static double complete(tm_fft_tiling *t, const tm_geometry *g, const tm_fft_costs *costs,
                       double x_ns, double y_ns, int workers)
{
    t->step_x = t->length_x - (int)g->template_width + 1;
    t->step_y = t->length_y - (int)g->template_height + 1;
    t->across = ceil_div(t->range_x, t->step_x);
    t->down = ceil_div(t->range_y, t->step_y);
    /* equal tiles: the last one is not smaller than it must be */
    t->step_y = (int)ceil_div(t->range_y, t->down);

    double tiles = (double)t->across * (double)t->down;
    double points = (double)t->length_x * t->length_y;
    /* tiles above each other share the transforms of common rows */
    double rows = (double)t->across * (2.0 * (double)t->range_y + (double)g->template_height);
    double share = ceil(tiles / workers) / tiles;
    double ns = rows * t->length_x * x_ns + tiles * (points * (2 * y_ns)) +
                (double)g->map_width * (double)g->map_height * costs->window_ns;
    return t->ms = (ns * share + points * costs->memory_ns) * 1e-6;
}

bool tm_fft_tile_map(tm_fft_tiling *tiling, const tm_geometry *g, const tm_fft_costs *costs,
                     int workers)
{
    tm_fft_tiling best = {.ms = INFINITY};

    for (int split_y = 0; split_y < 2; split_y++) {
        tm_fft_tiling t = {.range_x = g->map_width, .range_y = g->map_height};
        if (split_y)
            t.shift_y = t.range_y = ceil_div(g->map_height, 2);
        else
            t.shift_x = t.range_x = ceil_div(g->map_width, 2);
        for (int i = 0; i < costs->count; i++) {
            t.length_x = costs->lengths[i].length;
            if (t.length_x < g->template_width)
                continue;
            for (int j = 0; j < costs->count; j++) {
                t.length_y = costs->lengths[j].length;
                if (t.length_y < g->template_height)
                    continue;
                if ((int64_t)t.length_x * t.length_y > costs->max_points)
                    break;
                if (complete(&t, g, costs, costs->lengths[i].ns, costs->lengths[j].ns, workers) <
                    best.ms)
                    best = t;
            }
        }
    }
    if (best.ms == INFINITY)
        return false;
    *tiling = best;
    return true;
}

/* 30 roundings a halving: 10 in each of three transforms. See docs/exactness.md. */
static double roundings(const tm_fft_tiling *t)
{
    return 30 * log2((double)t->length_x * t->length_y) + 10;
}

double tm_fft_error_bound(const tm_fft_tiling *t, const tm_template *tmpl)
{
    double points = (double)t->length_x * t->length_y;
    double tile_norm = sqrt(2.0 * points) * TM_FFT_CENTRE;
    double template_norm = sqrt((double)tmpl->sum_sq);
    return 0x1p-53 * roundings(t) * tile_norm * template_norm;
}

/* 10 roundings more: of samples and taps, and of the sum of up to 4 channels. */
double tm_fft_f32_error(const tm_fft_tiling *t, double tile_norm, double taps_norm)
{
    return 0x1p-53 * (roundings(t) + 10) * tile_norm * taps_norm;
}

/* The template that is transformed, or the plane of it with the greatest norm. */
static const tm_template *greatest_plane(const tm_template *t)
{
    const tm_template *greatest = t->planes ? t->planes[0] : t;
    for (int i = 1; i < t->plane_count; i++) {
        if (t->planes[i]->sum_sq > greatest->sum_sq)
            greatest = t->planes[i];
    }
    return greatest;
}

const char *tm_fft_fault(const tm_fft_tiling *tiling, const tm_job *job)
{
    if (!tm_job_is_f32(job) &&
        tm_fft_error_bound(tiling, greatest_plane(job->tmpl)) >= TM_FFT_MAX_ERROR)
        return "rounding to the exact sums cannot be guaranteed at this size";
    return NULL;
}
