/* SPDX-License-Identifier: MIT */
/* The driver's types, for a plugin that finds no driver. */
#ifndef TMATCH_EMULATED_CUDA_H
#define TMATCH_EMULATED_CUDA_H

typedef int CUresult;
typedef struct CUctx_st *CUcontext;
enum { CUDA_SUCCESS };

extern "C" CUresult cuCtxGetCurrent(CUcontext *context);
extern "C" CUresult cuCtxSetCurrent(CUcontext context);

#endif
