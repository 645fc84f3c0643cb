/* SPDX-License-Identifier: MIT */
/* Certified search of one frame by several devices, however small their slices, and of the best few matches: what
 * exhaustive search on the CPU gives, bit for bit; and windows are left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certified_scenes.h"
#include "check.h"
#include "match/search.h"
#include "pool_jobs.h"

typedef struct shared_case {
    const tm_image *frame, *tmpl;
    tm_domain domain;
    tm_search search;
} shared_case;

static tm_search draw_search(void)
{
    static const double scores[] = {NAN, NAN, NAN, 0.3, 0.5, 0.8, 0.95}, overlaps[] = {0, 0.3, 0.5, 1};
    tm_search s;

    tm_search_default(&s, sizeof s);
    s.most = check_random() % 4 ? check_random_in(1, 6) : 0;
    s.min_score = scores[check_random() % 7];
    s.overlap = overlaps[check_random() % 4];
    s.margin = check_random() % 2;
    if (check_random() % 8 == 0)
        s.peaks = check_random_in(1, 40);
    return s;
}

static void expect(const shared_case *c, tm_hits *hits)
{
    tm_settings settings;
    tm_matcher *matcher;
    tm_template *tmpl;

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.strategy = TM_STRATEGY_EXHAUSTIVE;
    settings.domain = c->domain;
    settings.threads = 1;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, c->tmpl), TM_OK);
    CHECK_EQ(tm_match_peaks(matcher, c->frame, (const tm_template *const *)&tmpl, 1, &c->search, hits, NULL), TM_OK);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

/* Returns the share of windows that was scored. */
static double run(tm_pool *pool, tm_job *job)
{
    int rescues = 0;
    tm_pool_call call = {.jobs = job, .count = 1, .strategy = TM_STRATEGY_CERTIFIED, .rescue = on_cpu, .context = &rescues};

    if (job->peaks)
        job->peaks->cut = INT64_MIN;
    if (tm_pool_match(pool, &call) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s", call.message.text);
    CHECK_EQ(rescues, 0);
    return (double)call.scored / (double)(job->geometry.map_width * job->geometry.map_height);
}

/* As tm_match_peaks does. Returns the share of windows that was scored, at most 1. */
static double search(tm_pool *pool, const shared_case *c, tm_hits *hits)
{
    tm_template *tmpl;
    tm_peak_list list;
    tm_cut_rule rule;
    bool enough = false;
    double share = 0;

    CHECK_EQ(tm_template_prepare(&tmpl, c->tmpl), TM_OK);
    tm_job job = {.metric = TM_METRIC_LCC, .frame = *c->frame, .tmpl = tmpl};
    CHECK_EQ(tm_geometry_init(&job.geometry, c->domain, c->frame->width, c->frame->height, tmpl->width, tmpl->height),
             TM_OK);
    job.last_row = job.geometry.map_height;
    if (tm_search_is_for_best(&c->search)) {
        share = run(pool, &job);
        CHECK(tm_search_take_best(hits, &c->search, &job, 1));
        hits->best = tm_peak_of_job(&job);
        tm_template_destroy(&tmpl);
        return share;
    }
    const tm_peak_search first = tm_search_start(&c->search, &job);
    tm_peak_list_init(&list, &first);
    job.peaks = &list;
    tm_cut_by_device(&rule, &c->search, &job);
    for (; !enough; job.cutter = NULL) {
        share += run(pool, &job);
        CHECK_EQ(tm_search_take(hits, &c->search, &job, &(tm_cut){0}, 1, &enough), TM_OK);
    }
    hits->best = tm_peak_of_job(&job);
    tm_peak_list_free(&list);
    tm_template_destroy(&tmpl);
    return fmin(share, 1);
}

static bool same_peak(const tm_peak *a, const tm_peak *b)
{
    return a->x == b->x && a->y == b->y && a->score == b->score;
}

/* Returns the share of windows that was scored. */
static double compare(tm_pool *pool, const shared_case *c, const char *text)
{
    tm_hits hits, right;

    expect(c, &right);
    const double share = search(pool, c, &hits);
    bool same = same_peak(&hits.best, &right.best) && hits.count == right.count && hits.cut_off == right.cut_off;
    for (size_t i = 0; same && i < hits.count; i++) {
        const double a = hits.items[i].margin, b = right.items[i].margin;
        same = same_peak(&hits.items[i].peak, &right.items[i].peak) && (isnan(a) ? isnan(b) : a == b);
    }
    if (!same)
        check_fail(__FILE__, __LINE__, "%s: -n %d, %g, overlap %g, %d peaks%s: %zu matches, %zu expected", text,
                   (int)c->search.most, c->search.min_score, c->search.overlap, (int)c->search.peaks,
                   c->search.margin ? ", margin" : "", hits.count, right.count);
    tm_hits_free(&hits);
    tm_hits_free(&right);
    return share;
}

static void random_scenes(void)
{
    const int64_t cases = check_cases(40);
    int64_t left_out = 0;

    for (int devices = 1; devices <= 3; devices++) {
        tm_pool *pool = open_pool(devices, 0);
        for (int64_t i = devices; i <= cases; i += 3) {
            scene s;
            if (check_random() % 2)
                scene_make(&s, 2e7);
            else
                scene_make_easy(&s, 5e7);
            const shared_case c = {&s.frame.image, &s.tmpls[0].image, s.domain, draw_search()};
            left_out += s.count && compare(pool, &c, s.text) < 1;
            scene_free(&s);
        }
        tm_pool_destroy(&pool);
    }
    printf("# %" PRId64 " cases, 0 differ; in %" PRId64 " windows were left out\n", cases, left_out);
}

/* Matches in several places of a frame are found with few windows, by one device, and by two of which one has them all and tells the other. */
static void leaves_out(void)
{
    enum { SIDE = 32 };
    static const struct { int64_t x, y; } places[] = {{13, 20}, {301, 14}, {522, 85}};

    for (int devices = 1; devices <= 2; devices++) {
        tm_pool *pool = open_pool(devices, 0);
        if (is_fake()) {
            tm_pool_destroy(&pool);
            check_skip("these devices are CPUs, which leave out other windows");
        }
        double share = 1;
        for (int scenes = 6; scenes && share > 0.3; scenes--) {
            drawn frame = draw_smooth(640, 420), part = cut_template(&frame, 240, 120, SIDE, SIDE);
            for (size_t k = 0; k < sizeof places / sizeof *places; k++)
                for (int64_t y = 0; y < SIDE; y++)
                    memcpy((uint8_t *)frame.image.samples + (places[k].y + y) * frame.image.stride + places[k].x,
                           part.image.samples + y * part.image.stride, SIDE);
            shared_case c = {.frame = &frame.image, .tmpl = &part.image};
            tm_search_default(&c.search, sizeof c.search);
            c.search.most = 3;
            c.search.margin = devices == 1;
            share = compare(pool, &c, "smooth");
            printf("# %d devices: %.3g %% of the windows scored\n", devices, 100 * share);
            drawn_free(&part);
            drawn_free(&frame);
        }
        tm_pool_destroy(&pool);
        CHECK(share <= 0.3);
    }
}

/* Where no match suppresses another, a window that two cell windows serve is one match. */
static void no_match_twice(void)
{
    enum { SIDE = 80, SCENES = 8 };
    tm_pool *pool = open_pool(1, 0);
    drawn frame = draw_smooth(260, 160);
    double share = 1;

    for (int64_t i = 0; i < SCENES; i++) {
        drawn part = cut_template(&frame, 97 + i, 41 + i, SIDE, SIDE);
        shared_case c = {.frame = &frame.image, .tmpl = &part.image};
        tm_search_default(&c.search, sizeof c.search);
        c.search.min_score = 0.8;
        c.search.overlap = 1;
        share = fmin(share, compare(pool, &c, "smooth"));
        drawn_free(&part);
    }
    CHECK(share < 1 || is_fake());
    tm_pool_destroy(&pool);
    drawn_free(&frame);
}

int main(int argc, char **argv)
{
    /* so slow that devices wait for each other */
    static const tm_rates usual = TM_USUAL_RATES;
    static tm_rates slow[TM_MATCHER_DEVICES];
    for (int i = 0; i < TM_MATCHER_DEVICES; i++) {
        slow[i] = usual;
        slow[i].windows = slow[i].products = slow[i].plain = 1e7;
    }
    pool_rates = slow;
    static const check_test tests[] = {TEST(random_scenes), TEST(leaves_out), TEST(no_match_twice)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
