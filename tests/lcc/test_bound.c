/* SPDX-License-Identifier: MIT */
/* The bound of certified search on the CPU: no window is left out for the sake of one that scores
 * no more. Every level, every instruction set. And that of a GPU's coarse templates, rough and fine, for every window. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "each_cpu.h"
#include "lcc/cpu/certified.h"
#include "lcc/cuda/certified/cells.h"
#include "match/certified_scenes.h"

enum { WINDOWS = 24, RECTANGLES = 8 };

typedef struct bound {
    tm_job job; /* with the oracle's map */
    tm_cpu_kernels kernels;
    tm_certified certified;
    char *memory;
    const char *text;
    int64_t looked_at, undecided;
} bound;

static float score_at(const bound *b, int64_t x, int64_t y)
{
    return ((const float *)b->job.map.data)[y * b->job.geometry.map_width + x];
}

/* The oracle's best window of a tile. */
static tm_candidate best_of(const bound *b, const tm_tile *tile)
{
    tm_candidate best = TM_NO_CANDIDATE;
    for (int64_t y = tile->y; y < tile->y + tile->height; y++)
        for (int64_t x = tile->x; x < tile->x + tile->width; x++) {
            const tm_candidate here = {tm_score_order(score_at(b, x, y)),
                                       y * b->job.geometry.map_width + x};
            if (tm_candidate_beats(here, best))
                best = here;
        }
    return best;
}

/* A tile is searched knowing the score of its best window: that one must be found. */
static void look(bound *b, int64_t x, int64_t y, int64_t width, int64_t height)
{
    const tm_tile tile = {.x = x, .y = y, .width = width, .height = height};
    const tm_candidate right = best_of(b, &tile);
    tm_candidate found = TM_NO_CANDIDATE;

    b->certified.best = right.value;
    const int64_t rows = tm_certified_tile(&b->certified, b->memory, &tile, &found);
    b->looked_at++;
    if (rows < height) { /* so low a score rules nothing out */
        b->undecided++;
        return;
    }
    if (found.value != right.value || found.position != right.position)
        check_fail(__FILE__, __LINE__,
                   "%s: blocks of %d x %d: of %d x %d windows at (%d, %d) that at %" PRId64
                   " was left out, which scores %.9g",
                   b->text, b->certified.plan.by.level->block_x, b->certified.plan.by.level->block_y, (int)width,
                   (int)height, (int)x, (int)y, right.position,
                   (double)tm_score_of_order((int32_t)right.value));
}

static tm_certified_choice choice_of(const tm_level *level)
{
    return (tm_certified_choice){level, check_random() % 4 && tm_certified_may_be_few(level), 0};
}

/* By this level, after a search has begun by another one. */
static void look_around(bound *b, const tm_level *level)
{
    const tm_geometry *g = &b->job.geometry;
    const tm_levels *levels = &b->job.tmpl->levels;
    const tm_certified_plan plan = {.by = choice_of(&levels->list[check_random_in(0, levels->count - 1)]),
                                    .finer = {choice_of(level)},
                                    .finer_count = 1,
                                    .pass_ns = 1,
                                    .other_ns = INFINITY,
                                    .in_tiles = true};
    const int64_t most_width = g->map_width < TM_CERTIFIED_WIDTH ? g->map_width : TM_CERTIFIED_WIDTH;
    const int64_t most_height = g->map_height < 40 ? g->map_height : 40;
    /* in which windows' sums are kept, done without and kept again */
    const int64_t narrow = g->map_width < 200 ? g->map_width : 200,
                  tall = g->map_height < 2000 ? g->map_height : 2000;
    char *taps = aligned_alloc(128, (tm_certified_taps_size(&b->job, &plan) + 127) / 128 * 128);

    CHECK(taps);
    tm_certified_make(&b->certified, &b->kernels, &b->job, &plan, taps);
    tm_certified_take(&b->certified, &plan.finer[0]);
    const size_t broad = tm_certified_tile_size(&b->certified, most_width, most_height),
                 high = tm_certified_tile_size(&b->certified, narrow, tall);
    b->memory = aligned_alloc(128, ((broad > high ? broad : high) + 127) / 128 * 128);
    CHECK(b->memory);
    const int64_t best = best_of(b, &(tm_tile){.width = g->map_width, .height = g->map_height}).position;
    look(b, best % g->map_width, best / g->map_width, 1, 1);
    for (int i = 0; i < WINDOWS; i++)
        look(b, check_random_in(0, g->map_width - 1), check_random_in(0, g->map_height - 1), 1, 1);
    for (int i = 0; i < RECTANGLES; i++) {
        const int64_t width = check_random_in(1, most_width), height = check_random_in(1, most_height);
        const int64_t lowest = g->map_height - height; /* beyond its last row a frame has nothing to read */
        look(b, check_random_in(0, g->map_width - width), i % 2 ? lowest : check_random_in(0, lowest), width, height);
    }
    look(b, check_random_in(0, g->map_width - narrow), 0, narrow, tall);
    free(b->memory);
    free(taps);
}

/* Matches by the definition, for the map. */
static bool make_job(tm_job *job, const scene *s)
{
    tm_template *t;

    CHECK_EQ(tm_template_prepare(&t, &s->tmpls[0].image), TM_OK);
    *job = (tm_job){.metric = TM_METRIC_LCC, .frame = s->frame.image, .tmpl = t};
    CHECK_EQ(tm_geometry_init(&job->geometry, s->domain, job->frame.width, job->frame.height, t->width, t->height),
             TM_OK);
    const size_t row = (size_t)job->geometry.map_width * sizeof(float);
    job->map = (tm_map){malloc(row * (size_t)job->geometry.map_height), (ptrdiff_t)row};
    CHECK(job->map.data);
    CHECK_EQ(tm_reference_match(job), TM_OK);
    return t->levels.count > 0;
}

static void random_cases(uint32_t features)
{
    bound b = {0};
    int64_t levels = 0;

    tm_cpu_kernels_init(&b.kernels, features);
    for (int64_t i = check_cases(40); i > 0; i--) {
        scene s;
        scene_make(&s, 1e6);
        b.text = s.text;
        if (s.count) {
            if (make_job(&b.job, &s)) {
                const tm_levels *l = &b.job.tmpl->levels;
                for (int k = 0; k < l->count; k++, levels++)
                    look_around(&b, &l->list[k]);
            }
            free(b.job.map.data);
            tm_template *t = (tm_template *)b.job.tmpl;
            tm_template_destroy(&t);
        }
        scene_free(&s);
    }
    printf("# %" PRId64 " levels, %" PRId64 " tiles, of which %" PRId64 " with scores too low for the bound\n",
           levels, b.looked_at, b.undecided);
    CHECK(levels && 2 * b.undecided < b.looked_at);
}

/* The largest templates, in frames of the greatest contrast and of hardly any; in a slow build, whose oracle takes a
 * minute in an emulator, every third of these, or every seventh. */
static void largest(void)
{
    static const int sizes[][2] = {{256, 256}, {1024, 64}, {64, 1024}, {4096, 16}, {8, 8192}, {2, 32768}, {65536, 1}};
    const uint32_t sets[] = {0, tm_cpu_features()};
    bound b = {.text = "largest"};

    const size_t step = check_is_slow() ? 7 : check_cases(1000) < 500 ? 3 : 1;
    for (size_t i = check_random() % step; i < 2 * (sizeof sizes / sizeof *sizes); i += step) {
        const int64_t w = sizes[i / 2][0], h = sizes[i / 2][1], width = w + 2 * 64 + 7, height = h + 2;
        scene s = {.frame = {.memory = malloc((size_t)(width * height))}, .domain = TM_DOMAIN_VALID};
        CHECK(s.frame.memory);
        const int64_t grain = check_random() % 3 ? check_random_in(2, 70) : 1;
        const uint64_t dark = check_random() % 3 ? 2 : 50; /* one cell of so many */
        for (int64_t k = 0; k < width * height; k++) {
            const uint64_t cell = (uint64_t)(k % width / grain + k / width / grain * 7919);
            const bool bright = (cell * UINT64_C(0x9e3779b97f4a7c15) >> 40) % dark;
            s.frame.memory[k] = (uint8_t)(i % 2 ? 200 + bright : 255 * bright);
        }
        s.frame.image = (tm_image){.samples = s.frame.memory, .width = width, .height = height, .stride = width};
        s.tmpls[0].image = (tm_image){.samples = s.frame.memory + width + 66, .width = w, .height = h, .stride = width};
        if (make_job(&b.job, &s)) {
            const tm_levels *l = &b.job.tmpl->levels;
            tm_cpu_kernels_init(&b.kernels, sets[check_random() % 2]);
            look_around(&b, &l->list[check_random_in(0, l->count - 1)]);
        }
        free(b.job.map.data);
        tm_template *t = (tm_template *)b.job.tmpl;
        tm_template_destroy(&t);
        free(s.frame.memory);
    }
    printf("# %" PRId64 " tiles, of which %" PRId64 " with scores too low for the bound\n", b.looked_at, b.undecided);
    CHECK(2 * b.undecided < b.looked_at);
}

/* Waves, of which so many windows resemble the template that their sums are kept for some rows, and then tried to be done
 * without again. */
static void tall(void)
{
    enum { WIDTH = 200, HEIGHT = 3000, SIDE = 20 };
    bound b = {.text = "tall"};
    scene s = {.frame = {.memory = malloc(WIDTH * HEIGHT)}, .domain = TM_DOMAIN_VALID};

    CHECK(s.frame.memory);
    for (int k = 0; k < WIDTH * HEIGHT; k++)
        s.frame.memory[k] = (uint8_t)(128 + 50 * sin(k / WIDTH / 9.0) + 40 * sin((k % WIDTH + 2 * (k / WIDTH)) / 15.0) +
                                      (double)check_random_in(-6, 6));
    s.frame.image = (tm_image){.samples = s.frame.memory, .width = WIDTH, .height = HEIGHT, .stride = WIDTH};
    s.tmpls[0].image = s.frame.image;
    s.tmpls[0].image.samples = s.frame.memory + WIDTH * check_random_in(0, HEIGHT - SIDE) + check_random_in(0, WIDTH - SIDE);
    s.tmpls[0].image.width = s.tmpls[0].image.height = SIDE;
    CHECK(make_job(&b.job, &s));
    tm_cpu_kernels_init(&b.kernels, tm_cpu_features());
    for (int k = 0; k < b.job.tmpl->levels.count; k++)
        look_around(&b, &b.job.tmpl->levels.list[k]);
    free(b.job.map.data);
    tm_template *t = (tm_template *)b.job.tmpl;
    tm_template_destroy(&t);
    free(s.frame.memory);
    CHECK(2 * b.undecided < b.looked_at);
}

/* The bound of a cell window, without a GPU's roundings. */
static int bound_of(const tm_cells *cells, const tm_cells_set *set, const tm_image *frame, int64_t x, int64_t y)
{
    const int size = cells->size, count = cells->across * cells->down;
    int64_t sums[TM_CELLS_MOST * TM_CELLS_MOST] = {0}, sum = 0, squares = 0, most = 0;

    for (int64_t row = 0; row < (int64_t)cells->down * size; row++)
        for (int64_t column = 0; column < (int64_t)cells->across * size; column++)
            sums[row / size * cells->across + column / size] +=
                ((const uint8_t *)frame->samples)[(y + row) * frame->stride + x + column];
    for (int i = 0; i < count; i++)
        sum += sums[i], squares += sums[i] * sums[i];
    for (int k = 0; k < set->across * set->down; k++) {
        int64_t product = 0;
        for (int i = 0; i < count; i++)
            product += set->taps[k * count + i] * sums[i];
        most = product > most ? product : most;
    }
    const double spread = (double)(count * squares - sum * sum) / count,
                 cosine = spread > 0 && most > 0 ? (double)most / (set->length * sqrt(spread)) : 0;
    return (int)ceil(254 * cosine * cosine);
}

static void look_at_cells(bound *b, const tm_cells *cells, const tm_cells_set *set)
{
    const tm_geometry *g = &b->job.geometry;
    const int64_t size = cells->size;

    for (int64_t y = 0; y < g->map_height; y++)
        for (int64_t x = 0; x < g->map_width; x++) {
            const float score = score_at(b, x, y);
            if (score < 0.5f && check_random() % 32)
                continue;
            const int byte = bound_of(cells, set, &b->job.frame, (x + size - 1) / size * size, (y + size - 1) / size * size);
            const float limit = byte < TM_CELLS_LIMITS ? set->limits[byte] : INFINITY;
            b->looked_at++;
            b->undecided += limit >= 1;
            if (limit <= score)
                check_fail(__FILE__, __LINE__, "%s: %d x %d runs of shifts: that at (%d, %d) is left out, which scores %.9g, not at most %.9g",
                           b->text, set->across, set->down, (int)x, (int)y, (double)score, (double)limit);
        }
}

/* A frame with the template as it is, where the bound is tight, or any scene. */
static void draw_cells(scene *s, bool exact)
{
    if (!exact) {
        scene_make_easy(s, 1e6);
        return;
    }
    *s = (scene){.frame = draw_smooth(170, 130), .count = 1, .text = "exact"};
    const int64_t width = check_random_in(8, 80), height = check_random_in(8, 80);
    tm_image *image = &s->tmpls[0].image;
    *image = s->frame.image;
    image->samples = (const uint8_t *)image->samples + check_random_in(0, 130 - height) * image->stride +
                     check_random_in(0, 170 - width);
    image->width = width, image->height = height;
}

static void look_at_sets(bound *b, const tm_cells *cells)
{
    int64_t *sums = malloc(tm_cells_sums(cells) * sizeof *sums);
    tm_cells_set set = {.taps = malloc(tm_cells_sums(cells) * sizeof *set.taps)};

    CHECK(sums && set.taps);
    tm_cells_sum(sums, cells, b->job.tmpl);
    const int sizes[] = {1, 2, cells->size};
    for (int i = 0; i < 9; i++) {
        set.across = sizes[i % 3], set.down = sizes[i / 3];
        tm_cells_set_make(&set, cells, b->job.tmpl, sums, 0.95);
        look_at_cells(b, cells, &set);
    }
    free(set.taps);
    free(sums);
}

static void cells(void)
{
    bound b = {0};

    for (int64_t i = check_cases(8); i > 0; i--) {
        tm_cells own;
        scene s;
        draw_cells(&s, i % 2);
        b.text = s.text;
        if (s.count && s.domain == TM_DOMAIN_VALID) {
            make_job(&b.job, &s);
            if (tm_cells_choose(&own, b.job.tmpl->width, b.job.tmpl->height))
                look_at_sets(&b, &own);
            free(b.job.map.data);
            tm_template *t = (tm_template *)b.job.tmpl;
            tm_template_destroy(&t);
        }
        scene_free(&s);
    }
    printf("# %" PRId64 " windows, %" PRId64 " of which no score rules out\n", b.looked_at, b.undecided);
    CHECK(b.looked_at && b.undecided < b.looked_at);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, random_cases)
DEFINE_CPU_TESTS

int main(int argc, char **argv)
{
    static const check_test tests[] = {CPU_TESTS TEST(largest), TEST(tall), TEST(cells)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
