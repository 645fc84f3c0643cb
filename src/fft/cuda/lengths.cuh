/* SPDX-License-Identifier: MIT */
/* The lengths that there are kernels of. */
#ifndef TMATCH_FFT_CUDA_LENGTHS_CUH
#define TMATCH_FFT_CUDA_LENGTHS_CUH

#include "fft/cuda/transform.cuh"

/* Rows and columns differ in threads only. */
template <int R0, int R1, int R2, int R3, int ROW_THREADS, int ROWS, int COLUMN_THREADS,
          int COLUMNS>
struct tm_length {
    typedef tm_block<tm_passes<ROW_THREADS, R0, R1, R2, R3>, ROWS, false> rows;
    typedef tm_block<tm_passes<COLUMN_THREADS, R0, R1, R2, R3>, COLUMNS, true> columns;
};

/* Ascending: radices; threads a row and rows a block; threads a column and columns a block. */
#define TM_FFT_EACH_LENGTH(DO)                   \
    DO(16, 16, 1, 1, 16, 8, 16, 8)    /* 256 */  \
    DO(8, 8, 8, 1, 64, 2, 64, 4)      /* 512 */  \
    DO(12, 8, 8, 1, 64, 2, 64, 4)     /* 768 */  \
    DO(16, 8, 8, 1, 64, 2, 64, 4)     /* 1024 */ \
    DO(12, 12, 8, 1, 96, 2, 96, 2)    /* 1152 */ \
    DO(12, 16, 8, 1, 96, 2, 96, 4)    /* 1536 */ \
    DO(16, 16, 8, 1, 128, 1, 128, 2)  /* 2048 */ \
    DO(12, 12, 16, 1, 192, 1, 192, 2) /* 2304 */ \
    DO(16, 16, 16, 1, 256, 1, 256, 2) /* 4096 */ \
    DO(16, 8, 8, 8, 256, 1, 256, 1)   /* 8192 */

#endif
