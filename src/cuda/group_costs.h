/* SPDX-License-Identifier: MIT */
/* What templates of one size cost that are matched in a group, on devices that have wgmma. */
#ifndef TMATCH_CUDA_GROUP_COSTS_H
#define TMATCH_CUDA_GROUP_COSTS_H

#include "lcc/device.h"

/* The least templates of a group, and their greatest side, that lcc/cuda/tensor/wgmma_many.cu takes. */
#define TM_CUDA_GROUP_LEAST 12
#define TM_CUDA_GROUP_SIDE 64

/* Nanoseconds of a launch, and for each of a template's pixels; of a template's window, and of each of its pixels, where
 * these are at most 32 columns, or more. On an H200; set by hand, from the costs in bench/results/poses-cuda-groups.json. */
#define TM_CUDA_GROUP_LAUNCH_NS 30000.0
#define TM_CUDA_GROUP_LAUNCH_TAP_NS 30.0
#define TM_CUDA_GROUP_WINDOW_NS 0.0006
#define TM_CUDA_GROUP_TAP_NS 0.9e-6
#define TM_CUDA_GROUP_WIDE_TAP_NS 1.75e-6

/* Whether so many templates are matched as a group, whose best match alone is wanted: by LCC of 8-bit gray, without
 * masks or under one. */
static inline bool tm_cuda_has_groups(const tm_device_traits *traits, double width, double height, int64_t count)
{
    return traits->groups && count >= TM_CUDA_GROUP_LEAST && width <= TM_CUDA_GROUP_SIDE && height <= TM_CUDA_GROUP_SIDE;
}

/* What a launch of a group takes, which has so many windows of all its templates together. */
static inline double tm_cuda_group_ns(double width, double height, double windows)
{
    const double pixels = width * height, tap = width <= 32 ? TM_CUDA_GROUP_TAP_NS : TM_CUDA_GROUP_WIDE_TAP_NS;
    return TM_CUDA_GROUP_LAUNCH_NS + TM_CUDA_GROUP_LAUNCH_TAP_NS * pixels + windows * (TM_CUDA_GROUP_WINDOW_NS + tap * pixels);
}

#endif
