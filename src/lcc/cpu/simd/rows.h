/* SPDX-License-Identifier: MIT */
/* Window sums and scores, for vectors of LANES lanes: the including file has
 * chosen avx512.h or one of its siblings. */
#include <math.h>
#include <string.h>

#include "lcc/cpu/kernels.h"
#include "lcc/cpu/sums.h"
#include "lcc/reject.h"

#define ROWS_INLINE static inline __attribute__((always_inline))

/* n and o are 4 columns a lane, entering and leaving; with
 * n^2 - o^2 = (n - o)(n + o), each phase takes one product. */
ROWS_INLINE void slide_vectors(vi sum[4], vi sum_sq[4], vi n, vi o)
{
    const vi bytes = v_set1(0x00ff00ff), low = v_set1(0xffff), one = v_set1(1);
    vi n02 = v_and(n, bytes), n13 = v_srl16(n, 8);
    vi o02 = v_and(o, bytes), o13 = v_srl16(o, 8);
    vi d02 = v_sub16(n02, o02), d13 = v_sub16(n13, o13);
    vi s02 = v_add16(n02, o02), s13 = v_add16(n13, o13);

    sum[0] = v_add(sum[0], v_madd(d02, one));
    sum[1] = v_add(sum[1], v_madd(d13, one));
    sum[2] = v_add(sum[2], v_sra(d02, 16));
    sum[3] = v_add(sum[3], v_sra(d13, 16));
    sum_sq[0] = v_add(sum_sq[0], v_madd(d02, v_and(s02, low)));
    sum_sq[1] = v_add(sum_sq[1], v_madd(d13, v_and(s13, low)));
    sum_sq[2] = v_add(sum_sq[2], v_madd(d02, v_andnot(low, s02)));
    sum_sq[3] = v_add(sum_sq[3], v_madd(d13, v_andnot(low, s13)));
}

/* Stores the exclusive prefixes of 4*LANES columns; returns the next carry. */
ROWS_INLINE vi prefix_vectors(uint32_t *to, ptrdiff_t plane, const vi sum[4], vi carry)
{
    vi t1 = v_add(sum[0], sum[1]);
    vi t2 = v_add(t1, sum[2]);
    vi t3 = v_add(t2, sum[3]);
    vi scan = v_scan(t3);
    vi base = v_add(v_sub(scan, t3), carry);

    v_store(to, base);
    v_store(to + plane, v_add(base, sum[0]));
    v_store(to + 2 * plane, v_add(base, t1));
    v_store(to + 3 * plane, v_add(base, t2));
    return v_add(carry, v_last(scan));
}

ROWS_INLINE void load_columns(vi sum[4], const uint32_t *from, ptrdiff_t j)
{
    from += j / TM_LANES * TM_BLOCK + j % TM_LANES;
    for (int p = 0; p < 4; p++)
        sum[p] = v_load(from + p * TM_LANES);
}

ROWS_INLINE void store_columns(uint32_t *to, ptrdiff_t j, const vi sum[4])
{
    to += j / TM_LANES * TM_BLOCK + j % TM_LANES;
    for (int p = 0; p < 4; p++)
        v_store(to + p * TM_LANES, sum[p]);
}

static void enter(const tm_columns *columns, const uint8_t *samples)
{
    for (ptrdiff_t j = 0; j < columns->blocks * TM_LANES; j += LANES) {
        vi sum[4], sum_sq[4];
        load_columns(sum, columns->sum, j);
        load_columns(sum_sq, columns->sum_sq, j);
        slide_vectors(sum, sum_sq, v_loadu(samples + 4 * j), v_zero());
        store_columns(columns->sum, j, sum);
        store_columns(columns->sum_sq, j, sum_sq);
    }
}

ROWS_INLINE void slide_rows(tm_columns c, const uint8_t *leave, const uint8_t *come,
                            ptrdiff_t stride, int rows)
{
    ptrdiff_t plane = (ptrdiff_t)c.blocks * TM_LANES;
    vi carry[TM_SLIDE_ROWS], carry_sq[TM_SLIDE_ROWS];

    for (int y = 0; y < rows; y++)
        carry[y] = carry_sq[y] = v_zero();
    for (ptrdiff_t j = 0; j < plane; j += LANES) {
        vi sum[4], sum_sq[4];
        load_columns(sum, c.sum, j);
        load_columns(sum_sq, c.sum_sq, j);
        for (int y = 0; y < rows; y++) {
            slide_vectors(sum, sum_sq, v_loadu(come + y * stride + 4 * j),
                          v_loadu(leave + y * stride + 4 * j));
            carry[y] = prefix_vectors(c.prefix + 4 * y * plane + j, plane, sum, carry[y]);
            carry_sq[y] = prefix_vectors(c.prefix_sq + 4 * y * plane + j, plane, sum_sq, carry_sq[y]);
        }
        store_columns(c.sum, j, sum);
        store_columns(c.sum_sq, j, sum_sq);
    }
}

static void slide(const tm_columns *columns, const uint8_t *samples, ptrdiff_t stride, int h,
                  int rows)
{
    if (rows == TM_SLIDE_ROWS)
        slide_rows(*columns, samples, samples + h * stride, stride, TM_SLIDE_ROWS);
    else
        slide_rows(*columns, samples, samples + h * stride, stride, rows);
}

typedef struct window_sums {
    vi sft, sf, sff;
} window_sums;

/* Where the sums of the windows of phase p are found. */
typedef struct phase {
    const int32_t *sft;
    const uint32_t *from, *to, *from_sq, *to_sq;
} phase;

static inline phase phase_make(const tm_window_row *row, int p)
{
    ptrdiff_t from = p * row->plane, to = (p + row->w) % 4 * row->plane + (p + row->w) / 4;
    return (phase){row->sft + p * TM_LANES, row->prefix + from, row->prefix + to,
                   row->prefix_sq + from, row->prefix_sq + to};
}

ROWS_INLINE window_sums window_load(phase at, ptrdiff_t j)
{
    return (window_sums){
        .sft = v_load(at.sft + j / TM_LANES * TM_BLOCK + j % TM_LANES),
        .sf = v_sub(v_loadu(at.to + j), v_load(at.from + j)),
        .sff = v_sub(v_loadu(at.to_sq + j), v_load(at.from_sq + j)),
    };
}

/* tm_lcc_score. With n <= 2^16 every integer is below 2^53, so doubles hold num
 * and var_F exactly and the conversion to binary32 is the only rounding. */
ROWS_INLINE vf score_vector(const tm_window_row *row, window_sums s)
{
    vd n = vd_set1((double)row->n), t = vd_set1((double)row->sum);
    vd f_lo = vd_u32_lo(s.sf), f_hi = vd_u32_hi(s.sf);
    vf num = vf_of_halves(vd_msub(n, vd_s32_lo(s.sft), vd_mul(f_lo, t)),
                          vd_msub(n, vd_s32_hi(s.sft), vd_mul(f_hi, t)));
    vf var = vf_of_halves(vd_msub(n, vd_u32_lo(s.sff), vd_mul(f_lo, f_lo)),
                          vd_msub(n, vd_u32_hi(s.sff), vd_mul(f_hi, f_hi)));
    vf score = vf_div(num, vf_sqrt(vf_mul(var, vf_set1(row->variance))));

    score = vf_unless0(score, var);
    return vf_max(vf_min(score, vf_set1(1.0f)), vf_set1(-1.0f));
}

/* Ranks one vector's windows. False where none became the best. */
static __attribute__((noinline)) int take(const tm_window_row *row, tm_best *best, vf score,
                                          ptrdiff_t j, int p)
{
    float scores[LANES];
    int taken = 0;

    vf_storeu(scores, score);
    for (int i = 0; i < LANES; i++) {
        int64_t x = 4 * (j + i) + p, position = row->position + x;
        if (x < row->width && (scores[i] > best->score ||
                               (scores[i] == best->score && position < best->position))) {
            *best = (tm_best){scores[i], position};
            taken = 1;
        }
    }
    return taken;
}

/* Equal scores matter only to positions before the best one. */
ROWS_INLINE int rank(const tm_window_row *row, tm_best *best, vf score, ptrdiff_t j, int p)
{
    vf top = vf_set1(best->score);
    int earlier = row->position + 4 * j + p < best->position;
    if (!(earlier ? vf_ge(score, top) : vf_gt(score, top)))
        return 0;
    return take(row, best, score, j, p);
}

/* What binary32 arithmetic can tell about a window: with the sums divided by n,
 *     score >= best > 0  implies
 *     (num + e_num)^2 > tm_reject_bound(best, var_T/n) * (var - e_var), num + e_num > 0
 * where e_num and e_var bound the rounding of num and var below: 6 roundings of
 * terms of at most n*255*128, and as many of n*255^2 plus vf_of_u32's lost bit.
 * Windows that fail cannot win; the few that pass are scored. */
typedef struct row_bound {
    vf mean, inverse_n, e_num;
    vf slope, offset;
} row_bound;

static inline void row_bound_set(row_bound *s, const tm_window_row *row, float best)
{
    double n = (double)row->n, slope = 0, offset = INFINITY;
    if (best > 0) {
        slope = tm_reject_bound((double)best, (double)row->variance / n);
        offset = slope * (n * 65025 * 0x1p-21 + 2) * (1 + 0x1p-18);
    }
    s->slope = vf_set1((float)slope);
    s->offset = vf_set1((float)offset);
}

static inline row_bound row_bound_make(const tm_window_row *row, float best)
{
    double n = (double)row->n;
    row_bound s = {.mean = vf_set1((float)((double)row->sum / n)),
               .inverse_n = vf_set1((float)(1 / n)),
               .e_num = vf_set1((float)(n * 32640 * 0x1p-21))};
    row_bound_set(&s, row, best);
    return s;
}

ROWS_INLINE unsigned row_bound_exceeded(const row_bound *s, window_sums w)
{
    vf sf = vf_of_s32(w.sf);
    vf num = vf_nmadd(sf, s->mean, vf_add(vf_of_s32(w.sft), s->e_num));
    vf var = vf_nmadd(sf, vf_mul(sf, s->inverse_n), vf_of_u32(w.sff));
    return vf_not_le(vf_mul(num, vf_max(num, vf_set1(0.0f))), vf_msub(s->slope, var, s->offset));
}

static void score_best(const tm_window_row *row, tm_best *best)
{
    row_bound s = row_bound_make(row, best->score);

    for (int p = 0; p < 4 && p < row->width; p++) {
        phase at = phase_make(row, p);
        for (ptrdiff_t j = 0; 4 * j + p < row->width; j += LANES) {
            window_sums w = window_load(at, j);
            if (row_bound_exceeded(&s, w) && rank(row, best, score_vector(row, w), j, p))
                row_bound_set(&s, row, best->score);
        }
    }
}

/* 4*LANES neighbouring windows from 4*j on, as far as the row has them. */
ROWS_INLINE void store_scores(const tm_window_row *row, float *map, ptrdiff_t j, const vf score[4])
{
    if (4 * (j + LANES) <= row->width) {
        vf_interleave(map + 4 * j, score[0], score[1], score[2], score[3]);
    } else {
        float last[4 * LANES];
        vf_interleave(last, score[0], score[1], score[2], score[3]);
        memcpy(map + 4 * j, last, (size_t)(row->width - 4 * j) * sizeof *map);
    }
}

static void score_map(const tm_window_row *row, tm_best *best, float *map)
{
    phase at[4];

    for (int p = 0; p < 4; p++)
        at[p] = phase_make(row, p);
    for (ptrdiff_t j = 0; 4 * j < row->width; j += LANES) {
        vf score[4];
        for (int p = 0; p < 4; p++) {
            score[p] = score_vector(row, window_load(at[p], j));
            rank(row, best, score[p], j, p);
        }
        store_scores(row, map, j, score);
    }
}

static void score_peaks(const tm_window_row *row, tm_best *best, float floor, float *map)
{
    const vf none = vf_set1(-2.0f);
    float least = best->score < floor ? best->score : floor;
    row_bound s = row_bound_make(row, least);
    phase at[4];

    for (int p = 0; p < 4; p++)
        at[p] = phase_make(row, p);
    for (ptrdiff_t j = 0; 4 * j < row->width; j += LANES) {
        vf score[4] = {none, none, none, none};
        for (int p = 0; p < 4; p++) {
            window_sums w = window_load(at[p], j);
            if (!row_bound_exceeded(&s, w))
                continue;
            score[p] = score_vector(row, w);
            if (rank(row, best, score[p], j, p) && least < floor) {
                least = best->score < floor ? best->score : floor;
                row_bound_set(&s, row, least);
            }
        }
        store_scores(row, map, j, score);
    }
}

#include "lcc/cpu/simd/reject.h"

static void assign_rows(tm_cpu_kernels *kernels)
{
    kernels->enter = enter;
    kernels->slide = slide;
    kernels->score_best = score_best;
    kernels->score_map = score_map;
    kernels->score_peaks = score_peaks;
    kernels->reject = reject;
    assign_sums(kernels);
}
