/* SPDX-License-Identifier: MIT */
/* Families whose members come turned by half a turn, too: each member is the sum of what a half turn leaves as it is
 * and of what it makes the opposite, and the components of all are components of the ones or of the others. */
#ifndef TMATCH_LCC_FAMILY_HALVES_H
#define TMATCH_LCC_FAMILY_HALVES_H

#include "lcc/family.h"

/* Whether a half turn brings the core onto itself. */
bool tm_family_has_half_turns(const tm_family *family);

/* Reads count of the members: twice what a half turn leaves of each, and then twice what it makes the opposite. gram:
 * count * count products of the ones, less their means and for members of norm 1, and then those of the others. False where a
 * member is flat. */
bool tm_family_read_halves(const tm_family *family, const tm_posed *posed, int16_t *members, tm_family_sums *sums,
                           double *gram, int count);

/* Finds the greatest components of both, as tm_components_find does, of rows of 2 * count weights. Returns which are
 * opposite; next: twice the room of weights. */
uint32_t tm_family_find_halves(double *weights, double *next, const double *gram, int components, int count);

/* Rounds a component times scale, which makes it 124 at most, to taps of 8 bits and sum 0 that are as even or as odd as it is. */
void tm_family_round_halves(int16_t *taps, const float *component, int64_t count, float scale, bool odd);

#endif
