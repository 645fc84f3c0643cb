/* SPDX-License-Identifier: MIT */
/* Times float pictures on the CPU, direct and by FFT in turns: whole calls for the best
 * match. A call that takes longer than LONG_MS is made once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "noise.h"
#include "options.h"

#define LONG_MS 2000.0
enum { GRAY = 3, MOST_CHANNELS = 3 };

/* Gray by three metrics, and then what takes more transforms. */
static const struct float_case {
    const char *name;
    tm_metric metric;
    int channels;
    bool mask;
} float_cases[] = {
    {"lcc", TM_METRIC_LCC, 1, false},
    {"ccorr", TM_METRIC_CCORR, 1, false},
    {"sqdiff", TM_METRIC_SQDIFF, 1, false},
    {"lcc, masked", TM_METRIC_LCC, 1, true},
    {"lcc, 3 channels", TM_METRIC_LCC, 3, false},
};

static const tm_algorithm algorithms[] = {TM_ALGORITHM_DIRECT, TM_ALGORITHM_FFT};

/* One algorithm's matcher, and what its calls took. */
typedef struct side {
    tm_matcher *matcher;
    tm_template *tmpl;
    double ms[BENCH_MAX_SAMPLES];
    int count;
} side;

static tm_image image_of(const float *samples, int64_t width, int64_t height, int channels,
                         int64_t pixels)
{
    return (tm_image){.samples = (const uint8_t *)samples,
                      .width = width,
                      .height = height,
                      .stride = (ptrdiff_t)(pixels * channels) * 4,
                      .type = TM_SAMPLE_F32,
                      .channels = channels};
}

static bool call(side *s, const tm_image *frame, double *ms)
{
    tm_peak best;
    const double start = clock_ms();
    const bool good = tm_match(s->matcher, frame, s->tmpl, &best, NULL) == TM_OK;
    *ms = clock_ms() - start;
    return good || bench_fail("match", tm_matcher_message(s->matcher));
}

static bool open_side(side *s, const bench_options *o, tm_algorithm algorithm, tm_metric metric,
                      const tm_image *picture)
{
    tm_settings settings = bench_settings(&o->devices[0], algorithm);
    settings.metric = metric;
    *s = (side){0};
    return (tm_matcher_create(&s->matcher, &settings) == TM_OK &&
            tm_template_create(&s->tmpl, s->matcher, picture) == TM_OK) ||
           bench_fail("template", tm_matcher_message(s->matcher));
}

static bool time_sides(side *sides, const tm_image *frame, int samples)
{
    double ms;
    for (int turn = 0; turn < samples; turn++) {
        for (int i = 0; i < 2; i++) {
            side *s = &sides[i];
            if (s->count == 1 && s->ms[0] > LONG_MS)
                continue;
            if (turn == 0 && i == 1 && !call(s, frame, &ms)) /* plans and memory */
                return false;
            if (!call(s, frame, &ms))
                return false;
            s->ms[s->count++] = ms;
        }
    }
    return true;
}

/* Writes "N of M" windows from the plan of FFT, or "" if it has none. */
static void windows_again(tm_matcher *matcher, char *text, size_t size)
{
    const char *plan = tm_matcher_plan(matcher);
    const char *end = strstr(plan, " windows again"), *start = end;
    while (start && start > plan && start[-1] != ',')
        start--;
    if (start && *start == ' ')
        start++;
    snprintf(text, size, "%.*s", end ? (int)(end - start) : 0, end ? start : "");
}

static bool measure(const bench_options *o, bench_report *report, const bench_case *c,
                    const struct float_case *f, const float *samples, const uint8_t *mask)
{
    const tm_image frame =
        image_of(samples, c->frame_width, c->frame_height, f->channels, c->frame_width);
    const int64_t x = (c->frame_width - c->template_width) / 3,
                  y = (c->frame_height - c->template_height) / 3;
    tm_image picture = image_of(samples + (y * c->frame_width + x) * f->channels,
                                c->template_width, c->template_height, f->channels,
                                c->frame_width);
    static side sides[2];

    if (f->mask) {
        picture.mask = mask;
        picture.mask_stride = (ptrdiff_t)c->template_width;
    }
    bool good = true;
    for (int i = 0; i < 2; i++)
        good = open_side(&sides[i], o, algorithms[i], f->metric, &picture) && good;
    good = good && time_sides(sides, &frame, o->effort.samples);
    if (good) {
        char again[64];
        windows_again(sides[1].matcher, again, sizeof again);
        json *j = report_row(report, "floats");
        json_sizes(j, c);
        json_text(j, "kind", f->name);
        json_number(j, "direct_ms", bench_spread_of(sides[0].ms, sides[0].count).median);
        json_number(j, "fft_ms", bench_spread_of(sides[1].ms, sides[1].count).median);
        json_text(j, "again", again);
        good = report_row_end(report, true);
    }
    for (int i = 0; i < 2; i++) {
        tm_template_destroy(&sides[i].tmpl);
        tm_matcher_destroy(&sides[i].matcher);
    }
    return good;
}

static bool run_case(const bench_options *o, bench_report *report, const bench_case *c)
{
    const size_t count = (size_t)(c->frame_width * c->frame_height) * MOST_CHANNELS;
    const size_t taps = (size_t)(c->template_width * c->template_height);
    float *samples = malloc(count * sizeof *samples);
    uint8_t *mask = malloc(taps);
    bool good = samples && mask;

    if (!good)
        bench_fail("frame", "out of memory");
    else
        noise_floats(samples, count, 100, 1.0f / 65536, o->seed);
    for (size_t i = 0; good && i < taps; i++)
        mask[i] = i % 7 != 0;
    /* A mask or colours take three times as long directly, too long for large templates. */
    const size_t wanted = c->template_width > 128 ? GRAY : sizeof float_cases / sizeof *float_cases;
    for (size_t i = 0; good && i < wanted; i++)
        good = measure(o, report, c, &float_cases[i], samples, mask);
    free(samples);
    free(mask);
    return good;
}

bool bench_floats(bench_options *o, bench_report *report)
{
    bool good = true;
    for (int i = 0; good && i < o->cases.count; i++)
        good = run_case(o, report, &o->cases.items[i]);
    return good;
}
