/* SPDX-License-Identifier: MIT */
#include "match/plan.h"

void tm_plan_choose(tm_plan *plan, const tm_estimate *estimate, tm_algorithm wanted)
{
    const bool by_fft = wanted == TM_ALGORITHM_FFT || wanted == TM_ALGORITHM_CUFFT ||
                        (wanted == TM_ALGORITHM_AUTO && estimate->fft_ms < estimate->direct_ms);

    *plan = (tm_plan){.algorithm = by_fft ? TM_ALGORITHM_FFT : TM_ALGORITHM_DIRECT,
                      .ms = by_fft ? estimate->fft_ms : estimate->direct_ms,
                      .estimate = *estimate};
}
