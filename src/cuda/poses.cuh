/* SPDX-License-Identifier: MIT */
/* Certified search for a template in poses on the device. */
#ifndef TMATCH_CUDA_POSES_CUH
#define TMATCH_CUDA_POSES_CUH

#include "cuda/plugin.h"
#include "lcc/cuda/poses/poses.cuh"
#include "lcc/pose_search.h"

/* The last template's classes on the device, and memory for its searches. */
typedef struct tm_device_poses {
    tm_poses poses; /* of what: the grid, */
    int64_t width, height;
    uint8_t *samples; /* and the picture's samples, with its mask behind them; NULL: nothing is there */
    bool masked, narrow;
    void *memory; /* device: what levels and pictures point to */
    tm_pose_level *levels; /* on the host */
    double *shares;        /* of each class: see least_of_core */
    int classes;
    tm_pose_picture *pictures; /* on the host, */
    size_t count;
    tm_buffer placed; /* and on the device */
    tm_buffer plane, sums, bounds, lists;
} tm_device_poses;

/* Searches as tm_backend's match_poses. */
cudaError_t tm_poses_run(tm_cuda *cuda, tm_pose_search *search);

/* Frees all of it. */
void tm_poses_drop(tm_device_poses *poses);

#endif
