/* SPDX-License-Identifier: MIT */
#include "backends.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pictures.h"

void problem_make_of(problem *p, int64_t frame_width, int64_t frame_height, int64_t tmpl_width,
                     int64_t tmpl_height, picture_content frame_content,
                     picture_content tmpl_content, bool cut)
{
    p->frame_memory =
        picture_make(&p->frame, frame_width, frame_height, TM_SAMPLE_U8, 1, frame_content);
    p->tmpl_memory = picture_make(&p->tmpl, tmpl_width, tmpl_height, TM_SAMPLE_U8, 1, tmpl_content);
    if (cut)
        picture_cut(&p->tmpl, &p->frame);
    snprintf(p->text, sizeof p->text, "frame %lldx%lld %s, template %lldx%lld %s",
             (long long)frame_width, (long long)frame_height, picture_content_names[frame_content],
             (long long)tmpl_width, (long long)tmpl_height,
             cut ? "cut from it" : picture_content_names[tmpl_content]);
}

void problem_make(problem *p, int64_t frame_width, int64_t frame_height, int64_t tmpl_width,
                  int64_t tmpl_height)
{
    const picture_content frame = picture_random_content(), tmpl = picture_random_content();
    const bool cut = check_random() % 3 == 0;
    problem_make_of(p, frame_width, frame_height, tmpl_width, tmpl_height, frame, tmpl, cut);
}

void problem_make_noise(problem *p, int64_t frame_width, int64_t frame_height, int64_t tmpl_width,
                        int64_t tmpl_height)
{
    problem_make_of(p, frame_width, frame_height, tmpl_width, tmpl_height, PICTURE_NOISE,
                    PICTURE_NOISE, check_random() % 2);
}

void problem_random(problem *p)
{
    /* widths at which a vector, a warp's or a block's tile ends */
    static const int64_t edges[] = {8, 16, 32, 64, 128, 256, 512, 1024};
    int64_t w, h, map_w, map_h;

    switch (check_random() % 8) {
    case 0: /* tiny */
        w = check_random_in(1, 4);
        h = check_random_in(1, 4);
        map_w = check_random_in(1, 6);
        map_h = check_random_in(1, 6);
        break;
    case 1: /* maps around the edges of tiles, in x */
        w = check_random_in(1, 24);
        h = check_random_in(1, 5);
        map_w = edges[check_random() % 8] + check_random_in(-2, 2);
        map_h = check_random_in(1, 12);
        break;
    case 2: /* and in y */
        w = check_random_in(1, 5);
        h = check_random_in(1, 24);
        map_w = check_random_in(1, 12);
        map_h = edges[check_random() % 5] + check_random_in(-2, 2);
        break;
    case 3: /* template = frame, or nearly */
        w = check_random_in(1, 40);
        h = check_random_in(1, 40);
        map_w = check_random_in(1, 2);
        map_h = check_random_in(1, 2);
        break;
    case 4: /* one row */
        w = check_random_in(1, 130);
        map_w = check_random_in(1, 150);
        h = 1;
        map_h = 1;
        break;
    case 5: /* one column */
        h = check_random_in(1, 130);
        map_h = check_random_in(1, 150);
        w = 1;
        map_w = 1;
        break;
    case 6: /* templates around the edges of panels and products */
        w = edges[check_random() % 5] + check_random_in(-2, 2);
        h = check_random_in(1, 9);
        map_w = check_random_in(1, 40);
        map_h = check_random_in(1, 9);
        break;
    default:
        w = check_random_in(1, 24);
        h = check_random_in(1, 24);
        map_w = check_random_in(1, 48);
        map_h = check_random_in(1, 48);
    }
    problem_make(p, map_w + w - 1, map_h + h - 1, w, h);
}

void problem_free(problem *p)
{
    free(p->frame_memory);
    free(p->tmpl_memory);
}

static tm_matcher *matcher_for(tm_matcher **slot, tm_settings settings, tm_metric metric,
                               tm_domain domain)
{
    if (!*slot) {
        settings.metric = metric;
        settings.domain = domain;
        if (tm_matcher_create(slot, &settings) != TM_OK)
            check_fail(__FILE__, __LINE__, "no matcher: %s", tm_matcher_message(*slot));
    }
    return *slot;
}

/* The peak by the tie rule, from a map that was computed by somebody else. */
static tm_peak peak_of_map(const void *map, tm_metric metric, int64_t width, int64_t height)
{
    tm_peak peak = {.score = -INFINITY};
    for (int64_t i = 0; i < width * height; i++) {
        double score = metric == TM_METRIC_LCC ? (double)((const float *)map)[i]
                                               : (double)((const int64_t *)map)[i];
        if (score > peak.score)
            peak = (tm_peak){.x = i % width, .y = i / width, .score = score};
    }
    return peak;
}

bool image_is_flat(const tm_image *image)
{
    const uint8_t *first = NULL;
    for (int64_t y = 0; y < image->height; y++) {
        for (int64_t x = 0; x < image->width; x++) {
            const uint8_t *sample = image->samples + y * image->stride + x;
            if (image->mask && !image->mask[y * image->mask_stride + x])
                continue;
            first = first ? first : sample;
            if (*sample != *first)
                return false;
        }
    }
    return true;
}

static tm_matcher *oracle_for(matchers *m, tm_metric metric, tm_domain domain)
{
    tm_settings oracle;
    tm_settings_default(&oracle, sizeof oracle);
    oracle.algorithm = TM_ALGORITHM_REFERENCE;
    oracle.device = TM_DEVICE_CPU;
    return matcher_for(&m->reference[metric][domain], oracle, metric, domain);
}

int64_t compare_with_reference(matchers *m, const problem *p, tm_metric metric, tm_domain domain)
{
    tm_matcher *tested = matcher_for(&m->tested[metric][domain], m->settings, metric, domain);
    tm_matcher *reference = oracle_for(m, metric, domain);

    tm_template *tmpl = NULL;
    tm_status status = tm_template_create(&tmpl, tested, &p->tmpl);
    if (metric == TM_METRIC_LCC && image_is_flat(&p->tmpl)) {
        CHECK_EQ(status, TM_ERR_FLAT_TEMPLATE);
        return 0;
    }
    CHECK_EQ(status, TM_OK);

    int64_t width, height;
    CHECK_EQ(tm_map_size(domain, p->frame.width, p->frame.height, p->tmpl.width, p->tmpl.height,
                         &width, &height),
             TM_OK);
    size_t element = tm_map_element_size(metric), size = element * (size_t)(width * height);
    tm_map map = {malloc(size), (ptrdiff_t)element * width}, oracle_map = {malloc(size), map.stride};
    CHECK(map.data && oracle_map.data);
    memset(map.data, 0xcd, size);

    tm_peak best, best_alone, oracle_best;
    if (tm_match(tested, &p->frame, tmpl, &best, &map) != TM_OK ||
        tm_match(tested, &p->frame, tmpl, &best_alone, NULL) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(tested));
    CHECK_EQ(tm_match(reference, &p->frame, tmpl, &oracle_best, &oracle_map), TM_OK);
    tm_peak of_map = peak_of_map(oracle_map.data, metric, width, height);

    if (memcmp(map.data, oracle_map.data, size) != 0)
        check_fail(__FILE__, __LINE__, "%s, metric %d, domain %d: the maps differ", p->text,
                   (int)metric, (int)domain);
    if (best.x != oracle_best.x || best.y != oracle_best.y || best.score != oracle_best.score ||
        best_alone.x != best.x || best_alone.y != best.y || best_alone.score != best.score)
        check_fail(__FILE__, __LINE__, "%s, metric %d, domain %d: best (%lld, %lld) %.9g, expected (%lld, %lld) %.9g",
                   p->text, (int)metric, (int)domain, (long long)best.x, (long long)best.y,
                   best.score, (long long)oracle_best.x, (long long)oracle_best.y,
                   oracle_best.score);
    CHECK(of_map.score == oracle_best.score);
    CHECK_EQ(of_map.x - oracle_best.x, domain == TM_DOMAIN_FULL   ? p->tmpl.width - 1
                                       : domain == TM_DOMAIN_SAME ? (p->tmpl.width - 1) / 2
                                                                  : 0);
    free(map.data);
    free(oracle_map.data);
    tm_template_destroy(&tmpl);
    return width * height;
}

void compare_random_with_reference(tm_settings settings, int64_t cases)
{
    matchers m = {.settings = settings};
    int64_t elements = 0;

    for (int64_t i = 0; i < cases; i++) {
        problem p;
        problem_random(&p);
        elements += compare_with_reference(&m, &p, (tm_metric)(check_random() % 4 == 0),
                                           (tm_domain)(check_random() % 3));
        problem_free(&p);
    }
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
    matchers_free(&m);
}

/* One template of a call with many, with its map if it has one. */
typedef struct one_of_many {
    tm_template *tmpl;
    tm_map map;
    size_t map_size;
} one_of_many;

static bool draw_one(one_of_many *one, tm_matcher *matcher, const tm_image *frame, const int64_t size[2],
                     const uint8_t *mask, tm_metric metric, tm_domain domain, bool with_map)
{
    int64_t width, height;
    tm_image crop = {.samples = frame->samples,
                     .width = size[0],
                     .height = size[1],
                     .stride = frame->stride,
                     .mask = mask,
                     .mask_stride = mask ? (ptrdiff_t)size[0] : 0};
    crop.samples += check_random_in(0, frame->width - size[0]) +
                    check_random_in(0, frame->height - size[1]) * frame->stride;
    *one = (one_of_many){0};
    if (tm_template_create(&one->tmpl, matcher, &crop) != TM_OK)
        return false; /* flat */
    if (with_map) {
        CHECK_EQ(tm_map_size(domain, frame->width, frame->height, size[0], size[1], &width, &height),
                 TM_OK);
        one->map.stride = (ptrdiff_t)tm_map_element_size(metric) * width;
        one->map_size = (size_t)(one->map.stride * height);
        CHECK(one->map.data = malloc(one->map_size));
    }
    return true;
}

static void check_one(const one_of_many *one, const tm_peak *best, tm_matcher *reference,
                      const problem *p)
{
    tm_map map = {NULL, one->map.stride};
    tm_peak expected;
    if (one->map.data)
        CHECK(map.data = malloc(one->map_size));
    CHECK_EQ(tm_match(reference, &p->frame, one->tmpl, &expected, &map), TM_OK);
    if (best->x != expected.x || best->y != expected.y || best->score != expected.score)
        check_fail(__FILE__, __LINE__, "%s, many: best (%lld, %lld) %.9g, expected (%lld, %lld) %.9g",
                   p->text, (long long)best->x, (long long)best->y, best->score,
                   (long long)expected.x, (long long)expected.y, expected.score);
    if (map.data && memcmp(map.data, one->map.data, one->map_size) != 0)
        check_fail(__FILE__, __LINE__, "%s, many: the maps differ", p->text);
    free(map.data);
}

/* Templates of one call. */
typedef struct many_templates {
    const int64_t (*sizes)[2]; /* each template has one of them, by chance */
    size_t kinds, wanted;
    bool with_maps;
    const uint8_t *mask; /* of all of them, or NULL */
} many_templates;

static void compare_templates(matchers *m, const problem *p, const many_templates *many, tm_metric metric,
                              tm_domain domain)
{
    enum { MOST = 80 };
    tm_matcher *tested = matcher_for(&m->tested[metric][domain], m->settings, metric, domain);
    tm_matcher *reference = oracle_for(m, metric, domain);
    one_of_many ones[MOST];
    const tm_template *tmpls[MOST];
    tm_map maps[MOST];
    tm_peak best[MOST];
    size_t count = 0;

    CHECK(many->wanted <= MOST);
    for (int tries = 0; count < many->wanted && tries < 100 + MOST; tries++) {
        if (!draw_one(&ones[count], tested, &p->frame, many->sizes[check_random() % many->kinds],
                      many->mask, metric, domain, many->with_maps && check_random() % 2))
            continue;
        tmpls[count] = ones[count].tmpl;
        maps[count] = ones[count].map;
        count++;
    }
    if (count && tm_match_many(tested, &p->frame, tmpls, count, best, many->with_maps ? maps : NULL) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(tested));
    for (size_t i = 0; i < count; i++) {
        check_one(&ones[i], &best[i], reference, p);
        free(ones[i].map.data);
        tm_template_destroy(&ones[i].tmpl);
    }
}

void compare_many_with_reference(matchers *m, tm_metric metric, tm_domain domain)
{
    int64_t sizes[2][2];
    many_templates many = {sizes, 2, (size_t)check_random_in(1, 12), check_random() % 2, NULL};
    problem p;

    problem_make(&p, check_random_in(30, 200), check_random_in(30, 60), 2, 2);
    for (int i = 0; i < 4; i++)
        sizes[i / 2][i % 2] = check_random_in(2, 24);
    compare_templates(m, &p, &many, metric, domain);
    problem_free(&p);
}

void compare_group_with_reference(matchers *m, const problem *p, size_t count, bool masked)
{
    const int64_t size[1][2] = {{p->tmpl.width, p->tmpl.height}};
    const size_t pixels = (size_t)(size[0][0] * size[0][1]);
    uint8_t *mask = masked ? malloc(pixels) : NULL;

    for (size_t i = 0; masked && i < pixels; i++)
        mask[i] = check_random() % 4 > 0;
    compare_templates(m, p, &(many_templates){size, 1, count, false, mask}, TM_METRIC_LCC, TM_DOMAIN_VALID);
    free(mask);
}

void matchers_free(matchers *m)
{
    for (int metric = 0; metric < 2; metric++) {
        for (int domain = 0; domain < 3; domain++) {
            tm_matcher_destroy(&m->tested[metric][domain]);
            tm_matcher_destroy(&m->reference[metric][domain]);
        }
    }
}

tm_settings settings_of(tm_device_kind device, tm_algorithm algorithm, int threads)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.device = device;
    settings.algorithm = algorithm;
    settings.threads = threads;
    return settings;
}

uint32_t require_features(const char *name)
{
    uint32_t features;
    CHECK_EQ(tm_cpu_features_parse(name, &features), TM_OK);
    if (features & ~tm_cpu_features())
        check_skip("not on this processor, or not in this build");
    return features;
}

void require_cuda(void)
{
    static char why[256];
    size_t count;
    CHECK_EQ(tm_list_devices(NULL, 0, &count, why, sizeof why), TM_OK);
    if (count < 2)
        check_skip(why);
}

void require_cufft(void)
{
    static char why[256];
    tm_settings settings;
    tm_matcher *matcher;

    require_cuda();
    tm_settings_default(&settings, sizeof settings);
    settings.algorithm = TM_ALGORITHM_CUFFT;
    const tm_status status = tm_matcher_create(&matcher, &settings);
    snprintf(why, sizeof why, "%s", tm_matcher_message(matcher));
    tm_matcher_destroy(&matcher);
    if (status == TM_ERR_INVALID && strstr(why, "the cufft algorithm needs"))
        check_skip(why);
}

void require_backend(tm_device_kind device, tm_algorithm algorithm)
{
    if (device == TM_DEVICE_CUDA && algorithm == TM_ALGORITHM_CUFFT)
        require_cufft();
    else if (device == TM_DEVICE_CUDA)
        require_cuda();
}
