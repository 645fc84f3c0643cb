/* SPDX-License-Identifier: MIT */
/* Members of a family that follow each other are mostly alike, turned by a step, and looked at as the ends of a chord. */
#ifndef TMATCH_LCC_FAMILY_CHAIN_H
#define TMATCH_LCC_FAMILY_CHAIN_H

#include "lcc/family.h"

/* Room for the coordinates and the rests of a family; NULL if memory ran out. */
float *tm_family_make_coordinates(const tm_family *family);

/* Makes the family's chain, where that makes members few. Errors: MEMORY. */
tm_status tm_family_make_chain(tm_family *family);

#endif
