/* SPDX-License-Identifier: MIT */
/* For window_sums.cu and window_runs.cu: the sums of a frame's columns over the template's rows; for the
 * former also their prefix sums across a block. */
#ifndef TMATCH_LCC_CUDA_COLUMN_SUMS_CUH
#define TMATCH_LCC_CUDA_COLUMN_SUMS_CUH

#include "lcc/cuda/planes/score.cuh"

#define TM_WINDOW_SUMS_THREADS 256
#define TM_WINDOW_SUMS_SEGMENT (32 * TM_EACH) /* columns of a warp */
#define TM_WINDOW_SUMS_WARPS (TM_WINDOW_SUMS_THREADS / 32)

/* The sums of a thread's columns. */
template <typename SUMS, int CHANNELS>
struct tm_column_sums {
    typename SUMS::FF ff[TM_EACH];
    typename SUMS::F f[CHANNELS][TM_EACH];
    uint32_t touched[TM_EACH];
};

/* One sum's prefixes over the columns of each warp, and behind them each warp's whole sum. */
template <typename T>
struct tm_prefixes {
    T *of, *warps;
};

/* The prefixes of all sums for one row, in shared memory. */
template <typename SUMS, int CHANNELS, bool TOUCH>
struct tm_sums_row {
    enum {
        COLUMN = sizeof(typename SUMS::FF) + CHANNELS * sizeof(typename SUMS::F) +
                 (TOUCH ? sizeof(uint32_t) : 0)
    };
    uint8_t *at;
    int columns;

    static __host__ __device__ int bytes(int columns)
    {
        return (columns + TM_WINDOW_SUMS_WARPS) * COLUMN;
    }

    template <typename T>
    __device__ __forceinline__ tm_prefixes<T> part(int offset) const
    {
        T *of = (T *)(at + offset * (columns + TM_WINDOW_SUMS_WARPS));
        return {of, of + columns};
    }

    __device__ __forceinline__ tm_prefixes<typename SUMS::FF> ff() const
    {
        return part<typename SUMS::FF>(0);
    }

    __device__ __forceinline__ tm_prefixes<typename SUMS::F> f(int k) const
    {
        return part<typename SUMS::F>(sizeof(typename SUMS::FF) + k * sizeof(typename SUMS::F));
    }

    __device__ __forceinline__ tm_prefixes<uint32_t> touched() const
    {
        return part<uint32_t>(COLUMN - sizeof(uint32_t));
    }
};

/* The two bytes that two words each have in two columns, as __byte_perm takes them: of columns 0 and 1, and of 2 and 3. */
struct tm_pairs {
    unsigned first = 0x5140, second = 0x7362;
};

/* A thread's part of a frame row: four bytes of each plane. */
template <typename SUMS, int CHANNELS, bool TOUCH>
struct tm_row_words {
    enum { BYTES = sizeof(typename SUMS::FF) == 4 ? 1 : 2 };
    uint32_t f[CHANNELS][BYTES], z;

    __device__ __forceinline__ void load(const tm_planes_score &c, const uint8_t *row)
    {
        const int64_t plane = c.planes.rows * (int64_t)c.planes.pitch;
#pragma unroll
        for (int k = 0; k < CHANNELS; k++) {
            const bool there = CHANNELS == 1 || k < c.channels;
            const uint8_t *at = row + k * (BYTES == 1 ? 1 : c.bytes) * plane;
            f[k][0] = there ? __ldg((const uint32_t *)at) : 0;
            if (BYTES == 2)
                f[k][BYTES - 1] = there && c.bytes == 2 ? __ldg((const uint32_t *)(at + plane)) : 0;
        }
        z = TOUCH ? __ldg((const uint32_t *)(row + c.z_plane * plane)) : 0;
    }

    /* pairs: where the columns of samples of 16 bits are */
    __device__ __forceinline__ uint32_t sample(int k, int i, tm_pairs pairs = {}) const
    {
        if (BYTES == 1)
            return f[k][0] >> 8 * i & 255;
        const uint32_t pair = __byte_perm(f[k][0], f[k][BYTES - 1], i & 2 ? pairs.second : pairs.first);
        return i & 1 ? pair >> 16 : pair & 0xffff;
    }
};

/* Transposes 4 x 4 bytes, a word being a row. pairs: where the columns are. */
static __device__ __forceinline__ void tm_transpose(const uint32_t (&from)[TM_EACH], uint32_t (&to)[TM_EACH], tm_pairs pairs = {})
{
    const uint32_t a = __byte_perm(from[0], from[1], pairs.first), b = __byte_perm(from[0], from[1], pairs.second);
    const uint32_t c = __byte_perm(from[2], from[3], pairs.first), d = __byte_perm(from[2], from[3], pairs.second);
    to[0] = __byte_perm(a, c, 0x5410), to[1] = __byte_perm(a, c, 0x7632);
    to[2] = __byte_perm(b, d, 0x5410), to[3] = __byte_perm(b, d, 0x7632);
}

/* Adds a frame row to the columns, or takes it away. */
template <typename SUMS, int CHANNELS, bool TOUCH>
static __device__ __forceinline__ void
tm_column_sums_add(tm_column_sums<SUMS, CHANNELS> *s,
                   const tm_row_words<SUMS, CHANNELS, TOUCH> &row, bool leaves)
{
    typedef typename SUMS::F F;
    typedef typename SUMS::FF FF;
#pragma unroll
    for (int i = 0; i < TM_EACH; i++) {
        FF squares = leaves ? 0 : s->ff[i];
#pragma unroll
        for (int k = 0; k < CHANNELS; k++) {
            const uint32_t f = row.sample(k, i);
            s->f[k][i] += leaves ? (F)0 - f : (F)f;
            squares += f * f;
        }
        s->ff[i] = leaves ? s->ff[i] - squares : squares;
        if (TOUCH)
            s->touched[i] += leaves ? 0 - (row.z >> 8 * i & 255) : row.z >> 8 * i & 255;
    }
}

/* Adds frame rows to the columns, four at a time, whose bytes are transposed first: then a column's are one word, and its sum and
 * that of its squares are dot products. */
template <typename SUMS, int CHANNELS, bool TOUCH>
static __device__ __forceinline__ void tm_add_rows(const tm_planes_score &c,
                                                   tm_column_sums<SUMS, CHANNELS> *s,
                                                   const uint8_t *row, int count)
{
    typedef tm_row_words<SUMS, CHANNELS, TOUCH> row_words;
    enum { AT_ONCE = 4, BYTES = row_words::BYTES };
    enum { MOST_ROWS = 16384 }; /* whose products of bytes, of four channels, fit 32 bits */
    enum { LOW, LOW_HIGH = BYTES - 1, HIGH = 2 * BYTES - 2, PRODUCTS };
    const int64_t pitch = (int64_t)c.planes.pitch;
    const uint32_t ones = 0x01010101;

    for (int v = 0; v < count; v += MOST_ROWS) {
        uint32_t sum[CHANNELS][BYTES][TM_EACH] = {}, product[PRODUCTS][TM_EACH] = {}; /* of samples' low and high bytes */
        auto add = [&](int r, int rows) {
            row_words words[AT_ONCE] = {};
            uint32_t column[BYTES][TM_EACH];
#pragma unroll
            for (int q = 0; q < AT_ONCE; q++)
                if (q < rows)
                    words[q].load(c, row + (r + q) * pitch);
#pragma unroll
            for (int k = 0; k < CHANNELS; k++) {
#pragma unroll
                for (int b = 0; b < BYTES; b++)
                    tm_transpose({words[0].f[k][b], words[1].f[k][b], words[2].f[k][b], words[3].f[k][b]}, column[b]);
#pragma unroll
                for (int i = 0; i < TM_EACH; i++) {
#pragma unroll
                    for (int b = 0; b < BYTES; b++)
                        sum[k][b][i] = __dp4a(column[b][i], ones, sum[k][b][i]);
                    const uint32_t low = column[0][i], high = column[BYTES - 1][i];
                    product[LOW][i] = __dp4a(low, low, product[LOW][i]);
                    if (BYTES == 2) {
                        product[LOW_HIGH][i] = __dp4a(low, high, product[LOW_HIGH][i]);
                        product[HIGH][i] = __dp4a(high, high, product[HIGH][i]);
                    }
                }
            }
            if (TOUCH) {
                tm_transpose({words[0].z, words[1].z, words[2].z, words[3].z}, column[0]);
#pragma unroll
                for (int i = 0; i < TM_EACH; i++)
                    s->touched[i] = __dp4a(column[0][i], ones, s->touched[i]);
            }
        };
        const int end = min(v + (int)MOST_ROWS, count);
        int r = v;
#pragma unroll 2
        for (; r + AT_ONCE <= end; r += AT_ONCE)
            add(r, AT_ONCE);
        add(r, end - r);
#pragma unroll
        for (int i = 0; i < TM_EACH; i++) {
            typedef typename SUMS::F F;
            typedef typename SUMS::FF FF;
#pragma unroll
            for (int k = 0; k < CHANNELS; k++)
#pragma unroll
                for (int b = 0; b < BYTES; b++)
                    s->f[k][i] += (F)sum[k][b][i] << 8 * b;
            s->ff[i] += product[LOW][i];
            if (BYTES == 2)
                s->ff[i] += ((FF)product[LOW_HIGH][i] << 9) + ((FF)product[HIGH][i] << 16);
        }
    }
}

/* Writes, for each of this thread's columns, the sum over its warp's columns before it; and the
 * warp's whole sum. */
template <typename T>
static __device__ __forceinline__ void tm_put_prefix(tm_prefixes<T> to, const T (&column)[TM_EACH])
{
    const int lane = threadIdx.x % 32;
    const T own = column[0] + column[1] + column[2] + column[3];
    T sum = own;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2)
        tm_add_lane_before(sum, offset);
    if (lane == 31)
        to.warps[threadIdx.x / 32] = sum;
    sum -= own;
    tm_quad<T> prefix;
#pragma unroll
    for (int i = 0; i < TM_EACH; i++) {
        prefix.of[i] = sum;
        sum += column[i];
    }
    ((tm_quad<T> *)to.of)[threadIdx.x] = prefix;
}

#endif
