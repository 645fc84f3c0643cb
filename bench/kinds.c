/* SPDX-License-Identifier: MIT */
/* What 16 bits, masks, colour and the other metrics cost, as multiples of LCC of
 * 8-bit gray of the same size:
 *
 *     bench-kinds [cpu|cuda] [auto|direct|fft] [FRAME,TEMPLATE]... >kinds.json
 *
 * Sizes are sides of squares. Medians of single matches' kernel times, best match
 * only; on the CPU that is the whole match. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum { MOST = 41 };

typedef struct kind {
    const char *name;
    tm_metric metric;
    tm_sample_type type;
    int channels;
    int masks; /* 1: the template's, 2: the frame's */
} kind;

/* the first is what the others are compared with */
static const kind kinds[] = {
    {"gray8", TM_METRIC_LCC, TM_SAMPLE_U8, 1, 0},
    {"gray16", TM_METRIC_LCC, TM_SAMPLE_U16, 1, 0},
    {"masked8", TM_METRIC_LCC, TM_SAMPLE_U8, 1, 1},
    {"rgb8", TM_METRIC_LCC, TM_SAMPLE_U8, 3, 0},
    {"masked16", TM_METRIC_LCC, TM_SAMPLE_U16, 1, 1},
    {"masked rgb8", TM_METRIC_LCC, TM_SAMPLE_U8, 3, 1},
    {"rgb16", TM_METRIC_LCC, TM_SAMPLE_U16, 3, 0},
    {"gray8, masked frame", TM_METRIC_LCC, TM_SAMPLE_U8, 1, 2},
    {"gray8", TM_METRIC_CCORR, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_CCORR_NORMED, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_CCOEFF, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_SQDIFF, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_SQDIFF_NORMED, TM_SAMPLE_U8, 1, 0},
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint8_t *noise(size_t size)
{
    static uint64_t state = 1;
    uint8_t *data = malloc(size);
    for (size_t i = 0; data && i < size; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        data[i] = (uint8_t)(state >> 56);
    }
    return data;
}

static double median_ms(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl)
{
    double ms[MOST], spent = 0;
    tm_peak best;
    int count = -3; /* to warm up */

    for (; count < MOST && (count < 3 || spent < 1500); count++) {
        if (tm_match(matcher, frame, tmpl, &best, NULL) != TM_OK) {
            fprintf(stderr, "bench-kinds: %s\n", tm_matcher_message(matcher));
            return -1;
        }
        if (count >= 0)
            ms[count] = tm_matcher_times(matcher).kernel;
        spent += tm_matcher_times(matcher).kernel;
    }
    qsort(ms, (size_t)count, sizeof *ms, ascending);
    return ms[count / 2];
}

static double run(const kind *k, tm_settings settings, int frame_side, int side, char algorithm[32])
{
    const int64_t pixel = k->channels * (k->type == TM_SAMPLE_U16 ? 2 : 1);
    const size_t pixels = (size_t)frame_side * (size_t)frame_side;
    uint8_t *samples = noise(pixels * (size_t)pixel), *mask = noise((size_t)side * (size_t)side);
    uint8_t *frame_mask = malloc(pixels);
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    double ms = -1;

    settings.metric = k->metric;
    if (samples && mask && frame_mask && tm_matcher_create(&matcher, &settings) == TM_OK) {
        tm_image frame = {.samples = samples, .width = frame_side, .height = frame_side,
                          .stride = frame_side * pixel, .type = k->type, .channels = k->channels};
        tm_image part = frame;
        part.samples += (frame_side - side) * 2 / 3 * (frame.stride + pixel);
        part.width = part.height = side;
        if (k->masks & 1) {
            mask[0] = 0;
            part.mask = mask;
            part.mask_stride = side;
        }
        if (k->masks & 2) {
            memset(frame_mask, 1, pixels);
            frame_mask[pixels / 5] = 0;
            frame.mask = frame_mask;
            frame.mask_stride = frame_side;
        }
        if (tm_template_create(&tmpl, matcher, &part) == TM_OK)
            ms = median_ms(matcher, &frame, tmpl);
        snprintf(algorithm, 32, "%s", tm_matcher_algorithm(matcher));
    } else {
        fprintf(stderr, "bench-kinds: %s\n", matcher ? tm_matcher_message(matcher) : "no memory");
    }
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    free(samples);
    free(mask);
    free(frame_mask);
    return ms;
}

static void run_size(tm_settings settings, int frame, int side, const char *separator)
{
    double plain = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char algorithm[32] = "";
        const double ms = run(&kinds[i], settings, frame, side, algorithm);
        if (i == 0)
            plain = ms;
        printf("%s\n    {\"frame\": %d, \"template\": %d, \"picture\": \"%s\", \"metric\": \"%s\", "
               "\"algorithm\": \"%s\", \"ms\": %.5g, \"times_gray8_lcc\": %.3g}",
               i ? "," : separator, frame, side, kinds[i].name, tm_metric_name(kinds[i].metric),
               algorithm, ms, ms / plain);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    tm_settings settings;
    machine m;
    int first = 1, frame, side, count = 0;

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    for (; first < argc && argv[first][0] >= 'a'; first++) {
        if (strcmp(argv[first], "cuda") == 0)
            settings.device = TM_DEVICE_CUDA;
        if (strcmp(argv[first], "direct") == 0)
            settings.algorithm = TM_ALGORITHM_DIRECT;
        if (strcmp(argv[first], "fft") == 0)
            settings.algorithm = TM_ALGORITHM_FFT;
    }
    machine_describe(&m);
    const bool cuda = settings.device == TM_DEVICE_CUDA;
    printf("{\"commit\": \"%s%s\", \"date\": \"%s\", \"device\": \"%s\",\n \"results\": [", m.commit,
           m.dirty ? ", changed" : "", m.date, m.devices[cuda && m.device_count > 1].name);
    for (int i = first; i < argc; i++) {
        if (sscanf(argv[i], "%d,%d", &frame, &side) != 2 || side < 2 || frame < side) {
            fprintf(stderr, "bench-kinds: %s: not a size, such as 2048,21\n", argv[i]);
            return 2;
        }
        run_size(settings, frame, side, count++ ? "," : "");
    }
    for (int i = 0; first == argc && i < 2; i++)
        run_size(settings, cuda ? 5020 : 2048, i ? 64 : 21, count++ ? "," : "");
    printf("\n]}\n");
    return 0;
}
