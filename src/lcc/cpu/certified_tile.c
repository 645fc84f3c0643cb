/* SPDX-License-Identifier: MIT */
/* A tile of a certified search: each row of windows is looked at by the bound, with sums that slide
 * down the tile, and those that pass are scored. Where blocks are few, the windows' own sums slide only
 * after many have passed without. */
#include "lcc/cpu/certified.h"
#include "integers.h"
#include "lcc/cpu/tile.h"

#include <float.h>
#include <limits.h>
#include <math.h>

enum {
    FIRST_ROWS = 4, /* that are scored where no good window is known */
    TRIAL = 4096,   /* windows of a tile that say whether the bound leaves enough out */
    TRIALS = 4,     /* places that are looked at first */
    NO_ROW = INT_MAX,
};

/* Windows' sums are kept for so many windows, and for so many times the template's rows, before they are tried to
 * be done without again. */
enum { WINDOWS_WITH_SUMS = 64 * TRIAL, HEIGHTS_WITH_SUMS = 4 };

/* Where more windows pass without their sums, to keep these is quicker than to make them anew. */
#define MOST_WITHOUT_SUMS 0.01

/* Scores are within 2^-22 of the true value, and the bound's own roundings below 2^-20. */
#define SCORE_MARGIN 0x1p-19f

typedef struct certified_tile {
    tm_certified *c;
    const tm_level *level;
    const tm_tile *tile;
    int count;        /* columns */
    const uint8_t *rows; /* of samples */
    ptrdiff_t stride;
    int staged_rows, ring_rows;
    uint8_t *staged, *zeros, *middles; /* a row of 0 and one of 128 */
    uint16_t *columns;
    int32_t *sums;
    uint32_t *ring, *squares; /* rows of pairs; a row of squares for each row of a block, if they are not few */
    tm_level_columns windows, covered;
    int sums_from; /* the first row of windows whose sums are kept */
    uint16_t *passed;
} certified_tile;

static size_t carve_tile(certified_tile *n, tm_certified *c, char *memory, int64_t width,
                         int64_t height)
{
    const tm_level *l = c->plan.by.level;
    const int64_t w = c->job->tmpl->width, h = c->job->tmpl->height;
    const int64_t columns = round_up(round_up(width, TM_BLOCK) + w + 1, TM_BLOCK);
    tm_carver carver = {memory, 0};

    *n = (certified_tile){.c = c, .level = l, .count = (int)columns};
    n->stride = (ptrdiff_t)(columns / TM_BLOCK % 2 ? columns : columns + TM_BLOCK);
    n->staged_rows = (int)(height + h - 1);
    n->ring_rows = l->down * l->block_y;
    n->staged = carve(&carver, n->staged_rows * n->stride);
    n->zeros = carve(&carver, columns);
    n->middles = carve(&carver, columns);
    n->columns = carve(&carver, (columns + 2 * TM_BLOCK) * 2);
    n->sums = carve(&carver, (columns + 2 * TM_BLOCK) * 4);
    n->ring = carve(&carver, n->ring_rows * columns * 4);
    n->windows.squares = carve(&carver, columns * 4);
    n->windows.prefix_sq = carve(&carver, columns * 4);
    n->windows.sum = carve(&carver, columns * 4);
    n->windows.prefix = carve(&carver, columns * 4);
    if (!c->plan.by.few)
        n->squares = carve(&carver, l->block_y * columns * 4);
    if (!c->plan.by.few && !tm_certified_covers_all(c)) {
        n->covered.sum = carve(&carver, columns * 4);
        n->covered.prefix = carve(&carver, columns * 4);
    }
    n->passed = carve(&carver, round_up(width, TM_BLOCK) * (int64_t)sizeof *n->passed);
    return carver.used;
}

size_t tm_certified_tile_size(const tm_certified *c, int64_t width, int64_t height)
{
    certified_tile n;
    return carve_tile(&n, (tm_certified *)c, NULL, width, height);
}

static const uint8_t *staged_row(const certified_tile *n, int row)
{
    return n->rows + row * n->stride;
}

/* Makes the row of blocks number row, the first of which begin in the tile's first row of blocks. */
static void make_blocks(const certified_tile *n, int row)
{
    const tm_level *l = n->level;
    const int top = l->y + row;
    const tm_block_row blocks = {
        .columns = n->columns,
        .sums = n->sums,
        .pairs = n->ring + row % n->ring_rows * (int64_t)n->count,
        .squares = n->squares ? n->squares + row % l->block_y * (int64_t)n->count : NULL,
        .block_x = l->block_x,
        .bias = 128 * l->block_x * l->block_y,
        .shift = l->shift,
        .square_shift = n->c->square_shift,
        .count = n->count,
    };
    n->c->kernels->move_columns(n->columns, staged_row(n, top + l->block_y - 1),
                                row ? staged_row(n, top - 1) : n->zeros, n->count);
    n->c->kernels->make_blocks(&blocks);
}

/* Moves sums of height rows to the row of windows number y, whose sums' first row is top + y. */
static void move_sums(const certified_tile *n, const tm_level_columns *columns, int top, int height,
                      int y)
{
    n->c->kernels->move_level(columns, staged_row(n, top + y + height - 1),
                              y > n->sums_from ? staged_row(n, top + y - 1) : n->middles, n->count);
}

/* Adds all but the last one of the rows that the first windows take. */
static void start_sums(const certified_tile *n, tm_level_columns columns, int top, int height)
{
    memset(columns.sum, 0, (size_t)n->count * 4);
    if (columns.squares)
        memset(columns.squares, 0, (size_t)n->count * 4);
    columns.prefix = columns.prefix_sq = NULL;
    for (int v = 0; v < height - 1; v++)
        n->c->kernels->move_level(&columns, staged_row(n, top + v), n->middles, n->count);
}

/* Rows that lie in the frame with all columns that kernels read are left where they are. */
static void stage(certified_tile *n)
{
    const tm_job *job = n->c->job;
    const int64_t x = n->tile->x - job->geometry.pad_x, y = n->tile->y - job->geometry.pad_y;

    if (x >= 0 && x + n->count + TM_BLOCK <= job->frame.width && y >= 0 &&
        y + n->staged_rows <= job->frame.height) {
        n->rows = job->frame.samples + y * job->frame.stride + x;
        n->stride = job->frame.stride;
        return;
    }
    for (int row = 0; row < n->staged_rows; row++)
        stage_row(n->staged + row * n->stride, &job->frame, x, y + row, n->stride);
    n->rows = n->staged;
}

static void start(certified_tile *n)
{
    const tm_level *l = n->level;

    stage(n);
    memset(n->zeros, 0, (size_t)n->count);
    memset(n->middles, 128, (size_t)n->count);
    memset(n->columns, 0, (size_t)(n->count + 2 * TM_BLOCK) * 2);
    memset(n->ring, 0, (size_t)n->ring_rows * (size_t)n->count * 4);
    if (n->squares)
        memset(n->squares, 0, (size_t)l->block_y * (size_t)n->count * 4);
    for (int v = 0; v < l->block_y - 1; v++)
        n->c->kernels->move_columns(n->columns, staged_row(n, l->y + v), n->zeros, n->count);
    for (int row = 0; row < (l->down - 1) * l->block_y; row++)
        make_blocks(n, row);
    n->sums_from = NO_ROW;
}

/* Keeps windows' sums from the row of windows number y on. */
static void keep_sums(certified_tile *n, int y)
{
    const tm_level *l = n->level;

    n->sums_from = y;
    start_sums(n, n->windows, y, (int)n->c->job->tmpl->height);
    if (n->covered.sum)
        start_sums(n, n->covered, l->y + y, l->down * l->block_y);
}

static tm_level_row row_of(const certified_tile *n)
{
    tm_level_row row = tm_certified_row(n->c);

    if (n->sums_from != NO_ROW) {
        row.prefix = n->windows.prefix;
        row.prefix_sq = n->windows.prefix_sq;
    }
    row.prefix_d = n->covered.prefix ? n->covered.prefix + n->level->x : NULL;
    row.width = (int)n->tile->width;
    return row;
}

/* Rows that were left in the frame are asked for before they are needed, as stage_row does. */
static void fetch_ahead(const certified_tile *n, int y)
{
    const int row = y + (int)n->c->job->tmpl->height - 1 + TM_ROWS_AHEAD;
    if (n->rows == n->staged || row >= n->staged_rows)
        return;
    for (int x = 0; x < n->count; x += 64)
        __builtin_prefetch(staged_row(n, row) + x);
}

/* The pairs of a row of windows' row of blocks number i. */
static const uint32_t *block_row(const certified_tile *n, int y, int i)
{
    return n->ring + (y + i * n->level->block_y) % n->ring_rows * (int64_t)n->count + n->level->x;
}

/* Makes the sums of the row of windows number y. */
static void make_row(const certified_tile *n, tm_level_row *row, int y)
{
    const tm_level *l = n->level;

    fetch_ahead(n, y);
    make_blocks(n, y + (l->down - 1) * l->block_y);
    if (y >= n->sums_from)
        move_sums(n, &n->windows, 0, (int)n->c->job->tmpl->height, y);
    if (n->covered.sum)
        move_sums(n, &n->covered, l->y, l->down * l->block_y, y);
    for (int i = 0; i < l->down; i++)
        row->blocks[i] = block_row(n, y, i);
    row->squares =
        n->squares ? n->squares + y % l->block_y * (int64_t)n->count + l->x : NULL;
}

/* A window's sums, which are made where they are not kept. */
static void window_sums(const certified_tile *n, int x, int y, int64_t *s_f, int64_t *s_ff)
{
    const tm_certified *c = n->c;
    const int w = (int)c->job->tmpl->width, h = (int)c->job->tmpl->height;
    const tm_level_columns *sums = &n->windows;

    if (y < n->sums_from) {
        c->kernels->sum_window(staged_row(n, y) + x, n->stride, c->ones, 0, w, h, s_f, s_ff);
        return;
    }
    const int64_t count = c->job->tmpl->n;
    const int64_t g = (int32_t)((uint32_t)sums->prefix[x + w] - (uint32_t)sums->prefix[x]);
    const int64_t gg = (int32_t)((uint32_t)sums->prefix_sq[x + w] - (uint32_t)sums->prefix_sq[x]);
    *s_f = g + TM_TAP_BIAS * count;
    *s_ff = gg + 2 * TM_TAP_BIAS * g + TM_TAP_BIAS * TM_TAP_BIAS * count;
}

static float score_window(const certified_tile *n, int x, int y)
{
    const tm_certified *c = n->c;
    const tm_template *t = c->job->tmpl;
    int64_t s_f, s_ff;

    window_sums(n, x, y, &s_f, &s_ff);
    const int64_t variance = t->n * s_ff - s_f * s_f;
    if (variance == 0)
        return 0;
    const int64_t product = c->kernels->window_product(staged_row(n, y) + x, n->stride, c->taps,
                                                       c->taps_stride, (int)t->width, (int)t->height);
    return tm_lcc_score(t->n * (product + TM_TAP_BIAS * s_f) - s_f * t->sum, variance,
                        (float)t->variance);
}

/* The score that a window must reach to matter. */
static float least_of(const certified_tile *n, tm_candidate best)
{
    int64_t known;
#pragma omp atomic read
    known = n->c->best;
    if (best.value > known)
        known = best.value;
    const float score = known < INT32_MIN ? -2.0f : tm_score_of_order((int32_t)known);
    return n->tile->scan ? fminf(score, tm_peak_scan_floor(n->tile->scan)) : score;
}

static float least_for(const certified_tile *n, tm_candidate best)
{
    return tm_certified_least(n->c, least_of(n, best) - SCORE_MARGIN);
}

/* Scores the windows of a row that passed. */
static void score_row(const certified_tile *n, int count, int y, float *map, tm_candidate *best)
{
    const int64_t position = (n->tile->y + y) * n->c->job->geometry.map_width + n->tile->x;
    const tm_candidate before = *best;

    for (int i = 0; i < count; i++) {
        const int x = n->passed[i];
        const float score = score_window(n, x, y);
        const tm_candidate candidate = {tm_score_order(score), position + x};
        if (map)
            map[x] = score;
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
    if (tm_candidate_beats(*best, before))
        tm_certified_know(n->c, *best);
}

double tm_certified_trial(tm_certified *c, char *memory)
{
    const tm_geometry *g = &c->job->geometry;
    int64_t looked = 0, passed = 0;

    for (int i = 0; i < TRIALS; i++) {
        tm_tile tile = {.width = smaller(TM_CERTIFIED_TRIAL_WIDTH, g->map_width),
                        .height = smaller(TM_CERTIFIED_TRIAL_ROWS, g->map_height)};
        /* spread over columns and rows alike */
        tile.x = (g->map_width - tile.width) * (i * 3 % TRIALS) / (TRIALS - 1);
        tile.y = (g->map_height - tile.height) * i / (TRIALS - 1);
        certified_tile n;
        carve_tile(&n, c, memory, tile.width, tile.height);
        n.tile = &tile;
        const float least = least_for(&n, (tm_candidate)TM_NO_CANDIDATE);
        if (least <= 0)
            return INFINITY;
        start(&n);
        keep_sums(&n, 0);
        tm_level_row row = row_of(&n);
        row.least = least;
        for (int y = 0; y < tile.height; y++) {
            make_row(&n, &row, y);
            passed += c->kernels->pass_windows(&row, n.passed);
            looked += row.width;
        }
    }
    return c->plan.by.look_ns + c->plan.pass_ns * (double)passed / (double)looked;
}

/* Where there is nothing yet to be better than. */
static int pass_all(const tm_level_row *row, uint16_t *windows)
{
    for (int x = 0; x < row->width; x++)
        windows[x] = (uint16_t)x;
    return row->width;
}

/* Looks at a row of windows, whose sums are made, and scores those that pass; returns their number. */
static int look_at_row(const certified_tile *n, const tm_level_row *row, int y, float *map,
                       tm_candidate *best)
{
    const int count =
        row->least > 0 ? n->c->kernels->pass_windows(row, n->passed) : pass_all(row, n->passed);
    score_row(n, count, y, map, best);
    tm_certified_add_looks(n->c, row->width, count);
    return count;
}

/* The scan's next row, in which all windows are below the floor. */
static float *begin_row(const tm_tile *tile)
{
    if (!tile->scan)
        return NULL;
    float *map = (float *)tm_peak_scan_row(tile->scan)->map.data + tile->x;
    for (int64_t x = 0; x < tile->width; x++)
        map[x] = -2.0f;
    return map;
}

/* Where blocks are few: how many windows passed without their sums of late, or for how many these are kept. */
typedef struct sums_trial {
    int64_t looked, passed;
    int rows;
} sums_trial;

/* After a row of windows, number y, of which so many passed; says whether a trial has failed. */
static bool decide_on_sums(certified_tile *n, tm_level_row *row, sums_trial *trial, int y, int count)
{
    const int height = (int)n->c->job->tmpl->height;

    if (!n->c->plan.by.few || row->least <= 0)
        return false;
    trial->looked += row->width;
    trial->passed += count;
    trial->rows++;
    if (n->sums_from != NO_ROW) {
        if (trial->looked >= WINDOWS_WITH_SUMS && trial->rows >= HEIGHTS_WITH_SUMS * height) {
            n->sums_from = NO_ROW;
            *row = row_of(n);
            *trial = (sums_trial){0};
        }
        return false;
    }
    const double most = MOST_WITHOUT_SUMS * (double)larger(trial->looked, TRIAL);
    if ((double)trial->passed <= most) {
        if (trial->looked >= TRIAL)
            *trial = (sums_trial){0};
        return false;
    }
    /* to begin takes as long as half of so many rows */
    if (n->tile->height - y <= height / 2)
        return false;
    keep_sums(n, y + 1);
    *row = row_of(n);
    return true;
}

int64_t tm_certified_tile(tm_certified *c, char *memory, const tm_tile *tile, tm_candidate *best)
{
    int64_t looked = 0, passed = 0, y = 0;
    certified_tile n;

    carve_tile(&n, c, memory, tile->width, tile->height);
    n.tile = tile;
    if (!tm_certified_is_tried(c))
        return 0;
    start(&n);
    if (!c->plan.by.few)
        keep_sums(&n, 0);
    tm_level_row row = row_of(&n);
    sums_trial trial = {0};
    for (; y < tile->height; y++) {
        const bool lost = tm_certified_is_lost(c);
        row.least = least_for(&n, *best);
        if (c->plan.in_tiles &&
            ((row.least <= 0 && y >= FIRST_ROWS) ||
             (looked >= TRIAL && (double)passed > tm_certified_most_share(&c->plan) * (double)looked)))
            break;
        if (lost && !tile->scan)
            return tile->height;
        float *map = begin_row(tile);
        if (!lost) {
            make_row(&n, &row, (int)y);
            looked += row.width;
            const int count = look_at_row(&n, &row, (int)y, map, best);
            passed += count;
            if (decide_on_sums(&n, &row, &trial, (int)y, count)) {
                /* which says little of what passes with sums */
                tm_certified_forget_looks(c, trial.looked, trial.passed);
                looked -= trial.looked;
                passed -= trial.passed;
                trial = (sums_trial){0};
            }
        }
        if (tile->scan)
            tm_peak_scan_row_done(tile->scan);
    }
    return y;
}

void tm_certified_group_tile(tm_certified *certified, int count, char *memory, const tm_tile *tile)
{
    tm_level_row rows[TM_CERTIFIED_GROUP];
    tm_candidate bests[TM_CERTIFIED_GROUP];
    certified_tile n;

    carve_tile(&n, certified, memory, tile->width, tile->height);
    n.tile = tile;
    start(&n);
    keep_sums(&n, 0); /* for all of them at once */
    for (int k = 0; k < count; k++) {
        n.c = &certified[k];
        rows[k] = row_of(&n);
        bests[k] = (tm_candidate)TM_NO_CANDIDATE;
    }
    for (int y = 0; y < tile->height; y++) {
        int left = 0;
        make_row(&n, &rows[0], y);
        for (int k = 0; k < count; k++) {
            n.c = &certified[k];
            if (tm_certified_is_lost(n.c))
                continue;
            if (k) {
                memcpy(rows[k].blocks, rows[0].blocks, (size_t)n.level->down * sizeof *rows[k].blocks);
                rows[k].squares = rows[0].squares;
            }
            rows[k].least = least_for(&n, bests[k]);
            look_at_row(&n, &rows[k], y, NULL, &bests[k]);
            left++;
        }
        if (!left)
            return;
    }
}
