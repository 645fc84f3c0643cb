/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels take, for whoever plans without CUDA's headers. */
#ifndef TMATCH_LCC_CUDA_TENSOR_LIMITS_H
#define TMATCH_LCC_CUDA_TENSOR_LIMITS_H

/* The most pixels of a template: n * 255^2 < 2^32 and n * 255 < 2^24. */
#define TM_TENSOR_TAPS 65793

#endif
