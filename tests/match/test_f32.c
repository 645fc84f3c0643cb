/* SPDX-License-Identifier: MIT */
/* Float f32_problem: scores within the stated bound of the oracle's in long double. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "f32_problem.h"
#include "lcc/f32.h"
#include "lcc/metrics.h"

static tm_settings random_settings(tm_device_kind device, tm_algorithm algorithm)
{
    static const char *const features[] = {"none", "avx2", "all"};
    tm_settings s;
    tm_settings_default(&s, sizeof s);
    s.device = device;
    s.algorithm = algorithm;
    s.metric = (tm_metric)(check_random() % TM_METRICS);
    /* few cases, under a sanitizer: few matchers on devices */
    s.domain = (tm_domain)((check_cases(400) < 100 ? s.metric : check_random()) % 3);
    s.threads = (int)check_random_in(1, 3);
    if (algorithm == TM_ALGORITHM_FFT && check_random() % 2) /* small tiles */
        s.host_memory = check_random_in(1 << 18, 1 << 21);
    CHECK_EQ(tm_cpu_features_parse(features[check_random() % 3], &s.cpu_features), TM_OK);
    return s;
}

static void check_search(tm_matcher *m, const f32_problem *p, const tm_template *t,
                         const tm_peak *best, tm_domain domain, const tm_map *map)
{
    tm_geometry g;
    tm_search search;
    tm_hits hits;
    tm_search_default(&search, sizeof search);
    search.most = 5;
    search.margin = search.subpixel = 1;
    CHECK_EQ(tm_match_peaks(m, &p->frame, &t, 1, &search, &hits, NULL), TM_OK);
    CHECK(hits.count >= 1);
    CHECK(hits.items[0].peak.x == best->x && hits.items[0].peak.y == best->y &&
          hits.items[0].peak.score == best->score);
    CHECK_EQ(tm_geometry_init(&g, domain, p->frame.width, p->frame.height, p->tmpl.width,
                              p->tmpl.height),
             TM_OK);
    for (size_t i = 0; i < hits.count; i++) {
        const tm_peak *peak = &hits.items[i].peak;
        const float *row = (float *)map->data + (peak->y + g.pad_y) * g.map_width;
        CHECK(fabs(hits.items[i].dx) <= 0.5 && fabs(hits.items[i].dy) <= 0.5);
        CHECK((double)row[peak->x + g.pad_x] == peak->score);
    }
    tm_hits_free(&hits);
}

/* Devices are opened once. */
static tm_matcher *matcher_for(const tm_settings *s)
{
    static tm_matcher *kept[TM_ALGORITHM_CUFFT + 1][TM_METRICS][3];
    tm_matcher *own = NULL, **m = &own;
    if (s->device == TM_DEVICE_CUDA)
        m = &kept[s->algorithm][s->metric][s->domain];
    if (!*m && tm_matcher_create(m, s) != TM_OK)
        check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(*m));
    return *m;
}

static const char *name_of(tm_algorithm algorithm)
{
    return algorithm == TM_ALGORITHM_CUFFT ? "cufft"
           : algorithm == TM_ALGORITHM_FFT ? "fft"
                                           : "direct";
}

/* Returns the worst error over its bound, or -1. */
static double run_case(tm_device_kind device, tm_algorithm algorithm, const int64_t size[4],
                       tm_metric *metric)
{
    f32_problem p;
    tm_template *t;
    tm_peak best;
    int64_t width, height;
    double worst = -1;
    const tm_settings s = random_settings(device, algorithm);
    tm_matcher *m = matcher_for(&s);

    f32_problem_make(&p, size);
    *metric = s.metric;
    CHECK_EQ(tm_map_size(s.domain, p.frame.width, p.frame.height, p.tmpl.width, p.tmpl.height,
                         &width, &height),
             TM_OK);
    float *values = malloc((size_t)(width * height) * sizeof *values);
    const tm_map map = {values, (ptrdiff_t)(width * 4)};
    const tm_status made = tm_template_create(&t, m, &p.tmpl);
    CHECK(made == TM_OK || made == TM_ERR_FLAT_TEMPLATE);
    if (made == TM_OK) {
        const tm_status status = tm_match(m, &p.frame, t, &best, &map);
        const char *message = tm_matcher_message(m);
        if (status != TM_OK && !(status == TM_ERR_NO_POSITION && p.frame.mask) &&
            !(s.host_memory &&
              strstr(message, "no FFT: transforms as long as the template do not fit")) &&
            !(device == TM_DEVICE_CUDA && p.tmpl.mask &&
              strstr(message, "matched directly under a template's mask")))
            check_fail(__FILE__, __LINE__, "%s", message);
        if (status == TM_OK) {
            tm_peak alone;
            CHECK_STR(tm_matcher_algorithm(m), name_of(algorithm));
            worst = f32_check_map(&p, &s, values, &best, 1);
            CHECK_EQ(tm_match(m, &p.frame, t, &alone, NULL), TM_OK);
            CHECK(alone.x == best.x && alone.y == best.y && alone.score == best.score);
            check_search(m, &p, t, &best, s.domain, &map);
        }
        tm_template_destroy(&t);
    }
    if (device == TM_DEVICE_CPU)
        tm_matcher_destroy(&m);
    free(values);
    f32_problem_free(&p);
    return worst;
}

static void random_cases(tm_device_kind device, tm_algorithm algorithm, int64_t count)
{
    double worst[TM_METRICS] = {0};
    int64_t cases = 0, size[4];
    for (int64_t i = check_cases(count); i > 0; i--) {
        tm_metric metric;
        f32_random_size(size);
        const double error = run_case(device, algorithm, size, &metric);
        cases += error >= 0;
        worst[metric] = fmax(worst[metric], error);
    }
    for (int i = 0; i < TM_METRICS; i++)
        printf("# %s: worst error / bound %.3f\n", tm_metric_name((tm_metric)i), worst[i]);
    printf("# %" PRId64 " cases\n", cases);
}

DEVICE_TEST(direct_within_bound, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1500)
DEVICE_TEST(fft_within_bound, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_FFT, 1500)
DEVICE_TEST(cuda_random, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 400)
DEVICE_TEST(cuda_fft, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 200)
DEVICE_TEST(cuda_cufft, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_CUFFT, 200)

/* Several tiles beside and above each other. */
static void cuda_fft_tiles(void)
{
    static const int64_t sizes[][4] = {{700, 600, 9, 7}, {300, 900, 12, 5}, {1500, 200, 3, 30}};
    tm_metric metric;
    require_cuda();
    for (int i = 0; i < 3; i++)
        run_case(TM_DEVICE_CUDA, TM_ALGORITHM_FFT, sizes[i], &metric);
    printf("# %d cases\n", 3);
}

/* Templates around the edges of panels, and beyond a part of a sum. */
static void cuda_templates(void)
{
    static const int64_t sizes[][4] = {{40, 5, 32, 16},  {130, 17, 33, 17}, {3, 40, 31, 15},
                                       {20, 3, 100, 70}, {9, 20, 1, 1100},  {5, 2, 1100, 1},
                                       {30, 4, 700, 2},  {129, 3, 8, 513}};
    const int64_t cases = check_cases(400) / 50 + 8;
    require_cuda();
    for (int64_t i = 0; i < cases; i++) {
        tm_metric metric;
        run_case(TM_DEVICE_CUDA, i / 8 % 2 ? TM_ALGORITHM_FFT : TM_ALGORITHM_DIRECT, sizes[i % 8],
                 &metric);
    }
    printf("# %" PRId64 " cases\n", cases);
}

/* A map with the best match of pieces: of all rows, or of as many as there is memory
 * for; in chunks where rows come back directly and are many. */
static float *map_of(const f32_problem *p, tm_settings s, int64_t memory, bool direct, size_t count,
                     tm_peak *best)
{
    tm_matcher *m;
    tm_template *t = NULL;
    tm_host_memory host = {0};
    float *values = calloc(count, sizeof *values);

    *best = (tm_peak){0};
    s.device_memory = memory;
    s.device_mask = memory ? TM_ALL_DEVICES : 0;
    if (tm_matcher_create(&m, &s) != TM_OK)
        check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(m));
    const tm_status made = tm_template_create(&t, m, &p->tmpl);
    CHECK(made == TM_OK || made == TM_ERR_FLAT_TEMPLATE);
    if (made == TM_OK) {
        if (direct)
            CHECK_EQ(tm_host_alloc(m, count * sizeof *values, &host), TM_OK);
        const tm_map map = {direct ? host.data : values,
                            (ptrdiff_t)(p->frame.width - p->tmpl.width + 1) * 4};
        const tm_status status = tm_match(m, &p->frame, t, best, &map);
        if (status != TM_OK && status != TM_ERR_NO_POSITION)
            check_fail(__FILE__, __LINE__, "%s", tm_matcher_message(m));
        CHECK_STR(tm_matcher_warning(m), "");
        if (direct)
            memcpy(values, host.data, count * sizeof *values);
        tm_host_free(m, &host);
    }
    tm_template_destroy(&t);
    tm_matcher_destroy(&m);
    return values;
}

/* Directly, as a whole and in another way. */
static void compare_with_whole(const int64_t size[4], int64_t memory, bool direct)
{
    const size_t count = (size_t)(size[0] * size[1]);
    tm_settings s = random_settings(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT);
    f32_problem p;
    tm_peak best[2];

    s.domain = TM_DOMAIN_VALID;
    f32_problem_make(&p, size);
    float *whole = map_of(&p, s, 0, false, count, &best[0]);
    float *other = map_of(&p, s, memory, direct, count, &best[1]);
    CHECK(memcmp(whole, other, count * sizeof *whole) == 0);
    CHECK(best[0].x == best[1].x && best[0].y == best[1].y && best[0].score == best[1].score);
    free(whole);
    free(other);
    f32_problem_free(&p);
}

static void cuda_pieces(void)
{
    const int64_t times = check_cases(400) / 100 + 1;
    require_cuda();
    for (int64_t i = 0; i < times; i++) {
        const int64_t size[4] = {check_random_in(200, 240), check_random_in(180, 220),
                                 check_random_in(1, 20), check_random_in(1, 20)};
        /* a megabyte is the device's handle's own */
        compare_with_whole(size, check_random_in(1200000, 1300000), false);
    }
    printf("# %" PRId64 " cases\n", times);
}

static void cuda_chunks(void)
{
    enum { TIMES = 6 };
    require_cuda();
    for (int i = 0; i < TIMES; i++) {
        const int64_t size[4] = {check_random_in(4200, 4400), check_random_in(1100, 1400),
                                 check_random_in(1, 9), check_random_in(1, 9)};
        compare_with_whole(size, 0, true);
    }
    printf("# %d cases\n", TIMES);
}

/* The same whole numbers as 8 bits and as floats. */
static void agrees_with_bytes(void)
{
    uint8_t bytes[40 * 30], part[7 * 5];
    float floats[40 * 30], float_part[7 * 5];
    for (int i = 0; i < 40 * 30; i++)
        floats[i] = bytes[i] = i % 40 < 12 ? 9 : (uint8_t)check_random();
    for (int i = 0; i < 7 * 5; i++)
        float_part[i] = part[i] = bytes[(11 + i / 7) * 40 + 20 + i % 7];
    const tm_image images[2][2] = {
        {{bytes, 40, 30, 40, .type = TM_SAMPLE_U8}, {part, 7, 5, 7, .type = TM_SAMPLE_U8}},
        {{(uint8_t *)floats, 40, 30, 160, .type = TM_SAMPLE_F32},
         {(uint8_t *)float_part, 7, 5, 28, .type = TM_SAMPLE_F32}}};
    for (int metric = 0; metric < TM_METRICS; metric++) {
        tm_peak peaks[2];
        for (int i = 0; i < 2; i++) {
            tm_settings s;
            tm_matcher *m;
            tm_template *t;
            tm_settings_default(&s, sizeof s);
            s.device = TM_DEVICE_CPU;
            s.metric = (tm_metric)metric;
            CHECK_EQ(tm_matcher_create(&m, &s), TM_OK);
            CHECK_EQ(tm_template_create(&t, m, &images[i][1]), TM_OK);
            CHECK_EQ(tm_match(m, &images[i][0], t, &peaks[i], NULL), TM_OK);
            tm_template_destroy(&t);
            tm_matcher_destroy(&m);
        }
        CHECK_EQ(peaks[0].x, peaks[1].x);
        CHECK_EQ(peaks[0].y, peaks[1].y);
        CHECK(fabs(peaks[0].score - peaks[1].score) <= 0x1p-22 * fmax(1, fabs(peaks[0].score)));
    }
}

static void refuses(void)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    float frame[16], part[4] = {1, 2, 3, 4.5f};
    const tm_image image = {(uint8_t *)frame, 4, 4, 16, .type = TM_SAMPLE_F32};
    const tm_image tmpl = {(uint8_t *)part, 2, 2, 8, .type = TM_SAMPLE_F32};
    tm_settings s;
    tm_matcher *m;
    tm_template *t;
    tm_peak best;

    for (int i = 0; i < 16; i++)
        frame[i] = (float)i;
    tm_settings_default(&s, sizeof s);
    CHECK_EQ(tm_matcher_create(&m, &s), TM_OK);
    CHECK_EQ(tm_template_create(&t, m, &tmpl), TM_OK);
    for (int i = 0; i < 3; i++) {
        frame[6] = bad[i];
        CHECK_EQ(tm_match(m, &image, t, &best, NULL), TM_ERR_INVALID);
        CHECK(strstr(tm_matcher_message(m), i == 0 ? "nan at x=2 y=1" : "inf at x=2 y=1"));
    }
    tm_template_destroy(&t);
    part[3] = NAN;
    CHECK_EQ(tm_template_create(&t, m, &tmpl), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(m), "the template has the sample nan at x=1 y=1"));
    tm_matcher_destroy(&m);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(direct_within_bound), TEST(fft_within_bound), TEST(agrees_with_bytes), TEST(refuses),
        TEST(cuda_random), TEST(cuda_templates), TEST(cuda_pieces), TEST(cuda_chunks),
        TEST(cuda_fft), TEST(cuda_cufft), TEST(cuda_fft_tiles),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
