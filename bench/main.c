/* SPDX-License-Identifier: MIT */
/* tmatch-bench: every algorithm and device on every size, checked, then timed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/plugin.h"
#include "modules.h"
#include "options.h"
#include "report.h"

/* The oracle itself is timed up to this work. */
#define REFERENCE_TAPS 5e7

/* The direct algorithm is left out beyond this work where the tensor cores don't
 * help it, FFT for templates where nobody would choose it. */
#define SLOW_TAPS 5e12
enum { FFT_PIXELS = 500 };

typedef struct bench {
    bench_options options;
    report report;
    bench_gpu *gpus[MOST_DEVICES];
    int cpu_threads[8], cpu_count; /* 0: as --threads has it */
    int cuda_index[MOST_DEVICES], cuda_count;
    problem problem;
    int device; /* of the baseline being visited */
    bool wrong, failed;
} bench;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "tmatch-bench: %s: %s\n", what, why);
    return false;
}

static bool open_device(bench *b, int index)
{
    char name[16];
    if (b->cuda_count == MOST_DEVICES)
        return fail("--devices", "too many");
    snprintf(name, sizeof name, "cuda:%d", index);
    const char *fault = bench_gpu_open(&b->gpus[b->cuda_count], index);
    if (fault)
        return fail(name, fault);
    b->cuda_index[b->cuda_count++] = index;
    return true;
}

static bool open_listed(bench *b, const char *list)
{
    while (*list) {
        char name[16];
        int number = 0, length = 0;
        const size_t size = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)size, list);
        list += size + (list[size] == ',');
        if (strcmp(name, "cpu") == 0 ||
            (sscanf(name, "cpu:%d%n", &number, &length) == 1 && !name[length] && number > 0)) {
            if (b->cpu_count == 8)
                return fail("--devices", "too many");
            b->cpu_threads[b->cpu_count++] = number;
        } else if (sscanf(name, "cuda:%d%n", &number, &length) == 1 && !name[length] &&
                   number >= 0) {
            if (!open_device(b, number))
                return false;
        } else {
            return fail(name, "no such device: any of cpu, cpu:THREADS, cuda:N");
        }
    }
    return true;
}

static bool open_devices(bench *b)
{
    const machine *m = &b->report.machine;
    if (b->options.devices)
        return open_listed(b, b->options.devices);
    b->cpu_threads[b->cpu_count++] = 1;
    if (m->devices[0].units > 1)
        b->cpu_threads[b->cpu_count++] = 0;
    for (int i = 1; i < m->device_count; i++) {
        if (!open_device(b, m->devices[i].index))
            return false;
    }
    return true;
}

static bench_result result_for(const bench *b, const char *algorithm, int device, int threads)
{
    bench_result result = {.of = *b->problem.of, .threads = threads};
    snprintf(result.algorithm, sizeof result.algorithm, "%s", algorithm);
    if (device < 0)
        snprintf(result.device, sizeof result.device, "cpu");
    else
        snprintf(result.device, sizeof result.device, "cuda:%d", device);
    return result;
}

/* Ours must be right, and must run; of a baseline the failure is the finding. */
static void keep(bench *b, bench_result *result, bool ours)
{
    if (result->status == BENCH_WRONG && ours)
        snprintf(result->note, sizeof result->note, "differs from the exact result");
    b->wrong |= ours && result->status == BENCH_WRONG;
    b->failed |= ours && result->status == BENCH_FAILED;
    report_line(result);
    if (!report_add(&b->report, result))
        fail("results", "out of memory");
}

static void run_baseline(const baseline *base, void *context)
{
    bench *b = context;
    if (!bench_listed(b->options.algorithms, base->name))
        return;
    bench_result result = result_for(b, base->name, b->device, b->device < 0);
    bench_baseline(&result, &b->problem, base, b->device, &b->options.effort);
    keep(b, &result, false);
}

static void run_cpu(bench *b, tm_algorithm algorithm, const char *name, int threads,
                    bool many)
{
    if (!bench_listed(b->options.algorithms, name))
        return;
    if (!threads)
        threads = b->options.effort.threads ? b->options.effort.threads
                                            : b->report.machine.devices[0].units;
    bench_result result = result_for(b, name, -1, threads);
    bench_cpu(&result, &b->problem, algorithm, threads, many, &b->options.effort);
    keep(b, &result, true);
}

static void run_cuda(bench *b, int which, tm_algorithm algorithm, const char *name, bool many)
{
    if (!bench_listed(b->options.algorithms, name))
        return;
    bench_result result = result_for(b, name, b->cuda_index[which], 0);
    bench_cuda(&result, &b->problem, b->gpus[which], algorithm, many, &b->options.effort);
    keep(b, &result, true);
}

static void run_case(bench *b)
{
    const bench_case *c = b->problem.of;
    const double taps = (double)(b->problem.map_width * b->problem.map_height) *
                        (double)(c->template_width * c->template_height) * c->templates;

    if (b->cpu_count && taps <= REFERENCE_TAPS)
        run_cpu(b, TM_ALGORITHM_REFERENCE, "reference", 1, false);
    for (int i = 0; i < b->cpu_count; i++)
        for (int many = 0; many <= (c->templates > 1); many++)
            run_cpu(b, TM_ALGORITHM_DIRECT, many ? "direct-many" : "direct", b->cpu_threads[i], many);
    b->device = -1;
    if (b->cpu_count)
        modules_visit(false, run_baseline, b);
    const bool slow = taps > SLOW_TAPS && c->template_width * c->template_height > TM_TENSOR_TAPS;
    for (int i = 0; i < b->cuda_count; i++) {
        for (int many = 0; !slow && many <= (c->templates > 1); many++)
            run_cuda(b, i, TM_ALGORITHM_DIRECT, many ? "direct-many" : "direct", many);
        if (c->template_width * c->template_height >= FFT_PIXELS)
            run_cuda(b, i, TM_ALGORITHM_FFT, "fft", false);
        b->device = b->cuda_index[i];
        modules_visit(true, run_baseline, b);
    }
}

static bool run_all(bench *b)
{
    const bench_options *o = &b->options;
    const char *unwritable = o->json ? report_write(&b->report, o->json) : NULL;
    if (unwritable)
        return fail(o->json, unwritable);
    for (int i = 0; i < o->cases.count && !b->wrong; i++) {
        report_case(&o->cases.items[i]);
        const char *fault = problem_make(&b->problem, &o->cases.items[i], o->seed);
        if (!fault)
            run_case(b);
        problem_free(&b->problem);
        if (fault)
            return fail("cannot be solved", fault);
        if (o->json && (fault = report_write(&b->report, o->json)))
            return fail(o->json, fault);
    }
    if (b->wrong)
        return fail("a result differs from the oracle", "nothing after it was measured");
    return !b->failed || fail("something of tmatch could not be measured", "see its row");
}

static char *join(int argc, char **argv)
{
    size_t size = 1;
    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    char *line = calloc(1, size);
    for (int i = 0; line && i < argc; i++) {
        strcat(line, i ? " " : "");
        strcat(line, argv[i]);
    }
    return line;
}

static void find_missing(bench *b)
{
    report *r = &b->report;
    r->missing_count = modules_missing(r->missing);
    if (r->machine.device_count < 2) {
        missing *m = &r->missing[r->missing_count++];
        snprintf(m->name, sizeof m->name, "cuda");
        snprintf(m->why, sizeof m->why, "%.190s", r->machine.no_cuda);
    }
}

static bool run(bench *b)
{
    machine_describe(&b->report.machine);
    modules_open();
    find_missing(b);
    bool good = open_devices(b);
    if (good && b->cuda_count)
        b->report.machine.copy_rate = modules_copy_rate(b->cuda_index[0]);
    if (good) {
        report_header(&b->report);
        good = run_all(b);
    }
    for (int i = 0; i < b->cuda_count; i++)
        bench_gpu_close(b->gpus[i]);
    modules_close();
    return good;
}

int main(int argc, char **argv)
{
    static bench b;
    bool help = false;
    bool good = bench_options_parse(&b.options, argc, argv, &help);

    if (good && !help) {
        b.report.command = join(argc, argv);
        b.report.peers = b.options.peers;
        b.report.effort = b.options.effort;
        b.report.seed = b.options.seed;
        good = b.report.command && run(&b);
    }
    free(b.report.command);
    free(b.report.results);
    free(b.options.cases.items);
    return good ? 0 : 2;
}
