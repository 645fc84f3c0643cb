/* SPDX-License-Identifier: MIT */
/* Products of folded windows: those that plain C makes of whole ones. */
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"

/* A core that half a turn leaves as it is, of runs at random, and a basis in it. */
typedef struct folding {
    tm_family family;
    tm_family_run runs[400];
    uint8_t *core;
} folding;

static void make_core(folding *f)
{
    tm_family *family = &f->family;
    const int size = family->width * family->height;

    for (int i = 0; i < size; i++) {
        const int x = i % family->width;
        f->core[i] = i < size - i - 1 ? x > 0 && check_random() % 8 ? f->core[i - 1] : check_random() % 4 != 0 : 1;
        f->core[i] = i > size - i - 1 ? f->core[size - i - 1] : f->core[i];
        family->pixels += f->core[i];
        if (f->core[i] && (x == 0 || !f->core[i - 1]))
            f->runs[family->run_count++] = (tm_family_run){.y = i / family->width, .x = x};
        if (f->core[i])
            f->runs[family->run_count - 1].end = x + 1;
    }
}

static void make_basis(folding *f, int how)
{
    tm_family *family = &f->family;
    const int size = family->width * family->height;

    for (int k = 0; k < family->basis; k++) {
        const bool odd = family->odd >> k & 1;
        uint8_t *samples = family->samples + k * size;
        for (int i = 0; i < size; i++) {
            const int most = how ? 127 : (int)check_random_in(-127, 127), other = i < size - i ? 0 : 256 - samples[size - i - 1];
            const int middle = odd ? 128 : 128 + 2 * (most / 2);
            samples[i] = (uint8_t)(!f->core[i]            ? 128
                                   : i < size - i - 1  ? 128 + most
                                   : i == size - i - 1 ? middle
                                   : odd               ? other
                                                       : samples[size - i - 1]);
        }
    }
}

static void fold(const tm_cpu_kernels *k, const folding *f, const tile *t, buffer *sft)
{
    buffer memory = buffer_make(tm_folded_size(&f->family));
    buffer room = buffer_make(tm_folded_room(tm_folded_count(&f->family)) * 4);
    tm_folded folded;

    tm_folded_pack(&folded, &f->family, memory.data);
    k->correlate_folded(sft->data, t->sft_stride, &folded, t->staged.data, t->stride, t->blocks, room.data);
    check_margins(&memory, "fold", k->name);
    check_margins(&room, "fold", k->name);
    free(memory.memory);
    free(room.memory);
}

void folds(void)
{
    for (int64_t i = check_cases(300) / 3; i > 0; i--) {
        const int w = (int)check_random_in(1, 24), h = (int)check_random_in(1, 24), how = check_random() % 8 == 0;
        tile t = tile_make(w, h, 1, (int)check_random_in(1, 5), how ? 1 : (int)check_random_in(0, 9), 7);
        folding f = {.family = {.width = w, .height = h, .basis = (int)check_random_in(1, TM_FAMILY_BASIS),
                                .odd = (uint32_t)check_random(), .half_turns = true}};
        const size_t size = (size_t)(w * h);
        f.family.runs = f.runs;
        f.family.samples = malloc(size * TM_FAMILY_BASIS);
        f.core = calloc(size, 1);
        CHECK(f.family.samples && f.core);
        make_core(&f);
        make_basis(&f, how);
        buffer wanted = buffer_make((size_t)(f.family.basis * t.sft_stride) * 4);
        for (int k = 0; k < f.family.basis; k++) {
            memcpy(t.taps.data, f.family.samples + (size_t)k * size, size);
            correlate(&isas[0], &t, &t.sft);
            memcpy((char *)wanted.data + k * t.sft_stride * 4, t.sft.data, (size_t)t.sft_stride * 4);
        }
        for (int isa = 1; isa < isa_count; isa++) {
            buffer sft = buffer_make(wanted.size);
            memcpy(sft.data, wanted.data, wanted.size);
            for (int k = 0; k < f.family.basis; k++) /* columns between rows of templates stay as they are */
                memset((char *)sft.data + k * t.sft_stride * 4, 0, (size_t)(t.blocks * TM_BLOCK) * 4);
            if (isas[isa].correlate_folded) {
                fold(&isas[isa], &f, &t, &sft);
                check_same(&wanted, &sft, "correlate_folded", isas[isa].name, t.text);
            }
            free(sft.memory);
        }
        free(wanted.memory);
        free(f.family.samples);
        free(f.core);
        tile_free(&t);
    }
}
