/* SPDX-License-Identifier: MIT */
/* Every metric on every kind of picture, bit for bit against the oracle; and what
 * others were reported to get wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "pictures.h"
#include "lcc/metrics.h"

static void random_cases(tm_settings settings, double products)
{
    const int64_t cases = check_cases(1000);
    int64_t elements = 0;
    for (int64_t i = 0; i < cases; i++) {
        kind_problem p;
        kind_random(&p, products);
        elements += kind_compare(&p, settings);
        kind_free(&p);
    }
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
}

static void oracle_is_the_formula(void)
{
    for (int64_t i = check_cases(1000); i > 0; i--) {
        kind_problem p;
        kind_random(&p, 1e5);
        kind_check_oracle(&p);
        kind_free(&p);
    }
}

static void cpu_direct(void)
{
    random_cases(settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1), 3e5);
}

static void cpu_direct_threads(void)
{
    random_cases(settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 3), 3e5);
}

static void cpu_direct_plain_c(void)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1);
    settings.cpu_features = 0;
    random_cases(settings, 1e5);
}

static void cpu_fft(void)
{
    random_cases(settings_of(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 2), 2e5);
}

/* Tiles of 8192 points, and as much memory for the planes as for those. */
static void cpu_fft_in_bands(void)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_FFT, 1);
    settings.host_memory = 8 * 3 * 16 * 8192;
    for (int64_t i = check_cases(400) / 4; i > 0; i--) {
        kind_problem p;
        kind_of_size(&p, check_random_in(100, 300), check_random_in(30, 120), check_random_in(1, 12),
                     check_random_in(1, 12));
        kind_compare(&p, settings);
        kind_free(&p);
    }
}

static void cuda_random(void)
{
    require_cuda();
    random_cases(settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 1), 3e5);
}

static void cuda_fft(void)
{
    require_cuda();
    random_cases(settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_FFT, 1), 2e5);
}

static void cuda_cufft(void)
{
    require_cufft();
    random_cases(settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_CUFFT, 1), 2e5);
}

/* Bits, channels and masks that say the same give the same bits. */
static void same_picture_same_bits(void)
{
    enum { W = 37, H = 23, TW = 7, TH = 6 };
    static uint8_t narrow[H * W], ones[TH * TW];
    static uint16_t wide[H * W];
    for (int i = 0; i < W * H; i++)
        wide[i] = narrow[i] = (uint8_t)check_random();
    memset(ones, 1, sizeof ones);

    for (int metric = 0; metric < TM_METRICS; metric++) {
        tm_image frames[] = {
            {.samples = narrow, .width = W, .height = H, .stride = W},
            {.samples = (const uint8_t *)wide, .width = W, .height = H, .stride = 2 * W,
             .type = TM_SAMPLE_U16},
        };
        float map[3][H * W];
        int64_t sums[3][H * W];
        tm_peak best[3];
        for (int i = 0; i < 3; i++) {
            const tm_image *frame = &frames[i == 1];
            tm_image tmpl = *frame;
            tmpl.samples += 5 * frame->stride + 9 * frame->stride / W;
            tmpl.width = TW;
            tmpl.height = TH;
            if (i == 2) {
                tmpl.mask = ones;
                tmpl.mask_stride = TW;
            }
            tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 1);
            settings.metric = (tm_metric)metric;
            tm_matcher *matcher;
            tm_template *t;
            tm_map view = {tm_metric_is_integer(settings.metric) ? (void *)sums[i] : map[i],
                           (ptrdiff_t)(W * tm_map_element_size(settings.metric))};
            memset(map[i], 0, sizeof map[i]);
            memset(sums[i], 0, sizeof sums[i]);
            CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
            CHECK_EQ(tm_template_create(&t, matcher, &tmpl), TM_OK);
            CHECK_EQ(tm_match(matcher, frame, t, &best[i], &view), TM_OK);
            CHECK(memcmp(map[0], map[i], sizeof map[0]) == 0);
            CHECK(memcmp(sums[0], sums[i], sizeof sums[0]) == 0);
            CHECK(memcmp(&best[0], &best[i], sizeof best[0]) == 0);
            tm_template_destroy(&t);
            tm_matcher_destroy(&matcher);
        }
        if (metric != TM_METRIC_CCORR && metric != TM_METRIC_CCOEFF) {
            CHECK_EQ(best[0].x, 9);
            CHECK_EQ(best[0].y, 5);
            CHECK(best[0].score == (tm_metric_is_distance((tm_metric)metric) ? 0 : 1));
        }
    }
}

/* The greatest sums of 16 bits: beyond 64 bits, and beyond binary32's exponents. */
static void greatest_sums(tm_device_kind device)
{
    enum { W = 2049, H = 4096, TW = 2048 };
    uint16_t *samples = malloc((size_t)W * H * 2);
    CHECK(samples);
    for (int i = 0; i < W * H; i++)
        samples[i] = (uint16_t)(i * (int64_t)7 % 3 ? 65535 : 0);
    tm_image frame = {.samples = (const uint8_t *)samples, .width = W, .height = H,
                      .stride = 2 * W, .type = TM_SAMPLE_U16};
    tm_image tmpl = frame;
    tmpl.width = TW;
    /* The oracle takes seconds, the formula in long double a minute in an emulator: on CUDA and in a slow build
     * the two metrics that leave 64 bits or integers, without the formula; in the slowest one of the two. */
    const bool all = device == TM_DEVICE_CPU && check_cases(1000) >= 500, one = check_is_slow();
    for (int metric = one && check_random() % 2; metric < (all ? TM_METRICS : 2); metric += 1 + one) {
        kind_problem p = {.frame = frame, .tmpl = tmpl, .metric = (tm_metric)metric};
        snprintf(p.text, sizeof p.text, "greatest sums, metric %d", metric);
        kind_compare(&p, settings_of(device, TM_ALGORITHM_DIRECT, 0));
        if (all)
            kind_check_oracle(&p);
    }
    free(samples);
}

static void cpu_greatest_sums(void)
{
    greatest_sums(TM_DEVICE_CPU);
}

/* Some kind. sizes: map width, map height, template width, template height. */
static void cuda_size(const int64_t sizes[4])
{
    kind_problem p;
    kind_of_size(&p, sizes[0], sizes[1], sizes[2], sizes[3]);
    kind_compare(&p, settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 0));
    kind_free(&p);
}

static void cuda_sizes(const int64_t (*sizes)[4], size_t count, size_t times)
{
    for (size_t i = 0; i < times * count; i++)
        cuda_size(sizes[i / times]);
    printf("# %zu cases, 0 differ\n", times * count);
}

/* Large enough to be copied in chunks. */
static void cuda_chunks(void)
{
    static const int64_t sizes[][4] = {{9000, 1100, 3, 2}, {4600, 2300, 2, 5}};
    require_cuda();
    cuda_sizes(sizes, sizeof sizes / sizeof *sizes, 4);
}

/* Also templates that do not fit the tensor cores' kernels, columns whose sums do not fit 32 bits at once, and several bands. */
static void cuda_large(void)
{
    static const int64_t sizes[][4] = {
        {5, 7, 100, 650}, {3, 300, 9, 1500}, {300, 2, 5000, 2}, {3, 2, 300, 260}, {700, 600, 3, 2}, {4, 3, 1, 17000}, {4, 3, 2, 17000},
    };
    require_cuda();
    greatest_sums(TM_DEVICE_CUDA);
    cuda_sizes(sizes, sizeof sizes / sizeof *sizes, 2);
}

/* Windows that a block's columns hold few of, in some rows. */
static void cuda_wide_windows(void)
{
    static const int64_t sizes[][4] = {
        {300, 9, 129, 3}, {300, 9, 265, 3}, {1100, 6, 520, 2}, {300, 9, 700, 3}, {40, 13, 768, 2},
    };
    require_cuda();
    cuda_sizes(sizes, sizeof sizes / sizeof *sizes, 6);
}

/* Templates whose products of planes are made by wgmma: an odd and an even number of units of 16 columns; maps that tiles of 128 x 64
 * windows cover and do not, and such of which a block has many. */
static void cuda_wide_planes(void)
{
    static const int64_t sizes[][4] = {
        {128, 64, 26, 1},  {1025, 9, 33, 2},   {40, 17, 34, 32},   {1023, 70, 49, 33}, {2049, 33, 50, 64},
        {300, 41, 64, 64}, {1100, 24, 65, 7},  {127, 129, 66, 9},  {1030, 16, 81, 40}, {2047, 7, 82, 21},
        {129, 65, 97, 25}, {60, 60, 98, 11},   {1500, 15, 113, 8}, {500, 130, 32, 32}, {1400, 900, 26, 2},
    };
    enum { COUNT = sizeof sizes / sizeof *sizes };
    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    const size_t cases = (size_t)check_cases(6 * COUNT), first = (size_t)check_random() % COUNT;
    for (size_t i = 0; i < cases; i++)
        cuda_size(sizes[(first + i) % COUNT]);
    unsetenv("TMATCH_ALWAYS_WIDE");
    /* so large that it takes less time; the oracle takes a second or two */
    const int64_t large[4] = {2048, 224, 64, 64};
    for (size_t i = 0; i < cases / COUNT; i++)
        cuda_size(large);
    printf("# %zu cases, 0 differ\n", cases + cases / COUNT);
}

/* The best LCC of some template in RGB of 8 bits, gray of 16, or of 8 with a mask: of that many bytes a pixel; 0: of 8 bits without a mask.
 * sizes: map width, map height, template width, template height. */
static void cuda_best_of(int bytes, tm_domain domain, const int64_t sizes[4])
{
    const tm_sample_type type = bytes == 2 ? TM_SAMPLE_U16 : TM_SAMPLE_U8;
    const picture_content content = picture_random_content();
    const int channels = bytes == 3 ? 3 : 1;
    const int64_t w = sizes[2], h = sizes[3];
    kind_problem p = {.metric = TM_METRIC_LCC, .domain = domain};

    p.memory[0] = picture_make(&p.frame, sizes[0] + w - 1, sizes[1] + h - 1, type, channels, content);
    p.memory[1] = picture_make(&p.tmpl, w, h, type, channels, picture_random_content());
    if (check_random() % 3)
        picture_cut(&p.tmpl, &p.frame);
    if (bytes == 1)
        p.memory[2] = picture_mask(&p.tmpl, (int)check_random_in(1, PICTURE_MASKS - 1));
    snprintf(p.text, sizeof p.text, "%d bytes, domain %d, frame %lldx%lld %s, template %lldx%lld", bytes, (int)domain,
             (long long)p.frame.width, (long long)p.frame.height, picture_content_names[content], (long long)w, (long long)h);
    kind_compare(&p, settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 0));
    kind_free(&p);
}

/* They are scored from pixels as they lie. A row's bytes are a multiple of four or not; sizes around the tiles of 512 x 8
 * windows, heights around groups of 8 rows; maps so large that this takes less time; such whose tiles are many for a
 * warpgroup, down one column and in the next one; a frame that comes in chunks; and templates so narrow that SAME has no
 * padding on the left. */
static void cuda_pixels(void)
{
    static const int64_t widths[] = {1, 2, 7, 503, 511, 512, 513, 536, 1024, 1025, 1100}, narrow[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {2, 9}, {1, 13}};
    enum { WIDTHS = sizeof widths / sizeof *widths, NARROW = sizeof narrow / sizeof *narrow };
    const int cases = (int)check_cases(120), few = (cases + 11) / 12;
    int chunked = 0;

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = 0; i < cases; i++)
        cuda_best_of(i % 2 ? 2 : 3, TM_DOMAIN_VALID,
                     (int64_t[]){check_random() % 2 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(1, 700),
                                 check_random_in(1, 60), check_random_in(1, 25), check_random_in(1, 31)});
    for (int i = 0; i < 2 * few; i++) {
        const int64_t *size = narrow[check_random_in(0, NARROW - 1)];
        cuda_best_of(i % 2 ? 2 : 3, (tm_domain)check_random_in(1, 2),
                     (int64_t[]){check_random_in(1, 700), check_random_in(1, 300), size[0], size[1]});
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    for (int i = 0; i < few; i++) {
        const int bytes = i % 2 ? 2 : 3;
        cuda_best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1500, 1700), check_random_in(300, 400), check_random_in(1, 12), check_random_in(1, 10)});
        if (i % 4 < 2)
            cuda_best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1, 8), 30000, check_random_in(1, 25), check_random_in(1, 31)});
        else
            cuda_best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){2049, 2400, check_random_in(1, 5), check_random_in(1, 12)});
        if (i % 8 < 2) {
            cuda_best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){bytes == 3 ? 3100 : 4600, bytes == 3 ? 2200 : 2300, 3, 2});
            chunked++;
        }
    }
    printf("# %d cases, 0 differ\n", cases + 4 * few + chunked);
}

/* All sums under a mask are products, made by wgmma where both fit: template and mask together up to 25 rows, by themselves with 26. Sizes around the
 * tiles of 512 x 8 windows. */
static void cuda_masked(void)
{
    static const int64_t widths[] = {1, 2, 127, 128, 511, 512, 513, 1025}, heights[] = {1, 2, 7, 8, 9, 24, 25, 26, 27};
    enum { WIDTHS = sizeof widths / sizeof *widths, HEIGHTS = sizeof heights / sizeof *heights };
    const int cases = (int)check_cases(120), few = (cases + 11) / 12;

    require_cuda();
    for (int i = 0; i < cases; i++)
        cuda_best_of(1, TM_DOMAIN_VALID,
                     (int64_t[]){check_random() % 2 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(1, 700), check_random_in(1, 60),
                                 check_random_in(2, 25), check_random() % 2 ? heights[check_random_in(0, HEIGHTS - 1)] : check_random_in(1, 31)});
    for (int i = 0; i < few; i++) /* several tiles for each warpgroup */
        cuda_best_of(1, TM_DOMAIN_VALID, (int64_t[]){check_random_in(2040, 2060), check_random_in(1000, 1100), check_random_in(2, 6), check_random_in(1, 6)});
    printf("# %d cases, 0 differ\n", cases + few);
}

/* Wider templates with a mask or of RGB, in tiles of 128 x 64 windows: every number of units of 16 columns, and blocks of one tile, of
 * two and of several, the last ones of which lie in the next column of tiles. */
static void tall_tiles_of(int bytes)
{
    static const int64_t widths[] = {26, 33, 34, 49, 50, 65, 66, 81, 82, 97, 98, 113}, maps[][2] = {{1, 1}, {128, 64}, {129, 65}, {127, 63}};
    enum { WIDTHS = sizeof widths / sizeof *widths, MAPS = sizeof maps / sizeof *maps };
    const int cases = (int)check_cases(60), few = (cases + 11) / 12;

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = 0; i < cases; i++) {
        const int64_t *map = maps[check_random_in(0, MAPS - 1)], random[2] = {check_random_in(1, 700), check_random_in(1, 200)};
        cuda_best_of(bytes, (tm_domain)(i % 5 ? TM_DOMAIN_VALID : check_random_in(1, 2)),
                     (int64_t[]){i % 2 ? map[0] : random[0], i % 2 ? map[1] : random[1],
                                 i % 3 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(26, 113), check_random_in(1, i % 8 ? 20 : 80)});
    }
    for (int i = 0; i < few; i++)
        cuda_best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1600, 2100), check_random_in(1000, 1500), check_random_in(26, 40), check_random_in(1, 4)});
    cuda_best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){4600, 2300, 26, 1}); /* in chunks */
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases + few + 1);
}

static void cuda_wide_masked(void)
{
    tall_tiles_of(1);
}

static void cuda_wide_rgb(void)
{
    tall_tiles_of(3);
}

/* Templates of which shared memory has room for some rows or columns at a time, from whole ones to several parts across and down: around
 * the heights and the widths at which there is one part more. */
static void cuda_parts(void)
{
    static const int64_t widths[] = {50, 66, 82, 97, 98, 113, 114, 129, 130, 145, 146, 177, 225, 257},
                         heights[] = {1, 38, 60, 75, 76, 77, 87, 88, 102, 103, 120, 121, 152, 240, 257};
    enum { WIDTHS = sizeof widths / sizeof *widths, HEIGHTS = sizeof heights / sizeof *heights };
    const int cases = (int)check_cases(60);

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = 0; i < cases; i++) {
        const int64_t w = i % 5 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(26, 400), most = 257 * 257 / w;
        const int64_t h = i % 3 ? heights[check_random_in(0, HEIGHTS - 1)] : check_random_in(1, 400);
        cuda_best_of(i % 4, (tm_domain)(i % 7 ? TM_DOMAIN_VALID : check_random_in(1, 2)),
                     (int64_t[]){check_random_in(1, 140), check_random_in(1, 70), w, h < most ? h : most});
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases);
}

/* Maps of sums that threads share in runs of 15 windows, 480 columns a row, or do not; and under a mask, where each sum is one
 * map. Widths of templates around 2, 3, 4 and 8 runs; maps around a tile's columns; a few rows and many; and templates around the
 * greatest height. */
static void cuda_runs(void)
{
    static const int64_t widths[] = {29, 30, 31, 32, 45, 46, 47, 60, 61, 64, 75, 76, 126, 127};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    const int cases = (int)check_cases(60);
    int tall = 0;

    require_cuda();
    for (int i = 0; i < cases; i++) {
        const int64_t w = widths[check_random_in(0, WIDTHS - 1)], row = check_random() % 2 ? 480 : 512;
        const int64_t across = check_random() % 3 ? (row - w + 1) * check_random_in(1, 2) + check_random_in(-1, 1) : check_random_in(1, 1100);
        cuda_best_of(i % 3 + 1, TM_DOMAIN_VALID, (int64_t[]){across, check_random_in(1, 40), w, check_random_in(1, 20)});
        if (i % 6 == 1 || i % 6 == 2) {
            cuda_best_of(i % 3 + 1, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1, 70), check_random_in(1, 12), check_random_in(26, 33), check_random_in(253, 258)});
            tall++;
        }
    }
    printf("# %d cases, 0 differ\n", cases + tall);
}

/* --- what was reported of others --- */

typedef struct single {
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak best;
    float map[4096];
} single;

static tm_status match_single(single *s, tm_metric metric, const tm_image *frame,
                              const tm_image *tmpl)
{
    tm_settings settings = settings_of(TM_DEVICE_CPU, TM_ALGORITHM_AUTO, 1);
    int64_t width, height;
    settings.metric = metric;
    memset(s, 0, sizeof *s);
    CHECK_EQ(tm_matcher_create(&s->matcher, &settings), TM_OK);
    tm_status status = tm_template_create(&s->tmpl, s->matcher, tmpl);
    if (status == TM_OK) {
        CHECK_EQ(tm_map_size(TM_DOMAIN_VALID, frame->width, frame->height, tmpl->width,
                             tmpl->height, &width, &height),
                 TM_OK);
        CHECK(width * height <= 4096);
        tm_map map = {s->map, (ptrdiff_t)sizeof(float) * width};
        status = tm_match(s->matcher, frame, s->tmpl, &s->best, &map);
    }
    tm_template_destroy(&s->tmpl);
    tm_matcher_destroy(&s->matcher);
    return status;
}

/* opencv 5688: a flat template scores 1 everywhere. 23257: constant under its mask
 * it scores inf; since its fix, 1 everywhere. */
static void flat_template_is_an_error(void)
{
    static uint8_t samples[100];
    static const uint8_t patch[] = {9, 9, 9, 1}, mask[] = {1, 1, 1, 0}, none[4];
    single s;
    for (int i = 0; i < 100; i++)
        samples[i] = (uint8_t)(i * 37);
    tm_image frame = {.samples = samples, .width = 10, .height = 10, .stride = 10};
    tm_image tmpl = {.samples = patch, .width = 2, .height = 2, .stride = 2};
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &frame, &tmpl), TM_OK);
    tmpl.mask = mask;
    tmpl.mask_stride = 2;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &frame, &tmpl), TM_ERR_FLAT_TEMPLATE);
    CHECK_EQ(match_single(&s, TM_METRIC_CCOEFF, &frame, &tmpl), TM_ERR_FLAT_TEMPLATE);
    CHECK_EQ(match_single(&s, TM_METRIC_SQDIFF_NORMED, &frame, &tmpl), TM_OK);
    tmpl.mask = none;
    CHECK_EQ(match_single(&s, TM_METRIC_SQDIFF_NORMED, &frame, &tmpl), TM_ERR_FLAT_TEMPLATE);
}

/* opencv 15768, 20557, 23257: values above 1, inf and nan under a mask, where the
 * window is black or flat. */
static void masked_scores_are_finite(void)
{
    enum { W = 40, H = 30, T = 8 };
    static uint8_t samples[W * H], mask[T * T];
    single s;
    for (int y = 12; y < 20; y++)
        for (int x = 20; x < 28; x++)
            samples[y * W + x] = (uint8_t)(1 + check_random() % 255);
    for (int i = 0; i < T * T; i++)
        mask[i] = i % 5 ? 255 : 0;
    tm_image frame = {.samples = samples, .width = W, .height = H, .stride = W};
    tm_image tmpl = {.samples = samples + 12 * W + 20, .width = T, .height = T, .stride = W,
                     .mask = mask, .mask_stride = T};
    for (int metric = 0; metric < TM_METRICS; metric++) {
        if (tm_metric_is_integer((tm_metric)metric))
            continue;
        CHECK_EQ(match_single(&s, (tm_metric)metric, &frame, &tmpl), TM_OK);
        CHECK_EQ(s.best.x, 20);
        CHECK_EQ(s.best.y, 12);
        for (int i = 0; i < (W - T + 1) * (H - T + 1); i++) {
            CHECK(isfinite(s.map[i]));
            if (metric == TM_METRIC_LCC || metric == TM_METRIC_CCORR_NORMED)
                CHECK(s.map[i] >= -1 && s.map[i] <= 1);
        }
        CHECK(s.map[0] == 0 || tm_metric_is_distance((tm_metric)metric));
    }
}

/* opencv 15215: 96 / sqrt(94 * 76) is returned as 1. */
static void sqdiff_normed_is_not_clipped(void)
{
    static const uint8_t i[] = {5, 1, 2, 8}, t[] = {1, 5, 7, 1};
    tm_image frame = {.samples = i, .width = 2, .height = 2, .stride = 2};
    tm_image tmpl = {.samples = t, .width = 2, .height = 2, .stride = 2};
    single s;
    CHECK_EQ(match_single(&s, TM_METRIC_SQDIFF_NORMED, &frame, &tmpl), TM_OK);
    CHECK(s.map[0] == 106.0f / sqrtf(94.0f * 76.0f));
}

/* opencv 21788, 9099: with sums in float, a copy in a bright frame does not score 0
 * or 1, and the least sum lies elsewhere. */
static void copies_are_found_exactly(void)
{
    enum { W = 60, H = 60, T = 24 };
    static uint16_t samples[W * H];
    single s;
    for (int i = 0; i < W * H; i++)
        samples[i] = (uint16_t)(65535 - check_random() % 3);
    tm_image frame = {.samples = (const uint8_t *)samples, .width = W, .height = H,
                      .stride = 2 * W, .type = TM_SAMPLE_U16};
    tm_image tmpl = frame;
    tmpl.samples = (const uint8_t *)(samples + 17 * W + 31);
    tmpl.width = tmpl.height = T;
    static const tm_metric metrics[] = {TM_METRIC_LCC, TM_METRIC_SQDIFF_NORMED};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(match_single(&s, metrics[i], &frame, &tmpl), TM_OK);
        CHECK_EQ(s.best.x, 31);
        CHECK_EQ(s.best.y, 17);
        CHECK(s.best.score == (i ? 0 : 1));
    }
}

/* opencv 26389: a template of the frame's width and 3 rows less throws under a
 * mask. */
static void masks_of_every_shape(void)
{
    enum { W = 12, H = 15 };
    static uint8_t samples[W * H], mask[W * H];
    single s;
    for (int i = 0; i < W * H; i++) {
        samples[i] = (uint8_t)check_random();
        mask[i] = (uint8_t)(i % 3);
    }
    tm_image frame = {.samples = samples, .width = W, .height = H, .stride = W};
    for (int h = 1; h <= H; h++) {
        for (int w = 2; w <= W; w++) {
            tm_image tmpl = {.samples = samples + (H - h) * W + W - w,
                             .width = w,
                             .height = h,
                             .stride = W,
                             .mask = mask,
                             .mask_stride = W};
            for (int i = 0; i < TM_METRICS; i++) {
                tm_metric metric = (tm_metric)i;
                if (tm_metric_is_integer(metric))
                    continue;
                bool no_score = (metric == TM_METRIC_LCC || metric == TM_METRIC_CCOEFF) &&
                                image_is_flat(&tmpl);
                CHECK_EQ(match_single(&s, metric, &frame, &tmpl),
                         no_score ? TM_ERR_FLAT_TEMPLATE : TM_OK);
            }
        }
    }
}

/* scikit-image 845: a window's score changes when the frame around it is cropped. */
static void cropping_changes_nothing(void)
{
    enum { W = 64, H = 48 };
    static uint8_t samples[W * H];
    single whole, cropped;
    picture_noise(samples, W * H);
    tm_image frame = {.samples = samples, .width = W, .height = H, .stride = W};
    tm_image tmpl = {.samples = samples + 20 * W + 20, .width = 9, .height = 9, .stride = W};
    tm_image crop = {.samples = samples + 7 * W + 11, .width = 40, .height = 30, .stride = W};
    for (int metric = 0; metric < TM_METRICS; metric++) {
        if (tm_metric_is_integer((tm_metric)metric))
            continue;
        CHECK_EQ(match_single(&whole, (tm_metric)metric, &frame, &tmpl), TM_OK);
        CHECK_EQ(match_single(&cropped, (tm_metric)metric, &crop, &tmpl), TM_OK);
        for (int y = 0; y < 30 - 8; y++)
            CHECK(memcmp(cropped.map + y * (40 - 8), whole.map + (y + 7) * (W - 8) + 11,
                         (40 - 8) * sizeof(float)) == 0);
    }
}

/* What a frame and a template must share. */
static void kinds_must_agree(void)
{
    static uint16_t samples[64];
    single s;
    tm_image narrow = {.samples = (const uint8_t *)samples, .width = 8, .height = 8, .stride = 8};
    tm_image wide = narrow, colour = narrow, odd, masked = narrow;
    for (int i = 0; i < 64; i++)
        samples[i] = (uint16_t)(i * 777);
    wide.type = TM_SAMPLE_U16;
    wide.stride = 16;
    wide.width = wide.height = 4;
    colour.channels = 3;
    colour.width = 2;
    colour.height = 4;
    colour.stride = 9;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &narrow, &wide), TM_ERR_INVALID);
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &narrow, &colour), TM_ERR_INVALID);
    odd = wide;
    odd.samples++;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &wide, &odd), TM_ERR_INVALID);
    odd = wide;
    odd.channels = 5;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &odd, &odd), TM_ERR_INVALID);
    odd = wide;
    odd.type = (tm_sample_type)7;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &odd, &odd), TM_ERR_INVALID);
    static const uint8_t none[64];
    masked.mask = none;
    masked.mask_stride = 8;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &masked, &narrow), TM_ERR_NO_POSITION);
    masked.mask_stride = 7;
    CHECK_EQ(match_single(&s, TM_METRIC_LCC, &masked, &narrow), TM_ERR_INVALID);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(oracle_is_the_formula),
        TEST(cpu_direct),
        TEST(cpu_direct_threads),
        TEST(cpu_direct_plain_c),
        TEST(cpu_fft),
        TEST(cpu_fft_in_bands),
        TEST(cuda_random),
        TEST(cuda_fft),
        TEST(cuda_cufft),
        TEST(cuda_large),
        TEST(cuda_chunks),
        TEST(cuda_wide_windows),
        TEST(cuda_wide_planes),
        TEST(cuda_pixels),
        TEST(cuda_masked),
        TEST(cuda_wide_masked),
        TEST(cuda_wide_rgb),
        TEST(cuda_parts),
        TEST(cuda_runs),
        TEST(same_picture_same_bits),
        TEST(cpu_greatest_sums),
        TEST(flat_template_is_an_error),
        TEST(masked_scores_are_finite),
        TEST(sqdiff_normed_is_not_clipped),
        TEST(copies_are_found_exactly),
        TEST(masks_of_every_shape),
        TEST(cropping_changes_nothing),
        TEST(kinds_must_agree),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
