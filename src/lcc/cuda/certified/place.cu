/* SPDX-License-Identifier: MIT */
/* Certified search: which cell windows a map has, and where in its memory a launch has what. */
#include "integers.h"
#include "lcc/cuda/certified/certified.cuh"
#include "lcc/cuda/tensor/limits.h"

enum { STATE = sizeof(tm_certified_learned) };
static_assert(STATE % 256 == 0, "what follows lies as memory of its own would");

void tm_certified_cover(tm_certified_job *j)
{
    const int size = j->level.cells.size;
    j->cells_across = (int)ceil_div(j->map_width - 1, size) + 1;
    j->cells_down = (int)ceil_div(j->map_height - 1, size) + 1;
    j->tile_height = size > TM_CERTIFIED_SMALL ? TM_CERTIFIED_BIG_TILE_HEIGHT : TM_CERTIFIED_TILE_HEIGHT;
    j->tiles_x = (int)ceil_div(j->cells_across, TM_CERTIFIED_TILE_WIDTH);
    j->pitch_bounds = j->tiles_x * TM_CERTIFIED_TILE_WIDTH;
    j->pitch_cells = j->pitch_bounds + 16;
    j->tiles_down = tm_certified_sweeps(j) ? 0 : (int)ceil_div(j->map_height, TM_MMA_TILE_HEIGHT);
    /* a window of the list takes about as long as two hundred of the exhaustive kernels */
    j->most_listed = (uint32_t)larger(j->map_width * j->map_height / (200 * size * size), 512);
    if (tm_certified_sweeps(j)) /* or, in groups, some twelve */
        j->most_listed = (uint32_t)larger((int64_t)j->cells_across * j->cells_down / 12, 512);
}

static size_t bounds_bytes(const tm_certified_job *j)
{
    return (size_t)(round_up(j->cells_down, TM_CERTIFIED_TILE_HEIGHT) * j->pitch_bounds);
}

int tm_certified_tiles(const tm_certified_job *j)
{
    return j->tiles_x * (int)ceil_div(j->cells_down, j->tile_height);
}

/* The tensor cores' tiles, and words for their parts. */
static int64_t tiles_of_tensor(const tm_certified_job *j)
{
    return ceil_div(j->map_width, TM_MMA_TILE_WIDTH) * j->tiles_down;
}

size_t tm_certified_cleared(const tm_certified_job *j)
{
    return STATE + (size_t)round_up(ceil_div(tiles_of_tensor(j), 8) * 4, 256);
}

static int64_t cells_of(const tm_certified_job *j)
{
    return j->level.cells.size == TM_CELLS_SMALLEST ? 0 : (j->cells_down + j->level.cells.down - 1) * j->pitch_cells;
}

/* Templates of one size share the memory. */
static size_t factors_of(const tm_certified_job *j)
{
    return j->level.cells.size > TM_CELLS_SMALLEST ? bounds_bytes(j) : 0;
}

size_t tm_certified_bytes(const tm_certified_job *j)
{
    return tm_certified_cleared(j) + bounds_bytes(j) + (size_t)cells_of(j) * sizeof *j->cells + factors_of(j) * sizeof *j->factors +
           ((tm_certified_sweeps(j) ? 0 : j->most_listed) + TM_CERTIFIED_PARTS * (size_t)tm_certified_tiles(j) +
            (size_t)tiles_of_tensor(j)) * sizeof *j->list;
}

void tm_certified_place(tm_certified_job *j, void *memory)
{
    j->state = (tm_certified_state *)memory;
    j->climbed = ((tm_certified_learned *)memory)->climbed;
    j->bounds = (uint8_t *)memory + tm_certified_cleared(j);
    uint16_t *const cells = (uint16_t *)(j->bounds + bounds_bytes(j)); /* whole rows of 32 bytes */
    float *const factors = (float *)(cells + cells_of(j));
    j->cells = cells_of(j) ? cells : NULL;
    j->factors = j->level.ratio != 0 ? factors : NULL;
    j->part_tops = (uint32_t *)(factors + factors_of(j));
    j->tiles.tiles = j->part_tops + TM_CERTIFIED_PARTS * tm_certified_tiles(j);
    j->list = tm_certified_sweeps(j) ? NULL : j->tiles.tiles + tiles_of_tensor(j);
    j->tiles.parts = (uint32_t *)((uint8_t *)memory + STATE);
    j->tiles.count = &j->state->tiled;
    j->tiles.others = &j->state->listed;
    j->tiles.best = &j->state->best;
    j->tiles.most_others = j->most_listed;
}
