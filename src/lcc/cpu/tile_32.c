/* SPDX-License-Identifier: MIT */
/* A tile of a template of at most TM_PACKED_TAPS. The tile's frame rows are
 * copied, extended with zeros, so that the kernels know neither the frame's edges
 * nor the domain; then a few rows of sums at a time are made and ranked while
 * they lie in the first-level cache. */
#include "lcc/cpu/tile.h"

enum { ROWS_AT_ONCE = 12 }; /* a multiple of every kernel's rows */

typedef struct tile_32 {
    ptrdiff_t stride; /* of staged and planes, in elements */
    int staged_rows;
    uint8_t *staged; /* a row of zeros lies above */
    uint32_t *planes;
    int32_t *sft;
    tm_columns columns;
} tile_32;

static size_t carve_tile_32(tile_32 *n, char *memory, const tm_job *job, int64_t width,
                           int64_t height)
{
    tm_carver carver = {memory, 0};
    int64_t padded = round_up(width, TM_BLOCK), w = job->tmpl->width, h = job->tmpl->height;
    int64_t columns = round_up(padded + w, TM_BLOCK);

    /* An odd number of cache lines from row to row: an even one would put the
     * rows above each other into few of the cache's sets. */
    n->stride = (ptrdiff_t)(columns / TM_BLOCK % 2 ? columns : columns + TM_BLOCK);
    n->staged_rows = (int)(height + h - 1);
    n->columns.blocks = (int)(columns / TM_BLOCK);
    n->staged = carve(&carver, (n->staged_rows + TM_EXTRA_ROWS + 1) * n->stride);
    n->staged = n->staged ? n->staged + n->stride : NULL;
    n->planes = carve(&carver, tm_planes_size(n->staged_rows + TM_EXTRA_ROWS, n->stride));
    n->sft = carve(&carver, ROWS_AT_ONCE * padded * 4);
    n->columns.sum = carve(&carver, columns * 4);
    n->columns.sum_sq = carve(&carver, columns * 4);
    n->columns.prefix = carve(&carver, TM_SLIDE_ROWS * columns * 4);
    n->columns.prefix_sq = carve(&carver, TM_SLIDE_ROWS * columns * 4);
    return carver.used;
}

size_t tm_tile_32_size(const tm_job *job, int64_t width, int64_t height)
{
    tile_32 n;
    return carve_tile_32(&n, NULL, job, width, height);
}

static void ccorr_row(const tm_window_row *row, tm_candidate *best, int64_t *map)
{
    for (int x = 0; x < row->width; x++) {
        int end = x + row->w;
        uint32_t s_f = row->prefix[end % 4 * row->plane + end / 4] -
                       row->prefix[x % 4 * row->plane + x / 4];
        tm_candidate candidate = {row->sft[tm_phase_index(x)] + TM_TAP_BIAS * (int64_t)s_f,
                                  row->position + x};
        if (map)
            map[x] = candidate.value;
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

tm_candidate tm_tile_32(const tm_cpu_kernels *kernels, char *memory, const tm_job *job,
                        const tm_packed_taps *packed, const tm_tile *tile)
{
    const tm_template *t = job->tmpl;
    const int width = (int)tile->width;
    tm_peak_scan *scan = tile->scan;
    tm_candidate ccorr = TM_NO_CANDIDATE;
    tm_best lcc = TM_NO_BEST;
    tile_32 n;

    carve_tile_32(&n, memory, job, tile->width, tile->height);
    for (int y = 0; y < n.staged_rows + TM_EXTRA_ROWS; y++)
        stage_row(n.staged + y * n.stride, &job->frame, tile->x - job->geometry.pad_x,
                  tile->y - job->geometry.pad_y + y, n.stride);
    if (packed->planes)
        kernels->expand(n.planes, n.staged, n.stride, n.staged_rows, packed);

    memset(n.staged - n.stride, 0, (size_t)n.stride);
    memset(n.columns.sum, 0, (size_t)n.columns.blocks * TM_BLOCK * 4);
    memset(n.columns.sum_sq, 0, (size_t)n.columns.blocks * TM_BLOCK * 4);
    for (int v = 0; v < t->height - 1; v++)
        kernels->enter(&n.columns, n.staged + v * n.stride);

    int blocks = (width + TM_BLOCK - 1) / TM_BLOCK;
    for (int top = 0; top < tile->height; top += ROWS_AT_ONCE) {
        int rows = (int)smaller(ROWS_AT_ONCE, tile->height - top);
        kernels->correlate(n.sft, blocks * TM_BLOCK, packed, n.staged + top * n.stride,
                           n.planes + tm_expanded_row(packed, n.stride, top), n.stride, rows, blocks);
        for (int y = 0; y < rows; y++) {
            int slid = y % TM_SLIDE_ROWS;
            if (slid == 0)
                kernels->slide(&n.columns, n.staged + (top + y - 1) * n.stride, n.stride,
                               (int)t->height, (int)smaller(TM_SLIDE_ROWS, rows - y));
            tm_window_row row = {
                .sft = n.sft + y * blocks * TM_BLOCK,
                .prefix = n.columns.prefix + slid * n.columns.blocks * TM_BLOCK,
                .prefix_sq = n.columns.prefix_sq + slid * n.columns.blocks * TM_BLOCK,
                .plane = n.columns.blocks * TM_LANES,
                .w = (int)t->width,
                .width = width,
                .n = t->n,
                .sum = t->sum - TM_TAP_BIAS * t->n,
                .variance = (float)t->variance,
                .position = (tile->y + top + y) * job->geometry.map_width + tile->x,
            };
            const tm_map *target = scan ? &tm_peak_scan_row(scan)->map : &job->map;
            char *map = (char *)target->data;
            if (map)
                map += (tile->y + top + y) * target->stride;
            if (job->metric == TM_METRIC_CCORR)
                ccorr_row(&row, &ccorr, map ? (int64_t *)map + tile->x : NULL);
            else if (scan && !job->map.data)
                kernels->score_peaks(&row, &lcc, tm_peak_scan_floor(scan), (float *)map + tile->x);
            else if (map)
                kernels->score_map(&row, &lcc, (float *)map + tile->x);
            else
                kernels->score_best(&row, &lcc);
            if (scan)
                tm_peak_scan_row_done(scan);
        }
    }
    if (job->metric == TM_METRIC_CCORR)
        return ccorr;
    return (tm_candidate){tm_score_order(lcc.score), lcc.position};
}
