/* SPDX-License-Identifier: MIT */
/* The public API as a caller meets it: errors, lifetimes, threads. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tmatch/tmatch.h"

static tm_settings defaults(void)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    return settings;
}

static tm_matcher *make_matcher(tm_settings settings)
{
    tm_matcher *matcher;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    return matcher;
}

/* A 64 x 48 frame that differs from place to place. The first call makes it. */
static const tm_image *frame(void)
{
    static uint8_t samples[48 * 64];
    static const tm_image image = {.samples = samples, .width = 64, .height = 48, .stride = 64};
    static bool made;
    uint32_t state = 1;
    if (made)
        return &image;
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)((state = state * 1664525u + 1013904223u) >> 24);
    made = true;
    return &image;
}

static void finds_a_crop(void)
{
    tm_settings settings = defaults();
    settings.strategy = TM_STRATEGY_EXHAUSTIVE;
    tm_matcher *matcher = make_matcher(settings);
    const tm_image *f = frame();
    tm_image crop = {
        .samples = f->samples + 20 * f->stride + 31, .width = 9, .height = 7, .stride = f->stride};
    tm_template *tmpl;
    tm_peak best;

    CHECK_STR(tm_matcher_device(matcher), "");
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm_match(matcher, f, tmpl, &best, NULL), TM_OK);
    CHECK(best.x == 31 && best.y == 20 && best.score == 1.0);
    CHECK_STR(tm_matcher_device(matcher), "cpu");
    CHECK_STR(tm_matcher_algorithm(matcher), "direct");
    CHECK(strstr(tm_matcher_plan(matcher), "direct on cpu"));
    CHECK(tm_matcher_times(matcher).total >= tm_matcher_times(matcher).kernel);

    /* the template outlives the matcher */
    tm_matcher_destroy(&matcher);
    CHECK(matcher == NULL);
    float normalized[63];
    CHECK_EQ(tm_template_normalized(tmpl, normalized), TM_OK);
    tm_template_destroy(&tmpl);
    CHECK(tmpl == NULL);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

static void refuses_bad_pictures(void)
{
    tm_matcher *matcher = make_matcher(defaults());
    tm_image f = *frame(),
             flat = {.samples = (const uint8_t[]){9, 9, 9, 9},
                     .width = 2,
                     .height = 2,
                     .stride = 2},
             bad = f;
    tm_template *tmpl = NULL, *whole;
    tm_peak best = {-7, -7, -7};

    bad.width = 0;
    CHECK_EQ(tm_template_create(&tmpl, matcher, &bad), TM_ERR_INVALID);
    bad.width = INT64_C(1) << 40;
    CHECK_EQ(tm_template_create(&tmpl, matcher, &bad), TM_ERR_INVALID);
    bad = f;
    bad.stride = 63;
    CHECK_EQ(tm_template_create(&tmpl, matcher, &bad), TM_ERR_INVALID);
    CHECK_EQ(tm_template_create(&tmpl, matcher, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_template_create(&tmpl, NULL, &f), TM_ERR_INVALID);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &flat), TM_ERR_FLAT_TEMPLATE);
    CHECK(strstr(tm_matcher_message(matcher), "flat template"));
    CHECK(tmpl == NULL);

    tm_image one = {.samples = f.samples, .width = 1, .height = 1, .stride = 1};
    CHECK_EQ(tm_template_create(&tmpl, matcher, &one), TM_ERR_FLAT_TEMPLATE);

    CHECK_EQ(tm_template_create(&whole, matcher, &f), TM_OK);
    tm_image small = {.samples = f.samples, .width = 10, .height = 9, .stride = f.stride};
    CHECK_EQ(tm_match(matcher, &small, whole, &best, NULL), TM_ERR_FRAME_TOO_SMALL);
    CHECK_STR(tm_matcher_message(matcher),
              "the template, 64 x 48, is larger than the frame, 10 x 9");
    CHECK_EQ(tm_match(matcher, NULL, whole, &best, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match(matcher, &f, NULL, &best, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match(matcher, &f, whole, NULL, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match(NULL, &f, whole, &best, NULL), TM_ERR_INVALID);
    CHECK(best.x == -7 && best.score == -7);
    CHECK_EQ(tm_match(matcher, &f, whole, &best, NULL), TM_OK);
    CHECK(best.x == 0 && best.y == 0 && best.score == 1.0);
    tm_template_destroy(&whole);
    tm_matcher_destroy(&matcher);
}

static void refuses_too_large_templates(void)
{
    tm_matcher *matcher = make_matcher(defaults());
    tm_image image = {.samples = calloc(1, (size_t)TM_MAX_TEMPLATE_PIXELS + 1),
                      .width = TM_MAX_TEMPLATE_PIXELS + 1,
                      .height = 1,
                      .stride = TM_MAX_TEMPLATE_PIXELS + 1};
    tm_template *tmpl;

    CHECK(image.samples);
    *(uint8_t *)image.samples = 1;
    CHECK_EQ(tm_template_create(&tmpl, matcher, &image), TM_ERR_TEMPLATE_TOO_LARGE);
    CHECK(strstr(tm_matcher_message(matcher), "8388609 x 1"));
    image.width--;
    CHECK_EQ(tm_template_create(&tmpl, matcher, &image), TM_OK);
    tm_template_destroy(&tmpl);
    free((void *)image.samples);
    tm_matcher_destroy(&matcher);
}

static void says_what_was_scored(void)
{
    tm_settings settings = defaults();
    settings.strategy = TM_STRATEGY_CERTIFIED;
    tm_matcher *matcher = make_matcher(settings);
    const tm_image *f = frame();
    const tm_image crop = {
        .samples = f->samples + 5 * f->stride + 3, .width = 16, .height = 16, .stride = f->stride};
    float scores[33 * 49];
    const tm_map map = {scores, sizeof scores / 33};
    tm_template *tmpl;
    tm_peak best;

    CHECK_STR(tm_matcher_strategy(matcher), "");
    CHECK(tm_matcher_scored(matcher) == 0);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm_match(matcher, f, tmpl, &best, NULL), TM_OK);
    CHECK(best.x == 3 && best.y == 5 && best.score == 1.0);
    CHECK(tm_matcher_scored(matcher) > 0 && tm_matcher_scored(matcher) <= 1);

    /* a map has every window's score */
    CHECK_EQ(tm_match(matcher, f, tmpl, &best, &map), TM_OK);
    CHECK_STR(tm_matcher_strategy(matcher), "exhaustive");
    CHECK(tm_matcher_scored(matcher) == 1);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

static void expect_refused(tm_settings settings, tm_status expected)
{
    tm_matcher *matcher;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), expected);
    CHECK(matcher && tm_matcher_message(matcher)[0]);
    tm_matcher_destroy(&matcher);
}

static void refuses_bad_settings(void)
{
    tm_settings s = defaults();
    s.metric = (tm_metric)9;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.domain = (tm_domain)-1;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.algorithm = (tm_algorithm)17;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.device = (tm_device_kind)5;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.threads = -1;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.strategy = (tm_strategy)4;
    expect_refused(s, TM_ERR_INVALID);
    s.strategy = TM_STRATEGY_CERTIFIED;
    s.algorithm = TM_ALGORITHM_FFT;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.device = TM_DEVICE_CUDA;
    s.device_index = 4000;
    expect_refused(s, TM_ERR_NO_DEVICE);
    s.device_index = -1;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.device = TM_DEVICE_CUDA;
    s.device_mask = UINT64_C(1) << 63;
    expect_refused(s, TM_ERR_NO_DEVICE);
    s = defaults();
    s.device_memory = -1;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.host_memory = -1;
    expect_refused(s, TM_ERR_INVALID);
    s = defaults();
    s.size = 0;
    expect_refused(s, TM_ERR_INVALID);
    CHECK_EQ(tm_matcher_create(NULL, &s), TM_ERR_INVALID);
}

/* A caller that was built when the struct ended after the device. */
static void accepts_an_older_settings_struct(void)
{
    tm_settings settings;
    memset(&settings, 0xee, sizeof settings);
    size_t older = offsetof(tm_settings, device_index);
    tm_settings_default(&settings, older);
    CHECK_EQ(settings.size, older);
    CHECK_EQ((uint32_t)settings.threads, 0xeeeeeeee);
    tm_matcher *matcher = make_matcher(settings);
    tm_matcher_destroy(&matcher);
}

static void every_status_has_a_text(void)
{
    for (int status = TM_OK; status <= TM_ERR_ROWS; status++)
        CHECK(strcmp(tm_strerror((tm_status)status), tm_strerror((tm_status)99)) != 0);
}

static void lists_devices(void)
{
    tm_device_info devices[9];
    size_t count;
    char why[200] = "untouched";
    CHECK_EQ(tm_list_devices(devices, 9, &count, why, sizeof why), TM_OK);
    CHECK(count >= 1 && devices[0].kind == TM_DEVICE_CPU && devices[0].units >= 1);
    CHECK(devices[0].name[0]);
    CHECK_EQ(count == 1, why[0] != '\0');
    CHECK_EQ(tm_list_devices(NULL, 3, &count, NULL, 0), TM_ERR_INVALID);
}

static void *match_many(void *failed)
{
    tm_settings settings = defaults();
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    const tm_image *f = frame();
    tm_image crop = {
        .samples = f->samples + 5 * f->stride + 6, .width = 8, .height = 8, .stride = f->stride};
    tm_peak best = {0};

    settings.threads = 2;
    if (tm_matcher_create(&matcher, &settings) || tm_template_create(&tmpl, matcher, &crop))
        *(int *)failed = 1;
    for (int i = 0; i < 200 && !*(int *)failed; i++) {
        if (tm_match(matcher, f, tmpl, &best, NULL) || best.x != 6 || best.y != 5 ||
            best.score != 1.0)
            *(int *)failed = 1;
    }
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return NULL;
}

static void two_threads_with_two_matchers(void)
{
    pthread_t threads[2];
    int failed[2] = {0};
    frame();
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, match_many, &failed[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(!failed[0] && !failed[1]);
}

static void strided_maps(void)
{
    tm_settings settings = defaults();
    settings.domain = TM_DOMAIN_SAME;
    tm_matcher *matcher = make_matcher(settings);
    const tm_image *f = frame();
    tm_image crop = {.samples = f->samples, .width = 5, .height = 5, .stride = f->stride};
    tm_template *tmpl;
    tm_peak best;
    float dense[48][64], apart[48][70];

    memset(apart, 0x7f, sizeof apart);
    float poison = apart[0][69];
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm_match(matcher, f, tmpl, &best, &(tm_map){dense, sizeof dense[0]}), TM_OK);
    CHECK_EQ(tm_match(matcher, f, tmpl, &best, &(tm_map){apart, sizeof apart[0]}), TM_OK);
    for (int y = 0; y < 48; y++) {
        CHECK(memcmp(dense[y], apart[y], sizeof dense[y]) == 0);
        for (int x = 64; x < 70; x++)
            CHECK(apart[y][x] == poison);
    }
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

static void many_templates_as_single_calls(void)
{
    tm_settings settings = defaults();
    settings.domain = TM_DOMAIN_FULL;
    tm_matcher *matcher = make_matcher(settings);
    const tm_image *f = frame();
    enum { COUNT = 5 };
    tm_template *tmpls[COUNT];
    tm_peak single[COUNT], many[COUNT];
    static float map[56][72];
    tm_map maps[COUNT] = {[2] = {map, sizeof map[0]}};

    for (int i = 0; i < COUNT; i++) {
        tm_image crop = {.samples = f->samples + i * 5 * f->stride + 7 * i,
                         .width = 9 - i % 2,
                         .height = 9,
                         .stride = f->stride};
        CHECK_EQ(tm_template_create(&tmpls[i], matcher, &crop), TM_OK);
        CHECK_EQ(tm_match(matcher, f, tmpls[i], &single[i], NULL), TM_OK);
        CHECK(single[i].x == 7 * i && single[i].y == 5 * i && single[i].score == 1.0);
    }
    const tm_template *const *list = (const tm_template *const *)tmpls;
    CHECK_EQ(tm_match_many(matcher, f, list, COUNT, many, maps), TM_OK);
    for (int i = 0; i < COUNT; i++)
        CHECK(many[i].x == single[i].x && many[i].y == single[i].y &&
              many[i].score == single[i].score);
    CHECK(map[10 + 8][14 + 8] == 1.0f);
    CHECK_EQ(tm_match_many(matcher, f, list, 0, many, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_many(matcher, f, NULL, 1, many, NULL), TM_ERR_INVALID);
    for (int i = 0; i < COUNT; i++)
        tm_template_destroy(&tmpls[i]);
    tm_matcher_destroy(&matcher);
}

static void gives_memory(void)
{
    tm_matcher *matcher = make_matcher(defaults());
    tm_host_memory memory = {0};

    CHECK_EQ(tm_host_alloc(matcher, 1000, &memory), TM_OK);
    CHECK(memory.data && memory.size == 1000 && !memory.pinned);
    memset(memory.data, 1, 1000);
    tm_host_free(matcher, &memory);
    CHECK(!memory.data && memory.size == 0);
    tm_host_free(matcher, &memory);
    CHECK_EQ(tm_host_alloc(matcher, 0, &memory), TM_ERR_INVALID);
    CHECK_EQ(tm_host_alloc(matcher, 1, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_host_alloc(NULL, 1, &memory), TM_ERR_INVALID);
    CHECK_EQ(tm_matcher_reports(matcher, NULL, 0), 0);
    CHECK_STR(tm_matcher_warning(matcher), "");
    tm_matcher_destroy(&matcher);
}

static void reads_cpu_features(void)
{
    uint32_t features = 77;

    CHECK_EQ(tm_cpu_features_parse("none", &features), TM_OK);
    CHECK_EQ(features, 0);
    CHECK_EQ(tm_cpu_features_parse("all", &features), TM_OK);
    CHECK_EQ(features, UINT32_MAX);
    CHECK_EQ(tm_cpu_features_parse("dotprod,avx2", &features), TM_OK);
    CHECK_EQ(features, TM_CPU_SSE41 | TM_CPU_AVX2 | TM_CPU_DOTPROD);
    static const char *const bad[] = {"", "avx", "avx2,", ",avx2", "avx22", "AVX2", " avx2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(tm_cpu_features_parse(bad[i], &features), TM_ERR_INVALID);
    CHECK_EQ(tm_cpu_features_parse(NULL, &features), TM_ERR_INVALID);
    CHECK_EQ(features, TM_CPU_SSE41 | TM_CPU_AVX2 | TM_CPU_DOTPROD);
    CHECK_STR(tm_cpu_feature_name(TM_CPU_AMX_INT8), "amx");
    CHECK(tm_cpu_feature_name(0) == NULL);
    CHECK(tm_cpu_feature_name(TM_CPU_SSE41 | TM_CPU_AVX2) == NULL);
}

/* The first that is, whoever looks there, in pictures that lie upside down or in one row;
 * the greatest and the smallest floats are fine. */
static void finds_what_is_not_finite(void)
{
    enum { WIDTH = 501, HEIGHT = 1100, CHANNELS = 3, ROW = WIDTH * CHANNELS, COUNT = ROW * HEIGHT };
    static const float fine[] = {FLT_MAX, -FLT_MAX, FLT_MIN / 2, -0.0f};
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const char *const names[] = {"nan", "inf", "-inf"};
    float *samples = malloc(COUNT * sizeof *samples);
    const tm_image image = {(uint8_t *)samples, WIDTH, HEIGHT, ROW * 4,
                            .type = TM_SAMPLE_F32, .channels = CHANNELS};
    tm_image tmpl = image;

    CHECK(samples);
    for (int i = 0; i < COUNT; i++)
        samples[i] = i < 4 ? fine[i] : (float)(i % 1000);
    tmpl.width = 2;
    tmpl.height = 1;
    tmpl.samples += 8 * CHANNELS * sizeof *samples;
    for (int i = 0; i < 60; i++) {
        const bool upside_down = i % 3 == 1, one_row = i % 3 == 2;
        const int64_t at = i < 3 ? 0 : i < 6 ? COUNT - 1 : check_random_in(0, COUNT - 1);
        const int64_t later = check_random_in(at, COUNT - 1), pixel = at / CHANNELS;
        const int kind = (int)check_random_in(0, 2);
        tm_image frame = image;
        char text[100];
        tm_settings s = defaults();
        tm_template *t;
        tm_peak best;

        if (upside_down) {
            frame.samples += (HEIGHT - 1) * image.stride;
            frame.stride = -image.stride;
        } else if (one_row) {
            frame.width *= HEIGHT;
            frame.height = 1;
        }
        float *first = upside_down ? &samples[(HEIGHT - 1 - at / ROW) * ROW + at % ROW]
                                   : &samples[at];
        float *other = upside_down ? &samples[(HEIGHT - 1 - later / ROW) * ROW + later % ROW]
                                   : &samples[later];
        const float before[2] = {*first, *other};
        s.device = TM_DEVICE_CPU;
        s.metric = TM_METRIC_CCORR;
        s.algorithm = TM_ALGORITHM_DIRECT;
        s.threads = 1 + i % 10;
        tm_matcher *m = make_matcher(s);
        CHECK_EQ(tm_template_create(&t, m, &tmpl), TM_OK);
        if (i < 3)
            CHECK_EQ(tm_match(m, &frame, t, &best, NULL), TM_OK);
        *other = bad[i % 3];
        *first = bad[kind];
        CHECK_EQ(tm_match(m, &frame, t, &best, NULL), TM_ERR_INVALID);
        snprintf(text, sizeof text, "the frame has the sample %s at x=%d y=%d,", names[kind],
                 (int)(pixel % frame.width), (int)(pixel / frame.width));
        CHECK(strstr(tm_matcher_message(m), text));
        *other = before[1];
        *first = before[0];
        tm_template_destroy(&t);
        tm_matcher_destroy(&m);
    }
    free(samples);
}

static void refuses_bad_maps(void)
{
    tm_matcher *matcher = make_matcher(defaults());
    const tm_image *f = frame();
    tm_image crop = {.samples = f->samples, .width = 9, .height = 7, .stride = f->stride};
    _Alignas(8) static char memory[8 + 42 * 56 * sizeof(float)];
    const ptrdiff_t row = 56 * sizeof(float);
    tm_template *tmpl;
    tm_peak best;
    int64_t size;

    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    const tm_map bad[] = {{memory, 0}, {memory, row - 4}, {memory, -row}, {memory, row + 2},
                          {memory + 1, row}, {memory, PTRDIFF_MIN}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(tm_match(matcher, f, tmpl, &best, &bad[i]), TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(matcher), "a map"));
    }
    const tm_map good = {memory + 4, row};
    CHECK_EQ(tm_match(matcher, f, tmpl, &best, &good), TM_OK);
    CHECK_EQ(tm_map_size(TM_DOMAIN_VALID, 9, 9, 2, 2, NULL, &size), TM_ERR_INVALID);
    CHECK_EQ(tm_map_size(TM_DOMAIN_VALID, 9, 9, 2, 2, &size, NULL), TM_ERR_INVALID);
    tm_image image = *f;
    image.stride = PTRDIFF_MIN;
    CHECK_EQ(tm_match(matcher, &image, tmpl, &best, NULL), TM_ERR_INVALID);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(reads_cpu_features), TEST(gives_memory),
        TEST(finds_a_crop), TEST(says_what_was_scored), TEST(refuses_bad_pictures),
        TEST(refuses_too_large_templates),
        TEST(refuses_bad_settings), TEST(accepts_an_older_settings_struct),
        TEST(every_status_has_a_text), TEST(lists_devices), TEST(two_threads_with_two_matchers),
        TEST(refuses_bad_maps), TEST(strided_maps), TEST(many_templates_as_single_calls),
        TEST(finds_what_is_not_finite),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
