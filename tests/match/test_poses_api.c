/* SPDX-License-Identifier: MIT */
/* What callers may give for poses, and what does not depend on brute force. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "pictures.h"
#include "tmatch/tmatch.h"

static tm_matcher *cpu_matcher(void)
{
    const tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 0);
    tm_matcher *matcher = NULL;

    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    return matcher;
}

static tm_status create(tm_matcher *matcher, const tm_image *image, tm_pose_grid grid)
{
    tm_posed_template *tmpl = NULL;
    const tm_status status = tm_posed_template_create(&tmpl, matcher, image, &grid);
    CHECK((status == TM_OK) == (tmpl != NULL));
    CHECK(status == TM_OK || *tm_matcher_message(matcher));
    tm_posed_template_destroy(&tmpl);
    return status;
}

/* Which margins are wanted, is said by a number. */
static void wrong_ratios(tm_matcher *matcher, const tm_image *image)
{
    const double wrong[] = {-0.1, 1, NAN, INFINITY};
    tm_posed_template *tmpl = NULL;
    tm_posed_hits hits;
    tm_search search;
    tm_pose_grid grid;

    tm_search_default(&search, sizeof search);
    CHECK(search.margin_ratio == 0);
    tm_pose_grid_default(&grid, sizeof grid);
    CHECK_EQ(tm_posed_template_create(&tmpl, matcher, image, &grid), TM_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        search.margin_ratio = wrong[i];
        CHECK_EQ(tm_match_posed(matcher, image, tmpl, &search, &hits), TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(matcher), "ratio"));
    }
    tm_posed_template_destroy(&tmpl);
}

static void wrong_arguments(void)
{
    uint8_t samples[25], flat[25] = {0};
    for (int i = 0; i < 25; i++)
        samples[i] = (uint8_t)(i * 7);
    const float floats[4] = {1, 2, 3, 4};
    const tm_image image = {.samples = samples, .width = 5, .height = 5, .stride = 5};
    const tm_image none = {.samples = flat, .width = 5, .height = 5, .stride = 5};
    const tm_image small = {.samples = samples, .width = 4, .height = 4, .stride = 5};
    const tm_image f32 = {.samples = (const uint8_t *)floats,
                          .width = 2,
                          .height = 2,
                          .stride = 8,
                          .type = TM_SAMPLE_F32};
    tm_matcher *m = cpu_matcher();
    tm_pose_grid usual, grid;
    tm_posed_template *tmpl = NULL;
    tm_posed_hits hits;
    tm_search search;
    tm_pose pose;

    tm_pose_grid_default(&usual, sizeof usual);
    CHECK_EQ(create(m, &image, usual), TM_OK);
    wrong_ratios(m, &image);
    CHECK_EQ(create(m, &none, usual), TM_ERR_FLAT_TEMPLATE);
    CHECK_EQ(create(m, &f32, usual), TM_ERR_INVALID);
    CHECK_EQ(create(m, NULL, usual), TM_ERR_INVALID);
    const double wrong[][6] = {{NAN, 0, 0, 1, 1, 0},   {0, INFINITY, 0, 1, 1, 0}, {1, 0, 0, 1, 1, 0},
                               {0, 1, -1, 1, 1, 0},    {0, 1, 1e-9, 1, 1, 0},     {0, 1, NAN, 1, 1, 0},
                               {0, 0, 0, 0.01, 1, 0},  {0, 0, 0, 1, 21, 0},       {0, 0, 0, 1, 0.5, 0},
                               {0, 0, 0, 1, 2, -0.1},  {0, 0, 0, NAN, 1, 0},      {0, 359, 1e-6, 1, 1, 0},
                               {0, 90, 180, 1, 1, 0},  {0, 0, 0, 1, 1.2, 0.21}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const double *w = wrong[i];
        const tm_pose_grid g = {sizeof g, w[0], w[1], w[2], w[3], w[4], w[5], TM_SUPPORT_AUTO};
        CHECK_EQ(create(m, &image, g), TM_ERR_INVALID);
    }
    grid = usual;
    grid.support = (tm_support)3;
    CHECK_EQ(create(m, &image, grid), TM_ERR_INVALID);
    grid = usual;
    grid.size = 0;
    CHECK_EQ(create(m, &image, grid), TM_ERR_INVALID);
    CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_posed_template_create(NULL, m, &image, &usual), TM_ERR_INVALID);

    CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &usual), TM_OK);
    CHECK_EQ(tm_posed_template_pose(tmpl, 1, &pose), TM_ERR_INVALID);
    CHECK_EQ(tm_posed_template_image(tmpl, 0, NULL, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_posed_template_grid(tmpl, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_posed_template_count(NULL), 0);
    tm_search_default(&search, sizeof search);
    CHECK_EQ(tm_match_posed(NULL, &image, tmpl, &search, &hits), TM_ERR_INVALID);
    CHECK_EQ(tm_match_posed(m, &image, NULL, &search, &hits), TM_ERR_INVALID);
    CHECK_EQ(tm_match_posed(m, &image, tmpl, NULL, &hits), TM_ERR_INVALID);
    CHECK_EQ(tm_match_posed(m, &image, tmpl, &search, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_posed(m, NULL, tmpl, &search, &hits), TM_ERR_INVALID);
    CHECK_EQ(tm_match_posed(m, &f32, tmpl, &search, &hits), TM_ERR_INVALID);
    CHECK_EQ(tm_match_posed(m, &small, tmpl, &search, &hits), TM_ERR_FRAME_TOO_SMALL);
    CHECK(!hits.items && !hits.count);
    CHECK_EQ(tm_match_posed(m, &image, tmpl, &search, &hits), TM_OK);
    CHECK(hits.count == 1 && hits.items[0].score == 1 && hits.best.score == 1);
    tm_posed_hits_free(&hits);
    tm_posed_hits_free(NULL);
    tm_posed_template_destroy(&tmpl);
    tm_posed_template_destroy(&tmpl);
    tm_posed_template_destroy(NULL);
    tm_matcher_destroy(&m);
}

/* Only a given step is refused for being longer than its range, and no chosen grid. */
static void steps_beyond_the_range(void)
{
    uint8_t samples[25];
    for (int i = 0; i < 25; i++)
        samples[i] = (uint8_t)(i * 7);
    const tm_image image = {.samples = samples, .width = 5, .height = 5, .stride = 5};
    const double steps[] = {0, 0.1, 0.11};
    tm_matcher *m = cpu_matcher();
    tm_posed_template *tmpl = NULL;
    tm_pose_grid grid;

    CHECK(tm_pose_grid_fault(NULL));
    tm_pose_grid_default(&grid, sizeof grid);
    grid.size = sizeof grid.size;
    grid.angle_to = -1; /* which it is too small to have */
    CHECK(!tm_pose_grid_fault(&grid));
    for (int i = 0; i < 6; i++) {
        tm_pose_grid_default(&grid, sizeof grid);
        *(i % 2 ? &grid.scale_to : &grid.angle_to) += i / 2 ? 0.1 : 0.0001;
        *(i % 2 ? &grid.scale_step : &grid.angle_step) = steps[i / 2];
        const char *fault = tm_pose_grid_fault(&grid);
        CHECK(i / 2 == 2 ? fault && strstr(fault, i % 2 ? "scales" : "angles") : !fault);
        CHECK_EQ(create(m, &image, grid), fault ? TM_ERR_INVALID : TM_OK);
    }
    tm_pose_grid_default(&grid, sizeof grid);
    grid.angle_to = 0.0001;
    CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &grid), TM_OK);
    CHECK_EQ(tm_posed_template_count(tmpl), 1);
    CHECK_EQ(tm_posed_template_grid(tmpl, &grid), TM_OK);
    CHECK_EQ(create(m, &image, grid), TM_OK);
    tm_posed_template_destroy(&tmpl);
    tm_matcher_destroy(&m);
}

/* One pose alone, the template as it is, finds what a plain match does. */
static void one_pose_is_a_plain_match(void)
{
    tm_matcher *m = cpu_matcher();
    tm_search search;

    tm_search_default(&search, sizeof search);
    search.margin = 1;
    for (int i = 0; i < 20; i++) {
        tm_image frame, image;
        void *memory[2] = {picture_make(&frame, 90, 70, TM_SAMPLE_U8, 1, PICTURE_NOISE),
                           picture_make(&image, check_random_in(2, 12), check_random_in(2, 12),
                                        TM_SAMPLE_U8, 1, PICTURE_NOISE)};
        tm_posed_template *posed = NULL;
        tm_template *plain = NULL;
        tm_posed_hits found;
        tm_pose_grid grid;
        tm_hits hits;

        tm_pose_grid_default(&grid, sizeof grid);
        picture_cut(&image, &frame);
        search.overlap = (double)check_random_in(0, 10) / 10;
        CHECK_EQ(tm_posed_template_create(&posed, m, &image, &grid), TM_OK);
        CHECK_EQ(tm_template_create(&plain, m, &image), TM_OK);
        CHECK_EQ(tm_match_posed(m, &frame, posed, &search, &found), TM_OK);
        CHECK_EQ(tm_match_peaks(m, &frame, (const tm_template *const *)&plain, 1, &search, &hits, NULL), TM_OK);
        CHECK_EQ(found.count, hits.count);
        for (size_t k = 0; k < hits.count; k++) {
            const tm_posed_hit *a = &found.items[k];
            const tm_hit *b = &hits.items[k];
            CHECK(a->x == b->peak.x && a->y == b->peak.y && a->score == b->peak.score);
            CHECK(a->width == image.width && a->height == image.height);
            CHECK(a->margin == b->margin || (isnan(a->margin) && isnan(b->margin)));
        }
        tm_hits_free(&hits);
        tm_posed_hits_free(&found);
        tm_template_destroy(&plain);
        tm_posed_template_destroy(&posed);
        free(memory[0]);
        free(memory[1]);
    }
    tm_matcher_destroy(&m);
}

static double padding(tm_domain domain, int64_t size)
{
    const double most = (double)(size - 1);
    return domain == TM_DOMAIN_FULL ? most : domain == TM_DOMAIN_SAME ? floor(most / 2) : 0;
}

/* Puts the best of a pose's map where its centres are, position by position. */
static void merge(float *best, const tm_image *frame, tm_matcher *m, const tm_posed_template *posed, size_t pose,
                  tm_domain domain)
{
    tm_pose p;
    tm_template *t = NULL;
    int64_t width, height;

    CHECK_EQ(tm_posed_template_pose(posed, pose, &p), TM_OK);
    if (p.left_out || tm_map_size(domain, frame->width, frame->height, p.width, p.height, &width, &height) != TM_OK)
        return;
    uint8_t *samples = malloc((size_t)(2 * p.width * p.height)), *mask = samples + p.width * p.height;
    float *map = malloc((size_t)(width * height) * sizeof *map);
    const tm_image image = {.samples = samples, .mask = mask, .width = p.width, .height = p.height,
                            .stride = p.width, .mask_stride = p.width};
    const tm_map to = {map, width * (ptrdiff_t)sizeof *map};
    tm_peak peak;
    CHECK(samples && map);
    CHECK_EQ(tm_posed_template_image(posed, pose, samples, mask), TM_OK);
    CHECK_EQ(tm_template_create(&t, m, &image), TM_OK);
    const tm_status status = tm_match(m, frame, t, &peak, &to);
    CHECK(status == TM_OK || status == TM_ERR_NO_POSITION);
    const double pad_x = padding(domain, p.width), pad_y = padding(domain, p.height);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const double cx = floor((double)x - pad_x + (double)(p.width - 1) / 2);
            const double cy = floor((double)y - pad_y + (double)(p.height - 1) / 2);
            if (cx < 0 || cy < 0 || cx >= (double)frame->width || cy >= (double)frame->height)
                continue;
            float *here = &best[(int64_t)cy * frame->width + (int64_t)cx];
            *here = fmaxf(*here, map[y * width + x]);
        }
    tm_template_destroy(&t);
    free(samples);
    free(map);
}

static void map_is_the_best_of_all_poses(void)
{
    for (int i = 0; i < 12; i++) {
        tm_matcher *m = NULL;
        tm_settings settings;
        tm_settings_default(&settings, sizeof settings);
        settings.device = TM_DEVICE_CPU;
        settings.domain = (tm_domain)(i % 3);
        CHECK_EQ(tm_matcher_create(&m, &settings), TM_OK);
        tm_image frame, image;
        const int64_t width = check_random_in(26, 60), height = check_random_in(26, 60);
        void *memory[2] = {picture_make(&frame, width, height, TM_SAMPLE_U8, 1, PICTURE_NOISE),
                           picture_make(&image, check_random_in(3, 25), check_random_in(3, 25), TM_SAMPLE_U8, 1,
                                        PICTURE_NOISE)};
        float *best = malloc((size_t)(width * height) * sizeof *best);
        float *found = malloc((size_t)(width * height + 1) * sizeof *found);
        tm_posed_template *posed = NULL;
        tm_pose_grid grid;
        CHECK(best && found);
        tm_pose_grid_default(&grid, sizeof grid);
        grid.angle_to = 350;
        grid.angle_step = (double)check_random_in(17, 120);
        grid.scale_to = 1.2;
        grid.scale_step = 0.1;
        CHECK_EQ(tm_posed_template_create(&posed, m, &image, &grid), TM_OK);
        for (int64_t k = 0; k < width * height; k++)
            CHECK_EQ(tm_map_skipped(TM_METRIC_LCC, &best[k]), TM_OK);
        for (size_t k = 0; k < tm_posed_template_count(posed); k++)
            merge(best, &frame, m, posed, k, settings.domain);
        const tm_map map = {found, (ptrdiff_t)sizeof *found * width};
        CHECK_EQ(tm_map_posed(m, &frame, posed, &map), TM_OK);
        CHECK(strcmp(tm_matcher_strategy(m), "exhaustive") == 0);
        CHECK(memcmp(found, best, (size_t)(width * height) * sizeof *found) == 0);
        const tm_map odd = {(char *)found + 1, map.stride}, none = {NULL, map.stride};
        CHECK_EQ(tm_map_posed(m, &frame, posed, &odd), TM_ERR_INVALID);
        CHECK_EQ(tm_map_posed(m, &frame, posed, &none), TM_ERR_INVALID);
        CHECK_EQ(tm_map_posed(m, &frame, NULL, &map), TM_ERR_INVALID);
        CHECK_EQ(tm_map_posed(m, &frame, posed, NULL), TM_ERR_INVALID);
        CHECK_EQ(tm_map_posed(NULL, &frame, posed, &map), TM_ERR_INVALID);
        tm_posed_template_destroy(&posed);
        tm_matcher_destroy(&m);
        free(best);
        free(found);
        free(memory[0]);
        free(memory[1]);
    }
}

/* Where so few peaks are held that the next one is not among them, nothing is said of it. */
static void few_peaks(void)
{
    tm_image image, frame;
    uint8_t *memory = picture_make(&image, 20, 20, TM_SAMPLE_U8, 1, PICTURE_NOISE);
    uint8_t *scene = picture_make(&frame, 70, 30, TM_SAMPLE_U8, 1, PICTURE_NOISE);
    const tm_pose_grid grid = {sizeof grid, 0, 90, 90, 1, 1, 0, TM_SUPPORT_AUTO};
    tm_posed_template *tmpl = NULL;
    tm_matcher *m = cpu_matcher();
    tm_posed_hits hits;
    tm_search search;

    for (int y = 0; y < 20; y++)
        for (int x = 5; x < 50; x += 35)
            memcpy((uint8_t *)(uintptr_t)frame.samples + (y + 4) * frame.stride + x, image.samples + y * image.stride, 20);
    tm_search_default(&search, sizeof search);
    search.most = 1;
    search.margin = 1;
    search.margin_ratio = TM_MARGIN_RATIO;
    CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &grid), TM_OK);
    for (search.peaks = 1; search.peaks < 40; search.peaks += 3) {
        CHECK_EQ(tm_match_posed(m, &frame, tmpl, &search, &hits), TM_OK);
        CHECK(hits.count == 1 && hits.items->score == 1 && isnan(hits.items->margin_below));
        CHECK(search.peaks < 20 || hits.items->margin == 1);
        tm_posed_hits_free(&hits);
    }
    tm_posed_template_destroy(&tmpl);
    tm_matcher_destroy(&m);
    free(memory);
    free(scene);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(wrong_arguments), TEST(steps_beyond_the_range), TEST(one_pose_is_a_plain_match),
                                       TEST(map_is_the_best_of_all_poses), TEST(few_peaks)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
