/* SPDX-License-Identifier: MIT */
/* A good window to begin with: the best ones of a reduced frame, by the reduced template, and from
 * there to the best one nearby. What is found is no more than a window of the job with its score. */
#include "lcc/cpu/certified.h"

#include <omp.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/tile.h"
#include "lcc/threads.h"

enum {
    MOST_GUESSES = 12,
    WINDOWS_A_GUESS = 50000,
    MOST_ROWS = 2,      /* of samples that make a cell, about */
    CLIMB_PIXELS = 1024, /* of the template that are looked at on the way, about */
    ROWS_A_THREAD = 64, /* of cells, at least */
};

static bool grow_bytes(uint8_t **buffer, size_t *size, size_t needed)
{
    if (*size >= needed)
        return true;
    free(*buffer);
    *buffer = aligned_alloc(128, (size_t)round_up((int64_t)needed, 128));
    *size = *buffer ? needed : 0;
    return *buffer != NULL;
}

void tm_guess_memory_free(tm_guess_memory *memory)
{
    if (memory->has_list)
        tm_peak_list_free(&memory->list);
    free(memory->cells);
    free(memory->window);
    *memory = (tm_guess_memory){0};
}

/* Adds up each cell's columns. */
static inline __attribute__((always_inline)) void sum_cells(uint8_t *to, const uint16_t *columns,
                                                            int64_t across, int cell_x,
                                                            uint32_t factor)
{
    for (int64_t i = 0; i < across; i++, columns += cell_x) {
        uint32_t sum = 0;
        for (int x = 0; x < cell_x; x++)
            sum += columns[x];
        to[i] = (uint8_t)((uint64_t)sum * factor >> 16);
    }
}

/* Makes a row of cells: means of the samples of every other row, or of all if they are few, which
 * are good enough for a guess. columns has room for a row of the frame. */
static void reduce_row(const tm_cpu_kernels *kernels, uint8_t *to, uint16_t *columns,
                       const uint8_t *zeros, const tm_image *frame, int64_t row, int64_t across,
                       const tm_levels *l)
{
    const int64_t width = across * l->cell_x, whole = width / TM_BLOCK * TM_BLOCK;
    const int step = (l->cell_y + MOST_ROWS - 1) / MOST_ROWS;
    const int rows = (l->cell_y + step - 1) / step;
    const uint32_t factor = UINT32_C(65536) / (uint32_t)(l->cell_x * rows);

    memset(columns, 0, (size_t)width * sizeof *columns);
    for (int y = 0; y < l->cell_y; y += step) {
        const uint8_t *samples = frame->samples + (row * l->cell_y + y) * frame->stride;
        kernels->move_columns(columns, samples, zeros, (int)whole);
        for (int64_t x = whole; x < width; x++)
            columns[x] = (uint16_t)(columns[x] + samples[x]);
    }
    switch (l->cell_x) {
    case 4:
        sum_cells(to, columns, across, 4, factor);
        break;
    case 8:
        sum_cells(to, columns, across, 8, factor);
        break;
    default:
        sum_cells(to, columns, across, l->cell_x, factor);
    }
}

static tm_status reduce(tm_cpu *cpu, const tm_job *job, tm_image *cells)
{
    const tm_levels *l = &job->tmpl->levels;
    const int64_t across = job->frame.width / l->cell_x, down = job->frame.height / l->cell_y;
    const int wanted = (int)clamp(down / ROWS_A_THREAD, 1, cpu->threads);
    const int team = wanted > 1 ? tm_team_size(wanted) : 1;
    const int64_t row = round_up(job->frame.width, TM_BLOCK);
    const int64_t size = round_up(across * down, TM_BLOCK);
    tm_guess_memory *m = &cpu->guess;

    /* cells, a row of zeros, a row of columns for each thread */
    if (!grow_bytes(&m->cells, &m->cells_size, (size_t)(size + row + 2 * team * row)))
        return TM_ERR_MEMORY;
    uint8_t *zeros = m->cells + size;
    memset(zeros, 0, (size_t)row);
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int64_t y = 0; y < down; y++) {
        uint16_t *columns = (uint16_t *)(void *)(zeros + row) + omp_get_thread_num() * row;
        reduce_row(&cpu->kernels, m->cells + y * across, columns, zeros, &job->frame, y, across, l);
    }
    *cells = (tm_image){
        .samples = m->cells, .width = across, .height = down, .stride = (ptrdiff_t)across};
    return TM_OK;
}

/* How windows are scored on the way to a good one: by every step-th row of the template. */
typedef struct climber {
    tm_certified *c;
    uint8_t *window;
    int64_t step, rows, n, s_t, variance;
} climber;

static climber climber_of(tm_certified *c, uint8_t *window, int64_t step)
{
    const tm_template *t = c->job->tmpl;
    climber k = {.c = c, .window = window, .step = step, .rows = ceil_div(t->height, step)};
    int64_t s_tt = 0;

    for (int64_t y = 0; y < t->height; y += step) {
        for (int64_t x = 0; x < t->width; x++) {
            const int64_t sample = t->samples[y * t->width + x];
            k.s_t += sample;
            s_tt += sample * sample;
        }
    }
    k.n = k.rows * t->width;
    k.variance = larger(k.n * s_tt - k.s_t * k.s_t, 1);
    return k;
}

/* Scores the window at (x, y) of the frame. */
static tm_candidate score_at(const climber *k, int64_t x, int64_t y)
{
    const tm_certified *c = k->c;
    const tm_job *job = c->job;
    const tm_template *t = job->tmpl;
    const tm_geometry *g = &job->geometry;
    const ptrdiff_t taps_step = (ptrdiff_t)k->step * c->taps_stride;
    uint32_t s_f = 0, s_ff = 0;

    for (int64_t v = 0; v < k->rows; v++) {
        const uint8_t *row = job->frame.samples + (y + v * k->step) * job->frame.stride + x;
        for (int64_t u = 0; u < t->width; u++) {
            s_f += row[u];
            s_ff += (uint32_t)row[u] * row[u];
        }
        memcpy(k->window + v * c->taps_stride, row, (size_t)t->width);
    }
    const int64_t s_ft = c->kernels->window_product(k->window, c->taps_stride, c->taps, taps_step,
                                                    (int)t->width, (int)k->rows) +
                         (int64_t)TM_TAP_BIAS * s_f;
    return (tm_candidate){
        tm_score_order(tm_lcc_score(k->n * s_ft - (int64_t)s_f * k->s_t,
                                    k->n * (int64_t)s_ff - (int64_t)s_f * s_f, (float)k->variance)),
        (y + g->pad_y) * g->map_width + x + g->pad_x};
}

/* Goes from *x, *y to better windows, by steps that become smaller. */
static void climb(const climber *k, int64_t *x, int64_t *y)
{
    const tm_job *job = k->c->job;
    const tm_levels *l = &job->tmpl->levels;
    const int64_t last_x = job->frame.width - job->tmpl->width;
    const int64_t last_y = job->frame.height - job->tmpl->height;
    tm_candidate best = score_at(k, *x, *y);

    for (int64_t step_x = (l->cell_x + 1) / 2, step_y = (l->cell_y + 1) / 2;;) {
        const int64_t from_x = *x, from_y = *y;
        for (int i = 0; i < 9; i++) {
            const int64_t u = clamp(from_x + (i % 3 - 1) * step_x, 0, last_x);
            const int64_t v = clamp(from_y + (i / 3 - 1) * step_y, 0, last_y);
            const tm_candidate other = score_at(k, u, v);
            if (tm_candidate_beats(other, best)) {
                best = other;
                *x = u;
                *y = v;
            }
        }
        if (*x != from_x || *y != from_y)
            continue;
        if (step_x == 1 && step_y == 1)
            return;
        step_x = (step_x + 1) / 2;
        step_y = (step_y + 1) / 2;
    }
}

tm_status tm_certified_guess(tm_cpu *cpu, tm_certified *c, bool reduced)
{
    const tm_job *job = c->job;
    const tm_levels *l = &job->tmpl->levels;
    const tm_geometry *g = &job->geometry;
    tm_guess_memory *m = &cpu->guess;
    const int64_t most = clamp(g->map_width * g->map_height / WINDOWS_A_GUESS, 0, MOST_GUESSES);
    tm_job coarse = {.metric = TM_METRIC_LCC, .tmpl = l->coarse, .peaks = &m->list};

    if (!reduced)
        m->reduced = (tm_image){0};
    if (!l->coarse || !most || job->frame.width < job->tmpl->width ||
        job->frame.height < job->tmpl->height)
        return TM_OK;
    tm_status status = m->reduced.samples ? TM_OK : reduce(cpu, job, &m->reduced);
    coarse.frame = m->reduced;
    if (status == TM_OK)
        status = tm_geometry_init(&coarse.geometry, TM_DOMAIN_VALID, coarse.frame.width,
                                  coarse.frame.height, l->coarse->width, l->coarse->height);
    if (status != TM_OK)
        return status;
    coarse.last_row = coarse.geometry.map_height;
    if (!m->has_list)
        tm_peak_list_init(&m->list, &(tm_peak_search){.floor = INT64_MIN, .most = MOST_GUESSES});
    m->has_list = true;
    tm_peak_list_clear(&m->list);
    status = tm_cpu_match(cpu, &coarse, NULL);
    if (status != TM_OK || !tm_peak_list_finish(&m->list))
        return TM_ERR_MEMORY;
    if (!grow_bytes(&m->window, &m->window_size,
                    (size_t)(c->taps_stride * job->tmpl->height) + TM_SLACK))
        return TM_ERR_MEMORY;
    memset(m->window, 0, (size_t)(c->taps_stride * job->tmpl->height)); /* beyond the template, too */
    const climber all = climber_of(c, m->window, 1);
    const climber way = climber_of(c, m->window, ceil_div(job->tmpl->n, CLIMB_PIXELS));
    for (size_t i = 0; i < m->list.above.count && (int64_t)i < most; i++) {
        const int64_t at = m->list.above.items[i].position;
        int64_t x = smaller(at % coarse.geometry.map_width * l->cell_x,
                            job->frame.width - job->tmpl->width);
        int64_t y = smaller(at / coarse.geometry.map_width * l->cell_y,
                            job->frame.height - job->tmpl->height);
        climb(&way, &x, &y);
        tm_certified_know(c, score_at(&all, x, y));
        c->scored++;
    }
    return TM_OK;
}
