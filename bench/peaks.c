/* SPDX-License-Identifier: MIT */
/* What finding several matches costs beside finding the best one: whole calls, on
 * a frame of smooth noise into which the template was planted 40 times.
 *
 *     tmatch-bench-peaks [cpu|cuda] [THREADS] [FRAME,TEMPLATE]... >peaks.json */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

enum { PLANTED = 40, SAMPLES = 41 };

typedef struct search_case {
    const char *name;
    int64_t most;
    double min_score;
    int margin, subpixel;
} search_case;

static const search_case cases[] = {
    {"best match only", 0, 0, 0, 0}, /* tm_match */
    {"all of 0.5 or more", 0, 0.5, 0, 0},
    {"all of 0.5 or more, margins", 0, 0.5, 1, 0},
    {"all of 0.5 or more, margins, sub-pixel", 0, 0.5, 1, 1},
    {"the best 10, margins", 10, NAN, 1, 0},
    {"all peaks", 0, NAN, 0, 0},
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The mean of 3 x 3 noise, stretched. */
static void draw(uint8_t *frame, int64_t width, int64_t height)
{
    uint8_t *noise = malloc((size_t)(width * height));
    uint32_t state = 8;
    if (!noise)
        exit(2);
    for (int64_t i = 0; i < width * height; i++)
        noise[i] = (uint8_t)next_random(&state);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            int sum = 0;
            for (int64_t v = 0; v < 3; v++)
                for (int64_t u = 0; u < 3; u++)
                    sum += noise[(y + v) % height * width + (x + u) % width];
            frame[y * width + x] = (uint8_t)(sum / 9);
        }
    free(noise);
}

static void plant(uint8_t *frame, int64_t width, int64_t height, int64_t w, int64_t h)
{
    uint32_t state = 9;
    for (int i = 1; i < PLANTED; i++) {
        const int64_t x = next_random(&state) % (uint32_t)(width - w + 1);
        const int64_t y = next_random(&state) % (uint32_t)(height - h + 1);
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

    if (c == cases) {
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

static bench_spread measure(const scene *s, const search_case *c, size_t *count, tm_status *status)
{
    double ms[SAMPLES];
    for (int i = -3; i < SAMPLES && *status == TM_OK; i++) {
        const double start = clock_ms();
        *status = run(s, c, count);
        if (i >= 0)
            ms[i] = clock_ms() - start;
    }
    return bench_spread_of(ms, SAMPLES);
}

static tm_status bench(const tm_settings *settings, const bench_case *size, bool first)
{
    const int64_t w = size->template_width, h = size->template_height;
    scene s = {.frame = {.width = size->frame_width, .height = size->frame_height,
                         .stride = (ptrdiff_t)size->frame_width}};
    uint8_t *samples = malloc((size_t)(s.frame.width * s.frame.height));
    double best_ms = 0;

    if (!samples)
        return TM_ERR_MEMORY;
    draw(samples, s.frame.width, s.frame.height);
    plant(samples, s.frame.width, s.frame.height, w, h);
    s.frame.samples = samples;
    const tm_image crop = {.samples = samples, .width = w, .height = h, .stride = s.frame.stride};
    tm_status status = tm_matcher_create(&s.matcher, settings);
    if (status == TM_OK)
        status = tm_template_create(&s.tmpl, s.matcher, &crop);
    for (size_t i = 0; status == TM_OK && i < sizeof cases / sizeof *cases; i++) {
        size_t count = 0;
        const bench_spread ms = measure(&s, &cases[i], &count, &status);
        if (status != TM_OK)
            break;
        if (i == 0)
            best_ms = ms.median;
        printf("%s\n    {\"frame\": [%" PRId64 ", %" PRId64 "], \"template\": [%" PRId64 ", %" PRId64
               "], \"search\": \"%s\", \"device\": \"%s\", \"algorithm\": \"%s\", \"matches\": %zu, "
               "\"ms\": {\"min\": %.4f, \"median\": %.4f, \"max\": %.4f}, \"ratio\": %.3f}",
               first && i == 0 ? "" : ",", s.frame.width, s.frame.height, w, h, cases[i].name,
               tm_matcher_device(s.matcher), tm_matcher_algorithm(s.matcher), count, ms.min,
               ms.median, ms.max, ms.median / best_ms);
    }
    if (status != TM_OK)
        fprintf(stderr, "tmatch-bench-peaks: %s\n", tm_matcher_message(s.matcher));
    tm_template_destroy(&s.tmpl);
    tm_matcher_destroy(&s.matcher);
    free(samples);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"1920x1080,32", "5020,21"};
    const bool own = argc > 3;
    const int count = own ? argc - 3 : 2;
    tm_settings settings;
    tm_status status = TM_OK;

    tm_settings_default(&settings, sizeof settings);
    settings.device = argc > 1 && strcmp(argv[1], "cuda") == 0 ? TM_DEVICE_CUDA : TM_DEVICE_CPU;
    settings.threads = argc > 2 ? atoi(argv[2]) : 0;
    printf("{\"threads\": %d, \"results\": [", settings.threads);
    for (int i = 0; i < count && status == TM_OK; i++) {
        bench_case size = {0};
        const char *text = own ? argv[3 + i] : usual[i];
        if (!bench_parse_case(text, &size)) {
            fprintf(stderr, "tmatch-bench-peaks: not a FRAME,TEMPLATE size: '%s'\n", text);
            return 2;
        }
        status = bench(&settings, &size, i == 0);
    }
    puts("\n]}");
    return status == TM_OK ? 0 : 2;
}
