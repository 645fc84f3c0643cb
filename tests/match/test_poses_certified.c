/* SPDX-License-Identifier: MIT */
/* Certified search in poses against the exhaustive one, which test_poses.c compares with the oracle:
 * the same bits of every match. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each_cpu.h"
#include "match/certified_compare.h"
#include "match/certified_scenes.h"
#include "match/poses.h"

typedef struct posed_problem {
    scene scene;
    tm_image tmpl;
    uint8_t *mask;
    tm_pose_grid grid;
    tm_search search;
    tm_settings settings;
} posed_problem;

static tm_image mask_some(posed_problem *p, const tm_image *image)
{
    tm_image masked = *image;
    const int64_t n = image->width * image->height;

    p->mask = malloc((size_t)n);
    CHECK(p->mask);
    memset(p->mask, 1, (size_t)n);
    for (int64_t i = check_random_in(1, 5); i > 0; i--)
        p->mask[check_random_in(0, image->width / 4)] = 0;
    masked.mask = p->mask;
    masked.mask_stride = (ptrdiff_t)image->width;
    return masked;
}

/* Returns about how many products its poses make with one window, by the pixels of the template. */
static double make_grid(tm_pose_grid *g)
{
    double poses = 1;

    tm_pose_grid_default(g, sizeof *g);
    g->angle_from = (double)check_random_in(-180, 180);
    g->angle_to = g->angle_from + (double)check_random_in(0, check_random() % 2 ? 360 : 40);
    g->angle_step = (double)check_random_in(20, 600) / 10;
    if (g->angle_from < g->angle_to)
        g->angle_step = fmin(g->angle_step, g->angle_to - g->angle_from);
    if (check_random() % 2) {
        g->scale_from = (double)check_random_in(80, 120) / 100;
        g->scale_to = g->scale_from + (check_random() % 3 ? (double)check_random_in(10, 30) / 100 : 0);
        g->scale_step = 0.1;
        for (double scale = g->scale_from + 0.1; scale <= g->scale_to; scale += 0.1)
            poses += scale * scale;
    }
    g->support = (tm_support)check_random_in(0, 2);
    return poses * ((g->angle_to - g->angle_from) / g->angle_step + 1);
}

/* A part of a smooth frame, which is turned by one of the grid's angles if it can be, all around. */
static void make_part(posed_problem *p)
{
    const int64_t width = check_random_in(9, 18), height = check_random() % 3 ? width : check_random_in(9, 18);
    const int64_t x = check_random_in(40, 80), y = check_random_in(30, 45);

    p->scene.frame = draw_smooth(x + width + 1, y + height + 1);
    p->scene.tmpls[0] = cut_template(&p->scene.frame, x - check_random_in(0, 30), y - check_random_in(0, 20), width, height);
    p->scene.count = 1;
    p->scene.domain = (tm_domain)check_random_in(0, 2);
    snprintf(p->scene.text, sizeof p->scene.text, "part of %" PRId64 "x%" PRId64 " in a smooth frame", width, height);
    p->grid.angle_from = -180;
    p->grid.angle_to = 180;
    p->grid.angle_step = (double)check_random_in(9, 40);
    p->grid.support = check_random() % 3 ? TM_SUPPORT_DISC : TM_SUPPORT_AUTO;
}

/* products: by which the exhaustive search of an easy problem is bounded. */
static bool make_problem(posed_problem *p, tm_device_kind device, uint32_t features, double products)
{
    tm_search *s = &p->search;

    *p = (posed_problem){.mask = NULL};
    const double poses = make_grid(&p->grid);
    if (device == TM_DEVICE_CUDA && check_random() % 2)
        make_part(p);
    else if (check_random() % 3)
        scene_make_easy(&p->scene, products / poses);
    else
        scene_make(&p->scene, fmin(3e6, products / 5 / poses));
    if (p->scene.count == 0)
        return false;
    p->tmpl = p->scene.tmpls[0].image;
    if (check_random() % 6 == 0)
        p->tmpl = mask_some(p, &p->tmpl);
    tm_search_default(s, sizeof *s);
    s->most = check_random_in(0, 4);
    draw_wishes(s);
    s->subpixel = check_random() % 4 == 0;
    s->overlap = (double)check_random_in(0, 10) / 10;
    if (!s->most || check_random() % 2)
        s->min_score = (double)check_random_in(50, 100) / 100;
    tm_settings_default(&p->settings, sizeof p->settings);
    p->settings.device = device;
    p->settings.domain = p->scene.domain;
    p->settings.threads = (int)check_random_in(1, 3);
    p->settings.cpu_features = features;
    return true;
}

static void free_problem(posed_problem *p)
{
    scene_free(&p->scene);
    free(p->mask);
}

static tm_status match(const posed_problem *p, tm_device_kind device, tm_strategy strategy, tm_posed_hits *hits, bool *certified)
{
    tm_settings settings = p->settings;
    tm_posed_template *posed = NULL;
    tm_matcher *matcher;

    *hits = (tm_posed_hits){0};
    settings.device = device;
    settings.strategy = strategy;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    tm_status status = tm_posed_template_create(&posed, matcher, &p->tmpl, &p->grid);
    if (status == TM_OK)
        status = tm_match_posed(matcher, &p->scene.frame.image, posed, &p->search, hits);
    *certified = strcmp(tm_matcher_strategy(matcher), "certified") == 0;
    if (status == TM_OK)
        compare_share(matcher, p->scene.text);
    tm_posed_template_destroy(&posed);
    tm_matcher_destroy(&matcher);
    return status;
}

static void compare(const posed_problem *p, const tm_posed_hits *a, const tm_posed_hits *b)
{
    if (!same_posed_hit(&a->best, &b->best))
        check_fail(__FILE__, __LINE__, "%s: best %.9g at (%g, %g), %g degrees, x %g, and exhaustively %.9g at (%g, %g), %g degrees, x %g",
                   p->scene.text, a->best.score, a->best.center_x, a->best.center_y, a->best.angle, a->best.scale,
                   b->best.score, b->best.center_x, b->best.center_y, b->best.angle, b->best.scale);
    if (a->count != b->count)
        check_fail(__FILE__, __LINE__, "%s: %zu matches, and exhaustively %zu", p->scene.text, a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        if (!same_posed_hit(&a->items[i], &b->items[i]))
            check_fail(__FILE__, __LINE__,
                       "%s: match %zu scores %.9g, margin %.9g, at (%.9g, %.9g), %.9g degrees, x %.9g, and exhaustively "
                       "%.9g, %.9g, (%.9g, %.9g), %.9g degrees, x %.9g",
                       p->scene.text, i, a->items[i].score, a->items[i].margin, a->items[i].fine_x,
                       a->items[i].fine_y, a->items[i].fine_angle, a->items[i].fine_scale, b->items[i].score,
                       b->items[i].margin, b->items[i].fine_x, b->items[i].fine_y, b->items[i].fine_angle,
                       b->items[i].fine_scale);
}

static void compare_random(int64_t cases, tm_device_kind device, uint32_t features, double products)
{
    int64_t certified = 0, matches = 0;

    for (int64_t i = 0; i < cases; i++) {
        tm_posed_hits a, b;
        bool was_certified, never;
        posed_problem p;
        if (make_problem(&p, device, features, products)) {
            const tm_status status = match(&p, device, TM_STRATEGY_CERTIFIED, &a, &was_certified);
            CHECK_EQ(status, match(&p, TM_DEVICE_CPU, TM_STRATEGY_EXHAUSTIVE, &b, &never));
            CHECK(!never);
            if (status == TM_OK)
                compare(&p, &a, &b);
            certified += was_certified;
            matches += (int64_t)b.count;
            tm_posed_hits_free(&a);
            tm_posed_hits_free(&b);
        }
        free_problem(&p);
    }
    printf("# %" PRId64 " cases, of which %" PRId64 " certified, %" PRId64 " matches, 0 differ\n", cases, certified, matches);
    CHECK(cases < 12 || certified);
}

static void random_cases(uint32_t features)
{
    compare_random(check_cases(200) / 20 + 1, TM_DEVICE_CPU, features, 5e8);
}

/* Small ones: tests/emulated runs them on the CPU. */
static void cuda(void)
{
    require_cuda();
    compare_random(check_cases(60), TM_DEVICE_CUDA, UINT32_MAX, 3e6);
}

/* How many frames of a scene are matched until the automatic choice is certified search; 0: it declines, or none of
 * MOST_FRAMES is. */
static int frames_until_certified(const posed_problem *p)
{
    enum { MOST_FRAMES = 100 };
    tm_posed_hits right, hits;
    tm_matcher *matcher;
    tm_posed_template *posed;
    bool certified = false;
    int frames = 0;

    CHECK_EQ(match(p, TM_DEVICE_CPU, TM_STRATEGY_EXHAUSTIVE, &right, &certified), TM_OK);
    CHECK_EQ(tm_matcher_create(&matcher, &p->settings), TM_OK);
    CHECK_EQ(tm_posed_template_create(&posed, matcher, &p->tmpl, &p->grid), TM_OK);
    while (frames < MOST_FRAMES && !certified) {
        CHECK_EQ(tm_match_posed(matcher, &p->scene.frame.image, posed, &p->search, &hits), TM_OK);
        compare(p, &hits, &right);
        tm_posed_hits_free(&hits);
        certified = strcmp(tm_matcher_strategy(matcher), "certified") == 0;
        frames++;
    }
    tm_posed_hits_free(&right);
    tm_posed_template_destroy(&posed);
    tm_matcher_destroy(&matcher);
    return certified ? frames : 0;
}

/* The automatic choice makes families once frames have taken as long as that; the answer stays the same. On an emulated
 * device that would take minutes. */
static void chooses_on_gpu(void)
{
    int frames = 0;

    require_cuda();
    for (int scenes = 0; scenes < 10 && !frames; scenes++) {
        posed_problem p = {.scene = {.frame = draw_smooth(512, 512), .count = 1, .text = "a smooth frame"}};
        p.scene.tmpls[0] = cut_template(&p.scene.frame, check_random_in(0, 480), check_random_in(0, 480), 32, 32);
        p.tmpl = p.scene.tmpls[0].image;
        tm_pose_grid_default(&p.grid, sizeof p.grid);
        p.grid.angle_from = 0;
        p.grid.angle_to = 355;
        p.grid.angle_step = 5;
        p.grid.support = TM_SUPPORT_DISC;
        tm_search_default(&p.search, sizeof p.search);
        p.search.most = 1;
        tm_settings_default(&p.settings, sizeof p.settings);
        p.settings.threads = 1;
        p.settings.device = TM_DEVICE_CUDA;
        frames = frames_until_certified(&p);
        free_problem(&p);
    }
    printf("# certified from frame %d on\n", frames);
    CHECK(frames > 1);
}

/* On which of so many frames of one size families are made, as far as is expected; 0: on none. */
static int pays_on(int64_t poses, int64_t size, int64_t width, int64_t height,
                   const tm_device_traits *cuda)
{
    const tm_image frame = {.width = width, .height = height};
    drawn picture = draw_smooth(size, size);
    tm_posed_template *posed;
    tm_matcher *matcher;
    tm_settings settings;
    tm_pose_grid grid;
    int first = 0;

    tm_settings_default(&settings, sizeof settings);
    settings.threads = 1;
    tm_pose_grid_default(&grid, sizeof grid);
    grid.angle_to = 360 - 360.0 / (double)poses;
    grid.angle_step = 360.0 / (double)poses;
    grid.support = TM_SUPPORT_DISC;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_posed_template_create(&posed, matcher, &picture.image, &grid), TM_OK);
    CHECK_EQ(tm_posed_template_count(posed), poses);
    const double exhaustive = tm_poses_exhaustive_ns(&frame, posed, cuda, true);
    for (int i = 1; i <= 50 && !first; i++)
        first = tm_poses_pay(&frame, posed, cuda != NULL, exhaustive) ? i : 0;
    tm_posed_template_destroy(&posed);
    tm_matcher_destroy(&matcher);
    drawn_free(&picture);
    return first;
}

/* As measured by bench/poses_cuda.py --cases costs; a CPU needs families sooner. */
static void pays(void)
{
    const tm_device_traits one_by_one = {.certified = true}, groups = {.certified = true, .groups = true};

    CHECK_EQ(pays_on(4, 32, 1920, 1080, &one_by_one), 0);
    CHECK_EQ(pays_on(4, 64, 4096, 3072, &one_by_one), 0);
    CHECK_EQ(pays_on(120, 96, 4096, 3072, &one_by_one), 1);
    CHECK_EQ(pays_on(360, 32, 4096, 3072, &one_by_one), 1);
    CHECK_EQ(pays_on(360, 32, 1920, 1080, &one_by_one), 2);
    const int few = pays_on(360, 32, 512, 512, &one_by_one);
    CHECK(few > 4 && few < 20);
    CHECK(pays_on(36, 32, 1920, 1080, &one_by_one) > 0);
    CHECK_EQ(pays_on(36, 32, 1920, 1080, &groups), 0);
    CHECK(pays_on(360, 32, 1920, 1080, &groups) > 2);
    CHECK_EQ(pays_on(360, 96, 1920, 1080, &groups), pays_on(360, 96, 1920, 1080, &one_by_one));
    CHECK_EQ(pays_on(4, 32, 1920, 1080, NULL), 0);
    CHECK_EQ(pays_on(36, 32, 1920, 1080, NULL), 1);
    CHECK_EQ(pays_on(360, 32, 512, 512, NULL), 1);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, random_cases)
DEFINE_CPU_TESTS

int main(int argc, char **argv)
{
    static const check_test tests[] = {CPU_TESTS TEST(pays), TEST(cuda), TEST(chooses_on_gpu)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
