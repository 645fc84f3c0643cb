/* SPDX-License-Identifier: MIT */
/* Matches of templates in poses, on every backend against brute force. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "pictures.h"
#include "poses_oracle.h"

typedef struct device_under_test {
    scene_matchers matchers;
    int64_t poses, searches, doubtful, matches;
} device_under_test;

/* A range of a few steps, of which the last one may be cut short. */
static void draw_range(double *from, double *to, double *step, int64_t most)
{
    const int64_t count = check_random_in(1, most);
    *to = *from + *step * ((double)count - 1);
    if (count > 1 && check_random() % 3 == 0)
        *to += *step * (double)check_random_in(1, 99) / 100;
    else if (count == 1 && check_random() % 2)
        *step = 0;
}

static tm_pose_grid draw_grid(void)
{
    static const double angle_steps[] = {0.5, 7.5, 12.345678, 30, 45, 90, 180, 400};
    static const double scale_steps[] = {0.01, 0.05, 0.123456, 0.25, 0.5, 1};
    tm_pose_grid g;

    tm_pose_grid_default(&g, sizeof g);
    if (check_random() % 6) {
        g.angle_from = (double)check_random_in(-8, 8) * 45;
        if (check_random() % 2)
            g.angle_from += (double)check_random_in(-90000000, 90000000) / 1e6;
        g.angle_step = angle_steps[check_random() % 8];
        draw_range(&g.angle_from, &g.angle_to, &g.angle_step, 5);
    }
    if (check_random() % 3 == 0) {
        g.scale_from = (double)check_random_in(250000, 1600000) / 1e6;
        g.scale_step = scale_steps[check_random() % 6];
        draw_range(&g.scale_from, &g.scale_to, &g.scale_step, 3);
    }
    if (check_random() % 8 == 0) {
        g.angle_to = fmin(g.angle_to, g.angle_from + 5);
        g.angle_step = 0;
    }
    if (check_random() % 8 == 0) {
        g.scale_to = fmin(g.scale_to, g.scale_from + 0.05);
        g.scale_step = 0;
    }
    g.support = (tm_support)check_random_in(0, 2);
    return g;
}

static tm_search draw_search(const posed_truth *t)
{
    static const double overlaps[] = {0, 0.3, 0.5, 0.9, 1};
    tm_search s;

    tm_search_default(&s, sizeof s);
    s.most = check_random() % 4 == 0 ? 0 : check_random() % 3 ? check_random_in(1, 8) : 1;
    if (t->count && check_random() % 2)
        s.min_score = t->sign * t->peaks[check_random() % t->count].score;
    if (check_random() % 8 == 0)
        s.min_score = t->sign * 2;
    s.overlap = overlaps[check_random() % 5];
    if (check_random() % 3 == 0)
        s.peaks = check_random_in(1, 40);
    s.margin = check_random() % 2;
    return s;
}

static bool same_hit(const posed_truth *t, const tm_posed_hit *a, const tm_posed_hit *b)
{
    bool good = a->pose == b->pose && a->score == t->sign * b->score && a->angle == b->angle &&
                a->scale == b->scale && a->center_x == b->center_x && a->center_y == b->center_y &&
                a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height &&
                same_margin(a->margin, b->margin);
    for (int i = 0; i < 8; i++)
        good = good && a->corners[i / 2][i % 2] == b->corners[i / 2][i % 2];
    return good;
}

static void check_hit(const posed_truth *t, const tm_posed_hit *a, const tm_posed_hit *b,
                      const char *text)
{
    if (!same_hit(t, a, b))
        check_fail(__FILE__, __LINE__,
                   "%s: pose %zu at (%g, %g) %.9g, margin %.9g, box %lld %lld %lld %lld; expected "
                   "pose %zu at (%g, %g) %.9g, margin %.9g, box %lld %lld %lld %lld",
                   text, a->pose, a->center_x, a->center_y, a->score, a->margin, (long long)a->x,
                   (long long)a->y, (long long)a->width, (long long)a->height, b->pose, b->center_x,
                   b->center_y, t->sign * b->score, b->margin, (long long)b->x, (long long)b->y,
                   (long long)b->width, (long long)b->height);
    if (a->fine_x != a->center_x || a->fine_y != a->center_y || a->fine_angle != a->angle ||
        a->fine_scale != a->scale)
        check_fail(__FILE__, __LINE__, "%s: a place between positions that was not asked for", text);
}

static void compare_search(device_under_test *d, const posed_truth *t, const scene *p,
                           const tm_posed_template *tmpl, const char *text)
{
    tm_matcher *tested = scene_matcher(&d->matchers, p);
    const tm_search s = draw_search(t);
    tm_posed_hit *expected = malloc((t->count + 1) * sizeof *expected);
    bool cut_off, doubtful;
    tm_posed_hits hits;
    char whole[500];

    CHECK(expected);
    snprintf(whole, sizeof whole, "%s; -n %lld, %g, overlap %g, peaks %lld%s", text,
             (long long)s.most, s.min_score, s.overlap, (long long)s.peaks,
             s.margin ? ", margin" : "");
    const tm_status status = tm_match_posed(tested, &p->frame, tmpl, &s, &hits);
    const tm_status right = t->count  ? TM_OK
                            : t->fits ? TM_ERR_NO_POSITION
                                      : TM_ERR_FRAME_TOO_SMALL;
    if (status != right)
        check_fail(__FILE__, __LINE__, "%s: %s (%d), expected status %d", whole,
                   tm_matcher_message(tested), (int)status, (int)right);
    const size_t count = posed_truth_suppress(t, &s, expected, &cut_off, &doubtful);
    d->searches++;
    d->doubtful += doubtful;
    d->matches += (int64_t)count;
    if (status == TM_OK && !doubtful) {
        /* the only match that is asked for needs no peaks, and none is cut off */
        const bool cut = cut_off && !(s.most == 1 && !s.margin);
        if (hits.count != count || !hits.cut_off != !cut)
            check_fail(__FILE__, __LINE__, "%s: %zu matches, cut off %d, expected %zu, %d", whole,
                       hits.count, hits.cut_off, count, (int)cut);
        for (size_t i = 0; i < count; i++)
            check_hit(t, &hits.items[i], &expected[i], whole);
        check_hit(t, &hits.best, &t->peaks[0], whole);
    }
    tm_posed_hits_free(&hits);
    free(expected);
}

static bool has_pose(const tm_posed_template *tmpl, const posed_truth *t, const scene *p)
{
    bool some = false;
    for (size_t i = 0; i < tm_posed_template_count(tmpl); i++) {
        tm_image own;
        tm_pose pose;
        CHECK_EQ(tm_posed_template_pose(tmpl, i, &pose), TM_OK);
        posed_picture(&own, &p->tmpl, posed_angle(&t->grid, i), posed_scale(&t->grid, i),
                      t->grid.distance);
        const size_t pixels = (size_t)(own.width * own.height);
        const size_t bytes =
            pixels * (own.type == TM_SAMPLE_U16 ? 2 : 1) * (size_t)(own.channels ? own.channels : 1);
        uint8_t *samples = malloc(bytes + 1), *mask = malloc(pixels + 1);
        CHECK(samples && mask);
        CHECK_EQ(pose.width, own.width);
        CHECK_EQ(pose.height, own.height);
        CHECK_EQ(tm_posed_template_image(tmpl, i, samples, mask), TM_OK);
        CHECK(!pixels || memcmp(samples, own.samples, bytes) == 0);
        CHECK(!pixels || memcmp(mask, own.mask, pixels) == 0);
        some = some || !pose.left_out;
        free(samples);
        free(mask);
        posed_picture_free(&own);
    }
    return some;
}

static void compare_scene(device_under_test *d, const scene *p)
{
    tm_matcher *tested = scene_matcher(&d->matchers, p);
    const tm_pose_grid wanted = draw_grid();
    tm_posed_template *tmpl = NULL;
    tm_pose_grid chosen = {.size = sizeof chosen};
    posed_truth t;
    char text[400];

    snprintf(text, sizeof text, "%s, metric %d, domain %d, angles %.6f:%.6f:%.6f, scales %.6f:%.6f:%.6f, support %d",
             p->text, (int)p->metric, (int)p->domain, wanted.angle_from, wanted.angle_to,
             wanted.angle_step, wanted.scale_from, wanted.scale_to, wanted.scale_step,
             (int)wanted.support);
    const tm_status status = tm_posed_template_create(&tmpl, tested, &p->tmpl, &wanted);
    if (status == TM_ERR_FLAT_TEMPLATE)
        return; /* all poses are; each alone is looked at where one is not */
    if (status != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", text, tm_matcher_message(tested));
    CHECK_EQ(tm_posed_template_grid(tmpl, &chosen), TM_OK);
    CHECK(!tm_pose_grid_fault(&chosen));
    posed_truth_make(&t, p, &chosen, wanted.support);
    CHECK_EQ(chosen.support, t.grid.distance < 0 ? TM_SUPPORT_FULL : TM_SUPPORT_DISC);
    CHECK_EQ(tm_posed_template_count(tmpl), t.grid.angles * t.grid.scales);
    if (!has_pose(tmpl, &t, p))
        check_fail(__FILE__, __LINE__, "%s: all poses are left out", text);
    d->poses += t.grid.angles * t.grid.scales;
    for (int i = 0; i < 4; i++)
        compare_search(d, &t, p, tmpl, text);
    posed_truth_free(&t);
    tm_posed_template_destroy(&tmpl);
}

/* A template whose poses are flat is refused only where all are. */
static void random_cases(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    device_under_test d = {.matchers = {.settings = settings_of(device, algorithm, threads)}};
    const int64_t cases = check_cases(1000) / 10;

    for (int64_t i = 0; i < cases; i++) {
        const int64_t least = check_random() % 8 ? 5 : 1;
        kind_problem k;
        kind_of_size(&k, check_random_in(1, 40), check_random_in(1, 40), check_random_in(least, 16),
                     check_random_in(least, 16));
        const scene p = {k.frame, k.tmpl, check_random() % 2 ? TM_METRIC_LCC : k.metric, k.domain, k.text};
        compare_scene(&d, &p);
        kind_free(&k);
    }
    scene_matchers_free(&d.matchers);
    printf("# %" PRId64 " cases, %" PRId64 " poses, %" PRId64 " searches, %" PRId64
           " matches, 0 differ; in %" PRId64 " searches rounding decides\n",
           cases, d.poses, d.searches, d.matches, d.doubtful);
}

DEVICE_TEST(reference_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_REFERENCE, 1)
DEVICE_TEST(cpu_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 3)
DEVICE_TEST(cpu_direct_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 2)
DEVICE_TEST(cpu_fft_random, random_cases, TM_DEVICE_CPU, TM_ALGORITHM_FFT, 2)
DEVICE_TEST(cuda_random, random_cases, TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 0)

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(reference_random), TEST(cpu_random),
                                       TEST(cpu_direct_random), TEST(cpu_fft_random),
                                       TEST(cuda_random)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
