/* SPDX-License-Identifier: MIT */
/* The kernel for every template and every device. A block makes a tile of the map: it stages
 * the frame below the tile and a panel of the template in shared memory, one panel after the
 * other. A thread makes four neighbouring windows, which share words; four-byte dot products
 * give S_FT, S_F and S_FF in one pass. */
#include "integers.h"
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/early.cuh"

#define WARP 32
#define TILE_HEIGHT 8
#define OUTPUTS 4 /* windows of a thread, along x: the bytes of a word */
#define TILE_WIDTH (WARP * OUTPUTS)
#define PANEL 64 /* rows and columns of the template that are staged at a time */
#define THREADS (WARP * TILE_HEIGHT)
#define FRAME_WORDS ((TILE_WIDTH + PANEL) / 4)

static_assert(PANEL * PANEL * 65025LL < 1LL << 32, "a panel's sums fit in 32 bits");

typedef struct panel_sums {
    uint32_t f[OUTPUTS], ff[OUTPUTS], ft[OUTPUTS];
} panel_sums;

/* A mask of the bytes of a word that belong to a panel row of width columns. */
static __device__ uint32_t word_mask(int width, int word)
{
    int bytes = width - 4 * word;
    return bytes >= 4 ? 0xffffffffu : (1u << (8 * bytes)) - 1;
}

template <bool LCC>
static __device__ void add_word(panel_sums *sums, uint32_t word, uint32_t next, uint32_t tap,
                                uint32_t mask)
{
    uint32_t windows[OUTPUTS] = {word, __byte_perm(word, next, 0x4321),
                                 __byte_perm(word, next, 0x5432), __byte_perm(word, next, 0x6543)};
#pragma unroll
    for (int i = 0; i < OUTPUTS; i++) {
        sums->ft[i] = __dp4a(windows[i], tap, sums->ft[i]);
        if (LCC) {
            sums->f[i] = __dp4a(windows[i], mask & 0x01010101u, sums->f[i]);
            sums->ff[i] = __dp4a(windows[i], windows[i] & mask, sums->ff[i]);
        }
    }
}

template <bool LCC>
static __global__ void __launch_bounds__(THREADS) direct_kernel(tm_device_job job, int64_t across)
{
    __shared__ uint32_t frame[TILE_HEIGHT + PANEL - 1][FRAME_WORDS];
    __shared__ uint32_t taps[PANEL][PANEL / 4];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t tile_x = blockIdx.x % across * TILE_WIDTH;
    const int64_t tile_y = blockIdx.x / across * TILE_HEIGHT;
    int64_t s_f[OUTPUTS] = {0}, s_ff[OUTPUTS] = {0}, s_ft[OUTPUTS] = {0};

    for (int v = 0; v < job.height; v += PANEL) {
        for (int u = 0; u < job.width; u += PANEL) {
            const int h = min(PANEL, job.height - v), w = min(PANEL, job.width - u);
            const int words = (w + 3) / 4;

            __syncthreads();
            for (int row = ty; row < TILE_HEIGHT + h - 1; row += TILE_HEIGHT) {
                const uint32_t *from =
                    (const uint32_t *)(job.frame + (tile_y + v + row) * job.pitch + tile_x + u);
                for (int i = tx; i <= TILE_WIDTH / 4 - 1 + words; i += WARP)
                    frame[row][i] = from[i];
            }
            for (int row = ty; row < h; row += TILE_HEIGHT) {
                const uint8_t *from = job.taps + (int64_t)(v + row) * job.width + u;
                for (int i = tx; i < 4 * words; i += WARP)
                    ((uint8_t *)taps[row])[i] = i < w ? from[i] : 0;
            }
            __syncthreads();

            panel_sums sums = {};
            const uint32_t last_mask = word_mask(w, words - 1);
            for (int row = 0; row < h; row++) {
                const uint32_t *from = &frame[ty + row][tx];
                uint32_t word = from[0];
                for (int i = 0; i < words - 1; i++) {
                    uint32_t next = from[i + 1];
                    add_word<LCC>(&sums, word, next, taps[row][i], 0xffffffffu);
                    word = next;
                }
                add_word<LCC>(&sums, word, from[words], taps[row][words - 1], last_mask);
            }
#pragma unroll
            for (int i = 0; i < OUTPUTS; i++) {
                s_f[i] += sums.f[i];
                s_ff[i] += sums.ff[i];
                s_ft[i] += sums.ft[i];
            }
        }
    }

    tm_candidate best = TM_NO_CANDIDATE;
    const int64_t y = tile_y + ty;
    for (int i = 0; i < OUTPUTS; i++) {
        const int64_t x = tile_x + tx * OUTPUTS + i;
        if (x >= job.map_width || y >= job.map_height)
            continue;
        tm_candidate candidate = {s_ft[i], y * job.map_width + x};
        if (LCC) {
            float score = tm_lcc_score(job.n * s_ft[i] - s_f[i] * job.sum,
                                       job.n * s_ff[i] - s_f[i] * s_f[i], job.variance);
            candidate.value = tm_score_order(score);
            if (job.map)
                ((float *)job.map)[candidate.position] = score;
        } else if (job.map) {
            ((int64_t *)job.map)[candidate.position] = s_ft[i];
        }
        if (candidate.value > best.value)
            best = candidate;
    }
    best = tm_block_best<THREADS>(best, ty * WARP + tx);
    if (tx == 0 && ty == 0)
        job.candidates[blockIdx.x] = best;
}

#define REDUCE_THREADS 256

static __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_kernel(const tm_candidate *candidates, int64_t count, tm_candidate *out)
{
    tm_candidate best = TM_NO_CANDIDATE;
    tm_early_wait();
#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * REDUCE_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * REDUCE_THREADS) {
        if (tm_candidate_beats(candidates[i], best))
            best = candidates[i];
    }
    best = tm_block_best<REDUCE_THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        out[blockIdx.x] = best;
}

int64_t tm_direct_blocks(const tm_device_job *job)
{
    return ceil_div(job->map_width, TILE_WIDTH) * ceil_div(job->map_height, TILE_HEIGHT);
}

cudaError_t tm_direct_launch(const tm_device_job *job, tm_metric metric, cudaStream_t stream)
{
    const int64_t blocks = tm_direct_blocks(job);
    const int64_t across = ceil_div(job->map_width, TILE_WIDTH);
    const dim3 threads(WARP, TILE_HEIGHT);

    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    auto kernel = metric == TM_METRIC_LCC ? direct_kernel<true> : direct_kernel<false>;
    return TM_LAUNCH(kernel<<<(unsigned)blocks, threads, 0, stream>>>(*job, across));
}

cudaError_t tm_reduce_launch(const tm_candidate *candidates, int64_t count, tm_candidate *scratch,
                             tm_candidate *best, bool early, cudaStream_t stream)
{
    if (count > 4 * REDUCE_THREADS) { /* below, a launch takes longer than it saves */
        const int64_t wanted = ceil_div(count, REDUCE_THREADS);
        const int blocks = (int)(wanted < TM_REDUCE_BLOCKS ? wanted : TM_REDUCE_BLOCKS);
        cudaError_t error = tm_early_launch(reduce_kernel, blocks, REDUCE_THREADS, 0, early, stream, candidates, count, scratch);
        if (error != cudaSuccess)
            return error;
        candidates = scratch;
        count = blocks;
    }
    return tm_early_launch(reduce_kernel, 1, REDUCE_THREADS, 0, early, stream, candidates, count, best);
}
