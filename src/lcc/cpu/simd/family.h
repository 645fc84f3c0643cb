/* SPDX-License-Identifier: MIT */
/* The bounds of a family's members, for vectors of LANES lanes. */
#include "lcc/cpu/kernels.h"

/* What vf_root may take off a length. */
#define FAMILY_ROOT (1 + 0x1p-10f)

/* A lane's squares are below 2^31 while a window has fewer than 2^14 rows, and fewer than 2^17 pixels. */
static void sum_window(const uint8_t *window, ptrdiff_t pitch, const int8_t *counts, ptrdiff_t stride,
                        int w, int h, int64_t *sum, int64_t *square)
{
    int32_t sums[LANES], squares[LANES];
    vi s = v_zero(), ss = v_zero();

    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x += 2 * LANES) {
            const vi samples = v_u8_16(window + y * pitch + x), ones = v_s8_16(counts + y * stride + x);
            const vi counted = v_and(samples, v_sub16(v_zero(), ones));
            s = v_add(s, v_madd(samples, ones));
            ss = v_add(ss, v_madd(counted, counted));
        }
    }
    v_storeu(sums, s);
    v_storeu(squares, ss);
    *sum = *square = 0;
    for (int i = 0; i < LANES; i++) {
        *sum += sums[i];
        *square += squares[i];
    }
}

static void family_row(const tm_family *f, const tm_family_row *row)
{
    const vf tiny = vf_set1(0x1p-40f);

    for (int x = 0; x < row->count; x += LANES) {
        const vf inverse = vf_loadu(row->inverse + x);
        vf z[TM_FAMILY_BASIS], rest = vf_set1(1 + 2 * f->error + TM_FAMILY_ROUNDING), most = vf_set1(0), whole = vf_set1(0);
        for (int k = 0; k < f->basis; k++)
            z[k] = vf_mul(vf_of_s32(v_load(row->products + k * row->step + x)), inverse);
        for (int k = 0; k < f->basis; k += 2) {
            vf a = vf_set1(0), b = vf_set1(0);
            for (int j = 0; j <= k; j++) {
                a = vf_nmadd(z[j], vf_set1(-f->solve[k][j]), a);
                b = vf_nmadd(z[j], vf_set1(-f->solve[k + 1][j]), b);
            }
            b = vf_nmadd(z[k + 1], vf_set1(-f->solve[k + 1][k + 1]), b);
            vf_storeu(row->coordinates + k * row->step_out + x, a);
            vf_storeu(row->coordinates + (k + 1) * row->step_out + x, b);
            const vf square = vf_add(vf_mul(a, a), vf_mul(b, b));
            whole = vf_add(whole, square);
            rest = vf_nmadd(a, a, vf_nmadd(b, b, rest));
            most = vf_nmadd(vf_root(vf_add(square, tiny)), vf_set1(-FAMILY_ROOT * f->radius[k / 2]), most);
        }
        rest = vf_sqrt(vf_max(rest, vf_set1(0)));
        vf_storeu(row->coordinates + f->basis * row->step_out + x, rest);
        vf_storeu(row->coordinates + (f->basis + 1) * row->step_out + x, vf_mul(vf_sqrt(whole), vf_set1(1 + TM_FAMILY_ROUNDING)));
        vf_storeu(row->most + x, vf_nmadd(rest, vf_set1(-f->rest), most));
    }
}

/* The least of what the members [first, first + AT_ONCE) have below 0, in two vectors of windows. */
enum { LIMITED_AT_ONCE = 4 };
static inline void limit_vectors(const tm_family *f, const float *coordinates, ptrdiff_t step, int first, vf least[2])
{
    vf sums[LIMITED_AT_ONCE][2];

    for (int i = 0; i < LIMITED_AT_ONCE; i++)
        sums[i][0] = sums[i][1] = vf_set1(0);
    for (int k = 0; k <= f->basis; k++) {
        const float *of_members = f->coordinates + (int64_t)k * f->padded + first;
        const vf left = vf_loadu(coordinates + k * step), right = vf_loadu(coordinates + k * step + LANES);
        for (int i = 0; i < LIMITED_AT_ONCE; i++) {
            const vf of_member = vf_set1(of_members[i]);
            sums[i][0] = vf_nmadd(left, of_member, sums[i][0]);
            sums[i][1] = vf_nmadd(right, of_member, sums[i][1]);
        }
    }
    for (int i = 0; i < LIMITED_AT_ONCE; i++) {
        least[0] = vf_min(least[0], sums[i][0]);
        least[1] = vf_min(least[1], sums[i][1]);
    }
}

static void limit_row(const tm_family *f, const tm_family_row *row, float least)
{
    const vf floor = vf_set1(least), minus = vf_set1(-1);

    for (int x = 0; x < row->count; x += 2 * LANES) {
        const vf most[2] = {vf_loadu(row->most + x), vf_loadu(row->most + x + LANES)};
        vf lowest[2] = {vf_set1(2), vf_set1(2)};
        if (!vf_ge(most[0], floor) && !vf_ge(most[1], floor))
            continue;
        for (int a = 0; a < f->count; a += LIMITED_AT_ONCE)
            limit_vectors(f, row->coordinates + x, row->step_out, a, lowest);
        vf_storeu(row->most + x, vf_min(most[0], vf_mul(lowest[0], minus)));
        vf_storeu(row->most + x + LANES, vf_min(most[1], vf_mul(lowest[1], minus)));
    }
}

/* Adds the members of this vector whose bound reaches least. */
static __attribute__((noinline)) int add_members(vf sums, float least, int first, int end,
                                                 int32_t *members, float *bounds, int count)
{
    float lanes[LANES];

    vf_storeu(lanes, sums);
    for (int i = 0; i < LANES && first + i < end; i++) {
        if (lanes[i] >= least) {
            bounds[count] = lanes[i];
            members[count++] = first + i;
        }
    }
    return count;
}

/* Reads up to TM_FAMILY_UNIT - 1 coordinates beyond the last member's. */
static int list_members(const tm_family *f, const float *coordinates, float least, int first, int end,
                        int32_t *members, float *bounds)
{
    enum { AT_ONCE = TM_FAMILY_UNIT / LANES > 2 ? TM_FAMILY_UNIT / LANES : 2 };
    const vf floor = vf_set1(least);
    int count = 0;

    for (int a = first; a < end; a += AT_ONCE * LANES) {
        vf sums[AT_ONCE];
        for (int i = 0; i < AT_ONCE; i++)
            sums[i] = vf_set1(0);
        for (int k = 0; k <= f->basis; k++) {
            const vf of_window = vf_set1(-coordinates[k]);
            const float *of_members = f->coordinates + (int64_t)k * f->padded + a;
            for (int i = 0; i < AT_ONCE; i++)
                sums[i] = vf_nmadd(vf_loadu(of_members + i * LANES), of_window, sums[i]);
        }
        for (int i = 0; i < AT_ONCE; i++)
            if (vf_ge(sums[i], floor))
                count = add_members(sums[i], least, a + i * LANES, end, members, bounds, count);
    }
    return count;
}

static void assign_family(tm_cpu_kernels *kernels)
{
    kernels->sum_window = sum_window;
    kernels->family_row = family_row;
    kernels->limit_row = limit_row;
    kernels->list_members = list_members;
}
