/* SPDX-License-Identifier: MIT */
/* Measures what the plan's cost model is fitted to, by fit_costs.py. CPU times are
 * processor time of one thread, which a busy machine disturbs little. */
#include "costs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fft/cpu/fft.h"
#include "fft/cpu/transform.h"
#include "gpu.h"
#include "lcc/cpu/direct.h"
#include "noise.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

bool costs_job(tm_job *job, uint8_t *samples, int64_t width, int64_t height, int64_t template_width,
               int64_t template_height)
{
    const tm_image frame = {.samples = samples, .width = width, .height = height,
                            .stride = (ptrdiff_t)width};
    const tm_image crop = {.samples = samples + (height - template_height) / 2 * width +
                                      (width - template_width) / 3,
                           .width = template_width, .height = template_height,
                           .stride = frame.stride};
    tm_template *tmpl;

    *job = (tm_job){.frame = frame};
    if (!samples)
        return bench_fail("frame", "out of memory");
    noise_bytes(samples, (size_t)(width * height), 1);
    if (tm_template_prepare(&tmpl, &crop) != TM_OK ||
        bench_job(job, &frame, tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID) != TM_OK)
        return bench_fail("template", "cannot be prepared");
    return true;
}

void costs_job_free(tm_job *job)
{
    free((void *)job->frame.samples);
    tm_template_destroy((tm_template **)&job->tmpl);
}

bool costs_tile(tm_fft_tiling *tiling, const tm_geometry *g, int length_x, int length_y)
{
    tm_fft_length lengths[2] = {{length_x, length_x < length_y ? 1.5 : 2.5}, {length_y, 1.5}};
    tm_fft_costs costs = {lengths, length_x == length_y ? 1 : 2, .window_ns = 1,
                          .max_points = INT64_MAX};
    return tm_fft_tile_map(tiling, g, &costs, 1);
}

bool costs_report(bench_report *report, const char *kind, const char *kernels, const tm_job *job, double ms)
{
    const tm_geometry *g = &job->geometry;
    json *j = report_row(report, "costs");
    json_text(j, "kind", kind);
    json_text(j, "kernels", kernels);
    json_integer(j, "frame", g->frame_width);
    json_pair(j, "map", g->map_width, g->map_height);
    json_pair(j, "template", g->template_width, g->template_height);
    json_number(j, "ms", ms);
    if (job->tiling) {
        json_pair(j, "length", job->tiling->length_x, job->tiling->length_y);
        json_pair(j, "tiles", job->tiling->across, job->tiling->down);
        json_integer(j, "range_y", job->tiling->range_y);
    }
    return report_row_end(report, true);
}

/* Widths of frames, widths and heights of templates. No match takes more than a few seconds. */
static const int sizes[][3] = {{256, 3, 3},    {512, 8, 8},     {512, 16, 16},  {512, 33, 33},
                               {512, 21, 64},  {512, 64, 21},   {600, 100, 100}, {1024, 5, 5},
                               {1024, 24, 24}, {1024, 48, 48},  {1024, 96, 96}, {1024, 200, 200},
                               {2048, 32, 32}, {2048, 64, 64}};

static bool measure_direct(bench_report *report, tm_cpu *cpu, const int *size)
{
    tm_job job;
    double best = 1e30;
    bool good = costs_job(&job, malloc((size_t)size[0] * (size_t)size[0]), size[0], size[0], size[1],
                          size[2]);
    for (double spent = 0; good && spent < 150;) {
        const double start = now_ms();
        good = tm_cpu_match(cpu, &job, NULL) == TM_OK;
        const double ms = now_ms() - start;
        spent += ms;
        best = ms < best ? ms : best;
    }
    good = good && costs_report(report, "cpu-direct", cpu->kernels.name, &job, best);
    costs_job_free(&job);
    return good;
}

/* Measures the kernels of an instruction set if the processor has it. */
static bool measure_kernels(bench_report *report, const char *mask)
{
    tm_cpu cpu = {0};
    uint32_t features;
    bool good = true;

    if (tm_cpu_features_parse(mask, &features) || (features & ~tm_cpu_features()) ||
        tm_cpu_init(&cpu, 1, features))
        return true;
    for (size_t i = 0; good && i < sizeof sizes / sizeof *sizes; i++)
        good = measure_direct(report, &cpu, sizes[i]);
    tm_cpu_free(&cpu);
    return good;
}

static bool measure_length(bench_report *report, int length)
{
    tm_fft_point *points = aligned_alloc(64, (size_t)length * sizeof *points);
    tm_fft_point *work = aligned_alloc(64, (size_t)length * sizeof *work);
    tm_fft_transform *transform = tm_fft_transform_make(length, false, tm_cpu_features());
    const int repeats = 400000 / length + 1;
    double best = 1e30;

    for (int run = 0; transform && run < 7; run++) {
        memset(points, 0, (size_t)length * sizeof *points);
        const double start = now_ms();
        for (int i = 0; i < repeats; i++)
            tm_fft_forward(transform, points, work);
        const double ns = (now_ms() - start) * 1e6 / repeats / length;
        best = ns < best ? ns : best;
    }
    free(points);
    free(work);
    if (!transform)
        return bench_fail("transforms", "of one length cannot be made");
    tm_fft_transform_free(transform);
    json *j = report_row(report, "costs");
    json_text(j, "kind", "cpu-length");
    json_text(j, "transforms", TM_HAVE_FFTW ? "fftw" : "own");
    json_integer(j, "points", length);
    json_number(j, "ns", best);
    return report_row_end(report, true);
}

static bool is_smooth(int length)
{
    for (int p = 2; p <= (TM_HAVE_FFTW ? 7 : 5); p++)
        while (length % p == 0)
            length /= p;
    return length == 1;
}

static bool measure_lengths(bench_report *report)
{
    bool good = true;
    for (int length = 16; good && length <= 4096; length += 16) {
        const int step = length < 256 ? 16 : length < 1024 ? 32 : length < 2048 ? 128 : 256;
        if (is_smooth(length) && length % step == 0)
            good = measure_length(report, length);
    }
    for (int length = 6144; good && length <= 32768; length = length == 6144 ? 8192 : 2 * length)
        good = measure_length(report, length);
    return good;
}

static bool measure_tiles(bench_report *report, tm_fft_cpu *fft, const int *c)
{
    tm_fft_tiling tiling;
    tm_job job;
    double best = 1e30;
    bool good = costs_job(&job, malloc((size_t)c[0] * (size_t)c[0]), c[0], c[0], c[1], c[2]);

    if (good && costs_tile(&tiling, &job.geometry, c[3], c[4])) {
        tiling.ms = 0; /* transforms are not measured */
        job.tiling = &tiling;
        for (int run = 0; good && run < 8; run++) {
            const double start = now_ms();
            good = tm_fft_cpu_match(fft, &job, &tiling, NULL) == TM_OK;
            const double ms = now_ms() - start;
            best = ms < best ? ms : best;
        }
        good = good && costs_report(report, "cpu-fft", "", &job, best);
    }
    costs_job_free(&job);
    return good;
}

static bool measure_fft(bench_report *report)
{
    /* Each is a frame, a template's width and height, and a transform's. */
    static const int cases[][5] = {{512, 16, 16, 256, 256},    {512, 100, 100, 320, 320},
                                   {1024, 50, 50, 512, 512},   {1024, 64, 64, 256, 256},
                                   {2048, 128, 128, 512, 512}, {2048, 64, 64, 1024, 256},
                                   {2048, 64, 64, 256, 1024},  {2048, 256, 256, 1024, 1024},
                                   {2048, 256, 256, 2048, 768}, {3000, 128, 128, 640, 640},
                                   {600, 300, 300, 640, 640},  {4096, 300, 300, 2048, 2048}};
    tm_fft_cpu *fft;

    if (!measure_lengths(report))
        return false;
    if (tm_fft_cpu_create(&fft, 1, tm_cpu_features()))
        return bench_fail("fft", "cannot be started");
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof *cases; i++)
        good = measure_tiles(report, fft, cases[i]);
    tm_fft_cpu_destroy(&fft);
    return good;
}

bool costs_cpu(bench_report *report)
{
    static const char *const masks[] = {"none",     "sse4.1",     "avx2", "avxvnni",
                                        "avx512bw", "avx512vnni", "amx",  "dotprod"};
    bool good = true;
    for (size_t i = 0; good && i < sizeof masks / sizeof *masks; i++)
        good = measure_kernels(report, masks[i]);
    return good && measure_fft(report);
}

bool bench_costs(bench_options *o, bench_report *report)
{
    bool good = true;
    for (int i = 0; good && i < o->device_count; i++) {
        if (o->devices[i].kind == TM_DEVICE_CUDA)
            good = costs_cuda(report, o->devices[i].index, o->effort.samples, o->copies);
        else if (!o->copies)
            good = costs_cpu(report);
    }
    return good;
}
