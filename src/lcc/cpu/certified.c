/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/certified.h"

#include <string.h>

#include "integers.h"
#include "lcc/cpu/tile.h"

bool tm_certified_takes(const tm_job *job)
{
    return tm_job_is_plain(job) && job->metric == TM_METRIC_LCC && !job->map.data &&
           job->tmpl->levels.count > 0;
}

static int64_t taps_stride(const tm_job *job)
{
    return round_up(job->tmpl->width, TM_BLOCK);
}

static int pairs_across(const tm_level *level)
{
    return (level->across + 1) / 2;
}

size_t tm_certified_taps_size(const tm_job *job, const tm_level *level)
{
    return (size_t)(taps_stride(job) * job->tmpl->height) +
           (size_t)(level->down * pairs_across(level)) * sizeof(int32_t);
}

/* The pairs of a level's taps, a row of blocks after the other; a lonely one has a 0 beside it. */
static void pair_taps(int32_t *pairs, const tm_level *level)
{
    for (int i = 0; i < level->down; i++) {
        const int16_t *row = level->taps + i * level->across;
        for (int j = 0; j < level->across; j += 2) {
            const uint32_t next = j + 1 < level->across ? (uint16_t)row[j + 1] : 0;
            *pairs++ = (int32_t)((uint16_t)row[j] | next << 16);
        }
    }
}

/* So far squares of blocks are shifted that a window's have a sum below 2^31. */
static int shift_of(const tm_level *level)
{
    const int64_t most = 128 * level->block_x * level->block_y;
    int shift = 0;
    while ((most * most >> shift) * level->across * level->down > INT32_MAX)
        shift++;
    return shift;
}

void tm_certified_make(tm_certified *c, const tm_cpu_kernels *kernels, const tm_job *job,
                       const tm_certified_plan *plan, char *memory)
{
    const tm_template *t = job->tmpl;
    int8_t *taps = (int8_t *)memory;

    *c = (tm_certified){.kernels = kernels,
                        .job = job,
                        .plan = *plan,
                        .taps = taps,
                        .taps_stride = (ptrdiff_t)taps_stride(job),
                        .shift = shift_of(plan->level),
                        .best = INT64_MIN};
    memset(taps, 0, (size_t)(c->taps_stride * t->height));
    for (int64_t y = 0; y < t->height; y++) {
        for (int64_t x = 0; x < t->width; x++)
            taps[y * c->taps_stride + x] = (int8_t)(t->samples[y * t->width + x] - TM_TAP_BIAS);
    }
    int32_t *pairs = (int32_t *)(void *)(memory + c->taps_stride * t->height);
    pair_taps(pairs, plan->level);
    c->pairs = pairs;
}

void tm_certified_know(tm_certified *c, tm_candidate candidate)
{
    int64_t best;
#pragma omp atomic read
    best = c->best;
    if (candidate.value <= best)
        return;
#pragma omp critical(tm_certified_best)
    {
#pragma omp atomic read
        best = c->best;
        if (candidate.value > best) {
#pragma omp atomic write
            c->best = candidate.value;
        }
    }
}

void tm_certified_note_scored(tm_certified *c, int64_t windows)
{
#pragma omp atomic
    c->scored += windows;
}
