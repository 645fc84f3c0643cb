/* SPDX-License-Identifier: MIT */
/* How good the plan's choice is: plan_grid cpu|cuda [LIMIT_MS]. For each size the
 * medians of direct, fft and auto, and what auto's choice loses against the better
 * one. Runs that are estimated above LIMIT_MS (default 20,000) are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tmatch/tmatch.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some matches' kernel times; -1 where that fails. */
static double median(tm_matcher *matcher, const tm_image *frame, const tm_image *picture)
{
    tm_template *tmpl;
    tm_peak best;
    double ms[15], spent = 0;
    int runs = 0;

    if (tm_template_create(&tmpl, matcher, picture))
        return -1;
    /* the first matches plan, and auto may wait with FFT until it pays */
    for (int i = 0; i < 60 && spent < 60; i++) {
        if (tm_match(matcher, frame, tmpl, &best, NULL))
            break;
        spent += tm_matcher_times(matcher).kernel;
    }
    if (spent > 3000) {
        tm_template_destroy(&tmpl);
        return spent;
    }
    spent = 0;
    for (int i = 0; i < 15 && (i < 1 || spent < 1500); i++) {
        if (tm_match(matcher, frame, tmpl, &best, NULL)) {
            runs = 0;
            break;
        }
        double kernel = tm_matcher_times(matcher).kernel;
        spent += kernel;
        ms[runs++] = kernel;
    }
    tm_template_destroy(&tmpl);
    qsort(ms, (size_t)runs, sizeof *ms, ascending);
    return runs ? ms[runs / 2] : -1;
}

static double estimate_of(const char *plan, const char *name)
{
    const char *at = strstr(plan, "estimates: ");
    at = at ? strstr(at, name) : NULL;
    return at ? strtod(at + strlen(name), NULL) : -1;
}

int main(int argc, char **argv)
{
    static const int frames[] = {256, 512, 1024, 2048, 4096, 8192};
    static const int templates[] = {3, 8, 16, 24, 32, 48, 64, 96, 128, 200, 300, 600};
    double limit = argc > 2 ? strtod(argv[2], NULL) : 20000, worst = 0;
    tm_matcher *matchers[3];
    int count = 0, beyond = 0;

    if (argc < 2) {
        fprintf(stderr, "plan_grid cpu|cuda [LIMIT_MS]\n");
        return 2;
    }
    for (int i = 0; i < 3; i++) {
        tm_settings settings;
        tm_settings_default(&settings, sizeof settings);
        settings.device = strcmp(argv[1], "cuda") ? TM_DEVICE_CPU : TM_DEVICE_CUDA;
        settings.algorithm = i == 0   ? TM_ALGORITHM_AUTO
                             : i == 1 ? TM_ALGORITHM_DIRECT
                                      : TM_ALGORITHM_FFT;
        if (tm_matcher_create(&matchers[i], &settings)) {
            fprintf(stderr, "%s\n", tm_matcher_message(matchers[i]));
            return 1;
        }
    }
    printf("| frame | template | direct ms | (estimate) | fft ms | (estimate) | auto | ms | loss |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
        int64_t size = frames[f];
        uint8_t *samples = malloc((size_t)(size * size));
        tm_image frame = {.samples = samples, .width = size, .height = size,
                          .stride = (ptrdiff_t)size};
        for (int64_t i = 0; i < size * size; i++)
            samples[i] = (uint8_t)(rand() >> 8);
        for (size_t t = 0; t < sizeof templates / sizeof *templates; t++) {
            int64_t w = templates[t];
            tm_image picture = {.samples = samples + size / 3, .width = w, .height = w,
                                .stride = (ptrdiff_t)size};
            if (2 * w > size || (size > 4096 && t % 2))
                continue;
            double chosen = median(matchers[0], &frame, &picture), other[2];
            char algorithm[16], plan[512];
            snprintf(algorithm, sizeof algorithm, "%s", tm_matcher_algorithm(matchers[0]));
            snprintf(plan, sizeof plan, "%s", tm_matcher_plan(matchers[0]));
            for (int i = 0; i < 2; i++) {
                double estimate = estimate_of(plan, i ? "fft " : "direct ");
                other[i] = estimate > limit ? -1 : median(matchers[i + 1], &frame, &picture);
            }
            /* by what was measured of the algorithms: two runs of one differ by noise */
            double mine = other[strcmp(algorithm, "fft") == 0], better = mine;
            for (int i = 0; i < 2; i++)
                better = other[i] >= 0 && other[i] < better ? other[i] : better;
            double loss = mine > 0 ? 100 * (mine / better - 1) : 0;
            worst = loss > worst ? loss : worst;
            beyond += loss > 15;
            count++;
            printf("| %d | %d | %.4g | %.3g | %.4g | %.3g | %s | %.4g | %.0f%% |\n", frames[f],
                   templates[t], other[0], estimate_of(plan, "direct "), other[1],
                   estimate_of(plan, "fft "), algorithm, chosen, loss);
            fflush(stdout);
        }
        free(samples);
    }
    printf("\n%d sizes, worst loss %.0f%%, %d above 15%%; -1: not measured\n", count, worst, beyond);
    for (int i = 0; i < 3; i++)
        tm_matcher_destroy(&matchers[i]);
    return 0;
}
