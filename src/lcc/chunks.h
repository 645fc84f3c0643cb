/* SPDX-License-Identifier: MIT */
/* Rows of a large frame go to a device, through its kernels and back in chunks, so
 * that the copies of some overlap the kernels of others. The device goes by it and
 * the plan weighs it. */
#ifndef TMATCH_LCC_CHUNKS_H
#define TMATCH_LCC_CHUNKS_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The end of the map's rows that are made at a time from first on. map_row_bytes: of
 * a map that is copied back, or 0; chunk_bytes: that a chunk copies at most, or 0 for
 * one chunk. */
int64_t tm_chunk_rows_end(const tm_geometry *geometry, int64_t map_row_bytes, int64_t chunk_bytes,
                          int64_t first);

/* The rows of the frame, from its first on, that the map's rows below end take. */
int64_t tm_chunk_rows_needed(const tm_geometry *geometry, int64_t end);

#ifdef __cplusplus
}
#endif

#endif
