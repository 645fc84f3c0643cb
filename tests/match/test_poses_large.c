/* SPDX-License-Identifier: MIT */
/* Certified search for templates whose posed pictures are not kept, against the exhaustive one: the same bits of every
 * match. Smaller ones are made to be searched like that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each_cpu.h"
#include "lcc/pose_large.h"
#include "match/certified_compare.h"
#include "match/certified_frames.h"
#include "match/certified_scenes.h"
#include "match/poses.h"

typedef struct large_problem {
    drawn frame, picture;
    tm_pose_grid grid;
    tm_search search;
    tm_settings settings;
} large_problem;

/* Some angles, and perhaps scales, among which mostly is the pose that a template was cut in. */
static void make_grid(large_problem *p)
{
    tm_pose_grid *g = &p->grid;

    tm_pose_grid_default(g, sizeof *g);
    g->angle_step = (double)check_random_in(1, 30) / 10;
    g->angle_from = -g->angle_step * (double)check_random_in(0, 8);
    g->angle_to = g->angle_from + g->angle_step * (double)check_random_in(9, 20);
    if (check_random() % 3 == 0) {
        g->scale_from = 0.9;
        g->scale_to = 1.1;
        g->scale_step = (double)check_random_in(1, 2) / 10;
        g->angle_to = g->angle_from + 5 * g->angle_step;
    }
    g->support = (tm_support)check_random_in(0, 2);
}

static void make_search(large_problem *p)
{
    tm_search_default(&p->search, sizeof p->search);
    p->search.most = check_random_in(0, 3);
    draw_wishes(&p->search);
    p->search.min_score = p->search.most ? 0.5 : 0.9;
    tm_settings_default(&p->settings, sizeof p->settings);
    p->settings.domain = (tm_domain)check_random_in(0, 2);
    p->settings.threads = (int)check_random_in(1, 3);
}

/* A frame of anything that certified search has trouble with, or that is easy. */
static void make_problem(large_problem *p, int64_t least, int64_t most)
{
    const int64_t width = check_random_in(least, most), height = check_random_in(least, most);

    *p = (large_problem){.grid = {.size = 0}};
    p->frame = draw_smooth(width + check_random_in(10, 60), height + check_random_in(10, 60));
    const tm_image *image = &p->frame.image;
    if (check_random() % 5 == 0 && image->stride == image->width)
        p->frame.name = certified_frame(&(canvas){image->width, image->height, p->frame.memory});
    p->picture = cut_template(&p->frame, check_random_in(0, image->width - width), check_random_in(0, image->height - height),
                              width, height);
    make_grid(p);
    make_search(p);
}

static void free_problem(large_problem *p)
{
    drawn_free(&p->frame);
    drawn_free(&p->picture);
}

/* Gives a template families by cells as if it were too large. False where there can be none. */
static bool make_large(tm_posed_template *posed, bool narrow)
{
    tm_pose_families *f = calloc(1, sizeof *f);
    const char *fault;

    CHECK(f);
    f->poses = posed->poses;
    CHECK_EQ(tm_pose_large_make(&f->large, &posed->image, &posed->poses, (int)check_random_in(1, 2), &fault), TM_OK);
    if (!fault)
        posed->kept->families[narrow] = f;
    else
        free(f);
    return !fault;
}

/* Matches; *certified: whether by certified search. force: by families as of a large template. False where it has none. */
static bool match(const large_problem *p, tm_device_kind device, tm_strategy strategy, bool force, tm_posed_hits *hits, tm_status *status, bool *certified)
{
    tm_settings settings = p->settings;
    tm_posed_template *posed = NULL;
    tm_matcher *matcher;
    bool good = true;

    *hits = (tm_posed_hits){0};
    *certified = false;
    settings.device = device;
    settings.strategy = strategy;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    *status = tm_posed_template_create(&posed, matcher, &p->picture.image, &p->grid);
    if (*status == TM_OK && force)
        good = make_large(posed, settings.device == TM_DEVICE_CPU);
    for (int again = 0; again < 2 && good && *status == TM_OK; again++) { /* the second finds what the first made */
        tm_posed_hits_free(hits);
        *status = tm_match_posed(matcher, &p->frame.image, posed, &p->search, hits);
        *certified = strcmp(tm_matcher_strategy(matcher), "certified") == 0;
        again += !force;
    }
    tm_posed_template_destroy(&posed);
    tm_matcher_destroy(&matcher);
    return good;
}

static void compare_hits(const large_problem *p, const tm_posed_hit *a, const tm_posed_hit *b)
{
    if (!same_posed_hit(a, b))
        check_fail(__FILE__, __LINE__,
                   "%s, %" PRId64 "x%" PRId64 " in %" PRId64 "x%" PRId64
                   ": %.9g at (%g, %g), %g degrees, x %g, and exhaustively %.9g at (%g, %g), %g degrees, x %g",
                   p->frame.name, p->picture.image.width, p->picture.image.height, p->frame.image.width,
                   p->frame.image.height, a->score, a->center_x, a->center_y, a->angle, a->scale, b->score, b->center_x,
                   b->center_y, b->angle, b->scale);
}

/* Whether it was certified. */
static bool compare(const large_problem *p, tm_device_kind device, bool force)
{
    tm_posed_hits a, b;
    tm_status status, other;
    bool certified, never;

    if (!match(p, device, TM_STRATEGY_CERTIFIED, force, &a, &status, &certified))
        return false;
    match(p, TM_DEVICE_CPU, TM_STRATEGY_EXHAUSTIVE, false, &b, &other, &never);
    CHECK_EQ(status, other);
    CHECK(!never);
    if (status == TM_OK) {
        compare_hits(p, &a.best, &b.best);
        CHECK_EQ(a.count, b.count);
        for (size_t i = 0; i < a.count; i++)
            compare_hits(p, &a.items[i], &b.items[i]);
    }
    tm_posed_hits_free(&a);
    tm_posed_hits_free(&b);
    return certified;
}

static void compare_random(int64_t cases, tm_device_kind device, uint32_t features)
{
    int64_t certified = 0;

    for (int64_t i = 0; i < cases; i++) {
        large_problem p;
        make_problem(&p, 60, 90);
        p.settings.cpu_features = features;
        certified += compare(&p, device, true);
        free_problem(&p);
    }
    printf("# %" PRId64 " cases, of which %" PRId64 " certified, 0 differ\n", cases, certified);
    CHECK(cases < 40 || certified);
}

static void random_cases(uint32_t features)
{
    compare_random(check_cases(100) / 50 + 1, TM_DEVICE_CPU, features);
}

static void cuda_random(void)
{
    require_cuda();
    compare_random(check_cases(12), TM_DEVICE_CUDA, UINT32_MAX);
}

/* One that is too large, which is searched so by itself. */
static void search_large(tm_device_kind device)
{
    large_problem p = {.frame = draw_smooth(320, 310)};

    p.picture = cut_template(&p.frame, 20, 15, 280, 270);
    tm_pose_grid_default(&p.grid, sizeof p.grid);
    p.grid.angle_from = -2;
    p.grid.angle_to = 2;
    p.grid.angle_step = 0.5;
    tm_search_default(&p.search, sizeof p.search);
    p.search.most = 1;
    tm_settings_default(&p.settings, sizeof p.settings);
    CHECK(compare(&p, device, false));
    free_problem(&p);
}

static void large(void)
{
    search_large(TM_DEVICE_CPU);
}

static void cuda_large(void)
{
    require_cuda();
    search_large(TM_DEVICE_CUDA);
}

/* A frame that is hardly larger than the template, of which some frames of cells have no window. */
static void few_positions(tm_device_kind device)
{
    large_problem p = {.frame = draw_smooth(267, 267)};

    p.picture = cut_template(&p.frame, 1, 2, 264, 264);
    tm_pose_grid_default(&p.grid, sizeof p.grid);
    p.grid.angle_from = 0;
    p.grid.angle_to = 270;
    p.grid.angle_step = 90;
    tm_search_default(&p.search, sizeof p.search);
    p.search.most = 1;
    tm_settings_default(&p.settings, sizeof p.settings);
    compare(&p, device, false);
    free_problem(&p);
}

static void few(void)
{
    few_positions(TM_DEVICE_CPU);
}

static void cuda_few(void)
{
    require_cuda();
    few_positions(TM_DEVICE_CUDA);
}

static uint8_t *row_of(const tm_image *image, int64_t y)
{
    return (uint8_t *)(uintptr_t)image->samples + y * image->stride;
}

/* A template of which the half that is black lies below the frame, where nothing is: not even what was there of a taller frame. */
static void cuda_below(void)
{
    require_cuda();
    const tm_device_kind kinds[] = {TM_DEVICE_CUDA, TM_DEVICE_CPU};
    large_problem p = {.frame = draw_smooth(170, 110), .picture = draw_smooth(80, 72)};
    uint8_t *taller = malloc(170 * 160);
    const tm_image *image = &p.picture.image, above = {.samples = taller, .width = 170, .height = 160, .stride = 170};
    tm_posed_hit best[2];

    CHECK(taller);
    memset(taller, 255, 170 * 160);
    for (int i = 0; i < 160; i++)
        taller[i * 170 + i] = 0;
    for (int y = 0; y < 36; y++) {
        memcpy(row_of(&p.frame.image, 110 - 36 + y) + 40, row_of(image, y), 80);
        memset(row_of(image, 36 + y), 0, 80);
    }
    tm_pose_grid_default(&p.grid, sizeof p.grid);
    p.grid.angle_from = -0.2, p.grid.angle_to = 0.2, p.grid.angle_step = 0.1; /* of which none is higher */
    p.grid.support = TM_SUPPORT_FULL;
    tm_search_default(&p.search, sizeof p.search);
    p.search.most = 1;
    tm_settings_default(&p.settings, sizeof p.settings);
    p.settings.domain = TM_DOMAIN_SAME;
    for (int i = 0; i < 2; i++) {
        tm_posed_template *posed = NULL;
        tm_matcher *matcher;
        tm_posed_hits hits = {0};
        p.settings.device = kinds[i];
        p.settings.strategy = i ? TM_STRATEGY_EXHAUSTIVE : TM_STRATEGY_CERTIFIED;
        CHECK_EQ(tm_matcher_create(&matcher, &p.settings), TM_OK);
        CHECK_EQ(tm_posed_template_create(&posed, matcher, image, &p.grid), TM_OK);
        CHECK(i || make_large(posed, false));
        CHECK_EQ(tm_match_posed(matcher, &above, posed, &p.search, &hits), TM_OK);
        tm_posed_hits_free(&hits);
        CHECK_EQ(tm_match_posed(matcher, &p.frame.image, posed, &p.search, &hits), TM_OK);
        CHECK(i || strcmp(tm_matcher_strategy(matcher), "certified") == 0);
        best[i] = hits.best;
        tm_posed_hits_free(&hits);
        tm_posed_template_destroy(&posed);
        tm_matcher_destroy(&matcher);
    }
    CHECK(best[1].score == 1 && best[1].angle == 0);
    compare_hits(&p, &best[0], &best[1]);
    free(taller);
    free_problem(&p);
}

/* What the device fails to do the CPU does, still by certified search, and a warning says so. */
static void cuda_faults(void)
{
    static const char *const errors[] = {"2", "719"};
    enum { CALLS = 120 };
    int warned = 0, opened = 0;

    require_cuda();
    large_problem p = {.frame = draw_smooth(130, 120)};
    p.picture = cut_template(&p.frame, 20, 15, 90, 84);
    tm_pose_grid_default(&p.grid, sizeof p.grid);
    p.grid.angle_from = -5, p.grid.angle_to = 5, p.grid.angle_step = 1;
    tm_search_default(&p.search, sizeof p.search);
    p.search.most = 1;
    tm_settings_default(&p.settings, sizeof p.settings);
    p.settings.device = TM_DEVICE_CUDA;
    p.settings.strategy = TM_STRATEGY_CERTIFIED;
    tm_posed_hits right, hits = {0};
    tm_status status;
    bool certified;
    match(&p, TM_DEVICE_CPU, TM_STRATEGY_EXHAUSTIVE, false, &right, &status, &certified);
    CHECK_EQ(status, TM_OK);
    for (int i = 0; i < 2 * CALLS; i += check_cases(1000) < 500 ? 7 : 1) {
        tm_posed_template *posed = NULL;
        tm_matcher *matcher;
        char fault[32];
        snprintf(fault, sizeof fault, "0:%d:%s", 2 + i / 2, errors[i % 2]);
        setenv("TMATCH_FAULT", fault, 1);
        if (tm_matcher_create(&matcher, &p.settings) != TM_OK) {
            tm_matcher_destroy(&matcher);
            continue; /* the device could not be opened */
        }
        CHECK_EQ(tm_posed_template_create(&posed, matcher, &p.picture.image, &p.grid), TM_OK);
        CHECK(make_large(posed, false));
        for (int again = 0; again < 2; again++) {
            tm_posed_hits_free(&hits);
            CHECK_EQ(tm_match_posed(matcher, &p.frame.image, posed, &p.search, &hits), TM_OK);
            opened++;
            warned += *tm_matcher_warning(matcher) != '\0';
            CHECK(strcmp(tm_matcher_strategy(matcher), "certified") == 0);
            compare_hits(&p, &hits.best, &right.best);
        }
        tm_posed_hits_free(&hits);
        tm_posed_template_destroy(&posed);
        tm_matcher_destroy(&matcher);
    }
    unsetenv("TMATCH_FAULT");
    printf("# %d matches, %d with a warning\n", opened, warned);
    tm_posed_hits_free(&right);
    free_problem(&p);
    if (!warned)
        check_skip("the CUDA backend was built without -Dfault_injection=true");
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, random_cases)
DEFINE_CPU_TESTS

int main(int argc, char **argv)
{
    static const check_test tests[] = {CPU_TESTS TEST(large), TEST(few), TEST(cuda_random), TEST(cuda_large), TEST(cuda_below), TEST(cuda_few), TEST(cuda_faults)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
