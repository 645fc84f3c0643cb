/* SPDX-License-Identifier: MIT */
/* How a device takes jobs of one frame: which jobs share a launch, which share a copy of the
 * frame, and which of its rows are copied and matched at a time. The device does so, and
 * estimates count on it. */
#ifndef TMATCH_CUDA_SCHEDULE_H
#define TMATCH_CUDA_SCHEDULE_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TM_GROUP_MAX 64 /* templates in one launch */

/* How many jobs from the first on share a launch: neighbours of 8-bit gray and of one size that
 * are matched directly, without maps or peaks, all certified or none; or under one mask, by LCC; else one. */
size_t tm_group_size(const tm_job *jobs, size_t count);

/* Kernels read whole tiles. A padded frame or plane has readable zeros for this many
 * columns and rows past the last window. */
#define TM_SLACK_COLUMNS 1024
#define TM_SLACK_ROWS 256

/* A zero-extended copy of a frame, and where the frame lies in it. */
typedef struct tm_layout {
    int64_t frame_width, frame_height, pad_x, pad_y, rows;
    size_t pitch;
} tm_layout;

tm_layout tm_layout_of(const tm_geometry *geometry);
bool tm_layout_equal(const tm_layout *a, const tm_layout *b);

/* Which copy of a frame a device has. 8-bit gray is copied into a layout, which templates may
 * share; every other format is copied as it is, the rows of one slice. */
typedef struct tm_frame_copy {
    bool is_plain;          /* 8-bit gray */
    tm_layout layout;       /* 8-bit gray */
    const uint8_t *samples; /* other formats: the slice's first sample on the host, */
    int64_t height;         /* and its rows: templates of other heights have other slices */
} tm_frame_copy;

tm_frame_copy tm_frame_copy_of(const tm_job *job);
bool tm_frame_copy_equal(const tm_frame_copy *a, const tm_frame_copy *b);

/* Whether a device that runs the jobs one after the other has the copy of the frame that
 * jobs[index] takes, because a job before brought it. */
bool tm_frame_is_there(const tm_job *jobs, size_t index);

/* What a window's products take on an H200, and a byte on the bus, roughly. A wrong number
 * makes a match slower, never different. */
double tm_products_ms(const tm_job *job);
#define TM_BYTE_MS 2e-8

/* What a row of the job's map takes: tm_backend's row_ms. */
double tm_row_ms(const tm_job *job, bool with_frame);

/* Rows of a large frame are copied in, matched and copied back in chunks, so that the
 * copies of some overlap the kernels of others. */
typedef struct tm_chunks {
    const tm_geometry *geometry;
    int64_t frame_row_bytes; /* with the mask; 0: the frame is in device memory */
    int64_t map_row_bytes;   /* of a map that is copied back to the host, or 0 */
    int64_t bytes;           /* that a chunk copies at most, if it waits; 0: all is one chunk */
    bool waits;              /* kernels are quicker than copies */
    int64_t tile_rows;       /* by FFT: rows of a tile, of which a chunk has whole ones; else 0 */
} tm_chunks;

/* The chunks of a job, whose map is copied back or not. By FFT, these are rows of tiles; where imaginary parts lie
 * below real ones, which are made together, all is one chunk. So is all where nothing crosses the bus. */
tm_chunks tm_chunks_make(const tm_job *job, bool back, int64_t bytes);

/* The end of the chunk that begins at the map's row first; and the number of chunks. */
int64_t tm_chunks_end(const tm_chunks *chunks, int64_t first);
int64_t tm_chunks_count(const tm_chunks *chunks);

/* How many rows of the frame, from its first on, the map's rows [0, end) take. */
int64_t tm_chunks_needed(const tm_chunks *chunks, int64_t end);

#ifdef __cplusplus
}
#endif

#endif
