/* SPDX-License-Identifier: MIT */
/* Measures what a GPU's algorithms and copies cost. */
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "gpu.h"

/* Returns a negative time if it fails, and says why; the fit leaves such rows out. */
static double replay_ms(bench_gpu *gpu, tm_job *job, int samples)
{
    tm_work work;
    double ms[BENCH_MAX_SAMPLES];
    if (bench_gpu_match(gpu, job, 1, &work) != TM_OK ||
        bench_gpu_replay(gpu, 5, &samples, ms) != TM_OK) {
        bench_fail("match", gpu->message.text);
        return -1;
    }
    return bench_spread_of(ms, samples).median;
}

static bool measure_one(bench_report *report, bench_gpu *gpu, int samples, int64_t width, int64_t height,
                        int64_t template_width, int64_t template_height)
{
    tm_job job;
    const bool good = costs_job(&job, malloc((size_t)(width * height)), width, height,
                                template_width, template_height) &&
                      costs_report(report, "cuda-direct", "cuda", &job, replay_ms(gpu, &job, samples));
    costs_job_free(&job);
    return good;
}

/* Sizes are those around which the algorithms cross, and templates that are too large
 * for the tensor cores. */
static bool measure_direct(bench_report *report, bench_gpu *gpu, int samples)
{
    static const int frames[] = {256, 512, 1024, 1500, 2048, 3000, 4096, 8192};
    static const int templates[][2] = {{3, 3},     {8, 8},     {16, 16},  {24, 24},   {25, 31},
                                       {32, 32},   {48, 48},   {64, 64},  {80, 80},   {96, 96},
                                       {112, 112}, {128, 128}, {160, 160}, {200, 200}, {250, 250},
                                       {30, 200},  {200, 30},  {100, 40}, {300, 300}, {600, 600}};
    bool good = true;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        for (size_t j = 0; good && j < sizeof templates / sizeof *templates; j++) {
            const int w = templates[j][0], h = templates[j][1];
            if (2 * w <= frames[i] && 2 * h <= frames[i] && (w <= 256 || frames[i] <= 2048))
                good = measure_one(report, gpu, samples, frames[i], frames[i], w, h);
        }
    }
    return good;
}

/* The plan adds up launches for as few rows as a chunk has. */
static bool measure_chunks(bench_report *report, bench_gpu *gpu, int samples)
{
    static const int chunks[][2] = {{4096, 320}, {4096, 512}, {8192, 192}, {8192, 448}, {8192, 1024}};
    static const int templates[] = {16, 32, 48, 64, 96, 128, 160, 200, 250};
    bool good = true;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        for (size_t j = 0; good && j < sizeof templates / sizeof *templates; j++)
            good = measure_one(report, gpu, samples, chunks[i][0], chunks[i][1] + templates[j] - 1,
                               templates[j], templates[j]);
    }
    return good;
}

static bool measure_fft_frame(bench_report *report, bench_gpu *gpu, int samples, int frame, int size)
{
    static const int lengths[] = {256, 512, 768, 1024, 1152, 1536, 2048, 2304, 4096, 8192};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    const int longest = gpu->plugin->traits(gpu->cuda).longest_fft;
    tm_job job;
    bool good = costs_job(&job, malloc((size_t)frame * (size_t)frame), frame, frame, size, size);

    for (int j = 0; good && j < LENGTHS * LENGTHS; j++) {
        const int x = j % LENGTHS, y = j / LENGTHS, length_x = lengths[x], length_y = lengths[y];
        tm_fft_tiling tiling;
        /* leave out what nobody would choose */
        if (length_x > longest || length_y > longest || abs(x - y) > 3 || length_x > 2 * frame ||
            length_y > 2 * frame || 3 * length_x < 4 * size || 3 * length_y < 4 * size ||
            !costs_tile(&tiling, &job.geometry, length_x, length_y) ||
            tiling.length_x != length_x || tiling.length_y != length_y)
            continue;
        job.tiling = &tiling;
        good = costs_report(report, "cuda-fft", "cuda", &job, replay_ms(gpu, &job, samples));
    }
    costs_job_free(&job);
    return good;
}

static bool measure_fft(bench_report *report, bench_gpu *gpu, int samples)
{
    static const int frames[][2] = {{256, 64},   {512, 32},   {512, 200},  {1024, 64}, {1024, 300},
                                    {2048, 64},  {2048, 256}, {2048, 600}, {4096, 64}, {4096, 128},
                                    {4096, 256}, {8192, 100}, {8192, 512}};
    bool good = true;
    for (size_t i = 0; good && i < sizeof frames / sizeof *frames; i++)
        good = measure_fft_frame(report, gpu, samples, frames[i][0], frames[i][1]);
    return good;
}

/* Returns NULL if memory ran out. */
static uint8_t *host_memory(bench_gpu *gpu, size_t size, bool pinned)
{
    void *memory = NULL;
    if (!pinned)
        memory = malloc(size);
    else if (gpu->plugin->host_alloc(gpu->cuda, size, &memory, &gpu->message) != TM_OK)
        return NULL;
    if (memory)
        memset(memory, 0, size);
    return memory;
}

static void free_host_memory(bench_gpu *gpu, void *memory, bool pinned)
{
    if (pinned && memory)
        gpu->plugin->host_free(gpu->index, memory);
    else
        free(memory);
}

static bool time_copies(bench_report *report, bench_gpu *gpu, tm_job *job, int samples, bool pinned)
{
    double in[BENCH_MAX_SAMPLES], out[BENCH_MAX_SAMPLES];
    tm_work work = {0};

    for (int i = -2; i < samples; i++) {
        if (bench_gpu_match(gpu, job, 1, &work) != TM_OK)
            return bench_fail("match", gpu->message.text);
        if (i < 0)
            continue;
        in[i] = work.times.to_device;
        out[i] = work.times.from_device;
    }
    json *j = report_row(report, "costs");
    json_text(j, "kind", "cuda-copy");
    json_integer(j, "pinned", pinned);
    json_integer(j, "bytes_in", work.bytes_to_device);
    json_number(j, "in", bench_spread_of(in, samples).median);
    json_integer(j, "bytes_out", work.bytes_from_device);
    json_number(j, "out", bench_spread_of(out, samples).median);
    return report_row_end(report, true);
}

/* FFT waits for the copies of whole frames, and its maps are copied as a whole. */
static bool measure_copies(bench_report *report, bench_gpu *gpu, int samples, int frame, bool pinned)
{
    const size_t pixels = (size_t)frame * (size_t)frame;
    tm_fft_tiling tiling;
    tm_job job;
    bool good = costs_job(&job, host_memory(gpu, pixels, pinned), frame, frame, 16, 16);
    void *map = good ? host_memory(gpu, pixels * sizeof(float), pinned) : NULL;

    if (good && (!map || !costs_tile(&tiling, &job.geometry, 512, 512)))
        good = bench_fail("copies", "no memory or no tiling");
    if (good) {
        job.map = (tm_map){map, job.geometry.map_width * (ptrdiff_t)sizeof(float)};
        job.tiling = &tiling;
        good = time_copies(report, gpu, &job, samples, pinned);
    }
    free_host_memory(gpu, map, pinned);
    free_host_memory(gpu, (void *)job.frame.samples, pinned);
    tm_template_destroy((tm_template **)&job.tmpl);
    return good;
}

bool costs_cuda(bench_report *report, int index, int samples, bool only_copies)
{
    bench_gpu gpu;
    const char *fault = bench_gpu_open(&gpu, index);
    if (fault)
        return bench_fail("cuda", fault);
    bool good = only_copies || (measure_direct(report, &gpu, samples) &&
                                measure_chunks(report, &gpu, samples) &&
                                measure_fft(report, &gpu, samples));
    for (int frame = 2048; good && frame <= 8192; frame *= 2)
        good = measure_copies(report, &gpu, samples, frame, false) &&
               measure_copies(report, &gpu, samples, frame, true);
    bench_gpu_close(&gpu);
    return good;
}
