/* SPDX-License-Identifier: MIT */
/* Many templates of one size searched together, by a family's basis: each one's best match and peaks are those that
 * exhaustive search finds of it, bit for bit. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/estimate.h"
#include "each_cpu.h"
#include "lcc/cpu/together.h"
#include "match/certified_scenes.h"
#include "match/matcher.h"

enum { MOST = 48 };

typedef struct many {
    drawn frame, tmpls[MOST];
    tm_template *prepared[MOST];
    size_t count;
    tm_matcher *exhaustive;
} many;

static uint8_t *pixel(const drawn *d, int64_t x, int64_t y)
{
    return d->memory + (d->image.samples - d->memory) + y * d->image.stride + x;
}

/* The first picture with a square of another gray level, as a badge, and a little noise. */
static void vary(const drawn *d, const drawn *first, int64_t side)
{
    const int level = (int)check_random_in(0, 255);
    const int64_t x = check_random_in(0, d->image.width - side), y = check_random_in(0, d->image.height - side);
    for (int64_t i = 0; i < d->image.width * d->image.height; i++) {
        const int64_t u = i % d->image.width, v = i / d->image.width;
        const int sample = *pixel(first, u, v) + (int)check_random_in(-1, 1);
        const bool badge = u >= x && u < x + side && v >= y && v < y + side;
        *pixel(d, u, v) = (uint8_t)(badge ? level : sample < 0 ? 0 : sample > 255 ? 255 : sample);
    }
}

/* Puts the template into the frame. */
static void place(const drawn *frame, const drawn *t)
{
    const int64_t w = t->image.width, h = t->image.height, x = check_random_in(0, frame->image.width - w),
                  y = check_random_in(0, frame->image.height - h);
    for (int64_t i = 0; i < w * h; i++)
        *pixel(frame, x + i % w, y + i / w) = *pixel(t, i % w, i / w);
}

/* Variants of one picture, some of them equal, some in the frame once or more often; or noise. */
static void make(many *m, int64_t frame_side, int64_t side, bool alike)
{
    tm_settings settings;

    *m = (many){.frame = draw_smooth(frame_side + check_random_in(0, 9), frame_side), .count = (size_t)check_random_in(24, MOST)};
    const int64_t w = side, h = side + check_random_in(-3, 3), x = check_random_in(0, frame_side - w),
                  y = check_random_in(0, frame_side - h);
    for (size_t i = 0; i < m->count; i++) {
        m->tmpls[i] = cut_template(&m->frame, x, y, w, h);
        if (!alike)
            for (int64_t k = 0; k < w * h; k++)
                *pixel(&m->tmpls[i], k % w, k / w) = (uint8_t)check_random_in(0, 255);
        else if (i % 5)
            vary(&m->tmpls[i], &m->tmpls[0], side / 5);
    }
    for (int64_t i = check_random_in(0, 2 * MOST); i > 0; i--)
        place(&m->frame, &m->tmpls[(size_t)check_random_in(0, (int64_t)m->count - 1)]);
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.strategy = TM_STRATEGY_EXHAUSTIVE;
    settings.threads = 1;
    settings.domain = (tm_domain)check_random_in(0, 2);
    CHECK_EQ(tm_matcher_create(&m->exhaustive, &settings), TM_OK);
    for (size_t i = 0; i < m->count; i++)
        CHECK_EQ(tm_template_create(&m->prepared[i], m->exhaustive, &m->tmpls[i].image), TM_OK);
}

static void free_many(many *m)
{
    for (size_t i = 0; i < m->count; i++) {
        tm_template_destroy(&m->prepared[i]);
        drawn_free(&m->tmpls[i]);
    }
    tm_matcher_destroy(&m->exhaustive);
    drawn_free(&m->frame);
}

/* The jobs, which want peaks of this floor and above, or none where it is INT64_MAX. */
static void make_jobs(const many *m, tm_job *jobs, tm_peak_list *lists, int64_t floor)
{
    tm_job *of_matcher;

    CHECK_EQ(tm_matcher_prepare(m->exhaustive, &m->frame.image, (const tm_template *const *)m->prepared, m->count, NULL,
                                &of_matcher),
             TM_OK);
    memcpy(jobs, of_matcher, m->count * sizeof *jobs);
    for (size_t i = 0; i < m->count && floor != INT64_MAX; i++) {
        tm_peak_list_init(&lists[i], &(tm_peak_search){.floor = floor, .most = 1000000});
        jobs[i].peaks = &lists[i];
    }
}

static void search_together(const many *m, tm_cpu *cpu, tm_job *jobs, tm_template_family *family)
{
    const tm_cpu_conditions conditions = {.kernels = cpu->kernels.name, .threads = cpu->threads};
    tm_certified_plan plans[MOST];
    tm_candidate known[MOST];
    double never[MOST];
    tm_job *list[MOST];

    for (size_t i = 0; i < m->count; i++) {
        list[i] = &jobs[i];
        never[i] = 1e15;
        tm_cpu_certified_plan(&plans[i], &conditions, &jobs[i], NULL);
        CHECK(plans[i].by.level);
    }
    tm_together call = {.family = family,
                        .jobs = list,
                        .plans = plans,
                        .other_ns = never,
                        .count = (int)m->count,
                        .known = known,
                        .product_ns = 1};
    CHECK_EQ(tm_cpu_match_together(cpu, &call), TM_OK);
    CHECK(call.basis > 0);
}

static void compare(const many *m, const tm_job *a, const tm_job *b, tm_peak_list *found, tm_peak_list *right)
{
    for (size_t i = 0; i < m->count; i++) {
        CHECK(!a[i].declined);
        if (a[i].best.value != b[i].best.value || a[i].best.position != b[i].best.position)
            check_fail(__FILE__, __LINE__, "template %zu of %zu: best %" PRId64 " at %" PRId64 ", expected %" PRId64 " at %" PRId64,
                       i, m->count, a[i].best.value, a[i].best.position, b[i].best.value, b[i].best.position);
        if (!a[i].peaks)
            continue;
        CHECK(tm_peak_list_finish(&found[i]) && tm_peak_list_finish(&right[i]));
        CHECK_EQ(found[i].above.count, right[i].above.count);
        for (size_t k = 0; k < found[i].above.count; k++) {
            CHECK_EQ(found[i].above.items[k].value, right[i].above.items[k].value);
            CHECK_EQ(found[i].above.items[k].position, right[i].above.items[k].position);
        }
        tm_peak_list_free(&found[i]);
        tm_peak_list_free(&right[i]);
    }
}

/* A set by each of three threads and one, for the best matches and for peaks; the large frames have a first guess. */
static void compare_some(tm_cpu *cpu, bool large)
{
    const bool peaks = check_random() % 2;
    const int64_t floor = peaks ? tm_score_order((float)check_random_in(300, 1000) / 1000) : INT64_MAX;
    tm_job jobs[2][MOST];
    tm_peak_list lists[2][MOST];
    tm_template_family family = {.made = 0};
    tm_job *list[MOST];
    many m;

    make(&m, large ? 240 : check_random_in(30, 90), large ? 16 : check_random_in(12, 24), true);
    for (int i = 0; i < 2; i++)
        make_jobs(&m, jobs[i], lists[i], floor);
    for (size_t i = 0; i < m.count; i++)
        list[i] = &jobs[0][i];
    CHECK_EQ(tm_template_family_begin(&family, list, m.count), TM_OK);
    CHECK(tm_template_family_is_of(&family, list, m.count));
    CHECK(!tm_template_family_is_of(&family, list, m.count - 1));
    search_together(&m, cpu, jobs[0], &family);
    CHECK_EQ(tm_matcher_run(m.exhaustive, jobs[1], m.count), TM_OK);
    compare(&m, jobs[0], jobs[1], lists[0], lists[1]);
    tm_template_family_free(&family);
    free_many(&m);
}

static void random_cases(uint32_t features)
{
    const int64_t cases = check_is_slow() ? 3 : check_cases(8); /* in a slow build with three threads, and with one */

    for (int64_t i = 0; i < cases; i++) {
        tm_cpu cpu = {.threads = 0};
        CHECK_EQ(tm_cpu_init(&cpu, i % 3 ? 1 : 3, features), TM_OK);
        compare_some(&cpu, i % 6 == 0);
        tm_cpu_free(&cpu);
    }
    printf("# %" PRId64 " cases, 0 differ\n", cases);
}

/* Templates that have nothing in common get no basis. */
static void no_basis_of_noise(void)
{
    tm_template_family family;
    const tm_family *basis;
    tm_job jobs[MOST], *list[MOST];
    many m;

    make(&m, 60, 16, false);
    make_jobs(&m, jobs, NULL, INT64_MAX);
    for (size_t i = 0; i < m.count; i++)
        list[i] = &jobs[i];
    CHECK_EQ(tm_template_family_begin(&family, list, m.count), TM_OK);
    CHECK_EQ(tm_template_family_basis(&family, 0, &basis), TM_OK);
    CHECK(!basis);
    tm_template_family_free(&family);
    free_many(&m);
}

/* The automatic choice takes a family where it pays, which is so in about six of ten scenes, and says so; by an API call,
 * beside exhaustive search. */
static void chooses(void)
{
    tm_hits hits[MOST], right[MOST];
    bool together = false;
    tm_matcher *matcher;
    tm_settings settings;
    tm_search search;

    require_features("avx2");
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.threads = 1;
    settings.cpu_features = TM_CPU_SSE41 | TM_CPU_AVX2;
    tm_search_default(&search, sizeof search);
    search.most = 0;
    search.min_score = 0.8;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    for (int k = 0; k < 24 && !together; k++) {
        many m;
        do
            make(&m, 360, 32, true);
        while (m.count < 40 && (free_many(&m), true));
        const tm_template *const *tmpls = (const tm_template *const *)m.prepared;
        settings.domain = TM_DOMAIN_VALID;
        tm_matcher_destroy(&m.exhaustive);
        settings.strategy = TM_STRATEGY_EXHAUSTIVE;
        CHECK_EQ(tm_matcher_create(&m.exhaustive, &settings), TM_OK);
        for (int frames = 0; frames < 3; frames++) {
            CHECK_EQ(tm_match_peaks(matcher, &m.frame.image, tmpls, m.count, &search, hits, NULL), TM_OK);
            together |= strstr(tm_matcher_plan(matcher), "together") != NULL;
            if (frames < 2)
                for (size_t i = 0; i < m.count; i++)
                    tm_hits_free(&hits[i]);
        }
        CHECK_EQ(tm_match_peaks(m.exhaustive, &m.frame.image, tmpls, m.count, &search, right, NULL), TM_OK);
        for (size_t i = 0; i < m.count; i++) {
            CHECK_EQ(hits[i].count, right[i].count);
            CHECK(memcmp(&hits[i].best, &right[i].best, sizeof hits[i].best) == 0);
            for (size_t n = 0; n < hits[i].count; n++)
                CHECK(memcmp(&hits[i].items[n].peak, &right[i].items[n].peak, sizeof(tm_peak)) == 0);
            tm_hits_free(&hits[i]);
            tm_hits_free(&right[i]);
        }
        free_many(&m);
    }
    tm_matcher_destroy(&matcher);
    CHECK(together);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, random_cases)
DEFINE_CPU_TESTS

int main(int argc, char **argv)
{
    static const check_test tests[] = {CPU_TESTS TEST(no_basis_of_noise), TEST(chooses)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
