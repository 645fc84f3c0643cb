/* SPDX-License-Identifier: MIT */
#include "lcc/chunks.h"

#include "integers.h"

#define CHUNK_STEP 64 /* rows; a multiple of every kernel's tile */

static int64_t rows_for(int64_t bytes, int64_t row_bytes)
{
    return (bytes / row_bytes + CHUNK_STEP) / CHUNK_STEP * CHUNK_STEP;
}

/* The first chunks are small, because nothing is computed before they are there, and
 * so are the last, because nothing is copied any more while they are computed. They
 * shrink by a third: then the kernels keep up where they are that much quicker than
 * the bus. Between two copies an H200's bus rests for 8 us, so there are to be few. */
int64_t tm_chunk_rows_end(const tm_geometry *g, int64_t map_row_bytes, int64_t chunk_bytes,
                          int64_t first)
{
    const int64_t left = g->map_height - first, row_bytes = g->frame_width + map_row_bytes;
    const int64_t most = rows_for(chunk_bytes, row_bytes);
    const int64_t least = rows_for(chunk_bytes / 16, row_bytes);

    if (!chunk_bytes || g->map_height < 4 * least || left < 2 * least)
        return g->map_height;
    const int64_t rows = smaller(first, left / 3);
    return first + clamp(rows / CHUNK_STEP * CHUNK_STEP, least, most);
}

int64_t tm_chunk_rows_needed(const tm_geometry *g, int64_t end)
{
    if (end == g->map_height)
        return g->frame_height;
    return smaller(end - 1 - g->pad_y + g->template_height, g->frame_height);
}
