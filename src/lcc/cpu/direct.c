/* SPDX-License-Identifier: MIT */
/* The direct algorithm: tiles of the score map, shared out over threads. A tile
 * copies the frame rows that it needs, extended with zeros, so that the kernels
 * know neither the frame's edges nor the domain. Window sums slide: column sums
 * down the tile, window sums along the row. */
#include "lcc/cpu/direct.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE_WIDTH = 512, /* a multiple of TM_KERNEL_WIDTH */
    TILE_HEIGHT = 64,
    PANEL_ROWS = 1024, /* bounds the staged rows of a narrow, high template */
};

/* Jobs below this many multiply-adds stay on one thread: waking the others
 * would take longer. */
#define SMALL_JOB 200000

struct tm_cpu_scratch {
    uint8_t *staged;       /* frame rows of one panel */
    uint8_t *panel;        /* the panel's taps */
    uint64_t *sft;         /* TILE_HEIGHT x TILE_WIDTH */
    uint32_t *column_sum;  /* TILE_WIDTH + template width - 1 columns */
    uint64_t *column_sum_sq;
    size_t staged_size, panel_size, columns;
};

typedef struct map_tile {
    int64_t x, y; /* in the score map */
    int width, height;
    int padded_width; /* a multiple of TM_KERNEL_WIDTH */
} map_tile;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t panel_width(const tm_template *t)
{
    return min64(t->width, TM_PANEL_TAPS);
}

static int64_t panel_height(const tm_template *t)
{
    int64_t rows = min64(TM_PANEL_TAPS / panel_width(t), PANEL_ROWS);
    return min64(t->height, rows);
}

static bool grow(void *buffer, size_t *size, size_t needed)
{
    void **pointer = buffer;
    if (*size >= needed)
        return true;
    free(*pointer);
    *pointer = malloc(needed);
    *size = *pointer ? needed : 0;
    return *pointer != NULL;
}

static bool scratch_fit(tm_cpu_scratch *s, const tm_template *t)
{
    int64_t w = panel_width(t), h = panel_height(t);
    size_t columns = (size_t)(TILE_WIDTH + t->width - 1);

    if (!grow(&s->staged, &s->staged_size, (size_t)((TILE_HEIGHT + h - 1) * (TILE_WIDTH + w - 1))) ||
        !grow(&s->panel, &s->panel_size, (size_t)(w * h)))
        return false;
    if (!s->sft && !(s->sft = malloc(sizeof *s->sft * TILE_HEIGHT * TILE_WIDTH)))
        return false;
    if (s->columns < columns) {
        free(s->column_sum);
        free(s->column_sum_sq);
        s->column_sum = malloc(columns * sizeof *s->column_sum);
        s->column_sum_sq = malloc(columns * sizeof *s->column_sum_sq);
        s->columns = s->column_sum && s->column_sum_sq ? columns : 0;
    }
    return s->columns != 0;
}

/* Copies columns [x, x + count) of frame row y, with zeros outside the frame. */
static void copy_row(uint8_t *to, const tm_image *frame, int64_t x, int64_t y, int64_t count)
{
    int64_t left = y < 0 || y >= frame->height ? count : min64(max64(-x, 0), count);
    int64_t inside = min64(count - left, frame->width - x - left);

    memset(to, 0, (size_t)left);
    if (left == count)
        return;
    inside = max64(inside, 0);
    if (inside)
        memcpy(to + left, frame->samples + y * frame->stride + x + left, (size_t)inside);
    memset(to + left + inside, 0, (size_t)(count - left - inside));
}

/* sft of the whole tile, panel by panel. */
static void correlate_tile(const tm_cpu *cpu, tm_cpu_scratch *s, const tm_job *job,
                           const map_tile *tile)
{
    const tm_template *t = job->tmpl;
    int64_t panel_w = panel_width(t), panel_h = panel_height(t);

    memset(s->sft, 0, sizeof *s->sft * TILE_HEIGHT * TILE_WIDTH);
    for (int64_t v = 0; v < t->height; v += panel_h) {
        for (int64_t u = 0; u < t->width; u += panel_w) {
            int w = (int)min64(panel_w, t->width - u);
            int h = (int)min64(panel_h, t->height - v);
            int columns = tile->padded_width + w - 1;

            for (int row = 0; row < h; row++)
                memcpy(s->panel + row * w, t->samples + (v + row) * t->width + u, (size_t)w);
            for (int row = 0; row < tile->height + h - 1; row++)
                copy_row(s->staged + (int64_t)row * columns, &job->frame,
                         tile->x - job->geometry.pad_x + u,
                         tile->y - job->geometry.pad_y + v + row, columns);

            for (int row = 0; row < tile->height; row++) {
                uint32_t sums[TILE_WIDTH];
                cpu->kernels.correlate(sums, s->staged + (int64_t)row * columns, columns, s->panel,
                                       w, h, tile->padded_width);
                for (int x = 0; x < tile->width; x++)
                    s->sft[row * TILE_WIDTH + x] += sums[x];
            }
        }
    }
}

/* Adds frame row y to the column sums, or takes it away. */
static void slide_row(tm_cpu_scratch *s, const tm_image *frame, int64_t x, int64_t y,
                      int64_t count, int sign)
{
    if (y < 0 || y >= frame->height)
        return;
    const uint8_t *row = frame->samples + y * frame->stride;
    int64_t first = max64(0, -x), last = min64(count, frame->width - x);
    for (int64_t i = first; i < last; i++) {
        int sample = row[x + i];
        s->column_sum[i] += (uint32_t)(sign * sample);
        s->column_sum_sq[i] += (uint64_t)(int64_t)(sign * sample * sample);
    }
}

static tm_candidate score_row(const tm_cpu_scratch *s, const tm_job *job, const map_tile *tile, int row)
{
    int64_t w = job->tmpl->width;
    const uint64_t *sft = s->sft + row * TILE_WIDTH;
    tm_candidate best = TM_NO_CANDIDATE;
    uint64_t s_f = 0, s_ff = 0;

    for (int64_t u = 0; u < w - 1; u++) {
        s_f += s->column_sum[u];
        s_ff += s->column_sum_sq[u];
    }
    for (int x = 0; x < tile->width; x++) {
        s_f += s->column_sum[x + w - 1];
        s_ff += s->column_sum_sq[x + w - 1];
        tm_candidate candidate = tm_job_emit(job, tile->x + x, tile->y + row, (int64_t)s_f,
                                             (int64_t)s_ff, (int64_t)sft[x]);
        if (candidate.value > best.value)
            best = candidate;
        s_f -= s->column_sum[x];
        s_ff -= s->column_sum_sq[x];
    }
    return best;
}

static tm_candidate match_tile(const tm_cpu *cpu, tm_cpu_scratch *s, const tm_job *job,
                               const map_tile *tile)
{
    const tm_template *t = job->tmpl;
    int64_t columns = tile->width + t->width - 1;
    int64_t x = tile->x - job->geometry.pad_x, y = tile->y - job->geometry.pad_y;
    tm_candidate best = TM_NO_CANDIDATE;

    correlate_tile(cpu, s, job, tile);
    memset(s->column_sum, 0, (size_t)columns * sizeof *s->column_sum);
    memset(s->column_sum_sq, 0, (size_t)columns * sizeof *s->column_sum_sq);
    for (int64_t v = 0; v < t->height - 1; v++)
        slide_row(s, &job->frame, x, y + v, columns, 1);
    for (int row = 0; row < tile->height; row++) {
        slide_row(s, &job->frame, x, y + row + t->height - 1, columns, 1);
        tm_candidate candidate = score_row(s, job, tile, row);
        if (tm_candidate_beats(candidate, best))
            best = candidate;
        slide_row(s, &job->frame, x, y + row, columns, -1);
    }
    return best;
}

tm_status tm_cpu_match(tm_cpu *cpu, tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    int64_t across = (g->map_width + TILE_WIDTH - 1) / TILE_WIDTH;
    int64_t tiles = across * ((g->map_height + TILE_HEIGHT - 1) / TILE_HEIGHT);
    bool small = (double)g->map_width * (double)g->map_height * (double)t->n < SMALL_JOB;
    int threads = small ? 1 : (int)min64(cpu->threads, tiles);
    tm_candidate best = TM_NO_CANDIDATE;
    bool failed = false;

#pragma omp parallel num_threads(threads)
    {
        tm_cpu_scratch *s = &cpu->scratch[omp_get_thread_num()];
        bool fits = scratch_fit(s, t);
        tm_candidate mine = TM_NO_CANDIDATE;

#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < tiles; i++) {
            map_tile tile = {.x = i % across * TILE_WIDTH, .y = i / across * TILE_HEIGHT};
            tile.width = (int)min64(TILE_WIDTH, g->map_width - tile.x);
            tile.height = (int)min64(TILE_HEIGHT, g->map_height - tile.y);
            tile.padded_width =
                (tile.width + TM_KERNEL_WIDTH - 1) / TM_KERNEL_WIDTH * TM_KERNEL_WIDTH;
            if (!fits)
                continue;
            tm_candidate candidate = match_tile(cpu, s, job, &tile);
            if (tm_candidate_beats(candidate, mine))
                mine = candidate;
        }
#pragma omp critical(tm_cpu_merge)
        {
            failed |= !fits;
            if (tm_candidate_beats(mine, best))
                best = mine;
        }
    }
    if (failed)
        return TM_ERR_MEMORY;
    job->best = best;
    return TM_OK;
}

tm_status tm_cpu_init(tm_cpu *cpu, int threads, uint32_t features)
{
    tm_cpu_kernels_init(&cpu->kernels, features);
    cpu->threads = threads;
    cpu->scratch = calloc((size_t)threads, sizeof *cpu->scratch);
    return cpu->scratch ? TM_OK : TM_ERR_MEMORY;
}

void tm_cpu_free(tm_cpu *cpu)
{
    for (int i = 0; cpu->scratch && i < cpu->threads; i++) {
        tm_cpu_scratch *s = &cpu->scratch[i];
        free(s->staged);
        free(s->panel);
        free(s->sft);
        free(s->column_sum);
        free(s->column_sum_sq);
    }
    free(cpu->scratch);
    cpu->scratch = NULL;
}
