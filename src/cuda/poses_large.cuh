/* SPDX-License-Identifier: MIT */
/* Windows of cells for the search for a large template in poses, which the CPU makes. */
#ifndef TMATCH_CUDA_POSES_LARGE_CUH
#define TMATCH_CUDA_POSES_LARGE_CUH

#include "cuda/plugin.h"
#include "lcc/cuda/poses/large.cuh"

/* The last look, and memory for more. */
typedef struct tm_device_large {
    tm_buffer plane; /* the frame, in the middle of zeros */
    uint8_t *corner; /* its first sample */
    size_t pitch;
    int width, height;
    tm_buffer picture; /* the template */
    tm_large_template tmpl;
    tm_buffer batch;   /* poses, places and sums, */
    tm_large_picture *poses; /* and the poses on the host */
    size_t poses_room;
    tm_buffer taken; /* the class, */
    uint8_t *packed; /* and on the host */
    size_t room;
    tm_buffer squares, cells, windows, passed, bundles;
    tm_large_level level;
} tm_device_large;

/* As tm_backend's functions. */
cudaError_t tm_cuda_look_at_large(tm_cuda *cuda, const tm_large_look *look);
cudaError_t tm_cuda_list_large(tm_cuda *cuda, tm_large_list *list);
cudaError_t tm_cuda_sum_large(tm_cuda *cuda, const tm_large_batch *batch);

/* Bring a class to the device; what a look has of the frame for it; and the frame, in the middle of zeros as far as pictures reach, and its template. */
cudaError_t tm_large_bring_class(tm_cuda *cuda, const tm_large_class *c);
cudaError_t tm_large_bring_squares(tm_cuda *cuda, const tm_large_look *look);
cudaError_t tm_large_bring_frame(tm_cuda *cuda, const tm_large_look *look);
cudaError_t tm_large_bring_template(tm_cuda *cuda, const tm_large_look *look);

/* Frees all of it. */
void tm_large_drop(tm_device_large *large);

#endif
