/* SPDX-License-Identifier: MIT */
/* What the plan chooses, and that it says so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "match/plan.h"

static tm_plan plan_for(tm_device_kind device, int64_t frame, int64_t size, tm_algorithm wanted)
{
    tm_template tmpl = {.width = size, .height = size, .n = size * size,
                        .sum_sq = size * size * 20000};
    tm_job job = {.tmpl = &tmpl};
    tm_site site = {.device = device, .kernels = "avx2", .threads = 2, .started = true,
                    .cuda = {132, true, true, 8192}};
    tm_plan plan;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, frame, frame, size, size), TM_OK);
    tm_plan_make(&plan, &site, &job, wanted);
    CHECK(plan.ms == (plan.algorithm == TM_ALGORITHM_FFT ? plan.fft_ms : plan.direct_ms));
    return plan;
}

static void chooses_the_cheaper(void)
{
    static const tm_device_kind devices[] = {TM_DEVICE_CPU, TM_DEVICE_CUDA};
    for (int i = 0; i < 2; i++) {
        if (devices[i] == TM_DEVICE_CPU && !TM_HAVE_FFTW)
            continue;
        for (int64_t frame = 64; frame <= 16384; frame *= 2) {
            for (int64_t size = 4; size <= frame && size <= 2048; size *= 2) {
                tm_plan plan = plan_for(devices[i], frame, size, TM_ALGORITHM_AUTO);
                CHECK(plan.ms > 0 && plan.ms <= plan.direct_ms && plan.ms <= plan.fft_ms);
            }
        }
        CHECK_EQ(plan_for(devices[i], 512, 4, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_DIRECT);
        CHECK_EQ(plan_for(devices[i], 4096, 1024, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_FFT);
    }
}

static void does_as_told(void)
{
    CHECK_EQ(plan_for(TM_DEVICE_CPU, 4096, 1024, TM_ALGORITHM_DIRECT).algorithm, TM_ALGORITHM_DIRECT);
    CHECK_EQ(plan_for(TM_DEVICE_CPU, 64, 4, TM_ALGORITHM_FFT).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_for(TM_DEVICE_CUDA, 64, 4, TM_ALGORITHM_FFT).algorithm, TM_ALGORITHM_FFT);
}

/* A device without long transforms, and one without any. */
static void respects_the_device(void)
{
    tm_template tmpl = {.width = 700, .height = 700, .n = 490000, .sum_sq = 490000 * 20000ll};
    tm_job job = {.tmpl = &tmpl};
    tm_site site = {.device = TM_DEVICE_CUDA, .cuda = {132, true, true, 768}};
    tm_plan plan;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 4096, 4096, 700, 700), TM_OK);
    tm_plan_make(&plan, &site, &job, TM_ALGORITHM_FFT);
    CHECK(!plan.fault && plan.tiling.length_x == 768 && plan.tiling.length_y == 768);
    site.cuda.longest_fft = 0;
    tm_plan_make(&plan, &site, &job, TM_ALGORITHM_AUTO);
    CHECK(plan.fault && plan.algorithm == TM_ALGORITHM_DIRECT && isinf(plan.fft_ms));
}

/* Matches that are repeated start the FFT once it would have paid for its start. */
static void pays_for_the_start_once(void)
{
    int waited = 0;

    if (!TM_HAVE_FFTW)
        check_skip("this build has no FFTW");
    for (int64_t size = 4; size <= 200; size += 4) {
        tm_template tmpl = {.width = size, .height = size, .n = size * size, .sum_sq = size * size};
        tm_job job = {.tmpl = &tmpl};
        tm_site site = {.device = TM_DEVICE_CPU, .kernels = "avx2", .threads = 2};
        tm_plan plan;
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 400, 400, size, size), TM_OK);
        site.started = true;
        tm_plan_make(&plan, &site, &job, TM_ALGORITHM_AUTO);
        if (plan.algorithm != TM_ALGORITHM_FFT)
            continue;
        site.started = false;
        for (int frame = 0;; frame++) {
            tm_plan_make(&plan, &site, &job, TM_ALGORITHM_AUTO);
            if (plan.algorithm == TM_ALGORITHM_FFT)
                break;
            CHECK(plan.missed_ms > 0 && frame < 100000);
            site.missed_ms += plan.missed_ms;
            waited += frame == 0;
        }
    }
    printf("# %d sizes waited\n", waited);
}

static void says_what_it_chose(void)
{
    tm_settings settings;
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak best;
    static uint8_t samples[200 * 200];
    tm_image frame = {.samples = samples, .width = 200, .height = 200, .stride = 200},
             crop = {.samples = samples + 200 * 100 + 50, .width = 40, .height = 40, .stride = 200};

    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)check_random();
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.threads = 1;
    CHECK_EQ(tm_cpu_features_parse("none", &settings.cpu_features), TM_OK);
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    CHECK(strncmp(tm_matcher_plan(matcher), tm_matcher_algorithm(matcher), 3) == 0);
    CHECK(strstr(tm_matcher_plan(matcher), "; estimates: direct "));
    CHECK(strstr(tm_matcher_plan(matcher), TM_HAVE_FFTW ? ", fft " : ", no fft: this build"));
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(chooses_the_cheaper), TEST(does_as_told), TEST(respects_the_device),
        TEST(pays_for_the_start_once), TEST(says_what_it_chose),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
