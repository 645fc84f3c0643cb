/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "io/plot.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t *at(const io_picture *picture, int64_t x, int64_t y)
{
    return picture->samples + (y * picture->width + x) * 3;
}

static io_picture heatmap(const io_heatmap *map)
{
    char path[] = "/tmp/tmatch-test-XXXXXX.png";
    io_picture picture;
    io_source source;
    io_error error;
    const io_limits limits = {1 << 28};
    const int file = mkstemps(path, 4);
    CHECK(file >= 0);
    close(file);
    if (!io_write_heatmap(path, map, &error) || !io_source_open(&source, path, &error) ||
        !io_decode(&source, IO_RGB, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    io_source_close(&source);
    unlink(path);
    return picture;
}

static bool has_color(const io_picture *picture, int64_t x, int64_t y, int r, int g, int b)
{
    const uint8_t *p = at(picture, x, y);
    return p[0] == r && p[1] == g && p[2] == b;
}

/* Where the scale begins: from the right, the first that is not as thin as a letter's line. */
static int64_t find_scale(const io_picture *picture)
{
    int64_t x = picture->width, run = 0;
    while (x > 0 && (run < 15 || !has_color(picture, x - 1, picture->height / 3, 16, 16, 20)))
        run = has_color(picture, --x, picture->height / 3, 16, 16, 20) ? 0 : run + 1;
    return x;
}

/* Around all pixels of that colour, left of the scale. */
static io_rect find_color(const io_picture *picture, int r, int g, int b)
{
    const int64_t right = find_scale(picture);
    io_rect found = {INT64_MAX, INT64_MAX, 0, 0};
    for (int64_t y = 0; y < picture->height; y++)
        for (int64_t x = 0; x < right; x++)
            if (has_color(picture, x, y, r, g, b))
                found = (io_rect){smaller(found.x0, x), smaller(found.y0, y),
                                  larger(found.x1, x + 1), larger(found.y1, y + 1)};
    return found;
}

static int64_t count_color(const io_picture *picture, int r, int g, int b)
{
    int64_t count = 0;
    for (int64_t y = 0; y < picture->height; y++)
        for (int64_t x = 0; x < picture->width; x++)
            count += has_color(picture, x, y, r, g, b);
    return count;
}

static void check_rect(io_rect r, int64_t x, int64_t y, int64_t w, int64_t h)
{
    CHECK_EQ(r.x0, x);
    CHECK_EQ(r.y0, y);
    CHECK_EQ(r.x1 - r.x0, w);
    CHECK_EQ(r.y1 - r.y0, h);
}

/* The ends of viridis, and gray where there is no score. */
static void heatmap_has_the_ends_of_the_scale(void)
{
    const float values[] = {-0.5f, 0.25f, 1.0f, -FLT_MAX};
    const int64_t sums[] = {7, 9, 12, INT64_MAX};
    io_heatmap map = {.width = 2, .height = 2, .values = values};
    io_picture picture = heatmap(&map);
    const io_rect worst = find_color(&picture, 68, 1, 84);
    check_rect(worst, worst.x0, worst.y0, 240, 240);
    check_rect(find_color(&picture, 253, 231, 37), worst.x0, worst.y0 + 240, 240, 240);
    check_rect(find_color(&picture, 128, 128, 128), worst.x0 + 240, worst.y0 + 240, 240, 240);
    io_picture_free(&picture);
    /* a distance: the least is the best */
    map.values = sums;
    map.integers = map.least_is_best = true;
    picture = heatmap(&map);
    check_rect(find_color(&picture, 253, 231, 37), worst.x0, worst.y0, 240, 240);
    check_rect(find_color(&picture, 68, 1, 84), worst.x0, worst.y0 + 240, 240, 240);
    check_rect(find_color(&picture, 128, 128, 128), worst.x0 + 240, worst.y0 + 240, 240, 240);
    const io_heat range = io_heatmap_range(&map);
    CHECK(range.best == 7 && range.worst == 12 && range.gaps && range.x == 0 && range.y == 0);
    io_picture_free(&picture);
}

/* All scores are the best one, or there is none. */
static void flat_heatmap_is_of_one_color(void)
{
    const float values[] = {1, 1}, none[] = {-FLT_MAX, -FLT_MAX};
    io_heatmap map = {.width = 2, .height = 1, .values = values};
    io_picture picture = heatmap(&map);
    const io_rect best = find_color(&picture, 253, 231, 37);
    check_rect(best, best.x0, best.y0, 480, 240);
    io_picture_free(&picture);
    map.values = none;
    picture = heatmap(&map);
    CHECK(count_color(&picture, 128, 128, 128) >= 480 * 240);
    CHECK_EQ(count_color(&picture, 253, 231, 37), 0);
    CHECK(isnan(io_heatmap_range(&map).best));
    io_picture_free(&picture);
}

/* Where scores are equal the uppermost is taken, then the leftmost, in the frame's coordinates. */
static void best_is_the_first(void)
{
    const float values[] = {0, 0, 0.5f, 0, 0.5f, 0.5f};
    const io_heatmap map = {.x = 100, .y = -7, .width = 3, .height = 2, .values = values};
    const io_heat range = io_heatmap_range(&map);
    CHECK(range.best == 0.5 && range.worst == 0 && range.x == 102 && range.y == -7 && !range.gaps);
}

/* Every letter is drawn, however long it is. */
static void heatmap_has_room_for_its_caption(void)
{
    const float values[] = {0, 1};
    char text[2][1000];
    memset(text, 'm', sizeof text);
    for (int i = 70; i < 900; i += 7) /* the first word is wider than the line */
        text[0][i] = text[1][i] = ' ';
    text[0][998] = 'n';
    text[0][999] = text[1][999] = '\0';
    const char *const captions[2][2] = {{"lcc", text[0]}, {"lcc", text[1]}};
    io_heatmap map = {
        .width = 2, .height = 1, .values = values, .caption = captions[0], .paragraphs = 2};
    io_picture one = heatmap(&map);
    map.caption = captions[1];
    io_picture other = heatmap(&map);
    CHECK_EQ(one.width, other.width);
    CHECK_EQ(one.height, other.height);
    CHECK(one.height > 600);
    CHECK(memcmp(one.samples, other.samples, io_picture_bytes(&one)) != 0);
    io_picture_free(&one);
    io_picture_free(&other);
}

/* One good position among millions is still there. */
static void large_heatmap_keeps_the_peak(void)
{
    io_heatmap map = {.width = 6100, .height = 37};
    float *values = calloc((size_t)(map.width * map.height), sizeof *values);
    CHECK(values);
    values[20 * map.width + 4321] = 1;
    map.values = values;
    CHECK_EQ(io_heatmap_reduction(&map), 4);
    io_picture picture = heatmap(&map);
    CHECK(picture.width >= 1525 && picture.width < 2000);
    const io_rect least = find_color(&picture, 68, 1, 84);
    check_rect(find_color(&picture, 253, 231, 37), least.x0 + 4321 / 4, least.y0 + 20 / 4, 1, 1);
    io_picture_free(&picture);
    free(values);
}

/* In a corner as in the middle. */
static void markers_are_whole(void)
{
    static float values[100 * 100];
    values[0] = -1;
    values[1] = 1;
    int64_t white = 0;
    for (int i = 0; i < 5; i++) {
        const int64_t x = i == 0 ? 50 : i % 2 ? 0 : 99, y = i == 0 ? 60 : i < 3 ? 0 : 99;
        const io_box mark = {.x = x - 30, .y = y + 500, .w = 1, .h = 1, .color = 9};
        const io_heatmap map = {.x = -30,
                                .y = 500,
                                .width = 100,
                                .height = 100,
                                .values = values,
                                .marks = &mark,
                                .mark_count = 1};
        io_picture picture = heatmap(&map);
        const int64_t count = count_color(&picture, 235, 235, 235);
        white = i == 0 ? count : white;
        CHECK(count > 30);
        CHECK_EQ(count, white);
        io_picture_free(&picture);
    }
}

/* The scores lie where they belong, and the rest of the frame is gray. */
static void overlay_has_the_size_of_the_frame(void)
{
    static uint8_t samples[600 * 500];
    static float values[101 * 61];
    const io_picture frame = {.width = 600, .height = 500, .channels = 1, .samples = samples};
    const io_heatmap map = {
        .x = 250, .y = 130, .width = 101, .height = 61, .values = values, .under = &frame};
    memset(samples, 150, sizeof samples);
    values[0] = -1;
    values[30 * 101 + 70] = 1;
    io_picture picture = heatmap(&map);
    const io_rect whole = find_color(&picture, 100, 100, 100);
    check_rect(whole, whole.x0, whole.y0, 600, 500);
    check_rect(find_color(&picture, 253, 231, 37), whole.x0 + 250 + 70, whole.y0 + 130 + 30, 1, 1);
    for (int64_t y = 0; y < 500; y++)
        for (int64_t x = 0; x < 600; x++) {
            const bool scored = x >= 250 && x < 351 && y >= 130 && y < 191;
            CHECK(has_color(&picture, whole.x0 + x, whole.y0 + y, 100, 100, 100) != scored);
        }
    io_picture_free(&picture);
}

/* Scores beside the frame, as --domain full has them, are left out; of a large frame a
 * pixel shows the best of several. */
static void overlay_is_cut_and_reduced(void)
{
    io_picture frame = {.width = 4100, .height = 30, .channels = 1};
    frame.samples = calloc((size_t)(frame.width * frame.height), 1);
    io_heatmap map = {.x = -20, .y = -10, .width = 4140, .height = 50, .under = &frame};
    float *values = calloc((size_t)(map.width * map.height), sizeof *values);
    CHECK(frame.samples && values);
    values[0] = -1; /* beside the frame */
    values[(10 + 17) * map.width + 20 + 3001] = 1;
    map.values = values;
    CHECK_EQ(io_heatmap_reduction(&map), 3);
    io_picture picture = heatmap(&map);
    const io_rect peak = find_color(&picture, 253, 231, 37);
    check_rect(peak, peak.x0, peak.y0, 1, 1);
    /* the frame's left edge is where the peak's distance says */
    CHECK(has_color(&picture, peak.x0 - 1000 - 1, peak.y0, 16, 16, 20));
    CHECK(!has_color(&picture, peak.x0 - 1000, peak.y0, 16, 16, 20));
    io_picture_free(&picture);
    free(values);
    free(frame.samples);
}

static void check_ticks(double low, double high, int most, int64_t count, const char *first,
                        const char *last)
{
    char text[IO_TICK_SIZE];
    const io_ticks t = io_ticks_between(low, high, most);
    CHECK_EQ(t.count, count);
    io_tick_text(text, &t, 0);
    CHECK(strcmp(text, first) == 0);
    io_tick_text(text, &t, count - 1);
    CHECK(strcmp(text, last) == 0);
}

static void ticks_are_round(void)
{
    check_ticks(-0.277, 0.992, 8, 6, "-0.2", "0.8");
    check_ticks(0, 1, 8, 6, "0.0", "1.0");
    check_ticks(-1, 1, 6, 5, "-1.0", "1.0");
    check_ticks(0.1, 0.3, 4, 3, "0.1", "0.3");
    check_ticks(0, 428, 10, 9, "0", "400");
    check_ticks(-83, 511, 10, 6, "0", "500");
    check_ticks(0, 3.1e9, 5, 4, "0", "3e9");
    check_ticks(1.2e9, 3.1e9, 5, 4, "1.5e9", "3e9");
    check_ticks(-2.5e-9, 1e-9, 5, 4, "-2e-9", "1e-9");
    CHECK_EQ(io_ticks_between(1, 1, 5).count, 0);
    CHECK_EQ(io_ticks_between(NAN, 1, 5).count, 0);
    CHECK_EQ(io_ticks_between(-INFINITY, 1, 5).count, 0);
    CHECK_EQ(io_ticks_between(1e18, nextafter(1e18, 2e18), 5).count, 0);
}

/* 1, 2 or 5; inside; as many as may be, but for a coarser step's. */
static void ticks_of_any_range(void)
{
    for (int64_t i = check_cases(20000); i > 0; i--) {
        const double size = pow(10, (double)check_random_in(-12, 15));
        const double low = (double)check_random_in(-100000, 100000) * size;
        const double high = low + (double)check_random_in(1, 100000) * size;
        const int most = (int)check_random_in(2, 12);
        const io_ticks t = io_ticks_between(low, high, most);
        const double step = t.mantissa * pow(10, t.exponent), slack = 1e-6 * step;
        CHECK(t.mantissa == 1 || t.mantissa == 2 || t.mantissa == 5);
        CHECK(t.count >= 1 ? t.count <= most : step > high - low);
        for (int64_t k = 0; k < t.count; k++) {
            char text[IO_TICK_SIZE];
            const double tick = io_tick(&t, k);
            io_tick_text(text, &t, k);
            CHECK(tick >= low - slack && tick <= high + slack);
            CHECK(fabs(strtod(text, NULL) - tick) <= slack);
            CHECK(strlen(text) <= 14);
        }
        if (t.count)
            CHECK(io_tick(&t, 0) - step < low + slack &&
                  io_tick(&t, t.count - 1) + step > high - slack);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(heatmap_has_the_ends_of_the_scale),
        TEST(flat_heatmap_is_of_one_color),
        TEST(best_is_the_first),
        TEST(heatmap_has_room_for_its_caption),
        TEST(large_heatmap_keeps_the_peak),
        TEST(markers_are_whole),
        TEST(overlay_has_the_size_of_the_frame),
        TEST(overlay_is_cut_and_reduced),
        TEST(ticks_are_round),
        TEST(ticks_of_any_range),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
