/* SPDX-License-Identifier: MIT */
/* Other than 8-bit gray, as 8-bit planes. Every sum of a window is a weighted sum
 * of correlations of a byte plane of the frame with a byte plane of the template,
 * exact integers each; sums over all pixels of a window need none, they slide.
 *
 *     S_FT    = sum of 256^(i+j) * corr(F[c] byte i, T[c] byte j)
 *     S_F[c]  = sum of 256^i * corr(F[c] byte i, M)       with a mask M of 0 and 1
 *     S_FF    = sum of 256^i * corr(Q byte i, M)          Q = sum of F[c]^2
 *     touched = corr(Z, M)         Z = 1 where the frame is masked out: skipped if > 0 */
#ifndef TMATCH_LCC_PLANES_H
#define TMATCH_LCC_PLANES_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TM_SUM_FT,
    TM_SUM_FF,
    TM_SUM_TOUCHED,
    TM_SUM_F, /* of channel 0; the others follow */
    TM_SUMS = TM_SUM_F + TM_MAX_CHANNELS,
};

enum {
    TM_SAMPLE_PLANES = 2 * TM_MAX_CHANNELS,
    TM_SQUARE_PLANES = 5, /* TM_MAX_CHANNELS * 65535^2 < 2^40 */
    TM_FRAME_PLANES = TM_SAMPLE_PLANES + TM_SQUARE_PLANES + 1,
    TM_MAX_PRODUCTS = 4 * TM_MAX_CHANNELS + TM_SAMPLE_PLANES + TM_SQUARE_PLANES + 1,
};

/* sums[sum] += corr(frame plane, taps) << shift */
typedef struct tm_plane_product {
    int plane;
    const tm_template *taps;
    int sum, shift;
} tm_plane_product;

/* The planes that a job's pictures are taken apart into, and the products that its sums are made
 * of. */
typedef struct tm_plane_products {
    int channels, bytes;
    int squares;      /* planes of Q that are needed */
    bool z;           /* whether there is a Z; without a mask no term takes it */
    int planes;       /* of the frame: samples, then squares, then Z */
    int count;
    tm_plane_product product[TM_MAX_PRODUCTS];
    bool needed[TM_SUMS];  /* by the metric */
    bool sliding[TM_SUMS]; /* of the needed ones: no terms, tm_window_sums makes them */
} tm_plane_products;

/* mask is the plane of the template's mask, or NULL; or one in which all pixels count, so that
 * window sums are made of products too. */
void tm_plane_products_make(tm_plane_products *products, const tm_job *job,
                            const tm_template *mask);

/* Returns the plane of the template's mask, or NULL. */
const tm_template *tm_mask_plane(const tm_template *tmpl);

/* How many jobs can share what their mask makes. */
enum { TM_SHARED_MASK = 16 };

/* Whether two jobs of one frame and metric, which want neither maps nor peaks, have templates of one kind
 * with the same mask. */
bool tm_jobs_share_mask(const tm_job *a, const tm_job *b);

/* Writes count bytes of a frame's plane from (x, y) on. */
void tm_plane_row(const tm_plane_products *products, const tm_image *frame, int plane, int64_t x,
                  int64_t y, int64_t count, uint8_t *to);

/* Sums over whole windows, row of windows by row. */
typedef struct tm_window_sums {
    const tm_job *job;
    const tm_plane_products *products;
    int64_t x, y;    /* of the first window of the next row, in the map */
    int64_t columns; /* of the frame that the windows cover */
    int64_t *column[TM_SUMS]; /* sums of columns; NULL where not sliding */
    int64_t *sums[TM_SUMS];   /* of the windows */
} tm_window_sums;

/* int64 elements that sliding over count windows takes. */
int64_t tm_window_sums_size(const tm_plane_products *products, const tm_job *job, int64_t count);
void tm_window_sums_start(tm_window_sums *slide, const tm_plane_products *products,
                          const tm_job *job, int64_t *memory, int64_t x, int64_t y, int64_t count);
/* Makes the sums of one row of windows and moves on to the next. */
void tm_window_sums_row(tm_window_sums *slide, int64_t count);

/* Scores and ranks count windows of row y from x on. sums[i] has the needed sums. */
void tm_rank_row(const tm_job *job, const tm_scorer *scorer, const tm_plane_products *products,
                 const int64_t *const sums[TM_SUMS], int64_t x, int64_t y, int64_t count,
                 tm_candidate *best);

#ifdef __cplusplus
}
#endif

#endif
