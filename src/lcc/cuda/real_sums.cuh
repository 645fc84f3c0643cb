/* SPDX-License-Identifier: MIT */
/* Sums over the float windows of a tile, in binary64. A block takes 128 x 16 windows, a
 * half of a warp a row of them and a thread eight neighbours, which share the samples
 * that it has in registers. The frame below the tile and the template come through
 * shared memory in panels.
 *
 * F' = F - pivot is made when a sample is read: each row of windows has its own pivot,
 * so that no score depends on where a frame is cut into rows. */
#ifndef TMATCH_LCC_CUDA_REAL_SUMS_CUH
#define TMATCH_LCC_CUDA_REAL_SUMS_CUH

#include "lcc/cuda/real.cuh"

#define EACH 8   /* windows of a thread */
#define LANES 16 /* threads of a row of windows */
#define TILE_WIDTH (LANES * EACH)
#define TILE_HEIGHT 16
#define THREADS (LANES * TILE_HEIGHT)
#define WARPS (THREADS / 32)
#define PANEL_WIDTH 32 /* of the template */
#define PANEL_HEIGHT 16
#define COLUMNS (TILE_WIDTH + PANEL_WIDTH)
#define STRIDE (COLUMNS + COLUMNS / EACH)
#define OWN_COLUMNS (COLUMNS / LANES) /* of a thread, where columns are added up */

static_assert(PANEL_WIDTH * PANEL_HEIGHT <= TM_REAL_PART, "a panel is at most one part");

/* Where column i of a row lies: the gaps keep threads that read eight apart in
 * different banks. */
static __device__ __forceinline__ int at(int i)
{
    return i + i / EACH;
}

struct panel {
    double frame[TILE_HEIGHT + PANEL_HEIGHT - 1][STRIDE];
    double taps[PANEL_HEIGHT][PANEL_WIDTH];
};

struct tile {
    int64_t x, y;      /* its first window in the map */
    int64_t left, top; /* in the frame */
    int row, lane;     /* of windows; of the thread in the row */
};

/* As tm_parted, of a thread's windows. */
struct parts {
    double part[EACH], whole[EACH];
    int terms;

    __device__ __forceinline__ void settle()
    {
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            whole[r] += part[r];
            part[r] = 0;
        }
        terms = 0;
    }

    __device__ __forceinline__ void count(int more)
    {
        terms += more;
        if (terms >= TM_REAL_PART)
            settle();
    }
};

static __device__ __forceinline__ double sample_of(const tm_real_launch &l, int64_t x, int64_t y,
                                                   int channel)
{
    if (x < 0 || y < 0 || x >= l.frame_width || y >= l.frame_height)
        return 0;
    return (double)l.samples[(y * l.frame_width + x) * l.scorer.channels + channel];
}

/* What is staged for the frame's mask: 1 where a pixel is left out. */
#define LEFT_OUT (-1)

static __device__ void stage_frame(panel &p, const tm_real_launch &l, const tile &t, int channel,
                                   int u, int v, int columns, int rows)
{
    const int lane = threadIdx.x % 32;

    for (int row = threadIdx.x / 32; row < rows; row += WARPS) {
        const int64_t y = t.top + v + row;
        for (int i = lane; i < columns; i += 32) {
            const int64_t x = t.left + u + i;
            double value = 0;
            if (channel != LEFT_OUT)
                value = sample_of(l, x, y, channel);
            else if (x >= 0 && y >= 0 && x < l.frame_width && y < l.frame_height)
                value = l.mask[y * l.frame_width + x] == 0;
            p.frame[row][at(i)] = value;
        }
    }
}

/* PRODUCTS: F'*T. DISTANCES: (F - T)^2. SUMS and SQUARES: of F', over the template's
 * mask. */
enum { PRODUCTS, DISTANCES, SUMS, SQUARES };

template <int WHAT>
static __device__ void stage_taps(panel &p, const tm_real_launch &l, int channel, int u, int v,
                                  int width, int height)
{
    const int64_t n = (int64_t)l.width * l.height;

    for (int i = threadIdx.x; i < height * PANEL_WIDTH; i += THREADS) {
        const int row = i / PANEL_WIDTH, column = i % PANEL_WIDTH;
        if (column >= width)
            continue;
        const int64_t pixel = (int64_t)(v + row) * l.width + u + column;
        const bool counts = !l.counts || l.counts[pixel];
        double tap = counts;
        if (WHAT == PRODUCTS || WHAT == DISTANCES)
            tap = l.taps[channel * n + pixel];
        if (WHAT == DISTANCES && !counts)
            tap = NAN;
        p.taps[row][column] = tap;
    }
}

template <int WHAT, bool CENTRED>
static __device__ __forceinline__ double term_of(double sample, double pivot)
{
    if (CENTRED)
        sample -= pivot;
    return WHAT == SQUARES ? sample * sample : sample;
}

template <int WHAT, bool MASKED>
static __device__ __forceinline__ void add_tap(double (&sums)[EACH], const double (&terms)[EACH],
                                               int k, double tap)
{
    if (WHAT == DISTANCES && MASKED && isnan(tap))
        return;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        double term = terms[(k + r) % EACH];
        if (WHAT == DISTANCES)
            term -= tap;
        sums[r] = fma(term, WHAT == DISTANCES ? term : tap, sums[r]);
    }
}

/* A row of the panel. terms[i % EACH] is sample i of those from the first window on. */
template <int WHAT, bool CENTRED, bool MASKED>
static __device__ __forceinline__ void add_row(double (&sums)[EACH], const double *row,
                                               const double *taps, int width, double pivot)
{
    double terms[EACH];
    int u = 0;

#pragma unroll
    for (int i = 0; i < EACH; i++)
        terms[i] = term_of<WHAT, CENTRED>(row[i], pivot);
    for (; u + EACH <= width; u += EACH) {
        row += EACH + 1;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            add_tap<WHAT, MASKED>(sums, terms, k, taps[u + k]);
            terms[k] = term_of<WHAT, CENTRED>(row[k], pivot);
        }
    }
    row += EACH + 1;
#pragma unroll
    for (int k = 0; k < EACH - 1; k++) {
        if (u + k >= width)
            break;
        add_tap<WHAT, MASKED>(sums, terms, k, taps[u + k]);
        terms[k] = term_of<WHAT, CENTRED>(row[k], pivot);
    }
}

/* One sum over all taps of a channel. */
template <int WHAT, bool CENTRED, bool MASKED>
static __device__ void correlate(panel &p, const tm_real_launch &l, const tile &t, int channel,
                                 double pivot, parts &to)
{
    for (int v = 0; v < l.height; v += PANEL_HEIGHT) {
        const int height = min(PANEL_HEIGHT, l.height - v);
        for (int u = 0; u < l.width; u += PANEL_WIDTH) {
            const int width = min(PANEL_WIDTH, l.width - u);
            __syncthreads();
            stage_frame(p, l, t, channel, u, v, TILE_WIDTH + (width + EACH - 1) / EACH * EACH,
                        TILE_HEIGHT + height - 1);
            stage_taps<WHAT>(p, l, channel, u, v, width, height);
            __syncthreads();
            for (int row = 0; row < height; row++)
                add_row<WHAT, CENTRED, MASKED>(to.part, &p.frame[t.row + row][at(EACH * t.lane)],
                                               p.taps[row], width, pivot);
            to.count(height * width);
        }
    }
}

/* Adds what columns add up to over the windows: in the row's place in the panel, which
 * nobody reads any more. */
static __device__ __forceinline__ void add_columns(panel &p, const tile &t,
                                                   const double (&columns)[OWN_COLUMNS], int width,
                                                   parts &to)
{
    const double *row = &p.frame[t.row][at(EACH * t.lane)];
    double terms[EACH];

    __syncwarp();
#pragma unroll
    for (int j = 0; j < OWN_COLUMNS; j++)
        p.frame[t.row][at(t.lane + LANES * j)] = columns[j];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < EACH; i++)
        terms[i] = row[i];
    for (int u = 0; u < width; u += EACH) {
        row += EACH + 1;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (u + k >= width)
                break;
#pragma unroll
            for (int r = 0; r < EACH; r++)
                to.part[r] += terms[(k + r) % EACH];
            terms[k] = row[k];
        }
    }
    to.count(width);
}

/* Sums of F' and of its squares over whole windows: first the rows above each other. */
template <bool WITH_SUMS, bool WITH_SQUARES, bool CENTRED>
static __device__ void add_boxes(panel &p, const tm_real_launch &l, const tile &t, int channel,
                                 double pivot, parts &s_f, parts &s_ff)
{
    for (int first = 0; first < l.height; first += TM_REAL_PART) {
        const int last = min(first + TM_REAL_PART, l.height);
        for (int u = 0; u < l.width; u += PANEL_WIDTH) {
            const int width = min(PANEL_WIDTH, l.width - u);
            double sums[OWN_COLUMNS] = {}, squares[OWN_COLUMNS] = {};
            for (int v = first; v < last; v += PANEL_HEIGHT) {
                const int height = min(PANEL_HEIGHT, last - v);
                __syncthreads();
                stage_frame(p, l, t, channel, u, v, COLUMNS, TILE_HEIGHT + height - 1);
                __syncthreads();
                for (int row = 0; row < height; row++) {
#pragma unroll
                    for (int j = 0; j < OWN_COLUMNS; j++) {
                        const double f = term_of<SUMS, CENTRED>(
                            p.frame[t.row + row][at(t.lane + LANES * j)], pivot);
                        if (WITH_SUMS)
                            sums[j] += f;
                        if (WITH_SQUARES)
                            squares[j] = fma(f, f, squares[j]);
                    }
                }
            }
            __syncthreads();
            if (WITH_SUMS)
                add_columns(p, t, sums, width, s_f);
            if (WITH_SQUARES)
                add_columns(p, t, squares, width, s_ff);
        }
    }
}

#endif
