/* SPDX-License-Identifier: MIT */
/* What did not pay for a frame is left alone for some frames to come. */
#ifndef TMATCH_CUDA_REST_CUH
#define TMATCH_CUDA_REST_CUH

typedef struct tm_rest {
    int frames; /* still to come */
    int last;   /* how many those were, half as many with each frame since */
} tm_rest;

/* After a failure: for longer, if another one was not long ago. */
static inline void tm_rest_longer(tm_rest *rest)
{
    const int most = 63, frames = 4 * rest->last + 3;
    rest->frames = rest->last = frames < most ? frames : most;
}

/* Whether it is tried in the next frame, which is counted. */
static inline bool tm_rest_is_over(tm_rest *rest)
{
    if (rest->frames > 0) {
        rest->frames--;
        return false;
    }
    rest->last /= 2;
    return true;
}

#endif
