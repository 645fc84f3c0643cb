/* SPDX-License-Identifier: MIT */
/* Float pictures on the CPU, direct and by FFT:
 *
 *     bench-floats [--threads N] [FRAME,TEMPLATE]... >floats.json
 *
 * Sizes are 1920x1080, or the side of a square. Whole calls for the best match only,
 * of pictures of noise of even light, the two algorithms in turns; medians. A call that
 * takes longer than LONG_MS is made once. "again": windows that FFT did directly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "machine.h"

enum { MOST = 9, GRAY = 3 };
#define LONG_MS 2000.0

/* What is matched: gray by three metrics, and what costs more transforms. */
static const struct kind {
    const char *name;
    tm_metric metric;
    int channels;
    bool mask;
} kinds[] = {
    {"lcc", TM_METRIC_LCC, 1, false},
    {"ccorr", TM_METRIC_CCORR, 1, false},
    {"sqdiff", TM_METRIC_SQDIFF, 1, false},
    {"lcc, masked", TM_METRIC_LCC, 1, true},
    {"lcc, 3 channels", TM_METRIC_LCC, 3, false},
};

static const tm_algorithm algorithms[] = {TM_ALGORITHM_DIRECT, TM_ALGORITHM_FFT};

static float *noise(int64_t count)
{
    static uint64_t state = 1;
    float *data = malloc((size_t)count * sizeof *data);
    for (int64_t i = 0; data && i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        data[i] = 100 + (float)(state >> 40) * 0x1p-24f;
    }
    return data;
}

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

/* Milliseconds, or -1. */
static double call_ms(tm_matcher *m, const tm_image *frame, const tm_template *t)
{
    tm_peak best;
    const double start = clock_ms();
    return tm_match(m, frame, t, &best, NULL) ? -1 : clock_ms() - start;
}

static bool measure(const bench_case *c, const struct kind *kind, const float *samples,
                    uint8_t *mask, int threads)
{
    const tm_image frame =
        image_of(samples, c->frame_width, c->frame_height, kind->channels, c->frame_width);
    tm_image picture =
        image_of(samples + (c->frame_height / 3 * c->frame_width + 11) * kind->channels,
                 c->template_width, c->template_height, kind->channels, c->frame_width);
    double ms[2][MOST];
    int count[2] = {0};
    bool good = true;

    if (kind->mask) {
        picture.mask = mask;
        picture.mask_stride = (ptrdiff_t)c->template_width;
    }
    printf("{\"frame\":[%lld,%lld],\"template\":[%lld,%lld],\"kind\":\"%s\"",
           (long long)c->frame_width, (long long)c->frame_height, (long long)c->template_width,
           (long long)c->template_height, kind->name);
    tm_matcher *matchers[2] = {NULL};
    tm_template *tmpl[2] = {NULL};
    for (int i = 0; i < 2 && good; i++) {
        tm_settings s;
        tm_settings_default(&s, sizeof s);
        s.device = TM_DEVICE_CPU;
        s.algorithm = algorithms[i];
        s.metric = kind->metric;
        s.threads = threads;
        good = tm_matcher_create(&matchers[i], &s) == TM_OK &&
               tm_template_create(&tmpl[i], matchers[i], &picture) == TM_OK;
    }
    for (int turn = 0; turn < MOST && good; turn++) {
        for (int i = 0; i < 2 && good; i++) {
            if (count[i] == 1 && ms[i][0] > LONG_MS)
                continue;
            if (turn == 0 && i == 1) /* plans and memory */
                good = call_ms(matchers[i], &frame, tmpl[i]) >= 0;
            const double spent = good ? call_ms(matchers[i], &frame, tmpl[i]) : -1;
            good = good && spent >= 0;
            ms[i][count[i]++] = spent;
        }
    }
    if (good) {
        const char *again = strstr(tm_matcher_plan(matchers[1]), " windows again");
        while (again && again[-1] != ',')
            again--;
        printf(",\"direct_ms\":%.3f,\"fft_ms\":%.3f,\"again\":\"%.*s\"",
               bench_spread_of(ms[0], count[0]).median, bench_spread_of(ms[1], count[1]).median,
               again ? (int)(strstr(again, " windows") - again) : 0, again ? again : "");
    } else {
        printf(",\"error\":\"%s\"", tm_matcher_message(matchers[matchers[1] ? 1 : 0]));
    }
    puts("}");
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        tm_template_destroy(&tmpl[i]);
        tm_matcher_destroy(&matchers[i]);
    }
    return good;
}

static bool run(const char *size, int threads)
{
    bench_case c = {0};
    if (!bench_parse_case(size, &c)) {
        fprintf(stderr, "bench-floats: %s: not FRAME,TEMPLATE\n", size);
        return false;
    }
    float *samples = noise(c.frame_width * c.frame_height * 3);
    uint8_t *mask = malloc((size_t)(c.template_width * c.template_height));
    bool good = samples && mask;
    for (int64_t i = 0; good && i < c.template_width * c.template_height; i++)
        mask[i] = i % 7 != 0;
    /* directly, a mask or colours take three times as long: not of large templates */
    const size_t count = c.template_width > 128 ? GRAY : sizeof kinds / sizeof *kinds;
    for (size_t i = 0; good && i < count; i++)
        good = measure(&c, &kinds[i], samples, mask, threads);
    free(samples);
    free(mask);
    return good;
}

int main(int argc, char **argv)
{
    static const char *const sizes[] = {"2048,64", "2048,128", "2048,256"};
    static machine m;
    int threads = 0, first = 1;

    if (argc > 2 && strcmp(argv[1], "--threads") == 0) {
        threads = atoi(argv[2]);
        first = 3;
    }
    machine_describe(&m);
    printf("{\"commit\":\"%s\",\"changed\":%s,\"date\":\"%s\",\"cpu\":\"%s\",\"threads\":%d}\n",
           m.commit, m.dirty ? "true" : "false", m.date, m.devices[0].name,
           threads ? threads : m.devices[0].units);
    bool good = true;
    for (int i = first; i < argc && good; i++)
        good = run(argv[i], threads);
    for (int i = 0; i < 3 && first == argc && good; i++)
        good = run(sizes[i], threads);
    return good ? 0 : 1;
}
