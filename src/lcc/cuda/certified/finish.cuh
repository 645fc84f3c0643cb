/* SPDX-License-Identifier: MIT */
/* Certified search: the end of a launch, which writes its best and clears the state. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_FINISH_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_FINISH_CUH

#include "lcc/cuda/certified/certified.cuh"

/* tiled: tiles whose windows were all scored. given_up: cell windows that are left were not scored. many: so many windows were that
 * all could have been as quickly. A launch's last thread calls. */
static __device__ void tm_certified_finish(const tm_certified_job &j, unsigned tiled, bool given_up, bool many)
{
    const tm_certified_state s = *j.state;
    const tm_candidate own = {tm_certified_order(s.best), tm_certified_position(s.best)};
    *j.best = tiled && tm_candidate_beats(s.of_tiles, own) ? s.of_tiles : own;
    j.count->scored = (int64_t)min((int64_t)s.scored, j.map_width * j.map_height);
    bool too_many = given_up;
    if (j.reaching.count && too_many)
        *j.reaching.count = ~0ull;
    else if (j.reaching.count)
        too_many = __ldcg(j.reaching.count) > j.reaching.capacity;
    j.count->too_many = too_many;
    j.count->many = many && !too_many;
    *j.state = (tm_certified_state){};
}

#endif
