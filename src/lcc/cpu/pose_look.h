/* SPDX-License-Identifier: MIT */
/* A single window looked at by the pixels of a class's core, where its cells, or a part of the basis, could not rule
 * it out. */
#ifndef TMATCH_LCC_CPU_POSE_LOOK_H
#define TMATCH_LCC_CPU_POSE_LOOK_H

#include "lcc/cpu/family.h"
#include "lcc/cpu/pose_scores.h"

/* A class's basis as taps, padded as a member's are: core's taps and counts. */
typedef struct tm_pose_look {
    tm_pose_member core;
    int8_t *taps;
} tm_pose_look;

/* For a class that has its family. Errors: MEMORY. To be closed with tm_pose_look_close. */
tm_status tm_pose_look_open(tm_pose_look *look, const tm_pose_class *c);
void tm_pose_look_close(tm_pose_look *look);

/* Whether to look at a window costs less than to score the members that passed in it. */
bool tm_pose_look_pays(const tm_pose_class *c, const tm_family_window *window);

/* Makes the coordinates of a window of the core, and what is left besides, for the run's class. False if memory ran
 * out. */
bool tm_pose_look_at(const tm_pose_look *look, const tm_pose_run *run, int thread, const tm_family_window *window,
                     float coordinates[TM_FAMILY_BASIS + 1]);

/* Lists those of the run's class whose scores on the core there may reach least, from the window's member *next on: in a
 * range of so many. *next becomes the first behind it. */
enum { TM_POSE_LOOKED = 64 };
int tm_pose_look_list(const tm_pose_run *run, const float *coordinates, float least, const tm_family_window *window, int *next,
                      int32_t members[TM_POSE_LOOKED]);

#endif
