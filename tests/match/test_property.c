/* SPDX-License-Identifier: MIT */
/* Random and awkward problems on every backend, bit for bit against the oracle. */
#include <stdlib.h>
#include <string.h>

#include "each_cpu.h"

static void random_cases(tm_device_kind device, int threads, uint32_t features)
{
    tm_settings settings = settings_of(device, TM_ALGORITHM_DIRECT, threads);
    settings.cpu_features = features;
    compare_random_with_reference(settings, check_cases(10000));
}

static matchers direct_on(tm_device_kind device, uint32_t features)
{
    matchers m = {.settings = settings_of(device, TM_ALGORITHM_DIRECT, 0)};
    m.settings.cpu_features = features;
    return m;
}

/* In a slow build, large templates with lcc alone, which has ccorr's sums too. */
static void compare_metrics(matchers *m, const problem *p)
{
    compare_with_reference(m, p, TM_METRIC_LCC, TM_DOMAIN_VALID);
    if (check_cases(10000) >= 1000 || p->tmpl.width * p->tmpl.height < 10000)
        compare_with_reference(m, p, TM_METRIC_CCORR, TM_DOMAIN_VALID);
}

/* sizes: map width, map height, template width, template height */
static void compare_sizes(matchers *m, const int64_t (*sizes)[4], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t *s = sizes[i];
        problem p;
        problem_make(&p, s[0] + s[2] - 1, s[1] + s[3] - 1, s[2], s[3]);
        compare_metrics(m, &p);
        problem_free(&p);
    }
}

/* Sizes at which sums leave 32 bits and templates are cut into panels; in a slow build not the largest three, or two,
 * in the slowest every second of the others. */
static void large_templates(tm_device_kind device, uint32_t features)
{
    static const int64_t sizes[][4] = {
        {3, 2, 257, 257}, {2, 3, 300, 230},    {40, 2, 70001, 1},  {1, 40, 1, 70001},
        {5, 4, 1030, 66}, {4, 67, 31, 1100},   {2, 1, 65536, 128}, {1, 2, 128, 65536},
        {2, 2, 2896, 2896},
    };
    matchers m = direct_on(device, features);
    const size_t step = check_is_slow() ? 2 : 1;
    const size_t largest = step > 1 ? 3 : check_cases(10000) < 1000 ? 2 : 0;

    for (size_t i = check_random() % step; i < sizeof sizes / sizeof *sizes - largest; i += step)
        compare_sizes(&m, sizes + i, 1);

    /* the greatest sums there are: all 255 but one, at the limit of pixels */
    problem p;
    problem_make(&p, 4097, 2048, 4096, 2048);
    for (int64_t y = 0; y < p.frame.height; y++)
        memset((uint8_t *)p.frame.samples + y * p.frame.stride, 255, (size_t)p.frame.width);
    for (int64_t y = 0; y < p.tmpl.height; y++)
        memset((uint8_t *)p.tmpl.samples + y * p.tmpl.stride, 255, (size_t)p.tmpl.width);
    ((uint8_t *)p.frame.samples)[17] = 254;
    ((uint8_t *)p.tmpl.samples)[17] = 254;
    compare_metrics(&m, &p);
    problem_free(&p);
    matchers_free(&m);
}

static void many_templates(tm_device_kind device)
{
    matchers m = {0};
    tm_settings_default(&m.settings, sizeof m.settings);
    m.settings.device = device;
    for (int64_t i = check_cases(10000) / 40; i > 0; i--)
        compare_many_with_reference(&m, (tm_metric)(check_random() % 4 == 0),
                                    (tm_domain)(check_random() % 3));
    matchers_free(&m);
}

/* Every second width of template up to 130 (few in a slow build), even or odd ones, with heights and maps
 * around the edges of warps' and blocks' tiles. */
static void every_width(tm_device_kind device)
{
    static const int64_t edges[] = {1, 8, 16, 32, 64};
    matchers m = direct_on(device, UINT32_MAX);
    const int64_t step = check_is_slow() ? 29 : check_cases(10000) < 1000 ? 11 : 2;
    for (int64_t w = 1 + (int64_t)(check_random() % (uint64_t)step); w <= 130; w += step) {
        for (int i = 0; i < 5; i++) {
            int64_t h = edges[i] + check_random_in(i ? -1 : 0, 1);
            int64_t map_w = 8 * check_random_in(1, 34) + check_random_in(-1, 1);
            problem p;
            problem_make(&p, map_w + w - 1, edges[check_random() % 4] + check_random_in(0, 1) + h - 1,
                         w, h);
            compare_metrics(&m, &p);
            problem_free(&p);
        }
    }
    matchers_free(&m);
}

/* LCC of noise alone: in other content a wrong sum could hide. */
static void compare_noise(matchers *m, const int64_t (*sizes)[4], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t *s = sizes[i];
        problem p;
        problem_make_noise(&p, s[0] + s[2] - 1, s[1] + s[3] - 1, s[2], s[3]);
        compare_with_reference(m, &p, TM_METRIC_LCC, TM_DOMAIN_VALID);
        problem_free(&p);
    }
}

/* Maps so high that a GPU's block makes several tiles of a column, some of them the last of one
 * column of tiles and the first of the next. Beyond the last multiple of 512 columns up to 32 more,
 * which an H200 sums apart from the tiles, or 33, and some more; the last column of tiles over the
 * map's edge, at it, or over the one before. */
static void high_maps(tm_device_kind device)
{
    static const int64_t sizes[][4] = {
        {1032, 2700, 3, 20}, {1029, 2650, 4, 31}, {520, 5201, 25, 2}, {513, 4000, 5, 9},
        {1056, 1100, 2, 30}, {1057, 1100, 2, 30}, {1041, 1300, 24, 2}, {2055, 700, 25, 3},
        {1030, 900, 3, 31},  {1064, 2700, 2, 20},
    };
    matchers m = direct_on(device, UINT32_MAX);
    compare_noise(&m, sizes, sizeof sizes / sizeof *sizes);
    compare_sizes(&m, sizes, 3); /* of any content, too */
    matchers_free(&m);
}

/* Templates wider than 25 columns, at the limits of what a GPU's block holds of them, and just
 * beyond; maps around the edges of its columns of tiles, some of so many tiles that blocks go on
 * from one column to the next. */
static void wide_templates(tm_device_kind device)
{
    static const int64_t sizes[][4] = {
        {260, 60, 26, 89},   {260, 60, 26, 90},   {1030, 41, 27, 40},
        {1030, 41, 49, 89},  {1030, 41, 50, 67},  {1026, 50, 81, 67},  {1026, 50, 81, 68},
        {1025, 33, 82, 55},  {1100, 33, 113, 55}, {1100, 33, 113, 56}, {1100, 33, 114, 55},
        {1030, 100, 25, 32}, {1024, 90, 26, 31},  {2050, 41, 26, 1},   {1, 300, 33, 33},
        {2047, 9, 32, 33},   {1023, 17, 64, 64},  {1025, 1100, 26, 5}, {2049, 1500, 30, 2},
        {3100, 800, 64, 2},  {1030, 540, 50, 26}, {1500, 700, 1, 40},   {1030, 41, 35, 81},
        {1030, 41, 67, 61},  {260, 70, 26, 124},  {260, 70, 26, 126},   {260, 70, 49, 120},
        {260, 70, 49, 121},  {260, 70, 65, 84},   {260, 70, 65, 85},    {130, 70, 81, 81},
        {130, 70, 81, 83},   {130, 70, 97, 62},   {130, 70, 113, 60},   {130, 70, 113, 61},
        {127, 63, 40, 40},   {128, 64, 41, 39},   {129, 65, 42, 38},    {257, 193, 47, 35},
        {4300, 2100, 82, 4}, {1, 1, 64, 64},      {130, 1, 48, 2},      {1, 130, 33, 31},
        {130, 70, 113, 63},  {130, 129, 96, 96},  {129, 65, 113, 113},  {131, 66, 26, 400},
        {257, 70, 81, 105},  {128, 64, 34, 380},  {40, 30, 113, 291},   {40, 30, 113, 293},
    };
    matchers m = direct_on(device, UINT32_MAX);
    compare_noise(&m, sizes, sizeof sizes / sizeof *sizes);
    matchers_free(&m);
}

/* Maps of some more tiles of 128 x 64 than a GPU has multiprocessors, so that blocks make several, some of them of two columns
 * of tiles; small enough for tools that watch every access. */
static void tall_tiles(tm_device_kind device)
{
    static const int64_t sizes[][4] = {{1700, 1000, 26, 4}, {1290, 1100, 82, 2}};
    matchers m = direct_on(device, UINT32_MAX);
    compare_noise(&m, sizes, sizeof sizes / sizeof *sizes);
    for (int i = 0; i < 3; i++) { /* of any content, where equal scores may lie in several blocks' tiles */
        problem p;
        problem_make(&p, 1701, 1002, 28, 4);
        compare_with_reference(&m, &p, TM_METRIC_LCC, TM_DOMAIN_VALID);
        problem_free(&p);
    }
    matchers_free(&m);
}

/* Every content, in maps where most windows meet a score to reach, of other blocks' tiles or of rows above in their own: flat
 * windows beside some that nearly are, scores that are equal or nearly so, and the greatest sums. */
static void contents(tm_device_kind device)
{
    static const int64_t sizes[][4] = {{1300, 1050, 27, 3}, {260, 190, 48, 40}, {300, 130, 64, 31}, {390, 128, 113, 20}, {200, 130, 97, 75}};
    const int64_t turns = check_cases(100) / 30;
    matchers m = direct_on(device, UINT32_MAX);
    for (int frame = 0; frame < PICTURE_CONTENTS; frame++)
        for (int64_t turn = 0; turn <= turns; turn++) {
            const int64_t *s = sizes[check_random() % (sizeof sizes / sizeof *sizes)];
            const picture_content tmpl = check_random() % 2 ? PICTURE_NOISE : PICTURE_NEAR_FLAT;
            problem p;
            problem_make_of(&p, s[0] + s[2] - 1, s[1] + s[3] - 1, s[2], s[3], (picture_content)frame, tmpl,
                            check_random() % 2);
            compare_with_reference(&m, &p, TM_METRIC_LCC, TM_DOMAIN_VALID);
            problem_free(&p);
        }
    matchers_free(&m);
}

/* Templates of all sizes that a GPU bounds windows for, instead of scoring all; maps around the edges of tiles of 1008 x 8, some of so many
 * that blocks go down several of them and from one column to the next; and of every content. */
static void bounded(tm_device_kind device)
{
    static const int64_t sizes[][4] = {
        {1, 1, 21, 21},     {8, 1, 25, 24},     {9, 2, 15, 9},      {1, 9, 20, 20},      {1007, 7, 16, 10},   {1008, 8, 15, 9},
        {1009, 9, 17, 24},  {1015, 17, 18, 11}, {1016, 16, 19, 23}, {2016, 25, 22, 13},  {2017, 41, 23, 22},  {3000, 65, 24, 14},
        {4032, 3, 21, 17},  {1009, 3300, 16, 9}, {3025, 1301, 25, 10}, {302500, 9, 16, 10},
        {605000, 3, 15, 9},
    };
    enum { CONTENT_TURNS = 2 };
    matchers m = direct_on(device, UINT32_MAX);
    compare_noise(&m, sizes, sizeof sizes / sizeof *sizes);
    for (int64_t width = 15; width <= 25; width++)
        for (int64_t height = 9; height <= 24; height++) {
            const int64_t size[][4] = {{1 + (int64_t)(check_random() % 1200), 1 + (int64_t)(check_random() % 40), width, height}};
            compare_noise(&m, size, 1);
        }
    for (int frame = 0; frame < PICTURE_CONTENTS; frame++)
        for (int turn = 0; turn < CONTENT_TURNS; turn++) {
            problem p;
            problem_make_of(&p, 1100 + (int64_t)(check_random() % 1000), 40 + (int64_t)(check_random() % 300), 15 + (int64_t)(check_random() % 11),
                            9 + (int64_t)(check_random() % 16), (picture_content)frame, turn ? PICTURE_NOISE : PICTURE_NEAR_FLAT,
                            check_random() % 2);
            compare_with_reference(&m, &p, TM_METRIC_LCC, TM_DOMAIN_VALID);
            problem_free(&p);
        }
    matchers_free(&m);
}

/* Groups of templates around the sizes that a GPU's block holds of them, and of maps around the edges of its
 * strips; some so high that a strip is several warpgroups'. */
static void groups(tm_device_kind device)
{
    /* map width, map height, template width, template height, templates */
    static const int64_t sizes[][5] = {
        {1, 1, 32, 32, 2},     {64, 2, 32, 31, 64},  {65, 3, 31, 32, 33},  {129, 40, 9, 7, 64},
        {130, 6, 33, 20, 40},  {66, 10, 64, 64, 16}, {63, 5, 64, 30, 33},  {200, 60, 8, 8, 40},
        {130, 700, 5, 4, 17},  {700, 90, 2, 3, 40},  {70, 12, 21, 21, 70}, {66, 12, 48, 46, 20},
        {70, 5, 20, 40, 40},   {66, 6, 20, 40, 20},  {70, 5, 20, 60, 33},  {70, 5, 32, 36, 17},
        {70, 9, 30, 96, 5},    {80, 6, 64, 80, 3},   {70, 9, 65, 10, 5},   {70, 9, 20, 129, 5},
    };
    matchers m = direct_on(device, UINT32_MAX);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *s = sizes[i];
        problem p;
        (i % 2 ? problem_make : problem_make_noise)(&p, s[0] + s[2] - 1, s[1] + s[3] - 1, s[2], s[3]);
        compare_group_with_reference(&m, &p, (size_t)s[4], false);
        compare_group_with_reference(&m, &p, (size_t)(s[4] + 1) / 2, true);
        problem_free(&p);
    }
    matchers_free(&m);
}

static void one_thread(uint32_t features)
{
    random_cases(TM_DEVICE_CPU, 1, features);
}

static void large(uint32_t features)
{
    large_templates(TM_DEVICE_CPU, features);
}

#define CPU_TEST(X, ...) X(__VA_ARGS__, one_thread) X(__VA_ARGS__, large)
DEFINE_CPU_TESTS

static void cpu_random_threads(void)
{
    random_cases(TM_DEVICE_CPU, 3, UINT32_MAX);
}

static void cuda_random(void)
{
    require_cuda();
    random_cases(TM_DEVICE_CUDA, 0, UINT32_MAX);
}

static void cuda_large_templates(void)
{
    require_cuda();
    large_templates(TM_DEVICE_CUDA, UINT32_MAX);
}

static void cpu_many(void)
{
    many_templates(TM_DEVICE_CPU);
}

static void cpu_every_width(void)
{
    every_width(TM_DEVICE_CPU);
}

static void cuda_many(void)
{
    require_cuda();
    many_templates(TM_DEVICE_CUDA);
}

static void cuda_high_maps(void)
{
    require_cuda();
    high_maps(TM_DEVICE_CUDA);
}

/* The kernels for wide and for many templates also where others are faster. */
static void require_cuda_always_wide(void)
{
    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
}

static void cuda_wide_templates(void)
{
    require_cuda_always_wide();
    wide_templates(TM_DEVICE_CUDA);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

static void cuda_tall_tiles(void)
{
    require_cuda_always_wide();
    tall_tiles(TM_DEVICE_CUDA);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

static void cuda_bounded(void)
{
    require_cuda_always_wide();
    bounded(TM_DEVICE_CUDA);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

static void cuda_contents(void)
{
    require_cuda_always_wide();
    contents(TM_DEVICE_CUDA);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

static void cuda_wide_random(void)
{
    require_cuda_always_wide();
    random_cases(TM_DEVICE_CUDA, 0, UINT32_MAX);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

static void cuda_groups(void)
{
    require_cuda_always_wide();
    groups(TM_DEVICE_CUDA);
    unsetenv("TMATCH_ALWAYS_WIDE");
}

static void cuda_every_width(void)
{
    require_cuda();
    every_width(TM_DEVICE_CUDA);
}

/* A match's time is its copies' and its kernels': no bus copies 10^12 bytes a second. */
static void cuda_times(void)
{
    static const tm_metric metrics[] = {TM_METRIC_LCC, TM_METRIC_CCORR_NORMED};
    const int64_t width = 3000, height = 2000, size = 20;
    const int64_t map_width = width - size + 1, map_height = height - size + 1;
    problem p;

    require_cuda();
    float *map = malloc((size_t)(map_width * map_height) * sizeof *map);
    CHECK(map);
    problem_make_noise(&p, width, height, size, size);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        tm_settings settings;
        tm_matcher *matcher;
        tm_template *tmpl;
        tm_peak best;
        tm_settings_default(&settings, sizeof settings);
        settings.device = TM_DEVICE_CUDA;
        settings.metric = metrics[i];
        CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
        CHECK_EQ(tm_template_create(&tmpl, matcher, &p.tmpl), TM_OK);
        for (int turn = 0; turn < 2; turn++)
            CHECK_EQ(tm_match(matcher, &p.frame, tmpl, &best,
                              &(tm_map){map, (ptrdiff_t)((size_t)map_width * sizeof *map)}),
                     TM_OK);
        const tm_times t = tm_matcher_times(matcher);
        CHECK(t.to_device >= (double)(width * height) * 1e-9);
        CHECK(t.from_device >= (double)(map_width * map_height) * sizeof *map * 1e-9);
        CHECK(t.kernel > 0 && t.to_device + t.kernel + t.from_device <= t.total);
        tm_template_destroy(&tmpl);
        tm_matcher_destroy(&matcher);
    }
    problem_free(&p);
    free(map);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        CPU_TESTS TEST(cpu_random_threads),
        TEST(cpu_many),       TEST(cpu_every_width),      TEST(cuda_random),
        TEST(cuda_large_templates), TEST(cuda_many),      TEST(cuda_every_width),
        TEST(cuda_high_maps), TEST(cuda_wide_templates),  TEST(cuda_tall_tiles),
        TEST(cuda_contents),  TEST(cuda_wide_random),     TEST(cuda_groups),
        TEST(cuda_bounded),   TEST(cuda_times),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
