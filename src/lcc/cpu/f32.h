/* SPDX-License-Identifier: MIT */
/* The direct algorithm for float pictures. */
#ifndef TMATCH_LCC_CPU_F32_H
#define TMATCH_LCC_CPU_F32_H

#include "lcc/f32.h"
#include "lcc/cpu/f32_block.h"

/* Errors: MEMORY. */
tm_status tm_f32_match(tm_f32_block_fn *block, tm_job *job, int threads);

#endif
