/* SPDX-License-Identifier: MIT */
#include "lcc/peak_scan.h"

#include <float.h>
#include <pthread.h>
#include <stdlib.h>

#include "integers.h"

enum {
    CHUNK = 64,          /* elements that are looked at together */
    MARGIN = CHUNK,      /* elements beside a row, all below any score */
};

/* One for all grids: it is held for some microseconds. */
static pthread_mutex_t merging = PTHREAD_MUTEX_INITIALIZER;

/* count tiles of size, and with a shift as many again. */
static bool make_cuts(tm_peak_cuts *cuts, int64_t count, int64_t size, int64_t shift, int64_t end)
{
    cuts->count = shift ? 2 * count : count;
    cuts->at = malloc((size_t)(cuts->count + 1) * sizeof *cuts->at);
    if (!cuts->at)
        return false;
    for (int64_t i = 0; i < cuts->count; i++)
        cuts->at[i] = smaller(i < count ? i * size : shift + (i - count) * size, end);
    cuts->at[cuts->count] = end;
    return true;
}

bool tm_peak_grid_init(tm_peak_grid *grid, const tm_job *job, const tm_tiles *tiles)
{
    const tm_geometry *g = &job->geometry;

    *grid = (tm_peak_grid){.job = job, .element = tm_job_element(job)};
    if (!make_cuts(&grid->x, tiles->across, tiles->width, tiles->shift_x, g->map_width) ||
        !make_cuts(&grid->y, tiles->down, tiles->height, tiles->shift_y, g->map_height))
        return false;
    const size_t columns = (size_t)(grid->x.count * g->map_height) * grid->element;
    const size_t rows = (size_t)(grid->y.count * g->map_width) * grid->element;
    grid->left = malloc(columns);
    grid->right = malloc(columns);
    grid->top = malloc(rows);
    grid->bottom = malloc(rows);
    return grid->left && grid->right && grid->top && grid->bottom;
}

void tm_peak_grid_free(tm_peak_grid *grid)
{
    free(grid->x.at);
    free(grid->y.at);
    free(grid->left);
    free(grid->right);
    free(grid->top);
    free(grid->bottom);
    free(grid->pending);
}

/* Rows and edges hold the map's elements, a distance's with the sign changed: the
 * greater ranks first. */
static int64_t rank_of_score(const tm_job *job, float element)
{
    return tm_is_distance(job->metric) ? -(int64_t)tm_score_order(-element)
                                       : tm_score_order(element);
}

static int64_t rank_at(const tm_peak_grid *grid, const char *elements, int64_t i)
{
    return tm_job_is_integer(grid->job)
               ? ((const int64_t *)(const void *)elements)[i]
               : rank_of_score(grid->job, ((const float *)(const void *)elements)[i]);
}

static void change_sign(const tm_job *job, void *row, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (tm_job_is_integer(job))
            ((int64_t *)row)[i] = -((int64_t *)row)[i];
        else
            ((float *)row)[i] = -((float *)row)[i];
    }
}

static int64_t tile_of(const tm_peak_cuts *cuts, int64_t at)
{
    int64_t low = 0, high = cuts->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (cuts->at[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* An element at its tile's edge, next to a tile of another row, or else of another column,
 * which column from_x is in. */
static int64_t edge_value(const tm_peak_grid *grid, int64_t x, int64_t y, int64_t from_x,
                          int64_t row, int64_t from_row)
{
    const tm_geometry *g = &grid->job->geometry;
    if (row != from_row)
        return rank_at(grid, row > from_row ? grid->top : grid->bottom, row * g->map_width + x);
    return rank_at(grid, x > from_x ? grid->left : grid->right,
                    tile_of(&grid->x, x) * g->map_height + y);
}

static bool beats_other_tiles(const tm_peak_grid *grid, tm_candidate peak)
{
    const tm_geometry *g = &grid->job->geometry;
    const int64_t x = peak.position % g->map_width, y = peak.position / g->map_width;
    const int64_t own_column = tile_of(&grid->x, x), own_row = tile_of(&grid->y, y);

    for (int64_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < g->map_height; v++) {
        const int64_t row = tile_of(&grid->y, v);
        for (int64_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < g->map_width; u++) {
            if (row == own_row && tile_of(&grid->x, u) == own_column)
                continue;
            const tm_candidate other = {edge_value(grid, u, v, x, row, own_row),
                                        v * g->map_width + u};
            if (!tm_candidate_beats(peak, other))
                return false;
        }
    }
    return true;
}

bool tm_peak_grid_finish(tm_peak_grid *grid)
{
    for (size_t i = 0; i < grid->pending_count; i++) {
        if (beats_other_tiles(grid, grid->pending[i]))
            tm_peak_list_add(grid->job->peaks, &grid->pending[i], 1);
    }
    return !grid->failed && !grid->job->peaks->failed;
}

static bool add_pending(tm_peak_grid *grid, const tm_candidate *candidates, int count)
{
    if (count == 0) /* there may be no memory to copy to */
        return true;
    if (grid->pending_count + (size_t)count > grid->pending_room) {
        const size_t room = 2 * grid->pending_room + 1024;
        tm_candidate *pending = realloc(grid->pending, room * sizeof *pending);
        if (!pending)
            return false;
        grid->pending = pending;
        grid->pending_room = room;
    }
    memcpy(grid->pending + grid->pending_count, candidates, (size_t)count * sizeof *candidates);
    grid->pending_count += (size_t)count;
    return true;
}

static void flush(tm_peak_scan *scan)
{
    tm_peak_grid *grid = scan->grid;
    pthread_mutex_lock(&merging);
    tm_peak_list_add(grid->job->peaks, scan->found, (size_t)scan->found_count);
    if (!add_pending(grid, scan->pending, scan->pending_count))
        grid->failed = true;
    scan->least = tm_peak_list_least(grid->job->peaks);
    pthread_mutex_unlock(&merging);
    scan->found_count = scan->pending_count = 0;
}

void tm_peak_scan_free(tm_peak_scan *scan)
{
    free(scan->memory);
}

static size_t row_elements(const tm_peak_scan *scan)
{
    return (size_t)(MARGIN + (scan->width + CHUNK - 1) / CHUNK * CHUNK + MARGIN);
}

/* Element 0 of row y of the tile; rows that lie outside it are below any score. */
static char *row_at(const tm_peak_scan *scan, int64_t y)
{
    const int64_t slot = y < 0 || y >= scan->height ? 3 : y % 3;
    return scan->memory + ((size_t)slot * row_elements(scan) + MARGIN) * scan->grid->element;
}

bool tm_peak_scan_begin(tm_peak_scan *scan, tm_peak_grid *grid, int64_t column, int64_t row)
{
    const tm_peak_cuts *x = &grid->x, *y = &grid->y;

    scan->grid = grid;
    scan->column = column;
    scan->row = row;
    scan->x = x->at[column];
    scan->y = y->at[row];
    scan->width = x->at[column + 1] - scan->x;
    scan->height = y->at[row + 1] - scan->y;
    scan->done = 0;
    scan->row_job = *grid->job;

    const size_t elements = 4 * row_elements(scan), size = elements * grid->element;
    if (scan->size < size) {
        free(scan->memory);
        scan->memory = malloc(size);
        scan->size = scan->memory ? size : 0;
        if (!scan->memory)
            return false;
    }
    for (size_t i = 0; i < elements; i++) {
        if (tm_job_is_integer(grid->job))
            ((int64_t *)(void *)scan->memory)[i] = INT64_MIN;
        else
            ((float *)(void *)scan->memory)[i] = -INFINITY;
    }
    flush(scan); /* for the least */
    return true;
}

const tm_job *tm_peak_scan_row(tm_peak_scan *scan)
{
    scan->row_job.map.data = row_at(scan, scan->done) - scan->x * (int64_t)scan->grid->element;
    scan->row_job.map.stride = 0;
    return &scan->row_job;
}

static bool has_other_tiles(const tm_peak_scan *scan, int64_t x, int64_t y)
{
    const tm_geometry *g = &scan->grid->job->geometry;
    return (x == 0 && scan->x > 0) || (x == scan->width - 1 && scan->x + x < g->map_width - 1) ||
           (y == 0 && scan->y > 0) || (y == scan->height - 1 && scan->y + y < g->map_height - 1);
}

static void take(tm_peak_scan *scan, int64_t x, int64_t y, int64_t value)
{
    const tm_job *job = scan->grid->job;
    const int64_t map_y = scan->y + y;
    if (map_y < job->first_row || map_y >= job->last_row)
        return;
    const tm_candidate peak = {value, map_y * job->geometry.map_width + scan->x + x};
    if (has_other_tiles(scan, x, y))
        scan->pending[scan->pending_count++] = peak;
    else
        scan->found[scan->found_count++] = peak;
    if (scan->found_count == sizeof scan->found / sizeof *scan->found ||
        scan->pending_count == sizeof scan->pending / sizeof *scan->pending)
        flush(scan);
}

/* Finds the peaks of row b, which lies between rows a and c. The earlier one of equal elements
 * wins: those before must be less, those after not greater. The inner loops have no branches, so
 * that they are compiled to vectors. */
#define FIND_PEAKS(name, type, flag_type, rank)                                                    \
    static void name(tm_peak_scan *scan, int64_t y, const type *a, const type *b, const type *c,   \
                     type least)                                                                   \
    {                                                                                              \
        for (int64_t x = 0; x < scan->width; x += CHUNK) {                                         \
            flag_type any = 0, flags[CHUNK];                                                       \
            for (int k = 0; k < CHUNK; k++)                                                        \
                any |= b[x + k] >= least;                                                          \
            if (!any)                                                                              \
                continue;                                                                          \
            for (int k = 0; k < CHUNK; k++) {                                                      \
                const type *p = a + x + k, *q = b + x + k, *r = c + x + k;                         \
                flags[k] = (*q >= least) & (*q > p[-1]) & (*q > p[0]) & (*q > p[1]) &              \
                           (*q > q[-1]) & (*q >= q[1]) & (*q >= r[-1]) & (*q >= r[0]) &            \
                           (*q >= r[1]);                                                           \
            }                                                                                      \
            for (int k = 0; k < CHUNK; k++) {                                                      \
                if (flags[k])                                                                      \
                    take(scan, x + k, y, rank(scan->grid->job, b[x + k]));                         \
            }                                                                                      \
        }                                                                                          \
    }

static int64_t rank_of_sum(const tm_job *job, int64_t sum)
{
    (void)job;
    return sum;
}

FIND_PEAKS(find_in_scores, float, int32_t, rank_of_score)
FIND_PEAKS(find_in_sums, int64_t, int64_t, rank_of_sum)

/* The least element that ranks so, but never the one that skipped positions have. */
static float score_of_least(const tm_job *job, int64_t least)
{
    if (least <= INT32_MIN)
        return nextafterf(-FLT_MAX, 0);
    if (least >= INT32_MAX)
        return INFINITY;
    return tm_is_distance(job->metric) ? -tm_score_of_order((int32_t)-least)
                                       : tm_score_of_order((int32_t)least);
}

static int64_t sum_of_least(int64_t least)
{
    return least < INT64_MIN + 2 ? INT64_MIN + 2 : least;
}

float tm_peak_scan_floor(const tm_peak_scan *scan)
{
    return score_of_least(scan->grid->job, scan->least);
}

static void find_in_row(tm_peak_scan *scan, int64_t y)
{
    const void *a = row_at(scan, y - 1), *b = row_at(scan, y), *c = row_at(scan, y + 1);
    if (tm_job_is_integer(scan->grid->job))
        find_in_sums(scan, y, a, b, c, sum_of_least(scan->least));
    else
        find_in_scores(scan, y, a, b, c, score_of_least(scan->grid->job, scan->least));
}

static void keep_edges(tm_peak_scan *scan, const char *row)
{
    tm_peak_grid *grid = scan->grid;
    const tm_geometry *g = &grid->job->geometry;
    const size_t size = grid->element, bytes = (size_t)scan->width * size;
    const size_t along_y = (size_t)(scan->column * g->map_height + scan->y + scan->done) * size;
    const size_t along_x = (size_t)(scan->row * g->map_width + scan->x) * size;

    memcpy(grid->left + along_y, row, size);
    memcpy(grid->right + along_y, row + bytes - size, size);
    if (scan->done == 0)
        memcpy(grid->top + along_x, row, bytes);
    if (scan->done == scan->height - 1)
        memcpy(grid->bottom + along_x, row, bytes);
}

void tm_peak_scan_row_done(tm_peak_scan *scan)
{
    const tm_map *map = &scan->grid->job->map;
    const size_t size = scan->grid->element;
    char *row = row_at(scan, scan->done);

    if (map->data)
        memcpy((char *)map->data + (scan->y + scan->done) * map->stride + scan->x * (int64_t)size,
               row, (size_t)scan->width * size);
    if (tm_is_distance(scan->grid->job->metric))
        change_sign(scan->grid->job, row, scan->width);
    keep_edges(scan, row);
    scan->done++;
    if (scan->done > 1)
        find_in_row(scan, scan->done - 2);
    if (scan->done == scan->height) {
        find_in_row(scan, scan->done - 1);
        flush(scan);
    }
}
