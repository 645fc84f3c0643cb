/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A baseline farther off than this computes something else. */
#define TOO_FAR_LCC 0.05
#define TOO_FAR_RELATIVE 1e-3

typedef struct module {
    const char *name, *what;
    void *handle;
    const baseline_module *entry;
    char why[200];
} module;

static module modules[] = {
    {.name = "thesis", .what = "thesis-gpu"},
    {.name = "cufft", .what = "cufft"},
    {.name = "npp", .what = "npp"},
};
enum { MODULES = sizeof modules / sizeof *modules };

static const baseline cpu_baselines[] = {
    {"thesis-cpu", "the thesis's program on one CPU core", thesis_cpu_run},
};

static void open_module(module *m, const char *directory)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/libbench-%s.so", directory, m->name);
    if (access(path, R_OK) != 0) {
        snprintf(m->why, sizeof m->why, "not built: libbench-%s.so is not beside the program",
                 m->name);
        return;
    }
    m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->handle) {
        snprintf(m->why, sizeof m->why, "%s", dlerror());
        return;
    }
    baseline_module_get_fn *get;
    *(void **)&get = dlsym(m->handle, "baseline_module_get");
    const baseline_module *entry = get ? get() : NULL;
    if (entry && entry->version == BASELINE_VERSION)
        m->entry = entry;
    else
        snprintf(m->why, sizeof m->why, "of another version");
}

void modules_open(void)
{
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    for (int i = 0; i < MODULES; i++)
        open_module(&modules[i], self);
}

void modules_close(void)
{
    for (int i = 0; i < MODULES; i++) {
        if (modules[i].handle)
            dlclose(modules[i].handle);
        modules[i].handle = NULL;
        modules[i].entry = NULL;
    }
}

int modules_missing(missing *list)
{
    int count = 0;
    for (int i = 0; i < MODULES; i++) {
        if (modules[i].entry)
            continue;
        snprintf(list[count].name, sizeof list->name, "%s", modules[i].what);
        snprintf(list[count].why, sizeof list->why, "%s", modules[i].why);
        count++;
    }
    return count;
}

void modules_visit(bool gpu, module_visit *see, void *context)
{
    for (size_t i = 0; !gpu && i < sizeof cpu_baselines / sizeof *cpu_baselines; i++)
        see(&cpu_baselines[i], context);
    for (int i = 0; gpu && i < MODULES; i++) {
        for (int j = 0; modules[i].entry && j < modules[i].entry->count; j++)
            see(&modules[i].entry->baselines[j], context);
    }
}

bool modules_flush(int device)
{
    for (int i = 0; i < MODULES; i++) {
        if (modules[i].entry && modules[i].entry->flush)
            return modules[i].entry->flush(device);
    }
    return false;
}

int64_t modules_memory_used(int device)
{
    for (int i = 0; i < MODULES; i++) {
        if (modules[i].entry && modules[i].entry->memory_used)
            return modules[i].entry->memory_used(device);
    }
    return 0;
}

double modules_copy_rate(int device)
{
    for (int i = 0; i < MODULES; i++) {
        if (modules[i].entry && modules[i].entry->copy_rate)
            return modules[i].entry->copy_rate(device);
    }
    return 0;
}

double modules_upload(int device, const void *from, size_t size)
{
    for (int i = 0; i < MODULES; i++) {
        if (modules[i].entry && modules[i].entry->upload)
            return modules[i].entry->upload(device, from, size);
    }
    return -1;
}

typedef struct acceptance {
    bench_result *result;
    const problem *p;
} acceptance;

static bool accept(void *context)
{
    const acceptance *a = context;
    bench_result *result = a->result;

    result->error = problem_error(a->p, a->p->got);
    snprintf(result->check, sizeof result->check, "its error: %s", a->p->proof);
    const bool near = a->p->of->metric == TM_METRIC_LCC
                          ? result->error.max_abs <= TOO_FAR_LCC
                          : result->error.relative <= TOO_FAR_RELATIVE;
    if (!near) {
        result->status = BENCH_WRONG;
        snprintf(result->note, sizeof result->note, "too far from the exact map to be timed");
    }
    return near;
}

static uint8_t *packed_template(const problem *p)
{
    const tm_image *t = &p->templates[0];
    uint8_t *packed = malloc((size_t)(t->width * t->height));
    for (int64_t y = 0; packed && y < t->height; y++)
        memcpy(packed + y * t->width, t->samples + y * t->stride, (size_t)t->width);
    return packed;
}

static bool skip(bench_result *result, const char *why)
{
    result->status = BENCH_SKIPPED;
    snprintf(result->note, sizeof result->note, "%s", why);
    return false;
}

static bool applies(bench_result *result, const problem *p, const baseline *b,
                    const bench_effort *effort)
{
    const bench_case *c = p->of;
    const double taps = (double)(p->map_width * p->map_height) *
                        (double)(c->template_width * c->template_height);
    if (c->templates > 1)
        return skip(result, "one template only");
    if (!c->map)
        return skip(result, "makes the map, always: see the row with the map");
    if (c->domain == TM_DOMAIN_SAME)
        return skip(result, "valid and full domain only");
    if (b->run == thesis_cpu_run && taps > effort->thesis_cpu_taps)
        return skip(result, "beyond --thesis-cpu-limit, not extrapolated");
    return true;
}

void bench_baseline(bench_result *result, problem *p, const baseline *b, int device,
                    const bench_effort *effort)
{
    const bench_case *c = p->of;
    acceptance context = {result, p};
    if (!applies(result, p, b, effort))
        return;
    uint8_t *tmpl = packed_template(p);
    baseline_reply *reply = calloc(1, sizeof *reply);
    if (!tmpl || !reply) {
        free(tmpl);
        free(reply);
        skip(result, "out of memory");
        return;
    }

    /* got has room, because an element of the exact map is at least a float */
    memset(p->got, 0xff, (size_t)(p->map_width * p->map_height) * sizeof(float));
    const baseline_request request = {
        c->frame_width, c->frame_height, c->template_width, c->template_height,
        p->frame.samples, tmpl, c->metric == TM_METRIC_LCC, c->domain == TM_DOMAIN_FULL,
        device, effort->samples, effort->budget_ms, p->got, accept, &context};
    reply->supported = true;
    const bool ran = b->run(&request, reply);
    if (!ran) {
        result->status = BENCH_FAILED;
        snprintf(result->note, sizeof result->note, "%s", reply->note);
    } else if (!reply->supported) {
        skip(result, reply->note);
    } else {
        result->kernel = bench_spread_of(reply->ms, reply->taken);
        if (reply->to_device > 0)
            result->to_device = bench_spread_of(&reply->to_device, 1);
        if (reply->from_device > 0)
            result->from_device = bench_spread_of(&reply->from_device, 1);
    }
    free(tmpl);
    free(reply);
}
