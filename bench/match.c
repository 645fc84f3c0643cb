/* SPDX-License-Identifier: MIT */
/* Checks, then times every algorithm on every device and size. */
#include <stdio.h>

#include "gpu.h"
#include "lcc/cuda/tensor/limits.h"
#include "options.h"
#include "report.h"

/* The oracle itself is timed only where it has no more work than this. */
#define REFERENCE_TAPS 5e7

/* The direct algorithm is left out beyond this work if the tensor cores do not help it,
 * and FFT for templates so small that nobody would choose it. */
#define SLOW_TAPS 5e12
enum { FFT_PIXELS = 500 };

typedef struct run {
    const bench_options *options;
    bench_report *report;
    bench_device devices[MOST_LISTED];
    int device_count;
    bench_gpu gpus[MOST_LISTED]; /* of the devices that are CUDA's */
    problem problem;
    const bench_device *device; /* of the baseline being visited */
    bool wrong, failed;
} run;

static bool has(const run *b, tm_device_kind kind)
{
    for (int i = 0; i < b->device_count; i++) {
        if (b->devices[i].kind == kind)
            return true;
    }
    return false;
}

/* Takes those of --devices, or else one thread, all threads and all GPUs. */
static void choose_devices(run *b)
{
    const machine *m = &b->report->machine;
    const bench_options *o = b->options;

    for (int i = 0; i < o->device_count; i++)
        b->devices[b->device_count++] = o->devices[i];
    if (b->device_count)
        return;
    b->devices[b->device_count++] = (bench_device){.kind = TM_DEVICE_CPU, .threads = 1};
    if (m->devices[0].units > 1)
        b->devices[b->device_count++] = (bench_device){.kind = TM_DEVICE_CPU};
    for (int i = 1; i < m->device_count; i++)
        b->devices[b->device_count++] =
            (bench_device){.kind = TM_DEVICE_CUDA, .index = m->devices[i].index};
}

static bool open_devices(run *b)
{
    choose_devices(b);
    for (int i = 0; i < b->device_count; i++) {
        const bench_device *d = &b->devices[i];
        if (d->kind != TM_DEVICE_CUDA)
            continue;
        const char *fault = bench_gpu_open(&b->gpus[i], d->index);
        if (fault)
            return bench_fail(bench_device_name(d).text, fault);
    }
    return true;
}

static bench_result result_for(const run *b, const char *algorithm, const bench_device *device,
                               int threads)
{
    bench_result result = {.of = *b->problem.of, .threads = threads};
    snprintf(result.algorithm, sizeof result.algorithm, "%s", algorithm);
    snprintf(result.device, sizeof result.device, "%s", bench_device_name(device).text);
    return result;
}

/* What is ours must run and be right; a baseline that fails is a result as well. */
static void keep(run *b, bench_result *result, bool ours)
{
    if (result->status == BENCH_WRONG && ours)
        snprintf(result->note, sizeof result->note, "differs from the exact result");
    b->wrong |= ours && result->status == BENCH_WRONG;
    b->failed |= ours && result->status == BENCH_FAILED;
    b->failed |= !report_result(b->report, result);
}

static void run_baseline(const baseline *base, void *context)
{
    run *b = context;
    const bool cpu = b->device->kind == TM_DEVICE_CPU;
    if (!bench_listed(b->options->algorithms, base->name))
        return;
    bench_result result = result_for(b, base->name, b->device, cpu);
    bench_baseline(&result, &b->problem, base, cpu ? -1 : b->device->index, &b->options->effort);
    keep(b, &result, false);
}

static void run_cpu(run *b, const bench_device *device, tm_algorithm algorithm, const char *name,
                    bool many)
{
    const int all = b->options->effort.threads ? b->options->effort.threads
                                               : b->report->machine.devices[0].units;
    const int threads = device->threads ? device->threads : all;
    if (!bench_listed(b->options->algorithms, name))
        return;
    bench_result result = result_for(b, name, device, threads);
    bench_cpu(&result, &b->problem, algorithm, threads, many, &b->options->effort);
    keep(b, &result, true);
}

static void run_cuda(run *b, int which, tm_algorithm algorithm, const char *name, bool many)
{
    if (!bench_listed(b->options->algorithms, name))
        return;
    bench_result result = result_for(b, name, &b->devices[which], 0);
    bench_cuda(&result, &b->problem, &b->gpus[which], algorithm, many, &b->options->effort);
    keep(b, &result, true);
}

static void run_on_cpu(run *b, double taps)
{
    static const bench_device one = {.kind = TM_DEVICE_CPU, .threads = 1};

    if (taps <= REFERENCE_TAPS)
        run_cpu(b, &one, TM_ALGORITHM_REFERENCE, "reference", false);
    for (int i = 0; i < b->device_count; i++)
        for (int many = 0; many <= (b->problem.of->templates > 1); many++)
            if (b->devices[i].kind == TM_DEVICE_CPU)
                run_cpu(b, &b->devices[i], TM_ALGORITHM_DIRECT, many ? "direct-many" : "direct", many);
    b->device = &one;
    modules_visit(false, run_baseline, b);
}

static void run_on_cuda(run *b, int which, double taps)
{
    const bench_case *c = b->problem.of;
    const int64_t pixels = c->template_width * c->template_height;
    const bool slow = taps > SLOW_TAPS && pixels > TM_TENSOR_TAPS;

    for (int many = 0; !slow && many <= (c->templates > 1); many++)
        run_cuda(b, which, TM_ALGORITHM_DIRECT, many ? "direct-many" : "direct", many);
    if (pixels >= FFT_PIXELS)
        run_cuda(b, which, TM_ALGORITHM_FFT, "fft", false);
    b->device = &b->devices[which];
    modules_visit(true, run_baseline, b);
}

static void run_case(run *b)
{
    const bench_case *c = b->problem.of;
    const double taps = (double)(b->problem.map_width * b->problem.map_height) *
                        (double)(c->template_width * c->template_height) * c->templates;

    if (has(b, TM_DEVICE_CPU))
        run_on_cpu(b, taps);
    for (int i = 0; i < b->device_count; i++) {
        if (b->devices[i].kind == TM_DEVICE_CUDA)
            run_on_cuda(b, i, taps);
    }
}

static bool run_all(run *b)
{
    const bench_options *o = b->options;
    for (int i = 0; i < o->cases.count && !b->wrong; i++) {
        report_case(&o->cases.items[i]);
        const char *fault = problem_make(&b->problem, &o->cases.items[i], o->seed);
        if (!fault)
            run_case(b);
        problem_free(&b->problem);
        if (fault)
            return bench_fail("cannot be solved", fault);
    }
    if (b->wrong)
        return bench_fail("a result differs from the oracle", "nothing after it was measured");
    return !b->failed || bench_fail("something of tmatch could not be measured", "see its row");
}

bool bench_match(bench_options *options, bench_report *report)
{
    static run b;
    b.options = options;
    b.report = report;
    const bool good = open_devices(&b) && run_all(&b);
    for (int i = 0; i < b.device_count; i++) {
        if (b.devices[i].kind == TM_DEVICE_CUDA)
            bench_gpu_close(&b.gpus[i]);
    }
    return good;
}
