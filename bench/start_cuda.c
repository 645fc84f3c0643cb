/* SPDX-License-Identifier: MIT */
/* What it takes to start CUDA: by the driver's API alone, and by tmatch. Each has a process of its own, as a
 * driver starts once; start.py measures from outside. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "gpu.h"
#include "noise.h"
#include "options.h"

typedef struct phases {
    double last;
} phases;

static void phase(phases *p, const char *name)
{
    const double now = clock_ms();
    printf("%s %.3f\n", name, now - p->last);
    fflush(stdout);
    p->last = clock_ms();
}

/* The driver's functions that are called here, by the names that its library has. */
typedef struct driver {
    int (*init)(unsigned flags);
    int (*count)(int *count);
    int (*retain)(void **context, int device);
    int (*set)(void *context);
    int (*alloc)(unsigned long long *memory, size_t size);
} driver;

static bool load(driver *d)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return bench_fail("libcuda.so.1", dlerror());
    *(void **)&d->init = dlsym(library, "cuInit");
    *(void **)&d->count = dlsym(library, "cuDeviceGetCount");
    *(void **)&d->retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&d->set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&d->alloc = dlsym(library, "cuMemAlloc_v2");
    return (d->init && d->count && d->retain && d->set && d->alloc) ||
           bench_fail("libcuda.so.1", "lacks functions");
}

/* As far as the given phase: load, init, or context. */
static bool start_driver(const char *last)
{
    phases p = {clock_ms()};
    driver d = {0};
    void *context = NULL;
    unsigned long long memory;
    int count = 0;

    if (!load(&d))
        return false;
    phase(&p, "load");
    if (strcmp(last, "load") == 0)
        return true;
    if (d.init(0) != 0 || d.count(&count) != 0 || count < 1)
        return bench_fail("driver", "no device");
    phase(&p, "init");
    if (strcmp(last, "init") == 0)
        return true;
    if (d.retain(&context, 0) != 0 || d.set(context) != 0)
        return bench_fail("driver", "no context");
    phase(&p, "context");
    if (d.alloc(&memory, 1 << 20) != 0)
        return bench_fail("driver", "no memory");
    phase(&p, "memory");
    return true;
}

static bool match(bench_gpu *gpu, tm_job *job, phases *p, const char *name)
{
    tm_work work;
    if (bench_gpu_match(gpu, job, 1, &work) != TM_OK)
        return bench_fail("match", gpu->message.text);
    phase(p, name);
    return true;
}

/* A frame of 1920x1080 and a template of 32x32, and what comes before. */
static bool start_tmatch(bool certified)
{
    enum { WIDTH = 1920, HEIGHT = 1080, SIDE = 32 };
    uint8_t *samples = malloc((size_t)WIDTH * HEIGHT);
    const tm_image frame = {.samples = samples, .width = WIDTH, .height = HEIGHT, .stride = WIDTH};
    const tm_image part = {.samples = samples, .width = SIDE, .height = SIDE, .stride = WIDTH};
    const tm_device_settings settings = {.index = 0};
    bench_gpu gpu = {0};
    tm_template *tmpl = NULL;
    tm_job job;

    if (!samples)
        return bench_fail("frame", "out of memory");
    noise_bytes(samples, (size_t)WIDTH * HEIGHT, 1);
    bool good = tm_template_prepare(&tmpl, &part) == TM_OK &&
                bench_job(&job, &frame, tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID) == TM_OK;
    job.certified = certified;
    phases p = {clock_ms()};
    good = good && tm_cuda_load(&gpu.library, &gpu.message) == TM_OK;
    phase(&p, "load");
    gpu.plugin = gpu.library.plugin;
    good = good && gpu.plugin->count(&gpu.message) > 0;
    phase(&p, "init");
    good = good && gpu.plugin->open(&gpu.cuda, &settings, &gpu.message) == TM_OK;
    if (!good)
        bench_fail("cuda:0", gpu.message.text);
    phase(&p, "open");
    good = good && match(&gpu, &job, &p, "first match") && match(&gpu, &job, &p, "second match");
    bench_gpu_close(&gpu);
    phase(&p, "close");
    tm_template_destroy(&tmpl);
    free(samples);
    return good;
}

bool bench_start(bench_options *o, bench_report *report)
{
    (void)report;
    const char *what = o->word_count == 1 ? o->words[0] : "";
    if (strcmp(what, "tmatch") == 0 || strcmp(what, "certified") == 0)
        return start_tmatch(what[0] == 'c');
    if (strcmp(what, "load") == 0 || strcmp(what, "init") == 0 || strcmp(what, "context") == 0)
        return start_driver(what);
    if (strcmp(what, "nothing") == 0)
        return true;
    if (strcmp(what, "init-left") == 0) /* what the driver does at the end is then left out */
        _exit(!start_driver("init"));
    if (strcmp(what, "context-left") == 0)
        _exit(!start_driver("context"));
    return bench_fail(what, "none of nothing, load, init, context, init-left, context-left, tmatch and certified");
}
