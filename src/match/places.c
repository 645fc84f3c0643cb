/* SPDX-License-Identifier: MIT */
#include "match/places.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/threads.h"
#include "match/suppress.h"

enum {
    COARSE_PEAKS = 2048,
    MOST_PLACES = 64,
    MOST_PIXELS = 1 << 14, /* of a template whose windows are scored here, */
    WAY_PIXELS = 1024,     /* and of those that are looked at on the way, about */
    ROWS_A_CELL = 2,       /* that are added up, about */
    ROWS_A_THREAD = 64,    /* of cells, at least */
};

/* Makes a row of cells: means of the samples of some of their rows. */
static void reduce_row(uint8_t *to, uint32_t *columns, const tm_image *frame, int64_t row,
                       int64_t across, const tm_levels *l)
{
    const int step = (l->cell_y + ROWS_A_CELL - 1) / ROWS_A_CELL;
    const int64_t width = across * l->cell_x;
    uint32_t rows = 0;

    memset(columns, 0, (size_t)width * sizeof *columns);
    for (int y = 0; y < l->cell_y; y += step, rows++) {
        const uint8_t *samples = frame->samples + (row * l->cell_y + y) * frame->stride;
        for (int64_t x = 0; x < width; x++)
            columns[x] += samples[x];
    }
    for (int64_t i = 0; i < across; i++) {
        uint32_t sum = 0;
        for (int x = 0; x < l->cell_x; x++)
            sum += columns[i * l->cell_x + x];
        to[i] = (uint8_t)(sum / (rows * (uint32_t)l->cell_x));
    }
}

/* False if memory ran out. *memory is to be freed in either case. */
static bool reduce(tm_image *cells, uint8_t **memory, const tm_job *job, int threads)
{
    const tm_levels *l = &job->tmpl->levels;
    const int64_t across = job->frame.width / l->cell_x, down = job->frame.height / l->cell_y;
    const int team = tm_team_size((int)clamp(down / ROWS_A_THREAD, 1, threads));
    const size_t row = (size_t)job->frame.width * sizeof(uint32_t);
    uint8_t *to = *memory = malloc((size_t)(across * down));
    char *columns = malloc((size_t)team * row);

    if (to && columns) {
#pragma omp parallel for num_threads(team) if (team > 1)
        for (int64_t y = 0; y < down; y++)
            reduce_row(to + y * across, (uint32_t *)(void *)(columns + (size_t)omp_get_thread_num() * row),
                       &job->frame, y, across, l);
    }
    *cells = (tm_image){.samples = to, .width = across, .height = down, .stride = (ptrdiff_t)across};
    const bool good = to && columns;
    free(columns);
    return good;
}

/* How windows are scored: by every step-th row of the template. */
typedef struct climber {
    const tm_job *job;
    int64_t step, n, s_t, variance;
} climber;

static climber climber_of(const tm_job *job, int64_t step)
{
    const tm_template *t = job->tmpl;
    climber c = {.job = job, .step = step};
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

/* Ranks the window at (x, y) of the frame. */
static tm_candidate score_at(const climber *c, int64_t x, int64_t y)
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

/* Goes from *x, *y to better windows, by steps that become smaller. The last one ranks before all
 * that are beside it in the frame. */
static tm_candidate climb(const climber *c, int64_t *x, int64_t *y, int64_t step_x, int64_t step_y)
{
    const tm_job *job = c->job;
    const int64_t last_x = job->frame.width - job->tmpl->width;
    const int64_t last_y = job->frame.height - job->tmpl->height;
    tm_candidate best = score_at(c, *x, *y);

    for (;;) {
        const int64_t from_x = *x, from_y = *y;
        for (int i = 0; i < 9; i++) {
            const int64_t u = clamp(from_x + (i % 3 - 1) * step_x, 0, last_x);
            const int64_t v = clamp(from_y + (i / 3 - 1) * step_y, 0, last_y);
            const tm_candidate other = score_at(c, u, v);
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

/* The peak near (x, y); no candidate where that lies at the frame's edge, where it may be no peak. */
static tm_candidate peak_near(const climber *way, const climber *all, int64_t x, int64_t y)
{
    const tm_job *job = all->job;
    const tm_levels *l = &job->tmpl->levels;

    climb(way, &x, &y, (l->cell_x + 1) / 2, (l->cell_y + 1) / 2);
    const tm_candidate best = climb(all, &x, &y, 1, 1);
    const bool inside = x > 0 && x < job->frame.width - job->tmpl->width && y > 0 &&
                        y < job->frame.height - job->tmpl->height;
    return inside ? best : (tm_candidate)TM_NO_CANDIDATE;
}

static bool has(const tm_peak_list *list, tm_candidate peak)
{
    for (size_t i = 0; i < list->above.count; i++)
        if (list->above.items[i].position == peak.position)
            return true;
    return false;
}

/* Climbs from the best coarse peaks that are far apart. */
static bool climb_all(const tm_job *job, const tm_job *coarse, size_t count, int64_t floor,
                      tm_peak_list *found)
{
    const tm_template *t = job->tmpl;
    const tm_levels *l = &t->levels;
    const tm_peak_set *peaks = &coarse->peaks->above;
    bool good = true, below = floor == INT64_MIN;
    const climber all = climber_of(job, 1), way = climber_of(job, ceil_div(t->n, WAY_PIXELS));
    tm_suppressor taken;
    size_t places = 0;

    tm_suppressor_init(&taken, 2 * (t->width + l->cell_x), 2 * (t->height + l->cell_y), 0);
    for (size_t i = 0; i < peaks->count && good && places < MOST_PLACES; i++) {
        const int64_t at = peaks->items[i].position;
        const int64_t x = smaller(at % coarse->geometry.map_width * l->cell_x, job->frame.width - t->width);
        const int64_t y = smaller(at / coarse->geometry.map_width * l->cell_y, job->frame.height - t->height);
        if (tm_suppressor_covers(&taken, x, y))
            continue;
        good = tm_suppressor_take(&taken, x, y);
        const tm_candidate peak = peak_near(&way, &all, x, y);
        places++;
        if (peak.position == INT64_MAX || has(found, peak))
            continue;
        tm_peak_list_add(found, &peak, 1);
        below = below || peak.value < floor;
        if (places >= count && below)
            break;
    }
    tm_suppressor_free(&taken);
    return good && !found->failed;
}

tm_status tm_places_find(tm_matcher *m, const tm_job *job, size_t count, int64_t floor,
                         tm_peak_list *found)
{
    const tm_levels *l = &job->tmpl->levels;
    tm_job coarse = {.metric = TM_METRIC_LCC, .tmpl = l->coarse};
    tm_peak_list peaks;
    uint8_t *memory = NULL;

    if (!l->coarse || job->tmpl->n > MOST_PIXELS || job->frame.width < job->tmpl->width ||
        job->frame.height < job->tmpl->height)
        return TM_OK;
    tm_peak_list_init(&peaks, &(tm_peak_search){.floor = INT64_MIN, .most = COARSE_PEAKS});
    coarse.peaks = &peaks;
    tm_status status = reduce(&coarse.frame, &memory, job, tm_matcher_threads(m)) ? TM_OK : TM_ERR_MEMORY;
    if (status == TM_OK && tm_geometry_init(&coarse.geometry, TM_DOMAIN_VALID, coarse.frame.width,
                                            coarse.frame.height, l->coarse->width, l->coarse->height) == TM_OK) {
        coarse.last_row = coarse.geometry.map_height;
        status = tm_matcher_run_slice(m, &coarse);
        if (status == TM_OK && (!tm_peak_list_finish(&peaks) || !climb_all(job, &coarse, count, floor, found)))
            status = TM_ERR_MEMORY;
    }
    free(memory);
    tm_peak_list_free(&peaks);
    return status == TM_ERR_MEMORY ? tm_matcher_fail_plain(m, status) : status;
}
