/* SPDX-License-Identifier: MIT */
/* What the members of a family have in common. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/family.h"

enum {
    LEAST_PIXELS = 9, /* of a core */
    SAMPLES_AT_ONCE = 65536, /* whose squares' sum fits 32 bits */
};

/* The first of the member's pixels that lies in the family's box, which has its centre. */
static int64_t first_of(const tm_family *f, const tm_posed *p)
{
    return (p->height - f->height) / 2 * p->width + (p->width - f->width) / 2;
}

/* Trims the box to the pixels that are 1 in core, which is as large, about its centre; counts them. */
static void trim(tm_family *f, uint8_t *core)
{
    const int width = f->width;
    int margin_x = f->width, margin_y = f->height;

    for (int i = 0; i < f->width * f->height; i++) {
        const int x = i % f->width, y = i / f->width;
        if (!core[i])
            continue;
        margin_x = (int)smaller(margin_x, smaller(x, f->width - 1 - x));
        margin_y = (int)smaller(margin_y, smaller(y, f->height - 1 - y));
        f->pixels++;
    }
    if (!f->pixels)
        return;
    f->width -= 2 * margin_x;
    f->height -= 2 * margin_y;
    for (int y = 0; y < f->height; y++)
        memmove(core + y * f->width, core + (y + margin_y) * width + margin_x, (size_t)f->width);
}

static int count_runs(const tm_family *f, const uint8_t *core)
{
    int count = 0;
    for (int i = 0; i < f->width * f->height; i++)
        count += core[i] && (i % f->width == 0 || !core[i - 1]);
    return count;
}

/* False if memory ran out. */
static bool list_runs(tm_family *f, const uint8_t *core)
{
    f->runs = malloc((size_t)count_runs(f, core) * sizeof *f->runs);
    if (!f->runs)
        return false;
    for (int y = 0; y < f->height; y++) {
        for (int x = 0; x < f->width; x++) {
            const uint8_t *at = core + y * f->width + x;
            if (!*at)
                continue;
            if (x == 0 || !at[-1])
                f->runs[f->run_count++] = (tm_family_run){.y = y, .x = x};
            f->runs[f->run_count - 1].end = x + 1;
        }
    }
    return true;
}

/* The pixels that count in all members, as 1 in the box. */
static void find_core(const tm_family *f, uint8_t *core, const tm_posed *members)
{
    memset(core, 1, (size_t)f->width * (size_t)f->height);
    for (int k = 0; k < f->count; k++) {
        const uint8_t *mask = members[k].mask + first_of(f, &members[k]);
        for (int y = 0; y < f->height; y++) {
            for (int x = 0; x < f->width; x++)
                core[y * f->width + x] &= mask[y * members[k].width + x];
        }
    }
}

tm_status tm_family_begin(tm_family *family, const tm_posed *members, size_t count)
{
    tm_family f = {.count = (int)count};
    int64_t width = INT64_MAX, height = INT64_MAX;

    *family = (tm_family){0};
    if (!count || count > INT32_MAX / 64)
        return TM_OK;
    for (size_t i = 0; i < count; i++) {
        width = smaller(width, members[i].width);
        height = smaller(height, members[i].height);
    }
    if (height > TM_FAMILY_ROWS || width * height > TM_FAMILY_PIXELS)
        return TM_OK;
    f.width = (int)width;
    f.height = (int)height;
    uint8_t *core = malloc((size_t)(width * height));
    if (!core)
        return TM_ERR_MEMORY;
    find_core(&f, core, members);
    trim(&f, core);
    const bool large = f.pixels >= LEAST_PIXELS, good = !large || list_runs(&f, core);
    free(core);
    if (large && good)
        *family = f;
    return good ? TM_OK : TM_ERR_MEMORY;
}

/* Adds up some samples and their squares. */
static void add_samples(const uint8_t *samples, int64_t count, uint64_t *sum, uint64_t *square)
{
    for (int64_t begin = 0; begin < count; begin += SAMPLES_AT_ONCE) {
        const int64_t end = smaller(begin + SAMPLES_AT_ONCE, count);
        uint32_t part = 0, part_sq = 0;
        for (int64_t x = begin; x < end; x++) {
            part += samples[x];
            part_sq += (uint32_t)(samples[x] * samples[x]);
        }
        *sum += part;
        *square += part_sq;
    }
}

/* The variance times the pixels. */
static double energy_of(int64_t pixels, uint64_t sum, uint64_t square)
{
    return (double)((uint64_t)pixels * square - sum * sum) / (double)pixels;
}

double tm_family_energy(const tm_posed *p)
{
    uint64_t sum = 0, square = 0;

    add_samples(p->samples, p->width * p->height, &sum, &square); /* samples that do not count are 0 */
    return energy_of(p->count, sum, square);
}

double tm_family_share(const tm_family *f, const tm_posed *p)
{
    const uint8_t *samples = p->samples + first_of(f, p);
    uint64_t sum = 0, square = 0;

    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        add_samples(samples + r->y * p->width + r->x, r->end - r->x, &sum, &square);
    }
    return energy_of(f->pixels, sum, square) / tm_family_energy(p) * (1 - 1e-9);
}

bool tm_family_read(const tm_family *f, const tm_posed *p, int16_t *to, tm_family_sums *sums)
{
    const uint8_t *samples = p->samples + first_of(f, p);
    uint64_t sum = 0, square = 0;

    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        const uint8_t *row = samples + r->y * p->width;
        for (int x = r->x; x < r->end; x++)
            *to++ = (int16_t)(row[x] - 128);
        add_samples(row + r->x, r->end - r->x, &sum, &square);
    }
    *sums = (tm_family_sums){(double)sum - 128 * (double)f->pixels, sqrt(energy_of(f->pixels, sum, square))};
    return sums->length > 0;
}

void tm_family_free(tm_family *f)
{
    if (f->first) {
        f->first->runs = NULL;
        f->first->samples = NULL;
        tm_family_free(f->first);
    }
    if (f->chain)
        tm_family_free(f->chain);
    free(f->runs);
    free(f->samples);
    free(f->coordinates);
    free(f->points);
    free(f->chain);
    free(f->first);
    *f = (tm_family){0};
}
