/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/folded.h"

#include "integers.h"

/* The pixels of a run that are in the core's first half, where so many come before it. */
static int64_t in_half(const tm_family *f, const tm_family_run *r, int64_t before)
{
    return clamp((f->pixels + 1) / 2 - before, 0, r->end - r->x);
}

int tm_folded_count(const tm_family *f)
{
    int64_t before = 0;
    int count = 0;

    for (int i = 0; i < f->run_count; i++) {
        count += (int)(in_half(f, &f->runs[i], before) + 1) / 2;
        before += f->runs[i].end - f->runs[i].x;
    }
    return count;
}

size_t tm_folded_size(const tm_family *f)
{
    const size_t pairs = (size_t)tm_folded_count(f);
    return (size_t)round_up((int64_t)(pairs * sizeof(tm_fold_pair)), 64) + pairs * (size_t)f->basis * sizeof(int32_t);
}

static void list_pairs(tm_folded *folded, const tm_family *f)
{
    int64_t before = 0;

    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        for (int x = r->x; x < r->x + in_half(f, r, before); x += 2)
            folded->pairs[folded->count++] = (tm_fold_pair){r->y, x, f->height - 1 - r->y, f->width - 2 - x};
        before += r->end - r->x;
    }
}

/* A tap of the first half, 0 of other pixels; a half turn leaves the middle where it is, so that its sum with itself is
 * twice the pixel, and its tap, which is even, is halved. */
static int16_t tap_of(const tm_family *f, int index, int row, int column)
{
    const int64_t at = (int64_t)row * f->width + column, size = (int64_t)f->width * f->height, after = size - 1 - at;

    if (column >= f->width || at > after)
        return 0;
    const int tap = f->samples[index * size + at] - 128;
    return (int16_t)(at == after ? tap / 2 : tap);
}

static int32_t taps_of(const tm_family *f, int index, const tm_fold_pair *p)
{
    const uint16_t left = (uint16_t)tap_of(f, index, p->row, p->column);
    const uint16_t right = (uint16_t)tap_of(f, index, p->row, p->column + 1);
    return (int32_t)(left | (uint32_t)right << 16);
}

void tm_folded_pack(tm_folded *folded, const tm_family *f, void *memory)
{
    *folded = (tm_folded){.pairs = memory, .templates = f->basis};
    list_pairs(folded, f);
    folded->taps = (int32_t *)((char *)memory + round_up((int64_t)((size_t)folded->count * sizeof *folded->pairs), 64));
    int32_t *tap = folded->taps;
    for (int kind = 0, at = 0; kind < TM_FOLD_KINDS; kind++) {
        for (int k = 0; k < f->basis; k++) {
            if ((int)(f->odd >> k & 1) == kind)
                folded->order[at + folded->of_kind[kind]++] = k;
        }
        const int end = at + folded->of_kind[kind];
        for (int together; at < end; at += together) {
            together = tm_fold_together(end - at);
            for (int i = 0; i < folded->count; i++) {
                for (int t = 0; t < together; t++)
                    *tap++ = taps_of(f, folded->order[at + t], &folded->pairs[i]);
            }
        }
    }
}
