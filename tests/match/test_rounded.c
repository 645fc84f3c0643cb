/* SPDX-License-Identifier: MIT */
/* 16-bit gray whose template is rounded to 8 bits for all windows: no window that matters is left out, and the best match is
 * the oracle's, bit for bit. */
#include <math.h>
#include <stdlib.h>

#include "backends.h"
#include "check.h"
#include "integers.h"
#include "kinds.h"
#include "pictures.h"
#include "lcc/lcc.h"
#include "lcc/rounded.h"

static uint16_t *samples_of(const tm_image *image, int64_t y)
{
    return (uint16_t *)(void *)(image->samples + y * image->stride);
}

/* The ways in which a picture's samples are changed. */
enum { KEPT, BYTES, FAR_BYTES, FEW_BITS, OUTLIER, WAYS };
static const char *const way_names[WAYS] = {"as it is", "of 8 bits", "of 8 bits far from 0", "of 10 bits", "of 9 bits but for a sample"};

static void change(const tm_image *image, int way)
{
    for (int64_t y = 0; y < image->height; y++) {
        uint16_t *row = samples_of(image, y);
        for (int64_t x = 0; x < image->width; x++)
            row[x] = (uint16_t)(way == BYTES ? row[x] >> 8 : way == FAR_BYTES ? 60000 + (row[x] >> 8) : way == FEW_BITS ? row[x] >> 6
                                : way == OUTLIER ? row[x] >> 7 : row[x]);
    }
    if (way == OUTLIER)
        samples_of(image, check_random_in(0, image->height - 1))[check_random_in(0, image->width - 1)] = 65535;
}

/* Pastes the template so many times, with samples that are off by up to so much, and brighter and steeper or not. */
static void paste(const tm_image *frame, const tm_image *tmpl, int64_t count, int noise)
{
    for (; count > 0; count--) {
        const int64_t left = check_random_in(0, frame->width - tmpl->width), top = check_random_in(0, frame->height - tmpl->height);
        const int64_t gain = check_random() % 2 ? 4 : check_random_in(1, 4), offset = check_random() % 2 ? 0 : check_random_in(0, 9000);
        for (int64_t y = 0; y < tmpl->height; y++) {
            for (int64_t x = 0; x < tmpl->width; x++)
                samples_of(frame, top + y)[left + x] =
                    (uint16_t)smaller(samples_of(tmpl, y)[x] * gain / 4 + offset + check_random_in(0, noise), 65535);
        }
    }
}

/* A frame with so large a map of VALID and a template of this size, in any content; some have copies of the template, of which
 * several are equal or nearly so. */
static void make(kind_problem *p, int64_t map_w, int64_t map_h, int64_t w, int64_t h)
{
    const picture_content content = picture_random_content();
    const int way = (int)check_random_in(0, WAYS - 1), noise = (int[]){0, 0, 1, 100, 3000}[check_random_in(0, 4)];
    const int64_t copies = check_random() % 2 ? check_random_in(1, 12) : 0;
    const bool cut = check_random() % 3;

    *p = (kind_problem){.metric = TM_METRIC_LCC};
    p->memory[0] = picture_make(&p->frame, map_w + w - 1, map_h + h - 1, TM_SAMPLE_U16, 1, content);
    p->memory[1] = picture_make(&p->tmpl, w, h, TM_SAMPLE_U16, 1, picture_random_content());
    if (cut)
        picture_cut(&p->tmpl, &p->frame);
    change(&p->tmpl, way);
    if (check_random() % 2)
        change(&p->frame, way);
    paste(&p->frame, &p->tmpl, copies, noise);
    snprintf(p->text, sizeof p->text, "frame %lldx%lld %s, template %lldx%lld %s, %s, %lld copies +%d", (long long)p->frame.width,
             (long long)p->frame.height, picture_content_names[content], (long long)w, (long long)h, cut ? "cut" : "made",
             way_names[way], (long long)copies, noise);
}

static tm_sums sums_of(const tm_template *t, const tm_image *frame, int64_t left, int64_t top)
{
    tm_sums s = {0};
    for (int64_t i = 0; i < t->n; i++) {
        const int64_t f = samples_of(frame, top + i / t->width)[left + i % t->width];
        s.s_ft += f * tm_sample_at(t->samples, i, t->type);
        s.s_ff += f * f;
        s.s_f[0] += f;
    }
    return s;
}

/* A window in the plane of both templates: beyond the template, seen from the rounded one, by so many times their distance, or
 * on the other side. As far as samples of 16 bits allow. */
static void lean(const tm_image *window, const tm_template *t, double times)
{
    const tm_template *r = t->rounded;
    const double n = (double)t->n, mean = (double)t->sum / n, rounded_mean = (double)r->sum / n;
    double product = 0, most = 0;

    for (int64_t i = 0; i < t->n; i++)
        product += ((double)tm_sample_at(t->samples, i, t->type) - mean) * ((double)r->samples[i] - rounded_mean);
    const double step = product * n / (double)r->variance;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < t->n; i++) {
            const double exact = (double)tm_sample_at(t->samples, i, t->type) - mean;
            const double value = exact + times * (exact - step * ((double)r->samples[i] - rounded_mean));
            if (pass == 0)
                most = fmax(most, fabs(value));
            else
                samples_of(window, i / t->width)[i % t->width] = (uint16_t)lround(32767 + 32767 * value / most);
        }
    }
}

typedef struct scores {
    float exact, rounded;
} scores;

static scores scores_of(const tm_template *t, const tm_image *frame, int64_t x, int64_t y)
{
    const tm_scorer exact = tm_scorer_make(t, TM_METRIC_LCC), rounded = tm_scorer_make(t->rounded, TM_METRIC_LCC);
    const tm_sums s = sums_of(t, frame, x, y), r = sums_of(t->rounded, frame, x, y);
    return (scores){tm_score_of(&exact, &s).score, tm_score_of(&rounded, &r).score};
}

/* Of windows of a frame, and of pairs that lean to either side as far. */
static void score_windows(scores *windows, int count, const tm_template *t, const kind_problem *p)
{
    tm_image leaning;
    void *memory = picture_make(&leaning, t->width, t->height, TM_SAMPLE_U16, 1, PICTURE_ZEROS);
    double times = 0;

    for (int i = 0; i < count; i++) {
        if (i % 2 == 0 && i < count / 2)
            times = exp((double)check_random_in(-1000, 5000) / 1000);
        if (i < count / 2) {
            lean(&leaning, t, i % 2 ? times : -times);
            windows[i] = scores_of(t, &leaning, 0, 0);
        } else {
            windows[i] = scores_of(t, &p->frame, check_random_in(0, p->frame.width - t->width),
                                   check_random_in(0, p->frame.height - t->height));
        }
    }
    free(memory);
}

/* Whatever window is best by the rounded template: none that scores as much as it with the template itself is below the limit. */
static void limit_holds(void)
{
    enum { WINDOWS = 40 };
    int64_t below = 0, near = 0, compared = 0;

    for (int64_t i = check_cases(4000); i > 0; i--) {
        kind_problem p;
        tm_template *t;
        scores window[WINDOWS];
        make(&p, check_random_in(1, 30), check_random_in(1, 20), check_random_in(1, 12), check_random_in(1, 12));
        CHECK_EQ(tm_template_prepare(&t, &p.tmpl), TM_OK);
        CHECK_EQ(t->rounded != NULL, !t->flat);
        if (t->rounded)
            score_windows(window, WINDOWS, t, &p);
        for (int k = 0; t->rounded && k < WINDOWS * WINDOWS; k++) {
            const scores a = window[k / WINDOWS], b = window[k % WINDOWS];
            const float limit = tm_rounded_limit(tm_rounding_of(t->rounded_sine), a.rounded);
            CHECK(limit <= a.rounded || limit == 0);
            if (b.exact >= a.exact && limit > 0 && b.rounded < limit)
                check_fail(__FILE__, __LINE__, "%s: %.9g and %.9g, rounded %.9g and %.9g, limit %.9g", p.text, a.exact, b.exact,
                           a.rounded, b.rounded, limit);
            near += b.exact >= a.exact && limit > 0 && a.rounded - b.rounded > 0.9f * (a.rounded - limit);
            below += limit > 0 && b.rounded < limit;
            compared++;
        }
        tm_template_destroy(&t);
        kind_free(&p);
    }
    CHECK(below > 0 && near > 0);
    printf("# %" PRId64 " pairs of windows, %" PRId64 " below the limit, %" PRId64 " that score as much near it\n", compared, below, near);
}

static void compare(const kind_problem *p)
{
    kind_compare(p, settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 0));
}

/* Sizes around the strips and tiles of the products, and around the scores' runs; half of them so small that pixels are taken as
 * they came. */
static void cuda_random(void)
{
    static const int64_t widths[] = {26, 33, 34, 49, 50, 64, 65, 66, 81, 82, 97, 98, 113, 127, 128};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    const int64_t cases = check_cases(400);

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        const bool small = check_random() % 2;
        make(&p, check_random() % 4 ? check_random_in(1, 200) : check_random_in(450, 1060), check_random_in(1, 24),
             small ? check_random_in(1, 25) : widths[check_random_in(0, WIDTHS - 1)], check_random_in(1, small ? 31 : 40));
        p.domain = (tm_domain)(small || check_random() % 2 ? 0 : check_random_in(1, 2));
        compare(&p);
        kind_free(&p);
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %" PRId64 " cases, 0 differ\n", cases);
}

/* So large that this way is taken anyway; and small templates in frames that come in chunks. */
static void cuda_large(void)
{
    const int64_t cases = check_cases(6) / 3 + 1;

    require_cuda();
    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        make(&p, 2048 + check_random_in(-1, 1), 160, 64, 64);
        compare(&p);
        kind_free(&p);
        make(&p, 4600 + check_random_in(-1, 1), 2300, check_random_in(2, 4), check_random_in(1, 3));
        compare(&p);
        kind_free(&p);
    }
    printf("# %" PRId64 " cases, 0 differ\n", 2 * cases);
}

/* Matchers of the GPU and the CPU, kept from frame to frame. */
enum { MATCHERS = 2 };

static void open_matchers(tm_matcher *pair[MATCHERS])
{
    static const tm_device_kind devices[MATCHERS] = {TM_DEVICE_CUDA, TM_DEVICE_CPU};
    for (int i = 0; i < MATCHERS; i++) {
        const tm_settings settings = settings_of(devices[i], TM_ALGORITHM_DIRECT, 0);
        CHECK_EQ(tm_matcher_create(&pair[i], &settings), TM_OK);
    }
}

static void close_matchers(tm_matcher *pair[MATCHERS])
{
    for (int i = 0; i < MATCHERS; i++)
        tm_matcher_destroy(&pair[i]);
}

static void compare_matchers(tm_matcher *pair[MATCHERS], const kind_problem *p)
{
    tm_peak best[MATCHERS];
    for (int i = 0; i < MATCHERS; i++) {
        tm_template *t;
        CHECK_EQ(tm_template_create(&t, pair[i], &p->tmpl), TM_OK);
        CHECK_EQ(tm_match(pair[i], &p->frame, t, &best[i], NULL), TM_OK);
        tm_template_destroy(&t);
    }
    CHECK(kind_same_peak(&best[0], &best[1]));
}

/* One matcher and template, frame after frame: where all windows are alike the list is too short, all windows are scored by
 * all products, and so are the frames after it. */
static void match_frames(int64_t w, int64_t h)
{
    tm_matcher *pair[MATCHERS];
    kind_problem p;

    open_matchers(pair);
    make(&p, 320, 260, w, h);
    free(p.memory[1]);
    p.memory[1] = picture_make(&p.tmpl, w, h, TM_SAMPLE_U16, 1, PICTURE_NOISE);
    for (int i = 0; i < 14; i++) {
        const picture_content content = (picture_content[]){PICTURE_NOISE, PICTURE_ZEROS, PICTURE_STRIPES}[i % 7 < 5 ? 0 : i % 7 - 4];
        free(p.memory[0]);
        p.memory[0] = picture_make(&p.frame, p.frame.width, p.frame.height, TM_SAMPLE_U16, 1, content);
        if (i == 9)
            paste(&p.frame, &p.tmpl, 5, 1);
        compare_matchers(pair, &p);
    }
    close_matchers(pair);
    kind_free(&p);
}

static void cuda_frames(void)
{
    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    match_frames(30, 9);
    match_frames(12, 9);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

/* Frames that are clipped at their edges, shaded, or smooth, so that blocks know of no good score when they begin, and so large that
 * this way is taken. */
static void cuda_shaded(void)
{
    static const int64_t sizes[][4] = {{2600, 2500, 13, 11}, {1100, 1200, 40, 30}};
    tm_matcher *pair[MATCHERS];

    require_cuda();
    open_matchers(pair);
    for (int i = 0; i < 8; i++) {
        const int64_t *size = sizes[i % 2], noise = i / 2 % 2 ? 0 : 60, clipped = i < 4 ? 300 : 0;
        kind_problem p;
        make(&p, size[0], size[1], size[2], size[3]);
        for (int64_t y = 0; y < p.frame.height; y++) {
            for (int64_t x = 0; x < p.frame.width; x++) {
                const int64_t shade = 5 * x + 7 * y + 3000 + (int64_t)(2000 * sin((double)x / 90) * cos((double)y / 70));
                samples_of(&p.frame, y)[x] = (uint16_t)(x < clipped || y < clipped ? 65535 : shade + check_random_in(0, noise));
            }
        }
        for (int64_t y = 0; y < p.tmpl.height; y++) {
            for (int64_t x = 0; x < p.tmpl.width; x++)
                samples_of(&p.tmpl, y)[x] = (uint16_t)(9000 + (x > y) * 3000 + check_random_in(0, 300));
        }
        if (i % 4)
            paste(&p.frame, &p.tmpl, 1, 20);
        compare_matchers(pair, &p);
        kind_free(&p);
    }
    close_matchers(pair);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(limit_holds),
        TEST(cuda_random),
        TEST(cuda_large),
        TEST(cuda_frames),
        TEST(cuda_shaded),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
