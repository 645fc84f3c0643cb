/* SPDX-License-Identifier: MIT */
/* Searches whose matches are known, and the list that peaks are kept in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lcc/peaks.h"
#include "tmatch/tmatch.h"

/* A matcher on the CPU with one template, and a search as it is by default. */
static void open_on_cpu(tm_matcher **matcher, tm_template **tmpl, tm_search *search,
                        const tm_image *pattern)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    CHECK_EQ(tm_matcher_create(matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(tmpl, *matcher, pattern), TM_OK);
    tm_search_default(search, sizeof *search);
}

/* Cropping the frame must change no score (scikit-image issue 845), nor may sums over
 * a large bright frame move a match (OpenCV issue 21788). */
static void crops_of_a_large_frame(void)
{
    enum { SIDE = 1500, SMALL = 90 };
    uint8_t *samples = malloc(SIDE * SIDE);
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_search search;
    tm_hits whole, part;

    CHECK(samples);
    for (int i = 0; i < SIDE * SIDE; i++)
        samples[i] = (uint8_t)(253 + check_random() % 3);
    const uint8_t *corner = samples + 1300 * SIDE + 1200;
    const tm_image frame = {.samples = samples, .width = SIDE, .height = SIDE, .stride = SIDE};
    const tm_image crop = {.samples = corner, .width = SMALL, .height = SMALL, .stride = SIDE};
    const tm_image pattern = {.samples = corner + 40 * SIDE + 50, .width = 12, .height = 12, .stride = SIDE};
    open_on_cpu(&matcher, &tmpl, &search, &pattern);
    const tm_template *one = tmpl;
    search.most = 20;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &whole, NULL), TM_OK);
    CHECK(whole.items[0].peak.x == 1250 && whole.items[0].peak.y == 1340);
    CHECK(whole.items[0].peak.score == 1);
    search.most = 1;
    CHECK_EQ(tm_match_peaks(matcher, &crop, &one, 1, &search, &part, NULL), TM_OK);
    CHECK(part.items[0].peak.x == 50 && part.items[0].peak.y == 40);
    CHECK(part.items[0].peak.score == 1);
    tm_hits_free(&part);
    /* every match of the whole frame, alone in a frame that is just as large as it */
    for (size_t i = 0; i < whole.count; i++) {
        const tm_peak *p = &whole.items[i].peak;
        const tm_image alone = {.samples = samples + p->y * SIDE + p->x, .width = 12, .height = 12,
                                .stride = SIDE};
        CHECK_EQ(tm_match_peaks(matcher, &alone, &one, 1, &search, &part, NULL), TM_OK);
        CHECK(part.count == 1 && part.items[0].peak.score == p->score);
        tm_hits_free(&part);
    }
    tm_hits_free(&whole);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    free(samples);
}

static int by_candidate(const void *a, const void *b)
{
    return tm_candidate_beats(*(const tm_candidate *)a, *(const tm_candidate *)b) ? -1 : 1;
}

/* The list against sorting everything, in any order of putting in. */
static void list_selects(void)
{
    for (int64_t i = check_cases(10000) / 10; i > 0; i--) {
        enum { MOST = 3000 };
        static tm_candidate all[MOST];
        const size_t count = (size_t)check_random_in(0, MOST);
        const int64_t values = check_random_in(1, 2000);
        const tm_peak_search search = {check_random() % 2 ? INT64_MIN : check_random_in(0, values),
                                       (size_t)check_random_in(1, 1000),
                                       check_random() % 2 ? 0 : (size_t)check_random_in(1, 1000)};
        tm_peak_list list;
        tm_peak_list_init(&list, &search);
        for (size_t k = 0; k < count; k++)
            all[k] = (tm_candidate){check_random_in(0, values), (int64_t)(k * 7919 % MOST)};
        for (size_t k = 0; k < count; k++) {
            if (all[k].value >= tm_peak_list_least(&list))
                tm_peak_list_add(&list, &all[k], 1);
        }
        CHECK(tm_peak_list_finish(&list));
        if (count)
            qsort(all, count, sizeof *all, by_candidate);
        size_t above = 0;
        while (above < count && all[above].value >= search.floor)
            above++;
        const size_t below = count - above;
        size_t expected = above > search.most ? search.most
                                              : above + (below < search.least ? below : search.least);
        CHECK_EQ(list.above.count, expected);
        CHECK(expected == 0 || memcmp(list.above.items, all, expected * sizeof *all) == 0);
        if (search.floor == INT64_MIN || search.least)
            CHECK_EQ(tm_peak_list_is_whole(&list), expected == count);
        tm_peak_list_free(&list);
    }
}

/* 10^6 peaks, all alike, and nothing or all of them suppressed. */
static void a_million_peaks(void)
{
    const int size = check_is_slow() ? 1025 : 2049; /* a slow build: a quarter of them */
    uint8_t *samples = malloc((size_t)(size * size));
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_search search;
    tm_hits hits;

    CHECK(samples);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            samples[y * size + x] = x % 2 && y % 2 ? 255 : 0;
    const tm_image frame = {.samples = samples, .width = size, .height = size, .stride = size};
    const tm_image crop = {.samples = samples + size + 1, .width = 2, .height = 2, .stride = size};
    open_on_cpu(&matcher, &tmpl, &search, &crop);
    const tm_template *one = tmpl;
    search.min_score = 1;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_OK);
    CHECK_EQ(hits.count, (size / 2) * (size / 2));
    CHECK_EQ(hits.cut_off, 0);
    tm_hits_free(&hits);
    search.peaks = 1000;
    search.overlap = 1;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_OK);
    CHECK_EQ(hits.count, 1000);
    CHECK_EQ(hits.cut_off, 1);
    const int in_row = size / 2;
    CHECK(hits.items[999].peak.x == 2 * (999 % in_row) + 1 && hits.items[999].peak.y == 2 * (999 / in_row) + 1);
    tm_hits_free(&hits);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    free(samples);
}

static void refuses(void)
{
    uint8_t samples[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const tm_image frame = {.samples = samples, .width = 3, .height = 3, .stride = 3};
    const tm_image crop = {.samples = samples, .width = 2, .height = 2, .stride = 3};
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_search search;
    tm_hits hits;

    open_on_cpu(&matcher, &tmpl, &search, &crop);
    const tm_template *one = tmpl;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, NULL, &hits, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, NULL, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 0, &search, &hits, NULL), TM_ERR_INVALID);
    search.overlap = 1.5;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_ERR_INVALID);
    CHECK_STR(tm_matcher_message(matcher), "an overlap is from 0 to 1");
    search.overlap = NAN;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_ERR_INVALID);
    tm_search_default(&search, sizeof search);
    search.most = -1;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_ERR_INVALID);
    tm_search_default(&search, sizeof search);
    search.peaks = 0;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_ERR_INVALID);
    tm_hits_free(NULL);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

/* The list gets those of all windows that reach a floor, in any order, that are peaks of the map. */
static void list_takes_windows(void)
{
    enum { MOST = 12 };
    for (int64_t turn = check_cases(300); turn > 0; turn--) {
        const int64_t width = check_random_in(1, MOST), height = check_random_in(1, MOST),
                      first = check_random_in(0, height), end = check_random_in(first, height),
                      floor = check_random_in(0, 6);
        tm_candidate map[MOST * MOST], windows[MOST * MOST], peaks[MOST * MOST];
        size_t count = 0, wanted = 0;
        tm_peak_list list;

        for (int64_t i = 0; i < width * height; i++)
            map[i] = (tm_candidate){check_random_in(0, 6), i};
        for (int64_t i = 0; i < width * height; i++) {
            const int64_t x = i % width, y = i / width;
            bool peak = map[i].value >= floor && y >= first && y < end;
            for (int64_t k = 0; k < width * height; k++)
                if (llabs(k % width - x) <= 1 && llabs(k / width - y) <= 1 && tm_candidate_beats(map[k], map[i]))
                    peak = false;
            if (peak)
                peaks[wanted++] = map[i];
            if (map[i].value < floor)
                continue;
            const size_t at = (size_t)check_random_in(0, (int64_t)count); /* shuffled */
            windows[count++] = windows[at];
            windows[at] = map[i];
        }
        tm_peak_list_init(&list, &(tm_peak_search){.floor = floor, .most = MOST * MOST});
        tm_peak_list_add_windows(&list, windows, count, width, first, end);
        CHECK_EQ((int64_t)list.above.count, (int64_t)wanted);
        for (size_t i = 0; i < wanted; i++)
            CHECK(list.above.items[i].position == peaks[i].position && list.above.items[i].value == peaks[i].value);
        tm_peak_list_free(&list);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(list_selects), TEST(list_takes_windows), TEST(refuses), TEST(crops_of_a_large_frame), TEST(a_million_peaks),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
