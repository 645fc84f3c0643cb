/* SPDX-License-Identifier: MIT */
/* Every function in the kernels' table against plain C, bit for bit: the mask is
 * raised set by set and each new pointer is compared. Buffers end in poison, so
 * that a write outside is found. With --bench the versions are timed instead. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "lcc/cpu/tile.h"
#include "tmatch/tmatch.h"

enum { MAX_ISAS = 32, POISON = 0xa5, MARGIN = 256 };

static tm_cpu_kernels isas[MAX_ISAS]; /* plain C first */
static int isa_count;

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

/* Memory with a margin on both sides. */
typedef struct buffer {
    uint8_t *memory;
    void *data;
    size_t size;
} buffer;

static buffer make(size_t size)
{
    buffer b = {.size = size};
    size_t whole = (size + 2 * MARGIN + 63) / 64 * 64;
    b.memory = aligned_alloc(64, whole);
    CHECK(b.memory);
    memset(b.memory, POISON, whole);
    b.data = b.memory + MARGIN;
    return b;
}

static void check_margins(const buffer *b, const char *what, const char *isa)
{
    for (size_t i = 0; i < MARGIN; i++) {
        if (b->memory[i] != POISON || b->memory[MARGIN + b->size + i] != POISON)
            check_fail(__FILE__, __LINE__, "%s, %s: a write outside", what, isa);
    }
}

static void check_same(const buffer *a, const buffer *b, const char *what, const char *isa,
                       const char *input)
{
    check_margins(b, what, isa);
    for (size_t i = 0; i < a->size; i++) {
        if (((uint8_t *)a->data)[i] != ((uint8_t *)b->data)[i])
            check_fail(__FILE__, __LINE__, "%s, %s, %s: byte %zu differs", what, isa, input, i);
    }
}

static void fill(buffer *b, int how)
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

/* A tile, staged, with the plain sums of all its windows. */
typedef struct tile {
    char text[96];
    int w, h, rows, blocks;
    ptrdiff_t stride, sft_stride;
    buffer taps, staged, sft;
} tile;

static void correlate(const tm_cpu_kernels *k, const tile *t, buffer *sft)
{
    buffer taps = make(tm_panel_size(t->w, t->h));
    buffer planes = make((size_t)(t->rows + t->h + 2) * (size_t)t->stride * 4);
    tm_panel panel = {.w = t->w, .h = t->h, .taps = taps.data};

    k->pack(&panel, t->taps.data, t->w);
    if (panel.planes)
        k->expand(planes.data, t->staged.data, t->stride, t->rows + t->h - 1, &panel);
    k->correlate(sft->data, t->sft_stride, &panel, t->staged.data, planes.data, t->stride, t->rows,
                 t->blocks);
    check_margins(&taps, "pack", k->name);
    check_margins(&planes, "expand", k->name);
    free(taps.memory);
    free(planes.memory);
}

static tile tile_make(int w, int h, int rows, int blocks, int samples, int taps)
{
    tile t = {.w = w, .h = h, .rows = rows, .blocks = blocks};
    snprintf(t.text, sizeof t.text, "%dx%d taps (%d), %d rows of %d blocks (%d)", w, h, taps, rows,
             blocks, samples);
    t.stride = (blocks * TM_BLOCK + w + TM_BLOCK - 1) / TM_BLOCK * TM_BLOCK;
    t.sft_stride = (blocks + (int)(check_random() % 2)) * TM_BLOCK;
    t.taps = make((size_t)w * (size_t)h);
    t.staged = make((size_t)(rows + h - 1 + TM_EXTRA_ROWS) * (size_t)t.stride + TM_SLACK);
    t.sft = make((size_t)rows * (size_t)t.sft_stride * 4);
    fill(&t.taps, taps);
    fill(&t.staged, samples);
    correlate(&isas[0], &t, &t.sft);
    return t;
}

static tile tile_random(void)
{
    int w = (int)check_random_in(1, check_random() % 4 ? 24 : 150);
    int h = (int)check_random_in(1, check_random() % 4 ? 24 : 150);
    return tile_make(w, h, (int)check_random_in(1, 14), (int)check_random_in(1, 5),
                     (int)check_random_in(0, 9), (int)check_random_in(0, 9));
}

static void tile_free(tile *t)
{
    free(t->taps.memory);
    free(t->staged.memory);
    free(t->sft.memory);
}

static void compare_correlate(const tile *t)
{
    for (int i = 1; i < isa_count; i++) {
        if (isas[i].correlate == isas[i - 1].correlate)
            continue;
        buffer sft = make(t->sft.size);
        correlate(&isas[i], t, &sft);
        check_same(&t->sft, &sft, "correlate", isas[i].name, t->text);
        free(sft.memory);
    }
}

static void correlates(void)
{
    for (int64_t i = check_cases(300); i > 0; i--) {
        tile t = tile_random();
        compare_correlate(&t);
        tile_free(&t);
    }
    /* the greatest sums, and every remainder of the width */
    static const int sizes[][2] = {{256, 256}, {65536, 1}, {64, 1024}, {255, 257}, {253, 259},
                                   {1, 1},     {2, 1},     {3, 1},     {49, 2},    {50, 2},
                                   {64, 2},    {65, 2},    {113, 2},   {114, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int extreme = 0; extreme < 3; extreme++) {
            tile t = tile_make(sizes[i][0], sizes[i][1], 2, 1, 1, extreme);
            compare_correlate(&t);
            tile_free(&t);
        }
    }
}

static tm_columns columns_make(buffer b[4], int blocks)
{
    size_t size = (size_t)blocks * TM_BLOCK * 4;
    for (int i = 0; i < 4; i++) {
        b[i] = make(i < 2 ? size : size * TM_SLIDE_ROWS);
        memset(b[i].data, 0, b[i].size);
    }
    return (tm_columns){b[0].data, b[1].data, b[2].data, b[3].data, blocks};
}

static void columns_free(buffer b[4])
{
    for (int i = 0; i < 4; i++)
        free(b[i].memory);
}

static void slides(void)
{
    for (int64_t n = check_cases(300); n > 0; n--) {
        int blocks = (int)check_random_in(1, 9), h = (int)check_random_in(1, 30);
        int rows = (int)check_random_in(1, TM_SLIDE_ROWS), how = (int)check_random_in(0, 9);
        ptrdiff_t stride = (blocks + (int)(check_random() % 2)) * TM_BLOCK;
        buffer samples = make((size_t)(h + rows) * (size_t)stride), expected[4], got[4];
        tm_columns c = columns_make(expected, blocks);
        fill(&samples, how);
        fill(&expected[0], 9); /* sums are modulo 2^32, whatever they start from */
        fill(&expected[1], 9);
        buffer start[2] = {make(expected[0].size), make(expected[1].size)};
        memcpy(start[0].data, c.sum, start[0].size);
        memcpy(start[1].data, c.sum_sq, start[1].size);
        isas[0].enter(&c, samples.data);
        isas[0].slide(&c, samples.data, stride, h, rows);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].slide == isas[i - 1].slide)
                continue;
            tm_columns d = columns_make(got, blocks);
            memcpy(d.sum, start[0].data, start[0].size);
            memcpy(d.sum_sq, start[1].data, start[1].size);
            isas[i].enter(&d, samples.data);
            isas[i].slide(&d, samples.data, stride, h, rows);
            for (int j = 0; j < 4; j++)
                check_same(&expected[j], &got[j], "enter, slide", isas[i].name, "");
            columns_free(got);
        }
        columns_free(expected);
        free(samples.memory);
        free(start[0].memory);
        free(start[1].memory);
    }
}

static tm_window_row first_row(const tile *t, const tm_columns *c)
{
    int64_t n = (int64_t)t->w * t->h, sum = 0, sum_sq = 0;
    const uint8_t *taps = t->taps.data;
    for (int64_t i = 0; i < n; i++) {
        sum += taps[i];
        sum_sq += taps[i] * taps[i];
    }
    return (tm_window_row){.sft = t->sft.data,
                           .prefix = c->prefix,
                           .prefix_sq = c->prefix_sq,
                           .plane = c->blocks * TM_LANES,
                           .w = t->w,
                           .width = (int)check_random_in(1, t->blocks * TM_BLOCK),
                           .n = n,
                           .sum = sum - TM_TAP_BIAS * n,
                           .variance = (float)(n * sum_sq - sum * sum),
                           .position = check_random_in(0, 1 << 20)};
}

/* The prefixes of the first row of windows. */
static void first_columns(const tile *t, const tm_columns *c)
{
    buffer still = make((size_t)t->stride * 2);
    memset(still.data, 0, still.size);
    for (int y = 0; y < t->h; y++)
        isas[0].enter(c, (uint8_t *)t->staged.data + y * t->stride);
    isas[0].slide(c, still.data, t->stride, 1, 1);
    free(still.memory);
}

/* What reaches the floor, and nothing else, bit for bit. */
static void compare_peaks(const tm_window_row *row, const tile *t, const float *map, float floor,
                          int isa)
{
    buffer other = make((size_t)row->width * 4);
    tm_best expected = TM_NO_BEST, best = expected;
    const float *scores = other.data;

    isas[0].score_best(row, &expected);
    isas[isa].score_peaks(row, &best, floor, other.data);
    for (int x = 0; x < row->width; x++) {
        if (map[x] >= floor ? memcmp(&map[x], &scores[x], 4) != 0 : !(scores[x] < floor))
            check_fail(__FILE__, __LINE__, "score_peaks, %s, %s: %.9g for %.9g, floor %.9g",
                       isas[isa].name, t->text, scores[x], map[x], floor);
    }
    check_margins(&other, "score_peaks", isas[isa].name);
    if (best.position != expected.position || best.score != expected.score)
        check_fail(__FILE__, __LINE__, "score_peaks, %s, %s: best %.9g, expected %.9g",
                   isas[isa].name, t->text, best.score, expected.score);
    free(other.memory);
}

static void compare_scores(const tile *t)
{
    buffer b[4];
    tm_columns c = columns_make(b, (int)(t->stride / TM_BLOCK));
    first_columns(t, &c);
    tm_window_row row = first_row(t, &c);
    if (row.variance == 0) {
        columns_free(b);
        return;
    }

    buffer map = make((size_t)row.width * 4), other = make((size_t)row.width * 4);
    tm_best none = TM_NO_BEST, top = none;
    isas[0].score_map(&row, &top, map.data);
    /* before, among and after equal scores */
    float some = ((float *)map.data)[check_random() % (unsigned)row.width];
    tm_best starts[] = {none, {some, row.position - 1}, {some, INT64_MAX},
                        {some, row.position + row.width / 2}, {top.score, top.position},
                        {top.score, top.position + 1}, {0, INT64_MAX}, {1, row.position + 3}};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        tm_best expected = starts[s];
        isas[0].score_best(&row, &expected);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].score_best == isas[i - 1].score_best)
                continue;
            tm_best best = starts[s], of_map = starts[s];
            isas[i].score_best(&row, &best);
            isas[i].score_map(&row, &of_map, other.data);
            check_same(&map, &other, "score_map", isas[i].name, t->text);
            compare_peaks(&row, t, map.data, starts[s].score, i);
            if (best.position != expected.position || best.score != expected.score ||
                of_map.position != expected.position || of_map.score != expected.score)
                check_fail(__FILE__, __LINE__, "score_best, %s, %s, start %zu: %.9g at %" PRId64
                           ", expected %.9g at %" PRId64, isas[i].name, t->text, s, best.score,
                           best.position, expected.score, expected.position);
        }
    }
    free(map.memory);
    free(other.memory);
    columns_free(b);
}

static void scores(void)
{
    for (int64_t i = check_cases(1000); i > 0; i--) {
        tile t = tile_random();
        compare_scores(&t);
        tile_free(&t);
    }
    for (int how = 0; how < 10; how++) {
        for (int taps = 2; taps < 6; taps++) {
            tile t = tile_make(256, 256, 1, 2, how, taps);
            compare_scores(&t);
            tile_free(&t);
        }
    }
}

static void picks(void)
{
    for (int64_t n = check_cases(300); n > 0; n--) {
        const int step = (int)check_random_in(1, 8);
        buffer expected = make((size_t)check_random_in(1, 300)), got = make(expected.size);
        buffer from = make((expected.size - 1) * (size_t)step + 1);
        fill(&from, 9);
        isas[0].pick(expected.data, from.data, step, (int64_t)expected.size);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].pick == isas[i - 1].pick)
                continue;
            isas[i].pick(got.data, from.data, step, (int64_t)expected.size);
            check_same(&expected, &got, "pick", isas[i].name, "");
        }
        check_margins(&expected, "pick", "c");
        free(expected.memory);
        free(got.memory);
        free(from.memory);
    }
}

/* Sources of both kinds, of any bits. */
static void combines(void)
{
    enum { MOST = 9, SUM = 2 };
    for (int64_t n = check_cases(300); n > 0; n--) {
        const int blocks = (int)check_random_in(1, 5), count = (int)check_random_in(1, MOST);
        const int w = (int)check_random_in(1, 150), block = (int)check_random_in(0, blocks - 1);
        const ptrdiff_t plane = (blocks + (w + TM_BLOCK - 1) / TM_BLOCK) * TM_LANES;
        buffer rows[MOST], got, expected = make((size_t)(blocks - block) * TM_BLOCK * 8);
        tm_source_row row = {.first = {[SUM + 1] = count}, .plane = plane, .w = w, .blocks = blocks};

        got = make(expected.size);
        for (int i = 0; i < count; i++) {
            rows[i] = make((size_t)plane * 4 * 4);
            fill(&rows[i], (int)check_random_in(0, 9));
            if (check_random() % 2)
                row.source[i] = (tm_source){.products = rows[i].data,
                                            .shift = (int)check_random_in(0, 3) * 8};
            else
                row.source[i] = (tm_source){.prefix = rows[i].data,
                                            .weight = check_random_in(-256, 128 * 65536)};
        }
        isas[0].combine(expected.data, &row, SUM, block, blocks - block);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].combine == isas[i - 1].combine)
                continue;
            isas[i].combine(got.data, &row, SUM, block, blocks - block);
            check_same(&expected, &got, "combine", isas[i].name, "");
        }
        for (int i = 0; i < count; i++)
            free(rows[i].memory);
        free(expected.memory);
        free(got.memory);
    }
}

/* Sums of all sizes, and so that variances are 0 or too great for 64 bits. */
static void fill_sums(int64_t *sums, int count, bool wide)
{
    const int bits = (int)check_random_in(0, wide ? 46 : 30);
    for (int i = 0; i < count; i++)
        sums[i] = check_random() % 8 ? check_random_in(0, INT64_C(1) << bits) : 0;
}

static void compare_sums(const tm_scorer *s, const int64_t *const *sums, int blocks)
{
    const size_t element = tm_map_element_size(s->metric);
    buffer expected = make((size_t)blocks * TM_BLOCK * element), got = make(expected.size);
    char text[64];

    snprintf(text, sizeof text, "metric %d, %d channels%s%s", (int)s->metric, s->channels,
             s->wide ? ", wide" : "", sums[TM_SUM_TOUCHED] ? ", masked" : "");
    isas[0].score_sums(s, sums, blocks, expected.data);
    for (int i = 1; i < isa_count; i++) {
        if (isas[i].score_sums == isas[i - 1].score_sums)
            continue;
        isas[i].score_sums(s, sums, blocks, got.data);
        check_same(&expected, &got, "score_sums", isas[i].name, text);
    }
    for (int x = 0; x < blocks * TM_BLOCK; x++) {
        const int i = tm_phase_index(x);
        tm_sums window = {sums[TM_SUM_FT][i], sums[TM_SUM_FF][i], {0}};
        for (int c = 0; c < s->channels; c++)
            window.s_f[c] = sums[TM_SUM_F + c][i];
        tm_value value = sums[TM_SUM_TOUCHED] && sums[TM_SUM_TOUCHED][i]
                             ? tm_skipped_value(s->metric)
                             : tm_score_of(s, &window);
        const void *wanted = element == 8 ? (void *)&value.integer : (void *)&value.score;
        if (memcmp((char *)expected.data + (size_t)x * element, wanted, element) != 0)
            check_fail(__FILE__, __LINE__, "score_sums, %s: column %d is not metrics.h's", text, x);
    }
    check_margins(&expected, "score_sums", "c");
    free(expected.memory);
    free(got.memory);
}

static void scores_of_sums(void)
{
    enum { BLOCKS = 3 };
    static int64_t memory[TM_SUMS][BLOCKS * TM_BLOCK];
    for (int64_t n = check_cases(1000); n > 0; n--) {
        const bool wide = check_random() % 4 == 0;
        const int64_t *sums[TM_SUMS];
        tm_scorer s = {.metric = (tm_metric)check_random_in(0, 5),
                       .channels = (int)check_random_in(1, TM_MAX_CHANNELS),
                       .wide = wide,
                       .n = check_random_in(1, wide ? 65536 : 32767),
                       .s_tt = check_random_in(0, 1 << 30),
                       .norm = (float)check_random_in(1, 1 << 30) * TM_SCORE_SCALE};
        for (int c = 0; c < s.channels; c++)
            s.s_t[c] = check_random_in(0, 1 << 30);
        for (int i = 0; i < TM_SUMS; i++) {
            fill_sums(memory[i], BLOCKS * TM_BLOCK, wide);
            sums[i] = memory[i];
        }
        if (check_random() % 2)
            sums[TM_SUM_TOUCHED] = NULL;
        compare_sums(&s, sums, (int)check_random_in(1, BLOCKS));
    }
}

/* Templates of one row, in colour, whose sums are easily made. */
typedef struct strip {
    int w, channels, blocks;
    buffer samples[TM_MAX_CHANNELS], products[TM_MAX_CHANNELS];
    buffer prefix[TM_MAX_CHANNELS], prefix_sq[TM_MAX_CHANNELS];
    tm_tile_planes parts;
} strip;

static void strip_free(strip *s)
{
    for (int c = 0; c < s->channels; c++) {
        free(s->samples[c].memory);
        free(s->products[c].memory);
        free(s->prefix[c].memory);
        free(s->prefix_sq[c].memory);
    }
}

static void strip_source(strip *s, int sum, tm_source source, double most)
{
    tm_source_row *row = &s->parts.row;
    const int i = row->first[TM_SUMS]++;
    row->source[i] = source;
    row->source[i].factor = 1;
    row->source[i].weight = 1;
    s->parts.source[i].most = most;
    for (int next = sum + 1; next < TM_SUMS; next++)
        row->first[next] = i + 1;
}

static void strip_channel(strip *s, int c, int how, double *variance)
{
    const int width = s->blocks * TM_BLOCK, columns = width + (s->w + 63) / 64 * 64;
    const ptrdiff_t plane = columns / 4;
    uint8_t *samples;
    int64_t s_t = 0, s_tt = 0;

    s->samples[c] = make((size_t)columns);
    s->products[c] = make((size_t)width * 4);
    s->prefix[c] = make((size_t)columns * 4);
    s->prefix_sq[c] = make((size_t)columns * 4);
    fill(&s->samples[c], how);
    samples = s->samples[c].data;
    const uint8_t *taps = samples + width / 3; /* so one window scores 1 */
    for (int u = 0; u < s->w; u++) {
        s_t += taps[u] - TM_TAP_BIAS;
        s_tt += (taps[u] - TM_TAP_BIAS) * (taps[u] - TM_TAP_BIAS);
    }
    *variance += (double)(s->w * s_tt - s_t * s_t);
    s->parts.scorer.s_t[c] = s_t;
    for (int x = 0; x < width; x++) {
        int32_t sum = 0;
        for (int u = 0; u < s->w; u++)
            sum += samples[x + u] * (taps[u] - TM_TAP_BIAS);
        ((int32_t *)s->products[c].data)[tm_phase_index(x)] = sum;
    }
    uint32_t sum = (uint32_t)check_random(), sum_sq = (uint32_t)check_random();
    for (int x = 0; x < columns; x++) {
        ((uint32_t *)s->prefix[c].data)[x % 4 * plane + x / 4] = sum;
        ((uint32_t *)s->prefix_sq[c].data)[x % 4 * plane + x / 4] = sum_sq;
        sum += samples[x];
        sum_sq += (uint32_t)(samples[x] * samples[x]);
    }
    s->parts.row.plane = plane;
}

static void strip_make(strip *s, int how)
{
    double variance = 0;

    *s = (strip){.w = (int)check_random_in(2, 300), .channels = (int)check_random_in(1, TM_MAX_CHANNELS),
                 .blocks = (int)check_random_in(1, 9)};
    for (int c = 0; c < s->channels; c++)
        strip_channel(s, c, how, &variance);
    for (int c = 0; c < s->channels; c++)
        strip_source(s, TM_SUM_FT, (tm_source){.products = s->products[c].data}, s->w * 255.0 * 128);
    for (int c = 0; c < s->channels; c++)
        strip_source(s, TM_SUM_FF, (tm_source){.prefix = s->prefix_sq[c].data}, s->w * 65025.0);
    for (int c = 0; c < s->channels; c++)
        strip_source(s, TM_SUM_F + c, (tm_source){.prefix = s->prefix[c].data}, s->w * 255.0);
    s->parts.row.w = s->w;
    s->parts.row.blocks = s->blocks;
    s->parts.scorer.channels = s->channels;
    s->parts.scorer.n = s->w;
    s->parts.scorer.norm = tm_or_one((float)variance) * TM_SCORE_SCALE;
    tm_reject_make(&s->parts);
}

/* No window that scores enough is lost, and most blocks without one are. */
static void rejects(void)
{
    int kept[MAX_ISAS] = {0}, without = 0;

    for (int64_t n = check_cases(1000); n > 0; n--) {
        strip s;
        float scores[9 * TM_BLOCK];
        int64_t sums[TM_SUMS][9 * TM_BLOCK];
        const int64_t *needed[TM_SUMS] = {0};

        strip_make(&s, (int)check_random_in(2, 9));
        for (int i = 0; i < TM_SUM_F + s.channels; i++) {
            if (i == TM_SUM_TOUCHED)
                continue;
            isas[0].combine(sums[i], &s.parts.row, i, 0, s.blocks);
            needed[i] = sums[i];
        }
        isas[0].score_sums(&s.parts.scorer, needed, s.blocks, scores);
        float least = 0;
        for (int i = (int)check_random_in(1, 200); i > 0; i--) {
            const float score = scores[check_random_in(0, s.blocks * TM_BLOCK - 1)];
            least = score > least ? score : least;
        }
        tm_reject_set(&s.parts.reject, least);
        for (int i = 0; i < isa_count; i++) {
            uint8_t pass[9];
            isas[i].reject(&s.parts.reject, &s.parts.row, pass);
            for (int b = 0; b < s.blocks; b++) {
                float most = -1;
                for (int x = 0; x < TM_BLOCK; x++)
                    most = scores[b * TM_BLOCK + x] > most ? scores[b * TM_BLOCK + x] : most;
                if (most >= least && !pass[b])
                    check_fail(__FILE__, __LINE__, "reject, %s: %.9g is lost, which reaches %.9g",
                               isas[i].name, (double)most, (double)least);
                if (most < least) {
                    kept[i] += pass[b];
                    without += i == 0;
                }
            }
        }
        strip_free(&s);
    }
    for (int i = 1; i < isa_count; i++)
        CHECK(isas[i].reject == isas[0].reject || kept[i] < without / 2);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Shortest of some repeats, in ns a window. */
#define TIME(windows, call)                                      \
    ({                                                           \
        double shortest = 1e300;                                 \
        for (int repeat = 0; repeat < 40; repeat++) {            \
            double start = now_ns();                             \
            for (int inner = 0; inner < 8; inner++)              \
                call;                                            \
            double taken = (now_ns() - start) / 8;               \
            shortest = taken < shortest ? taken : shortest;      \
        }                                                        \
        shortest / (windows);                                    \
    })

static void bench(void)
{
    static const int sizes[][2] = {{4, 4}, {8, 8}, {16, 16}, {21, 21}, {32, 32}, {64, 64}};

    printf("%-12s %8s %12s %12s\n", "", "", "ns/window", "products/ns");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tile t = tile_make(sizes[s][0], sizes[s][1], 12, 16, 9, 9);
        for (int i = 0; i < isa_count; i++) {
            buffer taps = make(tm_panel_size(t.w, t.h));
            buffer planes = make((size_t)(t.rows + t.h + 2) * (size_t)t.stride * 4);
            tm_panel panel = {.w = t.w, .h = t.h, .taps = taps.data};
            isas[i].pack(&panel, t.taps.data, t.w);
            if (panel.planes)
                isas[i].expand(planes.data, t.staged.data, t.stride, t.rows + t.h - 1, &panel);
            double ns = TIME(t.rows * t.blocks * TM_BLOCK,
                             isas[i].correlate(t.sft.data, t.sft_stride, &panel, t.staged.data,
                                               planes.data, t.stride, t.rows, t.blocks));
            printf("%-12s correlate %3d %9.3f %12.1f\n", isas[i].name, t.w, ns, t.w * t.h / ns);
            free(taps.memory);
            free(planes.memory);
        }
        tile_free(&t);
    }

    tile t = tile_make(21, 21, TM_SLIDE_ROWS, 16, 9, 9);
    buffer b[4], map = make((size_t)t.blocks * TM_BLOCK * 4);
    tm_columns c = columns_make(b, (int)(t.stride / TM_BLOCK));
    first_columns(&t, &c);
    tm_window_row row = first_row(&t, &c);
    row.width = t.blocks * TM_BLOCK;
    for (int i = 0; i < isa_count; i++) {
        tm_best best = TM_NO_BEST;
        const tm_cpu_kernels *k = &isas[i];
        double score = TIME(row.width, k->score_best(&row, &best));
        double with_map = TIME(row.width, k->score_map(&row, &best, map.data));
        double peaks = TIME(row.width, k->score_peaks(&row, &best, best.score, map.data));
        double slide = TIME(TM_SLIDE_ROWS * row.width,
                            k->slide(&c, t.staged.data, t.stride, t.h, TM_SLIDE_ROWS));
        memset(c.sum, 0, b[0].size);
        memset(c.sum_sq, 0, b[1].size);
        first_columns(&t, &c);
        printf("%-12s slide %.3f, score_best %.3f, score_map %.3f, score_peaks %.3f ns/window\n",
               k->name, slide, score, with_map, peaks);
    }
    columns_free(b);
    free(map.memory);
    tile_free(&t);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(correlates), TEST(slides),   TEST(scores),
                                       TEST(picks),      TEST(combines), TEST(scores_of_sums),
                                       TEST(rejects)};
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
