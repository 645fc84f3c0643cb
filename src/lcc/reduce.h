/* SPDX-License-Identifier: MIT */
/* Reduced pictures: half as wide and high, each pixel the mean of 4 x 4 about its centre with binomial weights,
 * so that little depends on where pixels begin. */
#ifndef TMATCH_LCC_REDUCE_H
#define TMATCH_LCC_REDUCE_H

#include "tmatch/tmatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes half of a frame, an image of integers: pixel i is about the border between pixels 2i and 2i + 1, and
 * counts where one of those that it is made of does. threads: to be used at most. *half is empty where the frame
 * is a pixel wide or high. Errors: MEMORY. To be freed with tm_reduced_free. */
tm_status tm_reduce_frame(tm_image *half, const tm_image *frame, int threads);

/* Makes a template, an image of integers, smaller by half so many times, about its centre but for half a pixel of
 * it: where all pixels that one is made of are there, so that its border is lost, and most of them count. *reduced is packed, and
 * empty where nothing is left. Errors: MEMORY. To be freed with tm_reduced_free. */
tm_status tm_reduce_template(tm_image *reduced, const tm_image *image, int times);

void tm_reduced_free(tm_image *reduced);

#ifdef __cplusplus
}
#endif

#endif
