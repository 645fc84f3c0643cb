/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/plain.h"

#include <math.h>

void tm_sum_window_c(const uint8_t *window, ptrdiff_t pitch, const int8_t *counts, ptrdiff_t stride, int w,
                      int h, int64_t *sum, int64_t *square)
{
    *sum = *square = 0;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            const int64_t sample = counts[y * stride + x] * window[y * pitch + x];
            *sum += sample;
            *square += sample * sample;
        }
    }
}

void tm_family_row_c(const tm_family *f, const tm_family_row *row)
{
    for (int x = 0; x < row->count; x++) {
        float rest = 1 + 2 * f->error + TM_FAMILY_ROUNDING, most = 0, length = 0, square = 0;
        for (int k = 0; k < f->basis; k++) {
            float p = 0;
            for (int j = 0; j <= k; j++)
                p += f->solve[k][j] * ((float)row->products[j * row->step + x] * row->inverse[x]);
            row->coordinates[k * row->step_out + x] = p;
            rest -= p * p;
            square += p * p;
            length = k % 2 ? hypotf(length, p) : fabsf(p);
            if (k % 2)
                most += length * f->radius[k / 2];
        }
        rest = sqrtf(fmaxf(rest, 0));
        row->coordinates[f->basis * row->step_out + x] = rest;
        row->coordinates[(f->basis + 1) * row->step_out + x] = sqrtf(square) * (1 + TM_FAMILY_ROUNDING);
        row->most[x] = most + rest * f->rest;
    }
}

void tm_limit_row_c(const tm_family *f, const tm_family_row *row, float least)
{
    for (int x = 0; x < row->count; x++) {
        float greatest = -2;
        for (int a = 0; a < f->count && row->most[x] >= least; a++) {
            float sum = 0;
            for (int k = 0; k <= f->basis; k++)
                sum += row->coordinates[k * row->step_out + x] * f->coordinates[(int64_t)k * f->padded + a];
            greatest = fmaxf(greatest, sum);
        }
        if (row->most[x] >= least)
            row->most[x] = fminf(row->most[x], greatest);
    }
}

int tm_list_members_c(const tm_family *f, const float *coordinates, float least, int first, int end,
                      int32_t *members, float *bounds)
{
    int count = 0;

    for (int a = first; a < end; a++) {
        float sum = 0;
        for (int k = 0; k <= f->basis; k++)
            sum += coordinates[k] * f->coordinates[(int64_t)k * f->padded + a];
        if (sum >= least) {
            bounds[count] = sum;
            members[count++] = a;
        }
    }
    return count;
}
