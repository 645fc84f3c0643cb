/* SPDX-License-Identifier: MIT */
/* What runs a matcher's jobs: the CPU or its devices, by which algorithm, and why. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "lcc/cpu/f32.h"
#include "match/matcher.h"

__attribute__((format(printf, 2, 3))) void tm_matcher_say(tm_matcher *m, const char *format, ...)
{
    size_t used = strlen(m->plan);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->plan + used, sizeof m->plan - used, format, arguments);
    va_end(arguments);
}

static void say_estimates(tm_matcher *m, const tm_plan *plan)
{
    tm_matcher_say(m, "; estimates: direct %.3g ms", plan->direct_ms);
    if (plan->fault)
        tm_matcher_say(m, ", no fft: %s", plan->fault);
    else if (plan->tiling.length_x)
        tm_matcher_say(m, ", %s %.3g ms", plan->tiling.by_cufft ? "cufft" : "fft", plan->fft_ms);
}

static void say_fft(tm_matcher *m, const tm_fft_tiling *t)
{
    m->algorithm = t->by_cufft ? "cufft" : "fft";
    tm_matcher_say(m, "%s on %s, %lld x %lld pairs of tiles, transforms of %d x %d", m->algorithm,
                   m->device, (long long)t->across, (long long)t->down, t->length_x, t->length_y);
}

/* Of floats. */
static void say_again(tm_matcher *m, const tm_job *job, const tm_plan *plan)
{
#if TM_HAVE_FFTW
    if (m->fft && tm_job_is_f32(job) && plan->algorithm == TM_ALGORITHM_FFT)
        tm_matcher_say(m, ", %lld of %lld windows again directly",
                       (long long)tm_fft_cpu_again(m->fft),
                       (long long)(job->geometry.map_width * job->geometry.map_height));
#else
    (void)m, (void)job, (void)plan;
#endif
}

/* Half of what the FFT may use is the planes' and their sums' where there are any. */
static int64_t half_of(int64_t bytes)
{
    return (bytes + 1) / 2;
}

static tm_site site_of(const tm_matcher *m, const tm_job *job)
{
    return (tm_site){.kernels = m->cpu.kernels.name,
                     .threads = m->cpu.threads,
                     .started = m->fft != NULL,
                     .missed_ms = m->missed_ms,
                     .fft_bytes = tm_job_is_plain(job) || tm_job_is_f32(job)
                                      ? m->fft_bytes
                                      : half_of(m->fft_bytes)};
}

static tm_plan plan_cpu(const tm_matcher *m, const tm_job *job)
{
    const tm_site site = site_of(m, job);
    tm_plan plan = {0};
    tm_algorithm wanted = m->settings.algorithm;
    if (wanted == TM_ALGORITHM_CUFFT) /* what devices with it have failed to do */
        wanted = TM_ALGORITHM_AUTO;
    if (wanted != TM_ALGORITHM_REFERENCE)
        tm_plan_make(&plan, &site, job, wanted);
    return plan;
}

/* A plain job, one of floats, or the parts of another, by the planned algorithm. */
typedef struct plain_run {
    tm_matcher *matcher;
    const tm_job *whole;
    tm_plan plan; /* for a geometry, */
    tm_geometry geometry;
} plain_run;

/* Parts of a band of the whole job's rows: tiles for those, that suit all its
 * planes. */
static void plan_band(plain_run *run, const tm_geometry *geometry)
{
    const tm_site site = site_of(run->matcher, run->whole);
    tm_job band = *run->whole;

    if (memcmp(&run->geometry, geometry, sizeof *geometry) == 0)
        return;
    band.geometry = run->geometry = *geometry;
    tm_plan_make(&run->plan, &site, &band, TM_ALGORITHM_FFT);
}

static tm_status run_plain(void *context, tm_job *job)
{
    plain_run *run = context;
    tm_matcher *m = run->matcher;

    if (run->plan.algorithm == TM_ALGORITHM_FFT)
        plan_band(run, &job->geometry);
    if (run->plan.algorithm != TM_ALGORITHM_FFT || run->plan.fault)
        return tm_job_is_f32(job) ? tm_f32_match(m->cpu.kernels.f32, job, m->cpu.threads)
                                  : tm_cpu_match(&m->cpu, job);
#if TM_HAVE_FFTW
    tm_status status = m->fft ? TM_OK : tm_fft_cpu_create(&m->fft, m->cpu.threads);
    if (status == TM_OK)
        status = tm_fft_cpu_match(m->fft, job, &run->plan.tiling, m->cpu.kernels.f32);
    return status;
#else
    return TM_ERR_INVALID;
#endif
}

static tm_status run_parts(plain_run *run, tm_job *job)
{
    tm_matcher *m = run->matcher;
    tm_planes_call call = {.threads = m->cpu.threads,
                           .limit = m->fft_bytes ? half_of(m->fft_bytes) : TM_PLANES_MEMORY,
                           .plain = run_plain,
                           .context = run};
    const tm_status status = tm_planes_match(&m->parts, job, &call);
    if (call.refused)
        return tm_matcher_fail(m, status,
                               "a row of the score map takes %lld bytes, and the limit leaves "
                               "%lld for it",
                               (long long)call.refused, (long long)call.limit);
    return status == TM_OK ? TM_OK : tm_matcher_fail_plain(m, status);
}

/* With the reason on the handle where it fails. */
static tm_status run_job(tm_matcher *m, tm_job *job, const tm_plan *plan)
{
    plain_run run = {m, job, *plan, job->geometry};
    tm_status status;

    if (tm_job_is_plain(job) || tm_job_is_f32(job) ||
        (plan->algorithm != TM_ALGORITHM_FFT && tm_cpu_takes(job)))
        status = run_plain(&run, job);
    else
        return run_parts(&run, job);
    return status == TM_OK ? TM_OK : tm_matcher_fail_plain(m, status);
}

static tm_status run_cpu(tm_matcher *m, tm_job *job, const tm_plan *plan)
{
    double start = clock_ms();
    tm_status status = TM_OK;

    snprintf(m->device, sizeof m->device, "cpu");
    m->plan[0] = '\0';
    if (m->settings.algorithm == TM_ALGORITHM_REFERENCE) {
        m->algorithm = "reference";
        tm_matcher_say(m, "reference on cpu, 1 thread: as asked");
        status = tm_reference_match(job);
        if (status != TM_OK)
            return tm_matcher_fail_plain(m, status);
    } else if (plan->algorithm == TM_ALGORITHM_FFT && plan->fault) {
        return tm_matcher_fail(m, TM_ERR_INVALID, "no FFT: %s", plan->fault);
    } else {
        const char *why = m->settings.device == TM_DEVICE_CPU ? "as asked"
                          : m->refusal.text[0]                ? m->refusal.text
                                               : "not enough work yet to start a CUDA device";
        if (plan->algorithm == TM_ALGORITHM_FFT) {
            say_fft(m, &plan->tiling);
        } else {
            m->algorithm = "direct";
            tm_matcher_say(m, "direct on cpu, %s%s kernels", tm_job_is_f32(job) ? "float, " : "",
                           m->cpu.kernels.name);
        }
        status = run_job(m, job, plan);
        say_again(m, job, plan);
        tm_matcher_say(m, ", up to %d thread%s: %s", m->cpu.threads, m->cpu.threads == 1 ? "" : "s",
                       why);
        say_estimates(m, plan);
        if (status != TM_OK)
            return status;
    }
    m->times.kernel += clock_ms() - start;
    return status;
}

/* What no device could do. */
static tm_status rescue(void *context, tm_job *jobs, size_t count, tm_message *message)
{
    tm_matcher *m = context;
    tm_status status = tm_matcher_open_cpu(m);
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        const tm_plan plan = plan_cpu(m, &jobs[i]);
        status = run_job(m, &jobs[i], &plan);
    }
    if (status != TM_OK)
        *message = m->message;
    return status;
}

static tm_status run_cuda(tm_matcher *m, tm_job *jobs, size_t count)
{
    tm_pool_call call = {.jobs = jobs,
                         .count = count,
                         .algorithm = m->settings.algorithm,
                         .rescue = rescue,
                         .context = m,
                         .continues = m->on_pool};

    m->on_pool = true;
    tm_pool_name(m->pool, m->device, sizeof m->device);
    m->plan[0] = '\0';
    tm_status status = tm_pool_match(m->pool, &call);
    if (call.plan.algorithm == TM_ALGORITHM_FFT) {
        say_fft(m, &call.plan.tiling);
    } else {
        m->algorithm = "direct";
        tm_matcher_say(m, "direct on %s%s", m->device, tm_job_is_f32(jobs) ? ", float" : "");
    }
    tm_matcher_say(m, m->settings.device == TM_DEVICE_AUTO
                          ? ": the work outweighs the device's start-up"
                          : ": as asked");
    say_estimates(m, &call.plan);
    m->warning = call.warning;
    m->times = call.times;
    return status == TM_OK ? TM_OK : tm_matcher_fail(m, status, "%s", call.message.text);
}

static double estimate_ms(const tm_matcher *m, const tm_job *jobs, size_t count)
{
    double ms = 0;
    for (size_t i = 0; i < count; i++)
        ms += plan_cpu(m, &jobs[i]).ms;
    return ms;
}

/* On TM_DEVICE_AUTO the CPU works until, with the next jobs, it would have spent
 * about as long as opening a CUDA device takes; then the device is opened if there
 * is one. Whatever comes, that costs at most twice the better choice, as far as the
 * estimates are right. The jobs are planned for it only while that can still change
 * the answer. */
static bool use_cuda(tm_matcher *m, const tm_job *jobs, size_t count)
{
    const tm_settings *s = &m->settings;
    if (s->device != TM_DEVICE_AUTO || s->algorithm == TM_ALGORITHM_REFERENCE)
        return s->device == TM_DEVICE_CUDA;
    if (m->pool && tm_pool_is_inherited(m->pool)) {
        tm_pool_destroy(&m->pool);
        snprintf(m->refusal.text, sizeof m->refusal.text,
                 "the devices were opened before this process was forked");
    }
    if (!m->pool && !m->refusal.text[0] &&
        m->cpu_ms + estimate_ms(m, jobs, count) >= tm_plan_cuda_start_ms() &&
        tm_matcher_open_cuda(m) != TM_OK) {
        m->refusal = m->message;
        m->message.text[0] = '\0'; /* the CPU goes on: nothing has failed */
    }
    return m->pool != NULL;
}

tm_status tm_matcher_run(tm_matcher *m, tm_job *jobs, size_t count)
{
    if (use_cuda(m, jobs, count))
        return run_cuda(m, jobs, count);
    for (size_t i = 0; i < count; i++) {
        tm_plan plan = plan_cpu(m, &jobs[i]);
        m->missed_ms += plan.missed_ms;
        tm_status status = run_cpu(m, &jobs[i], &plan);
        if (status != TM_OK)
            return status;
    }
    m->cpu_ms += m->times.kernel;
    return TM_OK;
}

tm_status tm_matcher_run_more(tm_matcher *m, tm_job *jobs, size_t count)
{
    const tm_times before = m->times;
    const tm_message warning = m->warning;

    m->times = (tm_times){0};
    tm_status status = tm_matcher_run(m, jobs, count);
    m->times.to_device += before.to_device;
    m->times.kernel += before.kernel;
    m->times.from_device += before.from_device;
    if (!m->warning.text[0])
        m->warning = warning;
    return status;
}
