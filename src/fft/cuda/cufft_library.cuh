/* SPDX-License-Identifier: MIT */
/* NVIDIA's cuFFT, opened when --algorithm cufft asks for it and never linked: nothing else
 * needs it, and its 0.2 GB are not on every machine with a GPU. Its header need not be there
 * either; what is declared here has not changed from CUDA 9 to 13. */
#ifndef TMATCH_FFT_CUDA_CUFFT_LIBRARY_CUH
#define TMATCH_FFT_CUDA_CUFFT_LIBRARY_CUH

#include <cuda_runtime.h>

enum { TM_CUFFT_FORWARD = -1, TM_CUFFT_INVERSE = 1 };
enum { TM_CUFFT_Z2Z = 0x69 }; /* of complex doubles */
enum { TM_CUFFT_SUCCESS, TM_CUFFT_ALLOC_FAILED = 2 };

/* Plans are numbers; each function returns a cufftResult. */
typedef struct tm_cufft_library {
    int (*create)(int *plan);
    int (*destroy)(int plan);
    int (*set_auto_allocation)(int plan, int automatic);
    int (*make_plan)(int plan, int rank, long long *lengths, long long *in_embed,
                     long long in_stride, long long in_distance, long long *out_embed,
                     long long out_stride, long long out_distance, int type, long long batch,
                     size_t *work_size);
    int (*set_work_area)(int plan, void *work);
    int (*set_stream)(int plan, cudaStream_t stream);
    int (*execute)(int plan, double2 *in, double2 *out, int direction);
} tm_cufft_library;

/* The library: opened at the first call, and never closed. Where it cannot be, NULL with the
 * reason in why, of that size; why may be NULL once it is open. Any thread may call. TMATCH_CUFFT
 * in the environment names the one file that is tried. */
const tm_cufft_library *tm_cufft_open(char *why, size_t size);

#endif
