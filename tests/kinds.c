/* SPDX-License-Identifier: MIT */
#include "kinds.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pictures.h"
#include "lcc/metrics.h"

void kind_of_size(kind_problem *p, int64_t map_w, int64_t map_h, int64_t w, int64_t h)
{
    const tm_sample_type type = check_random() % 2 ? TM_SAMPLE_U16 : TM_SAMPLE_U8;
    const int channels = check_random() % 2 ? 1 : (int)check_random_in(2, 4);
    const picture_content frame_content = picture_random_content();
    const picture_content tmpl_content = picture_random_content();
    const int mask = check_random() % 2 ? 0 : (int)check_random_in(0, PICTURE_MASKS - 1);
    const bool cut = check_random() % 3 == 0, frame_mask = check_random() % 4 == 0;

    *p = (kind_problem){.metric = (tm_metric)check_random_in(0, TM_METRICS - 1),
                        .domain = (tm_domain)(check_random() % 2 ? 0 : check_random_in(1, 2))};
    if ((double)(map_w + w) * (double)(map_h + h) * (double)(w * h) > 1e9) /* the oracle would take minutes */
        p->domain = TM_DOMAIN_VALID;
    p->memory[0] =
        picture_make(&p->frame, map_w + w - 1, map_h + h - 1, type, channels, frame_content);
    p->memory[1] = picture_make(&p->tmpl, w, h, type, channels, tmpl_content);
    if (cut)
        picture_cut(&p->tmpl, &p->frame);
    p->memory[2] = picture_mask(&p->tmpl, mask);
    p->memory[3] = frame_mask ? picture_mask_frame(&p->frame) : NULL;
    snprintf(p->text, sizeof p->text,
             "%s, domain %d, %d bits, %d channels, frame %lldx%lld %s%s, template %lldx%lld %s, "
             "mask: %s",
             tm_metric_name(p->metric), (int)p->domain, type == TM_SAMPLE_U16 ? 16 : 8, channels,
             (long long)p->frame.width, (long long)p->frame.height, picture_content_names[frame_content],
             frame_mask ? ", masked" : "", (long long)w, (long long)h,
             cut ? "cut from it" : picture_content_names[tmpl_content],
             picture_mask_names[mask]);
}

void kind_random(kind_problem *p, double products)
{
    const bool high = check_random() % 12 == 0; /* for several chunks, where those are small */
    const int64_t long_side = check_random() % 8 ? 24 : 140;
    int64_t w = check_random_in(1, high ? 6 : check_random() % 4 ? 12 : long_side);
    int64_t h = check_random_in(1, high ? 6 : check_random() % 4 ? 12 : 24);
    int64_t most = (int64_t)(products / (double)(w * h));
    int64_t map_w = check_random_in(1, high ? 8 : check_random() % 4 ? 40 : 300);
    int64_t map_h = high ? check_random_in(256, 1200)
                         : check_random_in(1, check_random() % 4 ? 12 : 60);

    map_w = map_w > most ? (most > 0 ? most : 1) : map_w;
    map_h = map_h > most / map_w ? (most / map_w > 0 ? most / map_w : 1) : map_h;
    kind_of_size(p, map_w, map_h, w, h);
}

void kind_free(kind_problem *p)
{
    for (int i = 0; i < 4; i++)
        free(p->memory[i]);
}

typedef struct outcome {
    tm_status created, matched;
    tm_peak best;
    void *map;
    int64_t width, height;
    size_t size;
} outcome;

/* Matchers are kept: opening a device takes longer than a case. */
static tm_matcher *matcher_of(const kind_problem *p, tm_settings settings)
{
    static struct kept {
        tm_matcher *matcher;
        tm_settings settings;
        bool wide; /* a device asks for this variable when it is opened */
    } all[2][TM_METRICS][3];
    struct kept *kept = &all[settings.algorithm == TM_ALGORITHM_REFERENCE][p->metric][p->domain];
    const bool wide = getenv("TMATCH_ALWAYS_WIDE") != NULL;

    settings.metric = p->metric;
    settings.domain = p->domain;
    if (kept->matcher && (memcmp(&kept->settings, &settings, sizeof settings) != 0 || kept->wide != wide))
        tm_matcher_destroy(&kept->matcher);
    if (!kept->matcher && tm_matcher_create(&kept->matcher, &settings) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(kept->matcher));
    kept->settings = settings;
    kept->wide = wide;
    return kept->matcher;
}

/* With a map in the caller's own memory, or in what devices copy to directly. */
static tm_status match_map(tm_matcher *matcher, const kind_problem *p, const tm_template *tmpl,
                           outcome *o)
{
    const ptrdiff_t stride = (ptrdiff_t)tm_map_element_size(p->metric) * o->width;
    const bool direct = check_random() % 2;
    tm_host_memory memory = {0};

    if (direct && tm_host_alloc(matcher, o->size, &memory) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(matcher));
    const tm_map map = {direct ? memory.data : o->map, stride};
    memset(map.data, 0xcd, o->size);
    const tm_status status = tm_match(matcher, &p->frame, tmpl, &o->best, &map);
    if (direct) {
        memcpy(o->map, memory.data, o->size);
        tm_host_free(matcher, &memory);
    }
    return status;
}

/* One match, with its map or without. */
static outcome match(const kind_problem *p, tm_settings settings, bool with_map)
{
    tm_matcher *matcher = matcher_of(p, settings);
    tm_template *tmpl = NULL;
    outcome o = {.matched = TM_OK};

    o.created = tm_template_create(&tmpl, matcher, &p->tmpl);
    if (o.created == TM_OK) {
        CHECK_EQ(tm_map_size(p->domain, p->frame.width, p->frame.height, p->tmpl.width,
                             p->tmpl.height, &o.width, &o.height),
                 TM_OK);
        o.size = tm_map_element_size(p->metric) * (size_t)(o.width * o.height);
        CHECK(o.map = malloc(o.size));
        o.matched = with_map ? match_map(matcher, p, tmpl, &o)
                             : tm_match(matcher, &p->frame, tmpl, &o.best, NULL);
        if (o.matched != TM_OK && o.matched != TM_ERR_NO_POSITION)
            check_fail(__FILE__, __LINE__, "%s: %s", p->text, tm_matcher_message(matcher));
    }
    tm_template_destroy(&tmpl);
    return o;
}

static outcome oracle_match(const kind_problem *p)
{
    tm_settings settings;
    tm_settings_default(&settings, sizeof settings);
    settings.algorithm = TM_ALGORITHM_REFERENCE;
    settings.device = TM_DEVICE_CPU;
    return match(p, settings, true);
}

bool kind_same_peak(const tm_peak *a, const tm_peak *b)
{
    return a->x == b->x && a->y == b->y && memcmp(&a->score, &b->score, sizeof a->score) == 0;
}

int64_t kind_compare(const kind_problem *p, tm_settings settings)
{
    outcome truth = oracle_match(p), mapped = match(p, settings, true),
            alone = match(p, settings, false);
    const int64_t elements = truth.width * truth.height;

    if (mapped.created != truth.created || mapped.matched != truth.matched ||
        alone.matched != truth.matched)
        check_fail(__FILE__, __LINE__, "%s: status %d and %d, %d alone, expected %d and %d", p->text,
                   (int)mapped.created, (int)mapped.matched, (int)alone.matched,
                   (int)truth.created, (int)truth.matched);
    if (truth.size && memcmp(truth.map, mapped.map, truth.size) != 0)
        check_fail(__FILE__, __LINE__, "%s: the maps differ", p->text);
    if (truth.created == TM_OK && truth.matched == TM_OK &&
        (!kind_same_peak(&mapped.best, &truth.best) || !kind_same_peak(&alone.best, &truth.best)))
        check_fail(__FILE__, __LINE__,
                   "%s: best (%lld, %lld) %.9g, alone (%lld, %lld) %.9g, expected (%lld, %lld) %.9g",
                   p->text, (long long)mapped.best.x, (long long)mapped.best.y, mapped.best.score,
                   (long long)alone.best.x, (long long)alone.best.y, alone.best.score,
                   (long long)truth.best.x, (long long)truth.best.y, truth.best.score);
    free(truth.map);
    free(mapped.map);
    free(alone.map);
    return elements;
}

static int64_t sample(const tm_image *image, int64_t x, int64_t y, int channel)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height)
        return 0;
    const int64_t i = x * (image->channels ? image->channels : 1) + channel;
    const uint8_t *row = image->samples + y * image->stride;
    return image->type == TM_SAMPLE_U16 ? ((const uint16_t *)(const void *)row)[i] : row[i];
}

static bool in_mask(const tm_image *image, int64_t x, int64_t y)
{
    return !image->mask || x < 0 || y < 0 || x >= image->width || y >= image->height ||
           image->mask[y * image->mask_stride + x];
}

/* A metric as its name says, from differences to the means. NAN: the position is
 * skipped. */
static long double formula(const kind_problem *p, int64_t x, int64_t y)
{
    const int channels = p->tmpl.channels ? p->tmpl.channels : 1;
    const bool centred = p->metric == TM_METRIC_LCC || p->metric == TM_METRIC_CCOEFF;
    long double ft = 0, ff = 0, tt = 0, diff = 0, n = 0;

    for (int64_t i = 0; i < p->tmpl.width * p->tmpl.height; i++)
        n += in_mask(&p->tmpl, i % p->tmpl.width, i / p->tmpl.width);
    for (int c = 0; c < channels; c++) {
        long double mean_f = 0, mean_t = 0;
        for (int pass = centred ? 0 : 1; pass < 2; pass++) {
            for (int64_t i = 0; i < p->tmpl.width * p->tmpl.height; i++) {
                const int64_t u = i % p->tmpl.width, v = i / p->tmpl.width;
                if (!in_mask(&p->tmpl, u, v))
                    continue;
                if (!in_mask(&p->frame, x + u, y + v))
                    return NAN;
                long double f = (long double)sample(&p->frame, x + u, y + v, c);
                long double t = (long double)sample(&p->tmpl, u, v, c);
                if (pass == 0) {
                    mean_f += f;
                    mean_t += t;
                    continue;
                }
                ft += (f - mean_f) * (t - mean_t);
                ff += (f - mean_f) * (f - mean_f);
                tt += (t - mean_t) * (t - mean_t);
                diff += (f - t) * (f - t);
            }
            if (pass == 0) {
                mean_f /= n;
                mean_t /= n;
            }
        }
    }
    switch (p->metric) {
    case TM_METRIC_LCC:
        return ff > 1e-6L ? ft / sqrtl(ff * tt) : 0;
    case TM_METRIC_CCORR_NORMED:
        return ft == 0 ? 0 : ft / sqrtl(ff * tt);
    case TM_METRIC_SQDIFF_NORMED:
        return diff / sqrtl((ff > 0 ? ff : 1) * (tt > 0 ? tt : 1));
    case TM_METRIC_SQDIFF:
        return diff;
    default:
        return ft;
    }
}

static void check_value(const kind_problem *p, const outcome *o, int64_t x, int64_t y)
{
    const int64_t left = p->domain == TM_DOMAIN_FULL   ? p->tmpl.width - 1
                         : p->domain == TM_DOMAIN_SAME ? (p->tmpl.width - 1) / 2
                                                       : 0;
    const int64_t top = p->domain == TM_DOMAIN_FULL   ? p->tmpl.height - 1
                        : p->domain == TM_DOMAIN_SAME ? (p->tmpl.height - 1) / 2
                                                      : 0;
    const bool integer = tm_metric_is_integer(p->metric);
    const int64_t i = y * o->width + x;
    const long double expected = formula(p, x - left, y - top);
    const long double got = integer ? (long double)((const int64_t *)o->map)[i]
                                    : (long double)((const float *)o->map)[i];
    if (isnan(expected)) {
        int64_t skipped;
        CHECK_EQ(tm_map_skipped(p->metric, &skipped), TM_OK);
        CHECK(memcmp((const char *)o->map + (size_t)i * tm_map_element_size(p->metric), &skipped,
                     tm_map_element_size(p->metric)) == 0);
        return;
    }
    /* 4 half units of binary32, of a value or of 1; and of what a mean leaves of 0 */
    long double allowed = 0x1p-22L * fmaxl(fabsl(expected), 1);
    if (integer)
        allowed = 0;
    if (p->metric == TM_METRIC_CCOEFF)
        allowed += 1e-6L;
    if (!(fabsl(got - expected) <= allowed))
        check_fail(__FILE__, __LINE__, "%s: %.12Lg at (%lld, %lld), expected %.12Lg", p->text, got,
                   (long long)x, (long long)y, expected);
}

void kind_check_oracle(const kind_problem *p)
{
    outcome o = oracle_match(p);
    const int values = p->tmpl.width * p->tmpl.height < 10000 ? 20 : 1;
    if (o.created == TM_OK) {
        for (int i = 0; i < values; i++)
            check_value(p, &o, check_random_in(0, o.width - 1), check_random_in(0, o.height - 1));
    }
    free(o.map);
}
