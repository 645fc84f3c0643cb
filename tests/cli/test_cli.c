/* SPDX-License-Identifier: MIT */
/* What golden tests do not reach: odd bytes, every float, a verification that
 * fails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "run/report.h"
#include "run/score_map.h"
#include "run/weak.h"
#include "text.h"

typedef void speller(FILE *out, const char *name);

static void check_spelling(speller *spell, const char *name, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK(out);
    spell(out, name);
    CHECK(fclose(out) == 0);
    CHECK_STR(text, expected);
    free(text);
}

static void json_escapes(void)
{
    check_spelling(text_json, "", "\"\"");
    check_spelling(text_json, "plain name.png", "\"plain name.png\"");
    check_spelling(text_json, "a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    check_spelling(text_json, "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    check_spelling(text_json, "\x01\x1b\x1f\x7f", "\"\\u0001\\u001b\\u001f\\u007f\"");
    check_spelling(text_json, "\xc2\x80\xc2\x9b", "\"\\u0080\\u009b\"");
}

static void json_keeps_unicode(void)
{
    check_spelling(text_json, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x88",
                   "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x88\"");
    check_spelling(text_json, "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf",
                   "\"\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf\"");
}

/* One replacement for each byte that belongs to no valid sequence. */
static void json_replaces_bytes(void)
{
    check_spelling(text_json, "caf\xe9.png", "\"caf\\ufffd.png\"");
    check_spelling(text_json, "\x80\xbf\xff\xfe", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xc3", "\"\\ufffd\"");
    check_spelling(text_json, "\xe2\x82", "\"\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xf0\x9f\x90", "\"\\ufffd\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xc3\"", "\"\\ufffd\\\"\"");
    check_spelling(text_json, "\xe2\x82\xc3\xa9", "\"\\ufffd\\ufffd\xc3\xa9\"");
    /* Overlong, surrogate, beyond U+10FFFF. */
    check_spelling(text_json, "\xc0\xaf", "\"\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    check_spelling(text_json, "\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void csv_quotes(void)
{
    check_spelling(text_csv, "plain name.png", "plain name.png");
    check_spelling(text_csv, "a,b", "\"a,b\"");
    check_spelling(text_csv, "a\"b\"", "\"a\"\"b\"\"\"");
    check_spelling(text_csv, "a\nb", "\"a\nb\"");
    check_spelling(text_csv, "a\rb", "\"a\rb\"");
    check_spelling(text_csv, "caf\xe9\t", "caf\xe9\t");
    check_spelling(text_csv, "\x1b[m\x7f\xc2\x9b\x9b\xc5\x9b", "\\x1b[m\\x7f\\xc2\\x9b\\x9b\xc5\x9b");
}

static void csv_holds_no_formula(void)
{
    check_spelling(text_csv, "=1+1", "./=1+1");
    check_spelling(text_csv, "@a,b", "\"./@a,b\"");
    check_spelling(text_csv, "\t=1", "./\t=1");
    check_spelling(text_csv, "\n=1", "\"./\n=1\"");
    check_spelling(text_csv, "-a", "./-a");
    check_spelling(text_csv, "-#12[2x3+4+5]", "-#12[2x3+4+5]");
    check_spelling(text_csv, "\uff1d1+1", "./\uff1d1+1");
    check_spelling(text_csv, "\uff20a", "./\uff20a");
    check_spelling(text_csv, "\uff211", "\uff211");
    check_spelling(text_csv, "a=1", "a=1");
}

static void line_stays_a_line(void)
{
    check_spelling(text_line, "a b\\c\"d\xe9", "a b\\c\"d\xe9");
    check_spelling(text_line, "\n\r\t\x1b\x7f", "\\n\\r\\t\\x1b\\x7f");
    check_spelling(text_line, "\xc2\x9b\xc2\xa0\x9b\xa0\xc5\x9b", "\\xc2\\x9b\xc2\xa0\\x9b\xa0\xc5\x9b");
}

static void check_score(double score, const char *expected)
{
    char text[TEXT_SCORE_SIZE];
    text_score(text, false, score);
    CHECK_STR(text, expected);
}

static void scores_are_short(void)
{
    check_score(1, "1");
    check_score(-1, "-1");
    check_score(0, "0");
    check_score(0.5, "0.5");
    check_score((double)0.997312F, "0.997312");
    check_score((double)0.1F, "0.1");
    check_score((double)nextafterf(1, 0), "0.99999994");
    check_score((double)nextafterf(0.1F, 1), "0.10000001");
}

static void check_label(bool integer, double score, const char *expected)
{
    char text[TEXT_SCORE_SIZE];
    text_label(text, integer, score);
    CHECK_STR(text, expected);
}

/* And what is not a copy does not look like one. */
static void labels_have_four_digits(void)
{
    check_label(false, 1, "1.0000");
    check_label(false, (double)nextafterf(1, 0), "0.9999");
    check_label(false, -0.99996, "-0.9999");
    check_label(false, -1, "-1.0000");
    check_label(false, 0.9919919, "0.9920");
    check_label(false, -0.00001, "0.0000");
    check_label(false, 0, "0.0000");
    check_label(false, 1.23456, "1.235");
    check_label(false, 9.99962, "10.00");
    check_label(false, -12.3456, "-12.35");
    check_label(false, 999.96, "1000");
    check_label(false, 9999.4, "9999");
    check_label(false, 9999.6, "1.000e4");
    check_label(false, -1.23456e20, "-1.235e20");
    check_label(true, 0, "0");
    check_label(true, 9999, "9999");
    check_label(true, 10000, "1.000e4");
    check_label(true, -182089456, "-1.821e8");
}

static void scores_read_back(void)
{
    for (int64_t i = check_cases(200000); i > 0; i--) {
        char text[TEXT_SCORE_SIZE];
        const uint32_t bits = (uint32_t)check_random();
        float score;
        memcpy(&score, &bits, sizeof score);
        if (!isfinite(score))
            continue;
        text_score(text, false, (double)score);
        const float back = strtof(text, NULL);
        CHECK(memcmp(&back, &score, sizeof score) == 0);
    }
}

static void integers_are_whole(void)
{
    char text[TEXT_SCORE_SIZE];
    text_score(text, true, 9007199254740991.0);
    CHECK_STR(text, "9007199254740991");
    text_score(text, true, 0);
    CHECK_STR(text, "0");
}

static void verify_counts_bits(void)
{
    float scores[] = {1, 0, -0.5F, 0.25F}, truth[] = {1, 0, -0.5F, 0.25F};
    const score_map map = {TM_METRIC_LCC, false, 2, 2, scores}, other = {TM_METRIC_LCC, false, 2, 2, truth};

    verification v = score_map_compare(&map, &other);
    v.same_peak = true;
    CHECK_EQ(v.positions, 4);
    CHECK_EQ(v.differing, 0);
    CHECK(v.max_abs_error == 0 && v.relative_l1_error == 0);
    CHECK(verification_passed(&v));
    v.same_peak = false;
    CHECK(!verification_passed(&v));

    scores[1] = -0.0F;
    scores[3] = 0.75F;
    v = score_map_compare(&map, &other);
    v.same_peak = true;
    CHECK_EQ(v.differing, 2);
    CHECK(v.max_abs_error == 0.5);
    CHECK(v.relative_l1_error == 0.5 / 1.75);
    CHECK(!verification_passed(&v));

    scores[0] = NAN;
    v = score_map_compare(&map, &other);
    CHECK_EQ(v.differing, 3);
    CHECK(isnan(v.max_abs_error) && isnan(v.relative_l1_error));
}

static void verify_counts_integers(void)
{
    int64_t scores[] = {5, 7, 0}, truth[] = {5, 5, 0};
    const score_map map = {TM_METRIC_CCORR, true, 3, 1, scores}, other = {TM_METRIC_CCORR, true, 3, 1, truth};
    const verification v = score_map_compare(&map, &other);
    CHECK_EQ(v.differing, 1);
    CHECK(v.max_abs_error == 2 && v.relative_l1_error == 0.2);
}

static void json_has_no_nan(void)
{
    const verification v = {.positions = 9, .differing = 1, .max_abs_error = NAN,
                            .relative_l1_error = INFINITY};
    const cli_options options = {.format = CLI_JSON};
    const cli_result result = {.frame = "f", .tmpl = "t", .frame_width = 4, .frame_height = 3,
                               .template_width = 2, .template_height = 1, .algorithm = "direct",
                               .search = "certified", .scored = 1.0 / 3,
                               .device = "cpu", .read_ms = 1.5, .times = {.total = 0.25},
                               .verified = true, .verification = v};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cli_report report;
    CHECK(out && report_begin(&report, &options, 1, false, out) && report_result(&report, &result));
    CHECK(fclose(out) == 0);
    CHECK_STR(text, "{\"frame\":\"f\",\"template\":\"t\",\"frame_size\":[4,3],"
                    "\"template_size\":[2,1],\"metric\":\"lcc\",\"matches\":[],"
                    "\"verify\":{\"positions\":9,\"differing\":1,\"max_abs_error\":null,"
                    "\"relative_l1_error\":null},\"algorithm\":\"direct\",\"search\":\"certified\",\"scored\":0.3333,\"device\":\"cpu\","
                    "\"time_ms\":{\"read\":1.500,\"match\":0.250}}\n");
    free(text);
}

/* The numbers that docs/choosing-a-threshold.md states. */
static void weak_is_as_documented(void)
{
    CHECK(weak_clear_score(1024) == 0.95 && weak_clear_score(1 << 20) == 0.95);
    CHECK(weak_clear_score(256) == 1 - 0.05 / 4 && weak_least_score(256) == 0.95);
    CHECK(weak_least_score(4096) == 0.8);
    CHECK(!weak_is(0.95, 0.95, 1024) && weak_is(0.95, 0.95, 1023));
    CHECK(weak_is(0.59, -1, 4096) && !weak_is(0.6, 0.3, 4096) && weak_is(0.6, 0.35, 4096));
    CHECK(!weak_is(0.71, 0.5, 4096) && weak_is(0.69, 0.5, 4096));
    CHECK(!weak_is(0.81, NAN, 4096) && weak_is(0.79, NAN, 4096) && weak_is(0.97, NAN, 64));
    CHECK(!weak_is(1, 1, 1) && !weak_is(1, 1, 4096) && weak_is(-1, -1, 4096));
    CHECK(!weak_needs_rest(0.59, 64) && weak_needs_rest(0.6, 64) && weak_needs_rest(0.99, 64));
    CHECK(!weak_needs_rest(0.95, 1024) && !weak_needs_rest(1, 1));
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(json_escapes),     TEST(json_keeps_unicode), TEST(json_replaces_bytes),
        TEST(csv_quotes), TEST(csv_holds_no_formula), TEST(line_stays_a_line),  TEST(scores_are_short),
        TEST(labels_have_four_digits), TEST(scores_read_back), TEST(integers_are_whole), TEST(verify_counts_bits),
        TEST(verify_counts_integers), TEST(json_has_no_nan), TEST(weak_is_as_documented),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
