/* SPDX-License-Identifier: MIT */
/* Other than 8-bit gray on a device: the frame's planes, their correlations, and
 * the sums put together. */
#ifndef TMATCH_LCC_CUDA_PARTS_CUH
#define TMATCH_LCC_CUDA_PARTS_CUH

#include "lcc/cuda/device.cuh"
#include "lcc/planes.h"

/* Rows of a frame's picture and mask as they were uploaded, packed. */
typedef struct tm_raw_frame {
    const uint8_t *samples, *mask;
    int64_t width, height;
    int channels, bytes;
} tm_raw_frame;

/* The padded planes, one after the other. */
typedef struct tm_device_planes {
    uint8_t *data;
    size_t pitch;
    int64_t rows, pad_x, pad_y;
} tm_device_planes;

/* Splits the rows; around them the planes stay as they are. Where running_best is not NULL,
 * *running_best becomes that of no score. */
cudaError_t tm_split_launch(const tm_raw_frame *raw, const tm_device_planes *planes,
                            const tm_plane_products *products, int *running_best,
                            cudaStream_t stream);

/* A correlation of one plane, dense, of a band of rows. */
typedef struct tm_device_product {
    const uint32_t *narrow; /* either, */
    const int64_t *wide;    /* or */
    int shift;
} tm_device_product;

/* A band of the map: rows [y, y + rows). */
typedef struct tm_planes_score {
    tm_device_product product[TM_MAX_PRODUCTS]; /* by sum: */
    int first[TM_SUMS + 1];                     /* term of each */
    bool single;                   /* one narrow term, unshifted, is all of each sum: */
    const uint32_t *only[TM_SUMS]; /* which it is, or NULL */
    bool sliding[TM_SUMS];
    bool skips; /* there is a TM_SUM_TOUCHED */
    tm_scorer scorer;
    /* of the scorer, where num and var_F fit 64 bits */
    uint32_t n;
    int minus_s_t[TM_MAX_CHANNELS]; /* -S_T modulo 2^32 */
    tm_device_planes planes;
    int channels, bytes, z_plane;
    int width, height; /* of the template */
    int64_t map_width, y, rows;
    int64_t stride;    /* of terms' rows, in elements */
    void *map;         /* the whole one, or NULL */
    int *running_best; /* device: order of the best score so far; NULL: all are made */
    float variance;    /* (float)var_T */
    int multiprocessors;
    tm_candidate *candidates; /* tm_planes_score_blocks */
} tm_planes_score;

/* Whether sums can slide over templates of this width, in the shared memory that a
 * block may have. bytes: of a sample. */
bool tm_window_sums_fit(const tm_scorer *scorer, int bytes, bool skips, int width,
                        size_t shared_memory);

int64_t tm_planes_score_blocks(const tm_planes_score *combine);
cudaError_t tm_planes_score_launch(const tm_planes_score *combine, cudaStream_t stream);

#endif
