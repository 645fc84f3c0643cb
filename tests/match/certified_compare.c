/* SPDX-License-Identifier: MIT */
#include "certified_compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static tm_matcher *opened(tm_matcher **slot, tm_settings settings, tm_domain domain)
{
    settings.domain = domain;
    if (!*slot && tm_matcher_create(slot, &settings) != TM_OK)
        check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(*slot));
    return *slot;
}

static tm_matcher *certified_of(certified_test *b, tm_domain domain, int64_t host_memory, tm_matcher **own)
{
    const int variant = (int)(check_random() % VARIANTS);
    tm_settings settings = b->settings;

    settings.strategy = TM_STRATEGY_CERTIFIED;
    settings.algorithm = check_random() % 2 ? TM_ALGORITHM_DIRECT : TM_ALGORITHM_AUTO;
    settings.host_memory = host_memory;
    if (settings.device == TM_DEVICE_CPU && !settings.threads)
        settings.threads = 1 + variant;
    if (settings.device == TM_DEVICE_CUDA)
        settings.device_mask = variant == 2 ? TM_ALL_DEVICES : 0;
    return opened(own ? own : &b->certified[domain][variant], settings, domain);
}

static tm_matcher *exhaustive_of(certified_test *b, tm_domain domain)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.strategy = TM_STRATEGY_EXHAUSTIVE;
    settings.threads = 1;
    return opened(&b->exhaustive[domain], settings, domain);
}

static tm_matcher *oracle_of(certified_test *b, tm_domain domain)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.algorithm = TM_ALGORITHM_REFERENCE;
    return opened(&b->oracle[domain], settings, domain);
}

void certified_test_close(certified_test *b)
{
    for (int d = 0; d < DOMAINS; d++) {
        for (int v = 0; v < VARIANTS; v++)
            tm_matcher_destroy(&b->certified[d][v]);
        tm_matcher_destroy(&b->exhaustive[d]);
        tm_matcher_destroy(&b->oracle[d]);
    }
}

/* A scene's templates, prepared for one matcher. */
typedef struct prepared {
    tm_matcher *matcher;
    tm_template *items[SCENE_TEMPLATES];
} prepared;

static prepared prepare(tm_matcher *matcher, const scene *s)
{
    prepared p = {.matcher = matcher};
    for (size_t i = 0; i < s->count; i++)
        CHECK_EQ(tm_template_create(&p.items[i], matcher, &s->tmpls[i].image), TM_OK);
    return p;
}

static void prepared_free(prepared *p)
{
    for (size_t i = 0; i < SCENE_TEMPLATES; i++)
        tm_template_destroy(&p->items[i]);
}

static const tm_template *const *templates(const prepared *p)
{
    return (const tm_template *const *)p->items;
}

static void succeeds(tm_status status, const prepared *p, const scene *s)
{
    if (status != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", s->text, tm_matcher_message(p->matcher));
    CHECK_STR(tm_matcher_warning(p->matcher), "");
}

static void compare_peak(const tm_peak *got, const tm_peak *expected, const scene *s, const char *what, size_t i)
{
    if (got->x != expected->x || got->y != expected->y || got->score != expected->score)
        check_fail(__FILE__, __LINE__, "%s: %s %zu: (%d, %d) %.9g, expected (%d, %d) %.9g", s->text, what, i,
                   (int)got->x, (int)got->y, got->score, (int)expected->x, (int)expected->y, expected->score);
}

void compare_share(tm_matcher *matcher, const char *text)
{
    const char *said = strstr(tm_matcher_plan(matcher), "certified (");
    char share[40];

    snprintf(share, sizeof share, "certified (%.3g %% of ", 100 * tm_matcher_scored(matcher));
    if (said && strncmp(said, share, strlen(share)) != 0)
        check_fail(__FILE__, __LINE__, "%s: a share of %g was scored, and the plan says: %s", text, tm_matcher_scored(matcher), said);
}

void count_certified(certified_test *b, tm_matcher *matcher, const char *text)
{
    const double scored = tm_matcher_scored(matcher);
    const bool certified = strcmp(tm_matcher_strategy(matcher), "certified") == 0;

    if (!certified)
        CHECK_STR(tm_matcher_strategy(matcher), "exhaustive");
    if (!(scored >= 0 && scored <= 1) || (!certified && scored != 1))
        check_fail(__FILE__, __LINE__, "%s: %s scored %g of all windows", text, tm_matcher_strategy(matcher),
                   scored);
    compare_share(matcher, text);
    b->cases++;
    b->certified_cases += certified;
    b->scored += scored;
}

/* Each template by itself or all in one call; the answer is also the oracle's. */
static void compare_best(certified_test *b, const scene *s, const prepared *tested, const prepared *expected)
{
    tm_peak best[SCENE_TEMPLATES], right[SCENE_TEMPLATES];

    succeeds(tm_match_many(expected->matcher, &s->frame.image, templates(expected), s->count, right, NULL),
             expected, s);
    if (check_random() % 2) {
        succeeds(tm_match_many(tested->matcher, &s->frame.image, templates(tested), s->count, best, NULL),
                 tested, s);
    } else {
        for (size_t i = 0; i < s->count; i++)
            succeeds(tm_match(tested->matcher, &s->frame.image, tested->items[i], &best[i], NULL), tested, s);
    }
    for (size_t i = 0; i < s->count; i++) {
        const tm_image *t = &s->tmpls[i].image;
        compare_peak(&best[i], &right[i], s, "template", i);
        if (s->frame.image.width * s->frame.image.height * t->width * t->height > 1000000)
            continue;
        const prepared oracle = {.matcher = oracle_of(b, s->domain)};
        tm_template *own = NULL;
        tm_peak best_of_all;
        CHECK_EQ(tm_template_create(&own, oracle.matcher, t), TM_OK);
        succeeds(tm_match(oracle.matcher, &s->frame.image, own, &best_of_all, NULL), &oracle, s);
        compare_peak(&best[i], &best_of_all, s, "by the oracle, template", i);
        tm_template_destroy(&own);
        b->with_oracle++;
    }
}

static tm_search draw_search(double best)
{
    static const double overlaps[] = {0, 0.3, 0.5, 0.9, 1};
    const double scores[] = {NAN, -1, 0, 0.3, 0.5, 0.8, 0.9, best, 0.9 * best, nextafter(best, 2), best - 1e-6, 2};
    tm_search s;

    tm_search_default(&s, sizeof s);
    s.most = check_random() % 2 ? 0 : check_random_in(1, 8);
    s.min_score = scores[check_random() % (sizeof scores / sizeof *scores)];
    s.overlap = overlaps[check_random() % 5];
    if (check_random() % 4 == 0)
        s.peaks = check_random_in(1, 40);
    s.margin = check_random() % 3 == 0;
    s.subpixel = check_random() % 4 == 0;
    return s;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static void compare_hits(const tm_hits *got, const tm_hits *expected, const scene *s, const tm_search *search)
{
    char what[120];

    snprintf(what, sizeof what, "-n %d, %g, overlap %g, %d peaks%s%s, match", (int)search->most,
             search->min_score, search->overlap, (int)search->peaks, search->margin ? ", margin" : "",
             search->subpixel ? ", subpixel" : "");
    compare_peak(&got->best, &expected->best, s, what, 0);
    if (got->count != expected->count || got->cut_off != expected->cut_off)
        check_fail(__FILE__, __LINE__, "%s: %s: %zu matches, cut off %d, expected %zu, %d", s->text, what,
                   got->count, got->cut_off, expected->count, expected->cut_off);
    for (size_t i = 0; i < got->count; i++) {
        const tm_hit *a = &got->items[i], *b = &expected->items[i];
        compare_peak(&a->peak, &b->peak, s, what, i);
        if (!same(a->margin, b->margin) || a->dx != b->dx || a->dy != b->dy)
            check_fail(__FILE__, __LINE__, "%s: %s %zu: margin %.9g, (%g, %g), expected %.9g, (%g, %g)", s->text,
                       what, i, a->margin, a->dx, a->dy, b->margin, b->dx, b->dy);
    }
}

static void compare_peaks(const scene *s, const prepared *tested, const prepared *expected)
{
    tm_hits hits[SCENE_TEMPLATES], right[SCENE_TEMPLATES];
    tm_peak best;

    succeeds(tm_match(expected->matcher, &s->frame.image, expected->items[0], &best, NULL), expected, s);
    const tm_search search = draw_search(best.score);
    succeeds(tm_match_peaks(expected->matcher, &s->frame.image, templates(expected), s->count, &search, right,
                            NULL),
             expected, s);
    succeeds(tm_match_peaks(tested->matcher, &s->frame.image, templates(tested), s->count, &search, hits, NULL),
             tested, s);
    for (size_t i = 0; i < s->count; i++) {
        compare_hits(&hits[i], &right[i], s, &search);
        tm_hits_free(&hits[i]);
        tm_hits_free(&right[i]);
    }
}

/* A map that is asked for has every score. */
static void compare_map(const scene *s, const prepared *tested, const prepared *expected)
{
    const tm_image *t = &s->tmpls[0].image;
    int64_t width, height;
    tm_peak best[2];

    CHECK_EQ(tm_map_size(s->domain, s->frame.image.width, s->frame.image.height, t->width, t->height, &width,
                         &height),
             TM_OK);
    const size_t size = (size_t)(width * height) * sizeof(float);
    tm_map maps[2] = {{malloc(size), width * (ptrdiff_t)sizeof(float)}, {malloc(size), width * (ptrdiff_t)sizeof(float)}};
    CHECK(maps[0].data && maps[1].data);
    succeeds(tm_match(tested->matcher, &s->frame.image, tested->items[0], &best[0], &maps[0]), tested, s);
    succeeds(tm_match(expected->matcher, &s->frame.image, expected->items[0], &best[1], &maps[1]), expected, s);
    compare_peak(&best[0], &best[1], s, "beside a map", 0);
    if (memcmp(maps[0].data, maps[1].data, size) != 0)
        check_fail(__FILE__, __LINE__, "%s: the maps differ", s->text);
    CHECK(tm_matcher_scored(tested->matcher) == 1);
    free(maps[0].data);
    free(maps[1].data);
}

static int read_rows(void *context, int64_t first, int64_t count, uint8_t *to, ptrdiff_t stride)
{
    const tm_image *frame = context;
    for (int64_t y = 0; y < count; y++)
        memcpy(to + y * stride, frame->samples + (first + y) * frame->stride, (size_t)frame->width);
    return 0;
}

/* In memory that makes bands of few rows, with a matcher of its own. */
static void compare_rows(certified_test *b, scene *s, const prepared *expected)
{
    tm_image *frame = &s->frame.image;
    const tm_row_source source = {frame->width, frame->height, read_rows, frame};
    tm_peak best[SCENE_TEMPLATES], right[SCENE_TEMPLATES];
    tm_matcher *own = NULL;
    int64_t halo = 0;

    for (size_t i = 0; i < s->count; i++)
        halo = s->tmpls[i].image.height - 1 > halo ? s->tmpls[i].image.height - 1 : halo;
    const int64_t memory = (halo + check_random_in(1, 40)) * 2 * frame->width * 8 / 5 + 8;
    prepared p = prepare(certified_of(b, s->domain, memory, &own), s);
    succeeds(tm_match_many(expected->matcher, frame, templates(expected), s->count, right, NULL), expected, s);
    succeeds(tm_match_rows(own, &source, templates(&p), s->count, best, NULL), &p, s);
    for (size_t i = 0; i < s->count; i++)
        compare_peak(&best[i], &right[i], s, "by rows, template", i);
    count_certified(b, own, s->text);
    prepared_free(&p);
    tm_matcher_destroy(&own);
}

void compare_certified(certified_test *b)
{
    scene s;

    if (check_random() % 3)
        scene_make(&s, check_random() % 16 ? 5e7 : 1e9);
    else
        scene_make_easy(&s, 2e9);
    if (s.count) {
        prepared expected = prepare(exhaustive_of(b, s.domain), &s);
        prepared tested = prepare(certified_of(b, s.domain, 0, NULL), &s);
        const int way = (int)(check_random() % 16);
        if (way < 8)
            compare_best(b, &s, &tested, &expected);
        else if (way < 14)
            compare_peaks(&s, &tested, &expected);
        else if (way < 15)
            compare_rows(b, &s, &expected);
        else
            compare_map(&s, &tested, &expected);
        if (way != 14)
            count_certified(b, tested.matcher, s.text);
        prepared_free(&tested);
        prepared_free(&expected);
    }
    scene_free(&s);
}

bool same_posed_hit(const tm_posed_hit *a, const tm_posed_hit *b)
{
    tm_posed_hit left = *a, right = *b;
    double *const numbers[][2] = {
        {&left.margin, &right.margin}, {&left.margin_below, &right.margin_below}, {&left.score, &right.score}};

    for (int i = 0; i < 3; i++)
        if (isnan(*numbers[i][0]) && isnan(*numbers[i][1]))
            *numbers[i][0] = *numbers[i][1] = 0;
    return memcmp(&left, &right, sizeof left) == 0;
}

void draw_wishes(tm_search *s)
{
    s->margin = (int)check_random_in(0, 1);
    s->margin_ratio = s->margin && check_random() % 2 ? (double)check_random_in(20, 95) / 100 : 0;
    s->only_matches = (int)check_random_in(0, 1);
}
