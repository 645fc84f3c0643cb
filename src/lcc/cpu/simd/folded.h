/* SPDX-License-Identifier: MIT */
/* Folded windows times templates, for vectors of LANES lanes: see lcc/cpu/folded.h. */
#include "lcc/cpu/kernels.h"

/* Folds 4 * LANES columns' phases phase and phase + 2: pairs of sums, and behind those of differences. */
static inline void fold(int32_t *room, const tm_folded *folded, const uint8_t *samples, ptrdiff_t stride)
{
    const vi left = v_set1_128(_mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1));
    const vi right = v_set1_128(_mm_setr_epi8(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1));
    const vi left_after = v_set1_128(_mm_setr_epi8(1, -1, 0, -1, 5, -1, 4, -1, 9, -1, 8, -1, 13, -1, 12, -1));
    const vi right_after = v_set1_128(_mm_setr_epi8(3, -1, 2, -1, 7, -1, 6, -1, 11, -1, 10, -1, 15, -1, 14, -1));
    int32_t *differences = room + 2 * LANES * folded->count;

    for (int i = 0; i < folded->count; i++) {
        const tm_fold_pair *p = &folded->pairs[i];
        const vi before = v_loadu(samples + p->row * stride + p->column);
        const vi after = v_loadu(samples + p->row_after * stride + p->column_after);
        const vi before0 = v_bytes(before, left), before1 = v_bytes(before, right);
        const vi after0 = v_bytes(after, left_after), after1 = v_bytes(after, right_after);
        v_store(room + 2 * LANES * i, v_add16(before0, after0));
        v_store(room + 2 * LANES * i + LANES, v_add16(before1, after1));
        v_store(differences + 2 * LANES * i, v_sub16(before0, after0));
        v_store(differences + 2 * LANES * i + LANES, v_sub16(before1, after1));
    }
}

/* Multiplies with so many templates, of which each has its products at to. */
static inline __attribute__((always_inline)) void
multiply_folded(int32_t *const *to, const int32_t *taps, const int32_t *data, int pairs, int templates)
{
    vi sums[TM_FOLD_TOGETHER][2];

    for (int t = 0; t < templates; t++)
        sums[t][0] = sums[t][1] = v_zero();
    for (int i = 0; i < pairs; i++, data += 2 * LANES, taps += templates) {
        const vi a = v_load(data), b = v_load(data + LANES);
        for (int t = 0; t < templates; t++) {
            const vi tap = v_set1(taps[t]);
            sums[t][0] = v_add(sums[t][0], v_madd(a, tap));
            sums[t][1] = v_add(sums[t][1], v_madd(b, tap));
        }
    }
    for (int t = 0; t < templates; t++) {
        v_store(to[t], sums[t][0]);
        v_store(to[t] + 2 * TM_LANES, sums[t][1]);
    }
}

static void multiply_kind(int32_t *products, ptrdiff_t step, const tm_folded *folded, int kind, const int32_t *taps,
                          const int32_t *data)
{
    const int *order = folded->order + (kind ? folded->of_kind[0] : 0);
    int32_t *to[TM_FOLD_TOGETHER];

    for (int left = folded->of_kind[kind], together; left > 0; left -= together, order += together) {
        together = tm_fold_together(left);
        for (int t = 0; t < together; t++)
            to[t] = products + order[t] * step;
        switch (together) {
            case 1: multiply_folded(to, taps, data, folded->count, 1); break;
            case 2: multiply_folded(to, taps, data, folded->count, 2); break;
            case 3: multiply_folded(to, taps, data, folded->count, 3); break;
            case 4: multiply_folded(to, taps, data, folded->count, 4); break;
            case 5: multiply_folded(to, taps, data, folded->count, 5); break;
            default: multiply_folded(to, taps, data, folded->count, 6);
        }
        taps += folded->count * together;
    }
}

static void correlate_folded(int32_t *products, ptrdiff_t step, const tm_folded *folded, const uint8_t *samples,
                             ptrdiff_t stride, int blocks, int32_t *room)
{
    const int32_t *others = folded->taps + (ptrdiff_t)folded->of_kind[0] * folded->count;

    for (int j = 0; j < blocks * TM_LANES; j += LANES) {
        for (int phase = 0; phase < 2; phase++) {
            int32_t *to = products + j / TM_LANES * TM_BLOCK + phase * TM_LANES + j % TM_LANES;
            fold(room, folded, samples + 4 * j + phase, stride);
            multiply_kind(to, step, folded, 0, folded->taps, room);
            multiply_kind(to, step, folded, 1, others, room + 2 * LANES * folded->count);
        }
    }
}
