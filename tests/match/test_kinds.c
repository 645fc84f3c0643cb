/* SPDX-License-Identifier: MIT */
/* Every metric on every kind of picture, bit for bit against the oracle; and what
 * others were reported to get wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "pictures.h"
#include "lcc/metrics.h"

static void random_cases(tm_settings settings, double products)
{
    const int64_t cases = check_cases(1000);
    int64_t elements = 0;
    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        kind_random(&p, products);
        elements += kind_compare(&p, settings);
        kind_free(&p);
    }
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
}

static void oracle_is_the_formula(void)
{
    for (int64_t i = check_cases(1000); i > 0; i--) {
        kind_problem p;
        kind_random(&p, 1e5);
        kind_check_oracle(&p);
        kind_free(&p);
    }
}

static void cpu_direct(void)
{
    random_cases(settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1), 3e5);
}

static void cpu_direct_threads(void)
{
    random_cases(settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 3), 3e5);
}

static void cpu_direct_plain_c(void)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1);
    settings.cpu_features = 0;
    random_cases(settings, 1e5);
}

static void cpu_fft(void)
{
    random_cases(settings_of(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 2), 2e5);
}

/* Tiles of 8192 points, and as much memory for the planes as for those. */
static void cpu_fft_in_bands(void)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 1);
    settings.host_memory = 8 * 3 * 16 * 8192;
    for (int64_t i = check_cases(400) / 4; i > 0; i--) {
        kind_problem p;
        kind_of_size(&p, check_random_in(100, 300), check_random_in(30, 120), check_random_in(1, 12),
                     check_random_in(1, 12));
        kind_compare(&p, settings);
        kind_free(&p);
    }
}

static void cuda_random(void)
{
    require_cuda();
    random_cases(settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 1), 3e5);
}

static void cuda_fft(void)
{
    require_cuda();
    random_cases(settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 1), 2e5);
}

static void cuda_cufft(void)
{
    require_cufft();
    random_cases(settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_CUFFT, 1), 2e5);
}

/* Bits, channels and masks that say the same give the same bits. */
static void same_picture_same_bits(void)
{
    enum { W = 37, H = 23, TW = 7, TH = 6 };
    static uint8_t narrow[H * W], ones[TH * TW];
    static uint16_t wide[H * W];
    for (int i = 0; i < W * H; i++)
        wide[i] = narrow[i] = (uint8_t)check_random();
    memset(ones, 1, sizeof ones);

    for (int metric = 0; metric < TM_METRICS; metric++) {
        tm_image frames[] = {
            {.samples = narrow, .width = W, .height = H, .stride = W},
            {.samples = (const uint8_t *)wide, .width = W, .height = H, .stride = 2 * W,
             .type = TM_SAMPLE_U16},
        };
        float map[3][H * W];
        int64_t sums[3][H * W];
        tm_peak best[3];
        for (int i = 0; i < 3; i++) {
            const tm_image *frame = &frames[i == 1];
            tm_image tmpl = *frame;
            tmpl.samples += 5 * frame->stride + 9 * frame->stride / W;
            tmpl.width = TW;
            tmpl.height = TH;
            if (i == 2) {
                tmpl.mask = ones;
                tmpl.mask_stride = TW;
            }
            tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1);
            settings.metric = (tm_metric)metric;
            tm_matcher *matcher;
            tm_template *t;
            tm_map view = {tm_metric_is_integer(settings.metric) ? (void *)sums[i] : map[i],
                           (ptrdiff_t)(W * tm_map_element_size(settings.metric))};
            memset(map[i], 0, sizeof map[i]);
            memset(sums[i], 0, sizeof sums[i]);
            CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
            CHECK_EQ(tm_template_create(&t, matcher, &tmpl), TM_OK);
            CHECK_EQ(tm_match(matcher, frame, t, &best[i], &view), TM_OK);
            CHECK(memcmp(map[0], map[i], sizeof map[0]) == 0);
            CHECK(memcmp(sums[0], sums[i], sizeof sums[0]) == 0);
            CHECK(memcmp(&best[0], &best[i], sizeof best[0]) == 0);
            tm_template_destroy(&t);
            tm_matcher_destroy(&matcher);
        }
        if (metric != TM_METRIC_CCORR && metric != TM_METRIC_CCOEFF) {
            CHECK_EQ(best[0].x, 9);
            CHECK_EQ(best[0].y, 5);
            CHECK(best[0].score == (tm_metric_is_distance((tm_metric)metric) ? 0 : 1));
        }
    }
}

/* The greatest sums of 16 bits: beyond 64 bits, and beyond binary32's exponents. */
static void greatest_sums(tm_device_kind device)
{
    enum { W = 2049, H = 4096, TW = 2048 };
    uint16_t *samples = malloc((size_t)W * H * 2);
    CHECK(samples);
    for (int i = 0; i < W * H; i++)
        samples[i] = (uint16_t)(i * (int64_t)7 % 3 ? 65535 : 0);
    tm_image frame = {.samples = (const uint8_t *)samples, .width = W, .height = H,
                      .stride = 2 * W, .type = TM_SAMPLE_U16};
    tm_image tmpl = frame;
    tmpl.width = TW;
    /* The oracle takes seconds, the formula in long double a minute in an emulator: on CUDA and in a slow build
     * the two metrics that leave 64 bits or integers, without the formula; in the slowest one of the two. */
    const bool all = device == TM_DEVICE_CPU && check_cases(1000) >= 500, one = check_is_slow();
    for (int metric = one && check_random() % 2; metric < (all ? TM_METRICS : 2); metric += 1 + one) {
        kind_problem p = {.frame = frame, .tmpl = tmpl, .metric = (tm_metric)metric};
        snprintf(p.text, sizeof p.text, "greatest sums, metric %d", metric);
        kind_compare(&p, settings_of(device, TM_ALGORITHM_DIRECT, 0));
        if (all)
            kind_check_oracle(&p);
    }
    free(samples);
}

static void cpu_greatest_sums(void)
{
    greatest_sums(TM_DEVICE_CPU);
}

static void cuda_greatest_sums(void)
{
    require_cuda();
    greatest_sums(TM_DEVICE_CUDA);
}

/* --- what was reported of others --- */

typedef struct single {
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak best;
    float map[4096];
} single;

static tm_status match_single(single *s, tm_metric metric, const tm_image *frame,
                              const tm_image *tmpl)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 1);
    int64_t width, height;
    settings.metric = metric;
    memset(s, 0, sizeof *s);
    CHECK_EQ(tm_matcher_create(&s->matcher, &settings), TM_OK);
    tm_status status = tm_template_create(&s->tmpl, s->matcher, tmpl);
    if (status == TM_OK) {
        CHECK_EQ(tm_map_size(TM_DOMAIN_VALID, frame->width, frame->height, tmpl->width,
                             tmpl->height, &width, &height),
                 TM_OK);
        CHECK(width * height <= 4096);
        tm_map map = {s->map, (ptrdiff_t)sizeof(float) * width};
        status = tm_match(s->matcher, frame, s->tmpl, &s->best, &map);
    }
    tm_template_destroy(&s->tmpl);
    tm_matcher_destroy(&s->matcher);
    return status;
}

/* opencv 5688: a flat template scores 1 everywhere. 23257: constant under its mask
 * it scores inf; since its fix, 1 everywhere. */
static void flat_template_is_an_error(void)
{
    static uint8_t samples[100];
    static const uint8_t patch[] = {9, 9, 9, 1}, mask[] = {1, 1, 1, 0}, none[4];
    single s;
    for (int i = 0; i < 100; i++)
        samples[i] = (uint8_t)(i * 37);
    tm_image frame = {.samples = samples, .width = 10, .height = 10, .stride = 10};
    tm_image tmpl = {.samples = patch, .width = 2, .height = 2, .stride = 2};
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &frame, &tmpl), TM_OK);
    tmpl.mask = mask;
    tmpl.mask_stride = 2;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &frame, &tmpl), TM_ERR_FLAT_TEMPLATE);
    CHECK_EQ(match_single(&s, TM_METRIC_CCOEFF, &frame, &tmpl), TM_ERR_FLAT_TEMPLATE);
    CHECK_EQ(match_single(&s, TM_METRIC_SQDIFF_NORMED, &frame, &tmpl), TM_OK);
    tmpl.mask = none;
    CHECK_EQ(match_single(&s, TM_METRIC_SQDIFF_NORMED, &frame, &tmpl), TM_ERR_FLAT_TEMPLATE);
}

/* opencv 15768, 20557, 23257: values above 1, inf and nan under a mask, where the
 * window is black or flat. */
static void masked_scores_are_finite(void)
{
    enum { W = 40, H = 30, T = 8 };
    static uint8_t samples[W * H], mask[T * T];
    single s;
    for (int y = 12; y < 20; y++)
        for (int x = 20; x < 28; x++)
            samples[y * W + x] = (uint8_t)(1 + check_random() % 255);
    for (int i = 0; i < T * T; i++)
        mask[i] = i % 5 ? 255 : 0;
    tm_image frame = {.samples = samples, .width = W, .height = H, .stride = W};
    tm_image tmpl = {.samples = samples + 12 * W + 20, .width = T, .height = T, .stride = W,
                     .mask = mask, .mask_stride = T};
    for (int metric = 0; metric < TM_METRICS; metric++) {
        if (tm_metric_is_integer((tm_metric)metric))
            continue;
        CHECK_EQ(match_single(&s, (tm_metric)metric, &frame, &tmpl), TM_OK);
        CHECK_EQ(s.best.x, 20);
        CHECK_EQ(s.best.y, 12);
        for (int i = 0; i < (W - T + 1) * (H - T + 1); i++) {
            CHECK(isfinite(s.map[i]));
            if (metric == TM_METRIC_LCC || metric == TM_METRIC_CCORR_NORMED)
                CHECK(s.map[i] >= -1 && s.map[i] <= 1);
        }
        CHECK(s.map[0] == 0 || tm_metric_is_distance((tm_metric)metric));
    }
}

/* opencv 15215: 96 / sqrt(94 * 76) is returned as 1. */
static void sqdiff_normed_is_not_clipped(void)
{
    static const uint8_t i[] = {5, 1, 2, 8}, t[] = {1, 5, 7, 1};
    tm_image frame = {.samples = i, .width = 2, .height = 2, .stride = 2};
    tm_image tmpl = {.samples = t, .width = 2, .height = 2, .stride = 2};
    single s;
    CHECK_EQ(match_single(&s, TM_METRIC_SQDIFF_NORMED, &frame, &tmpl), TM_OK);
    CHECK(s.map[0] == 106.0f / sqrtf(94.0f * 76.0f));
}

/* opencv 21788, 9099: with sums in float, a copy in a bright frame does not score 0
 * or 1, and the least sum lies elsewhere. */
static void copies_are_found_exactly(void)
{
    enum { W = 60, H = 60, T = 24 };
    static uint16_t samples[W * H];
    single s;
    for (int i = 0; i < W * H; i++)
        samples[i] = (uint16_t)(65535 - check_random() % 3);
    tm_image frame = {.samples = (const uint8_t *)samples, .width = W, .height = H,
                      .stride = 2 * W, .type = TM_SAMPLE_U16};
    tm_image tmpl = frame;
    tmpl.samples = (const uint8_t *)(samples + 17 * W + 31);
    tmpl.width = tmpl.height = T;
    static const tm_metric metrics[] = {TM_METRIC_LCC, TM_METRIC_SQDIFF_NORMED};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(match_single(&s, metrics[i], &frame, &tmpl), TM_OK);
        CHECK_EQ(s.best.x, 31);
        CHECK_EQ(s.best.y, 17);
        CHECK(s.best.score == (i ? 0 : 1));
    }
}

/* opencv 26389: a template of the frame's width and 3 rows less throws under a
 * mask. */
static void masks_of_every_shape(void)
{
    enum { W = 12, H = 15 };
    static uint8_t samples[W * H], mask[W * H];
    single s;
    for (int i = 0; i < W * H; i++) {
        samples[i] = (uint8_t)check_random();
        mask[i] = (uint8_t)(i % 3);
    }
    tm_image frame = {.samples = samples, .width = W, .height = H, .stride = W};
    for (int h = 1; h <= H; h++) {
        for (int w = 2; w <= W; w++) {
            tm_image tmpl = {.samples = samples + (H - h) * W + W - w,
                             .width = w,
                             .height = h,
                             .stride = W,
                             .mask = mask,
                             .mask_stride = W};
            for (int i = 0; i < TM_METRICS; i++) {
                tm_metric metric = (tm_metric)i;
                if (tm_metric_is_integer(metric))
                    continue;
                bool no_score = (metric == TM_METRIC_LCC || metric == TM_METRIC_CCOEFF) &&
                                image_is_flat(&tmpl);
                CHECK_EQ(match_single(&s, metric, &frame, &tmpl),
                         no_score ? TM_ERR_FLAT_TEMPLATE : TM_OK);
            }
        }
    }
}

/* scikit-image 845: a window's score changes when the frame around it is cropped. */
static void cropping_changes_nothing(void)
{
    enum { W = 64, H = 48 };
    static uint8_t samples[W * H];
    single whole, cropped;
    picture_noise(samples, W * H);
    tm_image frame = {.samples = samples, .width = W, .height = H, .stride = W};
    tm_image tmpl = {.samples = samples + 20 * W + 20, .width = 9, .height = 9, .stride = W};
    tm_image crop = {.samples = samples + 7 * W + 11, .width = 40, .height = 30, .stride = W};
    for (int metric = 0; metric < TM_METRICS; metric++) {
        if (tm_metric_is_integer((tm_metric)metric))
            continue;
        CHECK_EQ(match_single(&whole, (tm_metric)metric, &frame, &tmpl), TM_OK);
        CHECK_EQ(match_single(&cropped, (tm_metric)metric, &crop, &tmpl), TM_OK);
        for (int y = 0; y < 30 - 8; y++)
            CHECK(memcmp(cropped.map + y * (40 - 8), whole.map + (y + 7) * (W - 8) + 11,
                         (40 - 8) * sizeof(float)) == 0);
    }
}

/* What a frame and a template must share. */
static void kinds_must_agree(void)
{
    static uint16_t samples[64];
    single s;
    tm_image narrow = {.samples = (const uint8_t *)samples, .width = 8, .height = 8, .stride = 8};
    tm_image wide = narrow, colour = narrow, odd, masked = narrow;
    for (int i = 0; i < 64; i++)
        samples[i] = (uint16_t)(i * 777);
    wide.type = TM_SAMPLE_U16;
    wide.stride = 16;
    wide.width = wide.height = 4;
    colour.channels = 3;
    colour.width = 2;
    colour.height = 4;
    colour.stride = 9;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &narrow, &wide), TM_ERR_INVALID);
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &narrow, &colour), TM_ERR_INVALID);
    odd = wide;
    odd.samples++;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &wide, &odd), TM_ERR_INVALID);
    odd = wide;
    odd.channels = 5;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &odd, &odd), TM_ERR_INVALID);
    odd = wide;
    odd.type = (tm_sample_type)7;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &odd, &odd), TM_ERR_INVALID);
    static const uint8_t none[64];
    masked.mask = none;
    masked.mask_stride = 8;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &masked, &narrow), TM_ERR_NO_POSITION);
    masked.mask_stride = 7;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &masked, &narrow), TM_ERR_INVALID);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(oracle_is_the_formula),
        TEST(cpu_direct),
        TEST(cpu_direct_threads),
        TEST(cpu_direct_plain_c),
        TEST(cpu_fft),
        TEST(cpu_fft_in_bands),
        TEST(cuda_random),
        TEST(cuda_fft),
        TEST(cuda_cufft),
        TEST(same_picture_same_bits),
        TEST(cpu_greatest_sums),
        TEST(cuda_greatest_sums),
        TEST(flat_template_is_an_error),
        TEST(masked_scores_are_finite),
        TEST(sqdiff_normed_is_not_clipped),
        TEST(copies_are_found_exactly),
        TEST(masks_of_every_shape),
        TEST(cropping_changes_nothing),
        TEST(kinds_must_agree),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
