/* SPDX-License-Identifier: MIT */
/* LCC of many templates on the integer tensor cores, wgmma (sm_90a), without maps.
 *
 * A's lines are 64 neighbouring windows' bytes of a frame row, of which each stands in shared memory as
 * it is (many_rows.cuh): 16 times the frame, but no template is shifted. The columns of B are a group of
 * templates' rows, for one row of the map, and again for the ones below: a template's row is a block of 32
 * bytes for each template of the group, and the blocks stand in descending order, so that those of
 * SHIFTS rows follow each other. The group of a launch stays in shared memory.
 *
 * A warpgroup goes down a strip of 64 columns of windows, SHIFTS rows of it a step. Its products are made
 * while it makes the step's window sums (many_sums.cuh); then it looks for the best (many_score.cuh), while
 * the tensor cores have another warpgroup's products. */
#define TM_TENSOR_WARPGROUPS 2
#define TM_TENSOR_TILE_WIDTH 64
#define TM_TENSOR_TILE_HEIGHT 1
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/many_products.cuh"
#include "lcc/cuda/tensor/many_score.cuh"

enum { MOST_STEPS = 2 };                    // of k, 32 columns of the template each
enum { MOST_ROWS = 128 };                   // of a template
enum { SM_90_SHARED = 232448 };             // bytes that a block may have
enum { FIXED = 256 };                       // bytes that a block declares
enum { BARRIERS = 4 };                      // of a step

/* A launch's job, with a mask's sums, and how many of a block's warpgroups have work. */
struct tm_many_job : tm_tensor_job {
    int workers;
    tm_tensor_masked window_sums;
};

/* MASKED: the window sums are there, under the templates' common mask. */
template <int GROUP, int STEPS, int SHIFTS, bool MASKED>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    many_kernel(tm_many_job j, tm_tensor_plan p)
{
    enum { BLOCK = 32 * GROUP };
    typedef tm_many_ring<SHIFTS, STEPS> ring_type;
    typedef tm_many_scratch<GROUP, STEPS, SHIFTS> scratch_type;
    extern __shared__ __align__(128) uint8_t smem[];
    const int w = j.width, h = j.height, n = MASKED ? j.window_sums.n : w * h, thread = threadIdx.x % TM_MANY_THREADS,
              warpgroup = __shfl_sync(~0u, threadIdx.x / TM_MANY_THREADS, 0),
              workers = j.workers, fragment_bytes = tm_many_blocks(h, SHIFTS) * STEPS * BLOCK,
              ring_bytes = tm_many_rows(h, SHIFTS) * ring_type::ROW;
    const unsigned frag = (unsigned)__cvta_generic_to_shared(smem);
    ring_type ring = {frag + fragment_bytes + warpgroup * ring_bytes, tm_many_rows(h, SHIFTS), 0};
    scratch_type *const scratches = (scratch_type *)(smem + fragment_bytes + workers * ring_bytes);
    scratch_type &scratch = scratches[warpgroup];
    tm_tensor_best *const bests = (tm_tensor_best *)(scratches + workers);

    tm_early_begin();
    for (int i = threadIdx.x; i < fragment_bytes / 16; i += TM_TENSOR_THREADS)
        tm_copy16(frag + 16 * i, (const uint4 *)j.fragments + i);
    for (int i = threadIdx.x; i < TM_TENSOR_THREADS / 32 * j.count; i += TM_TENSOR_THREADS)
        bests[i] = {0, INT_MIN};
    const tm_many_limit limit(j, thread, n);
    tm_many_column column(w);
    const int64_t share = (int64_t)blockIdx.x * workers + warpgroup, shares = (int64_t)gridDim.x * workers;
    const int t = (int)(p.tiles * share / shares),
              steps = warpgroup < workers ? (int)(p.tiles * (share + 1) / shares) - t : 0,
              rounds = (int)((p.tiles + shares - 1) / shares);
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    tm_many_stage<ring_type, (SHIFTS * ring_type::UNITS + TM_MANY_THREADS - 1) / TM_MANY_THREADS> stage(thread);
    tm_copy_wait();
    tm_wgmma_publish();
    __syncthreads();
    bool fresh = true;
    for (int i = 0; i < rounds; i++) {
        tm_many_barrier(warpgroup);
        if (i >= steps) { // as many barriers as others have: racecheck loses track else
            for (int b = 1; b < BARRIERS; b++)
                tm_many_barrier(warpgroup);
            continue;
        }
        const int x = tx * TILE_WIDTH, y = ty * SHIFTS;
        if (fresh) {
            ring.first = 0;
            tm_many_fill(ring, j, x, y, h + SHIFTS - 1);
            tm_wgmma_publish();
        }
        tm_many_barrier(warpgroup);
        if (fresh && !MASKED)
            column.start(ring, h);
        fresh = ++ty == p.tiles_y;
        if (fresh)
            ty = 0, tx++;
        const bool more = i + 1 < steps && !fresh;
        const int running_best = thread < j.count ? __ldcg(j.running_bests + thread) : INT_MIN;
        if (more)
            stage.load(j, x, y + h + SHIFTS - 1, SHIFTS);
        int acc[GROUP / 8 * SHIFTS][4];
        tm_many_multiply<GROUP, STEPS>(acc, ring, frag, h);
        if (!MASKED)
            column.step(ring, scratch, h, i & 1);
        /* After this barrier no warp makes products or scores of the step before. */
        tm_many_barrier(warpgroup);
        if (!MASKED)
            tm_many_add_eights(scratch, w, i & 1);
        if (thread < GROUP)
            scratch.limits[thread] = limit.of(running_best);
        if (more)
            stage.store(ring, h + SHIFTS - 1, SHIFTS);
        tm_wgmma_publish();
        tm_many_barrier(warpgroup);
        const tm_many_step<GROUP, STEPS, SHIFTS> step = {
            &scratch, bests + threadIdx.x / 32 * j.count, n, 0.012f * (float)n, x, y,
            (int)min((int64_t)TILE_WIDTH, j.map_width - x), (int)min((int64_t)SHIFTS, j.map_height - y)};
        tm_many_put_windows(scratch, n, step.cols, step.rows, [&](int s, int c) {
            const int64_t at = (y + s) * j.window_sums.stride + x + c;
            return MASKED ? make_uint2(__ldg(j.window_sums.s_f + at), __ldg(j.window_sums.s_ff + at))
                          : tm_many_sum_window(scratch, w, i & 1, s, c);
        });
        const tm_many_windows<SHIFTS> windows(scratch);
        tm_wgmma_wait();
        tm_wgmma_keep(acc);
        tm_many_score(acc, windows, step, j);
        ring.step();
    }
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

/* The fragments of B: for each group of templates, each step of k and each row, from the last to the first, a
 * block of 32 bytes for each template, in the order of the core matrices. */
static __global__ void many_fragments(uint8_t *frag, const uint8_t *taps, int w, int h, int count, int group, int shifts,
                                      int steps)
{
    const int block = 32 * group, blocks = tm_many_blocks(h, shifts),
              bytes = blocks * steps * block;
    const int64_t all = (int64_t)((count + group - 1) / group) * bytes;
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
        const int e = (int)(i % bytes), k = e / block / blocks, r = h + shifts - 2 - e / block % blocks,
                  c = (int)(i / bytes) * group + e % block / 256 * 8 + e / 16 % 8,
                  x = 32 * k + e / 128 % 2 * 16 + e % 16;
        frag[i] = c < count && r >= 0 && r < h && x < w ? taps[((int64_t)c * h + r) * w + x] : 0;
    }
}

static int many_steps(int w)
{
    return (w + 31) / 32;
}

/* What a launch makes of templates: how many it takes, how many rows of the map a step, and how many of a
 * block's warpgroups have work. */
typedef struct many_shape {
    int group, shifts, workers;
} many_shape;

/* The quickest first; all of no templates where none of them fits. */
static const many_shape shapes[] = {
    {64, 4, 2}, {32, 8, 2}, {64, 2, 2}, {32, 4, 2}, {16, 8, 2}, {64, 2, 1}, {32, 4, 1}, {16, 8, 1}, {16, 4, 1},
};

template <int GROUP, int STEPS, int SHIFTS>
static size_t shared_bytes_of(int h, int workers)
{
    return (size_t)tm_many_blocks(h, SHIFTS) * STEPS * 32 * GROUP +
           workers * ((size_t)tm_many_rows(h, SHIFTS) * tm_many_ring<SHIFTS, STEPS>::ROW +
                      sizeof(tm_many_scratch<GROUP, STEPS, SHIFTS>)) +
           sizeof(tm_tensor_best) * TM_TENSOR_THREADS / 32 * GROUP;
}

template <int STEPS>
static size_t shared_bytes_of(int h, many_shape shape)
{
    auto bytes = shape.group == 64   ? shape.shifts == 4 ? shared_bytes_of<64, STEPS, 4> : shared_bytes_of<64, STEPS, 2>
                 : shape.group == 32 ? shape.shifts == 8 ? shared_bytes_of<32, STEPS, 8> : shared_bytes_of<32, STEPS, 4>
                 : shape.shifts == 8 ? shared_bytes_of<16, STEPS, 8>
                                     : shared_bytes_of<16, STEPS, 4>;
    return bytes(h, shape.workers);
}

static size_t shared_bytes(int w, int h, many_shape shape)
{
    return many_steps(w) == 1 ? shared_bytes_of<1>(h, shape) : shared_bytes_of<2>(h, shape);
}

/* group 0: none. */
static many_shape shape_of(int w, int h, int count)
{
    for (const many_shape &shape : shapes) {
        const bool too_large = shape.group > 16 && shape.group / 2 >= count,
                   takes = many_steps(w) <= (shape.group * shape.shifts > 128 ? 1 : MOST_STEPS);
        if (!too_large && takes && h <= MOST_ROWS && shared_bytes(w, h, shape) <= SM_90_SHARED - FIXED)
            return shape;
    }
    return {};
}

static size_t group_bytes(int w, int h, many_shape shape)
{
    return (size_t)tm_many_blocks(h, shape.shifts) * many_steps(w) * 32 * shape.group;
}

size_t tm_many_fragment_bytes(int width, int height, int count)
{
    const many_shape shape = shape_of(width, height, count);
    return shape.group ? (size_t)((count + shape.group - 1) / shape.group) * group_bytes(width, height, shape) : 0;
}

cudaError_t tm_many_prepare(void *fragments, const uint8_t *taps, int width, int height, int count, cudaStream_t stream)
{
    const many_shape shape = shape_of(width, height, count);
    return TM_LAUNCH(many_fragments<<<256, 256, 0, stream>>>((uint8_t *)fragments, taps, width, height, count,
                                                             shape.group, shape.shifts, many_steps(width)));
}

template <int GROUP, int STEPS, int SHIFTS>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_job &j, many_shape shape, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    const int64_t tiles_y = (j.map_height + SHIFTS - 1) / SHIFTS;
    p.tiles_y = (int)tiles_y;
    p.tiles = (int)((j.map_width + TILE_WIDTH - 1) / TILE_WIDTH * tiles_y);
    const tm_tensor_block block = {shared_bytes(j.width, j.height, shape), FIXED, 1};
    const tm_many_job own = {j, shape.workers, j.masked ? *j.masked : tm_tensor_masked{}};
    auto kernel = j.masked ? many_kernel<GROUP, STEPS, SHIFTS, true> : many_kernel<GROUP, STEPS, SHIFTS, false>;
    return tm_tensor_start(device, kernel, own, p, block, true, stream);
}

static cudaError_t launch_group(const tm_tensor_device *device, const tm_tensor_job &j, many_shape shape,
                                cudaStream_t stream)
{
    const bool one = many_steps(j.width) == 1;
    auto run = shape.group * shape.shifts > 128 ? shape.group == 64 ? launch<64, 1, 4> : launch<32, 1, 8>
               : shape.group == 64              ? one ? launch<64, 1, 2> : launch<64, 2, 2>
               : shape.group == 32              ? one ? launch<32, 1, 4> : launch<32, 2, 4>
               : shape.shifts == 8              ? one ? launch<16, 1, 8> : launch<16, 2, 8>
               : one                            ? launch<16, 1, 4>
                                                : launch<16, 2, 4>;
    return run(device, j, shape, stream);
}

/* Whether this takes less time than mma.cu, as measured on an H200. */
static bool pays(many_shape shape, int count)
{
    return count >= (shape.workers > 1 ? 12 : 16);
}

bool tm_many_takes_map(int64_t width, int64_t height)
{
    return max(width, height) <= 1 << 30 && (width + TILE_WIDTH) / TILE_WIDTH * height <= INT_MAX;
}

static bool takes(const tm_tensor_device *device, const tm_tensor_job &j, many_shape shape)
{
    return shape.group && j.outcome == TM_TENSOR_LCC && !j.map && j.count > 1 &&
           tm_many_takes_map(j.map_width, j.map_height) &&
           (j.masked || device->always_wide || pays(shape, j.count));
}

cudaError_t tm_many_launch(const tm_tensor_device *device, const tm_tensor_job &job, cudaStream_t stream)
{
    tm_tensor_job j = job;
    const many_shape shape = shape_of(j.width, j.height, j.count);
    const int group = shape.group, count = j.count;
    if (!takes(device, j, shape))
        return cudaErrorNotSupported;
    cudaError_t error = cudaSuccess;
    for (int first = 0; first < count && error == cudaSuccess; first += group) {
        j.count = min(group, count - first);
        error = launch_group(device, j, shape, stream);
        j.fragments = (const uint8_t *)j.fragments + group_bytes(j.width, j.height, shape);
        j.templates += group;
        j.running_bests += group;
        j.best += group;
    }
    return error;
}
