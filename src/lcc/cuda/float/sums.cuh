/* SPDX-License-Identifier: MIT */
/* Sums over the float windows of a tile, in binary64. A block makes 128 x 16 windows, half a warp
 * one row of them, and a thread eight neighbours, which share the samples that it has in registers.
 * The frame below the tile and the template are staged in shared memory, one panel of the template
 * after the other.
 *
 * F' = F - pivot is made when a sample is read. Each row of windows has its own pivot, so that no
 * score depends on which rows of a frame are matched together. */
#ifndef TMATCH_LCC_CUDA_FLOAT_SUMS_CUH
#define TMATCH_LCC_CUDA_FLOAT_SUMS_CUH

#include "lcc/cuda/float/f32.cuh"

#define TM_F32_EACH 8   /* windows of a thread */
#define TM_F32_LANES 16 /* threads of a row of windows */
#define TM_F32_TILE_WIDTH (TM_F32_LANES * TM_F32_EACH)
#define TM_F32_TILE_HEIGHT 16
#define TM_F32_THREADS (TM_F32_LANES * TM_F32_TILE_HEIGHT)
#define TM_F32_WARPS (TM_F32_THREADS / 32)
#define TM_F32_PANEL_WIDTH 32 /* columns and rows of the template that are staged at a time */
#define TM_F32_PANEL_HEIGHT 16
#define TM_F32_COLUMNS (TM_F32_TILE_WIDTH + TM_F32_PANEL_WIDTH)
#define TM_F32_STRIDE (TM_F32_COLUMNS + TM_F32_COLUMNS / TM_F32_EACH)
#define TM_F32_OWN_COLUMNS                                                                         \
    (TM_F32_COLUMNS / TM_F32_LANES) /* columns of a thread, where columns are added up */

static_assert(TM_F32_PANEL_WIDTH * TM_F32_PANEL_HEIGHT <= TM_PARTIAL_TERMS,
              "a panel adds at most one part to a partial sum");

/* Where column i of a row lies. The gaps keep threads that read columns eight apart in different
 * banks. */
static __device__ __forceinline__ int tm_f32_at(int i)
{
    return i + i / TM_F32_EACH;
}

struct tm_f32_panel {
    double frame[TM_F32_TILE_HEIGHT + TM_F32_PANEL_HEIGHT - 1][TM_F32_STRIDE];
    double taps[TM_F32_PANEL_HEIGHT][TM_F32_PANEL_WIDTH];
};

struct tm_f32_tile {
    int64_t x, y;      /* its first window in the map */
    int64_t left, top; /* in the frame */
    int row, lane;     /* of windows; of the thread in the row */
};

/* A tm_partial_sum for each of a thread's windows. */
struct tm_partial_sums {
    double part[TM_F32_EACH], whole[TM_F32_EACH];
    int terms;

    __device__ __forceinline__ void settle()
    {
#pragma unroll
        for (int r = 0; r < TM_F32_EACH; r++) {
            whole[r] += part[r];
            part[r] = 0;
        }
        terms = 0;
    }

    __device__ __forceinline__ void count(int more)
    {
        terms += more;
        if (terms >= TM_PARTIAL_TERMS)
            settle();
    }
};

static __device__ __forceinline__ double tm_f32_sample_of(const tm_f32_launch &l, int64_t x,
                                                          int64_t y, int channel)
{
    if (x < 0 || y < 0 || x >= l.frame_width || y >= l.frame_height)
        return 0;
    return (double)l.samples[(y * l.frame_width + x) * l.scorer.channels + channel];
}

/* Stands for a channel: the frame's mask, as 1 where a pixel is left out. */
#define TM_F32_LEFT_OUT (-1)

static __device__ void tm_f32_stage_frame(tm_f32_panel &p, const tm_f32_launch &l,
                                          const tm_f32_tile &t, int channel, int u, int v,
                                          int columns, int rows)
{
    const int lane = threadIdx.x % 32;

    for (int row = threadIdx.x / 32; row < rows; row += TM_F32_WARPS) {
        const int64_t y = t.top + v + row;
        for (int i = lane; i < columns; i += 32) {
            const int64_t x = t.left + u + i;
            double value = 0;
            if (channel != TM_F32_LEFT_OUT)
                value = tm_f32_sample_of(l, x, y, channel);
            else if (x >= 0 && y >= 0 && x < l.frame_width && y < l.frame_height)
                value = l.mask[y * l.frame_width + x] == 0;
            p.frame[row][tm_f32_at(i)] = value;
        }
    }
}

/* What is added up: products F'*T, distances (F - T)^2, or over the template's mask F' and its
 * squares. */
enum { TM_ADD_PRODUCTS, TM_ADD_DISTANCES, TM_ADD_SUMS, TM_ADD_SQUARES };

template <int WHAT>
static __device__ void tm_f32_stage_taps(tm_f32_panel &p, const tm_f32_launch &l, int channel,
                                         int u, int v, int width, int height)
{
    const int64_t n = (int64_t)l.width * l.height;

    for (int i = threadIdx.x; i < height * TM_F32_PANEL_WIDTH; i += TM_F32_THREADS) {
        const int row = i / TM_F32_PANEL_WIDTH, column = i % TM_F32_PANEL_WIDTH;
        if (column >= width)
            continue;
        const int64_t pixel = (int64_t)(v + row) * l.width + u + column;
        const bool counts = !l.counts || l.counts[pixel];
        double tap = counts;
        if (WHAT == TM_ADD_PRODUCTS || WHAT == TM_ADD_DISTANCES)
            tap = l.taps[channel * n + pixel];
        if (WHAT == TM_ADD_DISTANCES && !counts)
            tap = NAN;
        p.taps[row][column] = tap;
    }
}

template <int WHAT, bool CENTRED>
static __device__ __forceinline__ double tm_f32_term_of(double sample, double pivot)
{
    if (CENTRED)
        sample -= pivot;
    return WHAT == TM_ADD_SQUARES ? sample * sample : sample;
}

template <int WHAT, bool MASKED>
static __device__ __forceinline__ void
tm_f32_add_tap(double (&sums)[TM_F32_EACH], const double (&terms)[TM_F32_EACH], int k, double tap)
{
    if (WHAT == TM_ADD_DISTANCES && MASKED && isnan(tap))
        return;
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++) {
        double term = terms[(k + r) % TM_F32_EACH];
        if (WHAT == TM_ADD_DISTANCES)
            term -= tap;
        sums[r] = fma(term, WHAT == TM_ADD_DISTANCES ? term : tap, sums[r]);
    }
}

/* Adds a row of the panel. terms[i % EACH] is sample i, counted from the first window's on. */
template <int WHAT, bool CENTRED, bool MASKED>
static __device__ __forceinline__ void tm_f32_add_row(double (&sums)[TM_F32_EACH],
                                                      const double *row, const double *taps,
                                                      int width, double pivot)
{
    double terms[TM_F32_EACH];
    int u = 0;

#pragma unroll
    for (int i = 0; i < TM_F32_EACH; i++)
        terms[i] = tm_f32_term_of<WHAT, CENTRED>(row[i], pivot);
    for (; u + TM_F32_EACH <= width; u += TM_F32_EACH) {
        row += TM_F32_EACH + 1;
#pragma unroll
        for (int k = 0; k < TM_F32_EACH; k++) {
            tm_f32_add_tap<WHAT, MASKED>(sums, terms, k, taps[u + k]);
            terms[k] = tm_f32_term_of<WHAT, CENTRED>(row[k], pivot);
        }
    }
    row += TM_F32_EACH + 1;
#pragma unroll
    for (int k = 0; k < TM_F32_EACH - 1; k++) {
        if (u + k >= width)
            break;
        tm_f32_add_tap<WHAT, MASKED>(sums, terms, k, taps[u + k]);
        terms[k] = tm_f32_term_of<WHAT, CENTRED>(row[k], pivot);
    }
}

/* Makes one sum over all taps of a channel. */
template <int WHAT, bool CENTRED, bool MASKED>
static __device__ void tm_f32_correlate(tm_f32_panel &p, const tm_f32_launch &l,
                                        const tm_f32_tile &t, int channel, double pivot,
                                        tm_partial_sums &to)
{
    for (int v = 0; v < l.height; v += TM_F32_PANEL_HEIGHT) {
        const int height = min(TM_F32_PANEL_HEIGHT, l.height - v);
        for (int u = 0; u < l.width; u += TM_F32_PANEL_WIDTH) {
            const int width = min(TM_F32_PANEL_WIDTH, l.width - u);
            __syncthreads();
            tm_f32_stage_frame(p, l, t, channel, u, v,
                               TM_F32_TILE_WIDTH +
                                   (width + TM_F32_EACH - 1) / TM_F32_EACH * TM_F32_EACH,
                               TM_F32_TILE_HEIGHT + height - 1);
            tm_f32_stage_taps<WHAT>(p, l, channel, u, v, width, height);
            __syncthreads();
            for (int row = 0; row < height; row++)
                tm_f32_add_row<WHAT, CENTRED, MASKED>(
                    to.part, &p.frame[t.row + row][tm_f32_at(TM_F32_EACH * t.lane)], p.taps[row],
                    width, pivot);
            to.count(height * width);
        }
    }
}

/* Adds the sums of columns up over the windows. They are exchanged through the row's part of the
 * panel, which nobody reads any more. */
static __device__ __forceinline__ void
tm_f32_add_columns(tm_f32_panel &p, const tm_f32_tile &t,
                   const double (&columns)[TM_F32_OWN_COLUMNS], int width, tm_partial_sums &to)
{
    const double *row = &p.frame[t.row][tm_f32_at(TM_F32_EACH * t.lane)];
    double terms[TM_F32_EACH];

    __syncwarp();
#pragma unroll
    for (int j = 0; j < TM_F32_OWN_COLUMNS; j++)
        p.frame[t.row][tm_f32_at(t.lane + TM_F32_LANES * j)] = columns[j];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < TM_F32_EACH; i++)
        terms[i] = row[i];
    for (int u = 0; u < width; u += TM_F32_EACH) {
        row += TM_F32_EACH + 1;
#pragma unroll
        for (int k = 0; k < TM_F32_EACH; k++) {
            if (u + k >= width)
                break;
#pragma unroll
            for (int r = 0; r < TM_F32_EACH; r++)
                to.part[r] += terms[(k + r) % TM_F32_EACH];
            terms[k] = row[k];
        }
    }
    to.count(width);
}

/* A thread's columns of samples, and the sums of F' and of its squares over their rows. */
struct tm_f32_own_columns {
    double sums[TM_F32_OWN_COLUMNS], squares[TM_F32_OWN_COLUMNS];

    /* Leaves out the first columns of a panel's width. */
    __device__ __forceinline__ void move_on()
    {
#pragma unroll
        for (int j = 0; j < TM_F32_OWN_COLUMNS; j++) {
            const int from = j + TM_F32_PANEL_WIDTH / TM_F32_LANES;
            sums[j] = from < TM_F32_OWN_COLUMNS ? sums[from] : 0;
            squares[j] = from < TM_F32_OWN_COLUMNS ? squares[from] : 0;
        }
    }
};

/* Adds rows [first, last) of the window to the last FRESH columns of each thread, which begin u columns from the
 * window's left. */
template <int FRESH, bool WITH_SUMS, bool WITH_SQUARES, bool CENTRED>
static __device__ __forceinline__ void
tm_f32_add_fresh(tm_f32_panel &p, const tm_f32_launch &l, const tm_f32_tile &t, int channel, double pivot, int u,
                 int first, int last, tm_f32_own_columns &columns)
{
    for (int v = first; v < last; v += TM_F32_PANEL_HEIGHT) {
        const int height = min(TM_F32_PANEL_HEIGHT, last - v);
        __syncthreads();
        tm_f32_stage_frame(p, l, t, channel, u, v, FRESH * TM_F32_LANES, TM_F32_TILE_HEIGHT + height - 1);
        __syncthreads();
        for (int row = 0; row < height; row++) {
#pragma unroll
            for (int j = 0; j < FRESH; j++) {
                const int to = TM_F32_OWN_COLUMNS - FRESH + j;
                const double f = tm_f32_term_of<TM_ADD_SUMS, CENTRED>(
                    p.frame[t.row + row][tm_f32_at(t.lane + TM_F32_LANES * j)], pivot);
                if (WITH_SUMS)
                    columns.sums[to] += f;
                if (WITH_SQUARES)
                    columns.squares[to] = fma(f, f, columns.squares[to]);
            }
        }
    }
    __syncthreads();
}

/* Sums of F' and of its squares over all pixels of the windows: first over the rows of each column,
 * then over columns, of which each panel's width has some that the one before had not. */
template <bool WITH_SUMS, bool WITH_SQUARES, bool CENTRED>
static __device__ void tm_f32_add_boxes(tm_f32_panel &p, const tm_f32_launch &l,
                                        const tm_f32_tile &t, int channel, double pivot,
                                        tm_partial_sums &s_f, tm_partial_sums &s_ff)
{
    for (int first = 0; first < l.height; first += TM_PARTIAL_TERMS) {
        const int last = min(first + TM_PARTIAL_TERMS, l.height);
        tm_f32_own_columns columns = {};
        tm_f32_add_fresh<TM_F32_OWN_COLUMNS, WITH_SUMS, WITH_SQUARES, CENTRED>(p, l, t, channel, pivot, 0, first, last,
                                                                               columns);
        for (int u = 0; u < l.width; u += TM_F32_PANEL_WIDTH) {
            const int width = min(TM_F32_PANEL_WIDTH, l.width - u);
            if (u) {
                columns.move_on();
                tm_f32_add_fresh<TM_F32_PANEL_WIDTH / TM_F32_LANES, WITH_SUMS, WITH_SQUARES, CENTRED>(
                    p, l, t, channel, pivot, u + TM_F32_TILE_WIDTH, first, last, columns);
            }
            if (WITH_SUMS)
                tm_f32_add_columns(p, t, columns.sums, width, s_f);
            if (WITH_SQUARES)
                tm_f32_add_columns(p, t, columns.squares, width, s_ff);
        }
    }
}

#endif
