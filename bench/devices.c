/* SPDX-License-Identifier: MIT */
/* One frame over 1, 2, ... CUDA devices: whole calls, the kernels alone, and the bus
 * alone, which is the floor of a call.
 *
 *     tmatch-bench-devices [--map] [--pageable] [--picture gray8|gray16|rgb8|float]
 *         [--samples N] [--devices N] [FRAME,TEMPLATE]
 *
 * The frame is noise in pinned host memory, or with --pageable in plain memory, the
 * template a part of it; with --map the score map comes back too. Prints a table on
 * standard error and JSON on standard output. Exit status 2 where a match is wrong. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "integers.h"
#include "lcc/lcc.h"
#include "machine.h"
#include "match/cuda_loader.h"
#include "lcc/slices.h"
#include "modules.h"

enum { MOST_GPUS = 16, WARM_UPS = 6, MOST_SAMPLES = 101, REPLAYS = 7, LAUNCHES = 3 };

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
    bench_case size;
    const picture *picture;
    bool map, pageable;
    int samples, devices;
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

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "tmatch-bench-devices: %s: %s\n", what, why);
    return 2;
}

/* splitmix64 by its counter, as problem.c has it */
static void draw(uint8_t *samples, int64_t count)
{
#pragma omp parallel for
    for (int64_t word = 0; word < (count + 7) / 8; word++) {
        uint64_t z = (uint64_t)(word + 1) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
        memcpy(samples + 8 * word, &z, (size_t)smaller(8, count - 8 * word));
    }
}

/* Sixteen bits of each, as floats: any others may not be finite. */
static void make_floats(uint8_t *samples, int64_t count)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, samples + 4 * i, 4);
        const float sample = (float)(word & 65535);
        memcpy(samples + 4 * i, &sample, 4);
    }
}

static tm_settings settings_for(int devices)
{
    tm_settings s;
    tm_settings_default(&s, sizeof s);
    s.device = TM_DEVICE_CUDA;
    s.algorithm = TM_ALGORITHM_DIRECT;
    s.device_mask = (UINT64_C(1) << devices) - 1;
    return s;
}

static int time_calls(const setup *p, outcome *o)
{
    const tm_settings settings = settings_for(o->devices);
    double call[MOST_SAMPLES], skew[MOST_SAMPLES];
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_status status = tm_matcher_create(&matcher, &settings);

    if (status == TM_OK)
        status = tm_template_create(&tmpl, matcher, &p->tmpl);
    for (int i = -WARM_UPS; i < p->samples && status == TM_OK; i++) {
        tm_peak best;
        const double start = clock_ms();
        status = tm_match(matcher, &p->frame, tmpl, &best, p->map ? &p->result : NULL);
        const double ms = clock_ms() - start;
        if (status != TM_OK)
            break;
        if (best.x != p->x || best.y != p->y || best.score != 1)
            return fail("match", "not where the template was cut from");
        if (i < 0)
            continue;
        call[i] = ms;
        skew[i] = 0;
        const size_t count = tm_matcher_reports(matcher, o->reports, MOST_GPUS);
        if (count != (size_t)o->devices)
            return fail("match", "not all devices had a part");
        for (size_t k = 0; k < count; k++)
            skew[i] = o->reports[k].start_ms > skew[i] ? o->reports[k].start_ms : skew[i];
    }
    if (status != TM_OK)
        return fail("match", tm_matcher_message(matcher));
    o->call = bench_spread_of(call, p->samples);
    o->skew_ms = bench_spread_of(skew, p->samples).median;
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return 0;
}

/* One device's share, timed together with the others'. */
typedef struct part {
    const tm_cuda_plugin *plugin;
    int device;
    tm_job job;
    pthread_barrier_t *ready;
    double kernel_ms, bus_ms;
    tm_message message;
    tm_status status;
} part;

static void *time_part(void *argument)
{
    part *t = argument;
    tm_cuda *cuda = NULL;
    tm_cuda_work work;
    double kernel[REPLAYS], bus[REPLAYS];

    t->status = t->plugin->open(&cuda, t->device, 0, &t->message);
    if (t->status == TM_OK)
        t->status = t->plugin->match(cuda, &t->job, 1, &work, &t->message);
    pthread_barrier_wait(t->ready);
    if (t->status == TM_OK)
        t->status = t->plugin->replay(cuda, REPLAYS, LAUNCHES, kernel, &t->message);
    const size_t bytes = (size_t)(t->job.frame.height * t->job.frame.stride);
    modules_upload(t->device, t->job.frame.samples, bytes);
    for (int i = 0; i < REPLAYS; i++) {
        pthread_barrier_wait(t->ready);
        bus[i] = modules_upload(t->device, t->job.frame.samples, bytes);
    }
    t->kernel_ms = bench_spread_of(kernel, REPLAYS).median;
    t->bus_ms = bench_spread_of(bus, REPLAYS).median;
    if (cuda)
        t->plugin->close(cuda);
    return NULL;
}

/* The slowest device's kernels and bus, all working at once. */
static int time_parts(const setup *p, outcome *o)
{
    tm_cuda_library library = {0};
    tm_message message = {""};
    pthread_barrier_t ready;
    pthread_t threads[MOST_GPUS];
    part parts[MOST_GPUS];
    const double weights[MOST_GPUS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    tm_template *tmpl;
    tm_job whole = {.metric = TM_METRIC_LCC, .frame = p->frame};

    if (tm_cuda_load(&library, &message) != TM_OK)
        return fail("plugin", message.text);
    if (tm_template_prepare(&tmpl, &p->tmpl) != TM_OK ||
        tm_geometry_init(&whole.geometry, TM_DOMAIN_VALID, p->frame.width, p->frame.height,
                         p->tmpl.width, p->tmpl.height) != TM_OK)
        return fail("template", "cannot be prepared");
    whole.tmpl = tmpl;
    whole.last_row = whole.geometry.map_height;
    pthread_barrier_init(&ready, NULL, (unsigned)o->devices);
    for (int i = 0; i < o->devices; i++) {
        const tm_rows rows =
            tm_rows_divide((tm_rows){0, whole.geometry.map_height}, weights, o->devices, i);
        parts[i] = (part){.plugin = library.plugin, .device = i, .ready = &ready,
                          .job = tm_job_rows(&whole, rows, 0)};
        if (pthread_create(&threads[i], NULL, time_part, &parts[i]) != 0)
            return fail("thread", "cannot be started");
    }
    for (int i = 0; i < o->devices; i++) {
        pthread_join(threads[i], NULL);
        if (parts[i].status != TM_OK)
            return fail("device", parts[i].message.text);
        if (parts[i].bus_ms <= 0)
            return fail("bus", "no CUDA module of the benchmarks measures it");
        o->kernel_ms = parts[i].kernel_ms > o->kernel_ms ? parts[i].kernel_ms : o->kernel_ms;
        o->bus_ms = parts[i].bus_ms > o->bus_ms ? parts[i].bus_ms : o->bus_ms;
    }
    pthread_barrier_destroy(&ready);
    tm_template_destroy(&tmpl);
    tm_cuda_unload(&library);
    return 0;
}

static void report(const setup *p, const outcome *o, const outcome *one, bool first)
{
    fprintf(stderr, "%d device%s: call %.3f ms (%.2f x), kernels %.3f ms (%.2f x), bus %.3f ms, skew %.3f ms\n",
            o->devices, o->devices > 1 ? "s" : " ", o->call.median, one->call.median / o->call.median,
            o->kernel_ms, one->kernel_ms / o->kernel_ms, o->bus_ms, o->skew_ms);
    printf("%s{\"devices\":%d,\"call_ms\":{\"samples\":%d,\"min\":%.4f,\"q1\":%.4f,\"median\":%.4f,"
           "\"q3\":%.4f,\"max\":%.4f},\"kernel_ms\":%.4f,\"bus_ms\":%.4f,\"start_skew_ms\":%.4f,"
           "\"speed_up\":{\"call\":%.3f,\"kernel\":%.3f,\"bus\":%.3f},\"reports\":[",
           first ? "" : ",\n", o->devices, o->call.samples, o->call.min, o->call.q1, o->call.median,
           o->call.q3, o->call.max, o->kernel_ms, o->bus_ms, o->skew_ms,
           one->call.median / o->call.median, one->kernel_ms / o->kernel_ms,
           one->bus_ms / o->bus_ms);
    for (int i = 0; i < o->devices; i++) {
        const tm_device_report *d = &o->reports[i];
        fprintf(stderr, "    cuda:%d: %" PRId64 " rows, start %.3f, busy %.3f, wait %.3f ms\n",
                d->index, d->rows, d->start_ms, d->busy_ms, d->wait_ms);
        printf("%s{\"device\":%d,\"rows\":%" PRId64 ",\"start_ms\":%.4f,\"busy_ms\":%.4f,"
               "\"wait_ms\":%.4f,\"bytes_to_device\":%" PRId64 ",\"bytes_from_device\":%" PRId64 "}",
               i ? "," : "", d->index, d->rows, d->start_ms, d->busy_ms, d->wait_ms,
               d->bytes_to_device, d->bytes_from_device);
    }
    printf("]}");
    fflush(stdout);
    (void)p;
}

/* The report opens with it. */
static void report_machine(void)
{
    machine m;
    machine_describe(&m);
    printf("{\"schema\":1,\"machine\":{\"commit\":\"%s%s\",\"date\":\"%s\",\"gpu\":\"%s\","
           "\"gpus\":%d,\"driver\":\"%s\",\"cuda\":\"%s\",\"cpu\":\"%s\",\"threads\":%d},\n ",
           m.commit, m.dirty ? ", changed" : "", m.date, m.devices[1].name, m.device_count - 1,
           m.driver, m.devices[1].detail, m.devices[0].name, m.devices[0].units);
}

static int run(setup *p, tm_matcher *owner, int available)
{
    const bench_case *c = &p->size;
    tm_host_memory frame = {0}, map = {0};
    const picture *kind = p->picture;
    const int64_t pixel = kind->channels * tm_sample_size(kind->type);
    const int64_t stride = c->frame_width * pixel;
    const size_t bytes = (size_t)(stride * c->frame_height);
    outcome one = {0};
    int64_t map_width, map_height;
    int status = 0;

    if (tm_map_size(TM_DOMAIN_VALID, c->frame_width, c->frame_height, c->template_width,
                    c->template_height, &map_width, &map_height) != TM_OK)
        return fail("sizes", "the template is larger than the frame");
    if (p->pageable)
        frame.data = malloc(bytes);
    else if (tm_host_alloc(owner, bytes, &frame) != TM_OK)
        return fail("frame", tm_matcher_message(owner));
    p->result.stride = (ptrdiff_t)(map_width * (int64_t)sizeof(float));
    if (p->map && p->pageable)
        map.data = malloc((size_t)(p->result.stride * map_height));
    else if (p->map && tm_host_alloc(owner, (size_t)(p->result.stride * map_height), &map) != TM_OK)
        return fail("map", tm_matcher_message(owner));
    if (!frame.data || (p->map && !map.data))
        return fail("frame and map", "out of memory");
    draw(frame.data, (int64_t)bytes);
    if (kind->type == TM_SAMPLE_F32)
        make_floats(frame.data, (int64_t)bytes / 4);
    p->frame = (tm_image){.samples = frame.data, .width = c->frame_width,
                          .height = c->frame_height, .stride = (ptrdiff_t)stride,
                          .type = kind->type, .channels = kind->channels};
    p->x = c->frame_width * 2 / 3 - c->template_width;
    p->y = c->frame_height * 4 / 5 - c->template_height;
    p->tmpl = p->frame;
    p->tmpl.samples += p->y * stride + p->x * pixel;
    p->tmpl.width = c->template_width;
    p->tmpl.height = c->template_height;
    p->result.data = map.data;

    report_machine();
    printf("\"frame\":[%" PRId64 ",%" PRId64 "],\"template\":[%" PRId64 ",%" PRId64
           "],\"picture\":\"%s\",\"map\":%s,\"memory\":\"%s\",\"results\":[\n",
           c->frame_width, c->frame_height, c->template_width, c->template_height, kind->name,
           p->map ? "true" : "false", p->pageable ? "pageable" : "pinned");
    for (int devices = 1; devices <= available && status == 0; devices *= 2) {
        outcome o = {.devices = devices};
        status = time_calls(p, &o);
        if (status == 0)
            status = time_parts(p, &o);
        if (devices == 1)
            one = o;
        if (status == 0)
            report(p, &o, &one, devices == 1);
    }
    printf("\n]}\n");
    if (p->pageable) {
        free(frame.data);
        free(map.data);
    } else {
        tm_host_free(owner, &frame);
        tm_host_free(owner, &map);
    }
    return status;
}

static bool find_picture(setup *p, const char *name)
{
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        if (strcmp(name, pictures[i].name) == 0) {
            p->picture = &pictures[i];
            return true;
        }
    }
    return false;
}

static bool parse(setup *p, int argc, char **argv)
{
    *p = (setup){.picture = pictures, .samples = 31, .devices = MOST_GPUS};
    bench_parse_case("32768,64", &p->size);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--map") == 0)
            p->map = true;
        else if (strcmp(argv[i], "--pageable") == 0)
            p->pageable = true;
        else if (strcmp(argv[i], "--samples") == 0 && i + 1 < argc)
            p->samples = atoi(argv[++i]);
        else if (strcmp(argv[i], "--devices") == 0 && i + 1 < argc)
            p->devices = atoi(argv[++i]);
        else if (strcmp(argv[i], "--picture") == 0 && i + 1 < argc && find_picture(p, argv[i + 1]))
            i++;
        else if (!bench_parse_case(argv[i], &p->size))
            return false;
    }
    return p->samples > 0 && p->samples <= MOST_SAMPLES && p->devices > 0;
}

int main(int argc, char **argv)
{
    setup p;
    size_t found = 0;
    char why[256] = "";
    tm_matcher *owner = NULL;

    if (!parse(&p, argc, argv))
        return fail("arguments", "[--map] [--pageable] [--picture gray8|gray16|rgb8|float] "
                                 "[--samples N] [--devices N] [FRAME,TEMPLATE]");
    tm_list_devices(NULL, 0, &found, why, sizeof why);
    if (found < 2)
        return fail("devices", why);
    const tm_settings settings = settings_for(1);
    if (tm_matcher_create(&owner, &settings) != TM_OK)
        return fail("cuda:0", tm_matcher_message(owner));
    modules_open();
    const int available = (int)found - 1 < p.devices ? (int)found - 1 : p.devices;
    const int status = run(&p, owner, available < MOST_GPUS ? available : MOST_GPUS);
    modules_close();
    tm_matcher_destroy(&owner);
    return status;
}
