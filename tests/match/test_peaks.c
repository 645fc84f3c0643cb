/* SPDX-License-Identifier: MIT */
/* Several matches, margins and sub-pixel places on every backend against brute
 * force over the oracle's map: each peak by its definition, sorted, suppressed by
 * comparing all with all. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "lcc/peaks.h"

/* What is searched. */
typedef struct scene {
    tm_image frame, tmpl;
    tm_metric metric;
    tm_domain domain;
    const char *text;
} scene;

typedef struct truth {
    int64_t width, height, pad_x, pad_y;
    double sign; /* -1: the least score is the best */
    double *map; /* times sign, -INFINITY where a position is skipped */
    tm_hit *peaks; /* all, sorted; in the map's coordinates */
    size_t count;
} truth;

static double at(const truth *t, int64_t x, int64_t y)
{
    return t->map[y * t->width + x];
}

static bool ranks_before(const tm_peak *a, const tm_peak *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    return a->y != b->y ? a->y < b->y : a->x < b->x;
}

static int by_rank(const void *a, const void *b)
{
    return ranks_before(&((const tm_hit *)a)->peak, &((const tm_hit *)b)->peak) ? -1 : 1;
}

static bool is_peak(const truth *t, int64_t x, int64_t y)
{
    const tm_peak own = {x, y, at(t, x, y)};
    if (own.score == -INFINITY)
        return false;
    for (int64_t v = y - 1; v <= y + 1; v++) {
        for (int64_t u = x - 1; u <= x + 1; u++) {
            if (u < 0 || v < 0 || u >= t->width || v >= t->height || (u == x && v == y))
                continue;
            const tm_peak other = {u, v, at(t, u, v)};
            if (!ranks_before(&own, &other))
                return false;
        }
    }
    return true;
}

static void find_peaks(truth *t)
{
    CHECK(t->peaks = calloc((size_t)(t->width * t->height), sizeof *t->peaks));
    for (int64_t y = 0; y < t->height; y++)
        for (int64_t x = 0; x < t->width; x++)
            if (is_peak(t, x, y))
                t->peaks[t->count++] = (tm_hit){.peak = {x, y, at(t, x, y)}, .margin = NAN};
    qsort(t->peaks, t->count, sizeof *t->peaks, by_rank);
}

static double iou(const tm_peak *a, const tm_peak *b, int64_t w, int64_t h)
{
    const int64_t u = w - llabs(a->x - b->x), v = h - llabs(a->y - b->y);
    if (u <= 0 || v <= 0)
        return 0;
    return (double)(u * v) / (double)(2 * w * h - u * v);
}

/* What search.peaks lets see of the peaks: a number of the first ones. */
static size_t visible(const truth *t, const tm_search *s, bool *more)
{
    const size_t limit = (size_t)s->peaks;
    size_t above = 0;
    while (above < t->count && !(t->peaks[above].peak.score < t->sign * s->min_score))
        above++;
    *more = above > limit;
    if (*more)
        return limit;
    const size_t below = t->count - above;
    return above + (!s->margin ? 0 : below < limit ? below : limit);
}

static size_t suppress(const truth *t, const tm_search *s, int64_t w, int64_t h, tm_hit *hits,
                       bool *cut_off)
{
    bool more;
    const size_t seen = visible(t, s, &more);
    tm_hit *taken = calloc(seen + 1, sizeof *taken);
    size_t count = 0, hit_count = 0;

    CHECK(taken);
    /* up to the one that the last match's margin is measured to */
    for (size_t i = 0; i < seen && (!s->most || count <= (size_t)s->most); i++) {
        bool covered = false;
        for (size_t k = 0; k < count && !covered && s->overlap < 1; k++)
            covered = iou(&taken[k].peak, &t->peaks[i].peak, w, h) > s->overlap;
        if (!covered)
            taken[count++] = t->peaks[i];
    }
    for (size_t i = 0; i < count; i++) {
        if ((s->most && i >= (size_t)s->most) || taken[i].peak.score < t->sign * s->min_score)
            break;
        hits[i] = taken[i];
        if (s->margin && i + 1 < count)
            hits[i].margin = t->sign * taken[i + 1].peak.score;
        hit_count++;
    }
    *cut_off = more && !(s->most && hit_count == (size_t)s->most);
    free(taken);
    return hit_count;
}

/* Six equations by elimination. */
static void solve(double a[6][7])
{
    for (int i = 0; i < 6; i++) {
        int pivot = i;
        for (int k = i; k < 6; k++)
            pivot = fabs(a[k][i]) > fabs(a[pivot][i]) ? k : pivot;
        for (int c = 0; c < 7; c++) {
            double keep = a[i][c];
            a[i][c] = a[pivot][c];
            a[pivot][c] = keep;
        }
        for (int k = 0; k < 6; k++) {
            if (k == i)
                continue;
            const double factor = a[k][i] / a[i][i];
            for (int c = i; c < 7; c++)
                a[k][c] -= factor * a[i][c];
        }
    }
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t clip64(int64_t value, int64_t low, int64_t high)
{
    return value > high ? high : value < low ? low : value;
}

/* The surface that nine values' least squares give: b x + c y + d x^2 + e x y + k y^2. */
typedef struct surface {
    double b, c, d, e, k;
    double doubt; /* how far its top may be off, since the values are rounded */
} surface;

/* Its tops along the axes, where the other coordinate is given; without one, stay. */
static double top_across(const surface *s, double y, double stay)
{
    return s->d < 0 ? -(s->b + s->e * y) / (2 * s->d) : stay;
}

static double top_down(const surface *s, double x, double stay)
{
    return s->k < 0 ? -(s->c + s->e * x) / (2 * s->k) : stay;
}

/* The surface and its top, from the middle value; the peak is at (px, py). Which case it
 * is may depend on rounding: then false. */
static bool surface_top(double z[3][3], double px, double py, surface *s, double *dx, double *dy,
                        bool *has_top)
{
    double a[6][7] = {{0}}, greatest = 0;

    for (int v = -1; v <= 1; v++) {
        for (int u = -1; u <= 1; u++) {
            const double term[6] = {1, u, v, u * u, u * v, v * v};
            greatest = fmax(greatest, fabs(z[v + 1][u + 1]));
            for (int i = 0; i < 6; i++) {
                const double weighted = term[i] * (2 - abs(u)) * (2 - abs(v));
                for (int k = 0; k < 6; k++)
                    a[i][k] += weighted * term[k];
                a[i][6] += weighted * (z[v + 1][u + 1] - z[1][1]);
            }
        }
    }
    solve(a);
    const double b = a[1][6] / a[1][1], c = a[2][6] / a[2][2], d = a[3][6] / a[3][3],
                 e = a[4][6] / a[4][4], k = a[5][6] / a[5][5];
    const double det = 4 * d * k - e * e, size = fabs(d) + fabs(k) + fabs(e);
    if (!(size > 0) || fabs(det) < 1e-6 * size * size || fabs(d) < 1e-6 * size ||
        fabs(k) < 1e-6 * size)
        return false;
    *has_top = d < 0 && k < 0 && det > 0;
    *s = (surface){b, c, d, e, k, 4 * DBL_EPSILON * greatest * size / fabs(det)};
    *dx = *has_top ? (e * c - 2 * k * b) / det : top_across(s, py, px);
    *dy = *has_top ? (e * b - 2 * d * c) / det : top_down(s, px, py);
    return true;
}

/* A score as what it lacks to that of a copy, to the power of 11/8. */
static double lacking(double score, tm_metric metric)
{
    const double u = tm_metric_is_distance(metric) ? -score : 1 - score;
    return u > 0 ? -pow(u, 11.0 / 8) : 0;
}

static void check_subpixel(const truth *t, tm_metric metric, const tm_hit *expected,
                           const tm_hit *hit, const char *text)
{
    const int64_t x = expected->peak.x, y = expected->peak.y;
    const int64_t x0 = clip64(x, 1, t->width - 2), y0 = clip64(y, 1, t->height - 2);
    const double left = (double)(x0 - x), top = (double)(y0 - y);
    double s[3][3], z[3][3], dx, dy;
    bool has_top, near = false;
    surface f;

    if (t->width < 3 || t->height < 3) {
        CHECK(fabs(hit->dx) <= 0.5 && fabs(hit->dy) <= 0.5);
        return;
    }
    for (int i = 0; i < 9; i++) {
        s[i / 3][i % 3] = at(t, x0 + i % 3 - 1, y0 + i / 3 - 1);
        z[i / 3][i % 3] = lacking(s[i / 3][i % 3], metric);
        if (s[i / 3][i % 3] == -INFINITY) {
            CHECK(hit->dx == 0 && hit->dy == 0);
            return;
        }
    }
    if (metric != TM_METRIC_CCORR && metric != TM_METRIC_CCOEFF) {
        if (!surface_top(z, -left, -top, &f, &dx, &dy, &has_top))
            return;
        const double far = fmax(fabs(dx + left), fabs(dy + top));
        if (has_top && fabs(far - 0.6) < 1e-6)
            return;
        near = has_top && far < 0.6;
    }
    if (!near && !surface_top(s, -left, -top, &f, &dx, &dy, &has_top))
        return;
    /* beyond the map's edge: along it */
    if (-left * dx > 1 && f.k < 0) {
        dx = -left;
        dy = top_down(&f, dx, 0);
    }
    if (-top * dy > 1 && f.d < 0) {
        dy = -top;
        dx = top_across(&f, dy, 0);
    }
    dx = clip(dx + left, x ? -0.5 : 0, x < t->width - 1 ? 0.5 : 0);
    dy = clip(dy + top, y ? -0.5 : 0, y < t->height - 1 ? 0.5 : 0);
    const double most = fmax(1e-6, f.doubt);
    if (!(fabs(dx - hit->dx) < most && fabs(dy - hit->dy) < most))
        check_fail(__FILE__, __LINE__, "%s: at (%" PRId64 ", %" PRId64 ") off by (%g, %g), expected (%g, %g)",
                   text, x, y, hit->dx, hit->dy, dx, dy);
}

static double element_at(const tm_map *map, tm_metric metric, size_t i)
{
    return tm_metric_is_integer(metric) ? (double)((int64_t *)map->data)[i]
                                        : (double)((float *)map->data)[i];
}

/* False where there is nothing to be found: a flat template, or all masked out. */
static bool solve_scene(truth *t, const scene *p)
{
    tm_settings settings;
    tm_matcher *reference = NULL;
    tm_template *tmpl = NULL;
    tm_peak best;
    int64_t skipped[1] = {0};

    tm_settings_default(&settings, sizeof settings);
    settings.algorithm = TM_ALGORITHM_REFERENCE;
    settings.device = TM_DEVICE_CPU;
    settings.metric = p->metric;
    settings.domain = p->domain;
    *t = (truth){.sign = tm_metric_is_distance(p->metric) ? -1 : 1};
    CHECK_EQ(tm_matcher_create(&reference, &settings), TM_OK);
    CHECK_EQ(tm_map_size(p->domain, p->frame.width, p->frame.height, p->tmpl.width, p->tmpl.height,
                         &t->width, &t->height),
             TM_OK);
    const size_t count = (size_t)(t->width * t->height), element = tm_map_element_size(p->metric);
    tm_map map = {malloc(count * element), (ptrdiff_t)element * t->width};
    CHECK(map.data && (t->map = malloc(count * sizeof *t->map)));
    bool good = tm_template_create(&tmpl, reference, &p->tmpl) == TM_OK &&
                tm_match(reference, &p->frame, tmpl, &best, &map) == TM_OK;
    CHECK_EQ(tm_map_skipped(p->metric, skipped), TM_OK);
    for (size_t i = 0; good && i < count; i++)
        t->map[i] = memcmp((char *)map.data + i * element, skipped, element) == 0
                        ? -INFINITY
                        : t->sign * element_at(&map, p->metric, i);
    if (p->domain != TM_DOMAIN_VALID) {
        t->pad_x = (p->tmpl.width - 1) / (p->domain == TM_DOMAIN_SAME ? 2 : 1);
        t->pad_y = (p->tmpl.height - 1) / (p->domain == TM_DOMAIN_SAME ? 2 : 1);
    }
    free(map.data);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&reference);
    if (good)
        find_peaks(t);
    return good;
}

static void free_truth(truth *t)
{
    free(t->map);
    free(t->peaks);
}

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

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
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
            a->peak.score != t->sign * b->peak.score || !same(a->margin, b->margin))
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

/* Matchers of one device, one a metric and domain, kept across cases. */
typedef struct device_under_test {
    tm_settings settings;
    tm_matcher *matchers[6][3];
} device_under_test;

static tm_matcher *matcher_of(device_under_test *b, const scene *p)
{
    tm_matcher **slot = &b->matchers[p->metric][p->domain];
    b->settings.metric = p->metric;
    b->settings.domain = p->domain;
    if (!*slot && tm_matcher_create(slot, &b->settings) != TM_OK)
        check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(*slot));
    return *slot;
}

static void close_device(device_under_test *b)
{
    for (int metric = 0; metric < 6; metric++)
        for (int domain = 0; domain < 3; domain++)
            tm_matcher_destroy(&b->matchers[metric][domain]);
}

/* Some searches of one scene; one of them with the map as well. */
static void compare_scene(device_under_test *b, const scene *p)
{
    tm_matcher *tested = matcher_of(b, p);
    tm_template *tmpl = NULL;
    truth t;

    if (!solve_scene(&t, p)) {
        free_truth(&t);
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
            suppress(&t, &s, p->tmpl.width, p->tmpl.height, expected_hits, &cut_off);
        if (tm_match_peaks(tested, &p->frame, both, count, &s, hits, i < 2 ? maps : NULL) != TM_OK)
            check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(tested));
        for (size_t k = 0; k < count; k++) {
            compare(&t, &s, expected_hits, expected, cut_off, &hits[k], p);
            tm_hits_free(&hits[k]);
        }
    }
    for (size_t i = 0; i < size; i++)
        CHECK(t.map[i] == -INFINITY || t.map[i] == t.sign * element_at(&map, p->metric, i));
    free(expected_hits);
    free(map.data);
    free_truth(&t);
    tm_template_destroy(&tmpl);
}

static device_under_test device_of(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    device_under_test b = {0};
    tm_settings_default(&b.settings, sizeof b.settings);
    b.settings.device = device;
    b.settings.algorithm = algorithm;
    b.settings.threads = threads;
    return b;
}

static void compare_plain(device_under_test *b, problem *p)
{
    const scene plain = {p->frame, p->tmpl, (tm_metric)(check_random() % 4 == 0),
                         (tm_domain)(check_random() % 3), p->text};
    compare_scene(b, &plain);
    problem_free(p);
}

/* Cropping the frame must change no score (scikit-image issue 845), nor may sums over
 * a large bright frame move a match (OpenCV issue 21788). */
static void crops_of_a_large_frame(void)
{
    enum { SIDE = 1500, SMALL = 90 };
    uint8_t *samples = malloc(SIDE * SIDE);
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_settings settings;
    tm_search search;
    tm_hits whole, part;

    CHECK(samples);
    for (int i = 0; i < SIDE * SIDE; i++)
        samples[i] = (uint8_t)(253 + check_random() % 3);
    const uint8_t *corner = samples + 1300 * SIDE + 1200;
    const tm_image frame = {.samples = samples, .width = SIDE, .height = SIDE, .stride = SIDE};
    const tm_image crop = {.samples = corner, .width = SMALL, .height = SMALL, .stride = SIDE};
    const tm_image pattern = {.samples = corner + 40 * SIDE + 50, .width = 12, .height = 12, .stride = SIDE};
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &pattern), TM_OK);
    const tm_template *one = tmpl;
    tm_search_default(&search, sizeof search);
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

static void random_cases(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    device_under_test b = device_of(device, algorithm, threads);
    const int64_t cases = check_cases(5000) / 10;
    problem p;

    for (int64_t i = 0; i < cases; i++) {
        problem_random(&p);
        compare_plain(&b, &p);
    }
    /* several tiles, or strips, or blocks each way */
    for (int64_t i = 0; i < 1 + cases / 100; i++) {
        problem_make(&p, check_random_in(1100, 1300), check_random_in(300, 450),
                     check_random_in(2, 6), check_random_in(2, 6));
        compare_plain(&b, &p);
    }
    close_device(&b);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

/* All metrics, masks, colour and 16 bits. */
static void random_kinds(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    device_under_test b = device_of(device, algorithm, threads);
    const int64_t cases = check_cases(5000) / 10;

    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        kind_random(&p, 2e5);
        const scene kind = {p.frame, p.tmpl, p.metric, p.domain, p.text};
        compare_scene(&b, &kind);
        kind_free(&p);
    }
    close_device(&b);
    printf("# %" PRId64 " cases of 4 searches, 0 differ\n", cases);
}

static void reference_random(void)
{
    random_cases(TM_DEVICE_CPU, TM_ALGORITHM_REFERENCE, 1);
}

static void cpu_direct_random(void)
{
    random_cases(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 3);
}

static void cpu_fft_random(void)
{
    if (!TM_HAVE_FFTW)
        check_skip("this build has no FFT for the CPU");
    random_cases(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 3);
}

static void reference_kinds(void)
{
    random_kinds(TM_DEVICE_CPU, TM_ALGORITHM_REFERENCE, 1);
}

static void cpu_kinds(void)
{
    random_kinds(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 3);
}

static void cpu_kinds_fft(void)
{
    if (!TM_HAVE_FFTW)
        check_skip("this build has no FFT for the CPU");
    random_kinds(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 2);
}

static void cuda_fft(void)
{
    require_cuda();
    random_cases(TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 0);
}

static void cuda_kinds_fft(void)
{
    require_cuda();
    random_kinds(TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 0);
}

static void cuda_kinds(void)
{
    require_cuda();
    random_kinds(TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0);
}

static void cuda_random(void)
{
    require_cuda();
    random_cases(TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0);
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
    enum { SIZE = 2049 };
    uint8_t *samples = malloc(SIZE * SIZE);
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_settings settings;
    tm_search search;
    tm_hits hits;

    CHECK(samples);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            samples[y * SIZE + x] = x % 2 && y % 2 ? 255 : 0;
    const tm_image frame = {.samples = samples, .width = SIZE, .height = SIZE, .stride = SIZE};
    const tm_image crop = {.samples = samples + SIZE + 1, .width = 2, .height = 2, .stride = SIZE};
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    const tm_template *one = tmpl;
    tm_search_default(&search, sizeof search);
    search.min_score = 1;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_OK);
    CHECK_EQ(hits.count, 1024 * 1024);
    CHECK_EQ(hits.cut_off, 0);
    tm_hits_free(&hits);
    search.peaks = 1000;
    search.overlap = 1;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_OK);
    CHECK_EQ(hits.count, 1000);
    CHECK_EQ(hits.cut_off, 1);
    CHECK(hits.items[999].peak.x == 2 * 999 + 1 && hits.items[999].peak.y == 1);
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
    tm_settings settings;
    tm_search search;
    tm_hits hits;

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    const tm_template *one = tmpl;
    tm_search_default(&search, sizeof search);
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

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(list_selects),   TEST(refuses),     TEST(reference_random), TEST(cpu_direct_random),
        TEST(cpu_fft_random), TEST(reference_kinds), TEST(cpu_kinds), TEST(cpu_kinds_fft),
        TEST(cuda_random),    TEST(cuda_fft),    TEST(cuda_kinds),       TEST(cuda_kinds_fft),
        TEST(crops_of_a_large_frame), TEST(a_million_peaks),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
