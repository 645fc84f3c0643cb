/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels share: their tiles, and how they are launched.
 *
 * A kernel multiplies matrices of bytes, d += A B. The lines of A are neighbouring bytes of a frame
 * row, each line beginning some bytes after the one before and overlapping it. The columns of B are
 * a template row, each shifted by one more byte: a Toeplitz matrix. So d gathers what the template
 * row adds to neighbouring sums S_FT. B is kept in the order in which the instruction's threads load
 * it: the template's fragments. k counts the bytes of a line of A; a step of k is what one
 * instruction takes of them, 16 or 32.
 *
 * Every kernel makes tiles of TILE_WIDTH x TILE_HEIGHT windows, numbered down the columns of tiles,
 * and a block makes consecutive ones. A warp makes 8 rows of windows at a time. */
#ifndef TMATCH_LCC_CUDA_TENSOR_KERNELS_CUH
#define TMATCH_LCC_CUDA_TENSOR_KERNELS_CUH
#include <limits.h>
#include <pthread.h>

#include "lcc/cuda/early.cuh"
#include "lcc/cuda/tensor/limits.h"
#include "lcc/cuda/tensor/tensor.h"

/* A file whose kernel has other tiles defines these before it includes this one. */
#ifndef TM_TENSOR_TILE_WIDTH
#define TM_TENSOR_TILE_WIDTH TM_MMA_TILE_WIDTH
#define TM_TENSOR_TILE_HEIGHT TM_MMA_TILE_HEIGHT
#endif
#ifndef TM_TENSOR_WARP_WIDTH /* of a warp's 8 rows */
#define TM_TENSOR_WARP_WIDTH 128
#endif
enum {
    TILE_WIDTH = TM_TENSOR_TILE_WIDTH,
    TILE_HEIGHT = TM_TENSOR_TILE_HEIGHT,
#ifdef TM_TENSOR_WARPS
    TM_TENSOR_THREADS = 32 * TM_TENSOR_WARPS
#elif defined(TM_TENSOR_WARPGROUPS)
    TM_TENSOR_THREADS = 128 * TM_TENSOR_WARPGROUPS
#else
    TM_TENSOR_THREADS = TILE_WIDTH / TM_TENSOR_WARP_WIDTH * TILE_HEIGHT / 8 * 32
#endif
};

/* A launch's geometry. */
typedef struct tm_tensor_plan {
    int tiles_y, tiles;
    int parts;                      /* as many blocks have work, if that is more than tiles */
    int tile_blocks, column_blocks; /* wgmma.cu: of the last columns; 0, 0: all are of tiles */
    int row_bytes;                  /* of a staged frame row */
    int templates;                  /* tall_turns.cuh: whose blocks shared memory has room for, 1 or 2 */
    int part_row, part_unit;        /* tall_block.cuh: where the part of a template begins whose products are made, */
    int part_rows;                  /* and its rows */
    int words;                      /* groups of 4 columns whose sums are made */
    /* Rows of column and of window sums, in uint4. Odd numbers: rows lie in different banks. */
    int sums_pitch, win_pitch;
} tm_tensor_plan;

/* A warp's best window so far. */
typedef struct tm_tensor_best {
    int64_t pos;
    int order;
} tm_tensor_best;

/* The kernels, by file. A launch answers cudaErrorNotSupported, before anything is launched, to a
 * job that it cannot do. Fragments are made of count templates of width x height, which lie one
 * after the other in device memory. */

/* mma.cu: any job. mma_many is for several templates. They share their fragments. */
size_t tm_mma_fragment_bytes(int width, int height, int count);
cudaError_t tm_mma_prepare(void *fragments, const uint8_t *taps, int width, int height, int count,
                           cudaStream_t stream);
cudaError_t tm_mma_launch(const tm_tensor_device *device, const tm_tensor_job &j,
                          cudaStream_t stream);
cudaError_t tm_mma_listed_launch(const tm_tensor_device *device, const tm_tensor_job &j, bool early,
                                 cudaStream_t stream);
cudaError_t tm_mma_many_launch(const tm_tensor_device *device, const tm_tensor_job &j,
                               cudaStream_t stream);
cudaError_t tm_mma_reset(int *running_bests, int count, cudaStream_t stream);

/* mma_steps.cu, with the fragments of mma.cu. */
cudaError_t tm_mma_steps_launch(const tm_tensor_device *device, tm_tensor_steps j,
                                cudaStream_t stream);

/* wgmma_planes.cu and wgmma_masked.cu, with the fragments of wgmma.cu. */
cudaError_t tm_wgmma_steps_launch(const tm_tensor_device *device, tm_tensor_steps j,
                                  cudaStream_t stream);
bool tm_wgmma_masked_takes(const tm_tensor_device *device, int width, int height);
cudaError_t tm_wgmma_masked_launch(const tm_tensor_device *device, const tm_tensor_masked_job &j,
                                   cudaStream_t stream);

/* wgmma_pixels.cu, with the fragments of wgmma.cu. */
bool tm_wgmma_pixels_takes(const tm_tensor_device *device, const tm_tensor_pixels_job &j);
cudaError_t tm_wgmma_pixels_launch(const tm_tensor_device *device, const tm_tensor_pixels_job &j, cudaStream_t stream);

/* wgmma.cu: one small template. */
size_t tm_wgmma_fragment_bytes(int height);
cudaError_t tm_wgmma_prepare(void *fragments, const uint8_t *taps, int width, int height,
                             cudaStream_t stream);
cudaError_t tm_wgmma_launch(const tm_tensor_device *device, const tm_tensor_job &j,
                            cudaStream_t stream);

/* wgmma_bound.cu: the best LCC of one of these, where some windows may be left out. 0 bytes: it does not take that size. */
size_t tm_bound_fragment_bytes(int width, int height);
cudaError_t tm_bound_prepare(void *fragments, const uint8_t *taps, int width, int height, cudaStream_t stream);
cudaError_t tm_bound_launch(const tm_tensor_device *device, const tm_tensor_job &j, cudaStream_t stream);
/* The same under a mask, which lies beside the taps in device memory and on the host. */
size_t tm_bound_masked_bytes(int width, int height);
cudaError_t tm_bound_masked_prepare(void *fragments, const uint8_t *taps, const uint8_t *mask, const uint8_t *host_mask, int width, int height,
                                    cudaStream_t stream);
bool tm_bound_masked_takes(const tm_tensor_device *device, const tm_tensor_job &j);
cudaError_t tm_bound_masked_launch(const tm_tensor_device *device, const tm_tensor_job &j, cudaStream_t stream);

/* wgmma_bound_pixels.cu: likewise of RGB or of 16 bits, whose template lies in taps as it is. bytes: of a pixel, 3 or 2. */
size_t tm_bound_pixels_bytes(int bytes, int width, int height);
cudaError_t tm_bound_pixels_prepare(void *fragments, const uint8_t *taps, int bytes, int width, int height, cudaStream_t stream);
bool tm_bound_pixels_takes(const tm_tensor_device *device, const tm_tensor_pixels_job &j);
cudaError_t tm_bound_pixels_launch(const tm_tensor_device *device, const tm_tensor_pixels_job &j, cudaStream_t stream);

/* wgmma_wide.cu: LCC of one wide template, whose fragments are job.wide_fragments. map: whether the job, whose map
 * may not be set yet, has one. */
size_t tm_wide_fragment_bytes(int width, int height);
bool tm_wide_takes(const tm_tensor_device *device, const tm_tensor_job &j, bool map);
cudaError_t tm_wide_prepare(void *fragments, const uint8_t *taps, int width, int height,
                            cudaStream_t stream);
cudaError_t tm_wide_launch(const tm_tensor_device *device, tm_tensor_job j, cudaStream_t stream);

/* wgmma_tall.cu: likewise, where that is faster. */
bool tm_tall_takes(const tm_tensor_device *device, const tm_tensor_job &j, bool map);
cudaError_t tm_tall_launch(const tm_tensor_device *device, tm_tensor_job j, cudaStream_t stream);
/* What tm_tensor_partial_bytes answers for jobs that it takes. */
size_t tm_tall_partial_bytes(const tm_tensor_device *device, const tm_tensor_job &j);

/* wgmma_tall_masked.cu, with the same fragments. */
bool tm_tall_masked_takes(const tm_tensor_device *device, const tm_tensor_masked_job &j);
size_t tm_tall_masked_scratch(const tm_tensor_masked_job &j);
cudaError_t tm_tall_masked_launch(const tm_tensor_device *device, const tm_tensor_masked_job &j, cudaStream_t stream);

/* wgmma_tall_planes.cu, with the same fragments. */
bool tm_tall_steps_takes(const tm_tensor_device *device, const tm_tensor_steps &j);
/* What tm_tensor_wide_steps_us answers for steps that it takes. */
double tm_tall_steps_us(const tm_tensor_device *device, const tm_tensor_steps &j);
cudaError_t tm_tall_steps_launch(const tm_tensor_device *device, const tm_tensor_steps &j, cudaStream_t stream);
/* The first ones of a template's parts alone, whose sizes are given. */
struct tm_tall_division;
cudaError_t tm_tall_parts_launch(const tm_tensor_device *device, tm_tensor_steps j, const tm_tall_division &parts, int count,
                                 cudaStream_t stream);

/* wgmma_tall_bound.cu, with the same fragments of directions' bytes: see tm_tensor_launch_tops. */
bool tm_tall_bound_takes(const tm_tensor_device *device, const tm_tensor_steps &j);
void tm_tall_bound_tops(const tm_device_windows &j, int64_t *stride, int64_t *rows);
cudaError_t tm_tall_bound_launch(const tm_tensor_device *device, const tm_tensor_steps &j, cudaStream_t stream);

/* wgmma_many.cu: LCC of many templates without maps. 0 bytes: they do not fit. */
size_t tm_many_fragment_bytes(int width, int height, int count);
bool tm_many_takes_map(int64_t width, int64_t height);
cudaError_t tm_many_prepare(void *fragments, const uint8_t *taps, int width, int height, int count,
                            cudaStream_t stream);
cudaError_t tm_many_launch(const tm_tensor_device *device, const tm_tensor_job &job, cudaStream_t stream);

#ifdef __CUDACC__
/* Sets the tiles that cover the map; false where they cannot be counted. */
static inline bool tm_tensor_cover(tm_tensor_plan *p, const tm_device_windows &j)
{
    int64_t x = (j.map_width + TILE_WIDTH - 1) / TILE_WIDTH,
            y = (j.map_height + TILE_HEIGHT - 1) / TILE_HEIGHT;
    if (x * y > INT_MAX)
        return false;
    p->tiles_y = (int)y;
    p->tiles = (int)(x * y);
    return true;
}

/* What a kernel's block takes of a multiprocessor. */
typedef struct tm_tensor_block {
    size_t shared; /* bytes of shared memory that the launch asks for */
    size_t fixed;  /* bytes that the kernel declares besides, rounded up */
    int most;      /* blocks on a multiprocessor, by their registers */
} tm_tensor_block;

/* How many blocks a multiprocessor takes. */
static inline int tm_tensor_fit(const tm_tensor_device *device, const tm_tensor_block &block)
{
    return (int)min((int64_t)block.most,
                    tm_tensor_blocks_that_fit((int64_t)device->shared_memory,
                                              (int64_t)(block.shared + block.fixed)));
}

#ifndef TM_EMULATED
/* The attribute is the device's: another thread's launch of the kernel, for another template, must not
 * lower it in between. Who hangs here lets those of this device wait, and no others. */
template <typename K, typename J>
static cudaError_t tm_tensor_launch_alone(const tm_tensor_device *device, const cudaLaunchConfig_t &config,
                                          K kernel, const J &j, const tm_tensor_plan &p)
{
    static struct {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    } locks[64];
    pthread_mutex_t *const lock = &locks[device->index % 64].mutex;
    pthread_mutex_lock(lock);
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)config.dynamicSmemBytes);
    if (error == cudaSuccess) {
        cudaLaunchKernelEx(&config, kernel, j, p);
        error = cudaGetLastError();
    }
    pthread_mutex_unlock(lock);
    return error;
}
#endif

/* early: the launch may begin while the kernel before it ends; its kernel calls
 * tm_early_begin before it reads what that one writes. */
template <typename K, typename J>
static cudaError_t tm_tensor_start(const tm_tensor_device *device, K kernel, const J &j,
                                   const tm_tensor_plan &p, const tm_tensor_block &block,
                                   bool early, cudaStream_t stream)
{
    if (block.shared + block.fixed > device->shared_memory)
        return cudaErrorNotSupported;
    const int fit = tm_tensor_fit(device, block);
    const int grid = p.column_blocks
                         ? p.tile_blocks + p.column_blocks
                         : min(min(max(p.tiles, p.parts), fit * device->multiprocessors), (int)TM_TENSOR_BLOCKS);
#ifdef TM_EMULATED
    (void)early;
    return TM_LAUNCH(kernel<<<grid, TM_TENSOR_THREADS, block.shared, stream>>>(j, p));
#else
    const tm_early_config c(grid, TM_TENSOR_THREADS, block.shared, early, stream);
    return TM_CALL(tm_tensor_launch_alone(device, c.config, kernel, j, p));
#endif
}

/* These instructions exist from compute capability 8.0 on. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

__device__ __forceinline__ void tm_copy16(unsigned dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

__device__ __forceinline__ void tm_copy_wait()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#endif
#endif

#endif
