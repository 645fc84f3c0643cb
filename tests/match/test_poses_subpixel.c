/* SPDX-License-Identifier: MIT */
/* Places, angles and scales between positions and poses. */
#include <math.h>
#include <stdbool.h>
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
static void refine(const refined_case *of, int cases, double off[3])
{
    static uint8_t samples[SEEN * SEEN * 6], seen[SCENE * SCENE * 6], mask[SEEN * SEEN];
    const int64_t size = of->kind.channels * (of->kind.type == TM_SAMPLE_U16 ? 2 : 1);
    const tm_image image = {samples, SEEN, SEEN, SEEN * size, of->kind.type, of->kind.channels, of->masked ? mask : NULL, SEEN};
    const tm_image frame = {.samples = seen, .width = SCENE, .height = SCENE, .stride = SCENE * size, .type = of->kind.type, .channels = of->kind.channels};
    const double middle[2] = {(SEEN - 1) / 2.0, (SEEN - 1) / 2.0};
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
    const bool few = check_is_slow(); /* which say nothing of averages */
    if (check_cases(1000) < 40)
        check_skip("few cases were asked for"); /* each takes seconds in an emulator */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double off[3] = {0, 0, 0};
        refine(&kinds[i], few ? 1 : 8, off);
        printf("# %zu: %.4f pixels, %.4f degrees, %.4f %% off\n", i, off[0], off[1], off[2]);
        for (int k = 0; k < 3; k++)
            CHECK(few || off[k] < kinds[i].most[k]);
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
    static const check_test tests[] = {TEST(refined_places), TEST(refined_large), TEST(nothing_to_refine)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
