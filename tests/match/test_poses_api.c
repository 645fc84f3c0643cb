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

/* A picture of waves, which can be looked at in any pose. */
typedef struct waves {
    double x[30], y[30], phase[30];
} waves;

static waves draw_waves(void)
{
    waves w;
    for (int k = 0; k < 30; k++) {
        const double length = (double)check_random_in(50, 200) / 10;
        const double angle = (double)check_random_in(0, 6283) / 1000;
        w.x[k] = 6.2832 / length * cos(angle);
        w.y[k] = 6.2832 / length * sin(angle);
        w.phase[k] = (double)check_random_in(0, 6283) / 1000;
    }
    return w;
}

static double wave_at(const waves *w, double u, double v)
{
    double sum = 128;
    for (int k = 0; k < 30; k++)
        sum += 10 * cos(w->x[k] * u + w->y[k] * v + w->phase[k]);
    return sum;
}

/* What a kind of picture has of waves; channels are of other waves each. */
typedef struct show_kind {
    tm_sample_type type;
    int channels;
} show_kind;

/* Shows waves about a place, seen in a pose. grain: noise of so many levels at most. */
static void show(uint8_t *samples, int64_t side, show_kind kind, const waves *w, const double place[2], double angle, double scale, int grain)
{
    const double c = cos(angle * 0.017453292519943295), s = sin(angle * 0.017453292519943295);
    for (int64_t i = 0; i < side * side * kind.channels; i++) {
        const int64_t at = i / kind.channels;
        const double x = (double)(at % side) - place[0], y = (double)(at / side) - place[1];
        const double value = wave_at(&w[i % kind.channels], (x * c - y * s) / scale, (x * s + y * c) / scale) +
                             (double)check_random_in(-grain, grain);
        if (kind.type == TM_SAMPLE_U16)
            ((uint16_t *)(void *)samples)[i] = (uint16_t)(fmin(fmax(value, 0), 255) * 257 + 0.5);
        else
            samples[i] = (uint8_t)fmin(fmax(value + 0.5, 0), 255);
    }
}

enum { SEEN = 40, SCENE = 90 };

/* What is looked for, and how far off it may be on average. */
typedef struct refined_case {
    show_kind kind;
    bool masked;     /* a quarter of the template does not count */
    bool covered;    /* another picture lies beyond the disc */
    double scale;
    int grain;
    double most[3];  /* pixels, degrees, and scale in percent */
} refined_case;

/* The means of how far places between positions and poses are off, of which the scores and the order know nothing. */
static void refine(const refined_case *of, double off[3])
{
    static uint8_t samples[SEEN * SEEN * 6], seen[SCENE * SCENE * 6], mask[SEEN * SEEN];
    const int64_t size = of->kind.channels * (of->kind.type == TM_SAMPLE_U16 ? 2 : 1);
    const tm_image image = {samples, SEEN, SEEN, SEEN * size, of->kind.type, of->kind.channels, of->masked ? mask : NULL, SEEN};
    const tm_image frame = {.samples = seen, .width = SCENE, .height = SCENE, .stride = SCENE * size, .type = of->kind.type, .channels = of->kind.channels};
    const double middle[2] = {(SEEN - 1) / 2.0, (SEEN - 1) / 2.0};
    const int cases = 8;
    tm_matcher *m = cpu_matcher();
    tm_search search;

    for (int i = 0; i < SEEN * SEEN; i++)
        mask[i] = i / SEEN >= SEEN / 2 || i % SEEN >= SEEN / 2;
    tm_search_default(&search, sizeof search);
    search.most = 1;
    for (int i = 0; i < cases; i++) {
        const double place[2] = {(double)check_random_in(4200, 4800) / 100, (double)check_random_in(4200, 4800) / 100};
        const double angle = (double)check_random_in(1000, 8000) / 1000, scale = of->scale * (double)check_random_in(1010, 1080) / 1000;
        const tm_pose_grid grid = {sizeof grid, 0, 9, 1.5, of->scale, 1.1 * of->scale, 0.025 * of->scale,
                                   of->covered ? TM_SUPPORT_DISC : TM_SUPPORT_AUTO};
        const waves w[3] = {draw_waves(), draw_waves(), draw_waves()}, others[3] = {draw_waves(), draw_waves(), draw_waves()};
        tm_posed_template *tmpl = NULL;
        tm_posed_hits plain, hits;

        show(samples, SEEN, of->kind, w, middle, 0, 1, 0);
        show(seen, SCENE, of->kind, w, place, angle, scale, of->grain);
        for (int64_t k = 0; k < SCENE * SCENE && of->covered; k++) {
            const double x = (double)(k % SCENE) - place[0], y = (double)(k / SCENE) - place[1];
            if (x * x + y * y > 22 * 22 * scale * scale)
                seen[k] = (uint8_t)fmin(fmax(wave_at(others, x, y), 0), 255);
        }
        CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &grid), TM_OK);
        search.subpixel = 0;
        CHECK_EQ(tm_match_posed(m, &frame, tmpl, &search, &plain), TM_OK);
        search.subpixel = 1;
        CHECK_EQ(tm_match_posed(m, &frame, tmpl, &search, &hits), TM_OK);
        const tm_posed_hit *a = &hits.items[0], *b = &plain.items[0];
        CHECK(a->score == b->score && a->pose == b->pose && a->center_x == b->center_x && a->center_y == b->center_y);
        CHECK(b->fine_x == b->center_x && b->fine_y == b->center_y && b->fine_angle == b->angle && b->fine_scale == b->scale);
        off[0] += fmax(fabs(a->fine_x - place[0]), fabs(a->fine_y - place[1])) / cases;
        off[1] += fabs(a->fine_angle - angle) / cases;
        off[2] += 100 * fabs(a->fine_scale / scale - 1) / cases;
        tm_posed_hits_free(&plain);
        tm_posed_hits_free(&hits);
        tm_posed_template_destroy(&tmpl);
    }
    tm_matcher_destroy(&m);
}

static void refined_places(void)
{
    const refined_case kinds[] = {
        {{TM_SAMPLE_U8, 1}, false, false, 1, 0, {0.004, 0.012, 0.02}},
        {{TM_SAMPLE_U8, 1}, false, false, 1, 12, {0.04, 0.1, 0.15}},
        {{TM_SAMPLE_U8, 3}, false, false, 1, 12, {0.025, 0.06, 0.08}},
        {{TM_SAMPLE_U16, 1}, true, false, 1, 0, {0.004, 0.012, 0.02}},
        {{TM_SAMPLE_U16, 3}, true, false, 1, 12, {0.03, 0.1, 0.2}},
        {{TM_SAMPLE_U8, 1}, false, false, 0.6, 0, {0.006, 0.03, 0.05}},
        {{TM_SAMPLE_U8, 1}, false, true, 1, 0, {0.03, 0.08, 0.16}},
    };
    if (check_cases(1000) < 50)
        check_skip("few cases were asked for"); /* fewer would say nothing of averages */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double off[3] = {0, 0, 0};
        refine(&kinds[i], off);
        printf("# %zu: %.4f pixels, %.4f degrees, %.4f %% off\n", i, off[0], off[1], off[2]);
        for (int k = 0; k < 3; k++)
            CHECK(off[k] < kinds[i].most[k]);
    }
}

/* A large template, where every n-th pixel is looked at: as it is in noise, and a tenth as large. */
static void refined_large(void)
{
    enum { MOST = 400 };
    const struct {
        int side, scene, grain;
        double scale, most;
    } kinds[] = {{300, 360, 20, 1, 0.05}, {MOST, 80, 2, 0.1, 0.1}};
    uint8_t *samples = malloc(MOST * MOST), *seen = malloc(MOST * MOST);
    tm_matcher *m = cpu_matcher();
    tm_search search;

    CHECK(samples && seen);
    tm_search_default(&search, sizeof search);
    search.most = 1;
    search.subpixel = 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int side = kinds[i].side, scene = kinds[i].scene;
        const double scale = kinds[i].scale, middle[2] = {(side - 1) / 2.0, (side - 1) / 2.0};
        const double place[2] = {scene / 2.0 + 0.31, scene / 2.0 - 0.22};
        const tm_image image = {.samples = samples, .width = side, .height = side, .stride = side};
        const tm_image frame = {.samples = seen, .width = scene, .height = scene, .stride = scene};
        const tm_pose_grid grid = {sizeof grid, 10, 13, 1.5, scale, scale, 0, TM_SUPPORT_AUTO};
        tm_posed_template *tmpl = NULL;
        tm_posed_hits hits;
        waves w = draw_waves();

        for (int k = 0; k < 30; k++) {
            w.x[k] *= scale;
            w.y[k] *= scale;
        }
        show(samples, side, (show_kind){TM_SAMPLE_U8, 1}, &w, middle, 0, 1, 0);
        show(seen, scene, (show_kind){TM_SAMPLE_U8, 1}, &w, place, 11, scale, kinds[i].grain);
        CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &grid), TM_OK);
        CHECK_EQ(tm_match_posed(m, &frame, tmpl, &search, &hits), TM_OK);
        const tm_posed_hit *hit = hits.items;
        printf("# %g %g, %g degrees off\n", hit->fine_x - place[0], hit->fine_y - place[1], hit->fine_angle - 11);
        CHECK(fabs(hit->fine_x - place[0]) < kinds[i].most && fabs(hit->fine_y - place[1]) < kinds[i].most);
        CHECK(hit->fine_angle != hit->angle && fabs(hit->fine_angle - 11) < 0.3);
        tm_posed_hits_free(&hits);
        tm_posed_template_destroy(&tmpl);
    }
    tm_matcher_destroy(&m);
    free(samples);
    free(seen);
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

/* Beside what is missing, a place stays where it is: at the frame's edge, and without steps. */
static void nothing_to_refine(void)
{
    tm_image image;
    void *memory = picture_make(&image, 12, 9, TM_SAMPLE_U16, 3, PICTURE_NOISE);
    tm_posed_template *tmpl = NULL;
    tm_matcher *m = cpu_matcher();
    tm_posed_hits hits;
    tm_search search;
    tm_pose_grid grid;

    tm_search_default(&search, sizeof search);
    search.subpixel = 1;
    tm_pose_grid_default(&grid, sizeof grid);
    CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &grid), TM_OK);
    CHECK_EQ(tm_match_posed(m, &image, tmpl, &search, &hits), TM_OK);
    CHECK_EQ(hits.count, 1);
    CHECK(hits.items[0].fine_x == 5.5 && hits.items[0].fine_y == 4);
    CHECK(hits.items[0].fine_angle == 0 && hits.items[0].fine_scale == 1);
    tm_posed_hits_free(&hits);
    tm_posed_template_destroy(&tmpl);
    tm_matcher_destroy(&m);
    free(memory);
    const int thin[][2] = {{3, 60}, {60, 3}, {3, 3}, {2, 40}};
    for (int i = 0; i < 4; i++) { /* too thin to be interpolated */
        const tm_pose_grid scales = {sizeof grid, 0, 0, 0, 1, 1.2, 0.1, TM_SUPPORT_AUTO};
        memory = picture_make(&image, thin[i][0], thin[i][1], TM_SAMPLE_U8, 1, PICTURE_NOISE);
        uint8_t *mask = malloc((size_t)(thin[i][0] * thin[i][1]));
        CHECK(mask);
        memset(mask, 1, (size_t)(thin[i][0] * thin[i][1]));
        image.mask = i % 2 ? mask : NULL;
        image.mask_stride = thin[i][0];
        m = cpu_matcher();
        search.most = 1;
        CHECK_EQ(tm_posed_template_create(&tmpl, m, &image, &scales), TM_OK);
        image.mask = NULL;
        CHECK_EQ(tm_match_posed(m, &image, tmpl, &search, &hits), TM_OK);
        CHECK(hits.items->fine_x == hits.items->center_x && hits.items->fine_scale == hits.items->scale);
        tm_posed_hits_free(&hits);
        tm_posed_template_destroy(&tmpl);
        tm_matcher_destroy(&m);
        free(memory);
        free(mask);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(wrong_arguments), TEST(steps_beyond_the_range), TEST(one_pose_is_a_plain_match), TEST(map_is_the_best_of_all_poses),
                                       TEST(refined_places), TEST(refined_large), TEST(few_peaks), TEST(nothing_to_refine)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
