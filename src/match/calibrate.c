/* SPDX-License-Identifier: MIT */
/* Measures a device's rates (docs/lab/plan.md): how long matches of noise take, beside what its backend estimates. */
#include "match/calibrate.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* A frame's and a template's side. Of each device those that its rates depend on, where the algorithms cross. */
typedef struct probe {
    int frame, size;
} probe;

static const probe cpu_direct[] = {{1024, 8}, {1024, 16}, {1024, 32}, {512, 80}},
                   cpu_fft[] = {{512, 64}, {1024, 64}, {1024, 200}}, cpu_floats[] = {{256, 16}},
                   cuda_direct[] = {{1024, 16}, {2048, 21}, {2048, 64}, {2048, 128}, {4096, 32}},
                   cuda_plain[] = {{512, 32}, {1024, 64}}, cuda_large[] = {{700, 300}},
                   cuda_fft[] = {{2048, 128}, {2048, 300}, {4096, 200}}, cuda_floats[] = {{512, 32}};

enum { CPU_SIDE = 1024, CUDA_SIDE = 4096, MOST_PROBES = 5 };

/* A measurement takes about so long, and at least LEAST_RUNS matches. */
#define SPEND_MS 50.0
enum { LEAST_RUNS = 3 };

/* After so long no more is measured: a device so slow stays as it is assumed in the rest. */
#define MOST_MS 5000.0

/* Its kernels take at most so many times what is assumed of a GPU, where nobody else has it busy. */
#define MOST_RATE 50.0

/* What is measured, and with what: noise of side * side, as bytes and as floats. */
typedef struct bench {
    const tm_backend *backend;
    tm_device *device;
    bool cuda;
    int index, side;
    double end_ms; /* by the clock */
    uint8_t *bytes;
    float *floats;
    tm_message *message;
} bench;

/* Which rate a probe is for: the estimate is taken apart by them. */
typedef struct target {
    double *rate, *other; /* of the rates to be found; other: NULL, or found with it */
    size_t offset, other_offset;
    bool fft, floats;
} target;

/* Measured, and estimated: what other rates decide, and what these do. */
typedef struct row {
    double ms, rest, by_rate, by_other;
} row;

static tm_image picture(const bench *b, const uint8_t *bytes, bool floats, int x, int y, int side)
{
    const ptrdiff_t stride = b->side, at = y * stride + x;
    tm_image image = {.samples = bytes + at, .width = side, .height = side, .stride = stride};
    if (floats) {
        image.samples = (const uint8_t *)(b->floats + at);
        image.stride = stride * (ptrdiff_t)sizeof(float);
        image.type = TM_SAMPLE_F32;
    }
    return image;
}

/* A match in a frame whose samples are bytes; the template is the caller's. */
static tm_status make_job(const bench *b, tm_job *job, const uint8_t *bytes, probe p, bool floats)
{
    const tm_image crop = picture(b, bytes, floats, p.frame / 3, p.frame / 2 - p.size / 2, p.size);
    tm_template *tmpl = NULL;
    const tm_status status = tm_template_prepare(&tmpl, &crop);

    *job = (tm_job){.frame = picture(b, bytes, floats, 0, 0, p.frame), .tmpl = tmpl};
    return status == TM_OK
               ? tm_geometry_init(&job->geometry, TM_DOMAIN_VALID, p.frame, p.frame, p.size, p.size)
               : status;
}

static tm_estimate estimate(const bench *b, const tm_job *job, bool fft, const tm_rates *rates)
{
    const tm_estimate_request request = {.algorithm = fft ? TM_ALGORITHM_FFT : TM_ALGORITHM_DIRECT,
                                         .strategy = TM_STRATEGY_EXHAUSTIVE,
                                         .rates = rates};
    tm_estimate made;
    b->backend->estimate(b->device, job, 1, &request, &made);
    return made;
}

/* The estimate where these rates are 0. */
static double without(const bench *b, const tm_job *job, const target *t, bool rate, bool other)
{
    tm_rates rates = TM_USUAL_RATES;
    if (rate)
        *(double *)((char *)&rates + t->offset) = 0;
    if (other && t->other)
        *(double *)((char *)&rates + t->other_offset) = 0;
    const tm_estimate e = estimate(b, job, t->fft, &rates);
    return t->fft ? e.fft_ms : e.direct_ms;
}

static tm_status run(const bench *b, tm_job *job, tm_work *work)
{
    return b->backend->match(b->device, job, 1, work, b->message);
}

/* The least time of a match that lies on the device. */
static tm_status replay(const bench *b, tm_job *job, double *ms)
{
    double one = 0, spent;
    tm_work work;
    tm_status status = run(b, job, &work);

    if (status == TM_OK)
        status = b->backend->replay(b->device, 1, 1, &one, b->message);
    for (int launches = 1, i = 0; status == TM_OK && i < 2; i++) { /* the first lets the clocks rise */
        launches = one < 0.02 ? 200 : one < 4 ? (int)(4 / one) : 1;
        status = b->backend->replay(b->device, 1, launches, &one, b->message);
    }
    *ms = one;
    for (spent = 0; status == TM_OK && spent < SPEND_MS / 2; spent += fmax(one, 4)) {
        status = b->backend->replay(b->device, 1, one < 4 ? (int)(4 / fmax(one, 0.02)) : 1, &one, b->message);
        *ms = fmin(*ms, one);
    }
    return status;
}

static tm_status repeat(const bench *b, tm_job *job, double *ms)
{
    tm_status status = TM_OK;
    double spent = 0;

    *ms = INFINITY;
    for (int i = 0; status == TM_OK && (i < LEAST_RUNS || spent < SPEND_MS); i++) {
        tm_work work;
        status = run(b, job, &work);
        spent += work.times.kernel;
        *ms = fmin(*ms, work.times.kernel);
    }
    return status;
}

/* Measures one probe. *row stays as it is where the device has no memory or no FFT for it. */
static tm_status measure(const bench *b, const target *t, probe p, row *r, bool *measured)
{
    const tm_rates usual = TM_USUAL_RATES;
    tm_job job;
    double ms = 0;
    tm_status status = make_job(b, &job, b->bytes, p, t->floats);
    const tm_estimate plan = status == TM_OK ? estimate(b, &job, t->fft, &usual) : (tm_estimate){.fault = ""};

    if (t->fft)
        job.tiling = &plan.tiling;
    if (status == TM_OK && (!t->fft || !plan.fault)) {
        status = b->cuda ? replay(b, &job, &ms) : repeat(b, &job, &ms);
        *measured = status == TM_OK && ms > 0;
        job.tiling = NULL;
        job.on_device = b->cuda ? &(tm_on_device){0} : NULL; /* copies are not in the time */
        const double all = without(b, &job, t, false, false);
        *r = (row){ms, without(b, &job, t, true, true), all - without(b, &job, t, true, false),
                   all - without(b, &job, t, false, true)};
    }
    tm_template_destroy((tm_template **)&job.tmpl);
    return status == TM_ERR_DEVICE_MEMORY ? TM_OK : status;
}

/* The rates that leave the least squares of relative errors; both alike where one would not be positive. */
static void fit(const target *t, const row *rows, int count)
{
    double aa = 0, ab = 0, bb = 0, ac = 0, bc = 0, cc = 0, cd = 0;

    for (int i = 0; i < count; i++) {
        const row *r = &rows[i];
        const double a = r->by_rate / r->ms, b = r->by_other / r->ms, wanted = 1 - r->rest / r->ms;
        aa += a * a, ab += a * b, bb += b * b;
        ac += a * wanted, bc += b * wanted;
        cc += (a + b) * (a + b), cd += (a + b) * wanted;
    }
    const double determinant = aa * bb - ab * ab;
    double rate = determinant > 0 ? (ac * bb - bc * ab) / determinant : 0,
           other = determinant > 0 ? (bc * aa - ac * ab) / determinant : 0;
    if (!t->other || rate <= 0.1 || other <= 0.1)
        rate = other = cc > 0 && cd > 0 ? cd / cc : 1;
    *t->rate = rate;
    if (t->other)
        *t->other = other;
}

static tm_status find(const bench *b, const target *t, const probe *probes, size_t count)
{
    row rows[MOST_PROBES];
    int found = 0;
    tm_status status = TM_OK;

    for (size_t i = 0; i < count && status == TM_OK && clock_ms() < b->end_ms; i++) {
        bool measured = false;
        status = measure(b, t, probes[i], &rows[found], &measured);
        found += measured;
    }
    if (status == TM_OK && found)
        fit(t, rows, found);
    return status;
}

/* Copies of the whole frame, as FFT waits for them. */
static tm_status find_copies(const bench *b, uint8_t *bytes, double *rate, size_t offset)
{
    const target t = {.rate = rate, .offset = offset, .fft = true};
    const tm_rates usual = TM_USUAL_RATES;
    tm_job job;
    double ms = INFINITY;
    tm_status status = make_job(b, &job, bytes, (probe){CUDA_SIDE, 64}, false);
    const tm_estimate plan = status == TM_OK ? estimate(b, &job, true, &usual) : (tm_estimate){.fault = ""};

    job.tiling = &plan.tiling;
    for (int i = 0; !plan.fault && status == TM_OK && i < 2 * LEAST_RUNS; i++) {
        tm_work work;
        status = run(b, &job, &work);
        if (status == TM_OK && i)
            ms = fmin(ms, work.times.to_device);
    }
    job.tiling = NULL;
    if (status == TM_OK && isfinite(ms) && ms > 0) {
        const row r = {ms, 0, without(b, &job, &t, false, false) - without(b, &job, &t, true, false), 0};
        fit(&t, &r, 1);
    }
    tm_template_destroy((tm_template **)&job.tmpl);
    return status == TM_ERR_DEVICE_MEMORY ? TM_OK : status;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OF(r, field) .rate = &(r)->field, .offset = offsetof(tm_rates, field)
#define AND(r, field) .other = &(r)->field, .other_offset = offsetof(tm_rates, field)

static tm_status find_cpu(const bench *b, tm_rates *r)
{
    tm_status status = find(b, &(target){OF(r, windows), AND(r, products)}, cpu_direct, COUNT(cpu_direct));
    if (status == TM_OK)
        status = find(b, &(target){OF(r, fft), .fft = true}, cpu_fft, COUNT(cpu_fft));
    if (status == TM_OK)
        status = find(b, &(target){OF(r, floats), .floats = true}, cpu_floats, COUNT(cpu_floats));
    return status;
}

/* Fails where the times say nothing of the device. */
static tm_status check_cuda(const bench *b, const tm_rates *r)
{
    const double kernels[] = {r->windows, r->products, r->plain, r->fft, r->floats};
    double most = 0;

    for (size_t i = 0; i < COUNT(kernels); i++)
        most = fmax(most, kernels[i]);
    if (most <= MOST_RATE)
        return TM_OK;
    snprintf(b->message->text, sizeof b->message->text,
             "cuda:%d took %.0f times as long as such a GPU should: measure it when nothing else runs on it", b->index, most);
    return TM_ERR_DEVICE;
}

static tm_status find_cuda(const bench *b, tm_rates *r)
{
    const bool tensor = b->backend->traits(b->device).tensor_cores;
    void *pinned = NULL;
    tm_status status = TM_OK;

    if (tensor)
        status = find(b, &(target){OF(r, windows), AND(r, products)}, cuda_direct, COUNT(cuda_direct));
    if (status == TM_OK)
        status = tensor ? find(b, &(target){OF(r, plain)}, cuda_large, COUNT(cuda_large))
                        : find(b, &(target){OF(r, plain)}, cuda_plain, COUNT(cuda_plain));
    if (status == TM_OK)
        status = find(b, &(target){OF(r, fft), .fft = true}, cuda_fft, COUNT(cuda_fft));
    if (status == TM_OK)
        status = find(b, &(target){OF(r, floats), .floats = true}, cuda_floats, COUNT(cuda_floats));
    if (status == TM_OK)
        status = find_copies(b, b->bytes, &r->pageable, offsetof(tm_rates, pageable));
    const size_t size = (size_t)b->side * (size_t)b->side;
    if (status == TM_OK && b->backend->host_alloc(b->device, size, &pinned, b->message) == TM_OK) {
        memcpy(pinned, b->bytes, size);
        status = find_copies(b, pinned, &r->pinned, offsetof(tm_rates, pinned));
        b->backend->host_free(b->index, pinned);
    }
    return status == TM_OK ? check_cuda(b, r) : status;
}

/* Noise, the same each time. */
static bool make_noise(bench *b)
{
    const size_t count = (size_t)b->side * (size_t)b->side;
    uint64_t state = 1;

    b->bytes = malloc(count);
    b->floats = malloc(sizeof(float) * (size_t)b->side * 512); /* the floats' frames are no higher */
    if (!b->bytes || !b->floats)
        return false;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        b->bytes[i] = (uint8_t)(state >> 56);
    }
    for (size_t i = 0; i < (size_t)b->side * 512; i++)
        b->floats[i] = b->bytes[i];
    return true;
}

tm_status tm_calibrate(const tm_backend *backend, tm_device *device, int index, tm_rates *rates, tm_message *message)
{
    bench b = {.backend = backend, .device = device, .cuda = index >= 0, .index = index, .end_ms = clock_ms() + MOST_MS, .message = message};

    *rates = (tm_rates)TM_USUAL_RATES;
    b.side = b.cuda ? CUDA_SIDE : CPU_SIDE;
    tm_status status = make_noise(&b) ? TM_OK : TM_ERR_MEMORY;
    if (status != TM_OK)
        snprintf(message->text, sizeof message->text, "%s", tm_strerror(status));
    else
        status = b.cuda ? find_cuda(&b, rates) : find_cpu(&b, rates);
    free(b.bytes);
    free(b.floats);
    return status;
}
