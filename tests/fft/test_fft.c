/* SPDX-License-Identifier: MIT */
/* The FFT algorithm: every bit as the definition has it, and as direct has it
 * where the definition takes too long; tilings; the error bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "fft/tiling.h"
#include "pictures.h"

/* Pictures that make the greatest sums, and rounding errors that add up. */
static picture_content random_content(void)
{
    static const picture_content contents[] = {
        PICTURE_NOISE,  PICTURE_TWO_VALUES, PICTURE_MOST_BUT_ONE, PICTURE_BROKEN_CHECKERBOARD,
        PICTURE_HALVES, PICTURE_STRIPES};
    return contents[check_random() % (sizeof contents / sizeof *contents)];
}

typedef struct pair {
    tm_matcher *fft, *direct;
    const char *name; /* of the first one's algorithm */
} pair;

static tm_matcher *make_matcher(tm_algorithm algorithm, tm_device_kind device, tm_metric metric)
{
    tm_settings settings;
    tm_matcher *matcher;
    tm_settings_default(&settings, sizeof settings);
    settings.algorithm = algorithm;
    settings.device = device;
    settings.metric = metric;
    if (tm_matcher_create(&matcher, &settings) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s", tm_matcher_message(matcher));
    return matcher;
}

static void expect_same(const pair *m, tm_metric metric, const tm_image *frame,
                        const tm_image *picture, const char *what)
{
    size_t element = tm_map_element_size(metric);
    int64_t width = frame->width - picture->width + 1, height = frame->height - picture->height + 1;
    size_t size = element * (size_t)(width * height);
    tm_map fft = {malloc(size), (ptrdiff_t)element * width}, direct = {malloc(size), fft.stride};
    tm_peak best, best_alone, expected;
    tm_template *tmpl, *direct_tmpl;

    CHECK(fft.data && direct.data);
    memset(fft.data, 0xcd, size);
    tm_status status = tm_template_create(&tmpl, m->fft, picture);
    if (status == TM_ERR_FLAT_TEMPLATE) {
        free(fft.data);
        free(direct.data);
        return;
    }
    CHECK_EQ(status, TM_OK);
    CHECK_EQ(tm_template_create(&direct_tmpl, m->direct, picture), TM_OK);
    if (tm_match(m->fft, frame, tmpl, &best, &fft) || tm_match(m->fft, frame, tmpl, &best_alone, NULL))
        check_fail(__FILE__, __LINE__, "%s: %s", what, tm_matcher_message(m->fft));
    CHECK_STR(tm_matcher_algorithm(m->fft), m->name);
    CHECK_EQ(tm_match(m->direct, frame, direct_tmpl, &expected, &direct), TM_OK);
    if (memcmp(fft.data, direct.data, size) != 0)
        check_fail(__FILE__, __LINE__, "%s: the maps differ", what);
    if (memcmp(&best, &expected, sizeof best) != 0 || memcmp(&best_alone, &expected, sizeof best) != 0)
        check_fail(__FILE__, __LINE__, "%s: best (%lld, %lld) %.9g and (%lld, %lld) %.9g, expected (%lld, %lld) %.9g",
                   what, (long long)best.x, (long long)best.y, best.score, (long long)best_alone.x,
                   (long long)best_alone.y, best_alone.score, (long long)expected.x,
                   (long long)expected.y, expected.score);
    tm_template_destroy(&tmpl);
    tm_template_destroy(&direct_tmpl);
    free(fft.data);
    free(direct.data);
}

/* Small sizes and large ones are as likely: from 1 to most. */
static int64_t random_size(int64_t most)
{
    double share = (double)(check_random() & 0xffffff) / 0x1000000;
    int64_t size = (int64_t)exp(share * log((double)most + 1));
    return size < 1 ? 1 : size > most ? most : size;
}

/* A template up to 1024 x 1024 and a frame up to 8192 x 8192 that direct matches
 * with at most so many products; one of a hundred has eight times as many. */
static void draw_sizes(int64_t frame[2], int64_t tmpl[2], double most_products)
{
    if (check_random() % 100 == 0)
        most_products *= 8;
    do {
        for (int i = 0; i < 2; i++) {
            tmpl[i] = random_size(1024);
            frame[i] = tmpl[i] - 1 + random_size(8192 - tmpl[i] + 1);
        }
    } while (tmpl[0] * tmpl[1] < 2 ||
             (double)(tmpl[0] * tmpl[1]) * (double)(frame[0] - tmpl[0] + 1) *
                     (double)(frame[1] - tmpl[1] + 1) > most_products);
}

/* Every third template is cut from its frame. */
static void compare_random(const pair pairs[2], bool cut, double most_products, int64_t *elements)
{
    int metric = check_random() % 4 == 0;
    int64_t sizes[2][2];
    draw_sizes(sizes[0], sizes[1], most_products);
    int64_t w = sizes[1][0], h = sizes[1][1];
    const picture_content content = random_content(), of_template = random_content();
    uint8_t *samples = picture_bytes(content, sizes[0][0], sizes[0][1]);
    uint8_t *template_samples = picture_bytes(of_template, w, h);
    tm_image frame = {.samples = samples, .width = sizes[0][0], .height = sizes[0][1],
                      .stride = (ptrdiff_t)sizes[0][0]};
    tm_image picture = {.samples = template_samples, .width = w, .height = h,
                        .stride = (ptrdiff_t)w};
    char what[160];

    if (cut) {
        picture.samples = samples + check_random_in(0, frame.height - h) * frame.width +
                          check_random_in(0, frame.width - w);
        picture.stride = frame.stride;
    }
    snprintf(what, sizeof what, "frame %lldx%lld %s, template %lldx%lld %s, metric %d",
             (long long)frame.width, (long long)frame.height, picture_content_names[content], (long long)w,
             (long long)h, cut ? "cut from it" : picture_content_names[of_template], metric);
    expect_same(&pairs[metric], (tm_metric)metric, &frame, &picture, what);
    *elements += (frame.width - w + 1) * (frame.height - h + 1);
    free(samples);
    free(template_samples);
}

static void against_direct(tm_device_kind device, tm_algorithm algorithm, int64_t cases,
                           double most_products)
{
    int64_t elements = 0;
    pair pairs[2];

    for (int metric = 0; metric < 2; metric++) {
        pairs[metric].name = algorithm == TM_ALGORITHM_FFT ? "fft" : "cufft";
        pairs[metric].fft = make_matcher(algorithm, device, (tm_metric)metric);
        pairs[metric].direct = make_matcher(TM_ALGORITHM_DIRECT, device, (tm_metric)metric);
    }
    for (int64_t i = 0; i < cases; i++)
        compare_random(pairs, i % 3 == 0, most_products, &elements);
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
    for (int metric = 0; metric < 2; metric++) {
        tm_matcher_destroy(&pairs[metric].fft);
        tm_matcher_destroy(&pairs[metric].direct);
    }
}

/* Several tiles beside and above each other, in several runs where those are small; then the greatest sums of products that 32
 * bits hold, larger ones, and a template for which the blocks of window sums are the widest. */
static void tiles(tm_algorithm algorithm)
{
    static const int64_t sizes[][4] = {{1800, 440, 30, 30}, {300, 1200, 40, 12}, {260, 258, 256, 256}, {262, 259, 257, 257}, {3110, 5, 3100, 4}};
    pair m = {.name = algorithm == TM_ALGORITHM_FFT ? "fft" : "cufft"};

    for (int metric = 0; metric < 2; metric++) {
        m.fft = make_matcher(algorithm, TM_DEVICE_CUDA, (tm_metric)metric);
        m.direct = make_matcher(TM_ALGORITHM_DIRECT, TM_DEVICE_CPU, (tm_metric)metric);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const picture_content content = i == 2 ? PICTURE_MOST_BUT_ONE : PICTURE_NOISE;
            uint8_t *samples = picture_bytes(content, sizes[i][0], sizes[i][1]);
            const tm_image frame = {.samples = samples, .width = sizes[i][0], .height = sizes[i][1],
                                    .stride = (ptrdiff_t)sizes[i][0]};
            const tm_image picture = {.samples = samples, .width = sizes[i][2], .height = sizes[i][3],
                                      .stride = frame.stride};
            expect_same(&m, (tm_metric)metric, &frame, &picture, "tiles");
            free(samples);
        }
        tm_matcher_destroy(&m.fft);
        tm_matcher_destroy(&m.direct);
    }
}

/* Small problems, all domains, strides and edges. */
static void against_reference(tm_device_kind device, tm_algorithm algorithm)
{
    compare_random_with_reference(settings_of(device, algorithm, 0), check_cases(2000));
}

/* Several templates in one call. */
static void many(tm_device_kind device, tm_algorithm algorithm)
{
    matchers m = {.settings = settings_of(device, algorithm, 0)};
    for (int64_t i = check_cases(2000) / 20; i > 0; i--)
        compare_many_with_reference(&m, (tm_metric)(check_random() % 4 == 0),
                                    (tm_domain)(check_random() % 3));
    matchers_free(&m);
}

static void cpu_fft_reference(void)
{
    against_reference(TM_DEVICE_CPU, TM_ALGORITHM_FFT);
}

static void cpu_fft_many(void)
{
    many(TM_DEVICE_CPU, TM_ALGORITHM_FFT);
}

static void cpu_fft_direct(void)
{
    against_direct(TM_DEVICE_CPU, TM_ALGORITHM_FFT, check_cases(150), check_is_slow() ? 3e8 : 2e9);
}

static void cuda_fft_reference(void)
{
    require_cuda();
    against_reference(TM_DEVICE_CUDA, TM_ALGORITHM_FFT);
}

static void cuda_fft_tiles(void)
{
    require_cuda();
    tiles(TM_ALGORITHM_FFT);
}

static void cuda_fft_many(void)
{
    require_cuda();
    many(TM_DEVICE_CUDA, TM_ALGORITHM_FFT);
}

static void cuda_fft_direct(void)
{
    require_cuda();
    against_direct(TM_DEVICE_CUDA, TM_ALGORITHM_FFT, check_cases(300), 4e11);
}

/* Comes before the library is there: it is not opened twice. */
static void cuda_cufft_missing(void)
{
    tm_settings settings;
    tm_matcher *matcher;
    char *own = getenv("TMATCH_CUFFT");

    require_cuda();
    own = own ? strdup(own) : NULL;
    setenv("TMATCH_CUFFT", "/nowhere/libcufft.so", 1);
    tm_settings_default(&settings, sizeof settings);
    settings.algorithm = TM_ALGORITHM_CUFFT;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_ERR_INVALID);
    CHECK(strncmp(tm_matcher_message(matcher),
                  "the cufft algorithm needs what TMATCH_CUFFT names: /nowhere/libcufft.so: ", 73) == 0);
    tm_matcher_destroy(&matcher);
    if (own)
        setenv("TMATCH_CUFFT", own, 1);
    else
        unsetenv("TMATCH_CUFFT");
    free(own);
    settings.device = TM_DEVICE_CPU;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_ERR_INVALID);
    CHECK_STR(tm_matcher_message(matcher), "the cufft algorithm runs on CUDA devices only");
    tm_matcher_destroy(&matcher);
}

static void cuda_cufft_reference(void)
{
    require_cufft();
    against_reference(TM_DEVICE_CUDA, TM_ALGORITHM_CUFFT);
}

static void cuda_cufft_tiles(void)
{
    require_cufft();
    tiles(TM_ALGORITHM_CUFFT);
}

static void cuda_cufft_many(void)
{
    require_cufft();
    many(TM_DEVICE_CUDA, TM_ALGORITHM_CUFFT);
}

static void cuda_cufft_direct(void)
{
    require_cufft();
    against_direct(TM_DEVICE_CUDA, TM_ALGORITHM_CUFFT, check_cases(300), 4e11);
}

/* Each window lies in one part of one tile. */
static void tilings_cover_the_map(void)
{
    static const tm_fft_length lengths[] = {{16, 1}, {48, 1}, {128, 1.1}, {600, 1.2}};
    const tm_fft_costs costs = {lengths, 4, .window_ns = 1, .max_points = 600 * 600};

    for (int i = 0; i < 2000; i++) {
        tm_geometry g;
        tm_fft_tiling t;
        int64_t w = check_random_in(1, 650), h = check_random_in(1, 650);
        CHECK_EQ(tm_geometry_init(&g, TM_DOMAIN_VALID, w + check_random_in(0, 900),
                                  h + check_random_in(0, 900), w, h), TM_OK);
        CHECK_EQ(tm_fft_tile_map(&t, &g, &costs, 3), w <= 600 && h <= 600);
        if (w > 600 || h > 600)
            continue;
        CHECK(t.step_x >= 1 && t.step_x + w - 1 <= t.length_x);
        CHECK(t.step_y >= 1 && t.step_y + h - 1 <= t.length_y);
        CHECK(t.across * t.step_x >= t.range_x && (t.across - 1) * t.step_x < t.range_x);
        CHECK(t.down * t.step_y >= t.range_y && (t.down - 1) * t.step_y < t.range_y);
        CHECK((t.shift_x == 0) != (t.shift_y == 0));
        CHECK(t.shift_x ? t.range_x == t.shift_x && 2 * t.range_x >= g.map_width &&
                              t.range_y == g.map_height
                        : t.range_y == t.shift_y && 2 * t.range_y >= g.map_height &&
                              t.range_x == g.map_width);
    }
}

/* At the greatest template there is, with the greatest samples. */
static void bound_allows_every_template(void)
{
    tm_template t = {.width = 2896, .height = 2896, .n = 2896 * 2896};
    t.sum_sq = t.n * 65025;
    tm_fft_tiling tiling = {.length_x = 8192, .length_y = 8192};
    double bound = tm_fft_error_bound(&tiling, &t);
    CHECK(bound > 0.01 && bound < TM_FFT_MAX_ERROR);
    tiling.length_x = tiling.length_y = 65536;
    CHECK(!(tm_fft_error_bound(&tiling, &t) < TM_FFT_MAX_ERROR));
}

static void refuses_what_it_cannot_do(void)
{
    tm_matcher *matcher = make_matcher(TM_ALGORITHM_FFT, TM_DEVICE_CPU, TM_METRIC_LCC);
    uint8_t *samples = picture_bytes(PICTURE_NOISE, 70010, 1);
    tm_image frame = {.samples = samples, .width = 70010, .height = 1, .stride = 70010},
             picture = {.samples = samples, .width = 70000, .height = 1, .stride = 70000};
    tm_template *tmpl;
    tm_peak best;

    CHECK_EQ(tm_template_create(&tmpl, matcher, &picture), TM_OK);
    CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_ERR_INVALID);
    CHECK(strncmp(tm_matcher_message(matcher), "no FFT: ", 8) == 0);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    free(samples);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(tilings_cover_the_map),     TEST(bound_allows_every_template),
        TEST(refuses_what_it_cannot_do), TEST(cpu_fft_reference),
        TEST(cpu_fft_many),              TEST(cpu_fft_direct),
        TEST(cuda_fft_reference),        TEST(cuda_fft_many),
        TEST(cuda_fft_direct),           TEST(cuda_cufft_missing),
        TEST(cuda_cufft_reference),      TEST(cuda_cufft_many),
        TEST(cuda_fft_tiles),            TEST(cuda_cufft_tiles),
        TEST(cuda_cufft_direct),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
