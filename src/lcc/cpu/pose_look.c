/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/plain.h"

/* What the sums of a window and of a member that is not all core take, in products with a template. */
#define SUMS 2

/* What roundings in binary32 may take off a bound, besides what they make of p. */
#define ROUNDING 1e-5f

tm_status tm_pose_look_open(tm_pose_look *look, const tm_pose_class *c)
{
    const tm_family *f = &c->family;
    const ptrdiff_t stride = (ptrdiff_t)round_up(f->width, TM_POSE_STRIDE), size = stride * f->height;

    look->taps = calloc((size_t)((f->basis + 1) * size) + TM_POSE_STRIDE, 1);
    if (!look->taps)
        return TM_ERR_MEMORY;
    int8_t *counts = look->taps + f->basis * size;
    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        memset(counts + r->y * stride + r->x, 1, (size_t)(r->end - r->x));
        for (int k = 0; k < f->basis; k++) {
            const uint8_t *samples = f->samples + ((int64_t)k * f->height + r->y) * f->width;
            int8_t *taps = look->taps + k * size + r->y * stride;
            for (int x = r->x; x < r->end; x++)
                taps[x] = (int8_t)(samples[x] - 128);
        }
    }
    look->core = (tm_pose_member){
        .width = f->width, .height = f->height, .stride = stride, .taps = look->taps, .counts = counts};
    return TM_OK;
}

void tm_pose_look_close(tm_pose_look *look)
{
    free(look->taps);
    look->taps = NULL;
}

bool tm_pose_look_pays(const tm_pose_class *c, int count)
{
    return (c->whole ? 1 : 1 + SUMS) * count > c->family.basis + SUMS;
}

bool tm_pose_look_at(const tm_pose_look *look, const tm_pose_run *run, int thread, int64_t x, int64_t y,
                     float coordinates[TM_FAMILY_BASIS + 1])
{
    const tm_family *f = &run->class->family;
    const tm_pose_box box = tm_pose_box_at(run, thread, &look->core, x, y);
    const double pixels = (double)f->pixels, sum = (double)box.s_f;
    int32_t products[TM_FAMILY_BASIS];
    float most;

    if (!box.samples)
        return false;
    for (int k = 0; k < f->basis; k++) {
        tm_pose_member basis = look->core;
        basis.taps += k * basis.stride * basis.height;
        products[k] = (int32_t)tm_pose_product(run, &basis, &box);
    }
    const double energy = (pixels * (double)box.s_ff - sum * sum) / pixels; /* of whole numbers below 2^53 */
    const float inverse = energy > 1e-3 ? (float)(1 / sqrt(energy)) : 0;
    tm_family_row_c(f, &(tm_family_row){.products = products,
                                        .step = 1,
                                        .inverse = &inverse,
                                        .coordinates = coordinates,
                                        .step_out = 1,
                                        .most = &most,
                                        .count = 1});
    return true;
}

float tm_pose_look_bound(const tm_family *f, const float *coordinates, int member)
{
    float sum = f->error + ROUNDING;
    for (int k = 0; k <= f->basis; k++)
        sum += coordinates[k] * f->coordinates[(int64_t)k * f->padded + member];
    return sum;
}
