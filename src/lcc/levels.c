/* SPDX-License-Identifier: MIT */
#include "lcc/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

/* Sums of TM_LEVEL_TAPS squares in double precision may be off by 1.2e-13 of themselves, and where they
 * nearly cancel out, the root of what is left by the root of that. */
#define ROUNDING 4e-7

static const int block_sizes[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof *block_sizes };

static int64_t block_sum(const tm_level *l, const uint8_t *samples, int64_t w, int i, int j)
{
    int64_t sum = 0;
    for (int y = 0; y < l->block_y; y++) {
        const uint8_t *row = samples + (l->y + i * l->block_y + y) * w + l->x + j * l->block_x;
        for (int x = 0; x < l->block_x; x++)
            sum += row[x];
    }
    return sum;
}

/* Rounds the blocks' deviations from their mean to taps of sum 0. */
static void round_taps(int16_t *taps, const double *deviations, int count, double scale)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        taps[i] = (int16_t)lrint(deviations[i] * scale);
        sum += taps[i];
    }
    for (int i = 0; sum; i++) { /* |sum| <= count / 2 */
        const int step = sum > 0 ? 1 : -1;
        taps[i] = (int16_t)(taps[i] - step);
        sum -= step;
    }
}

/* Makes the level of blocks of this size. False where the template has no variance between them, or
 * memory ran out: then taps is NULL. */
static bool make_level(tm_level *l, const uint8_t *samples, int64_t w, int64_t h, double norm_sq)
{
    const int count = l->across * l->down, pixels = l->block_x * l->block_y;
    double *deviations = malloc((size_t)count * sizeof *deviations);
    int64_t *sums = malloc((size_t)count * sizeof *sums), total = 0;
    double most = 0, all = 0, between = 0, product = 0, taps_sq = 0, magnitude = 0;

    while (pixels << 7 >> l->shift > 32768)
        l->shift++;
    l->x = (int)(w - l->across * l->block_x) / 2;
    l->y = (int)(h - l->down * l->block_y) / 2;
    l->taps = malloc((size_t)count * sizeof *l->taps);
    if (!deviations || !sums || !l->taps) {
        free(deviations);
        free(sums);
        free(l->taps);
        l->taps = NULL;
        return false;
    }
    for (int i = 0; i < count; i++)
        total += sums[i] = block_sum(l, samples, w, i / l->across, i % l->across);
    for (int i = 0; i < count; i++) {
        deviations[i] = (double)(count * sums[i] - total) / count;
        most = fmax(most, fabs(deviations[i]));
        all += fabs(deviations[i]);
        between += deviations[i] * deviations[i];
    }
    if (most > 0) {
        /* each tap fits 16 bits, with one to spare for the sum, and the products 31 */
        const double limit = (double)INT32_MAX / (128 * pixels >> l->shift) - 2 * count;
        round_taps(l->taps, deviations, count, fmin(32000 / most, limit / all));
        for (int i = 0; i < count; i++) {
            product += (double)l->taps[i] * (double)sums[i];
            taps_sq += (double)l->taps[i] * l->taps[i] * pixels;
            magnitude += abs(l->taps[i]);
        }
    }
    free(deviations);
    free(sums);
    if (!(taps_sq > 0) || !(product > 0)) {
        free(l->taps);
        l->taps = NULL;
        return true;
    }
    const double share = between / pixels / norm_sq; /* |Pt|^2 */
    const double c = product / sqrt(taps_sq * norm_sq);
    l->scale = ldexp(product / sqrt(norm_sq) / taps_sq, l->shift);
    l->error = l->shift ? l->scale * magnitude / 2 : 0;
    l->slack = sqrt(fmax(0, share - c * c)) + ROUNDING;
    l->rest = sqrt(fmax(0, 1 - share)) + ROUNDING;
    return true;
}

bool tm_levels_make(tm_levels *levels, const uint8_t *samples, int64_t w, int64_t h,
                    int64_t variance)
{
    const int64_t n = w * h;

    *levels = (tm_levels){0};
    if (n > TM_LEVEL_PIXELS || variance == 0)
        return true;
    levels->list = calloc(BLOCK_SIZES, sizeof *levels->list);
    if (!levels->list)
        return false;
    for (int i = 0; i < BLOCK_SIZES; i++) {
        tm_level *l = &levels->list[levels->count];
        *l = (tm_level){.block_x = (int)smaller(block_sizes[i], w),
                        .block_y = (int)smaller(block_sizes[i], h)};
        l->across = (int)(w / l->block_x);
        l->down = (int)(h / l->block_y);
        if (l->across * l->down < 4 || l->across * l->down > TM_LEVEL_TAPS ||
            l->down > TM_LEVEL_ROWS || (levels->count && tm_level_is_like(l, l - 1)))
            continue;
        const bool made = make_level(l, samples, w, h, (double)variance / (double)n);
        if (!made)
            return false;
        levels->count += l->taps != NULL;
    }
    return true;
}

void tm_levels_free(tm_levels *levels)
{
    for (int i = 0; i < levels->count; i++)
        free(levels->list[i].taps);
    free(levels->list);
    *levels = (tm_levels){0};
}
