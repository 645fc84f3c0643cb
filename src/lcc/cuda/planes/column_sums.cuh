/* SPDX-License-Identifier: MIT */
/* For window_sums.cu: the sums of a frame's columns over the template's rows, and their prefix sums
 * across a block. */
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

    __device__ __forceinline__ uint32_t sample(int k, int i) const
    {
        if (BYTES == 1)
            return f[k][0] >> 8 * i & 255;
        const uint32_t pair = __byte_perm(f[k][0], f[k][BYTES - 1], i & 2 ? 0x7362 : 0x5140);
        return i & 1 ? pair >> 16 : pair & 0xffff;
    }
};

/* Puts the bytes that up to four planes have of a pixel into one word. */
template <int CHANNELS>
static __device__ __forceinline__ void tm_pixels_of(const uint32_t (&plane)[CHANNELS][1],
                                                    uint32_t (&pixel)[TM_EACH])
{
    const uint32_t last = CHANNELS > 3 ? plane[CHANNELS - 1][0] : 0;
    const uint32_t a = __byte_perm(plane[0][0], plane[1 % CHANNELS][0], 0x5140);
    const uint32_t b = __byte_perm(plane[0][0], plane[1 % CHANNELS][0], 0x7362);
    const uint32_t c = __byte_perm(plane[2 % CHANNELS][0], last, 0x5140);
    const uint32_t d = __byte_perm(plane[2 % CHANNELS][0], last, 0x7362);
    pixel[0] = __byte_perm(a, c, 0x5410), pixel[1] = __byte_perm(a, c, 0x7632);
    pixel[2] = __byte_perm(b, d, 0x5410), pixel[3] = __byte_perm(b, d, 0x7632);
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

/* Adds frame rows to the columns. Where samples are bytes, two columns' sums share a word
 * meanwhile, and the squares of several channels are one dot product. */
template <typename SUMS, int CHANNELS, bool TOUCH>
static __device__ __forceinline__ void tm_add_rows(const tm_planes_score &c,
                                                   tm_column_sums<SUMS, CHANNELS> *s,
                                                   const uint8_t *row, int count)
{
    enum { ROWS = 256 }; /* of samples up to 255, whose sum fits 16 bits */
    const int64_t pitch = (int64_t)c.planes.pitch;
    tm_row_words<SUMS, CHANNELS, TOUCH> words;

    if constexpr (words.BYTES == 1) {
        for (int v = 0; v < count; v += ROWS) {
            uint32_t even[CHANNELS] = {}, odd[CHANNELS] = {};
#pragma unroll 4
            for (int r = v; r < min(v + (int)ROWS, count); r++) {
                words.load(c, row + r * pitch);
                uint32_t pixel[TM_EACH];
                if constexpr (CHANNELS > 1)
                    tm_pixels_of(words.f, pixel);
#pragma unroll
                for (int i = 0; i < TM_EACH; i++) {
                    if (CHANNELS == 1)
                        pixel[i] = words.sample(0, i);
                    s->ff[i] = CHANNELS == 1 ? s->ff[i] + pixel[i] * pixel[i]
                                             : __dp4a(pixel[i], pixel[i], (uint32_t)s->ff[i]);
                    if (TOUCH)
                        s->touched[i] += words.z >> 8 * i & 255;
                }
#pragma unroll
                for (int k = 0; k < CHANNELS; k++) {
                    even[k] += words.f[k][0] & 0x00ff00ff;
                    odd[k] += words.f[k][0] >> 8 & 0x00ff00ff;
                }
            }
#pragma unroll
            for (int k = 0; k < CHANNELS; k++) {
                s->f[k][0] += even[k] & 0xffff, s->f[k][2] += even[k] >> 16;
                s->f[k][1] += odd[k] & 0xffff, s->f[k][3] += odd[k] >> 16;
            }
        }
    } else {
#pragma unroll 8
        for (int v = 0; v < count; v++) {
            words.load(c, row + v * pitch);
            tm_column_sums_add(s, words, false);
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
