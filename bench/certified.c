/* SPDX-License-Identifier: MIT */
/* Exhaustive and certified search of pictures on a GPU, in turns, for certified.py. The frame lies on
 * the device; a sample is the mean of a batch of launches of all that the device does for the best
 * match. */
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "io/io.h"
#include "options.h"

/* What frames leave decides how the next ones are searched, so some come first. */
enum { TURNS = 3, WARM_UPS = 8 };

static const struct {
    const char *name;
    tm_strategy strategy;
} strategies[] = {
    {"exhaustive", TM_STRATEGY_EXHAUSTIVE}, {"certified", TM_STRATEGY_CERTIFIED}, {"auto", TM_STRATEGY_AUTO}};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

/* A strategy's job and what was measured of it. */
typedef struct contender {
    tm_plan plan;
    tm_job job;
    double ms[BENCH_MAX_SAMPLES];
    int samples;
} contender;

static bool read_picture(io_picture *picture, tm_image *image, const char *name)
{
    const io_limits limits = {IO_DEFAULT_MAX_PIXELS};
    io_source source;
    io_error error;

    if (!io_source_open(&source, name, &error))
        return bench_fail(name, error.reason);
    const bool good = io_decode(&source, IO_GRAY, &limits, picture, &error);
    io_source_close(&source);
    *image = (tm_image){.samples = picture->samples, .width = picture->width, .height = picture->height,
                        .stride = (ptrdiff_t)picture->width};
    return good || bench_fail(name, error.reason);
}

static tm_status match(bench_gpu *gpu, contender *c)
{
    tm_work work;
    c->job.tiling = c->plan.algorithm == TM_ALGORITHM_FFT ? &c->plan.estimate.tiling : NULL;
    c->job.certified = c->plan.certified;
    return bench_gpu_match(gpu, &c->job, 1, &work);
}

static tm_status take_turn(bench_gpu *gpu, contender *c, int samples)
{
    tm_status status = TM_OK;
    for (int i = 0; status == TM_OK && i < WARM_UPS; i++)
        status = match(gpu, c);
    if (status == TM_OK)
        status = bench_gpu_replay(gpu, 1e9, &samples, c->ms + c->samples);
    c->samples += samples;
    return status;
}

static bool report_contender(bench_report *report, const char *name, const char *strategy, contender *c)
{
    const tm_geometry *g = &c->job.geometry;
    const int64_t position = c->job.best.position, windows = g->map_width * g->map_height;
    const bench_spread ms = bench_spread_of(c->ms, c->samples);

    json *j = report_row(report, "certified");
    json_text(j, "template_file", name);
    json_text(j, "strategy", strategy);
    json_text(j, "algorithm", c->job.tiling ? "fft" : c->plan.certified ? "certified" : "direct");
    json_number(j, "scored", (double)tm_job_scored(&c->job) / (double)windows);
    json_spread(j, "ms", &ms);
    json_begin(j, "best", '[');
    json_integer(j, NULL, position % g->map_width);
    json_integer(j, NULL, position / g->map_width);
    json_number(j, NULL, tm_job_score(&c->job, c->job.best.value));
    json_end(j, ']');
    return report_row_end(report, true);
}

static bool measure(bench_gpu *gpu, const bench_options *o, bench_report *report, const tm_image *frame,
                    const tm_template *tmpl, const char *name)
{
    contender contenders[STRATEGIES] = {0};
    const int samples = o->effort.samples / TURNS < 3 ? 3 : o->effort.samples / TURNS;

    for (int i = 0; i < STRATEGIES; i++) {
        contender *c = &contenders[i];
        const tm_status status = bench_job(&c->job, frame, tmpl, TM_METRIC_LCC, TM_DOMAIN_VALID);
        if (status != TM_OK)
            return bench_fail(name, tm_strerror(status));
        c->plan = bench_gpu_plan(gpu, &c->job, TM_ALGORITHM_AUTO, strategies[i].strategy);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < STRATEGIES; i++)
            if (take_turn(gpu, &contenders[i], samples) != TM_OK)
                return bench_fail(name, gpu->message.text);
    for (int i = 0; i < STRATEGIES; i++) {
        const tm_candidate *best = &contenders[i].job.best, *right = &contenders[0].job.best;
        if (best->position != right->position || best->value != right->value)
            return bench_fail(name, "the results of the strategies differ");
        if (!report_contender(report, name, strategies[i].name, &contenders[i]))
            return false;
    }
    return true;
}

static bool measure_template(bench_gpu *gpu, const bench_options *o, bench_report *report,
                             const tm_image *frame, const char *name)
{
    io_picture picture = {0};
    tm_template *tmpl = NULL;
    tm_image image;

    bool good = read_picture(&picture, &image, name);
    if (good) {
        const tm_status status = tm_template_prepare(&tmpl, &image);
        good = status == TM_OK ? measure(gpu, o, report, frame, tmpl, name)
                               : bench_fail(name, tm_strerror(status));
    }
    tm_template_destroy(&tmpl);
    io_picture_free(&picture);
    return good;
}

bool bench_certified(bench_options *o, bench_report *report)
{
    io_picture picture = {0};
    tm_image frame;
    bench_gpu gpu;

    if (o->word_count < 2)
        return bench_fail("certified", "takes a frame and templates");
    if (o->device_count != 1 || o->devices[0].kind != TM_DEVICE_CUDA)
        return bench_fail("certified", "takes one device of CUDA");
    const char *fault = bench_gpu_open(&gpu, o->devices[0].index);
    if (fault)
        return bench_fail(bench_device_name(&o->devices[0]).text, fault);
    bool good = read_picture(&picture, &frame, o->words[0]);
    for (int i = 1; good && i < o->word_count; i++)
        good = measure_template(&gpu, o, report, &frame, o->words[i]);
    io_picture_free(&picture);
    bench_gpu_close(&gpu);
    return good;
}
