/* SPDX-License-Identifier: MIT */
/* Every metric on kinds of pictures on a GPU, bit for bit against the oracle, of the sizes around which its kernels change. */
#include <stdlib.h>

#include "backends.h"
#include "check.h"
#include "kinds.h"
#include "pictures.h"

/* Some kind. sizes: map width, map height, template width, template height. */
static void of_size(const int64_t sizes[4])
{
    kind_problem p;
    kind_of_size(&p, sizes[0], sizes[1], sizes[2], sizes[3]);
    kind_compare(&p, settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 0));
    kind_free(&p);
}

static void of_sizes(const int64_t (*sizes)[4], size_t count, size_t times)
{
    for (size_t i = 0; i < times * count; i++)
        of_size(sizes[i / times]);
    printf("# %zu cases, 0 differ\n", times * count);
}

/* Large enough to be copied in chunks. */
static void chunks(void)
{
    static const int64_t sizes[][4] = {{9000, 1100, 3, 2}, {4600, 2300, 2, 5}};
    require_cuda();
    of_sizes(sizes, sizeof sizes / sizeof *sizes, 4);
}

/* Also templates that do not fit the tensor cores' kernels, columns whose sums do not fit 32 bits at once, and several bands. */
static void large(void)
{
    static const int64_t sizes[][4] = {
        {5, 7, 100, 650}, {3, 300, 9, 1500}, {300, 2, 5000, 2}, {3, 2, 300, 260}, {700, 600, 3, 2}, {4, 3, 1, 17000}, {4, 3, 2, 17000},
    };
    require_cuda();
    of_sizes(sizes, sizeof sizes / sizeof *sizes, 2);
}

/* Windows that a block's columns hold few of, in some rows. */
static void wide_windows(void)
{
    static const int64_t sizes[][4] = {
        {300, 9, 129, 3}, {300, 9, 265, 3}, {1100, 6, 520, 2}, {300, 9, 700, 3}, {40, 13, 768, 2},
    };
    require_cuda();
    of_sizes(sizes, sizeof sizes / sizeof *sizes, 6);
}

/* Templates whose products of planes are made by wgmma: an odd and an even number of units of 16 columns; maps that tiles of 128 x 64
 * windows cover and do not, and such of which a block has many. */
static void wide_planes(void)
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
        of_size(sizes[(first + i) % COUNT]);
    unsetenv("TMATCH_ALWAYS_WIDE");
    /* so large that it takes less time; the oracle takes a second or two */
    const int64_t large[4] = {2048, 224, 64, 64};
    for (size_t i = 0; i < cases / COUNT; i++)
        of_size(large);
    printf("# %zu cases, 0 differ\n", cases + cases / COUNT);
}

/* Leaves samples of 16 bits fewer of them. */
static void drop_bits(const tm_image *image, int64_t bits)
{
    for (int64_t y = 0; y < image->height; y++) {
        uint16_t *row = (uint16_t *)(void *)((uint8_t *)image->samples + y * image->stride);
        for (int64_t x = 0; x < image->width; x++)
            row[x] = (uint16_t)(row[x] >> bits);
    }
}

/* The best LCC of some template. sizes: map width, map height, template width, template height. content: the frame's. least_mask: the first of the
 * masks that it may be; PICTURE_MASKS: it has none. */
static void best_of_kind(tm_sample_type type, int channels, int least_mask, picture_content content, tm_domain domain, const int64_t sizes[4])
{
    const int64_t w = sizes[2], h = sizes[3];
    kind_problem p = {.metric = TM_METRIC_LCC, .domain = domain};

    p.memory[0] = picture_make(&p.frame, sizes[0] + w - 1, sizes[1] + h - 1, type, channels, content);
    p.memory[1] = picture_make(&p.tmpl, w, h, type, channels, picture_random_content());
    if (check_random() % 3)
        picture_cut(&p.tmpl, &p.frame);
    if (type == TM_SAMPLE_U16 && check_random() % 2) {
        const int64_t bits = check_random_in(1, 10), more = check_random() % 4 ? 0 : check_random_in(1, 3);
        drop_bits(&p.frame, bits);
        drop_bits(&p.tmpl, bits + more); // of which the frame's number cannot be told
    }
    if (least_mask < PICTURE_MASKS)
        p.memory[2] = picture_mask(&p.tmpl, (int)check_random_in(least_mask, PICTURE_MASKS - 1));
    snprintf(p.text, sizeof p.text, "%d channels%s%s, domain %d, frame %lldx%lld %s, template %lldx%lld", channels,
             type == TM_SAMPLE_U16 ? " of 16 bits" : "", least_mask < PICTURE_MASKS ? ", masked" : "", (int)domain, (long long)p.frame.width,
             (long long)p.frame.height, picture_content_names[content], (long long)w, (long long)h);
    kind_compare(&p, settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 0));
    kind_free(&p);
}

/* In RGB of 8 bits, gray of 16, or of 8 with a mask: of that many bytes a pixel; 0: of 8 bits without a mask. */
static void best_under(int least_mask, picture_content content, int bytes, tm_domain domain, const int64_t sizes[4])
{
    best_of_kind(bytes == 2 ? TM_SAMPLE_U16 : TM_SAMPLE_U8, bytes == 3 ? 3 : 1, bytes == 1 ? least_mask : PICTURE_MASKS, content, domain, sizes);
}

static void best_in(picture_content content, int bytes, tm_domain domain, const int64_t sizes[4])
{
    best_under(1, content, bytes, domain, sizes);
}

static void best_of(int bytes, tm_domain domain, const int64_t sizes[4])
{
    best_in(picture_random_content(), bytes, domain, sizes);
}

/* They are scored from pixels as they lie. A row's bytes are a multiple of four or not; sizes around the tiles of 512 x 8
 * windows, heights around groups of 8 rows; maps so large that this takes less time; such whose tiles are many for a
 * warpgroup, down one column and in the next one; a frame that comes in chunks; and templates so narrow that SAME has no
 * padding on the left. */
static void pixels(void)
{
    static const int64_t widths[] = {1, 2, 7, 503, 511, 512, 513, 536, 1024, 1025, 1100}, narrow[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {2, 9}, {1, 13}};
    enum { WIDTHS = sizeof widths / sizeof *widths, NARROW = sizeof narrow / sizeof *narrow };
    const int cases = (int)check_cases(120), few = (cases + 11) / 12;
    int chunked = 0;

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = 0; i < cases; i++)
        best_of(i % 2 ? 2 : 3, TM_DOMAIN_VALID,
                     (int64_t[]){check_random() % 2 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(1, 700),
                                 check_random_in(1, 60), check_random_in(1, 25), check_random_in(1, 31)});
    for (int i = 0; i < 2 * few; i++) {
        const int64_t *size = narrow[check_random_in(0, NARROW - 1)];
        best_of(i % 2 ? 2 : 3, (tm_domain)check_random_in(1, 2),
                     (int64_t[]){check_random_in(1, 700), check_random_in(1, 300), size[0], size[1]});
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    for (int i = 0; i < few; i++) {
        const int bytes = i % 2 ? 2 : 3;
        best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1500, 1700), check_random_in(300, 400), check_random_in(1, 12), check_random_in(1, 10)});
        if (i % 4 < 2)
            best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1, 8), 30000, check_random_in(1, 25), check_random_in(1, 31)});
        else
            best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){2049, 2400, check_random_in(1, 5), check_random_in(1, 12)});
        if (i % 8 < 2) {
            best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){bytes == 3 ? 3100 : 4600, bytes == 3 ? 2200 : 2300, 3, 2});
            chunked++;
        }
    }
    printf("# %d cases, 0 differ\n", cases + 4 * few + chunked);
}

/* Templates of all sizes whose windows a GPU bounds, instead of scoring all, in frames of noise, where it scores few. Maps around the edges of
 * tiles of 512 x 16, some of so many that blocks go down several of them and from one column to the next. */
static void pixels_bounded(void)
{
    static const int64_t sizes[][4] = {
        {1, 1, 21, 21},     {8, 1, 25, 24},     {9, 2, 15, 9},    {1, 17, 20, 20},     {511, 15, 16, 10},   {512, 16, 15, 9},  {513, 17, 17, 24},
        {519, 33, 18, 11},  {520, 31, 19, 23},  {1024, 49, 22, 13}, {1025, 41, 23, 22}, {3000, 65, 24, 14}, {4032, 3, 21, 17}, {513, 3300, 16, 9},
        {2050, 1301, 25, 10}, {120000, 9, 16, 10},
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const int cases = (int)check_cases(2 * SIZES + 11 * 16), first = (int)check_random_in(0, cases - 1);

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = first; i < first + cases; i++) {
        const int64_t *size = sizes[i / 7 % SIZES], w = 15 + i % 11, h = 9 + i / 11 % 16;
        const int64_t random[] = {check_random_in(1, 1200), check_random_in(1, 80), w, h};
        best_in(PICTURE_NOISE, i % 2 ? 2 : 3, TM_DOMAIN_VALID, i % 7 ? random : size);
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases);
}

/* Likewise under masks, of which a block's tiles are 1008 x 8: few holes and ellipses, and some of all others. */
static void masked_bounded(void)
{
    static const int64_t sizes[][2] = {
        {1, 1}, {8, 1}, {9, 2}, {1, 17}, {1007, 7}, {1008, 8}, {1009, 9}, {1016, 17}, {2016, 16}, {2017, 31}, {2500, 33}, {4032, 3},
        {1009, 3300}, {1300, 1100}, {120000, 9},
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const int cases = (int)check_cases(2 * SIZES + 11 * 16), first = (int)check_random_in(0, cases - 1);

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = first; i < first + cases; i++) {
        const int64_t random[] = {check_random_in(1, 2200), check_random_in(1, 50)}, *size = i % 7 ? random : sizes[i / 7 % SIZES];
        best_under(i % 4 ? PICTURE_FEW_HOLES : 1, PICTURE_NOISE, 1, i % 5 ? TM_DOMAIN_VALID : (tm_domain)check_random_in(1, 2),
                   (int64_t[]){size[0], size[1], 15 + i % 11, 9 + i / 11 % 16});
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases);
}

/* All sums under a mask are products, made by wgmma where both fit: template and mask together up to 25 rows, by themselves with 26. Sizes around the
 * tiles of 512 x 8 windows. */
static void small_masked(void)
{
    static const int64_t widths[] = {1, 2, 127, 128, 511, 512, 513, 1025}, heights[] = {1, 2, 7, 8, 9, 24, 25, 26, 27};
    enum { WIDTHS = sizeof widths / sizeof *widths, HEIGHTS = sizeof heights / sizeof *heights };
    const int cases = (int)check_cases(120), few = (cases + 11) / 12;

    require_cuda();
    for (int i = 0; i < cases; i++)
        best_of(1, TM_DOMAIN_VALID,
                     (int64_t[]){check_random() % 2 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(1, 700), check_random_in(1, 60),
                                 check_random_in(2, 25), check_random() % 2 ? heights[check_random_in(0, HEIGHTS - 1)] : check_random_in(1, 31)});
    for (int i = 0; i < few; i++) /* several tiles for each warpgroup */
        best_of(1, TM_DOMAIN_VALID, (int64_t[]){check_random_in(2040, 2060), check_random_in(1000, 1100), check_random_in(2, 6), check_random_in(1, 6)});
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
        best_of(bytes, (tm_domain)(i % 5 ? TM_DOMAIN_VALID : check_random_in(1, 2)),
                     (int64_t[]){i % 2 ? map[0] : random[0], i % 2 ? map[1] : random[1],
                                 i % 3 ? widths[check_random_in(0, WIDTHS - 1)] : check_random_in(26, 113), check_random_in(1, i % 8 ? 20 : 80)});
    }
    for (int i = 0; i < few; i++)
        best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1600, 2100), check_random_in(1000, 1500), check_random_in(26, 40), check_random_in(1, 4)});
    best_of(bytes, TM_DOMAIN_VALID, (int64_t[]){4600, 2300, 26, 1}); /* in chunks */
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases + few + 1);
}

static void wide_masked(void)
{
    tall_tiles_of(1);
}

static void wide_rgb(void)
{
    tall_tiles_of(3);
}

/* Wider templates of 8 bits in colour, under a mask, or both, whose windows are bounded, in cells of 8 x 8: noise, where few are scored, and all else. */
static void bounded_of(int channels, picture_content content, tm_domain domain, const int64_t sizes[4])
{
    const int masks = channels > 1 && check_random() % 2 ? PICTURE_MASKS : check_random() % 4 ? PICTURE_FEW_HOLES : 1;
    best_of_kind(TM_SAMPLE_U8, channels, masks, content, domain, sizes);
}

/* Maps around tiles and cells, templates around patches, in one part and in several. */
static void wide_bounded(void)
{
    static const int64_t maps[][2] = {{1, 1}, {7, 8}, {8, 9}, {9, 7}, {63, 64}, {127, 65}, {128, 63}, {129, 17}, {136, 72}, {300, 40}},
                         widths[] = {26, 31, 32, 33, 39, 40, 41, 48, 64}, heights[] = {16, 17, 23, 24, 25, 32, 33, 64};
    enum { MAPS = sizeof maps / sizeof *maps, WIDTHS = sizeof widths / sizeof *widths, HEIGHTS = sizeof heights / sizeof *heights };
    const int cases = (int)check_cases(180), first = (int)check_random_in(0, MAPS * WIDTHS * HEIGHTS - 1);
    int large = 0;

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = first; i < first + cases; i++) {
        const int64_t *map = maps[i % MAPS], w = widths[i / MAPS % WIDTHS], h = heights[i / 3 % HEIGHTS];
        bounded_of((int)check_random_in(1, 4), i % 3 ? PICTURE_NOISE : picture_random_content(), i % 5 ? TM_DOMAIN_VALID : (tm_domain)check_random_in(1, 2),
                   (int64_t[]){map[0], map[1], w, h});
        if (i % 20 == 0 && cases >= 20) { // as large as the oracle takes in a moment
            bounded_of((int)check_random_in(1, 3), PICTURE_NOISE, TM_DOMAIN_VALID,
                       (int64_t[]){check_random_in(200, 1400), check_random_in(60, 300), check_random_in(60, 113), check_random_in(16, 113)});
            large++;
        }
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases + large);
}

/* A template that comes again and again, whose direction is made when it comes for the second time, in frames that leave few windows, and in
 * others that leave too many, so that it rests. */
static void wide_bounded_again(void)
{
    static const picture_content contents[] = {PICTURE_NOISE, PICTURE_ZEROS, PICTURE_GRADIENT};
    static const int order[] = {0, 0, 1, 0, 2, 0};
    enum { FRAMES = sizeof contents / sizeof *contents, ORDER = sizeof order / sizeof *order, MATCHES = 8 * ORDER };
    const int64_t w = check_random_in(26, 40), h = check_random_in(24, 40);
    const tm_settings settings[] = {settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 0), settings_of(TM_DEVICE_CPU, TM_ALGORITHM_DIRECT, 0)};
    tm_matcher *sides[2];
    tm_template *templates[2];
    tm_image frames[FRAMES], image = {0};
    void *memory[FRAMES];

    require_cuda();
    for (int i = 0; i < FRAMES; i++)
        memory[i] = picture_make(&frames[i], 150 + w, 70 + h, TM_SAMPLE_U8, 1, contents[i]);
    void *samples = picture_make(&image, w, h, TM_SAMPLE_U8, 1, PICTURE_NOISE);
    picture_cut(&image, &frames[0]);
    uint8_t *mask = picture_mask_out(&image, (unsigned)(w * h)); // about one pixel
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(tm_matcher_create(&sides[k], &settings[k]), TM_OK);
        CHECK_EQ(tm_template_create(&templates[k], sides[k], &image), TM_OK);
    }
    for (int i = 0; i < MATCHES; i++) {
        tm_peak best[2];
        for (int k = 0; k < 2; k++)
            CHECK_EQ(tm_match(sides[k], &frames[order[i % ORDER]], templates[k], &best[k], NULL), TM_OK);
        CHECK(kind_same_peak(&best[0], &best[1]));
    }
    for (int k = 0; k < 2; k++) {
        tm_template_destroy(&templates[k]);
        tm_matcher_destroy(&sides[k]);
    }
    for (int i = 0; i < FRAMES; i++)
        free(memory[i]);
    free(mask);
    free(samples);
    printf("# %d cases, 0 differ\n", (int)MATCHES);
}

/* So many tiles that a GPU's blocks have several, odd numbers and even ones, and go on to the next column of tiles; the oracle takes seconds. */
static void bounded_tiles(void)
{
    const int cases = (int)check_cases_least(4, 2), first = (int)check_random_in(0, 3);

    require_cuda();
    setenv("TMATCH_ALWAYS_WIDE", "1", 1);
    for (int i = first; i < first + cases; i++)
        bounded_of(1 + i % 4, PICTURE_NOISE, TM_DOMAIN_VALID,
                   (int64_t[]){check_random_in(1990, 2100), check_random_in(1060, 1500), check_random_in(26, 34), check_random_in(16, 18)});
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases);
}

/* Templates of which shared memory has room for some rows or columns at a time, from whole ones to several parts across and down: around
 * the heights and the widths at which there is one part more. */
static void parts(void)
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
        best_of(i % 4, (tm_domain)(i % 7 ? TM_DOMAIN_VALID : check_random_in(1, 2)),
                     (int64_t[]){check_random_in(1, 140), check_random_in(1, 70), w, h < most ? h : most});
    }
    unsetenv("TMATCH_ALWAYS_WIDE");
    printf("# %d cases, 0 differ\n", cases);
}

/* Maps of sums that threads share in runs of 15 windows, 480 columns a row, or do not; and under a mask, where each sum is one
 * map. Widths of templates around 2, 3, 4 and 8 runs; maps around a tile's columns; a few rows and many; and templates around the
 * greatest height. */
static void runs(void)
{
    static const int64_t widths[] = {29, 30, 31, 32, 45, 46, 47, 60, 61, 64, 75, 76, 126, 127};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    const int cases = (int)check_cases(60);
    int tall = 0;

    require_cuda();
    for (int i = 0; i < cases; i++) {
        const int64_t w = widths[check_random_in(0, WIDTHS - 1)], row = check_random() % 2 ? 480 : 512;
        const int64_t across = check_random() % 3 ? (row - w + 1) * check_random_in(1, 2) + check_random_in(-1, 1) : check_random_in(1, 1100);
        best_of(i % 3 + 1, TM_DOMAIN_VALID, (int64_t[]){across, check_random_in(1, 40), w, check_random_in(1, 20)});
        if (i % 6 == 1 || i % 6 == 2) {
            best_of(i % 3 + 1, TM_DOMAIN_VALID, (int64_t[]){check_random_in(1, 70), check_random_in(1, 12), check_random_in(26, 33), check_random_in(253, 258)});
            tall++;
        }
    }
    printf("# %d cases, 0 differ\n", cases + tall);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(large),
        TEST(chunks),
        TEST(wide_windows),
        TEST(wide_planes),
        TEST(pixels),
        TEST(pixels_bounded),
        TEST(masked_bounded),
        TEST(small_masked),
        TEST(wide_masked),
        TEST(wide_rgb),
        TEST(wide_bounded),
        TEST(wide_bounded_again),
        TEST(bounded_tiles),
        TEST(parts),
        TEST(runs),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
