/* SPDX-License-Identifier: MIT */
/* Several matches, margins and sub-pixel places on every backend against brute force. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "peaks_oracle.h"

static tm_search draw_search(const truth *t)
{
    static const double overlaps[] = {0, 0.3, 0.5, 0.9, 1};
    tm_search s;

    tm_search_default(&s, sizeof s);
    s.most = check_random() % 2 ? 0 : check_random_in(1, 8);
    if (t->count && check_random() % 2)
        s.min_score = t->sign * t->peaks[check_random() % t->count].peak.score;
    if (check_random() % 8 == 0)
        s.min_score = t->sign * 2;
    s.overlap = overlaps[check_random() % 5];
    if (check_random() % 3 == 0)
        s.peaks = check_random_in(1, 40);
    s.margin = check_random() % 2;
    s.subpixel = check_random() % 4 == 0;
    return s;
}

static void compare(const truth *t, const tm_search *s, const tm_hit *expected, size_t count,
                    bool cut_off, const tm_hits *hits, const scene *p)
{
    char text[300];

    snprintf(text, sizeof text, "%s, metric %d, domain %d; -n %lld, %g, overlap %g, peaks %lld%s",
             p->text, (int)p->metric, (int)p->domain, (long long)s->most, s->min_score, s->overlap, (long long)s->peaks,
             s->margin ? ", margin" : "");
    if (hits->count != count || !hits->cut_off != !cut_off)
        check_fail(__FILE__, __LINE__, "%s: %zu matches, cut off %d, expected %zu, %d", text,
                   hits->count, hits->cut_off, count, (int)cut_off);
    const tm_peak *best = &t->peaks[0].peak;
    if (hits->best.x + t->pad_x != best->x || hits->best.y + t->pad_y != best->y ||
        hits->best.score != t->sign * best->score)
        check_fail(__FILE__, __LINE__,
                   "%s: the best place is (%" PRId64 ", %" PRId64 ") %.9g, expected (%" PRId64
                   ", %" PRId64 ") %.9g",
                   text, hits->best.x + t->pad_x, hits->best.y + t->pad_y, hits->best.score,
                   best->x, best->y, t->sign * best->score);
    for (size_t i = 0; i < count; i++) {
        const tm_hit *a = &hits->items[i], *b = &expected[i];
        if (a->peak.x + t->pad_x != b->peak.x || a->peak.y + t->pad_y != b->peak.y ||
            a->peak.score != t->sign * b->peak.score || !same_margin(a->margin, b->margin))
            check_fail(__FILE__, __LINE__,
                       "%s: match %zu is (%" PRId64 ", %" PRId64 ") %.9g, margin %.9g, "
                       "expected (%" PRId64 ", %" PRId64 ") %.9g, %.9g",
                       text, i, a->peak.x + t->pad_x, a->peak.y + t->pad_y, a->peak.score,
                       a->margin, b->peak.x, b->peak.y, t->sign * b->peak.score, b->margin);
        if (s->subpixel)
            check_subpixel(t, p->metric, b, a, text);
        else
            CHECK(a->dx == 0 && a->dy == 0);
    }
}

/* Some searches of one scene; one of them with the map as well. */
static void compare_scene(scene_matchers *m, const scene *p)
{
    tm_matcher *tested = scene_matcher(m, p);
    tm_template *tmpl = NULL;
    truth t;

    if (!truth_make(&t, p)) {
        truth_free(&t);
        return;
    }
    CHECK_EQ(tm_template_create(&tmpl, tested, &p->tmpl), TM_OK);
    const size_t element = tm_map_element_size(p->metric), size = (size_t)(t.width * t.height);
    tm_map map = {malloc(size * element), (ptrdiff_t)element * t.width};
    tm_hit *expected_hits = malloc((t.count + 1) * sizeof *expected_hits);
    CHECK(map.data && expected_hits);
    for (int i = 0; i < 4; i++) {
        const tm_search s = draw_search(&t);
        const tm_template *both[] = {tmpl, tmpl};
        const tm_map maps[2] = {map, {0}};
        tm_hits hits[2];
        const size_t count = i % 2 ? 2 : 1;
        bool cut_off;
        const size_t expected =
            truth_suppress(&t, &s, p->tmpl.width, p->tmpl.height, expected_hits, &cut_off);
        if (tm_match_peaks(tested, &p->frame, both, count, &s, hits, i < 2 ? maps : NULL) != TM_OK)
            check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(tested));
        for (size_t k = 0; k < count; k++) {
            compare(&t, &s, expected_hits, expected, cut_off, &hits[k], p);
            tm_hits_free(&hits[k]);
        }
    }
    for (size_t i = 0; i < size; i++)
        CHECK(t.map[i] == -INFINITY || t.map[i] == t.sign * map_element(&map, p->metric, i));
    free(expected_hits);
    free(map.data);
    truth_free(&t);
    tm_template_destroy(&tmpl);
}

static void compare_plain(scene_matchers *m, problem *p)
{
    const scene plain = {p->frame, p->tmpl, (tm_metric)(check_random() % 4 == 0),
                         (tm_domain)(check_random() % 3), p->text};
    compare_scene(m, &plain);
    problem_free(p);
}

static void random_cases(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    scene_matchers m = {.settings = settings_of(device, algorithm, threads)};
    const int64_t cases = check_cases(5000) / 10;
    problem p;

    for (int64_t i = 0; i < cases; i++) {
        problem_random(&p);
        compare_plain(&m, &p);
    }
    /* several tiles or blocks each way, which the oracle, slow in a slow build, has none of */
    const bool has_tiles = algorithm != TM_ALGORITHM_REFERENCE || !check_is_slow();
    for (int64_t i = 0; has_tiles && i < 1 + cases / 100; i++) {
        problem_make(&p, check_random_in(1100, 1300), check_random_in(300, 450),
                     check_random_in(2, 6), check_random_in(2, 6));
        compare_plain(&m, &p);
    }
    scene_matchers_free(&m);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

/* All metrics, masks, colour and 16 bits. */
static void random_kinds(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    scene_matchers m = {.settings = settings_of(device, algorithm, threads)};
    const int64_t cases = check_cases(5000) / 10;

    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        kind_random(&p, 2e5);
        const scene kind = {p.frame, p.tmpl, p.metric, p.domain, p.text};
        compare_scene(&m, &kind);
        kind_free(&p);
    }
    scene_matchers_free(&m);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

DEVICE_TEST(reference_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_REFERENCE, 1)
DEVICE_TEST(cpu_direct_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 3)
DEVICE_TEST(cpu_fft_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_FFT, 3)
DEVICE_TEST(reference_kinds, random_kinds, TM_DEVICE_CPU, TM_ALGORITHM_REFERENCE, 1)
DEVICE_TEST(cpu_kinds, random_kinds, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 3)
DEVICE_TEST(cpu_kinds_fft, random_kinds, TM_DEVICE_CPU, TM_ALGORITHM_FFT, 2)
DEVICE_TEST(cuda_fft, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 0)
DEVICE_TEST(cuda_kinds_fft, random_kinds, TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 0)
DEVICE_TEST(cuda_kinds, random_kinds, TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0)
DEVICE_TEST(cuda_random, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0)

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(reference_random), TEST(cpu_direct_random), TEST(cpu_fft_random),
        TEST(reference_kinds), TEST(cpu_kinds), TEST(cpu_kinds_fft), TEST(cuda_random),
        TEST(cuda_fft), TEST(cuda_kinds), TEST(cuda_kinds_fft),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
