/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels share: their geometry and how they are launched. */
#ifndef TMATCH_LCC_CUDA_TENSOR_CORES_CUH
#define TMATCH_LCC_CUDA_TENSOR_CORES_CUH
#include <limits.h>
#include <pthread.h>

#include "lcc/cuda/tensor/tensor.h"

#ifndef TC_TW
#define TC_TW 256
#define TC_TH 16
#endif
#ifndef TC_WARP_COLUMNS // 8 rows of them are a warp's
#define TC_WARP_COLUMNS 128
#endif
enum { TW = TC_TW, TH = TC_TH, TC_THREADS = TW / TC_WARP_COLUMNS * TH / 8 * 32 };

typedef struct { // the launcher's geometry
    int tiles_y, tiles;
    int sweepers, others; // wgmma: blocks for the tiles, blocks for columns beyond; 0: all, none
    int row_bytes;        // of a staged frame row
    int words;            // 4-column groups of the column sums
    int sums_pitch,
        win_pitch; // of column and window sums, in uint4; odd: rows fall into different banks
} tc_plan;

/* The *_launch functions refuse with cudaErrorNotSupported what they cannot do, before any launch.
 */
cudaError_t tc_reset(int *running_best, int k, cudaStream_t stream);
size_t tc_mma_frag_bytes(int w, int h, int k); // of tc_mma_launch and tc_mma_wide_launch
size_t tc_wgmma_frag_bytes(int w, int h, int k);
cudaError_t tc_mma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int k,
                           cudaStream_t stream);
cudaError_t tc_wgmma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int k,
                             cudaStream_t stream);
cudaError_t tc_mma_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream);
cudaError_t tc_mma_wide_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream);
cudaError_t tc_steps_launch(tm_tensor_steps j, int sms, size_t smem_max, cudaStream_t stream);
cudaError_t tc_wgmma_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream);
size_t tc_wide_frag_bytes(int w, int h); // wgmma_wide.cu
bool tc_wide_takes(const tm_tensor_job &j, bool map, int sms, size_t smem_max, bool always);
cudaError_t tc_wide_prepare(void *frag, const uint8_t *tmpl, int w, int h, cudaStream_t stream);
cudaError_t tc_wide_launch(tm_tensor_job j, int sms, size_t smem_max, bool always,
                           cudaStream_t stream);

typedef struct {
    int64_t pos;
    int order;
} tc_best;

#ifdef __CUDACC__
/* Tiles over the map; false where they cannot be counted. */
static inline bool tc_cover(tc_plan *p, const tm_tensor_job &j, int width, int height)
{
    int64_t x = (j.map_width + width - 1) / width, y = (j.map_height + height - 1) / height;
    if (x * y > INT_MAX)
        return false;
    p->tiles_y = (int)y;
    p->tiles = (int)(x * y);
    return true;
}

/* Blocks of smem bytes that an SM takes, at most per_sm: its shared memory is what one block may
 * have and 1 KB, and every block takes 1 KB besides its own. */
static inline int tc_fit(size_t smem, int per_sm, size_t smem_max)
{
    return (int)min((size_t)per_sm, (smem_max + 1024) / (smem + 1024));
}

/* smem: what a block asks for; fixed: what it declares besides, rounded up. early: the launch may
 * begin while a kernel before it ends; it calls tc_wait_for_launches first. */
template <typename K, typename J>
static cudaError_t tc_start(K kernel, const J &j, const tc_plan &p, int threads, size_t smem,
                            size_t fixed, int per_sm, int sms, size_t smem_max, bool early,
                            cudaStream_t stream)
{
    if (smem + fixed > smem_max)
        return cudaErrorNotSupported;
    int fit = tc_fit(smem + fixed, per_sm, smem_max);
    int grid =
        p.others ? p.sweepers + p.others : min(min(p.tiles, fit * sms), (int)TM_TENSOR_BLOCKS);
    /* The attribute is the device's: another thread's launch of the kernel, for another template,
     * must not lower it in between. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    cudaError_t e =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)smem);
    if (!e) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = grid, config.blockDim = threads, config.dynamicSmemBytes = smem;
        config.stream = stream, config.attrs = &attribute, config.numAttrs = early;
        cudaLaunchKernelEx(&config, kernel, j, p);
        e = cudaGetLastError();
    }
    pthread_mutex_unlock(&lock);
    return e;
}

/* Nothing of this exists before compute capability 8.0. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

__device__ __forceinline__ void tc_copy16(unsigned dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

__device__ __forceinline__ void tc_copy_wait()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Until the kernel before has ended and all that it wrote is seen; then the next may begin. */
__device__ __forceinline__ void tc_wait_for_launches()
{
    asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory");
}
#endif
#endif

#endif
