/* SPDX-License-Identifier: MIT */
/* S_FT and LCC on the integer tensor cores, wgmma (sm_90a): one template of at most 25 columns and
 * 31 rows.
 *
 * A block is one warpgroup. It sweeps down a strip of 512 columns, 8 rows of the map a step, over a
 * ring of frame rows: a step stages 8 rows, and no row of the strip is read twice.
 *
 * S_FT: A's line m is the frame's bytes from x0 + 8m on: with each row staged as its 16-byte units
 * [8u, 8u + 16), the units m.. are core matrices as they lie, the second half of k two units on.
 * Column 8j + c of B is T[y - j] shifted by c, for the frame's row y: with the template's rows in
 * descending order, B for the next row starts one block earlier.
 *
 * S_F and S_FF, tensor_slide.cuh, come in the same registers as S_FT: no warp waits for another's
 * sums. The products of a step run while its warps prepare them. */
#define TC_TW 512
#define TC_TH 8
#include "lcc/cuda/tensor/columns.cuh"
#include "lcc/cuda/tensor/slide.cuh"

enum { BLOCK = 256, MOST_BLOCKS = 3, FIXED = 256 }; // blocks an SM; bytes that a block declares

/* more: add to d. Only the low words of the descriptors change: K-major, no swizzle; 128 bytes from
 * 8 lines of A to the next, BLOCK from a row's columns of B to the next row's. */
__device__ __forceinline__ void wgmma(int (&d)[8][4], unsigned a, unsigned b, int more)
{
    asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.s32 p, %34, 0; mov.b64 a, {%32, 8}; "
                 "mov.b64 b, {%33, 16}; "
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, a, b, p;}"
                 : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3]), "+r"(d[1][0]),
                   "+r"(d[1][1]), "+r"(d[1][2]), "+r"(d[1][3]), "+r"(d[2][0]), "+r"(d[2][1]),
                   "+r"(d[2][2]), "+r"(d[2][3]), "+r"(d[3][0]), "+r"(d[3][1]), "+r"(d[3][2]),
                   "+r"(d[3][3]), "+r"(d[4][0]), "+r"(d[4][1]), "+r"(d[4][2]), "+r"(d[4][3]),
                   "+r"(d[5][0]), "+r"(d[5][1]), "+r"(d[5][2]), "+r"(d[5][3]), "+r"(d[6][0]),
                   "+r"(d[6][1]), "+r"(d[6][2]), "+r"(d[6][3]), "+r"(d[7][0]), "+r"(d[7][1]),
                   "+r"(d[7][2]), "+r"(d[7][3])
                 : "r"(a), "r"(b), "r"(more));
}

/* ROWS products, each of the row below the one before. They are a group with a fence of its own:
 * ptxas keeps neither open from one basic block to the next. It adds to each block what it lacks,
 * and makes an empty product of a commit that stands alone. */
template <int ROWS>
__device__ __forceinline__ void batch(int (&acc)[8][4], unsigned &a, unsigned &b, int more)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < ROWS; i++, more = 1, a += TC_ROW_BYTES / 16, b -= BLOCK / 16)
        wgmma(acc, a, b, more);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* 7 zero blocks stand at each end of B, for the rows that the first and last products reach beyond.
 * The ring turns between groups of 8 rows. */
__device__ __forceinline__ void products(int (&acc)[8][4], const tc_ring &ring, unsigned frag,
                                         int h)
{
    /* the low words: address, and the bytes to the second half of k, in 16 bytes */
    unsigned b = __shfl_sync(~0u, frag + (h + 6) * BLOCK >> 4 | 128 / 16 << 16, 0),
             top = __shfl_sync(~0u, ring.rows >> 4 | 32 / 16 << 16, 0);
    unsigned a = top + __shfl_sync(~0u, ring.first, 0) * (TC_ROW_BYTES / 16),
             turn = ring.count * (TC_ROW_BYTES / 16);
    int rows = h + 7;
#pragma unroll 1
    for (int i = 0; i < rows / 8; i++) {
        batch<8>(acc, a, b, i);
        a = a < top + turn ? a : a - turn;
    }
    if (rows & 4)
        batch<4>(acc, a, b, 1);
    if (rows & 2)
        batch<2>(acc, a, b, 1);
    if (rows & 1)
        batch<1>(acc, a, b, 1);
}

/* A thread's part of 8 rows on their way into the ring. */
struct stager {
    const uint8_t *frame, *frame_rest; // of a step at column 0, row 0
    size_t pitch;
    unsigned to, to_rest; // in a group

    __device__ __forceinline__ stager(const tm_tensor_job &j)
    {
        int row = threadIdx.x / 64, u = threadIdx.x % 64, row_rest = threadIdx.x / 3,
            u_rest = 64 + threadIdx.x % 3;
        pitch = j.pitch;
        frame = j.frame + row * pitch + 8 * u;
        frame_rest = j.frame + row_rest * pitch + 8 * u_rest;
        to = row * TC_ROW_BYTES + 16 * u;
        to_rest = row_rest * TC_ROW_BYTES + 16 * u_rest;
    }

    __device__ __forceinline__ static void copy(unsigned dst, const uint8_t *src)
    {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8; cp.async.ca.shared.global "
                     "[%0 + 8], [%1 + 8], 8;" ::"r"(dst),
                     "l"(src)
                     : "memory");
    }

    /* the group at address group, from the frame's column x and row y on */
    __device__ __forceinline__ void stage(unsigned group, int64_t x, int64_t y) const
    {
        size_t at = (size_t)y * pitch + x;
        const uint8_t *src = frame + at;
#pragma unroll
        for (int i = 0; i < 8; i += 2, src += 2 * pitch)
            copy(group + to + i * TC_ROW_BYTES, src);
        if (threadIdx.x < 24)
            copy(group + to_rest, frame_rest + at);
    }
};

template <tm_tensor_outcome OUTCOME, bool MAP, bool SMALL>
static __global__ void __launch_bounds__(TC_THREADS, OUTCOME == TM_TENSOR_LCC ? MOST_BLOCKS : 4)
    wgmma_kernel(tm_tensor_job j, tc_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tc_best bests[TC_THREADS / 32];
    const bool lcc = OUTCOME == TM_TENSOR_LCC;
    const bool shift = lcc && j.map_width >= TW && j.map_width % 8 == 0;
    int h = j.height, blocks = h + 14, warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    unsigned frag = (unsigned)__cvta_generic_to_shared(smem);
    tc_ring ring = {frag + blocks * BLOCK, tc_ring_rows(h), 0};
    int ahead = ring.count - 8;
    unsigned planes = ring.rows + ring.count * TC_ROW_BYTES + 16;

    tc_wait_for_launches();
    const unsigned sweepers = gridDim.x - p.others;
    const bool sweeps = blockIdx.x < sweepers;
    int t = sweeps ? (int)((int64_t)p.tiles * blockIdx.x / sweepers) : 0;
    int end = sweeps ? (int)((int64_t)p.tiles * (blockIdx.x + 1) / sweepers) : 0;
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    stager staged(j);
    auto column = [&] { // the last strip over a part of the one before, rather than over the edge
        int64_t x = (int64_t)tx * TW;
        return shift ? min(x, j.map_width - TW) : x;
    };
    auto begin = [&] {
        for (int r = 0; r < ahead; r += 8)
            staged.stage(ring.group(r), column(), (int64_t)ty * TH + r);
    };
    if (sweeps) { // before all that waits for memory
        for (int i = threadIdx.x; i < blocks * BLOCK / 16; i += TC_THREADS)
            tc_copy16(frag + 16 * i, (const uint4 *)j.fragments + i);
        begin();
    }
    tc_slide_template tmpl = {};
    if (lcc)
        tmpl = tc_slide_template::of<SMALL>(j);
    tc_best best = {0, INT_MIN};
    tc_slide_sums slide(j.width, warp);
    for (bool first = true; t < end; t++, first = false) {
        int64_t x = column(), y = (int64_t)ty * TH;
        bool fresh = ty == 0 || first;
        if (fresh && !first) {
            ring.first = 0;
            __syncthreads();
            begin();
        }
        if (++ty == p.tiles_y)
            ty = 0, tx++;
        int acc[8][4], running_best = lcc || j.best ? __ldcg(j.running_bests) : 0;
        tc_copy_wait();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        products(acc, ring, frag, h);
        if (ty && t + 1 < end)
            staged.stage(ring.group(ahead), x, y + ahead);
        tc_ring_pair rows(ring, h);
        if (lcc) {
            if (fresh)
                slide.start(ring, planes, h);
            tc_difference_planes(rows, planes);
            __syncthreads();
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 32; i++)
            asm volatile("" : "+r"(acc[i / 4][i & 3])::"memory"); // no use moves up
        if (lcc)
            tc_slide_finish<MAP, SMALL>(acc, slide, rows, planes, j, tmpl, running_best, best,
                                        x + 128 * warp, y);
        else
            tc_finish_sums(acc, j, 0, running_best, best, x + 128 * warp, y);
        ring.step();
    }
    if (lcc && !sweeps)
        tc_columns<MAP>(j, BLOCK, blockIdx.x - sweepers, p.others, best);
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tc_peaks<OUTCOME>(j, bests);
}

/* Blocks of 8 shifts x 32 bytes of k, in the order of the core matrices; rows descending. */
static __global__ void wgmma_fragments(uint8_t *frag, const uint8_t *tmpl, int w, int h)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (h + 14) * BLOCK;
         i += gridDim.x * blockDim.x) {
        int r = h + 6 - i / BLOCK, c = i / 16 % 8, x = i / 128 % 2 * 16 + i % 16 - c;
        frag[i] = r >= 0 && r < h && x >= 0 && x < w ? tmpl[r * w + x] : 0;
    }
}

size_t tc_wgmma_frag_bytes(int, int h, int)
{
    return (size_t)(h + 14) * BLOCK;
}

cudaError_t tc_wgmma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int,
                             cudaStream_t stream)
{
    wgmma_fragments<<<32, 256, 0, stream>>>((uint8_t *)frag, tmpl, w, h);
    return cudaGetLastError();
}

/* Whether var_F and num fit 32 bits whatever the frame: var_F <= (255 n / 2)^2, and
 * num^2 <= var_F var_T. */
static bool is_small(const tm_tensor_job &j)
{
    double n = (double)j.width * j.height, most = 127.5 * 127.5 * n * n;
    return most < 0x1p32 && most * (double)j.variance < 0x1p62;
}

/* Leaves a few last columns to other blocks where that saves all blocks a step. slots: blocks that
 * run at a time. */
static void split(tc_plan *p, const tm_tensor_job &j, int slots)
{
    const int rest = (int)(j.map_width % TW);
    if (j.map_height > 1 << 24 || !rest || rest > TC_COLUMNS || j.map_width < TW)
        return;
    const int64_t lines = (j.map_height + TC_DOWN - 1) / TC_DOWN,
                  others = (rest * lines + TC_THREADS - 1) / TC_THREADS;
    if (others >= slots / 4) // they read all their rows again: many would not be done first
        return;
    const int tiles = p->tiles - p->tiles_y, sweepers = slots - (int)others,
              steps = (tiles + sweepers - 1) / sweepers;
    if (steps >= (p->tiles + slots - 1) / slots)
        return;
    p->tiles = tiles;
    p->others = (int)others;
    p->sweepers = (tiles + steps - 1) / steps;
}

cudaError_t tc_wgmma_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream)
{
    const bool lcc = j.outcome == TM_TENSOR_LCC;
    tc_plan p = {};
    if (j.width > 25 || j.height > 31 || j.count > 1 || !tc_cover(&p, j, TW, TH))
        return cudaErrorNotSupported;
    /* compute-sanitizer takes A for 2048 bytes apart from others: they end in the planes, or
     * 1024 bytes after the last row */
    size_t smem = (size_t)(j.height + 14) * BLOCK + (size_t)tc_ring_rows(j.height) * TC_ROW_BYTES +
                  (lcc ? 16 + 16 * TC_ROW_BYTES : 1024);
    if (lcc)
        split(&p, j, min(tc_fit(smem + FIXED, MOST_BLOCKS, smem_max) * sms, TM_TENSOR_BLOCKS));
    auto kernel = !lcc          ? wgmma_kernel<TM_TENSOR_SUMS, false, false>
                  : is_small(j) ? j.map ? wgmma_kernel<TM_TENSOR_LCC, true, true>
                                        : wgmma_kernel<TM_TENSOR_LCC, false, true>
                  : j.map ? wgmma_kernel<TM_TENSOR_LCC, true, false>
                                : wgmma_kernel<TM_TENSOR_LCC, false, false>;
    return tc_start(kernel, j, p, TC_THREADS, smem, FIXED, lcc ? MOST_BLOCKS : 4, sms, smem_max,
                    true, stream);
}
