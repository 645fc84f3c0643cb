/* SPDX-License-Identifier: MIT */
/* Times whole calls that find several matches beside those that find the best one, in a
 * frame of smooth noise into which the template was planted 40 times. */
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "noise.h"
#include "options.h"

enum { PLANTED = 40, WARM_UPS = 3 };

typedef struct search_case {
    const char *name;
    int64_t most;
    double min_score;
    int margin, subpixel;
} search_case;

static const search_case searches[] = {
    {"best match only", 0, 0, 0, 0}, /* tm_match */
    {"all of 0.5 or more", 0, 0.5, 0, 0},
    {"all of 0.5 or more, margins", 0, 0.5, 1, 0},
    {"all of 0.5 or more, margins, sub-pixel", 0, 0.5, 1, 1},
    {"the best 10, margins", 10, NAN, 1, 0},
    {"all peaks", 0, NAN, 0, 0},
};
enum { SEARCHES = sizeof searches / sizeof *searches };

/* Each sample is the mean of 3 x 3 samples of noise. */
static bool draw(uint8_t *frame, int64_t width, int64_t height, uint64_t seed)
{
    uint8_t *noise = noise_samples(TM_SAMPLE_U8, (size_t)(width * height), seed);
    if (!noise)
        return false;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            int sum = 0;
            for (int64_t v = 0; v < 3; v++)
                for (int64_t u = 0; u < 3; u++)
                    sum += noise[(y + v) % height * width + (x + u) % width];
            frame[y * width + x] = (uint8_t)(sum / 9);
        }
    free(noise);
    return true;
}

/* Blends copies of the upper left corner in; a quarter of what was there stays. */
static void plant(uint8_t *frame, const bench_case *c, uint64_t seed)
{
    const int64_t width = c->frame_width, w = c->template_width, h = c->template_height;
    for (uint64_t i = 1; i < PLANTED; i++) {
        const int64_t x = (int64_t)(noise_word(~seed, 2 * i) % (uint64_t)(width - w + 1));
        const int64_t y = (int64_t)(noise_word(~seed, 2 * i + 1) % (uint64_t)(c->frame_height - h + 1));
        for (int64_t v = 0; v < h; v++)
            for (int64_t u = 0; u < w; u++)
                frame[(y + v) * width + x + u] =
                    (uint8_t)((3 * frame[v * width + u] + frame[(y + v) * width + x + u]) / 4);
    }
}

typedef struct scene {
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_image frame;
} scene;

static tm_status run(const scene *s, const search_case *c, size_t *count)
{
    tm_search search;
    tm_peak best;
    tm_hits hits;
    const tm_template *one = s->tmpl;

    if (c == searches) {
        *count = 1;
        return tm_match(s->matcher, &s->frame, s->tmpl, &best, NULL);
    }
    tm_search_default(&search, sizeof search);
    search.most = c->most;
    search.min_score = c->min_score;
    search.margin = c->margin;
    search.subpixel = c->subpixel;
    const tm_status status = tm_match_peaks(s->matcher, &s->frame, &one, 1, &search, &hits, NULL);
    if (status == TM_OK) {
        *count = hits.count;
        tm_hits_free(&hits);
    }
    return status;
}

static tm_status measure(const scene *s, const search_case *c, int samples, size_t *count,
                         bench_spread *spread)
{
    double ms[BENCH_MAX_SAMPLES];
    for (int i = -WARM_UPS; i < samples; i++) {
        const double start = clock_ms();
        const tm_status status = run(s, c, count);
        if (status != TM_OK)
            return status;
        if (i >= 0)
            ms[i] = clock_ms() - start;
    }
    *spread = bench_spread_of(ms, samples);
    return TM_OK;
}

static bool run_searches(const bench_options *o, bench_report *report, const bench_case *size,
                         const scene *s)
{
    double best_ms = 0;
    for (int i = 0; i < SEARCHES; i++) {
        size_t count = 0;
        bench_spread ms;
        if (measure(s, &searches[i], o->effort.samples, &count, &ms) != TM_OK)
            return bench_fail("match", tm_matcher_message(s->matcher));
        if (i == 0)
            best_ms = ms.median;
        json *j = report_row(report, "peaks");
        json_sizes(j, size);
        json_text(j, "search", searches[i].name);
        json_text(j, "device", tm_matcher_device(s->matcher));
        json_text(j, "algorithm", tm_matcher_algorithm(s->matcher));
        json_integer(j, "matches", (int64_t)count);
        json_spread(j, "ms", &ms);
        json_number(j, "ratio", ms.median / best_ms);
        if (!report_row_end(report, true))
            return false;
    }
    return true;
}

static bool run_case(const bench_options *o, bench_report *report, const bench_case *c,
                     const bench_device *device)
{
    const tm_settings settings = bench_settings(device, TM_ALGORITHM_AUTO);
    uint8_t *samples = malloc((size_t)(c->frame_width * c->frame_height));
    scene s = {.frame = {.samples = samples, .width = c->frame_width, .height = c->frame_height,
                         .stride = (ptrdiff_t)c->frame_width}};
    const tm_image crop = {.samples = samples, .width = c->template_width,
                           .height = c->template_height, .stride = s.frame.stride};
    bool good = samples && draw(samples, c->frame_width, c->frame_height, o->seed);

    if (!good) {
        bench_fail("frame", "out of memory");
    } else {
        plant(samples, c, o->seed);
        good = tm_matcher_create(&s.matcher, &settings) == TM_OK &&
               tm_template_create(&s.tmpl, s.matcher, &crop) == TM_OK;
        if (!good)
            bench_fail(bench_device_name(device).text, tm_matcher_message(s.matcher));
    }
    good = good && run_searches(o, report, c, &s);
    tm_template_destroy(&s.tmpl);
    tm_matcher_destroy(&s.matcher);
    free(samples);
    return good;
}

bool bench_peaks(bench_options *o, bench_report *report)
{
    bool good = true;
    for (int d = 0; d < o->device_count; d++)
        for (int i = 0; good && i < o->cases.count; i++)
            good = run_case(o, report, &o->cases.items[i], &o->devices[d]);
    return good;
}
