/* SPDX-License-Identifier: MIT */
/* A single window looked at by the pixels of a class's core, where its cells could not rule it out. */
#ifndef TMATCH_LCC_CPU_POSE_LOOK_H
#define TMATCH_LCC_CPU_POSE_LOOK_H

#include "lcc/cpu/pose_scores.h"

/* A class's basis as taps, padded as a member's are: core's taps and counts. */
typedef struct tm_pose_look {
    tm_pose_member core;
    int8_t *taps;
} tm_pose_look;

/* For a class that has its family. Errors: MEMORY. To be closed with tm_pose_look_close. */
tm_status tm_pose_look_open(tm_pose_look *look, const tm_pose_class *c);
void tm_pose_look_close(tm_pose_look *look);

/* Whether to look costs less than to score so many members. */
bool tm_pose_look_pays(const tm_pose_class *c, int count);

/* Makes the coordinates of the window of the core at (x, y) of the frame, and what is left besides, for the run's
 * class. False if memory ran out. */
bool tm_pose_look_at(const tm_pose_look *look, const tm_pose_run *run, int thread, int64_t x, int64_t y,
                     float coordinates[TM_FAMILY_BASIS + 1]);

/* The member's score on the core there is at most that. */
float tm_pose_look_bound(const tm_family *family, const float *coordinates, int member);

#endif
