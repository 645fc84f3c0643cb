/* SPDX-License-Identifier: MIT */
/* For wgmma_bound_pixels.cu: limits, of which bound_score.cuh says what they are.
 *
 * Of gray of 16 bits, F = 2^b H + L with b of at most 8 low bits, the rounded template meets H alone. With c = (1 - 2^-b) / 2, L lies within
 * 2^b c of 2^b c: so the template's sum with it is at most 2^b c length sqrt(n), and the root of a window's V at least 2^b times that of its
 * core's H less 2^b c sqrt(n_V), and at least 0:
 *
 *     score reached  implies  sum with H >= length (f max(0, sqrt(V of H) - c sqrt(n_V)) - c sqrt(n)),
 *
 * which may be less than 0. As length sqrt(n) is at most 32,400, the last term takes at most 64 off v.
 */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_PIXELS_LIMITS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_PIXELS_LIMITS_CUH
#include "lcc/cuda/tensor/bound_pixels.cuh"
#include "lcc/cuda/tensor/bound_score.cuh"

/* A score to reach: see tm_bound_score. Where there are low bits a flat H says nothing of a window. */
template <int BYTES, int BINS>
struct tm_bound_pixels_score : tm_bound_score {
    float less, slack; // are taken off the roots, and off v

    __device__ __forceinline__ tm_bound_pixels_score(const tm_bound_template &t, int order, int w, int h, int low_bits)
        : tm_bound_score(t, order), less(0), slack(0)
    {
        if (BYTES == 2) {
            const float power = __int_as_float((127 - low_bits) << 23), c = 0.5f * (1 - power) * (float)(1 + 0x1p-19); // 2^-b
            less = c * sqrtf((float)(2 * BINS * (h - 1)));
            slack = ceilf(c / 256 * t.length * (float)(1 + 0x1p-19) * sqrtf((float)(w * h))); // length is rounded down
            least_root = low_bits ? 0 : least_root;
        }
    }

    __device__ __forceinline__ int addend(float root, bool in_map) const
    {
        return BYTES == 3 ? tm_bound_score::addend(root, in_map)
                          : tm_bound_score::addend(__fmaf_rn(root, 1 - 0x1p-20f, -less), in_map, slack);
    }
};

/* Sums of a lane's 8 columns over a core's rows, in bins of 2 columns: of two bins each, and of the first of these. */
template <int PLANES>
struct tm_bound_columns {
    int squares[2], first_squares[2]; // of all planes
    int sums[PLANES][2], first_sums[PLANES][2];

    /* bias: taken off the squares of each bin. */
    __device__ __forceinline__ void clear(int bias)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            squares[i] = -2 * bias, first_squares[i] = -bias;
#pragma unroll
            for (int p = 0; p < PLANES; p++)
                sums[p][i] = first_sums[p][i] = 0;
        }
    }

    __device__ __forceinline__ void enter(int p, uint2 row)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned v = i ? row.y : row.x;
            squares[i] = __dp4a(v, v, (unsigned)squares[i]), first_squares[i] = __dp4a(v & 0xffff, v, (unsigned)first_squares[i]);
            sums[p][i] = tm_bound_add(v, 0x01010101, sums[p][i]), first_sums[p][i] = tm_bound_add(v, 0x0101, first_sums[p][i]);
        }
    }

    __device__ __forceinline__ void leave(int p, uint2 row, unsigned (&left)[2], unsigned (&first_left)[2])
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned v = i ? row.y : row.x;
            left[i] = __dp4a(v, v, left[i]), first_left[i] = __dp4a(v & 0xffff, v, first_left[i]);
            sums[p][i] = tm_bound_add(v, -1, sums[p][i]), first_sums[p][i] = tm_bound_add(v, 0xffff, first_sums[p][i]);
        }
    }
};

/* A lane keeps the roots of its cells' V in a step, of 4 cells' columns. */
struct tm_bound_roots {
    float of[TILE_HEIGHT / 2][4];
};

/* A warp's part of the limits: EACH units of 8 columns, a lane each; the other lanes have what their cores need of the next ones. */
template <int BYTES, int BINS>
struct tm_bound_summer {
    typedef tm_bound_pixels<BYTES> P;
    enum { EACH = (TM_BOUND_UNITS + TM_BOUND_SUM_WARPS - 1) / TM_BOUND_SUM_WARPS, TAKEN_OFF = P::PLANES == 3 ? 48 : 16 };
    static_assert(EACH + (BINS + 2) / 4 < 32, "the next unit's first core is a lane's, too");
    const tm_bound_block<BYTES> &b;
    const int h, unit;
    const unsigned column; // of the lane's pixels, from a plane's row on
    const bool has_unit;
    const float minus_of_n;
    tm_bound_columns<P::PLANES> columns;
    unsigned entering, leaving; // the next rows, from the lane's column on

    __device__ __forceinline__ tm_bound_summer(const tm_bound_block<BYTES> &b, int warp)
        : b(b), h(b.j.height), unit(EACH * warp + (int)threadIdx.x % 32), column(8 * min(unit, P::UNITS - 1)),
          has_unit((int)threadIdx.x % 32 < EACH && unit < TM_BOUND_UNITS), minus_of_n(-1.0f / (2 * BINS * (h - 1)))
    {
    }

    __device__ __forceinline__ unsigned below(unsigned row) const
    {
        const unsigned next = row + P::ROW, turn = P::GROUPS * 8 * P::ROW;
        return next < b.ring.rows + turn ? next : next - turn;
    }

    /* Sums the rows of the first cores of a column of tiles, whose first row is the ring's. */
    __device__ __forceinline__ void begin()
    {
        columns.clear((TAKEN_OFF + BINS - 1) / BINS);
        entering = leaving = b.ring.rows + P::ROW + column;
#pragma unroll 2
        for (int r = 1; r < h; r++, entering += P::ROW)
#pragma unroll
            for (int p = 0; p < P::PLANES; p++)
                columns.enter(p, tm_load8(entering + p * P::COLUMNS));
    }

    /* The core's two rows that leave, and the two that enter. */
    __device__ __forceinline__ void down()
    {
        unsigned left[2] = {}, first_left[2] = {};
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int p = 0; p < P::PLANES; p++) {
                columns.enter(p, tm_load8(entering + p * P::COLUMNS));
                columns.leave(p, tm_load8(leaving + p * P::COLUMNS), left, first_left);
            }
            entering = below(entering), leaving = below(leaving);
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
            columns.squares[i] -= left[i], columns.first_squares[i] -= first_left[i];
    }

    /* Makes the roots of a step. */
    __device__ __forceinline__ void make_roots(tm_bound_roots &roots)
    {
#pragma unroll
        for (int pair = 0; pair < TILE_HEIGHT / 2; pair++) {
            int squares[4];
            float v[4];
            tm_bound_across(BINS, squares, columns.squares, columns.first_squares);
#pragma unroll
            for (int i = 0; i < 4; i++)
                v[i] = (float)squares[i];
#pragma unroll
            for (int p = 0; p < P::PLANES; p++) {
                int sums[4];
                tm_bound_across(BINS, sums, columns.sums[p], columns.first_sums[p]);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    v[i] = __fmaf_rn((float)sums[i] * minus_of_n, (float)sums[i], v[i]);
            }
            down();
#pragma unroll
            for (int i = 0; i < 4; i++)
                roots.of[pair][i] = tm_bound_root(v[i]);
        }
    }

    /* Stores the limits of a step. */
    __device__ __forceinline__ void store(const tm_bound_roots &roots, int step, const tm_bound_pixels_score<BYTES, BINS> &score) const
    {
        const unsigned to = b.limits + step % 2 * TM_BOUND_LIMITS + 16 * unit;
#pragma unroll
        for (int pair = 0; pair < TILE_HEIGHT / 2; pair++) {
            const bool in_map = b.y() + 2 * pair < b.j.map_height && b.x() + 8 * unit < b.j.map_width;
            int addends[5];
#pragma unroll
            for (int i = 0; i < 5; i++) {
                const float root = i < 4 ? roots.of[pair][i] : __shfl_down_sync(~0u, roots.of[pair][0], 1);
                addends[i] = score.addend(root, in_map);
            }
            unsigned words[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                words[i] = __byte_perm(addends[i], addends[i + 1], 0x5410);
            if (has_unit)
                tm_store16(to + pair * TM_BOUND_LIMITS_ROW, make_uint4(words[0], words[1], words[2], words[3]));
        }
    }
};

#endif
