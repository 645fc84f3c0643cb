/* SPDX-License-Identifier: MIT */
/* S_FT' as matrix products on AMX tiles. One product makes 16 x 16 outputs of one
 * row from 64 samples each:
 *
 *     A: row m holds the 64 samples from column x + 16*m on. The rows overlap in
 *        memory, so a tile is loaded with a stride of 16 bytes and nothing is copied.
 *     B: column j holds a template row moved down by shift(j): a Toeplitz matrix,
 *        made once. w + 15 of its 64 rows are used; wider templates take steps.
 *
 * A template of at most 17 columns wants 32 samples, so that a product takes two
 * frame rows, which expand puts side by side. Two output rows and two groups of
 * 256 columns share the loads of A and B. */
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "lcc/cpu/kernels.h"

enum {
    GROUP = 256,       /* columns of a tile of outputs */
    TILE_BYTES = 1024,
    PAIR_WIDTH = 17,   /* widest template that takes two rows a tile */
    MIN_WIDTH = 10,    /* narrower ones waste more than AVX-512 is slower */
};

/* The tile intrinsics do not tell the compiler that they touch memory. */
#define BARRIER() __asm__ volatile("" ::: "memory")

/* Column j = 4*p + q of a tile is output 4*q + p: phase p, as 4 of a plane. */
static int shift(int j)
{
    return j % 4 * 4 + j / 4;
}

static void pack(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride)
{
    int w = packed->w, h = packed->h;

    packed->tiles = w < MIN_WIDTH ? 0 : w <= PAIR_WIDTH && h > 1 ? 2 : 1;
    if (!packed->tiles) {
        tm_pack_avx512vnni(packed, samples, stride);
        return;
    }
    packed->planes = packed->tiles == 2 ? 2 : 0;
    packed->extra = 0;
    packed->steps = packed->planes ? 1 : (w + 15 + 63) / 64;
    packed->groups = (h + packed->tiles - 1) / packed->tiles;
    int8_t *tap = (int8_t *)packed->taps;
    for (int g = 0; g < packed->groups; g++) {
        for (int i = 0; i < packed->steps * TILE_BYTES; i++, tap++) {
            /* a tile's row holds 4 rows of B */
            int k = i / 64 * 4 + i % 4, u = k - shift(i % 64 / 4), v = g;
            if (packed->planes) {
                v = 2 * g + k / 32;
                u = k % 32 - shift(i % 64 / 4);
            }
            *tap = (int8_t)(u >= 0 && u < w && v < h ? samples[v * stride + u] - TM_TAP_BIAS : 0);
        }
    }
}

/* planes: row y, 64 bytes for every 16 columns: 32 samples of row y, of row y + 1 */
static void expand(uint32_t *planes, const uint8_t *staged, ptrdiff_t stride, int rows,
                   const tm_packed_taps *packed)
{
    if (!packed->tiles) {
        tm_expand_avx512vnni(planes, staged, stride, rows, packed);
        return;
    }
    for (int y = 0; y < rows; y++) {
        const uint8_t *row = staged + y * stride;
        uint32_t *to = planes + y * stride;
        for (ptrdiff_t x = 0; x < stride; x += 16) {
            __m256i above = _mm256_loadu_si256((const __m256i *)(row + x));
            __m256i below = _mm256_loadu_si256((const __m256i *)(row + stride + x));
            _mm512_store_si512(to + x, _mm512_inserti64x4(_mm512_castsi256_si512(above), below, 1));
        }
    }
}

/* What the 4 tiles of outputs need. */
typedef struct operands {
    const char *a; /* of the upper row, left group */
    const int8_t *b;
    ptrdiff_t a_row, a_line, a_step, a_group; /* bytes to the next */
    int steps, groups;
} operands;

/* Tiles 0 and 1 are the upper row's groups, 2 and 3 the lower's. Frame row g serves
 * the upper row with template row g, the lower one with g - 1. */
static inline __attribute__((always_inline)) void
multiply(const operands *o, bool lower, bool right)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int g = 0; g < o->groups + lower; g++) {
        for (int s = 0; s < o->steps; s++) {
            const char *a = o->a + g * o->a_row + s * o->a_step;
            const int8_t *b = o->b + ((ptrdiff_t)g * o->steps + s) * TILE_BYTES;
            _tile_loadd(4, a, o->a_line);
            if (right)
                _tile_loadd(5, a + o->a_group, o->a_line);
            if (g < o->groups) {
                _tile_loadd(6, b, 64);
                _tile_dpbusd(0, 4, 6);
                if (right)
                    _tile_dpbusd(1, 5, 6);
            }
            if (lower && g > 0) {
                _tile_loadd(7, b - (ptrdiff_t)o->steps * TILE_BYTES, 64);
                _tile_dpbusd(2, 4, 7);
                if (right)
                    _tile_dpbusd(3, 5, 7);
            }
        }
    }
}

/* Puts a stored tile into phase order, as far as there are blocks. */
static void emit(int32_t *sft, const int32_t *tile, int blocks)
{
    for (int b = 0; b < blocks && b < GROUP / TM_BLOCK; b++, tile += TM_BLOCK, sft += TM_BLOCK) {
        __m512i r0 = _mm512_load_si512(tile), r1 = _mm512_load_si512(tile + 16);
        __m512i r2 = _mm512_load_si512(tile + 32), r3 = _mm512_load_si512(tile + 48);
        __m512i t0 = _mm512_shuffle_i32x4(r0, r1, 0x44), t1 = _mm512_shuffle_i32x4(r2, r3, 0x44);
        __m512i t2 = _mm512_shuffle_i32x4(r0, r1, 0xee), t3 = _mm512_shuffle_i32x4(r2, r3, 0xee);
        _mm512_store_si512(sft, _mm512_shuffle_i32x4(t0, t1, 0x88));
        _mm512_store_si512(sft + 16, _mm512_shuffle_i32x4(t0, t1, 0xdd));
        _mm512_store_si512(sft + 32, _mm512_shuffle_i32x4(t2, t3, 0x88));
        _mm512_store_si512(sft + 48, _mm512_shuffle_i32x4(t2, t3, 0xdd));
    }
}

#define EMIT(number, to, blocks)            \
    do {                                    \
        _tile_stored(number, tile, 64);     \
        BARRIER();                          \
        emit(to, tile, blocks);             \
        BARRIER();                          \
    } while (0)

static void configure(void)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes_per_row[16];
        uint8_t rows[16];
    } __attribute__((aligned(64))) config = {.palette = 1};

    for (int i = 0; i < 8; i++) {
        config.bytes_per_row[i] = 64;
        config.rows[i] = 16;
    }
    BARRIER();
    _tile_loadconfig(&config);
}

static void correlate(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed,
                      const uint8_t *staged, const uint32_t *planes, ptrdiff_t stride, int rows,
                      int blocks)
{
    if (!packed->tiles) {
        tm_correlate_avx512vnni(sft, sft_stride, packed, staged, planes, stride, rows, blocks);
        return;
    }

    /* A lower row reads the frame rows of the upper one, moved by one template row. */
    int apart = packed->tiles, per_group = GROUP / TM_BLOCK;
    bool pair = apart == 2;
    ptrdiff_t row_bytes = pair ? 4 * stride : stride;
    int32_t tile[TILE_BYTES / 4] __attribute__((aligned(64)));

    configure();
    for (int y = 0; y < rows; y++) {
        if (y % (2 * apart) >= apart)
            continue;
        bool lower = y + apart < rows;
        for (int block = 0; block < blocks; block += 2 * per_group) {
            ptrdiff_t x = (ptrdiff_t)block * TM_BLOCK;
            bool right = block + per_group < blocks;
            operands o = {
                .a = (pair ? (const char *)planes + 4 * x : (const char *)staged + x) + y * row_bytes,
                .b = (const int8_t *)packed->taps,
                .a_row = apart * row_bytes,
                .a_line = pair ? 64 : 16,
                .a_step = 64,
                .a_group = pair ? 4 * GROUP : GROUP,
                .steps = packed->steps,
                .groups = packed->groups,
            };
            int32_t *to = sft + y * sft_stride + x;

            if (lower && right)
                multiply(&o, true, true);
            else
                multiply(&o, lower, right);
            EMIT(0, to, blocks - block);
            if (right)
                EMIT(1, to + GROUP, blocks - block - per_group);
            if (lower)
                EMIT(2, to + apart * sft_stride, blocks - block);
            if (lower && right)
                EMIT(3, to + apart * sft_stride + GROUP, blocks - block - per_group);
        }
    }
    _tile_release();
}

void tm_cpu_kernels_init_amx(tm_cpu_kernels *kernels)
{
    kernels->pack = pack;
    kernels->expand = expand;
    kernels->correlate = correlate;
}
