/* SPDX-License-Identifier: MIT */
/* Draws a problem and establishes its exact answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "lcc/lcc.h"
#include "noise.h"

/* The oracle scores whole maps up to this many taps, and spots beyond; where direct
 * would take long as well, the plan chooses. */
#define ORACLE_TAPS 1.5e8
#define DIRECT_TAPS 2e12
#define SPOT_TAPS 6e7
enum { MOST_SPOTS = 4000 };

/* Samples are 1 to 255, as the thesis drew 1 to 1000, so that no window of the full
 * domain is flat. */
static void draw_frame(uint8_t *samples, int64_t count, uint64_t seed)
{
#pragma omp parallel for
    for (int64_t word = 0; word < (count + 7) / 8; word++) {
        const uint64_t bits = noise_word(seed, (uint64_t)word);
        for (int64_t i = 0; i < 8 && 8 * word + i < count; i++)
            samples[8 * word + i] = (uint8_t)(1 + (bits >> (8 * i) & 255) % 255);
    }
}

static void cut_templates(problem *p, uint64_t seed)
{
    const bench_case *c = p->of;
    for (int i = 0; i < c->templates; i++) {
        const uint64_t across = (uint64_t)(c->frame_width - c->template_width + 1);
        const uint64_t down = (uint64_t)(c->frame_height - c->template_height + 1);
        const uint64_t x = noise_word(~seed, (uint64_t)i * 2) % across;
        const uint64_t y = noise_word(~seed, (uint64_t)i * 2 + 1) % down;
        p->templates[i] = (tm_image){.samples = p->frame.samples + (int64_t)y * p->frame.stride + (int64_t)x,
                                     .width = c->template_width,
                                     .height = c->template_height,
                                     .stride = p->frame.stride};
    }
}

static const char *solve(problem *p, tm_algorithm algorithm)
{
    static char fault[300];
    tm_settings settings;
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_map map = {p->expected, p->map_width * (ptrdiff_t)tm_map_element_size(p->of->metric)};

    tm_settings_default(&settings, sizeof settings);
    settings.metric = p->of->metric;
    settings.domain = p->of->domain;
    settings.algorithm = algorithm;
    settings.device = TM_DEVICE_CPU;
    tm_status status = tm_matcher_create(&matcher, &settings);
    for (int i = 0; status == TM_OK && i < p->of->templates; i++) {
        status = tm_template_create(&tmpl, matcher, &p->templates[i]);
        if (status == TM_OK)
            status = tm_match(matcher, &p->frame, tmpl, &p->best[i], i ? NULL : &map);
        tm_template_destroy(&tmpl);
    }
    snprintf(fault, sizeof fault, "%s", status == TM_OK ? "" : tm_matcher_message(matcher));
    tm_matcher_destroy(&matcher);
    return status == TM_OK ? NULL : fault;
}

/* Compares one element of the map with the oracle: its window is cut out, with zeros
 * outside the frame, and matched as a frame of its own. */
static bool spot_equal(const problem *p, const tm_geometry *g, const tm_template *tmpl,
                       uint8_t *window, int64_t x, int64_t y)
{
    union { float lcc; int64_t ccorr; } value;
    const size_t element = tm_map_element_size(p->of->metric);
    const int64_t w = tmpl->width, h = tmpl->height;

    memset(window, 0, (size_t)tmpl->n);
    for (int64_t v = 0; v < h; v++) {
        const int64_t row = y - g->pad_y + v;
        for (int64_t u = 0; u < w; u++) {
            const int64_t column = x - g->pad_x + u;
            if (row >= 0 && row < g->frame_height && column >= 0 && column < g->frame_width)
                window[v * w + u] = p->frame.samples[row * p->frame.stride + column];
        }
    }
    tm_job job = {.metric = p->of->metric,
                  .frame = {window, w, h, w},
                  .tmpl = tmpl,
                  .map = {&value, (ptrdiff_t)element}};
    if (tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, w, h, w, h) != TM_OK)
        return false;
    tm_reference_match(&job);
    return memcmp(&value, (const char *)p->expected + (size_t)(y * p->map_width + x) * element,
                  element) == 0;
}

/* Checks the corners, the best match, and positions drawn at random. */
static const char *check_spots(problem *p, const char *solver, uint64_t seed)
{
    tm_geometry g;
    tm_template *tmpl = NULL;
    const bench_case *c = p->of;
    if (tm_geometry_init(&g, c->domain, c->frame_width, c->frame_height, c->template_width,
                         c->template_height) != TM_OK ||
        tm_template_prepare(&tmpl, &p->templates[0]) != TM_OK)
        return "out of memory";
    uint8_t *window = malloc((size_t)tmpl->n);
    const double affordable = SPOT_TAPS / (double)tmpl->n;
    const int spots = affordable < 16 ? 16 : affordable > MOST_SPOTS ? MOST_SPOTS : (int)affordable;
    const char *fault = window ? NULL : "out of memory";

    for (int i = 0; i < spots && !fault; i++) {
        int64_t x = (int64_t)(noise_word(seed, (uint64_t)i) % (uint64_t)p->map_width);
        int64_t y = (int64_t)(noise_word(~seed, (uint64_t)i) % (uint64_t)p->map_height);
        if (i < 4) {
            x = i % 2 ? p->map_width - 1 : 0;
            y = i / 2 ? p->map_height - 1 : 0;
        } else if (i == 4) {
            x = p->best[0].x + g.pad_x;
            y = p->best[0].y + g.pad_y;
        }
        if (!spot_equal(p, &g, tmpl, window, x, y))
            fault = "the CPU's result differs from the oracle";
    }
    free(window);
    tm_template_destroy(&tmpl);
    snprintf(p->proof, sizeof p->proof,
             "every element with the CPU's %s, that at %d places with the oracle", solver, spots);
    return fault;
}

static bool allocate(problem *p)
{
    const bench_case *c = p->of;
    const size_t elements = (size_t)(p->map_width * p->map_height);
    const size_t bytes = elements * tm_map_element_size(c->metric);

    p->frame = (tm_image){.samples = malloc((size_t)(c->frame_width * c->frame_height)),
                          .width = c->frame_width,
                          .height = c->frame_height,
                          .stride = c->frame_width};
    p->templates = calloc((size_t)c->templates, sizeof *p->templates);
    p->best = calloc((size_t)c->templates, sizeof *p->best);
    p->expected = malloc(bytes);
    p->got = malloc(bytes);
    return p->frame.samples && p->templates && p->best && p->expected && p->got;
}

const char *problem_make(problem *p, const bench_case *of, uint64_t seed)
{
    const int64_t taps = of->template_width * of->template_height;

    *p = (problem){.of = of};
    if (taps > TM_MAX_TEMPLATE_PIXELS ||
        tm_map_size(of->domain, of->frame_width, of->frame_height, of->template_width,
                    of->template_height, &p->map_width, &p->map_height) != TM_OK)
        return "tmatch takes no such sizes";
    if (!allocate(p))
        return "out of memory";
    draw_frame((uint8_t *)p->frame.samples, of->frame_width * of->frame_height, seed);
    cut_templates(p, seed);

    const double work = (double)(p->map_width * p->map_height) * (double)taps * of->templates;
    if (work <= ORACLE_TAPS) {
        snprintf(p->proof, sizeof p->proof, "every element with the oracle");
        return solve(p, TM_ALGORITHM_REFERENCE);
    }
    const bool direct = work <= DIRECT_TAPS;
    const char *fault = solve(p, direct ? TM_ALGORITHM_DIRECT : TM_ALGORITHM_AUTO);
    return fault ? fault : check_spots(p, direct ? "direct kernel" : "auto algorithm", seed);
}

void problem_free(problem *p)
{
    free((void *)p->frame.samples);
    free(p->templates);
    free(p->best);
    free(p->expected);
    free(p->got);
    *p = (problem){0};
}

bool problem_map_equal(const problem *p)
{
    const size_t row = (size_t)p->map_width * tm_map_element_size(p->of->metric);
    bool equal = true;
#pragma omp parallel for reduction(&& : equal)
    for (int64_t y = 0; y < p->map_height; y++)
        equal = equal && memcmp((const char *)p->got + (size_t)y * row,
                                (const char *)p->expected + (size_t)y * row, row) == 0;
    return equal;
}

bool problem_best_equal(const problem *p, int which, tm_peak best)
{
    const tm_peak *b = &p->best[which];
    return best.x == b->x && best.y == b->y && best.score == b->score;
}

bench_error problem_error(const problem *p, const float *map)
{
    const bool lcc = p->of->metric == TM_METRIC_LCC;
    double difference = 0, magnitude = 0, largest = 0;
    int64_t not_finite = 0;

#pragma omp parallel for reduction(+ : difference, magnitude, not_finite) reduction(max : largest)
    for (int64_t i = 0; i < p->map_width * p->map_height; i++) {
        const double exact = lcc ? (double)((const float *)p->expected)[i]
                                 : (double)((const int64_t *)p->expected)[i];
        const double off = fabs((double)map[i] - exact);
        if (!isfinite(off)) {
            not_finite++;
            continue;
        }
        difference += off;
        magnitude += fabs(exact);
        largest = off > largest ? off : largest;
    }
    return (bench_error){magnitude > 0 ? difference / magnitude : 0, largest, not_finite};
}
