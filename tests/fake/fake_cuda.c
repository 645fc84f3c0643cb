/* SPDX-License-Identifier: MIT */
/* A stand-in for the CUDA plugin with devices that are CPU threads, so that
 * everything above the plugin is tested without a GPU. From the environment:
 *
 * TMATCH_FAKE_DEVICES  how many; 4
 * TMATCH_FAKE_MEMORY   bytes of each one
 * TMATCH_FAKE_SLOW     DEVICE:MICROSECONDS: that device takes so much longer a row
 * TMATCH_FAULT         see fault.h; a match has four calls a job and two more. A fault
 *                      that lasts has lost the device, until devices are counted */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lcc/cpu/direct.h"
#include "lcc/cuda/fault.h"
#include "cuda/plugin.h"

struct tm_cuda {
    int index;
    int64_t memory; /* 0: no bound */
    tm_fault fault;
    tm_cpu cpu;
    int64_t slow_ns; /* a row */
};

static _Atomic uint64_t lost_devices; /* by their index */

static int64_t number(const char *name, int64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

static tm_status call(tm_cuda *cuda, tm_message *message)
{
    const int error = tm_fault_next(&cuda->fault);
    if (!error)
        return TM_OK;
    snprintf(message->text, sizeof message->text, "cuda:%d, fake: injected error %d", cuda->index,
             error);
    if (error == TM_FAULT_MEMORY)
        return TM_ERR_DEVICE_MEMORY;
    if (cuda->fault.lasts)
        lost_devices |= UINT64_C(1) << cuda->index;
    return TM_ERR_DEVICE;
}

static int fake_count(tm_message *message)
{
    const int count = (int)number("TMATCH_FAKE_DEVICES", 4);
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

static void fake_close(tm_cuda *cuda)
{
    tm_cpu_free(&cuda->cpu);
    free(cuda);
}

static tm_status fake_open(tm_cuda **opened, int index, int64_t memory, tm_message *message)
{
    const char *slow = getenv("TMATCH_FAKE_SLOW");
    const int64_t own = number("TMATCH_FAKE_MEMORY", 0);
    long long microseconds;
    int which;
    tm_cuda *cuda = calloc(1, sizeof *cuda);

    if (!cuda || tm_cpu_init(&cuda->cpu, 1, UINT32_MAX) != TM_OK) {
        free(cuda);
        snprintf(message->text, sizeof message->text, "out of memory");
        return TM_ERR_MEMORY;
    }
    cuda->index = index;
    cuda->memory = own && (!memory || own < memory) ? own : memory;
    cuda->fault = tm_fault_for(index);
    if (slow && sscanf(slow, "%d:%lld", &which, &microseconds) == 2 && which == index)
        cuda->slow_ns = microseconds * 1000;
    tm_status status = call(cuda, message);
    if (status == TM_OK && lost_devices >> index & 1) {
        snprintf(message->text, sizeof message->text, "cuda:%d, fake: lost", index);
        status = TM_ERR_DEVICE;
    }
    if (status == TM_OK)
        *opened = cuda;
    else
        fake_close(cuda);
    return status;
}

static tm_cuda_traits fake_traits(const tm_cuda *cuda)
{
    (void)cuda;
    return (tm_cuda_traits){.multiprocessors = 1, .chunk_bytes = 4096};
}

static tm_status allocate(tm_cuda *cuda, const tm_job *job, tm_message *message)
{
    const tm_geometry *g = &job->geometry;
    int64_t needed = g->frame_width * g->frame_height;
    if (job->map.data)
        needed += g->map_width * g->map_height * (int64_t)tm_job_element(job);
    if (cuda->memory && needed > cuda->memory) {
        snprintf(message->text, sizeof message->text, "cuda:%d, fake: out of memory", cuda->index);
        return TM_ERR_DEVICE_MEMORY;
    }
    return call(cuda, message);
}

static tm_status match_all(tm_cuda *cuda, tm_job *job)
{
    return tm_cpu_takes(job) ? tm_cpu_match(&cuda->cpu, job) : tm_reference_match(job);
}

/* Rows that were only made for their neighbours' peaks are another slice's, and not
 * to be written. */
static tm_status compute(tm_cuda *cuda, tm_job *job)
{
    const size_t row = (size_t)job->geometry.map_width * tm_job_element(job);
    tm_job own = *job;
    if (!job->map.data || !job->peaks)
        return match_all(cuda, job);
    own.map = (tm_map){malloc(row * (size_t)job->geometry.map_height), (ptrdiff_t)row};
    tm_status status = own.map.data ? match_all(cuda, &own) : TM_ERR_MEMORY;
    for (int64_t y = job->first_row; y < job->last_row && status == TM_OK; y++)
        memcpy((char *)job->map.data + y * job->map.stride,
               (char *)own.map.data + y * own.map.stride, row);
    job->best = own.best;
    free(own.map.data);
    return status;
}

/* Allocate, copy in, compute, copy back. */
static tm_status run(tm_cuda *cuda, tm_job *job, tm_cuda_work *work, tm_message *message)
{
    const tm_geometry *g = &job->geometry;
    tm_status status = allocate(cuda, job, message);

    if (status == TM_OK)
        status = call(cuda, message);
    if (status == TM_OK)
        status = call(cuda, message);
    if (status == TM_OK)
        status = compute(cuda, job);
    if (status == TM_OK)
        status = call(cuda, message);
    if (cuda->slow_ns) {
        const int64_t ns = cuda->slow_ns * g->map_height;
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
    }
    work->bytes_to_device += g->frame_width * g->frame_height;
    if (job->map.data)
        work->bytes_from_device +=
            g->map_width * g->map_height * (int64_t)tm_job_element(job);
    return status;
}

static tm_status fake_match(tm_cuda *cuda, tm_job *jobs, size_t count, tm_cuda_work *work,
                            tm_message *message)
{
    tm_status status = call(cuda, message);
    *work = (tm_cuda_work){0};
    for (size_t i = 0; i < count && status == TM_OK; i++)
        status = run(cuda, &jobs[i], work, message);
    return status == TM_OK ? call(cuda, message) : status;
}

static tm_status fake_replay(tm_cuda *cuda, int samples, int launches, double *ms,
                             tm_message *message)
{
    (void)cuda, (void)samples, (void)launches, (void)ms;
    snprintf(message->text, sizeof message->text, "a fake device replays nothing");
    return TM_ERR_INVALID;
}

static tm_status fake_host_alloc(tm_cuda *cuda, size_t size, void **memory, tm_message *message)
{
    (void)cuda;
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

static bool fake_is_pinned(tm_cuda *cuda, const void *rows, ptrdiff_t stride, int64_t count,
                           size_t row_bytes)
{
    (void)cuda, (void)rows, (void)stride, (void)count, (void)row_bytes;
    return true;
}

static tm_status fake_open_cufft(tm_message *message)
{
    snprintf(message->text, sizeof message->text, "fake devices have no cuFFT");
    return TM_ERR_INVALID;
}

TM_API const tm_cuda_plugin *tm_cuda_plugin_get(void)
{
    static const tm_cuda_plugin plugin = {TM_CUDA_PLUGIN_VERSION, fake_count, fake_describe,
                                          fake_open,              fake_close, fake_traits,
                                          fake_match,             fake_replay,
                                          fake_host_alloc,        fake_host_free,
                                          fake_is_pinned,         fake_open_cufft};
    return &plugin;
}
