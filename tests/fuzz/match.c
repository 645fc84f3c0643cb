/* SPDX-License-Identifier: MIT */
/* The library: small problems of all kinds of pictures, metrics, domains, algorithms, strategies and
 * instruction sets, bit for bit against the oracle, by map, best, peaks, several templates and rows,
 * also after memory ran out; floats within their bounds; and arguments that make no sense. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "check_fuzz.h"
#include "f32_problem.h"
#include "fuzz.h"
#include "kinds.h"
#include "lcc/metrics.h"
#include "peaks_oracle.h"

enum { MOST_TESTED = 48, PRODUCTS = 10000 };

/* Opening one takes longer than many matches. */
static tm_matcher *matcher_of(const tm_settings *settings)
{
    static struct {
        tm_settings settings;
        tm_matcher *matcher;
    } kept[MOST_TESTED];
    static int next;
    for (int i = 0; i < MOST_TESTED; i++)
        if (kept[i].matcher && memcmp(&kept[i].settings, settings, sizeof *settings) == 0)
            return kept[i].matcher;
    next = (next + 1) % MOST_TESTED;
    tm_matcher_destroy(&kept[next].matcher);
    kept[next].settings = *settings;
    if (tm_matcher_create(&kept[next].matcher, settings) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s", tm_matcher_message(kept[next].matcher));
    return kept[next].matcher;
}

static tm_settings draw_settings(tm_metric metric, tm_domain domain)
{
    static const char *const features[] = {"none", "sse4.1", "avx2", "avx512bw", "avxvnni", "all"};
    const unsigned drawn = (unsigned)check_random();
    tm_settings s;
    tm_settings_default(&s, sizeof s);
    s.device = TM_DEVICE_CPU;
    s.metric = metric;
    s.domain = domain;
    s.algorithm = drawn % 3 == 0 ? TM_ALGORITHM_AUTO : TM_ALGORITHM_DIRECT;
    if (drawn % 3 == 2)
        s.algorithm = TM_ALGORITHM_FFT;
    if (s.algorithm != TM_ALGORITHM_FFT)
        s.strategy = (tm_strategy)(drawn / 3 % 3);
    s.threads = drawn / 9 % 4 == 0 ? 2 : 1;
    if (tm_cpu_features_parse(features[check_random() % 6], &s.cpu_features) == TM_OK)
        s.cpu_features &= tm_cpu_features();
    return s;
}

static tm_search draw_search(const truth *t)
{
    static const double overlaps[] = {0, 0.3, 0.5, 0.9, 1};
    const unsigned drawn = (unsigned)check_random();
    tm_search s;
    tm_search_default(&s, sizeof s);
    s.most = drawn % 2 ? 0 : check_random_in(1, 8);
    if (drawn / 2 % 2)
        s.min_score = t->sign * t->peaks[check_random() % t->count].peak.score;
    s.overlap = overlaps[check_random() % 5];
    if (drawn / 4 % 2)
        s.peaks = check_random_in(1, 40);
    s.margin = drawn / 8 % 2;
    s.subpixel = drawn / 16 % 2;
    return s;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static void compare_peak(const truth *t, const tm_peak *got, const tm_peak *expected, const scene *p)
{
    if (got->x + t->pad_x != expected->x || got->y + t->pad_y != expected->y ||
        got->score != t->sign * expected->score)
        check_fail(__FILE__, __LINE__, "%s: (%lld, %lld) %.9g, expected (%lld, %lld) %.9g", p->text,
                   (long long)(got->x + t->pad_x), (long long)(got->y + t->pad_y), got->score,
                   (long long)expected->x, (long long)expected->y, t->sign * expected->score);
}

typedef struct tested {
    const scene *p;
    const truth *t;
    tm_matcher *matcher;
    const tm_template *tmpls[2]; /* the same twice */
    tm_map map;
} tested;

static void compare_best(const tested *c, bool map, size_t count)
{
    const tm_map maps[2] = {c->map, {0}};
    tm_peak best[2];
    const tm_status status =
        tm_match_many(c->matcher, &c->p->frame, c->tmpls, count, best, map ? maps : NULL);
    if (status != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", c->p->text, tm_matcher_message(c->matcher));
    for (size_t i = 0; i < count; i++)
        compare_peak(c->t, &best[i], &c->t->peaks[0].peak, c->p);
    for (int64_t i = 0; map && i < c->t->width * c->t->height; i++)
        CHECK(c->t->map[i] == -INFINITY || c->t->map[i] == c->t->sign * map_element(&c->map, c->p->metric, (size_t)i));
}

static void compare_hits(const tested *c, size_t count)
{
    const truth *t = c->t;
    const tm_search s = draw_search(t);
    tm_hit *expected = malloc((t->count + 1) * sizeof *expected);
    tm_hits hits[2];
    bool cut_off;
    CHECK(expected);
    const size_t number = truth_suppress(t, &s, c->p->tmpl.width, c->p->tmpl.height, expected, &cut_off);
    const tm_status status = tm_match_peaks(c->matcher, &c->p->frame, c->tmpls, count, &s, hits, NULL);
    if (status != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", c->p->text, tm_matcher_message(c->matcher));
    for (size_t k = 0; k < count; k++) {
        CHECK_EQ(hits[k].count, number);
        CHECK_EQ(!hits[k].cut_off, !cut_off);
        compare_peak(t, &hits[k].best, &t->peaks[0].peak, c->p);
        for (size_t i = 0; i < number; i++) {
            compare_peak(t, &hits[k].items[i].peak, &expected[i].peak, c->p);
            CHECK(same(hits[k].items[i].margin, expected[i].margin));
            if (s.subpixel)
                check_subpixel(t, c->p->metric, &expected[i], &hits[k].items[i], c->p->text);
        }
        tm_hits_free(&hits[k]);
    }
    free(expected);
}

static int read_rows(void *context, int64_t first, int64_t count, uint8_t *to, ptrdiff_t stride)
{
    const tm_image *frame = context;
    for (int64_t y = 0; y < count; y++)
        memcpy(to + y * stride, frame->samples + (first + y) * frame->stride, (size_t)frame->width);
    return 0;
}

static bool goes_by_rows(const scene *p)
{
    return p->frame.type == TM_SAMPLE_U8 && p->frame.channels <= 1 && !p->frame.mask && !p->tmpl.mask &&
           (p->metric == TM_METRIC_LCC || p->metric == TM_METRIC_CCORR);
}

static void compare_rows(const tested *c)
{
    tm_image frame = c->p->frame;
    tm_peak best;
    const tm_row_source source = {frame.width, frame.height, read_rows, &frame};
    const tm_status status = tm_match_rows(c->matcher, &source, c->tmpls, 1, &best, NULL);
    if (status != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: by rows: %s", c->p->text, tm_matcher_message(c->matcher));
    compare_peak(c->t, &best, &c->t->peaks[0].peak, c->p);
}

/* Memory runs out: a match says so, or does without, and the next one goes well. */
static void starve(const tested *c)
{
    tm_search search;
    tm_hits hits;
    tm_template *tmpl = NULL;
    tm_peak best;
    tm_search_default(&search, sizeof search);
    search.margin = 1;
    fuzz_fail_allocation((unsigned)check_random_in(1, 24), true);
    tm_status status = tm_template_create(&tmpl, c->matcher, &c->p->tmpl);
    if (status == TM_OK)
        status = tm_match_peaks(c->matcher, &c->p->frame, c->tmpls, 1, &search, &hits, NULL);
    if (status == TM_OK) {
        tm_hits_free(&hits);
        status = tm_match(c->matcher, &c->p->frame, tmpl, &best, &c->map);
    }
    const bool starved = fuzz_allocations_succeed();
    CHECK(status == TM_OK || (starved && (status == TM_ERR_MEMORY || status == TM_ERR_INVALID)));
    if (status == TM_OK)
        compare_peak(c->t, &best, &c->t->peaks[0].peak, c->p);
    tm_template_destroy(&tmpl);
}

static void compare_scene(const scene *p)
{
    const tm_settings settings = draw_settings(p->metric, p->domain);
    tm_template *tmpl = NULL;
    truth t;
    tested c = {.p = p, .t = &t, .matcher = matcher_of(&settings)};
    const unsigned way = (unsigned)check_random();

    if (truth_make(&t, p)) {
        const size_t element = tm_map_element_size(p->metric);
        CHECK_EQ(tm_template_create(&tmpl, c.matcher, &p->tmpl), TM_OK);
        c.map = (tm_map){malloc((size_t)(t.width * t.height) * element), (ptrdiff_t)element * t.width};
        CHECK(c.map.data);
        c.tmpls[0] = c.tmpls[1] = tmpl;
        if (way & 1 && settings.threads == 1)
            starve(&c);
        compare_best(&c, way & 2, way & 4 ? 2 : 1);
        if (way & 8)
            compare_hits(&c, way & 16 ? 2 : 1);
        if (way & 32 && goes_by_rows(p))
            compare_rows(&c);
        free(c.map.data);
    }
    tm_template_destroy(&tmpl);
    truth_free(&t);
}

/* 8-bit gray; wide enough for several vectors, small enough for the oracle. */
static void plain(void)
{
    const int64_t width = check_random_in(1, 140), height = check_random_in(1, 16);
    problem p;
    problem_make(&p, width, height, check_random_in(1, width < 12 ? width : 12),
                 check_random_in(1, height < 9 ? height : 9));
    const scene s = {p.frame, p.tmpl, check_random() % 4 ? TM_METRIC_LCC : TM_METRIC_CCORR,
                     (tm_domain)(check_random() % 4 % 3), p.text};
    compare_scene(&s);
    problem_free(&p);
}

static void kinds(void)
{
    kind_problem p;
    kind_random(&p, PRODUCTS);
    const scene s = {p.frame, p.tmpl, p.metric, p.domain, p.text};
    compare_scene(&s);
    kind_free(&p);
}

static void floats(void)
{
    const int64_t size[4] = {check_random_in(1, 24), check_random_in(1, 12), check_random_in(1, 12),
                             check_random_in(1, 12)};
    const tm_settings settings =
        draw_settings((tm_metric)(check_random() % TM_METRICS), (tm_domain)(check_random() % 3));
    tm_matcher *matcher = matcher_of(&settings);
    tm_template *tmpl = NULL;
    f32_problem p;
    int64_t width, height;
    tm_peak best;

    f32_problem_make(&p, size);
    CHECK_EQ(tm_map_size(settings.domain, p.frame.width, p.frame.height, p.tmpl.width, p.tmpl.height, &width, &height),
             TM_OK);
    float *map = malloc((size_t)(width * height) * sizeof *map);
    CHECK(map);
    if (tm_template_create(&tmpl, matcher, &p.tmpl) == TM_OK &&
        tm_match(matcher, &p.frame, tmpl, &best, &(tm_map){map, width * (ptrdiff_t)sizeof *map}) == TM_OK)
        f32_check_map(&p, &settings, map, &best, 7);
    free(map);
    tm_template_destroy(&tmpl);
    f32_problem_free(&p);
}

/* Fields that hold anything. What is accepted must lie in memory, so spans that do not are made small. */
static tm_image draw_image(uint8_t *memory, int64_t size)
{
    tm_image image = {.samples = memory + size / 2, .width = (int64_t)check_random() >> (check_random() % 64),
                      .height = (int64_t)check_random() >> (check_random() % 64),
                      .stride = (ptrdiff_t)((int64_t)check_random() >> (check_random() % 64)),
                      .type = (tm_sample_type)check_random_in(-1, 3), .channels = (int)check_random_in(-2, 6)};
    if (check_random() % 2) {
        image.mask = memory + size / 2;
        image.mask_stride = (ptrdiff_t)((int64_t)check_random() >> (check_random() % 64));
    }
    const int64_t half = size / 2;
    const __int128 stride = image.stride < 0 ? -(__int128)image.stride : image.stride;
    const __int128 mask = image.mask_stride < 0 ? -(__int128)image.mask_stride : image.mask_stride;
    if (image.height > 0 && ((__int128)image.height * stride > half || (__int128)image.height * mask > half))
        image.height = 1;
    if (image.width > half / 64)
        image.width = half / 64;
    if (image.height > 64)
        image.height = 64;
    return image;
}

static void arguments(void)
{
    enum { SIZE = 1 << 14 };
    tm_settings settings;
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    uint8_t *memory = malloc(SIZE);
    tm_peak best;
    int64_t width, height;

    CHECK(memory);
    for (int i = 0; i < SIZE; i++)
        memory[i] = (uint8_t)(i * i / 7);
    tm_settings_default(&settings, sizeof settings);
    settings.metric = (tm_metric)check_random_in(-1, 7);
    settings.domain = (tm_domain)check_random_in(-1, 4);
    settings.algorithm = (tm_algorithm)check_random_in(-1, 6);
    settings.strategy = (tm_strategy)check_random_in(-1, 4);
    settings.device = TM_DEVICE_CPU;
    settings.threads = (int)check_random_in(-2, 2);
    settings.cpu_features = (uint32_t)check_random();
    settings.host_memory = (int64_t)check_random() >> (check_random() % 64);
    settings.device_memory = (int64_t)check_random() >> (check_random() % 64);
    settings.size = check_random() % 4 ? sizeof settings : (size_t)check_random_in(0, sizeof settings);
    if (tm_matcher_create(&matcher, &settings) == TM_OK) {
        tm_image image = draw_image(memory, SIZE), frame = draw_image(memory, SIZE);
        tm_map_size(settings.domain, frame.width, frame.height, image.width, image.height, &width, &height);
        if (tm_template_create(&tmpl, matcher, &image) == TM_OK)
            tm_match(matcher, &frame, tmpl, &best, NULL);
    }
    CHECK(!matcher || tm_matcher_message(matcher));
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_fuzz_input(data, size);
    const unsigned kind = (unsigned)check_random() % 8;
    if (kind < 3)
        kinds();
    else if (kind < 6)
        plain();
    else if (kind < 7)
        floats();
    else
        arguments();
    return 0;
}
