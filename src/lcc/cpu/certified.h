/* SPDX-License-Identifier: MIT */
/* Certified search on the CPU: windows that levels.h's bound proves to score less than the best so
 * far are left out, the others scored. Peaks are those that reach the scan's floor. */
#ifndef TMATCH_LCC_CPU_CERTIFIED_H
#define TMATCH_LCC_CPU_CERTIFIED_H

#include <pthread.h>

#include "lcc/cpu/direct.h"
#include "lcc/tiles.h"

enum { TM_CERTIFIED_WIDTH = 2048, TM_CERTIFIED_TRIAL_WIDTH = 512, TM_CERTIFIED_TRIAL_ROWS = 8 };

/* A level, whether it is looked at as one of few blocks, and what that costs in nanoseconds a window. */
typedef struct tm_certified_choice {
    const tm_level *level;
    bool few;
    double look_ns;
} tm_certified_choice;

enum { TM_CERTIFIED_FINER = 4 };

/* By which level; finer ones, ascending by their cost, that may do where that leaves too little out; and what
 * it costs to score a window that passes, and to match one in the quickest other way. */
typedef struct tm_certified_plan {
    tm_certified_choice by, finer[TM_CERTIFIED_FINER];
    int finer_count;
    double pass_ns, other_ns;
    bool in_tiles; /* that way is to score all windows, which can be done tile by tile */
} tm_certified_plan;

/* Maps of so many windows are looked at in a few places first. */
#define TM_CERTIFIED_TRIAL 200000

/* One template's match, seen by all its threads. */
typedef struct tm_certified {
    const tm_cpu_kernels *kernels;
    const tm_job *job;
    tm_certified_plan plan;
    const int8_t *taps; /* T - 128, taps_stride a row, the rest 0 */
    const int8_t *ones; /* a row of 1, likewise */
    ptrdiff_t taps_stride;
    tm_level_pair *pairs; /* the level's taps */
    tm_level_part parts[TM_LEVEL_PARTS];
    int square_shift;
    pthread_mutex_t knowing;
    tm_candidate found;  /* the best that a thread told of */
    _Alignas(128) int64_t best;  /* rank of a window of the job; by atomic operations, as all below */
    int64_t looked, passed, tiles;
    int64_t scored;
    bool given_up; /* whether the search turned out not to pay: what was found does not count */
} tm_certified;

/* The bytes of taps that a search by any level of the plan needs. */
size_t tm_certified_taps_size(const tm_job *job, const tm_certified_plan *plan);
/* taps has that many bytes and stays. */
void tm_certified_make(tm_certified *certified, const tm_cpu_kernels *kernels, const tm_job *job,
                       const tm_certified_plan *plan, char *taps);

/* The pairs of blocks of a level; and whether it can be looked at as one of few blocks: their sum, and that of
 * their squares, are made anew for each window, which is quicker than to keep them. */
int tm_certified_pairs(const tm_level *level);
bool tm_certified_may_be_few(const tm_level *level);

/* Whether the level's blocks tile the whole template. */
bool tm_certified_covers_all(const tm_certified *certified);

/* The bound with all its roundings, but for where the sums are, the windows' number, and least, which
 * tm_certified_least says for windows that score so much. */
tm_level_row tm_certified_row(const tm_certified *certified);
float tm_certified_least(const tm_certified *certified, float score);

/* Takes a window of the job as found; those that rank below it are left out from then on. */
void tm_certified_know(tm_certified *certified, tm_candidate candidate);

/* Counts windows that were scored; and those of a tile that were looked at, of which so many passed. */
void tm_certified_note_scored(tm_certified *certified, int64_t windows);
void tm_certified_add_looks(tm_certified *certified, int64_t looked, int64_t passed);

/* Takes off windows that were looked at, and of which so many passed; they were scored all the same. */
void tm_certified_forget_looks(tm_certified *certified, int64_t looked, int64_t passed);

/* The share of windows that may pass: where more do, the other way is quicker. */
double tm_certified_most_share(const tm_certified_plan *plan);

/* Whether a tile is worth a trial, where many windows passed in others. */
bool tm_certified_is_tried(tm_certified *certified);

/* Whether so many windows passed that the whole map had better be matched in the other way. */
bool tm_certified_is_lost(tm_certified *certified);

size_t tm_certified_tile_size(const tm_certified *certified, int64_t width, int64_t height);
/* Makes a tile's rows from the top down, and says how many: fewer than all where the bound leaves too
 * little out. *best becomes the best of these windows, if they have one that ranks before it. */
int64_t tm_certified_tile(tm_certified *certified, char *memory, const tm_tile *tile,
                          tm_candidate *best);

/* Templates of one size, by levels of the same blocks, of which the best matches alone are wanted:
 * the sums are made once for all. What is found is told to each. */
enum { TM_CERTIFIED_GROUP = 16 };
void tm_certified_group_tile(tm_certified *certified, int count, char *memory,
                             const tm_tile *tile);

/* Goes on by another level of the plan; what is known stays. */
void tm_certified_take(tm_certified *certified, const tm_certified_choice *choice);

/* What a window costs in nanoseconds by its level, from how many pass in some places of the map. memory is for a tile
 * of TM_CERTIFIED_TRIAL_WIDTH x TM_CERTIFIED_TRIAL_ROWS. */
double tm_certified_trial(tm_certified *certified, char *memory);

/* Looks for a good window on a reduced frame, and knows it then, unless the job knew one. reduced: the
 * last call was for the same frame, and a template of the same size, whether or not there was anything
 * to look for. Errors: MEMORY. */
tm_status tm_certified_guess(tm_cpu *cpu, tm_certified *certified, bool reduced);
void tm_guess_memory_free(tm_guess_memory *memory);

#endif
