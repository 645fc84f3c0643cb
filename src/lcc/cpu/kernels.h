/* SPDX-License-Identifier: MIT */
/* The inner loops of the direct algorithm on the CPU, one table per instruction
 * set. tm_cpu_kernels_init assigns plain C first and lets each instruction set
 * that the processor has and the mask allows overwrite it. */
#ifndef TMATCH_LCC_CPU_KERNELS_H
#define TMATCH_LCC_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* A panel is a part of the template of at most this many taps, so that its
 * S_FT, at most 65025 a tap, fits in 32 bits. */
#define TM_PANEL_TAPS 65536

/* Outputs that a kernel makes at a time; rows are padded to a multiple. */
#define TM_KERNEL_WIDTH 32

/* sft[x] = sum over the panel of frame[v*stride + x + u] * panel[v*w + u], for
 * 0 <= x < width, where width is a multiple of TM_KERNEL_WIDTH, w*h <=
 * TM_PANEL_TAPS, and width + w - 1 samples of each frame row are readable. */
typedef void tm_correlate_fn(uint32_t *sft, const uint8_t *frame, ptrdiff_t stride,
                             const uint8_t *panel, int w, int h, int width);

typedef struct tm_cpu_kernels {
    const char *name;
    tm_correlate_fn *correlate;
} tm_cpu_kernels;

void tm_cpu_kernels_init(tm_cpu_kernels *kernels, uint32_t features);

#endif
