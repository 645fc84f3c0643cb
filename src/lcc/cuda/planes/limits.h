/* SPDX-License-Identifier: MIT */
/* What window_runs.cu takes, and which rounded templates: for launches, and for whoever plans without CUDA's headers. */
#ifndef TMATCH_LCC_CUDA_PLANES_LIMITS_H
#define TMATCH_LCC_CUDA_PLANES_LIMITS_H

#define TM_RUNS_MOST_WIDTH 127  /* of a template */
#define TM_RUNS_MOST_HEIGHT 257 /* with that, a column's sum of bytes fits 16 bits */

/* The angle between a template and the rounded one, beyond which a score that few windows reach leaves too many. */
#define TM_ROUNDED_MOST_SINE 0.03

#endif
