/* SPDX-License-Identifier: MIT */
/* tm_reject_fn, which finds the blocks that may score as much as a reject was set to. rows.h
 * includes it. */

/* Where a row's windows begin and end among prefixes, by phase. */
typedef struct reject_ends {
    ptrdiff_t from[4], until[4];
} reject_ends;

/* Adds what a sum's sources are to the sums of LANES quads of windows from quad j on. */
ROWS_INLINE void reject_add(vf to[4], const tm_source_row *row, int sum, const reject_ends *ends,
                            ptrdiff_t j)
{
    const tm_source *last = row->source + row->first[sum + 1];
    for (const tm_source *s = row->source + row->first[sum]; s < last; s++) {
        const vf factor = vf_set1(-s->factor);
        if (s->products) {
            const int32_t *from = s->products + j / TM_LANES * TM_BLOCK + j % TM_LANES;
            for (int p = 0; p < 4; p++)
                to[p] = vf_nmadd(vf_of_s32(v_load(from + p * TM_LANES)), factor, to[p]);
        } else {
            const uint32_t *from = s->prefix + j;
            for (int p = 0; p < 4; p++)
                to[p] = vf_nmadd(
                    vf_of_u32(v_sub(v_loadu(from + ends->until[p]), v_load(from + ends->from[p]))),
                    factor, to[p]);
        }
    }
}

ROWS_INLINE unsigned reject_vectors(const tm_reject *s, const tm_source_row *row,
                                    const reject_ends *ends, ptrdiff_t j)
{
    const vf zero = vf_set1(0), slope = vf_set1(s->slope), offset = vf_set1(s->offset);
    vf num[4], var[4] = {zero, zero, zero, zero};
    unsigned pass = 0;

    for (int p = 0; p < 4; p++)
        num[p] = vf_set1(s->e_num);
    reject_add(num, row, TM_SUM_FT, ends, j);
    reject_add(var, row, TM_SUM_FF, ends, j);
    for (int c = 0; c < s->channels; c++) {
        const vf mean = vf_set1(s->mean[c]), inverse_n = vf_set1(s->inverse_n);
        vf sf[4] = {zero, zero, zero, zero};
        reject_add(sf, row, TM_SUM_F + c, ends, j);
        for (int p = 0; p < 4; p++) {
            num[p] = vf_nmadd(sf[p], mean, num[p]);
            var[p] = vf_nmadd(sf[p], vf_mul(sf[p], inverse_n), var[p]);
        }
    }
    for (int p = 0; p < 4; p++)
        pass |= vf_not_le(vf_mul(num[p], vf_max(num[p], zero)), vf_msub(slope, var[p], offset));
    return pass;
}

static void reject(const tm_reject *s, const tm_source_row *row, uint8_t *pass)
{
    reject_ends ends;

    for (int p = 0; p < 4; p++) {
        ends.from[p] = p * row->plane;
        ends.until[p] = (p + row->w) % 4 * row->plane + (p + row->w) / 4;
    }
    for (int b = 0; b < row->blocks; b++) {
        unsigned any = 0;
        for (ptrdiff_t j = b * TM_LANES; j < (b + 1) * TM_LANES; j += LANES)
            any |= reject_vectors(s, row, &ends, j);
        pass[b] = any != 0;
    }
}
