/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/tile.h"

/* Roots may be off by 2^-11 of themselves. */
#define ROOT_MARGIN 0x1p-10f
/* How far binary32 may be off in sums of n squares of at most 2^14: 16 and 32 roundings of n * 2^-10. */
#define ENERGY_ERROR 0x1p-6
#define REST_ERROR 0x1p-5
/* And in products, which are at most 128 sqrt(n): 128 roundings. */
#define SPARE_ERROR 0x1p-10

static int64_t taps_stride(const tm_job *job)
{
    return round_up(job->tmpl->width, TM_BLOCK);
}

int tm_certified_pairs(const tm_level *level)
{
    return level->down * ((level->across + 1) / 2);
}

size_t tm_certified_taps_size(const tm_job *job, const tm_certified_plan *plan)
{
    int pairs = tm_certified_pairs(plan->by.level);

    for (int i = 0; i < plan->finer_count; i++) {
        const int own = tm_certified_pairs(plan->finer[i].level);
        pairs = own > pairs ? own : pairs;
    }
    return (size_t)(taps_stride(job) * (job->tmpl->height + 1)) + (size_t)pairs * sizeof(tm_level_pair);
}

static int first_tap(const tm_level_pair *pair)
{
    return (int16_t)((uint32_t)pair->taps & 0xffff);
}

static int second_tap(const tm_level_pair *pair)
{
    return (int16_t)((uint32_t)pair->taps >> 16);
}

static double tap_squares(const tm_level_pair *pair)
{
    const double a = first_tap(pair), b = second_tap(pair);
    return a * a + b * b;
}

static int by_squares(const void *a, const void *b)
{
    const double difference = tap_squares(b) - tap_squares(a);
    return (difference > 0) - (difference < 0);
}

/* The pairs of a level's taps, of which a lonely one has a 0 beside it. */
static void pair_taps(tm_level_pair *pairs, const tm_level *level)
{
    for (int i = 0; i < level->down; i++) {
        const int16_t *row = level->taps + i * level->across;
        for (int j = 0; j < level->across; j += 2) {
            const uint32_t next = j + 1 < level->across ? (uint16_t)row[j + 1] : 0;
            *pairs++ = (tm_level_pair){.taps = (int32_t)((uint16_t)row[j] | next << 16),
                                       .mask = j + 1 < level->across ? -1 : 0xffff,
                                       .row = i,
                                       .column = j * level->block_x};
        }
    }
}

/* Parts after which this share of the taps' squares is left. */
static const double part_shares[TM_LEVEL_PARTS - 1] = {0.4, 0.15, 0.04};

/* |f - mean| |later taps| bounds what these add, but for the mean times their sum. */
static void part_taps(tm_level_part *parts, const tm_level *level, const tm_level_pair *pairs)
{
    const int count = tm_certified_pairs(level), pixels = level->block_x * level->block_y;
    const double scale = ldexp(level->scale, -level->shift);
    double all = 0, left;
    int64_t sum = 0;
    int i = 0;

    for (int k = 0; k < count; k++)
        all += tap_squares(&pairs[k]);
    left = all;
    for (int p = 0; p < TM_LEVEL_PARTS; p++) {
        const bool last = p == TM_LEVEL_PARTS - 1;
        while (i < count && (last || left > part_shares[p] * all)) {
            left -= tap_squares(&pairs[i]);
            sum += first_tap(&pairs[i]) + second_tap(&pairs[i]);
            i++;
        }
        /* the taps' sum is 0, so the later ones' is -sum */
        parts[p] = (tm_level_part){.end = i};
        if (!last) {
            parts[p].tail = (float)(scale * sqrt(fmax(left, 0) * pixels) * (1 + 0x1p-9));
            parts[p].mean = (float)(-scale * (double)(sum * pixels));
        }
    }
}

/* So far squares of blocks are shifted that a window's have a sum below 2^31. */
static int square_shift_of(const tm_level *level)
{
    const int64_t most = 128 * level->block_x * level->block_y >> level->shift;
    int shift = 0;
    while ((most * most >> shift) * level->across * level->down > INT32_MAX)
        shift++;
    return shift;
}

bool tm_certified_may_be_few(const tm_level *level)
{
    return tm_certified_pairs(level) <= TM_FEW_PAIRS && level->shift == 0 && square_shift_of(level) == 0;
}

static void take_level(tm_certified *c)
{
    const tm_level *level = c->plan.by.level;

    pair_taps(c->pairs, level);
    qsort(c->pairs, (size_t)tm_certified_pairs(level), sizeof *c->pairs, by_squares);
    part_taps(c->parts, level, c->pairs);
    c->square_shift = square_shift_of(level);
}

void tm_certified_make(tm_certified *c, const tm_cpu_kernels *kernels, const tm_job *job,
                       const tm_certified_plan *plan, char *memory)
{
    const tm_template *t = job->tmpl;
    int8_t *taps = (int8_t *)memory, *ones = taps + taps_stride(job) * t->height;

    *c = (tm_certified){.kernels = kernels,
                        .knowing = PTHREAD_MUTEX_INITIALIZER,
                        .job = job,
                        .plan = *plan,
                        .taps = taps,
                        .ones = ones,
                        .taps_stride = (ptrdiff_t)taps_stride(job),
                        .pairs = (tm_level_pair *)(void *)(ones + taps_stride(job)),
                        .found = TM_NO_CANDIDATE,
                        .best = job->known ? job->known->value : INT64_MIN};
    memset(taps, 0, (size_t)(c->taps_stride * (t->height + 1)));
    memset(ones, 1, (size_t)t->width);
    for (int64_t y = 0; y < t->height; y++) {
        for (int64_t x = 0; x < t->width; x++)
            taps[y * c->taps_stride + x] = (int8_t)(t->samples[y * t->width + x] - TM_TAP_BIAS);
    }
    take_level(c);
}

void tm_certified_take(tm_certified *c, const tm_certified_choice *choice)
{
    c->plan.by = *choice;
    take_level(c);
}

bool tm_certified_covers_all(const tm_certified *c)
{
    return tm_level_tiles(c->plan.by.level, c->job->tmpl->width, c->job->tmpl->height);
}

tm_level_row tm_certified_row(const tm_certified *c)
{
    const tm_level *l = c->plan.by.level;
    const double count = (double)c->job->tmpl->n;
    const int pixels = l->block_x * l->block_y;
    /* how far the rounding of blocks may move |Pf|, which is at most 128 sqrt(n) */
    const double rounding = sqrt(l->across * l->down) * ldexp(0.5, l->shift) / sqrt(pixels);
    tm_level_row row = {
        .pairs = c->pairs,
        .across = l->across,
        .block_x = l->block_x,
        .w = (int)c->job->tmpl->width,
        .covered = l->across * l->block_x,
        .inverse_n = (float)(1 / count),
        .inverse_d = !c->plan.by.few && tm_certified_covers_all(c) ? 0 : 1 / (float)(l->across * l->down * pixels),
        .of_squares = (float)ldexp(1.0 / pixels, 2 * l->shift + c->square_shift),
        .e_energy = (float)(count * ENERGY_ERROR),
        .e_rest = (float)(count * REST_ERROR + (l->shift ? 256 * sqrt(count) * rounding : 0)),
        .scale = (float)l->scale,
        .spare = (float)(sqrt(count) * SPARE_ERROR + l->error),
        .rest = (float)l->rest * (1 + ROOT_MARGIN),
    };
    memcpy(row.parts, c->parts, sizeof row.parts);
    /* |f|^2 is known to within e_energy, which is taken off it */
    for (int p = 0; p < TM_LEVEL_PARTS; p++)
        row.parts[p].spare = row.parts[p].tail * (float)sqrt(2 * count * ENERGY_ERROR);
    return row;
}

float tm_certified_least(const tm_certified *c, float score)
{
    return (score - (float)c->plan.by.level->slack) * (1 - ROOT_MARGIN);
}

void tm_certified_know(tm_certified *c, tm_candidate candidate)
{
    int64_t best;
#pragma omp atomic read
    best = c->best;
    if (candidate.value < best)
        return;
    pthread_mutex_lock(&c->knowing);
    if (tm_candidate_beats(candidate, c->found))
        c->found = candidate;
#pragma omp atomic read
    best = c->best;
    if (candidate.value > best) {
#pragma omp atomic write
        c->best = candidate.value;
    }
    pthread_mutex_unlock(&c->knowing);
}
