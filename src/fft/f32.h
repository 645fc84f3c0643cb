/* SPDX-License-Identifier: MIT */
/* Which planes of a float frame are transformed, with which taps they are correlated, and which
 * sums are window sums, made without transforms. */
#ifndef TMATCH_FFT_F32_H
#define TMATCH_FFT_F32_H

#include "lcc/f32_rule.h"
#include "fft/tiling.h"
#include "lcc/f32.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Windows of a row whose samples are staged together when they are done again. */
#define TM_FFT_STAGED 128

/* A value of the frame at each of its pixels; 'of all channels' are sums. */
typedef enum tm_fft_source {
    TM_FFT_SAMPLES,     /* F', of a channel */
    TM_FFT_MAGNITUDES,  /* |F|, of a channel */
    TM_FFT_SQUARES,     /* F'^2, of all channels */
    TM_FFT_RAW_SQUARES, /* F^2, of all channels */
    TM_FFT_LEFT_OUT,    /* 1 where the frame's mask is 0 */
} tm_fft_source;

typedef struct tm_fft_plane {
    tm_fft_source source;
    int channel;
} tm_fft_plane;

/* Sums of windows. */
enum {
    TM_F32_PRODUCTS,
    TM_F32_MAGNITUDES,
    TM_F32_SQUARES,
    TM_F32_RAW_SQUARES,
    TM_F32_TOUCHED,
    TM_F32_F, /* of channel 0; the others follow */
    TM_F32_SUMS = TM_F32_F + TM_MAX_CHANNELS,
    TM_F32_PLANES = 2 * TM_MAX_CHANNELS + 3,
    TM_F32_TERMS = 3 * TM_MAX_CHANNELS + 3,
};

/* Taps: of channel 0; the others follow. */
enum {
    TM_F32_TAPS,
    TM_F32_TAP_MAGNITUDES = TM_MAX_CHANNELS,
    TM_F32_MASK = 2 * TM_MAX_CHANNELS,
    TM_F32_ALL_TAPS
};

/* sums[sum] += correlation of planes[plane] with taps */
typedef struct tm_fft_f32_term {
    int plane, sum, taps;
} tm_fft_f32_term;

typedef struct tm_fft_f32 {
    const tm_job *job;
    int planes, terms, slides, sums; /* sums: that terms make */
    tm_fft_plane plane[TM_F32_PLANES];
    tm_fft_f32_term term[TM_F32_TERMS];
    int sum[TM_F32_SUMS]; /* that terms make, in the order of their places */
    struct {
        tm_fft_plane plane;
        int sum;
    } slide[TM_F32_SUMS];
    double taps_norm[TM_F32_SUMS];  /* of a sum's taps */
    unsigned taken;                 /* taps that terms take, a bit each */
    double pivots[TM_MAX_CHANNELS]; /* of metrics that take no mean off: the same everywhere */
    tm_f32_rule rule;           /* without a tile's errors */
} tm_fft_f32;

/* Plans how a job of floats is transformed. */
void tm_fft_f32_make(tm_fft_f32 *f32, const tm_job *job);

/* Returns one of the taps at pixel i of the template. */
double tm_fft_f32_tap(const tm_template *tmpl, tm_metric metric, int taps, int64_t i);

/* Distances over norms need the sums of F^2 besides those of F'^2. */
static inline bool tm_fft_f32_needs_raw_squares(tm_metric metric)
{
    return tm_is_distance(metric) && tm_f32_needs_s_ff(metric);
}

/* How many transforms a pair of tiles takes, there and back. */
static inline int tm_fft_f32_transforms(const tm_fft_f32 *r)
{
    return r->planes + r->sums;
}

/* How many tiles are held at once. */
static inline int tm_fft_f32_tiles(const tm_fft_f32 *r)
{
    return r->planes > r->sums ? r->planes : r->sums;
}

static inline int tm_fft_f32_spectra(const tm_fft_f32 *r)
{
    return __builtin_popcount(r->taken);
}

#ifdef __cplusplus
}
#endif

#endif
