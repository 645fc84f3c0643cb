/* SPDX-License-Identifier: MIT */
/* The lengths that there are kernels of. */
#ifndef TMATCH_FFT_CUDA_LENGTHS_CUH
#define TMATCH_FFT_CUDA_LENGTHS_CUH

#include "fft/cuda/transform.cuh"

/* Rows and columns differ in threads only. */
template <int R0, int R1, int R2, int R3, int ROW_THREADS, int ROWS, int ROW_BLOCKS, int COLUMN_THREADS,
          int COLUMNS, int COLUMN_BLOCKS>
struct tm_length {
    typedef tm_block<tm_passes<ROW_THREADS, R0, R1, R2, R3>, ROWS, false, ROW_BLOCKS> rows;
    typedef tm_block<tm_passes<COLUMN_THREADS, R0, R1, R2, R3>, COLUMNS, true, COLUMN_BLOCKS> columns;
};

/* Ascending: radices; threads a row, rows a block and blocks that a multiprocessor is to have (0: as many as come of it);
 * the same of columns. As measured on an H200: docs/lab/fft.md. */
#define TM_FFT_EACH_LENGTH(DO)                         \
    DO(16, 16, 1, 1, 16, 8, 0, 16, 8, 0)    /* 256 */  \
    DO(8, 8, 8, 1, 64, 2, 0, 64, 4, 3)      /* 512 */  \
    DO(12, 8, 8, 1, 64, 2, 5, 64, 4, 0)     /* 768 */  \
    DO(16, 8, 8, 1, 64, 2, 4, 64, 4, 0)     /* 1024 */ \
    DO(12, 12, 8, 1, 96, 1, 0, 96, 2, 3)    /* 1152 */ \
    DO(12, 16, 8, 1, 128, 1, 5, 128, 2, 2)  /* 1536 */ \
    DO(16, 16, 8, 1, 128, 1, 4, 128, 2, 0)  /* 2048 */ \
    DO(12, 12, 16, 1, 192, 1, 3, 192, 2, 0) /* 2304 */ \
    DO(16, 16, 16, 1, 256, 1, 2, 256, 2, 0) /* 4096 */ \
    DO(16, 8, 8, 8, 512, 1, 1, 512, 1, 1)   /* 8192 */

#endif
