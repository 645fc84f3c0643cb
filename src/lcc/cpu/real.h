/* SPDX-License-Identifier: MIT */
/* The direct algorithm for float pictures. */
#ifndef TMATCH_LCC_CPU_REAL_H
#define TMATCH_LCC_CPU_REAL_H

#include "lcc/real.h"
#include "lcc/cpu/real_block.h"

/* Errors: MEMORY. */
tm_status tm_real_match(tm_real_block_fn *block, tm_job *job, int threads);

#endif
