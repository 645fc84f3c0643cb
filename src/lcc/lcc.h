/* SPDX-License-Identifier: MIT */
/* The definition: geometry of a match, the prepared template, and the job that
 * every algorithm on every device takes. */
#ifndef TMATCH_LCC_LCC_H
#define TMATCH_LCC_LCC_H

#include <stdbool.h>
#include <stdint.h>

#include "lcc/levels.h"
#include "lcc/meeting.h"
#include "lcc/metrics.h"
#include "lcc/peaks.h"
#include "lcc/samples.h"
#include "tmatch/tmatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Map element (x, y) is the window whose top-left corner is
 * (x - pad_x, y - pad_y) in the frame; outside the frame samples are 0. */
typedef struct tm_geometry {
    int64_t frame_width, frame_height;
    int64_t template_width, template_height;
    int64_t pad_x, pad_y;
    int64_t map_width, map_height;
} tm_geometry;

/* Errors: INVALID (a size outside [1, 2^31), no such domain), FRAME_TOO_SMALL. */
tm_status tm_geometry_init(tm_geometry *geometry, tm_domain domain, int64_t frame_width,
                           int64_t frame_height, int64_t template_width,
                           int64_t template_height);

static inline int tm_image_channels(const tm_image *image)
{
    return image->channels ? image->channels : 1;
}

/* Bytes of a row's samples, without what lies between rows. */
static inline int64_t tm_image_row_bytes(const tm_image *image)
{
    return image->width * tm_image_channels(image) * tm_sample_size(image->type);
}

/* Whether a picture is 8-bit gray without a mask, which kernels take as it is. All others are split
 * into such planes. */
static inline bool tm_image_is_plain(const tm_image *image)
{
    return image->type == TM_SAMPLE_U8 && tm_image_channels(image) == 1 && !image->mask;
}

/* The template's samples, packed, and its sums over the pixels that count. */
struct tm_template {
    int64_t width, height;
    int64_t n;        /* width * height */
    int64_t sum;      /* S_T, of channel 0 */
    int64_t sum_sq;   /* S_TT */
    int64_t variance; /* var_T = n*S_TT - S_T^2 of 8-bit gray */
    uint64_t hash;    /* of the size and samples; finds what a device cached */
    uint8_t *samples;

    tm_sample_type type;
    int channels;
    int64_t count; /* pixels that count */
    int64_t channel_sums[TM_MAX_CHANNELS];
    bool flat;     /* every channel is constant */
    uint8_t *mask; /* 1 where pixels count, 0 elsewhere; NULL: all do */

    /* 8-bit planes of other than 8-bit gray, with 0 where pixels don't count: the
     * channels' low bytes, for 16 bits each followed by the high bytes; then the
     * mask, if there is one. */
    tm_template **planes;
    int plane_count;

    /* 16-bit gray without a mask that is not flat, rounded to 8 bits, and at least the sine of the angle between both,
     * less their means; else NULL. See lcc/rounded.h. */
    tm_template *rounded;
    double rounded_sine;

    struct tm_f32_samples *f32; /* of floats, which have no sums above, and no planes */

    tm_levels levels; /* of 8-bit gray without a mask */
};

/* Copies and sums a valid image of at most TM_MAX_TEMPLATE_PIXELS. Errors: MEMORY. */
tm_status tm_template_prepare(tm_template **tmpl, const tm_image *image);

/* The same without levels, for what is made of a template and multiplied with frames. */
tm_status tm_template_prepare_plane(tm_template **tmpl, const tm_image *image);

/* Makes what a metric needs of this template. */
tm_scorer tm_scorer_make(const tm_template *tmpl, tm_metric metric);

bool tm_template_equal(const tm_template *a, const tm_template *b);

/* How FFT cuts a map into tiles: fft/tiling.h. */
typedef struct tm_fft_tiling {
    int length_x, length_y;   /* of the transforms */
    int step_x, step_y;       /* windows of a tile */
    int64_t range_x, range_y; /* windows in real parts */
    int64_t shift_x, shift_y; /* from those to the windows in imaginary parts */
    int64_t across, down;     /* tiles */
    double ms;                /* estimate for one of the workers, all busy */
    bool by_cufft;            /* CUDA: the transforms are cuFFT's, not our own */
} tm_fft_tiling;

/* A frame in a CUDA device's memory: what tm_image does not say. */
typedef struct tm_on_device {
    int device;
    void *stream;           /* the caller's cudaStream_t */
    const uint8_t *samples; /* the whole frame's first; a slice's rows are counted from there */
    ptrdiff_t pixel_stride, channel_stride; /* bytes */
    bool async;     /* nobody waits: everything written is the device's, and jobs have no best */
    tm_peak *bests; /* where async: device memory for each job's best match, or NULL */
} tm_on_device;

/* One match to compute. The algorithm writes best, where map.data is not NULL the
 * map, and where peaks is not NULL puts the peaks of the map's rows
 * [first_row, last_row) into it: a slice of a frame has a row more at either cut,
 * for its neighbours' sake. */
typedef struct tm_job {
    tm_geometry geometry;
    tm_metric metric;
    tm_image frame;
    const tm_on_device *on_device; /* where the frame is in a device's memory; NULL: the host's */
    bool map_on_device;            /* and the map too */
    bool map_staged;               /* CUDA: the map comes back through memory of its own; set while it is matched */
    const tm_template *tmpl;
    const tm_fft_tiling *tiling; /* by FFT; NULL: directly */
    tm_map map;
    tm_candidate best;
    tm_peak_list *peaks;
    int64_t first_row, last_row;
    bool certified; /* directly: windows may be left out that a bound proves not to matter; what
                       is found stays the same */
    const struct tm_cutter *cutter; /* CUDA: where certified, sets the peaks' cut; NULL: they stay as they are */
    tm_seat *seat;             /* CUDA: where certified, with other devices that search the same map; NULL: alone */
    const tm_candidate *known; /* where certified: what a window scores, here or elsewhere; those that
                                  score less need not be found. NULL: nothing is known */
    double other_ms; /* where certified: an estimate of the quickest other way, on CUDA of the direct one; 0: not known */
    bool declined;  /* where certified, written: the CPU found that to leave windows out does not pay,
                       and has not matched */
    int64_t scored; /* where certified, written: how many windows were scored exactly */
} tm_job;

/* Chooses from which score on a search has to find peaks, where that is not known before some peaks of the
 * map are. */
typedef struct tm_cutter {
    /* peaks: some of the job's map, in any order, some of them twice. INT64_MIN: they do not tell. Several
     * threads may call it at once. */
    int64_t (*choose)(const struct tm_cutter *cutter, const tm_job *job, const tm_candidate *peaks,
                      size_t count);
} tm_cutter;

/* Matches by the definition, one window after the other, in int64. Errors: MEMORY. */
tm_status tm_reference_match(tm_job *job);

/* The definition's value for one position of the map, which it is stored in too;
 * TM_NO_CANDIDATE where the position is skipped. */
tm_candidate tm_reference_window(const tm_job *job, int64_t x, int64_t y);

#ifdef __cplusplus
}
#endif

/* Whether the direct kernels and FFT take the job as it is; others are taken
 * apart: planes.h. */
static inline bool tm_job_is_plain(const tm_job *job)
{
    return !job->tmpl->planes && !job->tmpl->f32 && tm_image_is_plain(&job->frame) &&
           (job->metric == TM_METRIC_LCC || job->metric == TM_METRIC_CCORR);
}

static inline bool tm_job_is_f32(const tm_job *job)
{
    return job->tmpl->f32 != NULL;
}

/* How many windows of the job were scored exactly: all of them, unless it was certified. */
static inline int64_t tm_job_scored(const tm_job *job)
{
    return job->certified ? job->scored : job->geometry.map_width * job->geometry.map_height;
}

/* Whether scores are integers: those of float pictures never are. */
static inline bool tm_job_is_integer(const tm_job *job)
{
    return tm_is_integer(job->metric) && !tm_job_is_f32(job);
}

/* How many bytes an element of the job's map has. */
static inline size_t tm_job_element(const tm_job *job)
{
    return tm_job_is_integer(job) ? sizeof(int64_t) : sizeof(float);
}

/* The score that a rank stands for, as a double. */
static inline double tm_job_score(const tm_job *job, int64_t rank)
{
    const int64_t value = tm_is_distance(job->metric) ? -rank : rank;
    return tm_job_is_integer(job) ? (double)value : (double)tm_score_of_order((int32_t)value);
}

/* Stores a value in the map, if there is one. */
static inline void tm_job_store(const tm_job *job, int64_t x, int64_t y, const tm_value *value)
{
    if (!job->map.data)
        return;
    char *row = (char *)job->map.data + y * job->map.stride;
    if (tm_job_is_integer(job))
        ((int64_t *)row)[x] = value->integer;
    else
        ((float *)row)[x] = value->score;
}

/* Scores a window of a plain job by its sums, stores the value in the map and ranks it. */
static inline tm_candidate tm_job_emit(const tm_job *job, int64_t x, int64_t y, int64_t s_f,
                                       int64_t s_ff, int64_t s_ft)
{
    const tm_template *t = job->tmpl;
    char *row = job->map.data ? (char *)job->map.data + y * job->map.stride : NULL;
    tm_candidate candidate = {s_ft, y * job->geometry.map_width + x};

    if (job->metric == TM_METRIC_CCORR) {
        if (row)
            ((int64_t *)row)[x] = s_ft;
        return candidate;
    }
    float score = tm_lcc_score(t->n * s_ft - s_f * t->sum, t->n * s_ff - s_f * s_f,
                               (float)t->variance);
    if (row)
        ((float *)row)[x] = score;
    candidate.value = tm_score_order(score);
    return candidate;
}

#endif
