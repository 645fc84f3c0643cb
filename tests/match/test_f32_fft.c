/* SPDX-License-Identifier: MIT */
/* Float f32_problem through FFT on the CPU: spectra that are kept, ties, and how much is done
 * again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "f32_problem.h"
#include "pictures.h"
#include "lcc/metrics.h"

static tm_settings fft_settings(tm_metric metric)
{
    tm_settings s = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 0);
    s.metric = metric;
    return s;
}

/* One template under one metric takes other spectra where the frame's signs differ, or
 * has a mask: a matcher that keeps them takes the right ones. */
static void fft_keeps_spectra_apart(void)
{
    const tm_settings s = fft_settings(TM_METRIC_CCORR);
    f32_problem p = {0};
    tm_matcher *m;
    tm_template *t;
    tm_peak best;
    static float values[81 * 51];
    const tm_map map = {values, 81 * 4};

    p.memory[0] = picture_make_f32(&p.frame, 90, 60, 1, PICTURE_F32_NOISE);
    p.memory[1] = picture_make_f32(&p.tmpl, 10, 10, 1, PICTURE_F32_NOISE);
    p.masks[0] = picture_mask_out(&p.tmpl, 3);
    p.masks[1] = picture_mask_out(&p.frame, 1000);
    const uint8_t *mask = p.frame.mask;
    CHECK_EQ(tm_matcher_create(&m, &s), TM_OK);
    CHECK_EQ(tm_template_create(&t, m, &p.tmpl), TM_OK);
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 90 * 60; k++)
            p.memory[0][k] = fabsf(p.memory[0][k]) * (i & 1 && k % 3 == 0 ? -1 : 1);
        p.frame.mask = i & 2 ? mask : NULL;
        CHECK_EQ(tm_match(m, &p.frame, t, &best, &map), TM_OK);
        CHECK(f32_check_map(&p, &s, values, &best, 1) <= 1);
    }
    tm_template_destroy(&t);
    tm_matcher_destroy(&m);
    f32_problem_free(&p);
}

/* Scores beyond the greatest number are equal: of them the first in the frame wins, in
 * whichever tile it lies. */
static void fft_ties_beyond_range(void)
{
    static const tm_metric metrics[] = {TM_METRIC_SQDIFF, TM_METRIC_CCORR};
    enum { SIDE = 300, FREE = 280 };
    f32_problem p = {0};
    p.memory[0] = picture_make_f32(&p.frame, SIDE, SIDE, 1, PICTURE_F32_GREAT);
    p.memory[1] = picture_make_f32(&p.tmpl, 4, 4, 1, PICTURE_F32_GREAT);
    p.masks[1] = picture_mask_out(&p.frame, 1);
    memset(p.masks[1] + FREE, 1, SIDE * SIDE - FREE);
    for (int i = 0; i < SIDE * SIDE; i++)
        p.memory[0][i] = -fabsf(p.memory[0][i]);
    for (int i = 0; i < 16; i++)
        p.memory[1][i] = 1e38f + (float)i * 1e37f;
    for (int i = 0; i < 2; i++) {
        tm_settings s = fft_settings(metrics[i]);
        tm_matcher *m;
        tm_template *t;
        tm_peak best;
        s.threads = 1;
        s.host_memory = 1 << 19;
        CHECK_EQ(tm_matcher_create(&m, &s), TM_OK);
        CHECK_EQ(tm_template_create(&t, m, &p.tmpl), TM_OK);
        CHECK_EQ(tm_match(m, &p.frame, t, &best, NULL), TM_OK);
        CHECK_EQ(best.x, FREE);
        CHECK_EQ(best.y, 0);
        tm_template_destroy(&t);
        tm_matcher_destroy(&m);
    }
    f32_problem_free(&p);
}

/* Pictures of even light and contrast, larger than tiles: what is done again is what is
 * near a good match, by metrics that are near 0 there. (What full adds around the frame
 * is black.) */
static void fft_does_most(void)
{
    static const picture_f32_content contents[] = {PICTURE_F32_NOISE, PICTURE_F32_OFFSET, PICTURE_F32_BYTES,
                                                  PICTURE_F32_SIGNS};
    const bool slow = check_is_slow();
    for (int i = slow ? (int)(check_random() % 2) : 0; i < (slow ? 6 : 24); i += 1 + slow) {
        tm_settings s = fft_settings((tm_metric)(i % TM_METRICS));
        const int channels = i % 4 == 3 ? 3 : 1;
        const picture_f32_content content = contents[i % 5 % 4];
        const int64_t w = check_random_in(8, 50), h = check_random_in(8, 50);
        tm_matcher *m;
        tm_template *t;
        tm_peak best;
        f32_problem p = {0};
        long long again, windows;
        int64_t width, height;

        p.memory[0] = picture_make_f32(&p.frame, 500, 700, channels, content);
        p.memory[1] = picture_make_f32(&p.tmpl, w, h, channels, content);
        for (int64_t v = 0; v < h; v++)
            memcpy(p.memory[1] + v * w * channels, p.memory[0] + ((300 + v) * 500 + 99) * channels,
                   (size_t)(w * channels) * sizeof(float));
        if (i % 3 == 0)
            p.masks[0] = picture_mask_out(&p.tmpl, 5);
        if (i % 7 == 0)
            p.masks[1] = picture_mask_out(&p.frame, 5000);
        s.domain = i % 8 == 5 ? TM_DOMAIN_FULL : TM_DOMAIN_VALID;
        s.threads = 2;
        s.host_memory = i % 2 ? 0 : 8 << 20;
        CHECK_EQ(tm_matcher_create(&m, &s), TM_OK);
        CHECK_EQ(tm_template_create(&t, m, &p.tmpl), TM_OK);
        CHECK_EQ(tm_map_size(s.domain, 500, 700, w, h, &width, &height), TM_OK);
        float *values = malloc((size_t)(width * height) * sizeof *values);
        const tm_map map = {values, (ptrdiff_t)(width * 4)};
        CHECK_EQ(tm_match(m, &p.frame, t, &best, &map), TM_OK);
        CHECK(f32_check_map(&p, &s, values, &best, 331) <= 1);
        const char *count = strstr(tm_matcher_plan(m), "transforms of ");
        CHECK(count &&
              sscanf(strchr(count, ','), ", %lld of %lld windows again", &again, &windows) == 2);
        CHECK_EQ(windows, width * height);
        if (s.domain == TM_DOMAIN_VALID && again > windows / 1000)
            check_fail(__FILE__, __LINE__, "%s, content %d: %lld of %lld windows again: %s",
                       tm_metric_name(s.metric), content, again, windows, tm_matcher_plan(m));
        tm_template_destroy(&t);
        tm_matcher_destroy(&m);
        free(values);
        f32_problem_free(&p);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(fft_keeps_spectra_apart), TEST(fft_ties_beyond_range), TEST(fft_does_most),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
