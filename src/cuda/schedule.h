/* SPDX-License-Identifier: MIT */
/* How a device takes jobs of one frame: neighbours in one launch, the frame's rows in
 * chunks, and once for all jobs that have the same place for it. The device goes by it
 * and the plan weighs it. */
#ifndef TMATCH_CUDA_SCHEDULE_H
#define TMATCH_CUDA_SCHEDULE_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TM_GROUP_MAX 64 /* templates in one launch */

/* How many jobs from the first on share a launch: plain neighbours of one size, without
 * maps or peaks; or one by FFT, with its map, or that is taken apart. */
size_t tm_group_size(const tm_job *jobs, size_t count);

/* Kernels read whole tiles. A padded frame or plane has readable zeros for this many
 * columns and rows past the last window. */
#define TM_SLACK_COLUMNS 1024
#define TM_SLACK_ROWS 256

/* Where the frame lies in its zero-extended device copy. */
typedef struct tm_layout {
    int64_t frame_width, frame_height, pad_x, pad_y, rows;
    size_t pitch;
} tm_layout;

tm_layout tm_layout_of(const tm_geometry *geometry);
bool tm_layout_equal(const tm_layout *a, const tm_layout *b);

/* Where a device has a frame. 8-bit gray lies in a zero-extended copy, which windows of one
 * layout share; every other format lies there as it came, the rows of one slice. */
typedef struct tm_frame_place {
    bool is_plain;          /* 8-bit gray */
    tm_layout layout;       /* of its copy */
    const uint8_t *samples; /* other formats: the slice's first sample on the host, */
    int64_t height;         /* and its rows: templates of other heights have other slices */
} tm_frame_place;

tm_frame_place tm_frame_place_of(const tm_job *job);
bool tm_frame_place_equal(const tm_frame_place *a, const tm_frame_place *b);

/* Whether a device that runs the jobs one after the other has the frame of jobs[index] where
 * that job wants it, because a job before brought it there. */
bool tm_frame_is_there(const tm_job *jobs, size_t index);

/* What a window's products, and a byte on the bus, take on an H200, roughly: a wrong
 * number makes a match slower, never different. */
double tm_products_ms(const tm_job *job);
#define TM_BYTE_MS 2e-8

/* What a row of the job's map takes: tm_backend's row_ms. */
double tm_row_ms(const tm_job *job, bool with_frame);

/* Rows of a large frame are copied in, matched and copied back in chunks, so that the
 * copies of some overlap the kernels of others. */
typedef struct tm_chunks {
    const tm_geometry *geometry;
    int64_t frame_row_bytes; /* with the mask */
    int64_t map_row_bytes;   /* of a map that is copied back, or 0 */
    int64_t bytes;           /* that a chunk copies at most, if it waits; 0: all is one chunk */
    bool waits;              /* kernels are quicker than copies */
} tm_chunks;

/* Those of a job, whose map is copied back or not. The FFT's tiles are the whole map's:
 * all is one chunk then. */
tm_chunks tm_chunks_make(const tm_job *job, bool back, int64_t bytes);

/* The end of the map's rows that are made at a time from first on. */
int64_t tm_chunks_end(const tm_chunks *chunks, int64_t first);
int64_t tm_chunks_count(const tm_chunks *chunks);

/* The rows of the frame, from its first on, that the map's rows below end take. */
int64_t tm_chunks_needed(const tm_chunks *chunks, int64_t end);

#ifdef __cplusplus
}
#endif

#endif
