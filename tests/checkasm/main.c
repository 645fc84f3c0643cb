/* SPDX-License-Identifier: MIT */
/* Every function in the kernels' table against plain C, bit for bit: the mask is
 * raised set by set and each new pointer is compared. With --bench the versions are
 * timed instead. */
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"
#include "tmatch/tmatch.h"

enum { POISON = 0xa5, MARGIN = 256 };

tm_cpu_kernels isas[MAX_ISAS];
int isa_count;

static void find_isas(void)
{
    tm_cpu_kernels_init(&isas[isa_count++], 0);
    for (int bit = 0; bit < 32; bit++) {
        const char *name = tm_cpu_feature_name(UINT32_C(1) << bit);
        uint32_t features;
        if (!name || tm_cpu_features_parse(name, &features) != TM_OK ||
            (features & ~tm_cpu_features()))
            continue;
        tm_cpu_kernels_init(&isas[isa_count++], features);
    }
}

buffer buffer_make(size_t size)
{
    buffer b = {.size = size};
    size_t whole = (size + 2 * MARGIN + 63) / 64 * 64;
    b.memory = aligned_alloc(64, whole);
    CHECK(b.memory);
    memset(b.memory, POISON, whole);
    b.data = b.memory + MARGIN;
    return b;
}

void check_margins(const buffer *b, const char *what, const char *isa)
{
    for (size_t i = 0; i < MARGIN; i++) {
        if (b->memory[i] != POISON || b->memory[MARGIN + b->size + i] != POISON)
            check_fail(__FILE__, __LINE__, "%s, %s: a write outside", what, isa);
    }
}

void check_same(const buffer *a, const buffer *b, const char *what, const char *isa,
                       const char *input)
{
    check_margins(b, what, isa);
    for (size_t i = 0; i < a->size; i++) {
        if (((uint8_t *)a->data)[i] != ((uint8_t *)b->data)[i])
            check_fail(__FILE__, __LINE__, "%s, %s, %s: byte %zu differs", what, isa, input, i);
    }
}

void buffer_fill(buffer *b, int how)
{
    uint8_t *bytes = b->data, low = (uint8_t)check_random();
    for (size_t i = 0; i < b->size; i++) {
        uint8_t noise = (uint8_t)check_random();
        bytes[i] = how == 0   ? 0
                   : how == 1 ? 255
                   : how == 2 ? (noise & 1 ? 255 : 0)
                   : how == 3 ? (uint8_t)(i % 2 ? 255 : 0)
                   : how == 4 ? (uint8_t)(low - (noise % 16 == 0))
                   : how == 5 ? (uint8_t)(i / 3)
                   : how == 6 ? (uint8_t)(i % 640 < 320 ? 7 : noise)
                              : noise;
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(correlates), TEST(folds), TEST(slides), TEST(scores),
                                       TEST(picks),      TEST(combines), TEST(scores_of_sums),
                                       TEST(rejects),    TEST(moves_columns), TEST(makes_blocks),
                                       TEST(moves_levels), TEST(window_products), TEST(passes)};
    static const check_test timing[] = {TEST(bench)};

    find_isas();
    if (argc > 1 && strcmp(argv[1], "--bench") == 0)
        return check_main(timing, 1, 1, argv);
    printf("# kernels:");
    for (int i = 0; i < isa_count; i++)
        printf(" %s", isas[i].name);
    printf("\n");
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
