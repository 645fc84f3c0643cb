/* SPDX-License-Identifier: MIT */
/* The direct algorithm on the integer tensor cores: S_FT as products of overlapping
 * frame windows with the Toeplitz matrices of template rows; for LCC also S_F,
 * S_FF, the score and the peak in the same kernel.
 *
 *     tensor.cu       chooses the kernel that runs a job
 *     mma.cu          any job, from compute capability 8.0 on; once more for many templates
 *     mma_steps.cu    products of several planes with templates, added up: 8.0
 *     wgmma.cu        one template of at most 25 x 31, compute capability 9.0
 *     wgmma_bound.cu  the best match of such a template, with a mask or without, where not all windows need be scored, likewise
 *     wgmma_bound_pixels.cu likewise of RGB or of 16 bits
 *     wgmma_planes.cu products as of mma_steps.cu, of templates of that size, likewise
 *     wgmma_masked.cu one such template with a mask, likewise
 *     wgmma_pixels.cu one such template of RGB or of 16 bits, likewise
 *     wgmma_wide.cu   one wider template, likewise
 *     wgmma_tall.cu   one whose products take long, likewise
 *     wgmma_tall_planes.cu products as of mma_steps.cu, of wider templates, likewise
 *     wgmma_tall_masked.cu one wider template with a mask, likewise
 *     wgmma_tall_bound.cu the greatest products of several planes with such a template's direction, likewise
 *     wgmma_many.cu   many templates of at most 64 columns, likewise
 *
 * kernels.cuh begins with the words that these files use. */
#ifndef TMATCH_LCC_CUDA_TENSOR_H
#define TMATCH_LCC_CUDA_TENSOR_H

#include "lcc/cuda/device.cuh"
#include "lcc/cuda/planes/list.cuh"
#include "lcc/cuda/tensor/limits.h"
#include "lcc/score.h"

#define TM_TENSOR_BLOCKS 1024

typedef struct tm_tensor_template {
    int sum;        /* S_T */
    float variance; /* (float)var_T */
} tm_tensor_template;

/* What launches have to know of their device, and their scratch there. */
typedef struct tm_tensor_device {
    int index;
    int multiprocessors;
    size_t shared_memory; /* that a block may have */
    bool has_wgmma;
    bool always_wide;     /* tests: kernels also where others are faster */
    tm_candidate *blocks; /* TM_TENSOR_BLOCKS a template */
    int *running_bests;   /* one a template, then the counter */
    int most_templates;
} tm_tensor_device;

typedef enum tm_tensor_outcome {
    TM_TENSOR_LCC, /* scores */
    TM_TENSOR_SUMS /* S_FT */
} tm_tensor_outcome;

/* The map of TM_TENSOR_SUMS. */
typedef struct tm_tensor_sums {
    int64_t *map64;  /* this, with elements of 64 bits, */
    uint32_t *map32; /* or this, which is enough; or neither */
    int64_t stride;  /* elements between rows */
} tm_tensor_sums;

/* The sums of a frame's windows under a mask, as maps. */
typedef struct tm_tensor_masked {
    const uint32_t *s_f, *s_ff;
    int64_t stride; /* elements between rows */
    int n;          /* pixels of the mask */
} tm_tensor_masked;

/* Some of a map's tiles of TM_MMA_TILE_WIDTH x TM_MMA_TILE_HEIGHT windows, numbered down the columns of
 * tiles, and of each the parts of TM_MMA_PART_WIDTH x TM_MMA_PART_HEIGHT that are to be made; which are
 * made if that is quicker than what else has been listed, one by one. All pointers are device memory. */
typedef struct tm_tensor_list {
    uint32_t *tiles;
    uint32_t *parts;                /* a bit of each part, along rows, and 4 of each tile */
    const unsigned *count, *others; /* of tiles; and of what else there is to do */
    const unsigned long long *best; /* its higher half, xor 1 << 31, is the order of a score there is */
    unsigned most_others;
    float tile, call, other;        /* what a tile takes, a launch of tiles besides, and one of the others */
} tm_tensor_list;

#ifdef __CUDACC__
/* How many tiles are to be made. */
static __device__ __forceinline__ unsigned tm_tensor_listed(const tm_tensor_list &l)
{
    const unsigned count = __ldcg(l.count), others = __ldcg(l.others);
    return others > l.most_others || (float)others * l.other > (float)count * l.tile + l.call ? count : 0;
}
#endif

/* All pointers are device memory. */
typedef struct tm_tensor_job : tm_device_windows {
    int count; /* templates of one size */
    tm_tensor_outcome outcome;
    const void *fragments;
    const void *wide_fragments;          /* tm_tensor_prepare_wide's, or NULL */
    const tm_tensor_template *templates; /* LCC */
    int64_t variance;                    /* LCC: the greatest var_T */
    float *map;                          /* LCC: NULL, or count maps, dense */
    tm_tensor_sums sums;                 /* TM_TENSOR_SUMS, whose count with a map is 1 */
    tm_candidate *best; /* count; TM_TENSOR_SUMS: or NULL, then no scratch either */
    tm_candidate *blocks;
    int *running_bests; /* count */
    int *counter;       /* of blocks that are done */
    tm_tensor_list list; /* tm_tensor_launch_listed */
    uint32_t *partial;      /* where tm_tensor_partial_bytes: memory for these, or NULL */
    int64_t partial_stride; /* set by the launch */
    bool may_leave_out;          /* LCC of one template without a map: the best may be TM_NO_CANDIDATE, which is worse than any
                                  * that is known */
    const void *bound_fragments; /* of gray of 8 bits without a mask set by the launch */
    const tm_tensor_masked *masked; /* LCC of templates with a common mask, where tm_tensor_shares_mask; or NULL */
} tm_tensor_job;

/* The products of one plane with one template, added to those of the steps before. */
typedef struct tm_tensor_step {
    int64_t plane;         /* bytes from the job's frame */
    const void *fragments; /* of one template */
    const void *wide;      /* its tm_tensor_prepare_wide's, of all steps or of none */
    uint32_t *map;         /* of the sums so far, which end; NULL: the next step adds to them */
    int shift;             /* to the left, of the sums before this step is added */
    int next, of_template; /* set by the launch, like these, and buffers and templates below */
    int row, unit;         /* the first ones of the template's part: see tall_layout.h */
} tm_tensor_step;

/* Steps of one launch, whose sums fit 32 bits. All pointers are device memory. */
typedef struct tm_tensor_steps : tm_device_windows {
    int64_t stride; /* elements between rows of a map, a multiple of 4 */
    int count, buffers, templates;
    tm_tensor_step step[TM_TENSOR_STEPS]; /* neighbours of one plane share it */
} tm_tensor_steps;

/* LCC of one template of 8-bit gray with a mask, without a map, from planes of the frame and of its squares. */
typedef struct tm_tensor_masked_job : tm_tensor_job {
    const void *mask_fragments;
    int64_t low_squares, high_squares; /* bytes from the frame to the planes of their bytes */
    int64_t first;                     /* position of the first window */
    tm_tensor_template of_template;
    int n;                             /* pixels of the mask */
    uint4 *scratch;                    /* where wide: tm_tensor_masked_scratch bytes */
} tm_tensor_masked_job;

/* LCC of one template of RGB of 8 bits or of gray of 16, without a map, from pixels as they came: frame and pitch are of these,
 * and at any byte. */
typedef struct tm_tensor_pixels_job : tm_tensor_job {
    int bytes;              /* of a pixel: 3 or 2; tm_tensor_launch_bound: or 1, gray of 8 bits with a mask */
    const void *plane_fragments[3]; /* of the template's planes: of each channel, or of low and high bytes */
    int64_t frame_rows;     /* that are there, from the frame's address on */
    int64_t first;          /* position of the first window */
    int minus_sum[3];       /* -S_T of each channel */
    int n;
    float variance;
    int low_bits;           /* tm_tensor_launch_bound, of 16 bits: the frame's samples are below 2^(8 + low_bits), 0 to 8. Where they are not,
                             * the best is not known; its position then is less than TM_NO_CANDIDATE's by the bits that were seen */
    tm_planes_list rounded; /* of 16 bits: where there is a list, plane_fragments has a rounded template's alone, and windows are
                             * listed; *running_bests is the list's best, and best and blocks are not set */
} tm_tensor_pixels_job;

/* Makes the fragments of count templates of at most TM_TENSOR_TAPS, one after the
 * other in device memory. The caller frees *fragments with tm_device_free. tm_tensor_launch_listed
 * needs no more; whatever else is launched needs the rest, which is made behind them. */
cudaError_t tm_tensor_prepare(const tm_tensor_device *device, const uint8_t *taps, int width,
                              int height, int count, void **fragments, cudaStream_t stream);
cudaError_t tm_tensor_prepare_rest(const tm_tensor_device *device, const uint8_t *taps, int width,
                                   int height, int count, void *fragments, cudaStream_t stream);

/* Whether LCC of one template, with its map or without, is made by wgmma_wide.cu or wgmma_tall.cu; and the
 * fragments for that. */
bool tm_tensor_uses_wide(const tm_tensor_device *device, const tm_geometry *geometry, bool map);
/* The bytes of a map of sums S_FT of parts of a job's template, which this takes with those fragments; 0: it takes none. */
size_t tm_tensor_partial_bytes(const tm_tensor_device *device, const tm_tensor_job *job);
cudaError_t tm_tensor_prepare_wide(const uint8_t *taps, int width, int height, void **fragments,
                                   cudaStream_t stream);

/* Brings the scratch into the state in which every successful launch leaves it. */
cudaError_t tm_tensor_reset(const tm_tensor_device *device, cudaStream_t stream);

/* cudaErrorNotSupported where the template has more taps than TM_TENSOR_TAPS or does
 * not fit the kernels' shared memory: nothing was launched. */
cudaError_t tm_tensor_launch(const tm_tensor_device *device, const tm_tensor_job *job,
                             cudaStream_t stream);

/* Whether LCC of many templates of one size, without maps, is made by wgmma_many.cu. */
bool tm_tensor_takes_groups(const tm_tensor_device *device);

/* Whether LCC of so many templates with a common mask, and without a map, is made of sums that are there. */
bool tm_tensor_shares_mask(const tm_tensor_device *device, const tm_geometry *geometry, int count);

/* Likewise the best of the list's tiles, for LCC of one template without a map, of a size that can be
 * listed. early: the launch may begin while the kernel before ends. */
bool tm_tensor_can_list(const tm_tensor_device *device, int width, int height);
cudaError_t tm_tensor_launch_listed(const tm_tensor_device *device, const tm_tensor_job *job, bool early,
                                    cudaStream_t stream);

/* Whether this device makes that job, whose pointers may not be set yet; and whether it does so by wgmma_tall_masked.cu, whose
 * fragments are tm_tensor_prepare_wide's and which needs scratch. */
bool tm_tensor_takes_masked(const tm_tensor_device *device, const tm_tensor_masked_job *job);
bool tm_tensor_takes_wide_masked(const tm_tensor_device *device, const tm_tensor_masked_job *job);
size_t tm_tensor_masked_scratch(const tm_tensor_masked_job *job);
cudaError_t tm_tensor_launch_masked(const tm_tensor_device *device, const tm_tensor_masked_job *job,
                                    cudaStream_t stream);

/* Whether that job, whose pointers may not be set yet, takes less time so than by planes. */
bool tm_tensor_takes_pixels(const tm_tensor_device *device, const tm_tensor_pixels_job *job);
cudaError_t tm_tensor_launch_pixels(const tm_tensor_device *device, const tm_tensor_pixels_job *job, cudaStream_t stream);

/* The same where not all windows need be scored: the best may be TM_NO_CANDIDATE, and is not known. The frame begins at a multiple of 16 bytes,
 * and as many as make one can be read behind it. Gray of 8 bits is a plane as others are launched on, and its job has templates. The
 * fragments, bound_fragments alone, are made of the template as it lies in device memory, whose pixels have so many bytes; of gray of 8 bits
 * its mask lies behind it, and on the host, and cudaErrorNotSupported says that too few pixels in one place count. */
bool tm_tensor_takes_bound(const tm_tensor_device *device, const tm_tensor_pixels_job *job);
size_t tm_tensor_bound_bytes(int bytes, int width, int height);
cudaError_t tm_tensor_prepare_bound(void *fragments, const uint8_t *taps, const uint8_t *host_mask, int bytes, int width, int height,
                                    cudaStream_t stream);
cudaError_t tm_tensor_launch_bound(const tm_tensor_device *device, const tm_tensor_pixels_job *job, cudaStream_t stream);

/* Whether these steps, whose fragments may not be set yet, take less time by wgmma_tall_planes.cu, which makes
 * them where they have their forms for wide templates. */
bool tm_tensor_takes_wide_steps(const tm_tensor_device *device, const tm_tensor_steps *job);

/* The microseconds that so many products take there on an H100 at least, as each multiprocessor makes a tile of one at a time; 0 if
 * these are not made there. */
double tm_tensor_wide_steps_us(const tm_tensor_device *device, const tm_geometry *geometry, int count);

/* Sums of products of so many planes with a direction's bytes (lcc/direction.h), in their forms for wide templates: of each 8 neighbouring
 * windows of a row the greatest, as int32_t to the last step's map, rows of tops stride elements apart; rows: that there must be. Whether
 * this takes steps whose pointers may not be set yet; where it does not, nothing is launched: cudaErrorNotSupported. */
bool tm_tensor_takes_tops(const tm_tensor_device *device, const tm_tensor_steps *job);
void tm_tensor_tops_size(const tm_device_windows *windows, int64_t *stride, int64_t *rows);
cudaError_t tm_tensor_launch_tops(const tm_tensor_device *device, const tm_tensor_steps *job, cudaStream_t stream);

/* As tm_tensor_launch, without scratch. */
cudaError_t tm_tensor_launch_steps(const tm_tensor_device *device, const tm_tensor_steps *job,
                                   cudaStream_t stream);

#endif
