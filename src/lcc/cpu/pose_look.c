/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

/* What the sums of a window and of a member that is not all core take, in products with a template. */
#define SUMS 2

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

/* How many of the products are there already. */
static int known(const tm_pose_class *c, const tm_family_window *window)
{
    return window->products ? c->family.first->basis : 0;
}

bool tm_pose_look_pays(const tm_pose_class *c, const tm_family_window *window)
{
    const int sums = window->samples ? 0 : SUMS;
    return (c->whole ? 1 : 1 + SUMS) * window->count > c->family.basis - known(c, window) + sums;
}

bool tm_pose_look_at(const tm_pose_look *look, const tm_pose_run *run, int thread, const tm_family_window *window,
                     float coordinates[TM_FAMILY_BASIS + 1])
{
    const tm_family *f = &run->class->family;
    tm_pose_box box = {.samples = window->samples, .stride = window->stride, .s_f = window->s_f, .s_ff = window->s_ff};
    int32_t products[TM_FAMILY_BASIS][TM_LANES] __attribute__((aligned(64)));
    float inverse[TM_LANES] = {0}, lanes[TM_FAMILY_BASIS + 2][TM_LANES], most[TM_LANES];

    if (!box.samples)
        box = tm_pose_box_at(run, thread, &look->core, window->x, window->y);
    if (!box.samples)
        return false;
    memset(products, 0, sizeof products);
    for (int k = 0; k < known(run->class, window); k++)
        products[k][0] = window->products[k * window->product_step];
    for (int k = known(run->class, window); k < f->basis; k++) {
        tm_pose_member basis = look->core;
        basis.taps += k * basis.stride * basis.height;
        products[k][0] = (int32_t)tm_pose_product(run, &basis, &box);
    }
    const double pixels = (double)f->pixels, sum = (double)box.s_f;
    const double energy = (pixels * (double)box.s_ff - sum * sum) / pixels; /* of whole numbers below 2^53 */
    inverse[0] = energy > 1e-3 ? (float)(1 / sqrt(energy)) : 0;
    run->cpu->kernels.family_row(f, &(tm_family_row){.products = products[0],
                                                     .step = TM_LANES,
                                                     .inverse = inverse,
                                                     .coordinates = lanes[0],
                                                     .step_out = TM_LANES,
                                                     .most = most,
                                                     .count = TM_LANES});
    for (int k = 0; k <= f->basis; k++)
        coordinates[k] = lanes[k][0];
    return true;
}

int tm_pose_look_list(const tm_pose_run *run, const float *coordinates, float least, const tm_family_window *window, int *next,
                      int32_t members[TM_POSE_LOOKED])
{
    const tm_family *f = &run->class->family;
    const int first = window->members[*next];
    float bounds[TM_POSE_LOOKED];
    int last = first;

    for (; *next < window->count && window->members[*next] < first + TM_POSE_LOOKED; ++*next)
        last = window->members[*next];
    return run->cpu->kernels.list_members(f, coordinates, least - f->error - TM_FAMILY_ROUNDING, first, last + 1, members, bounds);
}
