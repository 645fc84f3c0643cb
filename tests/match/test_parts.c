/* SPDX-License-Identifier: MIT */
/* Parts of a frame's rows, merged: what one call for the whole frame finds, bit by bit. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "peaks_oracle.h"
#include "pictures.h"

enum { MOST_PARTS = 512 };

/* The rows that a part needs and no others, in memory of their own; free both. */
typedef struct rows_copy {
    tm_image image;
    uint8_t *samples, *mask;
} rows_copy;

static rows_copy copy_rows(const tm_image *frame, int64_t first, int64_t end)
{
    const int channels = frame->channels ? frame->channels : 1;
    const size_t row = (size_t)(frame->width * channels * (frame->type == TM_SAMPLE_U16 ? 2 : 1));
    rows_copy copy = {.image = *frame};

    copy.samples = malloc(row * (size_t)(end - first));
    copy.mask = frame->mask ? malloc((size_t)(frame->width * (end - first))) : NULL;
    CHECK(copy.samples && (copy.mask || !frame->mask));
    for (int64_t y = first; y < end; y++) {
        memcpy(copy.samples + (size_t)(y - first) * row, frame->samples + y * frame->stride, row);
        if (copy.mask)
            memcpy(copy.mask + (y - first) * frame->width, frame->mask + y * frame->mask_stride,
                   (size_t)frame->width);
    }
    copy.image.samples = copy.samples;
    copy.image.mask = copy.mask;
    copy.image.stride = (ptrdiff_t)row;
    copy.image.mask_stride = (ptrdiff_t)frame->width;
    copy.image.height = end - first;
    return copy;
}

static tm_search draw_search(const scene *p)
{
    static const double overlaps[] = {0, 0.3, 0.5, 0.9, 1};
    tm_search s;

    tm_search_default(&s, sizeof s);
    s.most = check_random() % 3 ? check_random_in(1, 8) : 0;
    if (p->metric == TM_METRIC_LCC && check_random() % 2)
        s.min_score = (double)(float)((double)check_random_in(-3, 10) / 10);
    s.overlap = overlaps[check_random() % 5];
    s.margin = check_random() % 2;
    s.subpixel = check_random() % 3 == 0;
    return s;
}

/* How many rows the next part has. */
static int64_t draw_height(int way, int64_t template_height, int64_t map_height)
{
    return way == 0 ? 1 : way == 1 ? template_height : check_random_in(1, map_height / 2 + 1);
}

static tm_part_hits match_part(tm_matcher *m, const scene *p, const tm_template *tmpl,
                               const tm_search *s, tm_part part)
{
    tm_part_hits hits;
    int64_t first, end;

    CHECK_EQ(tm_part_rows(p->domain, p->tmpl.height, &part, &first, &end), TM_OK);
    CHECK(first >= 0 && first < end && end <= p->frame.height);
    rows_copy rows = copy_rows(&p->frame, first, end);
    part.frame_first = first;
    if (tm_match_part(m, &rows.image, &part, &tmpl, 1, s, &hits) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(m));
    CHECK(hits.first == part.first && hits.end <= part.end && hits.end <= hits.map_height);
    const int64_t pad = p->domain == TM_DOMAIN_SAME   ? (p->tmpl.height - 1) / 2
                        : p->domain == TM_DOMAIN_FULL ? p->tmpl.height - 1
                                                      : 0;
    for (size_t i = 0; i < hits.count; i++) {
        const int64_t row = hits.items[i].hit.peak.y + pad;
        CHECK(row >= hits.first && row < hits.end);
    }
    if (hits.has_best)
        CHECK(hits.best.hit.peak.y + pad >= hits.first && hits.best.hit.peak.y + pad < hits.end);
    free(rows.samples);
    free(rows.mask);
    return hits;
}

static void compare_hits(const tm_hits *a, const tm_hits *b, const tm_search *s, const scene *p)
{
    char text[300];

    snprintf(text, sizeof text, "%s, metric %d, domain %d; -n %lld, %g, overlap %g, margin %d, subpixel %d",
             p->text, (int)p->metric, (int)p->domain, (long long)s->most, s->min_score, s->overlap,
             s->margin, s->subpixel);
    if (a->count != b->count || a->cut_off != b->cut_off)
        check_fail(__FILE__, __LINE__, "%s: %zu matches, cut off %d, expected %zu, %d", text, a->count,
                   a->cut_off, b->count, b->cut_off);
    if (a->best.x != b->best.x || a->best.y != b->best.y || a->best.score != b->best.score)
        check_fail(__FILE__, __LINE__, "%s: another best", text);
    for (size_t i = 0; i < a->count; i++) {
        const tm_hit *u = &a->items[i], *v = &b->items[i];
        if (u->peak.x != v->peak.x || u->peak.y != v->peak.y || u->peak.score != v->peak.score ||
            u->dx != v->dx || u->dy != v->dy || !same_margin(u->margin, v->margin))
            check_fail(__FILE__, __LINE__,
                       "%s: match %zu is (%" PRId64 ", %" PRId64 ") %.9g + %.9g, %.9g, margin %.9g, "
                       "expected (%" PRId64 ", %" PRId64 ") %.9g + %.9g, %.9g, margin %.9g",
                       text, i, u->peak.x, u->peak.y, u->peak.score, u->dx, u->dy, u->margin, v->peak.x,
                       v->peak.y, v->peak.score, v->dx, v->dy, v->margin);
    }
}

/* A cut-off answer is the beginning of the whole one. */
static void check_beginning(const tm_hits *some, const tm_hits *all, const scene *p)
{
    if (some->count > all->count)
        check_fail(__FILE__, __LINE__, "%s: %zu matches of %zu", p->text, some->count, all->count);
    for (size_t i = 0; i < some->count; i++)
        CHECK(some->items[i].peak.x == all->items[i].peak.x &&
              some->items[i].peak.y == all->items[i].peak.y);
}

/* Parts of all the map's rows, in a random order. Returns how many. */
static size_t match_parts(tm_matcher *m, const scene *p, const tm_template *tmpl, const tm_search *s,
                          tm_part_hits *parts, const tm_part_hits **order)
{
    const int way = (int)(check_random() % 4);
    tm_part part = {.size = sizeof part, .frame_height = p->frame.height};
    size_t count = 0;
    int64_t width, height;

    CHECK_EQ(tm_map_size(p->domain, p->frame.width, p->frame.height, p->tmpl.width, p->tmpl.height,
                         &width, &height),
             TM_OK);
    for (int64_t y = 0; y < height; y = part.end) {
        part.first = y;
        part.end = y + draw_height(count + 2 < MOST_PARTS ? way : 3, p->tmpl.height, height);
        if (count + 1 == MOST_PARTS)
            part.end = height;
        parts[count] = match_part(m, p, tmpl, s, part);
        order[count] = &parts[count];
        count++;
    }
    for (size_t i = count; i > 1; i--) {
        const size_t k = check_random() % i;
        const tm_part_hits *other = order[k];
        order[k] = order[i - 1];
        order[i - 1] = other;
    }
    return count;
}

static void compare_scene(scene_matchers *m, const scene *p)
{
    tm_matcher *tested = scene_matcher(m, p);
    static tm_part_hits parts[MOST_PARTS];
    static const tm_part_hits *order[MOST_PARTS];
    tm_template *tmpl = NULL;

    if (tm_template_create(&tmpl, tested, &p->tmpl) != TM_OK)
        return;
    for (int i = 0; i < 2; i++) {
        tm_search s = draw_search(p);
        tm_hits whole, merged;
        const tm_status status = tm_match_peaks(tested, &p->frame, (const tm_template *const *)&tmpl, 1,
                                                &s, &whole, NULL);
        CHECK(status == TM_OK || status == TM_ERR_NO_POSITION);
        size_t count = match_parts(tested, p, tmpl, &s, parts, order);
        CHECK_EQ(tm_merge_parts(order, count, &s, 1, &merged), status);
        if (status == TM_OK)
            compare_hits(&merged, &whole, &s, p);
        tm_hits_free(&merged);
        for (size_t k = 0; k < count; k++)
            tm_part_hits_free(&parts[k]);
        s.peaks = check_random_in(1, check_random() % 2 ? 2 : 40);
        s.margin = 0;
        count = match_parts(tested, p, tmpl, &s, parts, order);
        CHECK_EQ(tm_merge_parts(order, count, &s, 1, &merged), status);
        if (!merged.cut_off && status == TM_OK)
            CHECK_EQ(merged.count, whole.count);
        check_beginning(&merged, &whole, p);
        tm_hits_free(&merged);
        for (size_t k = 0; k < count; k++)
            tm_part_hits_free(&parts[k]);
        tm_hits_free(&whole);
    }
    tm_template_destroy(&tmpl);
}

static void random_cases(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    scene_matchers m = {.settings = settings_of(device, algorithm, threads)};
    const int64_t cases = check_cases(300);

    for (int64_t i = 0; i < cases; i++) {
        const int64_t w = check_random_in(1, 9), h = check_random_in(1, 9);
        problem p;
        problem_make(&p, w + check_random_in(0, 50), h + check_random_in(0, 50), w, h);
        const scene plain = {p.frame, p.tmpl, (tm_metric)(check_random() % TM_METRICS),
                             (tm_domain)(check_random() % 3), p.text};
        compare_scene(&m, &plain);
        problem_free(&p);
    }
    scene_matchers_free(&m);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

static void random_kinds(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    scene_matchers m = {.settings = settings_of(device, algorithm, threads)};
    const int64_t cases = check_cases(200);

    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        kind_random(&p, 5e4);
        const scene kind = {p.frame, p.tmpl, p.metric, p.domain, p.text};
        compare_scene(&m, &kind);
        kind_free(&p);
    }
    scene_matchers_free(&m);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

/* Frames in which most positions have equals: of few values, periodic, flat but for little. */
static void ties(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    scene_matchers m = {.settings = settings_of(device, algorithm, threads)};
    const int64_t cases = check_cases(300);

    for (int64_t i = 0; i < cases; i++) {
        const int64_t width = check_random_in(8, 70), height = check_random_in(8, 120);
        const int64_t across = check_random_in(1, 9), down = check_random_in(1, 9);
        const int values = (int)check_random_in(2, 3), rarely = (int)check_random_in(1, 30);
        uint8_t *samples = malloc((size_t)(width * height)), cell[81];
        for (int k = 0; k < 81; k++)
            cell[k] = (uint8_t)(check_random() % (uint64_t)rarely ? 0 : check_random() % (uint64_t)values);
        for (int64_t k = 0; k < width * height; k++)
            samples[k] = cell[k / width % down * 9 + k % width % across];
        if (check_random() % 2)
            samples[check_random_in(0, width * height - 1)] ^= 1;
        const int64_t w = check_random_in(1, 6), h = check_random_in(1, 8);
        const tm_image frame = {.samples = samples, .width = width, .height = height, .stride = width};
        const tm_image tmpl = {.samples = samples + check_random_in(0, height - h) * width +
                                          check_random_in(0, width - w),
                               .width = w, .height = h, .stride = width};
        const scene tied = {frame, tmpl, (tm_metric)(check_random() % TM_METRICS),
                            (tm_domain)(check_random() % 3), "ties"};
        compare_scene(&m, &tied);
        free(samples);
    }
    scene_matchers_free(&m);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

/* By how many rows boxes in one column can be apart and overlap by too much: the rule of docs/peaks.md itself. */
static int64_t reach_of(int64_t width, int64_t height, double overlap)
{
    int64_t apart = height - 1;
    while (apart > 0 && !((double)(width * (height - apart)) >
                          overlap * (double)(2 * width * height - width * (height - apart))))
        apart--;
    return apart;
}

typedef struct seam_case {
    int64_t width, height; /* of the template */
    double overlap;
} seam_case;

/* An overlap near one at which the reach is a whole number, as rounding decides there. */
static seam_case draw_seam_case(void)
{
    seam_case c = {check_random_in(1, 3), check_random_in(2, 60), 0};
    const double apart = (double)check_random_in(1, c.height);

    c.overlap = ((double)c.height - apart) / ((double)c.height + apart);
    for (int64_t steps = check_random_in(-3, 3); steps != 0; steps += steps < 0 ? 1 : -1)
        c.overlap = nextafter(c.overlap, steps < 0 ? 0 : 1);
    return c;
}

/* Three peaks in one column, each as far from the last as boxes can be that overlap, or a row more or less, the first
 * beside the seam. The frame is the map: its template is one pixel of 1 among zeros. */
static void compare_seam(tm_matcher *m, const seam_case *c, bool below)
{
    const int64_t reach = reach_of(c->width, c->height, c->overlap), w = c->width + 4, rows = 5 * c->height + 12;
    const int64_t h = rows + c->height - 1, seam = check_random_in(2 * c->height + 4, 3 * c->height + 8);
    uint8_t *samples = calloc((size_t)(w * h), 1), *pixels = calloc((size_t)(c->width * c->height), 1);
    tm_part_hits parts[3];
    const tm_part_hits *order[3] = {&parts[1], &parts[2], &parts[0]};
    int64_t y = below ? seam : seam - 1;
    tm_template *tmpl = NULL;
    tm_search s;
    tm_hits whole, merged;

    CHECK(samples && pixels);
    pixels[0] = 1;
    for (int i = 0; i < 3; i++) {
        if (y >= 0 && y < rows)
            samples[y * w + 2] = (uint8_t)(250 - 50 * i);
        const int64_t apart = reach + check_random_in(-1, 1);
        y += below ? -apart : apart;
    }
    for (int i = (int)check_random_in(0, 3); i > 0; i--)
        samples[check_random_in(0, rows - 1) * w + check_random_in(0, 4)] |= (uint8_t)check_random_in(1, 255);
    char text[100];
    snprintf(text, sizeof text, "template %" PRId64 "x%" PRId64 ", overlap %.17g, row %" PRId64 " %s", c->width, c->height,
             c->overlap, seam, below ? "below" : "above");
    const scene map = {{.samples = samples, .width = w, .height = h, .stride = w},
                       {.samples = pixels, .width = c->width, .height = c->height, .stride = c->width},
                       TM_METRIC_CCORR, TM_DOMAIN_VALID, text};
    tm_search_default(&s, sizeof s);
    s.most = check_random() % 4 ? 0 : check_random_in(2, 5);
    s.min_score = check_random() % 2 ? 1 : NAN;
    s.overlap = c->overlap;
    s.margin = check_random() % 2;
    CHECK_EQ(tm_template_create(&tmpl, m, &map.tmpl), TM_OK);
    CHECK_EQ(tm_match_peaks(m, &map.frame, (const tm_template *const *)&tmpl, 1, &s, &whole, NULL), TM_OK);
    const int64_t cuts[] = {0, seam, check_random_in(seam + 1, rows - 1), rows};
    for (int i = 0; i < 3; i++)
        parts[i] = match_part(m, &map, tmpl, &s, (tm_part){.size = sizeof(tm_part), .frame_height = h, .first = cuts[i], .end = cuts[i + 1]});
    CHECK_EQ(tm_merge_parts(order, 3, &s, 1, &merged), TM_OK);
    compare_hits(&merged, &whole, &s, &map);
    tm_hits_free(&merged);
    tm_hits_free(&whole);
    for (int i = 0; i < 3; i++)
        tm_part_hits_free(&parts[i]);
    tm_template_destroy(&tmpl);
    free(pixels);
    free(samples);
}

/* Where (1 - overlap) / (1 + overlap) of the height is rounded to fewer rows than boxes can be apart that overlap; and
 * heights and overlaps near such ones. */
static void edges(void)
{
    static const seam_case known[] = {{1, 33, 0.099999999999999978}, {3, 33, 0.40425531914893614},
                                      {1, 99, 0.40425531914893614}, {1, 777, 0.036}};
    scene_matchers m = {.settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1)};
    const scene any = {.metric = TM_METRIC_CCORR, .domain = TM_DOMAIN_VALID};
    tm_matcher *matcher = scene_matcher(&m, &any);
    const int64_t cases = check_cases(300);

    for (int i = 0; i < 4 * 8; i++)
        compare_seam(matcher, &known[i / 8], i % 2);
    for (int64_t i = 0; i < cases; i++) {
        const seam_case c = draw_seam_case();
        compare_seam(matcher, &c, i % 2);
    }
    scene_matchers_free(&m);
}

/* A part hands over little more than its matches: none but what lies near a seam, or one for each. */
static void few_positions(void)
{
    scene_matchers m = {.settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 1)};
    const tm_part part = {.size = sizeof part, .frame_height = 400, .first = 100, .end = 300};
    problem p;
    tm_template *tmpl;
    tm_search s;

    problem_make_noise(&p, 200, 400, 12, 12);
    const scene noise = {p.frame, p.tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID, p.text};
    tm_matcher *matcher = scene_matcher(&m, &noise);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &p.tmpl), TM_OK);
    tm_search_default(&s, sizeof s);
    s.most = 10;
    s.margin = 1;
    tm_part_hits hits = match_part(matcher, &noise, tmpl, &s, part);
    if (hits.count < 11 || hits.count > 60)
        check_fail(__FILE__, __LINE__, "%s: %zu positions", p.text, hits.count);
    tm_part_hits_free(&hits);
    tm_template_destroy(&tmpl);
    problem_free(&p);
    scene_matchers_free(&m);
}

static void refuses(void)
{
    scene_matchers m = {.settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 1)};
    tm_part part = {.size = sizeof part, .frame_height = 60, .first = 10, .end = 20};
    tm_part_hits a, b;
    int64_t first, end;
    tm_template *tmpl;
    tm_search s;
    tm_hits hits;
    problem p;

    CHECK_EQ(tm_part_rows(TM_DOMAIN_VALID, 5, &part, &first, &end), TM_OK);
    CHECK(first == 9 && end == 25);
    CHECK_EQ(tm_part_rows(TM_DOMAIN_VALID, 61, &part, &first, &end), TM_ERR_FRAME_TOO_SMALL);
    part.first = part.end = 56;
    CHECK_EQ(tm_part_rows(TM_DOMAIN_VALID, 5, &part, &first, &end), TM_ERR_INVALID);
    part.end = 60;
    CHECK_EQ(tm_part_rows(TM_DOMAIN_VALID, 5, &part, &first, &end), TM_ERR_INVALID);

    problem_make_noise(&p, 40, 60, 5, 5);
    const scene noise = {p.frame, p.tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID, p.text};
    tm_matcher *matcher = scene_matcher(&m, &noise);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &p.tmpl), TM_OK);
    const tm_template *const one = tmpl;
    tm_search_default(&s, sizeof s);
    tm_image rows = p.frame;
    part.first = 57;
    CHECK_EQ(tm_match_part(matcher, &rows, &part, &one, 1, &s, &a), TM_ERR_INVALID);
    CHECK_STR(tm_matcher_message(matcher), "row 57 is not in the map, which has 56 rows");
    part.first = 10;
    part.end = 20;
    rows.height = 24;
    CHECK_EQ(tm_match_part(matcher, &rows, &part, &one, 1, &s, &a), TM_ERR_INVALID);
    CHECK_STR(tm_matcher_message(matcher), "the part needs rows 9 to 24 of the frame, and has 0 to 23");
    CHECK(a.count == 0 && !a.items);

    part.end = 30;
    a = match_part(matcher, &noise, tmpl, &s, part);
    part.first = 29;
    part.end = 100;
    b = match_part(matcher, &noise, tmpl, &s, part);
    const tm_part_hits *both[] = {&a, &b};
    CHECK_EQ(tm_merge_parts(both, 2, &s, 0, &hits), TM_ERR_INVALID); /* row 29 twice */
    CHECK_EQ(tm_merge_parts(both, 1, &s, 1, &hits), TM_ERR_INVALID); /* others are missing */
    CHECK_EQ(tm_merge_parts(both, 1, &s, 0, &hits), TM_OK);
    tm_hits_free(&hits);
    b.first = 30;
    CHECK_EQ(tm_merge_parts(both, 2, &s, 0, &hits), TM_OK);
    tm_hits_free(&hits);
    tm_part_hits none = {.size = sizeof none, .metric = b.metric, .template_width = b.template_width,
                         .template_height = b.template_height, .map_height = b.map_height,
                         .first = b.first, .end = b.end, .has_best = b.has_best, .best = b.best};
    both[1] = &none;
    CHECK_EQ(tm_merge_parts(both, 2, &s, 0, &hits), TM_OK);
    tm_hits_free(&hits);
    none.cut_off = true; /* after which match? */
    CHECK_EQ(tm_merge_parts(both, 2, &s, 0, &hits), TM_ERR_INVALID);
    both[1] = &b;
    b.template_width = 6;
    CHECK_EQ(tm_merge_parts(both, 2, &s, 0, &hits), TM_ERR_INVALID);
    tm_part_hits_free(&a);
    tm_part_hits_free(&b);
    tm_part_hits_free(NULL);
    tm_template_destroy(&tmpl);
    problem_free(&p);
    scene_matchers_free(&m);
}

DEVICE_TEST(cpu_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 2)
DEVICE_TEST(cpu_fft, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_FFT, 1)
DEVICE_TEST(cpu_kinds, random_kinds, TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 2)
DEVICE_TEST(cpu_ties, ties, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1)
DEVICE_TEST(cuda_random, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0)
DEVICE_TEST(cuda_kinds, random_kinds, TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0)

/* Larger parts, in which windows are left out. */
static void cpu_certified(void)
{
    scene_matchers m = {.settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1)};
    const int64_t cases = 1 + check_cases(300) / 40;

    m.settings.strategy = TM_STRATEGY_CERTIFIED;
    for (int64_t i = 0; i < cases; i++) {
        problem p;
        problem_make(&p, check_random_in(150, 300), check_random_in(150, 300), check_random_in(12, 24),
                     check_random_in(12, 24));
        const scene plain = {p.frame, p.tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID, p.text};
        compare_scene(&m, &plain);
        problem_free(&p);
    }
    scene_matchers_free(&m);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(cpu_random), TEST(cpu_fft), TEST(cpu_kinds), TEST(cpu_ties), TEST(cpu_certified),
        TEST(edges), TEST(few_positions), TEST(refuses), TEST(cuda_random), TEST(cuda_kinds),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
