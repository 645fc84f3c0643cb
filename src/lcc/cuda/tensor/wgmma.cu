/* SPDX-License-Identifier: MIT */
/* S_FT and LCC on the integer tensor cores, wgmma (sm_90a): one template of at most 25 columns and
 * 31 rows.
 *
 * A block is one warpgroup. It goes down a column of tiles, each 512 columns and 8 rows of the map,
 * which is a step. A ring of frame rows in shared memory (ring.cuh) takes 8 more at each step, so
 * that no row of the column is read twice.
 *
 * S_FT: A's line m is the frame's bytes from x0 + 8m on. With each row staged as overlapping
 * 16-byte units, these are core matrices as they lie, and the second half of k begins two units on.
 * Column 8j + c of B is T[y - j] shifted by c, for the frame's row y. The template's rows stand in
 * descending order, so B for the next row begins one block earlier.
 *
 * S_F and S_FF (running_sums.cuh) come in the same registers as S_FT: no warp waits for another's
 * sums. The tensor cores make the products of a step while its warps prepare their sums. */
#define TM_TENSOR_TILE_WIDTH 512
#define TM_TENSOR_TILE_HEIGHT 8
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/last_columns.cuh"
#include "lcc/cuda/tensor/running_score.cuh"
#include "lcc/cuda/tensor/small_products.cuh"

enum { MOST_BLOCKS = 3, FIXED = 256 }; // on a multiprocessor; bytes that a block declares

/* This thread's part of copying 8 frame rows into the ring: of each row one unit, and some threads
 * another. */
struct stager {
    const uint8_t *frame, *frame_rest; // where it begins in the frame, for column 0 and row 0
    size_t pitch;
    unsigned to, to_rest; // where it goes in a group of the ring

    __device__ __forceinline__ stager(const tm_tensor_job &j)
    {
        int row = threadIdx.x / 64, u = threadIdx.x % 64, row_rest = threadIdx.x / 3,
            u_rest = 64 + threadIdx.x % 3;
        pitch = j.pitch;
        frame = j.frame + row * pitch + 8 * u;
        frame_rest = j.frame + row_rest * pitch + 8 * u_rest;
        to = row * TM_RING_ROW_BYTES + 16 * u;
        to_rest = row_rest * TM_RING_ROW_BYTES + 16 * u_rest;
    }

    /* Begins to copy the rows from the frame's column x and row y on to the group at this address.
     */
    __device__ __forceinline__ void stage(unsigned group, int64_t x, int64_t y) const
    {
        size_t at = (size_t)y * pitch + x;
        const uint8_t *src = frame + at;
#pragma unroll
        for (int i = 0; i < 8; i += 2, src += 2 * pitch)
            tm_ring_copy(group + to + i * TM_RING_ROW_BYTES, src);
        if (threadIdx.x < 24)
            tm_ring_copy(group + to_rest, frame_rest + at);
    }
};

template <tm_tensor_outcome OUTCOME, bool MAP, bool SMALL>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS,
                                         OUTCOME == TM_TENSOR_LCC ? MOST_BLOCKS : 4)
    wgmma_kernel(tm_tensor_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_THREADS / 32];
    const bool lcc = OUTCOME == TM_TENSOR_LCC;
    const bool shift = lcc && j.map_width >= TILE_WIDTH && j.map_width % 8 == 0;
    int h = j.height, blocks = h + 14, warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    unsigned frag = (unsigned)__cvta_generic_to_shared(smem);
    tm_ring ring = {frag + blocks * TM_SMALL_BLOCK, tm_ring_rows(h), 0};
    int ahead = ring.count - 8;
    unsigned planes = ring.rows + ring.count * TM_RING_ROW_BYTES + 16;

    tm_early_begin();
    const unsigned tile_blocks = gridDim.x - p.column_blocks;
    const bool has_tiles = blockIdx.x < tile_blocks;
    int t = has_tiles ? (int)((int64_t)p.tiles * blockIdx.x / tile_blocks) : 0;
    int end = has_tiles ? (int)((int64_t)p.tiles * (blockIdx.x + 1) / tile_blocks) : 0;
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    stager staged(j);
    /* The last column of tiles may lie over a part of the one before, rather than over the edge. */
    auto column = [&] {
        int64_t x = (int64_t)tx * TILE_WIDTH;
        return shift ? min(x, j.map_width - TILE_WIDTH) : x;
    };
    auto begin = [&] {
        for (int r = 0; r < ahead; r += 8)
            staged.stage(ring.group(r), column(), (int64_t)ty * TILE_HEIGHT + r);
    };
    if (has_tiles) { // first of all, because the copies take long
        for (int i = threadIdx.x; i < blocks * TM_SMALL_BLOCK / 16; i += TM_TENSOR_THREADS)
            tm_copy16(frag + 16 * i, (const uint4 *)j.fragments + i);
        begin();
    }
    tm_running_template tmpl = {};
    if (lcc)
        tmpl = tm_running_template::of<SMALL>(j);
    tm_tensor_best best = {0, INT_MIN};
    tm_running_sums window_sums(j.width, warp);
    for (bool first = true; t < end; t++, first = false) {
        int64_t x = column(), y = (int64_t)ty * TILE_HEIGHT;
        bool fresh = ty == 0 || first;
        if (fresh && !first) {
            ring.first = 0;
            __syncthreads();
            begin();
        }
        if (++ty == p.tiles_y)
            ty = 0, tx++;
        int acc[8][4], running_best = lcc || j.best ? __ldcg(j.running_bests) : 0;
        tm_copy_wait();
        tm_wgmma_publish();
        __syncthreads();
        tm_small_products(acc, ring, frag, h, false);
        if (ty && t + 1 < end)
            staged.stage(ring.group(ahead), x, y + ahead);
        tm_ring_pair rows(ring, h);
        if (lcc) {
            if (fresh)
                window_sums.start(ring, planes, h);
            tm_running_differences(rows, planes);
            __syncthreads();
        }
        tm_wgmma_wait();
        tm_wgmma_keep(acc);
        if (lcc)
            tm_running_score<MAP, SMALL>(acc, window_sums, rows, planes, j, tmpl, running_best,
                                         best, x + 128 * warp, y);
        else
            tm_tensor_finish_sums(acc, j, 0, running_best, best, x + 128 * warp, y);
        ring.step();
    }
    if (lcc && !has_tiles)
        tm_last_columns<MAP>(j, blockIdx.x - tile_blocks, p.column_blocks, best);
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tm_tensor_write_bests<OUTCOME>(j, bests);
}

/* The fragments of B: for each template row, from the last to the first, a block of 8 shifts x 32
 * bytes of k, in the order of the core matrices. */
static __global__ void wgmma_fragments(uint8_t *frag, const uint8_t *tmpl, int w, int h)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tm_small_blocks_bytes(h); i += gridDim.x * blockDim.x)
        frag[i] = tm_small_blocks_byte(tmpl, w, h, i);
}

size_t tm_wgmma_fragment_bytes(int height)
{
    return (size_t)tm_small_blocks_bytes(height);
}

cudaError_t tm_wgmma_prepare(void *fragments, const uint8_t *taps, int width, int height,
                             cudaStream_t stream)
{
    return TM_LAUNCH(wgmma_fragments<<<32, 256, 0, stream>>>((uint8_t *)fragments, taps, width, height));
}

/* Whether var_F and num fit 32 bits whatever the frame: var_F <= (255 n / 2)^2, and
 * num^2 <= var_F var_T. */
static bool is_small(const tm_tensor_job &j)
{
    double n = (double)j.width * j.height, most = 127.5 * 127.5 * n * n;
    return most < 0x1p32 && most * (double)j.variance < 0x1p62;
}

/* Gives a few last columns of the map blocks of their own where that saves all others a step.
 * slots: blocks that run at a time. */
static void split_off_columns(tm_tensor_plan *p, const tm_tensor_job &j, int slots)
{
    const int rest = (int)(j.map_width % TILE_WIDTH);
    if (j.map_height > 1 << 24 || !rest || rest > TM_LAST_COLUMNS || j.map_width < TILE_WIDTH)
        return;
    const int64_t lines = (j.map_height + TM_LAST_COLUMN_ROWS - 1) / TM_LAST_COLUMN_ROWS,
                  others = (rest * lines + TM_TENSOR_THREADS - 1) / TM_TENSOR_THREADS;
    if (others >= slots / 4) // they read all rows again, and if they are many they end last
        return;
    const int tiles = p->tiles - p->tiles_y, blocks = slots - (int)others,
              steps = (tiles + blocks - 1) / blocks;
    if (steps >= (p->tiles + slots - 1) / slots)
        return;
    p->tiles = tiles;
    p->column_blocks = (int)others;
    p->tile_blocks = (tiles + steps - 1) / steps;
}

cudaError_t tm_wgmma_launch(const tm_tensor_device *device, const tm_tensor_job &j,
                            cudaStream_t stream)
{
    const bool lcc = j.outcome == TM_TENSOR_LCC;
    tm_tensor_plan p = {};
    if (j.width > 25 || j.height > 31 || j.count > 1 || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    /* compute-sanitizer takes A's lines for 2048 bytes apart: counted so, they end in the planes,
     * or 1024 bytes after the last row */
    tm_tensor_block block = {0, FIXED, MOST_BLOCKS};
    block.shared = (size_t)tm_small_blocks_bytes(j.height) +
                   (size_t)tm_ring_rows(j.height) * TM_RING_ROW_BYTES +
                   (lcc ? 16 + 16 * TM_RING_ROW_BYTES : 1024);
    if (lcc)
        split_off_columns(
            &p, j, min(tm_tensor_fit(device, block) * device->multiprocessors, TM_TENSOR_BLOCKS));
    else
        block.most = 4;
    auto kernel = !lcc          ? wgmma_kernel<TM_TENSOR_SUMS, false, false>
                  : is_small(j) ? j.map ? wgmma_kernel<TM_TENSOR_LCC, true, true>
                                        : wgmma_kernel<TM_TENSOR_LCC, false, true>
                  : j.map ? wgmma_kernel<TM_TENSOR_LCC, true, false>
                                : wgmma_kernel<TM_TENSOR_LCC, false, false>;
    return tm_tensor_start(device, kernel, j, p, block, true, stream);
}
