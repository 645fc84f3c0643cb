/* SPDX-License-Identifier: MIT */
/* Searches that need more than the best match find the same by either strategy: small templates
 * in larger frames, with many peaks and many that tie. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tmatch/tmatch.h"

enum { SIZE = 320, STAMPS = 4 };

typedef struct scene {
    uint8_t samples[SIZE * SIZE];
    tm_image frame, tmpl;
} scene;

static void draw_noise(scene *s, int values)
{
    for (int i = 0; i < SIZE * SIZE; i++)
        s->samples[i] = (uint8_t)((int64_t)(check_random() % (unsigned)values) * 255 / (values - 1));
}

/* Each sample becomes the mean of those beside and above it. */
static void smooth(scene *s)
{
    for (int i = SIZE + 1; i < SIZE * SIZE; i++)
        s->samples[i] = (uint8_t)((s->samples[i] + s->samples[i - 1] + s->samples[i - SIZE] + 1) / 3);
}

static void put_stamp(scene *s, const uint8_t *stamp, int side, int x, int y, int error)
{
    for (int i = 0; i < side * side; i++) {
        uint8_t *to = &s->samples[(y + i / side) * SIZE + x + i % side];
        *to = (uint8_t)(stamp[i] / 2 + 60 + (error ? (int)(check_random() % (unsigned)error) : 0));
    }
}

/* Copies of a few stamps, on a grid or anywhere, some with errors: so there are ties, boxes that
 * overlap in chains, and shoulders beside matches. */
static void stamp(scene *s, bool on_grid)
{
    uint8_t stamps[STAMPS][32 * 32];
    const int side = (int)check_random_in(3, 32), step = side + (int)check_random_in(-side / 2, side);

    for (int i = 0; i < STAMPS; i++)
        for (int k = 0; k < side * side; k++)
            stamps[i][k] = (uint8_t)(check_random() % 192);
    for (int i = 0; i < 200; i++) {
        const int across = (SIZE - side) / step + 1;
        int x = (int)check_random_in(0, SIZE - side), y = (int)check_random_in(0, SIZE - side);
        if (on_grid) {
            x = i % across * step;
            y = i / across * step;
        }
        if (y + side <= SIZE)
            put_stamp(s, stamps[check_random() % STAMPS], side, x, y, check_random() % 2 ? 0 : 40);
    }
}

static void draw(scene *s)
{
    const int kind = (int)(check_random() % 6);

    draw_noise(s, kind < 2 ? 2 + kind : 256);
    if (kind >= 3)
        for (int64_t i = check_random_in(1, 4); i > 0; i--)
            smooth(s);
    if (kind >= 4)
        stamp(s, kind == 4);
}

/* Cuts a template out of the frame, and adds noise to it. False where it is flat. */
static bool cut_template(scene *s, uint8_t *memory)
{
    const int64_t width = check_random_in(2, 40), height = check_random_in(2, 40);
    const int64_t x = check_random_in(0, s->frame.width - width), y = check_random_in(0, s->frame.height - height);
    const int noise = check_random() % 2 ? 0 : 30;
    bool flat = true;

    for (int64_t i = 0; i < width * height; i++) {
        const int value = s->frame.samples[(y + i / width) * s->frame.stride + x + i % width];
        memory[i] = (uint8_t)(value * 3 / 4 + (noise ? (int)(check_random() % (unsigned)noise) : 0));
        flat = flat && memory[i] == memory[0];
    }
    s->tmpl = (tm_image){.samples = memory, .width = width, .height = height, .stride = width};
    return !flat;
}

static tm_search draw_search(double best)
{
    static const double overlaps[] = {0, 0.3, 0.3, 0.7, 1};
    const double scores[] = {NAN, NAN, 0, 0.3, 0.5, 0.7, 0.9, 0.9 * best, best, 0.6 * best};
    tm_search s;

    tm_search_default(&s, sizeof s);
    s.most = check_random() % 3 == 0 ? 0 : check_random() % 3 == 0 ? check_random_in(1, 60) : check_random_in(1, 3);
    s.min_score = scores[check_random() % (sizeof scores / sizeof *scores)];
    s.overlap = overlaps[check_random() % 5];
    if (check_random() % 8 == 0)
        s.peaks = check_random_in(1, 300);
    s.margin = check_random() % 3 > 0;
    s.subpixel = check_random() % 8 == 0;
    return s;
}

static bool same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static bool same_place(const tm_peak *a, const tm_peak *b)
{
    return a->x == b->x && a->y == b->y && a->score == b->score;
}

static void compare(const tm_hits *a, const tm_hits *b, const tm_search *s, const scene *c)
{
    bool same = a->count == b->count && !a->cut_off == !b->cut_off && same_place(&a->best, &b->best);

    for (size_t i = 0; i < a->count && same; i++) {
        const tm_hit *p = &a->items[i], *q = &b->items[i];
        same = same_place(&p->peak, &q->peak) && same_number(p->margin, q->margin) && p->dx == q->dx &&
               p->dy == q->dy;
    }
    if (!same)
        check_fail(__FILE__, __LINE__,
                   "frame %dx%d, template %dx%d, -n %d, least %g, overlap %g, %d peaks, margin %d: %zu matches, "
                   "cut off %d, exhaustive %zu, %d",
                   (int)c->frame.width, (int)c->frame.height, (int)c->tmpl.width, (int)c->tmpl.height, (int)s->most,
                   s->min_score, s->overlap, (int)s->peaks, s->margin, a->count, a->cut_off, b->count, b->cut_off);
}

typedef struct counts {
    int64_t certified, scored_some; /* searches that were so, and in which windows were left out */
} counts;

/* The same template for an exhaustive and another matcher. */
typedef struct both {
    tm_matcher *matchers[2];
    tm_template *tmpls[2];
} both;

static both open_both(const scene *s, tm_settings settings, tm_strategy strategy)
{
    both b = {0};

    for (int k = 0; k < 2; k++) {
        settings.strategy = k ? strategy : TM_STRATEGY_EXHAUSTIVE;
        CHECK_EQ(tm_matcher_create(&b.matchers[k], &settings), TM_OK);
        CHECK_EQ(tm_template_create(&b.tmpls[k], b.matchers[k], &s->tmpl), TM_OK);
    }
    return b;
}

static void close_both(both *b)
{
    for (int k = 0; k < 2; k++) {
        tm_template_destroy(&b->tmpls[k]);
        tm_matcher_destroy(&b->matchers[k]);
    }
}

static void compare_search(const both *b, const scene *s, const tm_search *search, counts *n)
{
    tm_hits hits[2];

    for (int k = 0; k < 2; k++)
        CHECK_EQ(tm_match_peaks(b->matchers[k], &s->frame, (const tm_template *const *)&b->tmpls[k], 1, search,
                                &hits[k], NULL),
                 TM_OK);
    compare(&hits[1], &hits[0], search, s);
    n->certified += strcmp(tm_matcher_strategy(b->matchers[1]), "certified") == 0;
    n->scored_some += tm_matcher_scored(b->matchers[1]) < 1;
    tm_hits_free(&hits[0]);
    tm_hits_free(&hits[1]);
}

/* Searches the frame in a few ways with the same matchers. */
static void compare_scene(const scene *s, tm_settings settings, counts *n)
{
    tm_peak best;

    settings.domain = (tm_domain)(check_random() % 3);
    both b = open_both(s, settings, check_random() % 4 ? TM_STRATEGY_CERTIFIED : TM_STRATEGY_AUTO);
    CHECK_EQ(tm_match(b.matchers[0], &s->frame, b.tmpls[0], &best, NULL), TM_OK);
    for (int i = 0; i < 4; i++) {
        const tm_search search = draw_search(best.score);
        compare_search(&b, s, &search, n);
    }
    close_both(&b);
}

static void strategies_agree(void)
{
    const int64_t cases = check_cases(60);
    uint8_t memory[40 * 40];
    scene *s = malloc(sizeof *s);
    counts n = {0, 0};
    tm_settings settings;

    CHECK(s);
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    for (int64_t i = 0; i < cases; i++) {
        settings.threads = (int)check_random_in(1, 3);
        draw(s);
        s->frame = (tm_image){.samples = s->samples, .width = check_random_in(40, SIZE),
                              .height = check_random_in(40, SIZE), .stride = SIZE};
        if (cut_template(s, memory))
            compare_scene(s, settings, &n);
    }
    printf("# %" PRId64 " searches were certified, and %" PRId64 " left windows out\n", n.certified, n.scored_some);
    free(s);
}

/* Stripes that match themselves a period off: a place that overlaps the match and scores well may lie
 * in rows that are looked at beforehand, when the match itself does not. In a slow build, at some heights. */
static void shoulders_are_no_matches(void)
{
    enum { SIDE = 20, PERIOD = 4, WIDTH = 40, HEIGHT = 220 };
    scene *s = malloc(sizeof *s);
    uint8_t stripes[SIDE * SIDE];
    counts n = {0, 0};
    tm_settings settings;
    tm_search search;

    CHECK(s);
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.threads = 1;
    tm_search_default(&search, sizeof search);
    search.min_score = 0.9;
    search.margin = 1;
    for (int i = 0; i < SIDE * SIDE; i++)
        stripes[i] = (uint8_t)(i / SIDE % PERIOD < PERIOD / 2 ? 200 - i % SIDE : i % SIDE);
    const int step = check_is_slow() ? 7 : 1;
    for (int y = (int)check_random_in(0, step - 1); y + SIDE <= HEIGHT; y += step) {
        memset(s->samples, 50, sizeof s->samples);
        for (int i = 0; i < SIDE; i++)
            memcpy(&s->samples[(y + i) * SIZE + 9], stripes + i * SIDE, SIDE);
        s->samples[60 * SIZE + 35] = s->samples[160 * SIZE + 35] = 51; /* a little scores there */
        s->frame = (tm_image){.samples = s->samples, .width = WIDTH, .height = HEIGHT, .stride = SIZE};
        s->tmpl = (tm_image){.samples = stripes, .width = SIDE, .height = SIDE, .stride = SIDE};
        both b = open_both(s, settings, TM_STRATEGY_CERTIFIED);
        for (search.most = 0; search.most < 3; search.most++)
            compare_search(&b, s, &search, &n);
        close_both(&b);
    }
    free(s);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(strategies_agree), TEST(shoulders_are_no_matches)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
