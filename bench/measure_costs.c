/* SPDX-License-Identifier: MIT */
/* Measures what the plan's cost model is fitted to, one JSON object a line:
 *
 *     build/bench/measure_costs >costs.jsonl && bench/fit_costs.py costs.jsonl
 *
 * cpu, cuda or copies after it measures that alone, and leaves the other costs.
 * CPU times are processor time of one thread, so a busy machine disturbs them
 * little; CUDA times are replays of what is on the device. Takes some minutes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "fft/cpu/fft.h"
#include "lcc/cpu/direct.h"
#include "match/cuda_loader.h"
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

/* A job in a frame of noise, whose samples are the caller's. */
static tm_job make_job_in(uint8_t *samples, int64_t frame, int64_t rows, int64_t width,
                          int64_t height)
{
    tm_job job = {.metric = TM_METRIC_LCC};
    uint32_t state = 1;
    if (!samples)
        abort();
    for (int64_t i = 0; i < frame * rows; i++)
        samples[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    job.frame = (tm_image){.samples = samples, .width = frame, .height = rows,
                           .stride = (ptrdiff_t)frame};
    tm_image crop = {.samples = samples + (rows - height) / 2 * frame + (frame - width) / 3,
                     .width = width, .height = height, .stride = (ptrdiff_t)frame};
    tm_template *tmpl;
    if (tm_template_prepare(&tmpl, &crop) ||
        tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, frame, rows, width, height))
        abort();
    job.tmpl = tmpl;
    return job;
}

static tm_job make_job(int64_t frame, int64_t width, int64_t height)
{
    return make_job_in(malloc((size_t)(frame * frame)), frame, frame, width, height);
}

static void free_job(tm_job *job)
{
    free((void *)job->frame.samples);
    tm_template_destroy((tm_template **)&job->tmpl);
}

static void print_job(const char *kind, const char *kernels, const tm_job *job, double ms)
{
    const tm_geometry *g = &job->geometry;
    printf("{\"kind\":\"%s\",\"kernels\":\"%s\",\"frame\":%d,\"map\":[%d,%d],\"template\":[%d,%d],"
           "\"ms\":%.6g",
           kind, kernels, (int)g->frame_width, (int)g->map_width, (int)g->map_height,
           (int)g->template_width, (int)g->template_height, ms);
    if (job->tiling)
        printf(",\"length\":[%d,%d],\"tiles\":[%d,%d],\"range_y\":%d", job->tiling->length_x,
               job->tiling->length_y, (int)job->tiling->across, (int)job->tiling->down,
               (int)job->tiling->range_y);
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
        print_job("cpu-direct", cpu.kernels.name, &job, best);
        free_job(&job);
    }
    tm_cpu_free(&cpu);
}

/* The tiling of given lengths. */
static bool tile_with(tm_fft_tiling *tiling, const tm_geometry *g, int length_x, int length_y)
{
    tm_fft_length lengths[2] = {{length_x, length_x < length_y ? 1.5 : 2.5}, {length_y, 1.5}};
    tm_fft_costs costs = {lengths, length_x == length_y ? 1 : 2, .window_ns = 1,
                          .max_points = INT64_MAX};
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
        job.tiling = &tiling;
        double best = 1e30;
        for (int run = 0; run < 8; run++) {
            double start = now_ms();
            if (tm_fft_cpu_match(fft, &job, &tiling, NULL))
                abort();
            double ms = now_ms() - start;
            best = ms < best ? ms : best;
        }
        print_job("cpu-fft", "", &job, best);
        free_job(&job);
    }
    tm_fft_cpu_destroy(&fft);
}
#else
static void measure_cpu_fft(void)
{
}
#endif

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double replay(const tm_cuda_plugin *plugin, tm_cuda *cuda, tm_job *job)
{
    tm_message message;
    tm_cuda_work work;
    double ms[5];
    if (plugin->match(cuda, job, 1, &work, &message) ||
        plugin->replay(cuda, 5, work.times.kernel > 5 ? 1 : work.times.kernel > 0.5 ? 4 : 20, ms, &message)) {
        fprintf(stderr, "%s\n", message.text);
        return -1;
    }
    qsort(ms, 5, sizeof *ms, ascending);
    return ms[2];
}

/* Around where the algorithms cross, and templates too large for the tensor cores. */
static void measure_cuda_direct(const tm_cuda_plugin *plugin, tm_cuda *cuda)
{
    static const int frames[] = {256, 512, 1024, 1500, 2048, 3000, 4096, 8192};
    static const int templates[][2] = {{3, 3},     {8, 8},     {16, 16},  {24, 24},   {25, 31},
                                       {32, 32},   {48, 48},   {64, 64},  {80, 80},   {96, 96},
                                       {112, 112}, {128, 128}, {160, 160}, {200, 200}, {250, 250},
                                       {30, 200},  {200, 30},  {100, 40}, {300, 300}, {600, 600}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        for (size_t j = 0; j < sizeof templates / sizeof *templates; j++) {
            int w = templates[j][0], h = templates[j][1];
            if (2 * w > frames[i] || 2 * h > frames[i] || (w > 256 && frames[i] > 2048))
                continue;
            tm_job job = make_job(frames[i], w, h);
            print_job("cuda-direct", "cuda", &job, replay(plugin, cuda, &job));
            free_job(&job);
        }
    }
}

static void measure_cuda_fft(const tm_cuda_plugin *plugin, tm_cuda *cuda)
{
    static const int frames[][2] = {{256, 64},   {512, 32},   {512, 200},  {1024, 64}, {1024, 300},
                                    {2048, 64},  {2048, 256}, {2048, 600}, {4096, 64}, {4096, 128},
                                    {4096, 256}, {8192, 100}, {8192, 512}};
    static const int lengths[] = {256, 512, 768, 1024, 1152, 1536, 2048, 2304, 4096, 8192};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    int longest = plugin->traits(cuda).longest_fft;

    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        tm_job job = make_job(frames[i][0], frames[i][1], frames[i][1]);
        for (int j = 0; j < LENGTHS * LENGTHS; j++) {
            int x = j % LENGTHS, y = j / LENGTHS;
            int length_x = lengths[x], length_y = lengths[y];
            tm_fft_tiling tiling;
            /* not those that nobody would choose */
            if (length_x > longest || length_y > longest || abs(x - y) > 3 ||
                length_x > 2 * frames[i][0] || length_y > 2 * frames[i][0] ||
                3 * length_x < 4 * frames[i][1] || 3 * length_y < 4 * frames[i][1] ||
                !tile_with(&tiling, &job.geometry, length_x, length_y) ||
                tiling.length_x != length_x || tiling.length_y != length_y)
                continue;
            job.tiling = &tiling;
            print_job("cuda-fft", "cuda", &job, replay(plugin, cuda, &job));
        }
        free_job(&job);
    }
}

/* Rows of a chunk: the plan adds up launches for so few. */
static void measure_cuda_chunks(const tm_cuda_plugin *plugin, tm_cuda *cuda)
{
    static const int frames[][2] = {{4096, 320}, {4096, 512}, {8192, 192}, {8192, 448}, {8192, 1024}};
    static const int templates[] = {16, 32, 48, 64, 96, 128, 160, 200, 250};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        for (size_t j = 0; j < sizeof templates / sizeof *templates; j++) {
            const int width = frames[i][0], size = templates[j], rows = frames[i][1] + size - 1;
            tm_job job = make_job_in(malloc((size_t)width * (size_t)rows), width, rows, size, size);
            print_job("cuda-direct", "cuda", &job, replay(plugin, cuda, &job));
            free_job(&job);
        }
    }
}

static uint8_t *host_memory(const tm_cuda_plugin *plugin, tm_cuda *cuda, size_t size, bool pinned)
{
    tm_message message;
    void *memory = NULL;
    if (!pinned)
        memory = malloc(size);
    else if (plugin->host_alloc(cuda, size, &memory, &message))
        fprintf(stderr, "%s\n", message.text);
    if (!memory)
        abort();
    memset(memory, 0, size);
    return memory;
}

static void free_host_memory(const tm_cuda_plugin *plugin, void *memory, bool pinned)
{
    if (pinned)
        plugin->host_free(0, memory);
    else
        free(memory);
}

/* Copies of whole frames and maps, which FFT waits for. */
static void measure_cuda_copies(const tm_cuda_plugin *plugin, tm_cuda *cuda, int frame, bool pinned)
{
    enum { RUNS = 9 };
    double in[RUNS], out[RUNS];
    tm_message message;
    tm_cuda_work work = {0};
    tm_fft_tiling tiling;
    const size_t samples = (size_t)frame * (size_t)frame;
    tm_job job = make_job_in(host_memory(plugin, cuda, samples, pinned), frame, frame, 16, 16);

    job.map = (tm_map){host_memory(plugin, cuda, samples * sizeof(float), pinned),
                       job.geometry.map_width * (ptrdiff_t)sizeof(float)};
    if (!tile_with(&tiling, &job.geometry, 512, 512))
        abort();
    job.tiling = &tiling;
    for (int i = -2; i < RUNS; i++) {
        if (plugin->match(cuda, &job, 1, &work, &message)) {
            fprintf(stderr, "%s\n", message.text);
            break;
        }
        if (i >= 0) {
            in[i] = work.times.to_device;
            out[i] = work.times.from_device;
        }
        if (i == RUNS - 1) {
            qsort(in, RUNS, sizeof *in, ascending);
            qsort(out, RUNS, sizeof *out, ascending);
            printf("{\"kind\":\"cuda-copy\",\"pinned\":%d,\"bytes_in\":%lld,\"in\":%.6g,"
                   "\"bytes_out\":%lld,\"out\":%.6g}\n",
                   pinned, (long long)work.bytes_to_device, in[RUNS / 2],
                   (long long)work.bytes_from_device, out[RUNS / 2]);
        }
    }
    free_host_memory(plugin, job.map.data, pinned);
    free_host_memory(plugin, (void *)job.frame.samples, pinned);
    tm_template_destroy((tm_template **)&job.tmpl);
}

static void measure_cuda(bool only_copies)
{
    tm_cuda_library library = {0};
    tm_message message;
    tm_cuda *cuda;

    if (tm_cuda_load(&library, &message) || !library.plugin->count(&message) ||
        library.plugin->open(&cuda, 0, 0, &message)) {
        fprintf(stderr, "no CUDA: %s\n", message.text);
        return;
    }
    if (!only_copies) {
        measure_cuda_direct(library.plugin, cuda);
        measure_cuda_chunks(library.plugin, cuda);
        measure_cuda_fft(library.plugin, cuda);
    }
    for (int frame = 2048; frame <= 8192; frame *= 2) {
        measure_cuda_copies(library.plugin, cuda, frame, false);
        measure_cuda_copies(library.plugin, cuda, frame, true);
    }
    library.plugin->close(cuda);
    tm_cuda_unload(&library);
}

int main(int argc, char **argv)
{
    static const char *const masks[] = {"none",     "sse4.1",     "avx2", "avxvnni",
                                        "avx512bw", "avx512vnni", "amx",  "dotprod"};
    const char *only = argc > 1 ? argv[1] : "";
    const bool only_copies = strcmp(only, "copies") == 0;
    const bool only_cuda = only_copies || strcmp(only, "cuda") == 0;
    const bool only_cpu = strcmp(only, "cpu") == 0;

    for (size_t i = 0; i < sizeof masks / sizeof *masks && !only_cuda; i++)
        measure_cpu_direct(masks[i]);
    if (!only_cuda)
        measure_cpu_fft();
    if (!only_cpu)
        measure_cuda(only_copies);
    return 0;
}
