/* SPDX-License-Identifier: MIT */
/* Measures what the plan's cost model is fitted to, one JSON object a line:
 *
 *     build/measure_costs >costs.jsonl && bench/fit_costs.py costs.jsonl
 *
 * Times are processor time of one thread, so a busy machine disturbs them little.
 * Takes some minutes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fft/cpu.h"
#include "lcc/cpu/direct.h"
#include "match/plan.h"
#if TM_HAVE_FFTW
#include <fftw3.h>
#endif

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static tm_job make_job(int64_t frame, int64_t width, int64_t height)
{
    tm_job job = {.metric = TM_METRIC_LCC};
    uint8_t *samples = malloc((size_t)(frame * frame));
    uint32_t state = 1;
    if (!samples)
        abort();
    for (int64_t i = 0; i < frame * frame; i++)
        samples[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    job.frame = (tm_image){samples, frame, frame, (ptrdiff_t)frame};
    tm_image crop = {samples + (frame - height) / 2 * frame + (frame - width) / 3, width, height,
                     (ptrdiff_t)frame};
    tm_template *tmpl;
    if (tm_template_prepare(&tmpl, &crop) ||
        tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, frame, frame, width, height))
        abort();
    job.tmpl = tmpl;
    return job;
}

static void free_job(tm_job *job)
{
    free((void *)job->frame.samples);
    tm_template_destroy((tm_template **)&job->tmpl);
}

static void print_job(const char *kind, const char *kernels, const tm_job *job,
                      const tm_fft_tiling *tiling, double ms)
{
    const tm_geometry *g = &job->geometry;
    printf("{\"kind\":\"%s\",\"kernels\":\"%s\",\"frame\":%d,\"map\":[%d,%d],\"template\":[%d,%d],"
           "\"ms\":%.6g",
           kind, kernels, (int)g->frame_width, (int)g->map_width, (int)g->map_height,
           (int)g->template_width, (int)g->template_height, ms);
    if (tiling)
        printf(",\"length\":[%d,%d],\"tiles\":[%d,%d],\"range_y\":%d", tiling->length_x,
               tiling->length_y, (int)tiling->across, (int)tiling->down, (int)tiling->range_y);
    printf("}\n");
    fflush(stdout);
}

/* Frames and templates; products stay below a few seconds. */
static const int sizes[][3] = {{256, 3, 3},    {512, 8, 8},     {512, 16, 16},  {512, 33, 33},
                               {512, 21, 64},  {512, 64, 21},   {600, 100, 100}, {1024, 5, 5},
                               {1024, 24, 24}, {1024, 48, 48},  {1024, 96, 96}, {1024, 200, 200},
                               {2048, 32, 32}, {2048, 64, 64}};

static void measure_cpu_direct(const char *mask)
{
    tm_cpu cpu = {0};
    uint32_t features;
    if (tm_cpu_features_parse(mask, &features) || (features & ~tm_cpu_features()) ||
        tm_cpu_init(&cpu, 1, features))
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tm_job job = make_job(sizes[i][0], sizes[i][1], sizes[i][2]);
        double best = 1e30;
        for (double spent = 0; spent < 150;) {
            double start = now_ms();
            if (tm_cpu_match(&cpu, &job))
                abort();
            double ms = now_ms() - start;
            spent += ms;
            best = ms < best ? ms : best;
        }
        print_job("cpu-direct", cpu.kernels.name, &job, NULL, best);
        free_job(&job);
    }
    tm_cpu_free(&cpu);
}

/* The tiling of given lengths. */
static bool tile_with(tm_fft_tiling *tiling, const tm_geometry *g, int length_x, int length_y)
{
    tm_fft_length lengths[2] = {{length_x, length_x < length_y ? 1 : 2}, {length_y, 1}};
    tm_fft_costs costs = {lengths, length_x == length_y ? 1 : 2, 1, 1, 1, 0, 0, INT64_MAX};
    return tm_fft_tile_map(tiling, g, &costs, 1);
}

#if TM_HAVE_FFTW
static void measure_cpu_length(int length)
{
    fftw_complex *points = aligned_alloc(64, (size_t)length * sizeof *points);
    fftw_plan plan = fftw_plan_dft_1d(length, points, points, FFTW_FORWARD, FFTW_ESTIMATE);
    int repeats = 400000 / length + 1;
    double best = 1e30;

    for (int run = 0; run < 7; run++) {
        memset(points, 0, (size_t)length * sizeof *points);
        double start = now_ms();
        for (int i = 0; i < repeats; i++)
            fftw_execute_dft(plan, points, points);
        double ns = (now_ms() - start) * 1e6 / repeats / length;
        best = ns < best ? ns : best;
    }
    printf("{\"kind\":\"cpu-length\",\"points\":%d,\"ns\":%.4g}\n", length, best);
    fflush(stdout);
    fftw_destroy_plan(plan);
    free(points);
}

static bool is_smooth(int length)
{
    for (int p = 2; p <= 7; p++)
        while (length % p == 0)
            length /= p;
    return length == 1;
}

static void measure_cpu_fft(void)
{
    static const int cases[][5] = {{512, 16, 16, 256, 256},    {512, 100, 100, 320, 320},
                                   {1024, 50, 50, 512, 512},   {1024, 64, 64, 256, 256},
                                   {2048, 128, 128, 512, 512}, {2048, 64, 64, 1024, 256},
                                   {2048, 64, 64, 256, 1024},  {2048, 256, 256, 1024, 1024},
                                   {2048, 256, 256, 2048, 768}, {3000, 128, 128, 640, 640},
                                   {600, 300, 300, 640, 640},  {4096, 300, 300, 2048, 2048}};

    for (int length = 16; length <= 4096; length += 16) {
        int step = length < 256 ? 16 : length < 1024 ? 32 : length < 2048 ? 128 : 256;
        if (is_smooth(length) && length % step == 0)
            measure_cpu_length(length);
    }
    for (int length = 6144; length <= 32768; length = length == 6144 ? 8192 : 2 * length)
        measure_cpu_length(length);
    tm_fft_cpu *fft;
    if (tm_fft_cpu_create(&fft, 1))
        abort();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *c = cases[i];
        tm_job job = make_job(c[0], c[1], c[2]);
        tm_fft_tiling tiling;
        if (!tile_with(&tiling, &job.geometry, c[3], c[4]))
            continue;
        tiling.ms = 0; /* FFTW_ESTIMATE */
        double best = 1e30;
        for (int run = 0; run < 8; run++) {
            double start = now_ms();
            if (tm_fft_cpu_match(fft, &job, &tiling))
                abort();
            double ms = now_ms() - start;
            best = ms < best ? ms : best;
        }
        print_job("cpu-fft", "", &job, &tiling, best);
        free_job(&job);
    }
    tm_fft_cpu_destroy(&fft);
}
#else
static void measure_cpu_fft(void)
{
}
#endif

int main(void)
{
    static const char *const masks[] = {"none",     "sse4.1",     "avx2", "avxvnni",
                                        "avx512bw", "avx512vnni", "amx",  "dotprod"};

    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        measure_cpu_direct(masks[i]);
    measure_cpu_fft();
    return 0;
}
