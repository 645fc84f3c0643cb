/* SPDX-License-Identifier: MIT */
/* Times formats of pictures and metrics, as multiples of LCC of 8-bit gray. On a GPU a
 * sample is the mean of a batch of launches of all that the device does, from the
 * frame as it was copied there to the best match. On the CPU the multiple is the median
 * of pairs that followed each other, as clocks and neighbours change. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "lcc/lcc.h"
#include "noise.h"
#include "options.h"

static const char wrong[] = "the best match is not where the template comes from";

enum { REPLAYS = 15, LEAST_PAIRS = 3, MOST_MS = 2000 };

typedef struct format {
    const char *name;
    tm_metric metric;
    tm_sample_type type;
    int channels;
    bool template_mask, frame_mask;
    int unused_bits; /* of samples of 16 */
} format;

/* The others are compared with the first. */
static const format formats[] = {
    {"gray8", TM_METRIC_LCC, TM_SAMPLE_U8, 1, false, false, 0},
    {"gray16", TM_METRIC_LCC, TM_SAMPLE_U16, 1, false, false, 0},
    {"gray12", TM_METRIC_LCC, TM_SAMPLE_U16, 1, false, false, 4},
    {"masked8", TM_METRIC_LCC, TM_SAMPLE_U8, 1, true, false, 0},
    {"rgb8", TM_METRIC_LCC, TM_SAMPLE_U8, 3, false, false, 0},
    {"masked16", TM_METRIC_LCC, TM_SAMPLE_U16, 1, true, false, 0},
    {"masked rgb8", TM_METRIC_LCC, TM_SAMPLE_U8, 3, true, false, 0},
    {"rgb16", TM_METRIC_LCC, TM_SAMPLE_U16, 3, false, false, 0},
    {"gray8, masked frame", TM_METRIC_LCC, TM_SAMPLE_U8, 1, false, true, 0},
    {"float", TM_METRIC_LCC, TM_SAMPLE_F32, 1, false, false, 0},
    {"masked float", TM_METRIC_LCC, TM_SAMPLE_F32, 1, true, false, 0},
    {"float rgb", TM_METRIC_LCC, TM_SAMPLE_F32, 3, false, false, 0},
    {"float", TM_METRIC_CCORR_NORMED, TM_SAMPLE_F32, 1, false, false, 0},
    {"float", TM_METRIC_SQDIFF_NORMED, TM_SAMPLE_F32, 1, false, false, 0},
    {"gray8", TM_METRIC_CCORR, TM_SAMPLE_U8, 1, false, false, 0},
    {"gray8", TM_METRIC_CCORR_NORMED, TM_SAMPLE_U8, 1, false, false, 0},
    {"gray8", TM_METRIC_CCOEFF, TM_SAMPLE_U8, 1, false, false, 0},
    {"gray8", TM_METRIC_SQDIFF, TM_SAMPLE_U8, 1, false, false, 0},
    {"gray8", TM_METRIC_SQDIFF_NORMED, TM_SAMPLE_U8, 1, false, false, 0},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* How a format was matched, and how long that took. */
typedef struct timing {
    const char *algorithm, *by;
    double ms;    /* negative: an error, which was said */
    double times; /* as long as 8-bit gray LCC */
} timing;

/* The frame and template of a format, which are noise; the template is the frame's part from (x, y) on. */
typedef struct pictures {
    tm_metric metric;
    tm_image frame, part;
    int64_t x, y;
    uint8_t *samples, *mask, *frame_mask;
} pictures;

/* Where and how the formats are matched. */
typedef struct conditions {
    const bench_device *device;
    tm_algorithm algorithm;
    int samples;
    bench_gpu *gpu; /* NULL on the CPU */
} conditions;

static timing failed(const char *message)
{
    bench_fail("match", message);
    return (timing){"", "", -1, -1};
}

/* Whether a match is where the template comes from, or another place may be as good: by some metrics, in noise of few pixels,
 * where the frame's mask leaves the place out. */
static bool is_right(const pictures *p, int64_t x, int64_t y)
{
    const int64_t w = p->part.width, h = p->part.height;
    if (p->metric == TM_METRIC_CCORR || p->metric == TM_METRIC_CCOEFF || w * h < 64 || (x == p->x && y == p->y))
        return true;
    for (int64_t v = p->y; p->frame.mask && v < p->y + h; v++) {
        if (memchr(p->frame.mask + v * p->frame.mask_stride + p->x, 0, (size_t)w))
            return true;
    }
    return false;
}

/* A matcher on the CPU and what it matches. */
typedef struct cpu {
    tm_matcher *matcher;
    tm_template *tmpl;
    const tm_image *frame;
    tm_peak best;
} cpu;

static tm_status open_cpu(cpu *c, const conditions *at, const pictures *p)
{
    tm_settings settings = bench_settings(at->device, at->algorithm);
    settings.metric = p->metric;
    *c = (cpu){.frame = &p->frame};
    const tm_status status = tm_matcher_create(&c->matcher, &settings);
    return status == TM_OK ? tm_template_create(&c->tmpl, c->matcher, &p->part) : status;
}

static void close_cpu(cpu *c)
{
    tm_template_destroy(&c->tmpl);
    tm_matcher_destroy(&c->matcher);
}

static tm_status match_on_cpu(cpu *c, double *ms)
{
    const tm_status status = tm_match(c->matcher, c->frame, c->tmpl, &c->best, NULL);
    *ms = tm_matcher_times(c->matcher).kernel;
    return status;
}

static timing time_on_cpu(const conditions *at, const pictures *p, const pictures *gray)
{
    double ms[BENCH_MAX_SAMPLES], times[BENCH_MAX_SAMPLES], a, b, spent = 0;
    timing t = {"direct", "match", -1, -1};
    int count = -3; /* to warm up */
    cpu of_format = {0}, of_gray = {0};

    tm_status status = open_cpu(&of_format, at, p);
    if (status == TM_OK)
        status = open_cpu(&of_gray, at, gray);
    for (; status == TM_OK && count < at->samples && (count < LEAST_PAIRS || spent < MOST_MS); count++) {
        status = match_on_cpu(&of_gray, &b);
        if (status == TM_OK)
            status = match_on_cpu(&of_format, &a);
        if (status == TM_OK && count >= 0) {
            ms[count] = a;
            times[count] = a / b;
            spent += a + b;
        }
    }
    if (status != TM_OK) {
        t = failed(of_format.matcher && tm_matcher_message(of_format.matcher)[0]
                       ? tm_matcher_message(of_format.matcher)
                       : tm_strerror(status));
    } else {
        if (strcmp(tm_matcher_algorithm(of_format.matcher), "fft") == 0)
            t.algorithm = "fft";
        t.ms = bench_spread_of(ms, count).median;
        t.times = bench_spread_of(times, count).median;
    }
    if (status == TM_OK && !is_right(p, of_format.best.x, of_format.best.y))
        t = failed(wrong);
    close_cpu(&of_format);
    close_cpu(&of_gray);
    return t;
}

/* Where the plugin cannot repeat a job, the events of single matches are taken. */
static timing time_job(bench_gpu *gpu, tm_job *job)
{
    timing t = {job->tiling ? "fft" : "direct", "replay", -1, -1};
    double ms[REPLAYS];
    int samples = REPLAYS;
    tm_work work;

    for (int i = 0; i < 3; i++) {
        if (bench_gpu_match(gpu, job, 1, &work) != TM_OK)
            return failed(gpu->message.text);
    }
    if (bench_gpu_replay(gpu, 1e9, &samples, ms) != TM_OK) {
        t.by = "match";
        for (int i = 0; i < REPLAYS; i++) {
            if (bench_gpu_match(gpu, job, 1, &work) != TM_OK)
                return failed(gpu->message.text);
            ms[i] = work.times.kernel;
        }
    }
    t.ms = bench_spread_of(ms, samples).median;
    return t;
}

static timing time_on_gpu(const conditions *at, const pictures *p)
{
    tm_template *tmpl = NULL;
    tm_plan plan = {0};
    tm_job job;

    tm_status status = tm_template_prepare(&tmpl, &p->part);
    if (status == TM_OK)
        status = bench_job(&job, &p->frame, tmpl, p->metric, TM_DOMAIN_VALID);
    if (status != TM_OK)
        return failed(tm_strerror(status));
    plan = bench_gpu_plan(at->gpu, &job, at->algorithm, TM_STRATEGY_EXHAUSTIVE);
    if (plan.algorithm == TM_ALGORITHM_FFT)
        job.tiling = &plan.estimate.tiling;
    timing t = job.tiling && plan.estimate.fault ? failed(plan.estimate.fault) : time_job(at->gpu, &job);
    if (t.ms >= 0 && !is_right(p, job.best.position % job.geometry.map_width, job.best.position / job.geometry.map_width))
        t = failed(wrong);
    tm_template_destroy(&tmpl);
    return t;
}

static void free_pictures(pictures *p)
{
    free(p->samples);
    free(p->mask);
    free(p->frame_mask);
}

static bool make_pictures(pictures *p, const format *f, const bench_case *c, uint64_t seed)
{
    const int64_t pixel = f->channels * tm_sample_size(f->type);
    const size_t pixels = (size_t)(c->frame_width * c->frame_height);

    *p = (pictures){.metric = f->metric,
                    .samples = noise_samples(f->type, pixels * (size_t)f->channels, seed),
                    .mask = noise_samples(TM_SAMPLE_U8, (size_t)(c->template_width * c->template_height),
                                          seed + 1),
                    .frame_mask = malloc(pixels)};
    if (!p->samples || !p->mask || !p->frame_mask)
        return false;
    for (size_t i = 0; f->unused_bits && i < pixels * (size_t)f->channels; i++)
        ((uint16_t *)(void *)p->samples)[i] >>= f->unused_bits;
    p->frame = (tm_image){.samples = p->samples, .width = c->frame_width, .height = c->frame_height,
                          .stride = (ptrdiff_t)(c->frame_width * pixel), .type = f->type,
                          .channels = f->channels};
    p->part = p->frame;
    p->x = (c->frame_width - c->template_width) * 2 / 3;
    p->y = (c->frame_height - c->template_height) * 2 / 3;
    p->part.samples += p->y * p->frame.stride + p->x * pixel;
    p->part.width = c->template_width;
    p->part.height = c->template_height;
    if (f->template_mask) {
        p->mask[0] = 0;
        p->part.mask = p->mask;
        p->part.mask_stride = (ptrdiff_t)c->template_width;
    }
    if (f->frame_mask) {
        memset(p->frame_mask, 1, pixels);
        p->frame_mask[pixels / 5] = 0;
        p->frame.mask = p->frame_mask;
        p->frame.mask_stride = (ptrdiff_t)c->frame_width;
    }
    return true;
}

static bool report_timing(bench_report *report, const conditions *at, const format *f, const bench_case *c,
                          timing t)
{
    json *j = report_row(report, "formats");
    json_sizes(j, c);
    json_text(j, "picture", f->name);
    json_text(j, "metric", tm_metric_name(f->metric));
    json_text(j, "device", bench_device_name(at->device).text);
    json_text(j, "algorithm", t.algorithm);
    json_text(j, "timed", t.by);
    json_number(j, "ms", t.ms);
    json_number(j, "times_gray8_lcc", t.times);
    return report_row_end(report, true);
}

static bool run_case(const bench_options *o, bench_report *report, const conditions *at, const bench_case *c)
{
    pictures gray, p;
    double gray_ms = 0;
    bool good = make_pictures(&gray, &formats[0], c, o->seed);

    for (int i = 0; good && i < FORMATS; i++) {
        const format *f = &formats[i];
        if (i && o->format && (f->metric != TM_METRIC_LCC || strcmp(f->name, o->format) != 0))
            continue;
        timing t = !make_pictures(&p, f, c, o->seed) ? failed("out of memory")
                   : at->gpu                         ? time_on_gpu(at, &p)
                                                     : time_on_cpu(at, &p, &gray);
        if (i == 0)
            gray_ms = t.ms;
        if (at->gpu)
            t.times = t.ms / gray_ms;
        good = t.ms >= 0 && report_timing(report, at, f, c, t);
        free_pictures(&p);
    }
    free_pictures(&gray);
    return good;
}

static bool is_format(const char *name)
{
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return true;
    }
    return false;
}

bool bench_formats(bench_options *o, bench_report *report)
{
    bench_gpu gpu;
    bool good = true;

    if (o->format && !is_format(o->format))
        return bench_fail(o->format, "no such format");
    for (int i = 0; good && i < o->device_count; i++) {
        conditions at = {.device = &o->devices[i], .algorithm = bench_algorithm(o),
                    .samples = o->effort.samples};
        if (at.device->kind == TM_DEVICE_CUDA) {
            const char *fault = bench_gpu_open(&gpu, at.device->index);
            if (fault)
                return bench_fail(bench_device_name(at.device).text, fault);
            at.gpu = &gpu;
        }
        for (int k = 0; good && k < o->cases.count; k++)
            good = run_case(o, report, &at, &o->cases.items[k]);
        if (at.gpu)
            bench_gpu_close(at.gpu);
    }
    return good;
}
