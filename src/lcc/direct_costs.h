/* SPDX-License-Identifier: MIT */
/* The cost model of a direct algorithm, whatever runs it. */
#ifndef TMATCH_LCC_DIRECT_COSTS_H
#define TMATCH_LCC_DIRECT_COSTS_H

#include "lcc/lcc.h"

/* A window costs window + h * (row + w * tap) nanoseconds. */
typedef struct tm_direct_costs {
    const char *kernels;
    double window, row, tap;
} tm_direct_costs;

/* Nanoseconds for a map of so many rows; width is that of the windows made, which may be more than
 * the map's. */
static inline double tm_direct_ns(const tm_direct_costs *costs, const tm_geometry *g, double width,
                                  int64_t rows)
{
    return width * (double)rows *
           (costs->window + (double)g->template_height *
                                (costs->row + (double)g->template_width * costs->tap));
}

#endif
