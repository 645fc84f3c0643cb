/* SPDX-License-Identifier: MIT */
/* A stand-in for the CUDA plugin with devices that are CPU threads, so that
 * everything above the plugin is tested without a GPU. From the environment:
 *
 * TMATCH_FAKE_DEVICES  how many; 4
 * TMATCH_FAKE_COUNT_HANGS  counting them takes as long as a call that hangs
 * TMATCH_FAKE_MEMORY   bytes of each one
 * TMATCH_FAKE_CERTIFIED  they leave windows out, as the CPU does
 * TMATCH_FAKE_SLOW     DEVICE:MICROSECONDS: that device takes so much longer a row
 * TMATCH_FAKE_TIMES    how many times as long as the usual estimate a match takes that is
 *                      replayed; without it none is
 * TMATCH_FAULT         see fault.h; a match has four calls a job and two more. A fault
 *                      that lasts has lost the device, until devices are counted */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/cpu.h"
#include "cuda/estimate.h"
#include "cuda/plugin.h"
#include "cuda/schedule.h"
#include "lcc/cuda/fault.h"

typedef struct fake {
    int index;
    int64_t memory; /* 0: no bound */
    tm_fault fault;
    tm_guard *guard;
    tm_device *cpu;
    int64_t slow_ns; /* a row */
    tm_rates rates;
    double estimate_ms; /* of the last match, directly, without copies */
} fake;

static _Atomic uint64_t lost_devices; /* by their index */

static int64_t number(const char *name, int64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

static tm_status call(fake *f, tm_message *message)
{
    if (!tm_guard_enter(f->guard))
        return TM_ERR_DEVICE;
    const int error = tm_fault_next(&f->fault);
    if (error == TM_FAULT_HANG)
        tm_fault_hang();
    if (!tm_guard_leave(f->guard))
        return TM_ERR_DEVICE;
    if (!error || error == TM_FAULT_HANG)
        return TM_OK;
    snprintf(message->text, sizeof message->text, "cuda:%d, fake: injected error %d", f->index,
             error);
    if (error == TM_FAULT_MEMORY)
        return TM_ERR_DEVICE_MEMORY;
    if (f->fault.lasts)
        lost_devices |= UINT64_C(1) << f->index;
    return TM_ERR_DEVICE;
}

static int fake_count(tm_message *message)
{
    const int count = (int)number("TMATCH_FAKE_DEVICES", 4);
    if (getenv("TMATCH_FAKE_COUNT_HANGS"))
        tm_fault_hang();
    lost_devices = 0;
    if (!count)
        snprintf(message->text, sizeof message->text, "no fake devices");
    return count;
}

static tm_status fake_describe(int index, tm_device_info *info, tm_message *message)
{
    (void)message;
    *info = (tm_device_info){.kind = TM_DEVICE_CUDA, .index = index, .units = 1, .name = "fake"};
    return TM_OK;
}

static void fake_close(tm_device *device)
{
    fake *f = (fake *)device;
    tm_cpu_backend()->close(f->cpu);
    free(f);
}

static tm_status fake_open(tm_device **opened, const tm_device_settings *settings,
                           tm_message *message)
{
    const tm_device_settings cpu = {.threads = 1, .features = UINT32_MAX};
    const char *slow = getenv("TMATCH_FAKE_SLOW");
    const int64_t own = number("TMATCH_FAKE_MEMORY", 0), given = settings->memory;
    long long microseconds;
    int which;

    if (settings->algorithm == TM_ALGORITHM_CUFFT) {
        snprintf(message->text, sizeof message->text, "fake devices have no cuFFT");
        return TM_ERR_INVALID;
    }
    fake *f = calloc(1, sizeof *f);
    if (!f || tm_cpu_backend()->open(&f->cpu, &cpu, message) != TM_OK) {
        free(f);
        snprintf(message->text, sizeof message->text, "out of memory");
        return TM_ERR_MEMORY;
    }
    f->index = settings->index;
    f->memory = own && (!given || own < given) ? own : given;
    f->fault = tm_fault_for(f->index);
    f->guard = settings->guard;
    f->rates = settings->rates ? *settings->rates : (tm_rates)TM_USUAL_RATES;
    if (slow && sscanf(slow, "%d:%lld", &which, &microseconds) == 2 && which == f->index)
        f->slow_ns = microseconds * 1000;
    tm_status status = call(f, message);
    if (status == TM_OK && lost_devices >> f->index & 1) {
        snprintf(message->text, sizeof message->text, "cuda:%d, fake: lost", f->index);
        status = TM_ERR_DEVICE;
    }
    if (status == TM_OK)
        *opened = (tm_device *)f;
    else
        fake_close((tm_device *)f);
    return status;
}

/* As of a small device, without FFT. */
static tm_device_traits fake_traits(const tm_device *device)
{
    (void)device;
    return (tm_device_traits){.multiprocessors = 1, .chunk_bytes = 4096};
}

static bool holds_pinned(void *context, const void *rows, ptrdiff_t stride, int64_t count,
                         size_t row_bytes, bool *pinned)
{
    (void)context, (void)rows, (void)stride, (void)count, (void)row_bytes;
    *pinned = true;
    return true;
}

static void fake_estimate(tm_device *device, const tm_job *jobs, size_t count,
                          const tm_estimate_request *request, tm_estimate *estimates)
{
    const tm_device_traits traits = fake_traits(device);
    const tm_pinned_memory pinned = {.holds = holds_pinned};
    tm_cuda_estimate_jobs(estimates, &traits, &((fake *)device)->rates, jobs, count, request, &pinned);
    for (size_t i = 0; i < count && getenv("TMATCH_FAKE_CERTIFIED"); i++) {
        tm_job job = jobs[i];
        tm_estimate own;
        job.cutter = NULL; /* the CPU chooses none */
        tm_cpu_backend()->estimate(((fake *)device)->cpu, &job, 1, request, &own);
        estimates[i].certified_ms = own.certified_ms;
        estimates[i].certified_fault = own.certified_fault;
    }
}

static tm_status allocate(fake *f, const tm_job *job, tm_message *message)
{
    const tm_geometry *g = &job->geometry;
    int64_t needed = g->frame_width * g->frame_height;
    if (job->map.data)
        needed += g->map_width * g->map_height * (int64_t)tm_job_element(job);
    if (f->memory && needed > f->memory) {
        snprintf(message->text, sizeof message->text, "cuda:%d, fake: out of memory", f->index);
        return TM_ERR_DEVICE_MEMORY;
    }
    return call(f, message);
}

/* The CPU may decline to leave windows out, which a CUDA device does not. */
static tm_status match_on_cpu(fake *f, tm_job *job, tm_message *message)
{
    tm_work work;
    tm_status status = tm_cpu_backend()->match(f->cpu, job, 1, &work, message);
    if (status != TM_OK || !job->declined)
        return status;
    job->certified = job->declined = false;
    return tm_cpu_backend()->match(f->cpu, job, 1, &work, message);
}

/* Rows that were only made for their neighbours' peaks are another slice's, and not
 * to be written. */
static tm_status compute(fake *f, tm_job *job, tm_message *message)
{
    const size_t row = (size_t)job->geometry.map_width * tm_job_element(job);
    tm_job own = *job;
    if (!job->map.data || !job->peaks)
        return match_on_cpu(f, job, message);
    own.map = (tm_map){malloc(row * (size_t)job->geometry.map_height), (ptrdiff_t)row};
    tm_status status =
        own.map.data ? match_on_cpu(f, &own, message) : TM_ERR_MEMORY;
    for (int64_t y = job->first_row; y < job->last_row && status == TM_OK; y++)
        memcpy((char *)job->map.data + y * job->map.stride,
               (char *)own.map.data + y * own.map.stride, row);
    job->best = own.best;
    free(own.map.data);
    return status;
}

/* Allocate, copy in, compute, copy back. */
static tm_status run(fake *f, tm_job *job, tm_work *work, tm_message *message)
{
    const tm_geometry *g = &job->geometry;
    tm_status status = allocate(f, job, message);

    if (status == TM_OK)
        status = call(f, message);
    if (status == TM_OK)
        status = call(f, message);
    if (status == TM_OK)
        status = compute(f, job, message);
    if (status == TM_OK)
        status = call(f, message);
    if (f->slow_ns) {
        const int64_t ns = f->slow_ns * g->map_height;
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
    }
    work->bytes_to_device += g->frame_width * g->frame_height;
    if (job->map.data)
        work->bytes_from_device +=
            g->map_width * g->map_height * (int64_t)tm_job_element(job);
    return status;
}

static void note_estimate(fake *f, const tm_job *jobs)
{
    const tm_cuda_conditions there = {.traits = fake_traits((tm_device *)f)};
    tm_estimate estimate;
    tm_cuda_estimate(&estimate, &there, jobs, TM_ALGORITHM_DIRECT, TM_STRATEGY_EXHAUSTIVE);
    f->estimate_ms = estimate.direct_ms;
}

static tm_status fake_match(tm_device *device, tm_job *jobs, size_t count, tm_work *work,
                            tm_message *message)
{
    fake *f = (fake *)device;
    tm_status status = call(f, message);
    *work = (tm_work){0};
    for (size_t i = 0; i < count && status == TM_OK; i++)
        status = run(f, &jobs[i], work, message);
    if (status == TM_OK)
        status = call(f, message);
    note_estimate(f, jobs);
    if (tm_guard_is_given_up(f->guard))
        fake_close(device);
    return status;
}

static tm_status fake_replay(tm_device *device, int samples, int launches, double *ms,
                             tm_message *message)
{
    const char *times = getenv("TMATCH_FAKE_TIMES");
    (void)launches;
    if (!times) {
        snprintf(message->text, sizeof message->text, "a fake device replays nothing");
        return TM_ERR_INVALID;
    }
    for (int i = 0; i < samples; i++)
        ms[i] = strtod(times, NULL) * ((const fake *)device)->estimate_ms;
    return TM_OK;
}

static tm_status fake_host_alloc(tm_device *device, size_t size, void **memory, tm_message *message)
{
    (void)device;
    *memory = malloc(size);
    if (!*memory)
        snprintf(message->text, sizeof message->text, "out of memory");
    return *memory ? TM_OK : TM_ERR_MEMORY;
}

static void fake_host_free(int index, void *memory)
{
    (void)index;
    free(memory);
}

static tm_status refuse_memory(const tm_device *device, tm_message *message)
{
    snprintf(message->text, sizeof message->text, "cuda:%d, fake: it has no memory of its own",
             ((const fake *)device)->index);
    return TM_ERR_INVALID;
}

static tm_status fake_accept(tm_device *device, tm_job *jobs, size_t count, tm_message *message)
{
    (void)jobs, (void)count;
    return refuse_memory(device, message);
}

static tm_status fake_hand_over(tm_device *device, const tm_on_device *frame, tm_message *message)
{
    (void)frame;
    return refuse_memory(device, message);
}

static tm_status fake_fetch(tm_device *device, const tm_image *image, const tm_on_device *place,
                            uint8_t *samples, uint8_t *mask, tm_message *message)
{
    (void)image, (void)place, (void)samples, (void)mask;
    return refuse_memory(device, message);
}

static tm_status fake_device_alloc(tm_device *device, size_t size, void **memory, tm_message *message)
{
    (void)size, (void)memory;
    return refuse_memory(device, message);
}

static void fake_device_free(tm_device *device, int index, void *memory)
{
    (void)device, (void)index, (void)memory;
}

static tm_status fake_read_start(tm_device *device, tm_reader **reader, void *stream, const void *memory, size_t most,
                                 size_t size, tm_message *message)
{
    (void)reader, (void)stream, (void)memory, (void)most, (void)size;
    return refuse_memory(device, message);
}

TM_API const tm_backend *tm_cuda_plugin_get(void)
{
    static const tm_backend backend = {
        TM_BACKEND_VERSION, fake_count, fake_describe, fake_open, fake_close, fake_traits,
        fake_estimate,      fake_match, tm_row_ms,     fake_replay, fake_host_alloc, fake_host_free,
        fake_accept,        fake_hand_over, fake_fetch, fake_device_alloc, fake_device_free,
        fake_read_start,    NULL, NULL, /* of a reader that it makes */
        NULL, NULL, NULL, NULL};
    return &backend;
}
