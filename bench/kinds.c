/* SPDX-License-Identifier: MIT */
/* What 16 bits, floats, masks, colour and the other metrics cost, as multiples of LCC of
 * 8-bit gray of the same size:
 *
 *     bench-kinds [cpu|cuda] [auto|direct|fft] [--picture NAME] [FRAME,TEMPLATE]... >kinds.json
 *
 * NAME is one of those below; beside 8-bit gray only its LCC is timed then.
 * Sizes are 1920x1080, or the side of a square. Best match only, medians. On a GPU
 * ("timed": "replay") a sample is the mean of a batch of launches of all that the
 * device does, from the frame as it was copied there to the best match, back to
 * back. On the CPU ("match") it is one whole match; those of 8-bit gray LCC take
 * turns with each kind's, as clocks and neighbours change, and the multiple is the
 * median of the pairs'. A plugin that cannot repeat a job is timed by single matches
 * too, by its events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "machine.h"
#include "match/cuda_loader.h"
#include "match/plan.h"

#define BATCH_MS 4.0
enum { MOST = 41, REPLAYS = 15, MOST_LAUNCHES = 1000 };

typedef struct extent {
    int width, height;
} extent;

typedef struct kind {
    const char *name;
    tm_metric metric;
    tm_sample_type type;
    int channels;
    int masks; /* 1: the template's, 2: the frame's */
} kind;

/* the first is what the others are compared with */
static const kind kinds[] = {
    {"gray8", TM_METRIC_LCC, TM_SAMPLE_U8, 1, 0},
    {"gray16", TM_METRIC_LCC, TM_SAMPLE_U16, 1, 0},
    {"masked8", TM_METRIC_LCC, TM_SAMPLE_U8, 1, 1},
    {"rgb8", TM_METRIC_LCC, TM_SAMPLE_U8, 3, 0},
    {"masked16", TM_METRIC_LCC, TM_SAMPLE_U16, 1, 1},
    {"masked rgb8", TM_METRIC_LCC, TM_SAMPLE_U8, 3, 1},
    {"rgb16", TM_METRIC_LCC, TM_SAMPLE_U16, 3, 0},
    {"gray8, masked frame", TM_METRIC_LCC, TM_SAMPLE_U8, 1, 2},
    {"float", TM_METRIC_LCC, TM_SAMPLE_F32, 1, 0},
    {"masked float", TM_METRIC_LCC, TM_SAMPLE_F32, 1, 1},
    {"float rgb", TM_METRIC_LCC, TM_SAMPLE_F32, 3, 0},
    {"float", TM_METRIC_CCORR_NORMED, TM_SAMPLE_F32, 1, 0},
    {"float", TM_METRIC_SQDIFF_NORMED, TM_SAMPLE_F32, 1, 0},
    {"gray8", TM_METRIC_CCORR, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_CCORR_NORMED, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_CCOEFF, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_SQDIFF, TM_SAMPLE_U8, 1, 0},
    {"gray8", TM_METRIC_SQDIFF_NORMED, TM_SAMPLE_U8, 1, 0},
};

static uint8_t *noise(size_t size)
{
    static uint64_t state = 1;
    uint8_t *data = malloc(size);
    for (size_t i = 0; data && i < size; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        data[i] = (uint8_t)(state >> 56);
    }
    return data;
}

static uint8_t *noise_of(tm_sample_type type, size_t samples)
{
    uint8_t *data = noise(samples * (size_t)tm_sample_size(type));
    if (type == TM_SAMPLE_F32 && data) { /* not any bits: some are no numbers */
        float *floats = (float *)(void *)data;
        for (size_t i = 0; i < samples; i++)
            floats[i] = (float)data[4 * i] + (float)data[4 * i + 1] / 256;
    }
    return data;
}

/* How a match went, and what that took. */
typedef struct timing {
    const char *algorithm, *by;
    double ms;    /* negative: an error, which was said */
    double times; /* as long as 8-bit gray LCC */
} timing;

/* A kind's pictures, of noise. */
typedef struct pictures {
    tm_settings settings;
    tm_image frame, part;
    uint8_t *samples, *mask, *frame_mask;
} pictures;

static timing failed(const char *message)
{
    fprintf(stderr, "bench-kinds: %s\n", message);
    return (timing){"", "", -1, -1};
}

/* A match on the CPU. */
typedef struct cpu {
    tm_matcher *matcher;
    tm_template *tmpl;
    const tm_image *frame;
} cpu;

static tm_status open_cpu(cpu *c, const pictures *p)
{
    *c = (cpu){.frame = &p->frame};
    const tm_status status = tm_matcher_create(&c->matcher, &p->settings);
    return status == TM_OK ? tm_template_create(&c->tmpl, c->matcher, &p->part) : status;
}

static void close_cpu(cpu *c)
{
    tm_template_destroy(&c->tmpl);
    tm_matcher_destroy(&c->matcher);
}

static tm_status match_on_cpu(cpu *c, double *ms)
{
    tm_peak best;
    const tm_status status = tm_match(c->matcher, c->frame, c->tmpl, &best, NULL);
    *ms = tm_matcher_times(c->matcher).kernel;
    return status;
}

static timing time_on_cpu(const pictures *p, const pictures *gray)
{
    double ms[MOST], times[MOST], a, b, spent = 0;
    timing t = {"direct", "match", -1, -1};
    int count = -3; /* to warm up */
    cpu of_kind, of_gray = {0};

    tm_status status = open_cpu(&of_kind, p);
    if (status == TM_OK)
        status = open_cpu(&of_gray, gray);
    for (; status == TM_OK && count < MOST && (count < 3 || spent < 2000); count++) {
        status = match_on_cpu(&of_gray, &b);
        if (status == TM_OK)
            status = match_on_cpu(&of_kind, &a);
        if (status == TM_OK && count >= 0) {
            ms[count] = a;
            times[count] = a / b;
            spent += a + b;
        }
    }
    if (status != TM_OK) {
        t = failed(of_kind.matcher && tm_matcher_message(of_kind.matcher)[0]
                       ? tm_matcher_message(of_kind.matcher)
                       : tm_strerror(status));
    } else {
        if (strcmp(tm_matcher_algorithm(of_kind.matcher), "fft") == 0)
            t.algorithm = "fft";
        t.ms = bench_spread_of(ms, count).median;
        t.times = bench_spread_of(times, count).median;
    }
    close_cpu(&of_kind);
    close_cpu(&of_gray);
    return t;
}

/* A device through the plugin's interface. */
typedef struct gpu {
    tm_cuda_library library;
    tm_cuda *cuda;
    tm_message message;
} gpu;

/* Fills ms from batches; false where the plugin cannot repeat the last match. */
static bool replay(gpu *g, double ms[REPLAYS])
{
    const tm_cuda_plugin *plugin = g->library.plugin;
    double one;

    /* the first gives the clocks time to rise, the second says how long one is */
    for (int i = 0; i < 2; i++) {
        if (plugin->replay(g->cuda, 1, 10, &one, &g->message) != TM_OK)
            return false;
    }
    const double launches = BATCH_MS / (one > 1e-4 ? one : 1e-4);
    return plugin->replay(g->cuda, REPLAYS,
                          launches < 1               ? 1
                          : launches > MOST_LAUNCHES ? MOST_LAUNCHES
                                                     : (int)launches,
                          ms, &g->message) == TM_OK;
}

static timing time_job(gpu *g, tm_job *job)
{
    timing t = {job->tiling ? "fft" : "direct", "replay", -1, -1};
    double ms[REPLAYS];
    tm_cuda_work work;

    for (int i = 0; i < 3; i++) {
        if (g->library.plugin->match(g->cuda, job, 1, &work, &g->message) != TM_OK)
            return failed(g->message.text);
    }
    if (!replay(g, ms)) {
        t.by = "match";
        for (int i = 0; i < REPLAYS; i++) {
            if (g->library.plugin->match(g->cuda, job, 1, &work, &g->message) != TM_OK)
                return failed(g->message.text);
            ms[i] = work.times.kernel;
        }
    }
    t.ms = bench_spread_of(ms, REPLAYS).median;
    return t;
}

static timing time_on_gpu(gpu *g, const pictures *p)
{
    const tm_image *frame = &p->frame, *part = &p->part;
    const tm_site site = {.device = TM_DEVICE_CUDA, .cuda = g->library.plugin->traits(g->cuda)};
    tm_template *tmpl = NULL;
    tm_plan plan;

    if (tm_template_prepare(&tmpl, part) != TM_OK)
        return failed("no memory");
    tm_job job = {.metric = p->settings.metric, .frame = *frame, .tmpl = tmpl};
    tm_geometry_init(&job.geometry, p->settings.domain, frame->width, frame->height, part->width,
                     part->height);
    tm_plan_make(&plan, &site, &job, p->settings.algorithm);
    if (plan.algorithm == TM_ALGORITHM_FFT)
        job.tiling = &plan.tiling;
    const timing t = job.tiling && plan.fault ? failed(plan.fault) : time_job(g, &job);
    tm_template_destroy(&tmpl);
    return t;
}

static void free_pictures(pictures *p)
{
    free(p->samples);
    free(p->mask);
    free(p->frame_mask);
}

static bool make_pictures(pictures *p, const kind *k, tm_settings settings, extent frame, extent part)
{
    const int64_t pixel = k->channels * tm_sample_size(k->type);
    const size_t pixels = (size_t)frame.width * (size_t)frame.height;

    *p = (pictures){.settings = settings,
                   .samples = noise_of(k->type, pixels * (size_t)k->channels),
                   .mask = noise((size_t)part.width * (size_t)part.height),
                   .frame_mask = malloc(pixels)};
    p->settings.metric = k->metric;
    if (!p->samples || !p->mask || !p->frame_mask)
        return false;
    p->frame = (tm_image){.samples = p->samples, .width = frame.width, .height = frame.height,
                          .stride = frame.width * pixel, .type = k->type,
                          .channels = k->channels};
    p->part = p->frame;
    p->part.samples += (frame.height - part.height) * 2 / 3 * p->frame.stride +
                       (frame.width - part.width) * 2 / 3 * pixel;
    p->part.width = part.width;
    p->part.height = part.height;
    if (k->masks & 1) {
        p->mask[0] = 0;
        p->part.mask = p->mask;
        p->part.mask_stride = part.width;
    }
    if (k->masks & 2) {
        memset(p->frame_mask, 1, pixels);
        p->frame_mask[pixels / 5] = 0;
        p->frame.mask = p->frame_mask;
        p->frame.mask_stride = frame.width;
    }
    return true;
}

static void print_timing(const kind *k, extent frame, extent part, timing t, const char *separator)
{
    printf("%s\n    {\"frame\": \"%dx%d\", \"template\": \"%dx%d\", \"picture\": \"%s\", "
           "\"metric\": \"%s\", \"algorithm\": \"%s\", \"timed\": \"%s\", \"ms\": %.5g, "
           "\"times_gray8_lcc\": %.3g}",
           separator, frame.width, frame.height, part.width, part.height, k->name,
           tm_metric_name(k->metric), t.algorithm, t.by, t.ms, t.times);
    fflush(stdout);
}

/* False if something failed. */
static bool run_size(tm_settings settings, gpu *g, const char *only, extent frame, extent part,
                     const char *separator)
{
    pictures gray, p;
    double gray_ms = 0;
    bool good = make_pictures(&gray, &kinds[0], settings, frame, part);

    for (size_t i = 0; good && i < sizeof kinds / sizeof *kinds; i++) {
        if (i && only && (kinds[i].metric != TM_METRIC_LCC || strcmp(kinds[i].name, only) != 0))
            continue;
        timing t = make_pictures(&p, &kinds[i], settings, frame, part)
                       ? g ? time_on_gpu(g, &p) : time_on_cpu(&p, &gray)
                       : failed("no memory");
        if (i == 0)
            gray_ms = t.ms;
        if (g)
            t.times = t.ms / gray_ms;
        good = t.ms >= 0;
        print_timing(&kinds[i], frame, part, t, i ? "," : separator);
        free_pictures(&p);
    }
    free_pictures(&gray);
    return good;
}

static bool open_gpu(gpu *g)
{
    if (tm_cuda_load(&g->library, &g->message) == TM_OK &&
        g->library.plugin->count(&g->message) > 0 &&
        g->library.plugin->open(&g->cuda, 0, 0, &g->message) == TM_OK)
        return true;
    failed(g->message.text);
    tm_cuda_unload(&g->library);
    return false;
}

/* Reads a side, or WxH; returns what follows, or NULL. */
static const char *read_size(const char *text, extent *s)
{
    int length = 0;
    if (sscanf(text, "%dx%d%n", &s->width, &s->height, &length) == 2 && length)
        return text + length;
    if (sscanf(text, "%d%n", &s->width, &length) != 1)
        return NULL;
    s->height = s->width;
    return text + length;
}

static bool read_sizes(const char *text, extent *frame, extent *part)
{
    const char *rest = read_size(text, frame);
    rest = rest && *rest == ',' ? read_size(rest + 1, part) : NULL;
    return rest && !*rest && part->width > 1 && part->height > 1 && frame->width >= part->width &&
           frame->height >= part->height;
}

static bool is_kind(const char *name)
{
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, name) != 0)
        i++;
    return i < sizeof kinds / sizeof *kinds;
}

int main(int argc, char **argv)
{
    tm_settings settings;
    machine m;
    gpu g = {0};
    extent frame, part;
    const char *only = NULL;
    int first = 1, count = 0;
    bool good = true;

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    for (; first < argc && argv[first][0] >= 'a'; first++) {
        if (strcmp(argv[first], "cuda") == 0)
            settings.device = TM_DEVICE_CUDA;
        if (strcmp(argv[first], "direct") == 0)
            settings.algorithm = TM_ALGORITHM_DIRECT;
        if (strcmp(argv[first], "fft") == 0)
            settings.algorithm = TM_ALGORITHM_FFT;
    }
    if (first + 1 < argc && strcmp(argv[first], "--picture") == 0) {
        only = argv[first + 1];
        first += 2;
    }
    if (only && !is_kind(only)) {
        fprintf(stderr, "bench-kinds: %s: no such picture\n", only);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        if (!read_sizes(argv[i], &frame, &part)) {
            fprintf(stderr, "bench-kinds: %s: not sizes, such as 1920x1080,32 or 2048,21\n",
                    argv[i]);
            return 2;
        }
    }
    const bool cuda = settings.device == TM_DEVICE_CUDA;
    if (cuda && !open_gpu(&g))
        return 2;
    machine_describe(&m);
    printf("{\"commit\": \"%s%s\", \"date\": \"%s\", \"device\": \"%s\",\n \"results\": [", m.commit,
           m.dirty ? ", changed" : "", m.date, m.devices[cuda && m.device_count > 1].name);
    for (int i = first; i < argc; i++) {
        read_sizes(argv[i], &frame, &part);
        good &= run_size(settings, cuda ? &g : NULL, only, frame, part, count++ ? "," : "");
    }
    for (int i = 0; first == argc && i < 2; i++) {
        frame.width = frame.height = cuda ? 5020 : 2048;
        part.width = part.height = i ? 64 : 21;
        good &= run_size(settings, cuda ? &g : NULL, only, frame, part, count++ ? "," : "");
    }
    printf("\n]}\n");
    if (cuda) {
        g.library.plugin->close(g.cuda);
        tm_cuda_unload(&g.library);
    }
    return good ? 0 : 1;
}
