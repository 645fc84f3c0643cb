/* SPDX-License-Identifier: MIT */
/* What callers may give for poses, and what does not depend on brute force. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pictures.h"
#include "tmatch/tmatch.h"

static tm_matcher *cpu_matcher(void)
{
    tm_matcher *matcher = NULL;
    tm_settings settings;

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
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
    CHECK_EQ(create(m, &none, usual), TM_ERR_FLAT_TEMPLATE);
    CHECK_EQ(create(m, &f32, usual), TM_ERR_INVALID);
    CHECK_EQ(create(m, NULL, usual), TM_ERR_INVALID);
    const double wrong[][6] = {{NAN, 0, 0, 1, 1, 0},   {0, INFINITY, 0, 1, 1, 0}, {1, 0, 0, 1, 1, 0},
                               {0, 1, -1, 1, 1, 0},    {0, 1, 1e-9, 1, 1, 0},     {0, 1, NAN, 1, 1, 0},
                               {0, 0, 0, 0.01, 1, 0},  {0, 0, 0, 1, 21, 0},       {0, 0, 0, 1, 0.5, 0},
                               {0, 0, 0, 1, 2, -0.1},  {0, 0, 0, NAN, 1, 0},      {0, 359, 1e-6, 1, 1, 0}};
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

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(wrong_arguments), TEST(one_pose_is_a_plain_match)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
