/* SPDX-License-Identifier: MIT */
/* Formats other than 8-bit gray on a device: a frame is split into planes of 8 bits, and the
 * products of planes with templates are put together to sums and scores. */
#ifndef TMATCH_LCC_CUDA_PLANES_CUH
#define TMATCH_LCC_CUDA_PLANES_CUH

#include "lcc/cuda/device.cuh"
#include "lcc/cuda/planes/list.cuh"
#include "lcc/planes.h"

/* Rows of a frame and its mask as they came to the device, packed. */
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

/* Whether this file's launches may be early: see early.cuh. */
bool tm_planes_can_be_early(void);

/* Splits the rows; what lies around them in the planes stays as it is. Where found is not NULL, nothing has been found yet. */
cudaError_t tm_split_launch(const tm_raw_frame *raw, const tm_device_planes *planes,
                            const tm_plane_products *products, tm_planes_found *found, bool early,
                            cudaStream_t stream);

/* The map of a product of planes, or of several that are added up, for a band. */
typedef struct tm_device_product {
    const uint32_t *map32; /* either this, */
    const int64_t *map64;  /* or this */
    int shift;             /* by which it counts in its sum */
} tm_device_product;

/* A band of the map: rows [y, y + rows). */
typedef struct tm_planes_score {
    tm_device_product product[TM_MAX_PRODUCTS]; /* in the order of sums */
    int first[TM_SUMS + 1];                     /* product of each sum */
    int maps;                                   /* of all sums */
    bool single;                   /* every sum is at most one product of 32 bits, unshifted: */
    const uint32_t *only[TM_SUMS]; /* its map, or NULL */
    bool sliding[TM_SUMS];
    bool skips; /* there is a TM_SUM_TOUCHED: windows may be skipped */
    tm_scorer scorer;
    uint32_t n; /* this and minus_s_t: the scorer's, where num and var_F fit 64 bits */
    int minus_s_t[TM_MAX_CHANNELS]; /* -S_T modulo 2^32 */
    tm_device_planes planes;
    int channels, bytes, z_plane;
    int width, height; /* of the template */
    int64_t map_width, y, rows;
    int64_t stride;    /* elements between rows of a product's map */
    void *map;         /* the whole one, or NULL */
    int *running_best; /* device: order of the best score so far; NULL: all are made */
    float variance;    /* (float)var_T */
    int multiprocessors;
    bool early;        /* see early.cuh */
    tm_candidate *candidates; /* tm_planes_score_blocks */
    tm_planes_list list;
} tm_planes_score;

/* Whether window_sums.cu takes templates of this width, with the shared memory that a block may
 * have. bytes: of a sample. */
bool tm_window_sums_fit(const tm_scorer *scorer, int bytes, bool skips, int width,
                        size_t shared_memory);

/* How many blocks write their best candidate in the launch: none where it lists windows. */
int64_t tm_planes_score_blocks(const tm_planes_score *band);
cudaError_t tm_planes_score_launch(const tm_planes_score *band, cudaStream_t stream);

/* Whether windows of 16-bit gray of such a band can be listed. */
bool tm_planes_can_list(const tm_planes_score *band);

/* Blocks of tm_listed_launch. */
enum { TM_LISTED_AT_ONCE = 2 }; // on a multiprocessor

static inline int tm_listed_blocks(int multiprocessors)
{
    return TM_LISTED_AT_ONCE * multiprocessors;
}

/* Scores those of the listed windows that may be the best with the template itself, whose low and high bytes are low and
 * high, packed, and sets *best; nothing is listed then. The band has that template's scorer, and candidates for
 * tm_listed_blocks(multiprocessors). Its plane is the frame itself where it is as it came: pixels. Where windows are missing,
 * or too many are left, the best is TM_TOO_MANY_LEFT. */
cudaError_t tm_listed_launch(const tm_planes_score *band, bool pixels, const uint8_t *low, const uint8_t *high,
                             tm_candidate *best, cudaStream_t stream);

/* The same of samples of 8 bits in planes, with a template as its pixels are, of at most 65793 samples, and its mask or NULL. */
cudaError_t tm_listed_8_launch(const tm_planes_score *band, const uint8_t *samples, const uint8_t *mask, tm_candidate *best, cudaStream_t stream);

#endif
