/* SPDX-License-Identifier: MIT */
/* Search for a class of poses by sums over cells. */
#ifndef TMATCH_LCC_CPU_POSE_CELLS_H
#define TMATCH_LCC_CPU_POSE_CELLS_H

#include "lcc/cell_frame.h"
#include "lcc/cpu/family.h"
#include "lcc/pose_families.h"

/* A frame's frames of cells, made when they are first needed and kept for other classes. Zero-initialise. */
enum { TM_CELL_SIDES = 17 };
typedef struct tm_cell_frames {
    struct {
        int places;
        tm_cell_frame *frames; /* (side / places)^2 */
    } of_side[TM_CELL_SIDES];
} tm_cell_frames;
void tm_cell_frames_free(tm_cell_frames *frames);

/* Room for the frames of cells of this size, (side / places)^2, whose cells are to be written; NULL: memory ran out. *there:
 * they are there already. */
tm_cell_frame *tm_cell_frames_room(tm_cell_frames *frames, const tm_image *frame, int side, int places, bool *there);

/* The frames of cells of this size; NULL: memory ran out. */
const tm_cell_frame *tm_cell_frames_of(tm_cell_frames *frames, const tm_image *frame, int side, int places, int threads);

/* Describes the search of those windows of width x height pixels from (x, y) of the frame on, of which this frame's cells
 * have some, by a family of its cells. */
void tm_cell_frame_search(tm_family_search *search, tm_image images[2], const tm_cell_frame *cells, int side,
                          const tm_family_search *windows);

/* Searches windows of the class's family, which are described as if they were for tm_cpu_search_family,
 * by its cells: least says what the cells' score must reach, and visit gets windows of the pixels, without
 * sums and samples. frames: of the windows' frame. Errors: MEMORY. */
tm_status tm_pose_search_cells(tm_cpu *cpu, tm_cell_frames *frames, const tm_pose_cells *cells,
                               const tm_family_search *windows);

#endif
