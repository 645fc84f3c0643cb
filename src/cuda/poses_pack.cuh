/* SPDX-License-Identifier: MIT */
/* A posed template's classes as kernels take them. */
#ifndef TMATCH_CUDA_POSES_PACK_CUH
#define TMATCH_CUDA_POSES_PACK_CUH

#include "cuda/poses.cuh"

/* Brings the classes to the device, unless they are there. */
cudaError_t tm_poses_pack(tm_cuda *cuda, const tm_pose_search *search);

/* Writes height x steps x basis x 32 fragments of the family's taps, as tm_pose_multiply takes them, with zeros where there are none. */
void tm_poses_pack_fragments(uint2 *to, const tm_family *family, int basis, int steps);

/* Frees what that made. */
void tm_poses_unpack(tm_device_poses *poses);

#endif
