/* SPDX-License-Identifier: MIT */
/* The inner loops of the direct algorithm on the CPU, one table per instruction
 * set. tm_cpu_kernels_init assigns plain C first and lets each instruction set
 * that the processor has and the mask allows overwrite it. Every version makes
 * the same bits: tests/checkasm.
 *
 * Phase order. A product instruction sums 4 neighbouring bytes into one 32-bit
 * lane, so the lanes of one register are outputs 4 columns apart. All rows of
 * sums therefore lie in blocks of 64 columns, and element 16*p + j of a block is
 * its column 4*j + p. Nothing is put into column order before a map is written. */
#ifndef TMATCH_LCC_CPU_KERNELS_H
#define TMATCH_LCC_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "lcc/cpu/f32_block.h"
#include "lcc/cpu/folded.h"
#include "lcc/cpu/instruction_sets.h"
#include "lcc/family.h"
#include "lcc/planes.h"

enum {
    TM_BLOCK = 64,
    TM_LANES = 16,
    /* Taps are T - 128, to fit in signed bytes: S_FT' = S_FT - 128*S_F. */
    TM_TAP_BIAS = 128,
    /* A template, or a part of one, of at most so many taps is packed at once: then S_FT' fits in
     * int32, and S_F and S_FF fit in uint32. */
    TM_PACKED_TAPS = 65536,
    /* Kernels may read so many bytes beyond staged samples and planes. */
    TM_SLACK = 512,
    /* So many rows below the staged ones are read, as are padding columns, and multiplied by 0. */
    TM_EXTRA_ROWS = 3,
    /* So many expanded planes are made of two staged rows, which begin at an even one. */
    TM_MOST_PLANES = 3,
    /* slide makes at most so many rows at once: each takes the column sums of the one before from
     * registers. */
    TM_SLIDE_ROWS = 4,
};

static inline int tm_phase_index(int64_t column)
{
    return (int)(column % TM_BLOCK % 4 * TM_LANES + column % TM_BLOCK / 4 +
                 column / TM_BLOCK * TM_BLOCK);
}

/* Taps in the form that a table's correlate takes. */
typedef struct tm_packed_taps {
    int w, h;
    int steps;      /* products that a template row takes */
    int extra;      /* leftover columns whose products run down the column */
    int groups;     /* products that such a column takes */
    int planes;     /* rows of expanded planes that correlate reads for two staged rows, up to TM_MOST_PLANES;
                       0: none */
    int tiles;      /* whether taps are tiles, and how many template rows each holds */
    int32_t start;  /* what sums start from, where that is not 0 */
    int32_t *taps;  /* tm_packed_taps_size bytes, the caller's, 64-byte aligned */
} tm_packed_taps;

size_t tm_packed_taps_size(int w, int h);

/* How many bytes the planes of staged rows have at most, and where in them those of an even row begin, in
 * dwords. */
static inline int64_t tm_planes_size(int64_t rows, ptrdiff_t stride)
{
    return (rows + rows % 2) / 2 * TM_MOST_PLANES * stride * 4;
}

static inline ptrdiff_t tm_expanded_row(const tm_packed_taps *packed, ptrdiff_t stride, int row)
{
    return (ptrdiff_t)row / 2 * packed->planes * stride;
}

/* Tiles have planes besides the frame's: how far the two bytes of 16-bit samples differ. */
enum { TM_TILE_PLANES = TM_FRAME_PLANES + TM_MAX_CHANNELS };

/* Sums of the h samples above each other in each column of a tile, in blocks,
 * and, for up to TM_SLIDE_ROWS rows of windows, their prefix sums over the columns
 * before. All modulo 2^32. Prefixes are in 4 planes a row, one a phase: column
 * 4*j + p is element j of plane p, so that columns w apart are found at one
 * distance. */
typedef struct tm_columns {
    uint32_t *sum, *sum_sq;       /* blocks * TM_BLOCK */
    uint32_t *prefix, *prefix_sq; /* TM_SLIDE_ROWS * blocks * TM_BLOCK */
    int blocks;
} tm_columns;

/* One row of windows. */
typedef struct tm_window_row {
    const int32_t *sft; /* S_FT', in blocks */
    const uint32_t *prefix, *prefix_sq;
    ptrdiff_t plane;    /* from one plane of prefixes to the next */
    int w, width;       /* template width; windows in this row */
    int64_t n, sum;     /* n; S_T' = S_T - 128*n */
    float variance;     /* var_T */
    int64_t position;   /* of the first window */
} tm_window_row;

typedef struct tm_best {
    float score;
    int64_t position;
} tm_best;

/* Scores lie in [-1, 1]. */
#define TM_NO_BEST {-2.0f, INT64_MAX}

/* Fills packed from the samples of a w x h picture. */
typedef void tm_pack_fn(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride);

/* Expands rows of staged samples, below which there are TM_EXTRA_ROWS, to planes, stride dwords a row, where
 * stride is a multiple of TM_BLOCK. What planes hold only the same table's correlate knows. */
typedef void tm_expand_fn(uint32_t *planes, const uint8_t *staged, ptrdiff_t stride, int rows,
                          const tm_packed_taps *packed);

/* The same of samples below TM_WIDE_SAMPLES, of which there are stride a row; correlate's products of them are exact
 * modulo 2^32. */
enum { TM_WIDE_SAMPLES = 32768 };
typedef void tm_expand_wide_fn(uint32_t *planes, const uint16_t *staged, ptrdiff_t stride, int rows);

/* Makes S_FT' of rows x blocks windows, sft_stride elements from row to row. */
typedef void tm_correlate_fn(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed,
                             const uint8_t *staged, const uint32_t *planes, ptrdiff_t stride,
                             int rows, int blocks);

/* Adds a row of samples to the column sums. */
typedef void tm_enter_columns_fn(const tm_columns *columns, const uint8_t *samples);

/* Moves the column sums down rows times: samples leave, and those h rows below
 * enter. Makes the prefixes of each. */
typedef void tm_slide_columns_fn(const tm_columns *columns, const uint8_t *samples,
                                 ptrdiff_t stride, int h, int rows);

/* Ranks the windows of a row, and writes their scores in column order. */
typedef void tm_score_best_fn(const tm_window_row *row, tm_best *best);
typedef void tm_score_map_fn(const tm_window_row *row, tm_best *best, float *map);

/* Likewise, but for windows below the floor it may write any other value below it. */
typedef void tm_score_peaks_fn(const tm_window_row *row, tm_best *best, float floor, float *map);

/* Copies every step-th byte. */
typedef void tm_pick_fn(uint8_t *to, const uint8_t *from, int step, int64_t count);

/* What a sum of windows is made of: S_FT' of a plane, or a plane's sums by their
 * prefixes. One of the two is NULL. */
typedef struct tm_source {
    const int32_t *products;
    const uint32_t *prefix;
    int shift;      /* of products */
    int64_t weight; /* of a plane's sums */
    float factor;   /* either of the two */
} tm_source;

/* Each product's sum, each plane's sum, its sum of squares and its bias. */
enum { TM_SOURCES = TM_MAX_PRODUCTS + 3 * TM_TILE_PLANES };

/* A row of windows whose sums have sources: sum i those from first[i] to
 * first[i + 1] - 1. plane and w are as in tm_window_row. */
typedef struct tm_source_row {
    tm_source source[TM_SOURCES];
    int first[TM_SUMS + 1];
    ptrdiff_t plane;
    int w, blocks;
} tm_source_row;

/* Adds up the sources of one sum for count blocks of windows. */
typedef void tm_sum_up_fn(int64_t *to, const tm_source_row *row, int sum, int block, int count);

/* What binary32 arithmetic can tell about LCC of a row's windows: see reject.c. */
typedef struct tm_reject {
    int channels;
    float mean[TM_MAX_CHANNELS], inverse_n, e_num;
    float slope, offset;
    double variance, e_var;
} tm_reject;

/* pass[i] = 0 only if no window of block i scores what the reject was set to. */
typedef void tm_reject_fn(const tm_reject *reject, const tm_source_row *row, uint8_t *pass);

/* Makes the map's elements, in column order, from rows of sums as planes.h numbers them. */
typedef void tm_score_sums_fn(const tm_scorer *scorer, const int64_t *const *sums,
                              int blocks, void *row);

/* Certified search, whose rows lie in column order: blocks are level.h's. Of all arrays a whole
 * number of TM_BLOCK columns is made, count; sources have TM_SLACK bytes more. */

/* Adds a row of samples to sums of 16 bits, and takes another one off. */
typedef void tm_move_columns_fn(uint16_t *columns, const uint8_t *enter, const uint8_t *leave,
                                int count);

/* Makes a row of blocks, b as in levels.h, as pairs b(x) | b(x + block_x) << 16. The pairs that were
 * in their place are of the row that leaves: squares += b^2 >> square_shift of these blocks and less
 * that of those; squares may be NULL. sums has room for count + 2 * TM_BLOCK elements. */
typedef struct tm_block_row {
    const uint16_t *columns;
    int32_t *sums;
    uint32_t *pairs, *squares;
    int block_x, bias, shift, square_shift, count;
} tm_block_row;
typedef void tm_make_blocks_fn(const tm_block_row *row);

/* Sums of G = F - 128 and of G^2 of the samples above each other in each column; and, where prefix
 * is not NULL, their sums over the columns before. squares may be NULL, and its prefix then is, too; else both have
 * prefixes or none. */
typedef struct tm_level_columns {
    int32_t *sum, *squares, *prefix, *prefix_sq;
} tm_level_columns;
typedef void tm_move_level_fn(const tm_level_columns *columns, const uint8_t *enter,
                              const uint8_t *leave, int count);

/* Two taps of a level, and where in a row of pairs those of the first window's blocks are. mask has
 * those bits of a pair of blocks that are the level's. */
typedef struct tm_level_pair {
    int32_t taps, mask;
    int row, column;
} tm_level_pair;

/* The pairs of a level in parts, the greatest taps first. After each part it can be told what all
 * later ones add at most: tail * |f| + mean times the mean of the window's G, and spare, as |f| may be
 * greater than what is known of it. */
enum { TM_LEVEL_PARTS = 4 };
typedef struct tm_level_part {
    int end; /* of its pairs */
    float tail, mean, spare;
} tm_level_part;

enum { TM_FEW_PAIRS = 32 }; /* the most of a level of few blocks */

/* A row of windows: where the sums of each start, and what a bound takes of them. In binary32,
 * where a window's numbers are as in levels.h,
 *     |f|^2 >= S_GG - S_G^2 * inverse_n - e_energy
 *     |f|^2 - |Pf|^2 <= S_GG - Q * of_squares + S_D^2 * inverse_d - S_G^2 * inverse_n + e_rest
 * with Q the sum of the blocks' squares, and S_D of G over all blocks, which is S_G where inverse_d
 * is 0: then the last two terms cancel.
 *
 * Levels of few blocks, with no shifts, have no squares, which tells them, and no prefix_d: Q and S_D are added up from the
 * blocks. As |f|^2 = |Pf|^2 + |f - Pf|^2, least |f| - rest |f - Pf| is not less than
 * sqrt(least^2 - rest^2) |Pf|, whatever |f - Pf| is, and
 *     |Pf|^2 >= Q * of_squares - S_D^2 * inverse_d - e_energy
 * needs no other sums. So windows are looked at by that first, and then, if there are prefixes, as others are. */
typedef struct tm_level_row {
    const uint32_t *blocks[TM_LEVEL_ROWS]; /* rows of pairs */
    const uint32_t *squares;
    const int32_t *prefix, *prefix_sq, *prefix_d;
    const tm_level_pair *pairs;
    tm_level_part parts[TM_LEVEL_PARTS];
    int across, block_x;
    int w, covered; /* columns of a window, and of its blocks */
    int width;      /* windows */
    float inverse_n, inverse_d, of_squares, e_energy, e_rest;
    /* a window passes where scale * p + spare >= least |f| - rest |f - Pf| */
    float scale, spare, least, rest;
} tm_level_row;

/* least^2 - rest^2, where levels are of few blocks; the last term is for the roundings. Windows pass for all that
 * is known where it is not positive. */
static inline float tm_level_least_square(const tm_level_row *row)
{
    return row->least * row->least - row->rest * row->rest - 0x1p-18f;
}

/* Writes which windows pass, ascending, and returns their number. */
typedef int tm_pass_windows_fn(const tm_level_row *row, uint16_t *windows);

/* S_FT' of one window. taps are T - 128, padded with zeros to stride columns, a multiple of TM_BLOCK. */
typedef int32_t tm_window_product_fn(const uint8_t *window, ptrdiff_t pitch, const int8_t *taps,
                                     ptrdiff_t stride, int w, int h);

/* The sums of a window's samples and of their squares where counts are 1, else 0, which are padded as taps
 * are. */
typedef void tm_sum_window_fn(const uint8_t *window, ptrdiff_t pitch, const int8_t *counts,
                               ptrdiff_t stride, int w, int h, int64_t *sum, int64_t *square);

/* A row of windows and their products with a family's basis, in blocks, count windows. */
typedef struct tm_family_row {
    const int32_t *products; /* of the first basis template; step elements on, those of the next */
    ptrdiff_t step;
    const float *inverse;    /* 1 / |f|; 0 where that is 0 */
    float *coordinates;      /* out: p / |f|, sqrt(1 - |p|^2 / |f|^2), and |p| / |f| at least, rows of step_out */
    ptrdiff_t step_out;
    float *most;             /* out: what no member's bound is above */
    int count;
} tm_family_row;
typedef void tm_family_row_fn(const tm_family *family, const tm_family_row *row);

/* Lowers most to the greatest bound of the members, or a little more, where it reaches least. Members' padding may count as
 * members: what there is of a family's bounds less than any, of a chain's 0. */
typedef void tm_limit_row_fn(const tm_family *members, const tm_family_row *row, float least);

/* Lists those of the members [first, end) whose bound with a window reaches least, ascending, and returns their
 * number. coordinates: the window's, and sqrt(1 - |p|^2 / |f|^2). */
typedef int tm_list_members_fn(const tm_family *family, const float *coordinates, float least, int first, int end,
                               int32_t *members, float *bounds);

typedef struct tm_cpu_kernels {
    const char *name;
    tm_pack_fn *pack;
    tm_expand_fn *expand;
    tm_expand_wide_fn *expand_wide; /* NULL: correlate takes samples of 8 bits alone */
    tm_correlate_fn *correlate;
    tm_correlate_folded_fn *correlate_folded; /* NULL: correlate is quicker */
    tm_enter_columns_fn *enter;
    tm_slide_columns_fn *slide;
    tm_score_best_fn *score_best;
    tm_score_map_fn *score_map;
    tm_score_peaks_fn *score_peaks;
    tm_pick_fn *pick;
    tm_sum_up_fn *sum_up;
    tm_score_sums_fn *score_sums;
    tm_reject_fn *reject; /* its bits differ */
    tm_f32_block_fn *f32; /* its bits differ */
    tm_move_columns_fn *move_columns;
    tm_make_blocks_fn *make_blocks;
    tm_move_level_fn *move_level;
    tm_pass_windows_fn *pass_windows; /* what passes differs */
    tm_window_product_fn *window_product;
    tm_sum_window_fn *sum_window;
    tm_family_row_fn *family_row;
    tm_limit_row_fn *limit_row;
    tm_list_members_fn *list_members; /* the bits of these three differ */
} tm_cpu_kernels;

/* features: TM_CPU_ bits that may be used. */
void tm_cpu_kernels_init(tm_cpu_kernels *kernels, uint32_t features);

/* Each assigns the kernels that its instruction set does better. */
#define TM_INIT(HAVE, file, name, bit, needed, detected)                                           \
    void tm_cpu_kernels_init_##file(tm_cpu_kernels *kernels);
TM_EACH_INSTRUCTION_SET(TM_INIT)
#undef TM_INIT

/* The AMX kernels leave templates of few columns to these. */
tm_pack_fn tm_pack_avx512vnni;
tm_expand_fn tm_expand_avx512vnni;
tm_correlate_fn tm_correlate_avx512vnni;

#endif
