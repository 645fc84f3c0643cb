/* SPDX-License-Identifier: MIT */
/* Certified search gives what exhaustive search gives, bit for bit, and leaves windows out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certified_compare.h"
#include "each_cpu.h"
#include "pictures.h"

static certified_test test_of(tm_device_kind device, int threads, uint32_t features)
{
    certified_test t = {.settings = settings_of(device, TM_ALGORITHM_AUTO, threads)};
    t.settings.cpu_features = features;
    return t;
}

static void random_cases(tm_device_kind device, int threads, uint32_t features)
{
    certified_test t = test_of(device, threads, features);

    const int64_t cases = check_cases(features ? 40 : 10);
    for (int64_t i = check_is_slow() ? (cases + 1) / 2 : cases; i > 0; i--) /* half of them in a slow build */
        compare_certified(&t);
    printf("# %" PRId64 " cases, %" PRId64 " certified, %" PRId64
           " with the oracle too, 0 differ; %.3g %% of a case's windows scored in the mean\n",
           t.cases, t.certified_cases, t.with_oracle, 100 * t.scored / (double)t.cases);
    certified_test_close(&t);
}

/* The greatest share of windows that is scored in a real picture's like, for templates from the
 * first of these sides on. */
static double share_scored(tm_device_kind device, uint32_t features, size_t first)
{
    enum { X = 413, Y = 287 };
    static const int64_t sides[] = {21, 32, 64};
    double share = 0;
    drawn frame = draw_smooth(1500, 900);
    certified_test t = test_of(device, 1, features);
    tm_matcher *matcher;

    t.settings.strategy = TM_STRATEGY_CERTIFIED;
    CHECK_EQ(tm_matcher_create(&matcher, &t.settings), TM_OK);
    for (size_t i = first; i < sizeof sides / sizeof *sides; i++) {
        drawn cut = cut_template(&frame, X, Y, sides[i], sides[i]);
        tm_template *tmpl = NULL;
        tm_peak best;
        CHECK_EQ(tm_template_create(&tmpl, matcher, &cut.image), TM_OK);
        CHECK_EQ(tm_match(matcher, &frame.image, tmpl, &best, NULL), TM_OK);
        const bool certified = strcmp(tm_matcher_strategy(matcher), "certified") == 0;
        CHECK(certified || tm_matcher_scored(matcher) == 1);
        printf("# %d x %d: %.3g %% of the windows scored\n", (int)sides[i], (int)sides[i],
               100 * tm_matcher_scored(matcher));
        share = fmax(share, tm_matcher_scored(matcher));
        CHECK(best.x == X && best.y == Y);
        tm_template_destroy(&tmpl);
        drawn_free(&cut);
    }
    tm_matcher_destroy(&matcher);
    drawn_free(&frame);
    return share;
}

/* Most windows are left out: a search that scored them all would pass all other tests. */
static void leaves_out(uint32_t features)
{
    /* the quicker products are, the larger templates must be for the search to pay; without
     * instruction sets the least one is searched as quickly exhaustively; and of some frames others */
    const uint32_t quick = TM_CPU_AVX512VNNI | TM_CPU_AVXVNNI | TM_CPU_AMX_INT8;
    const size_t first = features & quick ? 2 : features == 0;
    for (int frames = 4; share_scored(TM_DEVICE_CPU, features, first) >= 0.2;)
        CHECK(--frames);
}

/* Templates that share a frame's sums: the first one is flat where a first guess looks at it. */
static void shares_after_flat(void)
{
    drawn frame = draw_smooth(700, 300), cut = cut_template(&frame, 401, 123, 24, 24);
    uint8_t grid[24 * 24];
    const tm_image flat = {.samples = grid, .width = 24, .height = 24, .stride = 24};
    tm_peak best[2][2];

    for (int i = 0; i < 24 * 24; i++)
        grid[i] = (i % 24 / 2 + i / 24 / 2) % 2 ? 200 : 100;
    for (int k = 0; k < 2; k++) {
        certified_test t = test_of(TM_DEVICE_CPU, 1, UINT32_MAX);
        tm_template *tmpls[2] = {NULL, NULL};
        tm_matcher *matcher;
        t.settings.strategy = k ? TM_STRATEGY_EXHAUSTIVE : TM_STRATEGY_CERTIFIED;
        CHECK_EQ(tm_matcher_create(&matcher, &t.settings), TM_OK);
        CHECK_EQ(tm_template_create(&tmpls[0], matcher, &flat), TM_OK);
        CHECK_EQ(tm_template_create(&tmpls[1], matcher, &cut.image), TM_OK);
        CHECK_EQ(tm_match_many(matcher, &frame.image, (const tm_template *const *)tmpls, 2, best[k], NULL), TM_OK);
        tm_template_destroy(&tmpls[0]);
        tm_template_destroy(&tmpls[1]);
        tm_matcher_destroy(&matcher);
    }
    for (int i = 0; i < 2; i++)
        CHECK(best[0][i].x == best[1][i].x && best[0][i].y == best[1][i].y && best[0][i].score == best[1][i].score);
    drawn_free(&cut);
    drawn_free(&frame);
}

/* The other metrics and kinds of pictures: the same answer without leaving anything out. */
static void exhaustive_elsewhere(tm_device_kind device)
{
    for (int64_t i = check_cases(80) / 3 + 1; i > 0; i--) {
        static const tm_sample_type types[] = {TM_SAMPLE_U8, TM_SAMPLE_U16};
        const int kind = (int)(check_random() % 4);
        const tm_sample_type type = types[kind == 1];
        const int channels = kind == 2 ? 3 : 1;
        certified_test t = test_of(device, 1, UINT32_MAX);
        tm_image frame, tmpl;
        tm_peak best[2];
        tm_status status[2];

        t.settings.metric = kind ? TM_METRIC_LCC : (tm_metric)check_random_in(1, 5);
        t.settings.domain = (tm_domain)(check_random() % 3);
        void *memory[2] = {picture_make(&frame, check_random_in(30, 200), check_random_in(30, 90), type, channels,
                                        picture_random_content()),
                           picture_make(&tmpl, check_random_in(2, 30), check_random_in(2, 30), type, channels,
                                        PICTURE_NOISE)};
        tm_image *masked = check_random() & 1 ? &frame : &tmpl;
        uint8_t *mask = kind == 3 ? picture_mask_out(masked, 9) : NULL;
        if (mask && !memchr(mask, 0, (size_t)(masked->width * masked->height)))
            mask[0] = 0; /* a template's mask that leaves nothing out is none */
        for (int k = 0; k < 2; k++) {
            tm_matcher *matcher;
            tm_template *prepared = NULL;
            t.settings.strategy = k ? TM_STRATEGY_EXHAUSTIVE : TM_STRATEGY_CERTIFIED;
            CHECK_EQ(tm_matcher_create(&matcher, &t.settings), TM_OK);
            CHECK_EQ(tm_template_create(&prepared, matcher, &tmpl), TM_OK);
            status[k] = tm_match(matcher, &frame, prepared, &best[k], NULL);
            CHECK(status[k] == TM_OK || status[k] == TM_ERR_NO_POSITION);
            if (status[k] == TM_OK) {
                CHECK_STR(tm_matcher_strategy(matcher), "exhaustive");
                CHECK(tm_matcher_scored(matcher) == 1);
            }
            tm_template_destroy(&prepared);
            tm_matcher_destroy(&matcher);
        }
        CHECK_EQ(status[0], status[1]);
        if (status[0] == TM_OK)
            CHECK(best[0].x == best[1].x && best[0].y == best[1].y && best[0].score == best[1].score);
        free(mask);
        free(memory[0]);
        free(memory[1]);
    }
}

static void one_thread(uint32_t features)
{
    random_cases(TM_DEVICE_CPU, 1, features);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, one_thread) X(__VA_ARGS__, leaves_out)
DEFINE_CPU_TESTS

static void cpu_threads(void)
{
    random_cases(TM_DEVICE_CPU, 0, UINT32_MAX);
}

static void cpu_exhaustive_elsewhere(void)
{
    exhaustive_elsewhere(TM_DEVICE_CPU);
}

static void cuda_random(void)
{
    require_cuda();
    random_cases(TM_DEVICE_CUDA, 0, UINT32_MAX);
}

/* One template in frame after frame: what they leave decides how the next ones are searched, in some of them by other coarse templates. */
static void cuda_frames(void)
{
    enum { FRAMES = 10, DEVICES = 2 };
    certified_test t[DEVICES] = {test_of(TM_DEVICE_CUDA, 1, UINT32_MAX), test_of(TM_DEVICE_CPU, 1, UINT32_MAX)};
    tm_matcher *handles[DEVICES];
    tm_template *tmpls[DEVICES] = {NULL, NULL};

    require_cuda();
    const int64_t width = check_random_in(9, 28), height = check_random_in(9, 28);
    drawn first = draw_smooth(300, 220), cut = cut_template(&first, 150, 110, width, height);
    t[0].settings.strategy = TM_STRATEGY_CERTIFIED, t[1].settings.strategy = TM_STRATEGY_EXHAUSTIVE;
    for (int k = 0; k < DEVICES; k++) {
        CHECK_EQ(tm_matcher_create(&handles[k], &t[k].settings), TM_OK);
        CHECK_EQ(tm_template_create(&tmpls[k], handles[k], &cut.image), TM_OK);
    }
    for (int i = 0; i < FRAMES; i++) {
        drawn other = draw_smooth(300, 220);
        tm_peak best[DEVICES];
        for (int k = 0; k < DEVICES; k++)
            CHECK_EQ(tm_match(handles[k], i % 3 == 1 ? &other.image : &first.image, tmpls[k], &best[k], NULL), TM_OK);
        CHECK(best[0].x == best[1].x && best[0].y == best[1].y && best[0].score == best[1].score);
        drawn_free(&other);
    }
    for (int k = 0; k < DEVICES; k++) {
        tm_template_destroy(&tmpls[k]);
        tm_matcher_destroy(&handles[k]);
    }
    drawn_free(&cut);
    drawn_free(&first);
}

/* On a GPU many windows are scored where many are left, which is not so in all scenes. */
static void cuda_leaves_out(void)
{
    enum { SCENES = 6 };
    int left_out = 0;
    require_cuda();
    if (getenv("TMATCH_FAKE_CERTIFIED"))
        check_skip("these devices are CPUs, which leave out other windows");
    for (int i = 0; i < SCENES && !left_out; i++)
        left_out += share_scored(TM_DEVICE_CUDA, UINT32_MAX, 0) < 0.2;
    CHECK(left_out > 0);
}

/* The matches of a template that is in a frame three times, and what share of windows was scored. */
static double several(tm_device_kind device, tm_strategy strategy, const drawn *frame, const drawn *cut, tm_hits *hits)
{
    certified_test t = test_of(device, 1, UINT32_MAX);
    tm_matcher *matcher;
    tm_template *tmpl = NULL;
    tm_search search;

    tm_search_default(&search, sizeof search);
    search.most = 0;
    search.min_score = 0.95;
    t.settings.strategy = strategy;
    CHECK_EQ(tm_matcher_create(&matcher, &t.settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &cut->image), TM_OK);
    CHECK_EQ(tm_match_peaks(matcher, &frame->image, (const tm_template *const *)&tmpl, 1, &search, hits, NULL), TM_OK);
    const double scored = tm_matcher_scored(matcher);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return scored;
}

static void cuda_finds_several(void)
{
    enum { SIDE = 40, SCENES = 4 };
    static const struct { int64_t x, y; } places[] = {{13, 207}, {301, 14}, {522, 333}};
    int left_out = 0;
    require_cuda();
    if (getenv("TMATCH_FAKE_CERTIFIED"))
        check_skip("these devices are CPUs, which leave out other windows");
    for (int i = 0; i < SCENES && !left_out; i++) {
        drawn frame = draw_smooth(700, 500), cut = cut_template(&frame, 240, 120, SIDE, SIDE);
        tm_hits hits, right;
        for (size_t k = 0; k < sizeof places / sizeof *places; k++)
            for (int64_t y = 0; y < SIDE; y++)
                memcpy((uint8_t *)frame.image.samples + (places[k].y + y) * frame.image.stride + places[k].x,
                       cut.image.samples + y * cut.image.stride, SIDE);
        left_out = several(TM_DEVICE_CUDA, TM_STRATEGY_CERTIFIED, &frame, &cut, &hits) < 0.2;
        several(TM_DEVICE_CPU, TM_STRATEGY_EXHAUSTIVE, &frame, &cut, &right);
        CHECK(hits.count == right.count && hits.count >= sizeof places / sizeof *places);
        for (size_t k = 0; k < hits.count; k++)
            CHECK(hits.items[k].peak.x == right.items[k].peak.x && hits.items[k].peak.y == right.items[k].peak.y &&
                  hits.items[k].peak.score == right.items[k].peak.score);
        tm_hits_free(&hits);
        tm_hits_free(&right);
        drawn_free(&cut);
        drawn_free(&frame);
    }
    CHECK(left_out > 0);
}

static void cuda_exhaustive_elsewhere(void)
{
    require_cuda();
    exhaustive_elsewhere(TM_DEVICE_CUDA);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        CPU_TESTS TEST(cpu_threads),
        TEST(shares_after_flat), TEST(cpu_exhaustive_elsewhere), TEST(cuda_random), TEST(cuda_frames),
        TEST(cuda_leaves_out), TEST(cuda_finds_several), TEST(cuda_exhaustive_elsewhere),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
