/* SPDX-License-Identifier: MIT */
/* The definition's pieces: score, order, tie rule, geometry, template. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lcc/lcc.h"

static void score_of_copy_is_one(void)
{
    for (int64_t i = 0; i < 1000000; i++) {
        int64_t variance = (int64_t)(check_random() >> check_random_in(1, 62));
        variance += variance == 0;
        CHECK(tm_lcc_score(variance, variance, (float)variance) == 1.0f);
        CHECK(tm_lcc_score(-variance, variance, (float)variance) == -1.0f);
    }
}

static void score_is_near_the_true_value(void)
{
    const long double bound = 0x1p-22L;
    for (int64_t i = 0; i < 1000000; i++) {
        int64_t var_f = (int64_t)(check_random() >> check_random_in(2, 62)) + 1;
        int64_t var_t = (int64_t)(check_random() >> check_random_in(2, 62)) + 1;
        long double norm = sqrtl((long double)var_f * (long double)var_t);
        int64_t limit = norm > 0x1p61L ? INT64_C(1) << 61 : (int64_t)norm;
        int64_t num = check_random_in(-limit, limit);
        float score = tm_lcc_score(num, var_f, (float)var_t);
        CHECK(fabsl((long double)score - (long double)num / norm) <= bound);
        CHECK(score >= -1.0f && score <= 1.0f);
    }
}

static void flat_window_scores_zero(void)
{
    CHECK(tm_lcc_score(0, 0, 12.0f) == 0.0f);
    CHECK(!signbit(tm_lcc_score(0, 5, 12.0f)));
}

static void order_follows_the_score(void)
{
    static const float scores[] = {-1.0f, -0.5f, -1e-30f, 0.0f, 1e-30f, 0.25f, 0.99999994f, 1.0f};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
        CHECK(tm_score_of_order(tm_score_order(scores[i])) == scores[i]);
        if (i)
            CHECK(tm_score_order(scores[i - 1]) < tm_score_order(scores[i]));
    }
}

static void ties_go_to_the_smaller_position(void)
{
    tm_candidate none = TM_NO_CANDIDATE, low = {5, 7}, high = {5, 8}, better = {6, 100};
    CHECK(tm_candidate_beats(low, none) && tm_candidate_beats(low, high));
    CHECK(!tm_candidate_beats(high, low) && !tm_candidate_beats(low, low));
    CHECK(tm_candidate_beats(better, low));
}

static void geometry_of_domains(void)
{
    tm_geometry g;
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_VALID, 10, 8, 3, 4), TM_OK);
    CHECK(g.map_width == 8 && g.map_height == 5 && g.pad_x == 0 && g.pad_y == 0);
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_SAME, 10, 8, 3, 4), TM_OK);
    CHECK(g.map_width == 10 && g.map_height == 8 && g.pad_x == 1 && g.pad_y == 1);
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_FULL, 10, 8, 3, 4), TM_OK);
    CHECK(g.map_width == 12 && g.map_height == 11 && g.pad_x == 2 && g.pad_y == 3);
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_FULL, 10, 8, 11, 4), TM_ERR_FRAME_TOO_SMALL);
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_FULL, 10, 8, 3, 9), TM_ERR_FRAME_TOO_SMALL);
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_FULL, 0, 8, 3, 4), TM_ERR_INVALID);
    CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_FULL, INT64_MAX, 8, 3, 4), TM_ERR_INVALID);
    CHECK_EQ(tm_geometry_init(&g, (tm_domain)3, 10, 8, 3, 4), TM_ERR_INVALID);
}

static void template_sums(void)
{
    static const uint8_t samples[] = {1, 2, 250, 0xee, 3, 4, 255, 0xee};
    tm_image image = {.samples = samples, .width = 3, .height = 2, .stride = 4};
    tm_template *t;
    CHECK_EQ(tm_template_prepare(&t, &image), TM_OK);
    CHECK_EQ(t->n, 6);
    CHECK_EQ(t->sum, 1 + 2 + 250 + 3 + 4 + 255);
    CHECK_EQ(t->sum_sq, 1 + 4 + 62500 + 9 + 16 + 65025);
    CHECK_EQ(t->variance, 6 * t->sum_sq - t->sum * t->sum);

    float normalized[6];
    double sum = 0, squares = 0, mean = (double)t->sum / 6;
    CHECK_EQ(tm_template_normalized(t, normalized), TM_OK);
    for (int i = 0; i < 6; i++) {
        sum += (double)normalized[i];
        squares += (double)normalized[i] * (double)normalized[i];
        double expected = (t->samples[i] - mean) / sqrt((double)t->variance / 6);
        CHECK(fabs((double)normalized[i] - expected) <= 1e-7);
    }
    CHECK(fabs(sum) <= 1e-6 && fabs(squares - 1) <= 1e-6);

    tm_template *same, *other;
    uint8_t changed[8];
    memcpy(changed, samples, sizeof changed);
    changed[1]++;
    tm_image changed_image = {.samples = changed, .width = 3, .height = 2, .stride = 4};
    CHECK_EQ(tm_template_prepare(&same, &image), TM_OK);
    CHECK_EQ(tm_template_prepare(&other, &changed_image), TM_OK);
    CHECK(tm_template_equal(t, same) && !tm_template_equal(t, other));
    tm_template_destroy(&t);
    tm_template_destroy(&same);
    tm_template_destroy(&other);
    CHECK(t == NULL);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(score_of_copy_is_one), TEST(score_is_near_the_true_value),
        TEST(flat_window_scores_zero), TEST(order_follows_the_score),
        TEST(ties_go_to_the_smaller_position), TEST(geometry_of_domains), TEST(template_sums),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
