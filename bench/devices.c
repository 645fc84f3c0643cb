/* SPDX-License-Identifier: MIT */
/* Shares one frame out over 1, 2, ... CUDA devices, and times whole calls, the kernels
 * alone, and the bus alone, which is the floor of a call. The frame is noise, the
 * template a part of it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gpu.h"
#include "lcc/lcc.h"
#include "lcc/slices.h"
#include "noise.h"
#include "options.h"

enum { MOST_GPUS = 16, WARM_UPS = 6, REPLAYS = 7, LAUNCHES = 3 };

typedef struct picture {
    const char *name;
    tm_sample_type type;
    int channels;
} picture;

static const picture pictures[] = {
    {"gray8", TM_SAMPLE_U8, 1},
    {"gray16", TM_SAMPLE_U16, 1},
    {"rgb8", TM_SAMPLE_U8, 3},
    {"float", TM_SAMPLE_F32, 1},
};

typedef struct setup {
    const bench_options *options;
    const bench_case *size;
    const picture *picture;
    tm_matcher *owner; /* of pinned memory */
    tm_host_memory frame_memory, map_memory;
    tm_image frame, tmpl;
    int64_t x, y; /* of the template */
    tm_map result;
} setup;

typedef struct outcome {
    int devices;
    bench_spread call;
    double kernel_ms, bus_ms;
    double skew_ms; /* median of the latest device's start after the first's */
    tm_device_report reports[MOST_GPUS];
} outcome;

static tm_settings settings_for(int devices)
{
    tm_settings s;
    tm_settings_default(&s, sizeof s);
    s.device = TM_DEVICE_CUDA;
    s.algorithm = TM_ALGORITHM_DIRECT;
    s.device_mask = (UINT64_C(1) << devices) - 1;
    return s;
}

static tm_status time_samples(const setup *p, outcome *o, tm_matcher *matcher,
                              const tm_template *tmpl, bool *right)
{
    const int samples = p->options->effort.samples;
    double call[BENCH_MAX_SAMPLES], skew[BENCH_MAX_SAMPLES];

    for (int i = -WARM_UPS; i < samples && *right; i++) {
        tm_peak best;
        const double start = clock_ms();
        const tm_status status =
            tm_match(matcher, &p->frame, tmpl, &best, p->options->map ? &p->result : NULL);
        const double ms = clock_ms() - start;
        if (status != TM_OK)
            return status;
        if (best.x != p->x || best.y != p->y || best.score != 1)
            *right = bench_fail("match", "not where the template was cut from");
        if (i < 0)
            continue;
        call[i] = ms;
        skew[i] = 0;
        const size_t count = tm_matcher_reports(matcher, o->reports, MOST_GPUS);
        if (count != (size_t)o->devices)
            *right = bench_fail("match", "not all devices had a part");
        for (size_t k = 0; k < count; k++)
            skew[i] = o->reports[k].start_ms > skew[i] ? o->reports[k].start_ms : skew[i];
    }
    if (*right) {
        o->call = bench_spread_of(call, samples);
        o->skew_ms = bench_spread_of(skew, samples).median;
    }
    return TM_OK;
}

static bool time_calls(const setup *p, outcome *o)
{
    const tm_settings settings = settings_for(o->devices);
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    bool right = true;

    tm_status status = tm_matcher_create(&matcher, &settings);
    if (status == TM_OK)
        status = tm_template_create(&tmpl, matcher, &p->tmpl);
    if (status == TM_OK)
        status = time_samples(p, o, matcher, tmpl, &right);
    if (status != TM_OK)
        right = bench_fail("match", tm_matcher_message(matcher));
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return right;
}

/* The rows of one device, which works at the same time as the others. */
typedef struct part {
    bench_gpu gpu;
    int device;
    tm_job job;
    pthread_barrier_t *ready;
    double kernel_ms, bus_ms;
    const char *fault;
} part;

static void *time_part(void *argument)
{
    part *t = argument;
    tm_work work;
    double kernel[REPLAYS], bus[REPLAYS];

    t->fault = bench_gpu_open(&t->gpu, t->device);
    if (!t->fault && bench_gpu_match(&t->gpu, &t->job, 1, &work) != TM_OK)
        t->fault = t->gpu.message.text;
    pthread_barrier_wait(t->ready);
    if (!t->fault && t->gpu.plugin->replay(t->gpu.cuda, REPLAYS, LAUNCHES, kernel,
                                           &t->gpu.message) != TM_OK)
        t->fault = t->gpu.message.text;
    const size_t bytes = (size_t)(t->job.frame.height * t->job.frame.stride);
    modules_upload(t->device, t->job.frame.samples, bytes);
    for (int i = 0; i < REPLAYS; i++) {
        pthread_barrier_wait(t->ready);
        bus[i] = modules_upload(t->device, t->job.frame.samples, bytes);
    }
    t->bus_ms = bench_spread_of(bus, REPLAYS).median;
    if (!t->fault)
        t->kernel_ms = bench_spread_of(kernel, REPLAYS).median;
    bench_gpu_close(&t->gpu);
    return NULL;
}

/* Times the kernels and the bus of all devices at once, and takes the slowest. */
static bool time_parts(const setup *p, outcome *o)
{
    static part parts[MOST_GPUS];
    pthread_barrier_t ready;
    pthread_t threads[MOST_GPUS];
    const double weights[MOST_GPUS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tm_template *tmpl;
    tm_job whole;

    if (tm_template_prepare(&tmpl, &p->tmpl) != TM_OK ||
        bench_job(&whole, &p->frame, tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID) != TM_OK)
        return bench_fail("template", "cannot be prepared");
    whole.last_row = whole.geometry.map_height;
    pthread_barrier_init(&ready, NULL, (unsigned)o->devices);
    for (int i = 0; i < o->devices; i++) {
        const tm_rows rows = tm_rows_divide((tm_rows){0, whole.geometry.map_height}, weights,
                                           o->devices, i);
        parts[i] = (part){.device = i, .ready = &ready, .job = tm_job_rows(&whole, rows, 0)};
        if (pthread_create(&threads[i], NULL, time_part, &parts[i]) != 0)
            return bench_fail("thread", "cannot be started");
    }
    bool good = true;
    for (int i = 0; i < o->devices; i++) {
        pthread_join(threads[i], NULL);
        if (parts[i].fault)
            good = bench_fail("device", parts[i].fault);
        else if (parts[i].bus_ms <= 0)
            good = bench_fail("bus", "no CUDA module of the benchmarks measures it");
        o->kernel_ms = parts[i].kernel_ms > o->kernel_ms ? parts[i].kernel_ms : o->kernel_ms;
        o->bus_ms = parts[i].bus_ms > o->bus_ms ? parts[i].bus_ms : o->bus_ms;
    }
    pthread_barrier_destroy(&ready);
    tm_template_destroy(&tmpl);
    return good;
}

static bool report_outcome(bench_report *report, const setup *p, const outcome *o, const outcome *one)
{
    json *j = report_row(report, "devices");
    json_sizes(j, p->size);
    json_text(j, "picture", p->picture->name);
    json_bool(j, "map", p->options->map);
    json_text(j, "memory", p->options->pageable ? "pageable" : "pinned");
    json_integer(j, "devices", o->devices);
    json_spread(j, "call_ms", &o->call);
    json_number(j, "kernel_ms", o->kernel_ms);
    json_number(j, "bus_ms", o->bus_ms);
    json_number(j, "start_skew_ms", o->skew_ms);
    json_begin(j, "speed_up", '{');
    json_number(j, "call", one->call.median / o->call.median);
    json_number(j, "kernel", one->kernel_ms / o->kernel_ms);
    json_number(j, "bus", one->bus_ms / o->bus_ms);
    json_end(j, '}');
    json_begin(j, "reports", '[');
    for (int i = 0; i < o->devices; i++) {
        const tm_device_report *d = &o->reports[i];
        json_begin(j, NULL, '{');
        json_integer(j, "device", d->index);
        json_integer(j, "rows", d->rows);
        json_number(j, "start_ms", d->start_ms);
        json_number(j, "busy_ms", d->busy_ms);
        json_number(j, "wait_ms", d->wait_ms);
        json_integer(j, "bytes_to_device", d->bytes_to_device);
        json_integer(j, "bytes_from_device", d->bytes_from_device);
        json_end(j, '}');
    }
    json_end(j, ']');
    printf("%d device%s: call %.3f ms (%.2f x), kernels %.3f ms (%.2f x), bus %.3f ms, skew %.3f ms\n",
           o->devices, o->devices > 1 ? "s" : " ", o->call.median, one->call.median / o->call.median,
           o->kernel_ms, one->kernel_ms / o->kernel_ms, o->bus_ms, o->skew_ms);
    for (int i = 0; i < o->devices; i++)
        printf("    cuda:%d: %" PRId64 " rows, start %.3f, busy %.3f, wait %.3f ms\n",
               o->reports[i].index, o->reports[i].rows, o->reports[i].start_ms,
               o->reports[i].busy_ms, o->reports[i].wait_ms);
    fflush(stdout);
    return report_row_end(report, false);
}

static bool allocate(const setup *p, size_t bytes, tm_host_memory *memory)
{
    if (p->options->pageable)
        memory->data = malloc(bytes);
    else if (tm_host_alloc(p->owner, bytes, memory) != TM_OK)
        return bench_fail("pinned memory", tm_matcher_message(p->owner));
    return memory->data || bench_fail("frame and map", "out of memory");
}

static void release(const setup *p, tm_host_memory *memory)
{
    if (p->options->pageable)
        free(memory->data);
    else
        tm_host_free(p->owner, memory);
}

/* Makes the frame, the template and room for the map. False if it fails, which it says. */
static bool make_frame(setup *p)
{
    const bench_case *c = p->size;
    const int64_t pixel = p->picture->channels * tm_sample_size(p->picture->type);
    const int64_t stride = c->frame_width * pixel;
    const size_t bytes = (size_t)(stride * c->frame_height);
    int64_t map_width, map_height;

    if (tm_map_size(TM_DOMAIN_VALID, c->frame_width, c->frame_height, c->template_width,
                    c->template_height, &map_width, &map_height) != TM_OK)
        return bench_fail("sizes", "the template is larger than the frame");
    p->result.stride = (ptrdiff_t)(map_width * (int64_t)sizeof(float));
    if (!allocate(p, bytes, &p->frame_memory) ||
        (p->options->map && !allocate(p, (size_t)(p->result.stride * map_height), &p->map_memory)))
        return false;
    p->result.data = p->map_memory.data;
    if (p->picture->type == TM_SAMPLE_F32)
        noise_floats(p->frame_memory.data, bytes / 4, 0, 1, p->options->seed);
    else
        noise_bytes(p->frame_memory.data, bytes, p->options->seed);
    p->frame = (tm_image){.samples = p->frame_memory.data, .width = c->frame_width,
                          .height = c->frame_height, .stride = (ptrdiff_t)stride,
                          .type = p->picture->type, .channels = p->picture->channels};
    p->x = (c->frame_width - c->template_width) * 2 / 3;
    p->y = (c->frame_height - c->template_height) * 4 / 5;
    p->tmpl = p->frame;
    p->tmpl.samples += p->y * stride + p->x * pixel;
    p->tmpl.width = c->template_width;
    p->tmpl.height = c->template_height;
    return true;
}

static bool run_case(setup *p, bench_report *report, int available)
{
    outcome one = {0};
    bool good = make_frame(p);

    for (int devices = 1; good && devices <= available; devices *= 2) {
        outcome o = {.devices = devices};
        good = time_calls(p, &o) && time_parts(p, &o);
        if (devices == 1)
            one = o;
        good = good && report_outcome(report, p, &o, &one);
    }
    release(p, &p->frame_memory);
    release(p, &p->map_memory);
    return good;
}

static const picture *find_picture(const char *name)
{
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        if (!name || strcmp(name, pictures[i].name) == 0)
            return &pictures[i];
    }
    return NULL;
}

bool bench_devices(bench_options *o, bench_report *report)
{
    const tm_settings settings = settings_for(1);
    const int found = report->machine.device_count - 1, most = o->gpus < MOST_GPUS ? o->gpus : MOST_GPUS;
    setup p = {.options = o, .picture = find_picture(o->format)};

    if (!p.picture)
        return bench_fail(o->format, "none of gray8, gray16, rgb8, float");
    if (found < 1)
        return bench_fail("devices", report->machine.no_cuda);
    if (tm_matcher_create(&p.owner, &settings) != TM_OK)
        return bench_fail("cuda:0", tm_matcher_message(p.owner));
    bool good = true;
    for (int i = 0; good && i < o->cases.count; i++) {
        p.size = &o->cases.items[i];
        good = run_case(&p, report, found < most ? found : most);
        p.frame_memory = p.map_memory = (tm_host_memory){0};
    }
    tm_matcher_destroy(&p.owner);
    return good;
}
