/* SPDX-License-Identifier: MIT */
/* Sums over cells of posed pictures. */
#ifndef TMATCH_LCC_POSE_LARGE_CELLS_H
#define TMATCH_LCC_POSE_LARGE_CELLS_H

#include "lcc/pose_large.h"

/* An angle whose cosine is at least so much, with what rounding may have made of it. */
double tm_large_angle(double cosine);

/* The variance of count numbers, times count, of exact sums. */
double tm_large_variance(int64_t count, int64_t sum, int64_t square);

/* A picture's variance times its pixels. */
double tm_large_energy(const tm_posed *posed);

/* Chooses the class's cells of this size: those that lie in the disc of pixels whose squared distance from the centre,
 * in halves of a pixel, is less, at all places. False if memory ran out; c->cells may be too few, or 0. */
bool tm_large_choose_cells(tm_large_class *c, int side, int reach, int64_t distance);

/* The sums of these cells of a picture at all places: of place y * reach + x, c->cells in a row; false where
 * one of their pixels does not count. scratch: room for 2 * (c->columns + 1) * c->side + 1 numbers. */
bool tm_large_sum_cells(const tm_large_class *c, const tm_posed *posed, uint16_t *sums, uint32_t *scratch);

/* The variance times their number of the pixels of these cells, at the place where that is least, from below, and most, from
 * above. */
void tm_large_bound_core(const tm_large_class *c, const tm_posed *posed, double *least, double *most);

/* The cells' share of a picture's variance, from below, where its cells have these sums. */
double tm_large_share(const uint16_t *sums, int cells, int side, double energy);

/* Makes a pose's cells of this size. Errors: MEMORY. */
tm_status tm_large_reduce(tm_pose_reduced *reduced, const tm_posed *posed, int64_t pose, int side, double energy);

#endif
