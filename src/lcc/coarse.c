/* SPDX-License-Identifier: MIT */
#include "lcc/coarse.h"

#include <omp.h>

#include "integers.h"
#include "lcc/score.h"
#include "lcc/threads.h"

enum {
    WAY_PIXELS = 1024,  /* of a template that are looked at on the way, about */
    ROWS_A_THREAD = 64, /* of cells, at least */
};

bool tm_coarse_takes(const tm_job *job)
{
    return job->tmpl->levels.coarse && job->frame.width >= job->tmpl->width &&
           job->frame.height >= job->tmpl->height;
}

/* Adds up each cell's columns. */
static inline __attribute__((always_inline)) void sum_cells(uint8_t *to, const uint16_t *columns,
                                                            int64_t across, int cell_x)
{
    const uint32_t factor = UINT32_C(65536) / (uint32_t)(2 * cell_x);

    for (int64_t i = 0; i < across; i++, columns += cell_x) {
        uint32_t sum = 0;
        for (int x = 0; x < cell_x; x++)
            sum += columns[x];
        to[i] = (uint8_t)(sum * factor >> 16);
    }
}

/* Makes a row of cells: means of the samples of two of their rows, which are good enough for a
 * guess. columns has room for a row of the frame. */
static void reduce_row(uint8_t *to, uint16_t *columns, const tm_image *frame, int64_t row,
                       int64_t across, const tm_levels *l)
{
    const uint8_t *upper = frame->samples + row * l->cell_y * frame->stride;
    const uint8_t *lower = upper + l->cell_y / 2 * frame->stride;

    for (int64_t x = 0; x < across * l->cell_x; x++)
        columns[x] = (uint16_t)(upper[x] + lower[x]);
    switch (l->cell_x) {
    case 4:
        sum_cells(to, columns, across, 4);
        break;
    case 8:
        sum_cells(to, columns, across, 8);
        break;
    default:
        sum_cells(to, columns, across, l->cell_x);
    }
}

bool tm_coarse_reduce(tm_coarse *coarse, const tm_job *job, int threads)
{
    const tm_levels *l = &job->tmpl->levels;
    const int64_t across = job->frame.width / l->cell_x, down = job->frame.height / l->cell_y;
    const int wanted = (int)clamp(down / ROWS_A_THREAD, 1, threads);
    const int team = wanted > 1 ? tm_team_size(wanted) : 1;
    const int64_t size = round_up(across * down, TM_MEMORY_ALIGNMENT);
    const int64_t row = round_up(job->frame.width, TM_MEMORY_ALIGNMENT);

    /* cells, and a row of columns for each thread */
    if (!tm_memory_fit(&coarse->memory, (size_t)(size + 2 * team * row)))
        return false;
    uint8_t *cells = coarse->memory.data;
    uint16_t *columns = (uint16_t *)(void *)(cells + size);
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int64_t y = 0; y < down; y++)
        reduce_row(cells + y * across, columns + omp_get_thread_num() * row, &job->frame, y, across, l);
    coarse->cells = (tm_image){
        .samples = cells, .width = across, .height = down, .stride = (ptrdiff_t)across};
    return true;
}

void tm_coarse_free(tm_coarse *coarse)
{
    tm_memory_free(&coarse->memory);
    coarse->cells = (tm_image){0};
}

tm_status tm_coarse_job(tm_job *small, const tm_coarse *coarse, const tm_job *job,
                        tm_peak_list *peaks)
{
    const tm_template *t = job->tmpl->levels.coarse;

    *small = (tm_job){
        .metric = TM_METRIC_LCC, .frame = coarse->cells, .tmpl = t, .peaks = peaks};
    const tm_status status = tm_geometry_init(&small->geometry, TM_DOMAIN_VALID, small->frame.width,
                                              small->frame.height, t->width, t->height);
    small->last_row = small->geometry.map_height;
    return status;
}

void tm_coarse_place(const tm_job *small, const tm_job *job, int64_t position, int64_t *x,
                     int64_t *y)
{
    const tm_levels *l = &job->tmpl->levels;
    const int64_t across = small->geometry.map_width;

    *x = smaller(position % across * l->cell_x, job->frame.width - job->tmpl->width);
    *y = smaller(position / across * l->cell_y, job->frame.height - job->tmpl->height);
}

tm_climber tm_climber_of(const tm_job *job, int64_t step)
{
    const tm_template *t = job->tmpl;
    tm_climber c = {.job = job, .step = step};
    int64_t s_tt = 0;

    for (int64_t v = 0; v < t->height; v += step, c.n += t->width) {
        for (int64_t u = 0; u < t->width; u++) {
            const int64_t tap = t->samples[v * t->width + u];
            c.s_t += tap;
            s_tt += tap * tap;
        }
    }
    c.variance = larger(c.n * s_tt - c.s_t * c.s_t, 1);
    return c;
}

tm_climber tm_climber_quick(const tm_job *job)
{
    return tm_climber_of(job, ceil_div(job->tmpl->n, WAY_PIXELS));
}

tm_candidate tm_climber_score(const tm_climber *c, int64_t x, int64_t y)
{
    const tm_template *t = c->job->tmpl;
    const tm_geometry *g = &c->job->geometry;
    uint32_t s_f = 0, s_ff = 0, s_ft = 0;

    for (int64_t v = 0; v < t->height; v += c->step) {
        const uint8_t *row = c->job->frame.samples + (y + v) * c->job->frame.stride + x;
        const uint8_t *taps = t->samples + v * t->width;
        for (int64_t u = 0; u < t->width; u++) {
            s_f += row[u];
            s_ff += (uint32_t)row[u] * row[u];
            s_ft += (uint32_t)row[u] * taps[u];
        }
    }
    const float score = tm_lcc_score(c->n * s_ft - s_f * c->s_t, c->n * s_ff - (int64_t)s_f * s_f,
                                     (float)c->variance);
    return (tm_candidate){tm_score_order(score), (y + g->pad_y) * g->map_width + x + g->pad_x};
}

tm_candidate tm_climb(const tm_climber *c, int64_t *x, int64_t *y, int64_t step_x, int64_t step_y)
{
    const tm_job *job = c->job;
    const int64_t last_x = job->frame.width - job->tmpl->width;
    const int64_t last_y = job->frame.height - job->tmpl->height;
    tm_candidate best = tm_climber_score(c, *x, *y);

    for (;;) {
        const int64_t from_x = *x, from_y = *y;
        for (int i = 0; i < 9; i++) {
            const int64_t u = clamp(from_x + (i % 3 - 1) * step_x, 0, last_x);
            const int64_t v = clamp(from_y + (i / 3 - 1) * step_y, 0, last_y);
            const tm_candidate other = tm_climber_score(c, u, v);
            if (tm_candidate_beats(other, best)) {
                best = other;
                *x = u;
                *y = v;
            }
        }
        if (*x != from_x || *y != from_y)
            continue;
        if (step_x == 1 && step_y == 1)
            return best;
        step_x = (step_x + 1) / 2;
        step_y = (step_y + 1) / 2;
    }
}
