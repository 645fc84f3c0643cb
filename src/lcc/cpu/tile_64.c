/* SPDX-License-Identifier: MIT */
/* A tile of a template whose sums leave 32 bits. It is packed in parts; S_FT is
 * added up in 64 bits. A window here takes more than 10^3 products, so the sums
 * and the score need no vectors. */
#include "lcc/cpu/tile.h"

enum { PACKED_ROWS = 1024 }; /* bounds the staged rows of a thin, high template */

typedef struct tile_64 {
    int64_t packed_w, packed_h;
    ptrdiff_t stride;
    int padded;
    uint8_t *staged, *samples;
    uint32_t *planes, *column_sum;
    uint64_t *column_sum_sq;
    int32_t *taps, *sums;
    int64_t *sft; /* in blocks, as the kernels make them */
} tile_64;

static size_t carve_tile_64(tile_64 *n, char *memory, const tm_job *job, int64_t width,
                            int64_t height)
{
    tm_carver carver = {memory, 0};
    const tm_template *t = job->tmpl;

    n->packed_w = smaller(t->width, TM_PACKED_TAPS);
    n->packed_h = smaller(t->height, smaller(TM_PACKED_TAPS / n->packed_w, PACKED_ROWS));
    n->padded = (int)round_up(width, TM_BLOCK);
    n->stride = (ptrdiff_t)round_up(n->padded + n->packed_w, TM_BLOCK);
    int64_t rows = height + n->packed_h - 1 + TM_EXTRA_ROWS;
    n->staged = carve(&carver, rows * n->stride);
    n->planes = carve(&carver, tm_planes_size(rows, n->stride));
    n->taps = carve(&carver, (int64_t)tm_packed_taps_size((int)n->packed_w, (int)n->packed_h));
    n->sums = carve(&carver, height * n->padded * 4);
    n->sft = carve(&carver, height * n->padded * 8);
    n->column_sum = carve(&carver, (width + t->width - 1) * 4);
    n->column_sum_sq = carve(&carver, (width + t->width - 1) * 8);
    return carver.used;
}

size_t tm_tile_64_size(const tm_job *job, int64_t width, int64_t height)
{
    tile_64 n;
    return carve_tile_64(&n, NULL, job, width, height);
}

static void correlate_parts(const tm_cpu_kernels *kernels, const tile_64 *n, const tm_job *job,
                             const tm_tile *tile)
{
    const tm_template *t = job->tmpl;
    const int height = (int)tile->height;
    size_t elements = (size_t)n->padded * (size_t)height;

    memset(n->sft, 0, elements * sizeof *n->sft);
    for (int64_t v = 0; v < t->height; v += n->packed_h) {
        for (int64_t u = 0; u < t->width; u += n->packed_w) {
            tm_packed_taps packed = {.w = (int)smaller(n->packed_w, t->width - u),
                                     .h = (int)smaller(n->packed_h, t->height - v),
                                     .taps = n->taps};
            int rows = height + packed.h - 1;

            kernels->pack(&packed, t->samples + v * t->width + u, (ptrdiff_t)t->width);
            for (int y = 0; y < rows + TM_EXTRA_ROWS; y++)
                stage_row(n->staged + y * n->stride, &job->frame,
                          tile->x - job->geometry.pad_x + u,
                          tile->y - job->geometry.pad_y + v + y, n->stride);
            if (packed.planes)
                kernels->expand(n->planes, n->staged, n->stride, rows, &packed);
            kernels->correlate(n->sums, n->padded, &packed, n->staged, n->planes, n->stride,
                               height, n->padded / TM_BLOCK);
            for (size_t i = 0; i < elements; i++)
                n->sft[i] += n->sums[i];
        }
    }
}

/* Adds frame row y to the column sums, or takes it away. */
static void slide_row(const tile_64 *n, const tm_image *frame, int64_t x, int64_t y, int64_t count,
                      int sign)
{
    if (y < 0 || y >= frame->height)
        return;
    const uint8_t *row = frame->samples + y * frame->stride;
    int64_t first = larger(0, -x), last = smaller(count, frame->width - x);
    for (int64_t i = first; i < last; i++) {
        int sample = row[x + i];
        n->column_sum[i] += (uint32_t)(sign * sample);
        n->column_sum_sq[i] += (uint64_t)(int64_t)(sign * sample * sample);
    }
}

static void score_row(const tile_64 *n, const tm_job *job, const tm_tile *tile, int row,
                      tm_candidate *best)
{
    int64_t w = job->tmpl->width, s_f = 0, s_ff = 0;
    const int64_t *sft = n->sft + (ptrdiff_t)row * n->padded;

    for (int64_t u = 0; u < w - 1; u++) {
        s_f += n->column_sum[u];
        s_ff += (int64_t)n->column_sum_sq[u];
    }
    for (int x = 0; x < tile->width; x++) {
        s_f += n->column_sum[x + w - 1];
        s_ff += (int64_t)n->column_sum_sq[x + w - 1];
        tm_candidate candidate = tm_job_emit(job, tile->x + x, tile->y + row, s_f, s_ff,
                                             sft[tm_phase_index(x)] + TM_TAP_BIAS * s_f);
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
        s_f -= n->column_sum[x];
        s_ff -= (int64_t)n->column_sum_sq[x];
    }
}

tm_candidate tm_tile_64(const tm_cpu_kernels *kernels, char *memory, const tm_job *job,
                        const tm_tile *tile)
{
    tm_peak_scan *scan = tile->scan;
    int64_t columns = tile->width + job->tmpl->width - 1, h = job->tmpl->height;
    int64_t x = tile->x - job->geometry.pad_x, y = tile->y - job->geometry.pad_y;
    tm_candidate best = TM_NO_CANDIDATE;
    tile_64 n;

    carve_tile_64(&n, memory, job, tile->width, tile->height);
    correlate_parts(kernels, &n, job, tile);
    memset(n.column_sum, 0, (size_t)columns * sizeof *n.column_sum);
    memset(n.column_sum_sq, 0, (size_t)columns * sizeof *n.column_sum_sq);
    for (int64_t v = 0; v < h - 1; v++)
        slide_row(&n, &job->frame, x, y + v, columns, 1);
    for (int row = 0; row < tile->height; row++) {
        slide_row(&n, &job->frame, x, y + row + h - 1, columns, 1);
        score_row(&n, scan ? tm_peak_scan_row(scan) : job, tile, row, &best);
        if (scan)
            tm_peak_scan_row_done(scan);
        slide_row(&n, &job->frame, x, y + row, columns, -1);
    }
    return best;
}
