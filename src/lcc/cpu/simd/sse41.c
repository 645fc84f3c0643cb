/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/simd/sse41.h"

#include "lcc/cpu/simd/family.h"
#include "lcc/cpu/simd/folded.h"
#include "lcc/cpu/simd/levels.h"
#include "lcc/cpu/simd/pairs.h"
#include "lcc/cpu/simd/rows.h"

void tm_cpu_kernels_init_sse41(tm_cpu_kernels *kernels)
{
    assign_levels(kernels);
    assign_family(kernels);
    assign_pairs(kernels);
    kernels->correlate_folded = correlate_folded;
    assign_rows(kernels);
}
