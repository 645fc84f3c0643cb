/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/kernels.h"

#include <string.h>

/* The sums of one strip stay in registers over all taps; the fixed trip count
 * lets the compiler vectorise the strip. */
static void correlate_c(uint32_t *sft, const uint8_t *frame, ptrdiff_t stride,
                        const uint8_t *panel, int w, int h, int width)
{
    for (int x = 0; x < width; x += TM_KERNEL_WIDTH) {
        uint32_t sums[TM_KERNEL_WIDTH] = {0};
        for (int v = 0; v < h; v++) {
            const uint8_t *row = frame + v * stride + x;
            for (int u = 0; u < w; u++) {
                uint16_t tap = panel[v * w + u];
                for (int i = 0; i < TM_KERNEL_WIDTH; i++)
                    sums[i] += (uint32_t)(uint16_t)(row[u + i] * tap);
            }
        }
        memcpy(sft + x, sums, sizeof sums);
    }
}

void tm_cpu_kernels_init(tm_cpu_kernels *kernels, uint32_t features)
{
    (void)features;
    *kernels = (tm_cpu_kernels){.name = "c", .correlate = correlate_c};
}
