/* SPDX-License-Identifier: MIT */
/* Frames and maps by rows: the results of whole ones, in as little memory as may be. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"
#include "check.h"
#include "lcc/lcc.h"
#include "pictures.h"

enum { COUNT = 3 };

typedef struct reader {
    const tm_image *frame;
    int64_t next, fail_at; /* row; below 0: never */
    pthread_t caller;
    bool in_order, elsewhere;
} reader;

static int read_rows(void *context, int64_t first, int64_t count, uint8_t *to, ptrdiff_t stride)
{
    reader *r = context;
    r->in_order &= first == r->next && count > 0 && first + count <= r->frame->height;
    r->elsewhere &= !pthread_equal(r->caller, pthread_self());
    for (int64_t y = 0; y < count; y++) {
        if (first + y == r->fail_at)
            return 1;
        memcpy(to + y * stride, r->frame->samples + (first + y) * r->frame->stride,
               (size_t)r->frame->width);
    }
    r->next += count;
    return 0;
}

typedef struct writer {
    char *map;
    size_t row;
    int64_t next, fail_at;
    bool in_order;
} writer;

static int write_rows(void *context, int64_t first, int64_t count, const void *rows)
{
    writer *w = context;
    w->in_order &= first == w->next && count > 0;
    if (w->fail_at >= first && w->fail_at < first + count)
        return 1;
    memcpy(w->map + (size_t)first * w->row, rows, (size_t)count * w->row);
    w->next += count;
    return 0;
}

static tm_matcher *make_matcher(tm_metric metric, tm_domain domain, int64_t memory,
                                tm_device_kind device, tm_algorithm algorithm)
{
    tm_settings settings;
    tm_matcher *matcher;
    tm_settings_default(&settings, sizeof settings);
    settings.metric = metric;
    settings.domain = domain;
    settings.device = device;
    settings.device_mask = TM_ALL_DEVICES;
    settings.algorithm = algorithm;
    settings.host_memory = memory;
    settings.threads = 1; /* the thread sanitizer does not know OpenMP */
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    return matcher;
}

/* Several templates of a problem's frame, with maps of some, in a memory that makes
 * bands of few rows, against the oracle. */
static void compare(tm_device_kind device, tm_algorithm algorithm)
{
    const tm_metric metric = check_random() % 3 ? TM_METRIC_LCC : TM_METRIC_CCORR;
    const tm_domain domain = (tm_domain)(check_random() % 3);
    tm_template *tmpls[COUNT];
    writer writers[COUNT];
    tm_row_sink sinks[COUNT];
    tm_peak best[COUNT];
    tm_job expected[COUNT];
    int64_t halo = 0, row = 0;
    problem p;

    problem_make(&p, check_random_in(9, 90), check_random_in(9, 200), 2, 2);
    for (int i = 0; i < COUNT; i++) {
        const tm_image crop = {.samples = p.frame.samples,
                               .width = check_random_in(1, 9),
                               .height = check_random_in(1, 9),
                               .stride = p.frame.stride};
        CHECK_EQ(tm_template_prepare(&tmpls[i], &crop), TM_OK);
        if (tmpls[i]->flat && metric == TM_METRIC_LCC) {
            for (int k = 0; k <= i; k++)
                tm_template_destroy(&tmpls[k]);
            for (int k = 0; k < i; k++) {
                free(expected[k].map.data);
                free(writers[k].map);
            }
            problem_free(&p);
            return;
        }
        expected[i] = (tm_job){.metric = metric, .frame = p.frame, .tmpl = tmpls[i]};
        CHECK_EQ(tm_geometry_init(&expected[i].geometry, domain, p.frame.width, p.frame.height,
                                  crop.width, crop.height),
                 TM_OK);
        const tm_geometry *g = &expected[i].geometry;
        writers[i] = (writer){.row = (size_t)g->map_width * tm_map_element_size(metric),
                              .fail_at = -1, .in_order = true};
        expected[i].map = (tm_map){malloc(writers[i].row * (size_t)g->map_height),
                                   (ptrdiff_t)writers[i].row};
        writers[i].map = malloc(writers[i].row * (size_t)g->map_height);
        tm_reference_match(&expected[i]);
        sinks[i] = (tm_row_sink){check_random() % 2 ? write_rows : NULL, &writers[i]};
        halo = crop.height - 1 > halo ? crop.height - 1 : halo;
        if (sinks[i].write && (int64_t)writers[i].row > row)
            row = (int64_t)writers[i].row;
    }
    row += 2 * p.frame.width;
    const int64_t rows = halo + check_random_in(1, 40);
    tm_matcher *matcher = make_matcher(metric, domain, rows * row * 8 / 5 + 8, device, algorithm);
    reader r = {&p.frame, 0, -1, pthread_self(), true, true};
    const tm_row_source source = {p.frame.width, p.frame.height, read_rows, &r};
    if (tm_match_rows(matcher, &source, (const tm_template *const *)tmpls, COUNT, best, sinks) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", p.text, tm_matcher_message(matcher));
    CHECK(r.in_order && r.elsewhere);
    CHECK_EQ(r.next, p.frame.height);
    CHECK(strstr(tm_matcher_plan(matcher), " band")); /* or bands */
    for (int i = 0; i < COUNT; i++) {
        const tm_geometry *g = &expected[i].geometry;
        CHECK_EQ(best[i].x, expected[i].best.position % g->map_width - g->pad_x);
        CHECK_EQ(best[i].y, expected[i].best.position / g->map_width - g->pad_y);
        CHECK(best[i].score == tm_job_score(&expected[i], expected[i].best.value));
        if (sinks[i].write) {
            CHECK(writers[i].in_order);
            CHECK_EQ(writers[i].next, g->map_height);
            CHECK(memcmp(writers[i].map, expected[i].map.data,
                         writers[i].row * (size_t)g->map_height) == 0);
        }
        free(writers[i].map);
        free(expected[i].map.data);
        tm_template_destroy(&tmpls[i]);
    }
    tm_matcher_destroy(&matcher);
    problem_free(&p);
}

static void cpu_direct(void)
{
    for (int64_t i = check_cases(2000); i > 0; i--)
        compare(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT);
}

static void cpu_any(void)
{
    for (int64_t i = check_cases(2000) / 8; i > 0; i--)
        compare(TM_DEVICE_CPU, TM_ALGORITHM_AUTO);
}

static void cuda(void)
{
    require_cuda();
    for (int64_t i = check_cases(2000) / 8; i > 0; i--)
        compare(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT);
}

typedef struct small {
    uint8_t samples[60 * 40];
    tm_image frame;
    tm_template *tmpl;
} small;

static void make_small(small *s, tm_matcher *matcher)
{
    picture_noise(s->samples, sizeof s->samples);
    s->frame = (tm_image){.samples = s->samples, .width = 40, .height = 60, .stride = 40};
    const tm_image crop = {.samples = s->samples + 85, .width = 5, .height = 4, .stride = 40};
    CHECK_EQ(tm_template_create(&s->tmpl, matcher, &crop), TM_OK);
}

/* Whichever row fails, and whichever of the map's: an error, and the matcher lives. */
static void rows_that_fail(void)
{
    tm_matcher *matcher =
        make_matcher(TM_METRIC_LCC, TM_DOMAIN_VALID, 4000, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT);
    small s;
    tm_peak best = {-7, -7, -7};
    float map[57][36];

    make_small(&s, matcher);
    const tm_template *tmpl = s.tmpl;
    for (int64_t row = 0; row < 60; row++) {
        reader r = {&s.frame, 0, row, pthread_self(), true, true};
        const tm_row_source source = {40, 60, read_rows, &r};
        CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, NULL), TM_ERR_ROWS);
        CHECK_STR(tm_matcher_message(matcher), "the frame's rows were not delivered");
        CHECK(best.x == -7);
    }
    for (int64_t row = 0; row <= 57; row++) {
        reader r = {&s.frame, 0, -1, pthread_self(), true, true};
        const tm_row_source source = {40, 60, read_rows, &r};
        writer w = {(char *)map, sizeof map[0], 0, row, true};
        const tm_row_sink sink = {write_rows, &w};
        const bool fails = row < 57;
        CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, &sink),
                 fails ? TM_ERR_ROWS : TM_OK);
        CHECK_STR(tm_matcher_message(matcher),
                  fails ? "the score map's rows were not taken" : tm_matcher_message(matcher));
        CHECK(best.x == (fails ? -7 : 5));
    }
    CHECK(best.y == 2 && best.score == 1 && map[2][5] == 1);
    tm_template_destroy(&s.tmpl);
    tm_matcher_destroy(&matcher);
}

static void refuses(void)
{
    tm_matcher *matcher =
        make_matcher(TM_METRIC_LCC, TM_DOMAIN_VALID, 300, TM_DEVICE_CPU, TM_ALGORITHM_DIRECT);
    small s;
    tm_peak best;

    make_small(&s, matcher);
    const tm_template *tmpl = s.tmpl;
    reader r = {&s.frame, 0, -1, pthread_self(), true, true};
    tm_row_source source = {40, 60, read_rows, &r};
    CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, NULL), TM_ERR_MEMORY);
    CHECK(strstr(tm_matcher_message(matcher), "a band of rows takes 320 bytes"));
    source.height = 3;
    CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, NULL), TM_ERR_FRAME_TOO_SMALL);
    source.height = -1;
    CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, NULL), TM_ERR_INVALID);
    source.height = 60;
    source.read = NULL;
    CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_rows(matcher, NULL, &tmpl, 1, &best, NULL), TM_ERR_INVALID);
    CHECK_EQ(tm_match_rows(NULL, &source, &tmpl, 1, &best, NULL), TM_ERR_INVALID);
    tm_template_destroy(&s.tmpl);

    static const uint8_t mask[4] = {1, 1, 1, 0};
    const tm_image masked = {.samples = (const uint8_t *)"abcd", .width = 2, .height = 2, .stride = 2,
                             .mask = mask, .mask_stride = 2};
    tm_template *with_mask = NULL;
    source.read = read_rows;
    CHECK_EQ(tm_template_create(&with_mask, matcher, &masked), TM_OK);
    tmpl = with_mask;
    CHECK_EQ(tm_match_rows(matcher, &source, &tmpl, 1, &best, NULL), TM_ERR_INVALID);
    CHECK(strstr(tm_matcher_message(matcher), "must be 8-bit gray without a mask"));
    tm_template_destroy(&with_mask);
    tm_matcher_destroy(&matcher);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(cpu_direct), TEST(cpu_any), TEST(cuda),
                                       TEST(rows_that_fail), TEST(refuses)};
    alarm(250); /* a hang is a failure */
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
