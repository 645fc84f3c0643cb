/* SPDX-License-Identifier: MIT */
/* Scores a row of windows of a job of planes, a few blocks at a time: their sums are added up from
 * the sources, scored and ranked. Blocks without a window that could matter are passed over. */
#include <float.h>

#include "lcc/cpu/tile.h"

enum { AT_ONCE = 4 }; /* blocks, whose sums stay in the first-level cache */

/* Looks for the best of a block only where some element beats it. */
#define RANK_ROW(name, type, field)                                                                \
    static void name(const type *row, int width, type sign, int64_t position,                      \
                     tm_planes_best *best)                                                         \
    {                                                                                              \
        for (int x = 0; x < width; x += TM_BLOCK) {                                                \
            const int count = (int)smaller(TM_BLOCK, width - x);                                   \
            int any = 0;                                                                           \
            for (int i = 0; i < count; i++)                                                        \
                any |= sign * row[x + i] > best->field;                                            \
            for (int i = 0; any && i < count; i++) {                                               \
                if (sign * row[x + i] > best->field) {                                             \
                    best->field = sign * row[x + i];                                               \
                    best->position = position + x + i;                                             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

RANK_ROW(rank_scores, float, score)
RANK_ROW(rank_integers, int64_t, integer)

/* Scores count blocks; to is where the map has the first one, or NULL. */
static void score_blocks(const tm_cpu_kernels *kernels, tm_planes_row *r, int block, int count,
                         int64_t position, char *to)
{
    _Alignas(64) int64_t sums[TM_SUMS][AT_ONCE * TM_BLOCK];
    union {
        float score[AT_ONCE * TM_BLOCK];
        int64_t integer[AT_ONCE * TM_BLOCK];
    } scores;
    const int64_t *needed[TM_SUMS] = {0};
    const tm_metric metric = r->job->metric;
    const int width = (int)smaller(r->width - block * TM_BLOCK, count * TM_BLOCK);
    const int sign = tm_is_distance(metric) ? -1 : 1;

    for (int i = 0; i < TM_SUMS; i++) {
        if (!r->planes->products.needed[i])
            continue;
        kernels->sum_up(sums[i], &r->row, i, block, count);
        needed[i] = sums[i];
    }
    kernels->score_sums(&r->planes->scorer, needed, count, &scores);
    if (to)
        memcpy(to, &scores, (size_t)width * tm_map_element_size(metric));
    if (tm_is_integer(metric))
        rank_integers(scores.integer, width, sign, position, &r->best);
    else
        rank_scores(scores.score, width, (float)sign, position, &r->best);
}

/* Finds the blocks that may be passed over; false where none may. For peaks without a map scores
 * below the floor do not matter, but skipped positions do. */
static bool reject(const tm_cpu_kernels *kernels, tm_planes_row *r, const tm_peak_scan *scan)
{
    float least = r->best.score;

    if (!r->planes->rejects || r->job->map.data ||
        (scan && r->planes->products.needed[TM_SUM_TOUCHED]))
        return false;
    if (scan && tm_peak_scan_floor(scan) < least)
        least = tm_peak_scan_floor(scan);
    tm_reject_set(&r->reject, least);
    kernels->reject(&r->reject, &r->row, r->pass);
    return true;
}

void tm_planes_row_score(const tm_cpu_kernels *kernels, tm_planes_row *r, int64_t x, int64_t y,
                         tm_peak_scan *scan)
{
    const tm_job *target = scan ? tm_peak_scan_row(scan) : r->job;
    const int64_t element = (int64_t)tm_map_element_size(target->metric);
    const bool rejected = reject(kernels, r, scan);
    char *map = target->map.data;
    int count;

    if (map)
        map += y * target->map.stride + x * element;
    for (int b = 0; b < r->row.blocks; b += count) {
        char *to = map ? map + b * TM_BLOCK * element : NULL;
        for (count = 0; count < AT_ONCE && b + count < r->row.blocks; count++) {
            if (rejected && !r->pass[b + count])
                break;
        }
        if (count) {
            score_blocks(kernels, r, b, count, y * r->job->geometry.map_width + x + b * TM_BLOCK,
                         to);
            continue;
        }
        count = 1;
        for (int64_t i = 0; to && i < smaller(TM_BLOCK, r->width - b * TM_BLOCK); i++)
            ((float *)(void *)to)[i] = -2.0f;
    }
    if (scan)
        tm_peak_scan_row_done(scan);
}

tm_candidate tm_planes_row_best(const tm_planes_row *r)
{
    const tm_metric metric = r->job->metric;
    const int sign = tm_is_distance(metric) ? -1 : 1;

    if (r->best.position == INT64_MAX)
        return (tm_candidate)TM_NO_CANDIDATE;
    if (tm_is_integer(metric))
        return (tm_candidate){r->best.integer, r->best.position};
    return (tm_candidate){sign * (int64_t)tm_score_order((float)sign * r->best.score),
                          r->best.position};
}
