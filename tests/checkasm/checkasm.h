/* SPDX-License-Identifier: MIT */
/* What the tests of the kernels have in common. Each kernel of each instruction set is
 * compared with plain C, bit for bit. */
#ifndef TMATCH_TESTS_CHECKASM_H
#define TMATCH_TESTS_CHECKASM_H

#include "check.h"
#include "lcc/cpu/certified.h"
#include "lcc/cpu/tile.h"

enum { MAX_ISAS = 32 };

extern tm_cpu_kernels isas[MAX_ISAS]; /* plain C first, each with a set more than the one before */
extern int isa_count;

/* Memory with poison on both sides, so that a write outside is found. */
typedef struct buffer {
    uint8_t *memory;
    void *data;
    size_t size;
} buffer;

buffer buffer_make(size_t size);
void check_margins(const buffer *b, const char *what, const char *isa);
/* Also the margins of b. */
void check_same(const buffer *a, const buffer *b, const char *what, const char *isa,
                const char *input);

/* In one of ten ways: all 0, all 255, few values, runs of a value; from 7 on, noise. */
void buffer_fill(buffer *b, int how);

/* A tile, staged, with the plain sums of all its windows. */
typedef struct tile {
    char text[96];
    int w, h, rows, blocks;
    ptrdiff_t stride, sft_stride;
    buffer taps, staged, sft;
} tile;

tile tile_make(int w, int h, int rows, int blocks, int samples, int taps);
tile tile_random(void);
void tile_free(tile *t);

/* The sums of its windows again, by these kernels. */
void correlate(const tm_cpu_kernels *k, const tile *t, buffer *sft);

/* Four buffers and the columns of zeros that lie in them. */
tm_columns columns_make(buffer b[4], int blocks);
void columns_free(buffer b[4]);
/* The prefixes of the first row of windows, and that row. */
void first_columns(const tile *t, const tm_columns *c);
tm_window_row first_row(const tile *t, const tm_columns *c);

/* A level of a template, and a row of windows that it is to be looked at by. */
typedef struct level_case {
    tm_template *tmpl;
    tm_job job;
    const tm_level *level;
    tm_certified certified;
    char *taps;
    int width, columns; /* windows; what kernels may read */
    ptrdiff_t stride;
    uint8_t *samples; /* as many rows as the template has */
    int32_t *prefix, *prefix_sq, *prefix_d;
    uint32_t *pairs, *squares;
    tm_level_row row; /* but for least */
} level_case;

/* Takes the template, which has that level. few: as one of few blocks, if it may be. */
void level_case_make(level_case *l, tm_template *tmpl, int level, int width, bool few);
/* Makes the sums of the samples. */
void level_case_sum(level_case *l);
void level_case_free(level_case *l);

/* The tests, one kernel or a few each. */
void correlates(void);
void folds(void);
void slides(void);
void scores(void);
void picks(void);
void combines(void);
void scores_of_sums(void);
void rejects(void);
void moves_columns(void);
void makes_blocks(void);
void moves_levels(void);
void window_products(void);
void passes(void);
/* Prints how long the kernels take. */
void bench(void);

#endif
