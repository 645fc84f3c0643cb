/* SPDX-License-Identifier: MIT */
/* What runs a matcher's jobs: the CPU or its devices, by which algorithm, and why. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cpu/cpu.h"
#include "lcc/planes.h"
#include "match/matcher.h"

__attribute__((format(printf, 2, 3))) void tm_matcher_say(tm_matcher *m, const char *format, ...)
{
    size_t used = strlen(m->plan);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->plan + used, sizeof m->plan - used, format, arguments);
    va_end(arguments);
}

/* Says how the direct algorithm went, with the share of the windows that was scored so far. */
static void say_direct(tm_matcher *m, const tm_plan *plan)
{
    m->algorithm = "direct";
    if (plan->certified)
        tm_matcher_say(m, "direct, certified (%.3g %% of windows scored exactly), on %s",
                       100 * tm_matcher_scored(m), m->device);
    else
        tm_matcher_say(m, "direct on %s", m->device);
}

bool tm_matcher_wants_certified(const tm_matcher *m)
{
    const tm_settings *s = &m->settings;
    return s->strategy != TM_STRATEGY_EXHAUSTIVE &&
           (s->algorithm == TM_ALGORITHM_AUTO || s->algorithm == TM_ALGORITHM_DIRECT);
}

static void say_estimates(tm_matcher *m, const tm_estimate *estimate, bool measured)
{
    tm_matcher_say(m, "; estimates%s: direct %.3g ms", measured ? " by what was measured here" : "", estimate->direct_ms);
    if (tm_matcher_wants_certified(m) && estimate->certified_fault)
        tm_matcher_say(m, ", no certified search: %s", estimate->certified_fault);
    else if (tm_matcher_wants_certified(m) && isfinite(estimate->certified_ms))
        tm_matcher_say(m, ", certified %.3g ms", estimate->certified_ms);
    if (estimate->fault)
        tm_matcher_say(m, ", no fft: %s", estimate->fault);
    else if (estimate->tiling.length_x)
        tm_matcher_say(m, ", %s %.3g ms", estimate->tiling.by_cufft ? "cufft" : "fft",
                       estimate->fft_ms);
}

static void say_fft(tm_matcher *m, const tm_fft_tiling *t)
{
    m->algorithm = t->by_cufft ? "cufft" : "fft";
    tm_matcher_say(m, "%s on %s, %lld x %lld pairs of tiles, transforms of %d x %d", m->algorithm,
                   m->device, (long long)t->across, (long long)t->down, t->length_x, t->length_y);
}

tm_plan tm_matcher_plan_cpu(const tm_matcher *m, const tm_job *job, tm_strategy strategy)
{
    const tm_estimate_request request = {.algorithm = m->settings.algorithm,
                                         .memory = m->fft_bytes,
                                         .missed_ms = m->missed_ms,
                                         .strategy = strategy};
    tm_estimate estimate;

    if (m->settings.algorithm == TM_ALGORITHM_REFERENCE)
        return (tm_plan){.algorithm = TM_ALGORITHM_REFERENCE};
    tm_cpu_backend()->estimate(m->cpu, job, 1, &request, &estimate);
    tm_estimate_limit(&estimate, job);
    return tm_plan_choose(&estimate, m->settings.algorithm, strategy);
}

double tm_matcher_other_ms(const tm_matcher *m, const tm_estimate *estimate)
{
    return m->settings.algorithm == TM_ALGORITHM_AUTO ? fmin(estimate->direct_ms, estimate->fft_ms)
                                                      : estimate->direct_ms;
}

/* What FFT would have saved of a match that took so long, if its start had been paid for. */
static double missed_ms(const tm_plan *plan, double ms)
{
    const tm_estimate *e = &plan->estimate;
    return plan->certified ? fmax(0, e->missed_ms - fmax(0, e->direct_ms - ms)) : e->missed_ms;
}

/* By FFT only where it can run. */
static void set_plan(const tm_matcher *m, tm_job *job, const tm_plan *plan)
{
    const bool by_fft = plan->algorithm == TM_ALGORITHM_FFT && !plan->estimate.fault;

    job->tiling = by_fft ? &plan->estimate.tiling : NULL;
    job->certified = plan->certified;
    job->other_ms = tm_matcher_other_ms(m, &plan->estimate);
    job->declined = false;
    if (job->peaks && !plan->certified)
        job->peaks->cut = INT64_MIN;
}

/* Matches by the jobs' plans, and by another one where certified search does not pay. */
static tm_status match_on_cpu(tm_matcher *m, tm_job *jobs, tm_plan *plans, size_t count,
                              tm_work *work)
{
    for (size_t i = 0; i < count; i++)
        set_plan(m, &jobs[i], &plans[i]);
    tm_status status = tm_cpu_backend()->match(m->cpu, jobs, count, work, &m->message);
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        const tm_work before = *work;
        if (!jobs[i].declined)
            continue;
        plans[i] = tm_matcher_plan_cpu(m, &jobs[i], TM_STRATEGY_EXHAUSTIVE);
        plans[i].estimate.certified_fault = "too few windows would be left out";
        set_plan(m, &jobs[i], &plans[i]);
        status = tm_cpu_backend()->match(m->cpu, &jobs[i], 1, work, &m->message);
        work->times.kernel += before.times.kernel;
    }
    for (size_t i = 0; i < count; i++)
        jobs[i].tiling = NULL; /* the plans do not last */
    return status;
}

static const char *why_cpu(const tm_matcher *m)
{
    return m->settings.device == TM_DEVICE_CPU ? "as asked"
           : m->refusal.text[0]                ? m->refusal.text
                                               : "not enough work yet to start a CUDA device";
}

static void say_cpu(tm_matcher *m, const tm_job *job, const tm_plan *plan, const tm_work *work)
{
    const tm_device_traits traits = tm_cpu_backend()->traits(m->cpu);
    const tm_geometry *g = &job->geometry;

    if (plan->algorithm == TM_ALGORITHM_FFT) {
        say_fft(m, &plan->estimate.tiling);
        if (tm_job_is_f32(job))
            tm_matcher_say(m, ", %lld of %lld windows again directly",
                           (long long)work->windows_again,
                           (long long)(g->map_width * g->map_height));
    } else {
        say_direct(m, plan);
        tm_matcher_say(m, ", %s%s kernels", tm_job_is_f32(job) ? "float, " : "", traits.kernels);
    }
    tm_matcher_say(m, ", up to %d thread%s: %s", traits.threads, traits.threads == 1 ? "" : "s",
                   why_cpu(m));
    say_estimates(m, &plan->estimate, m->cpu_measured);
}

/* Whether the device does less for both jobs together than for one after the other. */
static bool go_together(const tm_job *a, const tm_plan *plan_a, const tm_job *b,
                        const tm_plan *plan_b)
{
    if (plan_a->algorithm != TM_ALGORITHM_DIRECT || plan_b->algorithm != TM_ALGORITHM_DIRECT)
        return false;
    return plan_a->certified ? plan_b->certified : tm_jobs_share_mask(a, b);
}

/* Runs the first job, with as many of the next ones as go together with it, and says how many. What it
 * took may change the plan of the job after those. */
static size_t run_cpu(tm_matcher *m, tm_job *jobs, size_t count, tm_status *status)
{
    enum { MOST = 16 };
    tm_plan plans[MOST];
    tm_work work;
    size_t taken = 1;

    plans[0] = tm_matcher_plan_cpu(m, jobs, m->settings.strategy);
    while (taken < count && taken < MOST && (plans[0].certified || tm_jobs_share_mask(jobs, &jobs[taken]))) {
        plans[taken] = tm_matcher_plan_cpu(m, &jobs[taken], m->settings.strategy);
        if (!go_together(jobs, plans, &jobs[taken], &plans[taken]))
            break;
        taken++;
    }
    snprintf(m->device, sizeof m->device, "cpu");
    m->plan[0] = '\0';
    if (plans[0].algorithm == TM_ALGORITHM_FFT && plans[0].estimate.fault) {
        *status = tm_matcher_fail(m, TM_ERR_INVALID, "no FFT: %s", plans[0].estimate.fault);
        return taken;
    }
    *status = match_on_cpu(m, jobs, plans, taken, &work);
    m->times.kernel += work.times.kernel;
    for (size_t i = 0; i < taken; i++) {
        m->certified |= plans[i].certified;
        m->scored += tm_job_scored(&jobs[i]);
        m->missed_ms += missed_ms(&plans[i], work.times.kernel / (double)taken);
    }
    const tm_plan *last = &plans[taken - 1];
    if (last->algorithm == TM_ALGORITHM_REFERENCE) {
        m->algorithm = "reference";
        tm_matcher_say(m, "reference on cpu, 1 thread: as asked");
    } else {
        say_cpu(m, &jobs[taken - 1], last, &work);
    }
    return taken;
}

/* Matches on the CPU what no device could. */
static tm_status rescue(void *context, tm_job *jobs, size_t count, tm_message *message)
{
    tm_matcher *m = context;
    tm_status status = tm_matcher_open_cpu(m);
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        jobs[i].cutter = NULL;
        tm_plan plan = tm_matcher_plan_cpu(m, &jobs[i], m->settings.strategy);
        tm_work work;
        status = match_on_cpu(m, &jobs[i], &plan, 1, &work);
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
                         .strategy = m->settings.strategy,
                         .rescue = rescue,
                         .context = m,
                         .continues = m->on_pool};

    for (size_t i = 0; i < count; i++) {
        if (jobs[i].peaks)
            jobs[i].peaks->cut = INT64_MIN;
    }
    m->on_pool = true;
    tm_pool_name(m->pool, m->device, sizeof m->device);
    m->plan[0] = '\0';
    tm_status status = tm_pool_match(m->pool, &call);
    m->scored += call.scored;
    if (call.plan.algorithm == TM_ALGORITHM_FFT) {
        say_fft(m, &call.plan.estimate.tiling);
    } else {
        say_direct(m, &call.plan);
        tm_matcher_say(m, "%s", tm_job_is_f32(jobs) ? ", float" : "");
    }
    tm_matcher_say(m, jobs->on_device ? ": the frame is there"
                      : m->settings.device == TM_DEVICE_AUTO
                          ? ": the work outweighs the device's start-up"
                          : ": as asked");
    say_estimates(m, &call.plan.estimate, m->cuda_measured);
    m->warning = call.warning;
    m->times = call.times;
    m->certified |= call.certified;
    return status == TM_OK ? TM_OK : tm_matcher_fail(m, status, "%s", call.message.text);
}

static double estimate_ms(const tm_matcher *m, const tm_job *jobs, size_t count)
{
    double ms = 0;
    for (size_t i = 0; i < count; i++)
        ms += tm_matcher_plan_cpu(m, &jobs[i], m->settings.strategy).ms;
    return ms;
}

/* What finding a cut takes at least, and how much of the time that it takes otherwise a search for the
 * best match may take where one for more is to be quicker: more windows pass then. */
#define PROBE_MS 0.3
#define MOST_OF_OTHER 0.6

bool tm_matcher_certifies(const tm_matcher *m, const tm_job *job, double *part)
{
    if (!tm_matcher_wants_certified(m))
        return false;
    const tm_plan plan = tm_matcher_plan_cpu(m, job, m->settings.strategy);
    const double other = tm_matcher_other_ms(m, &plan.estimate);
    *part = other / plan.estimate.direct_ms;
    return plan.certified && (m->settings.strategy == TM_STRATEGY_CERTIFIED ||
                              plan.ms + PROBE_MS < MOST_OF_OTHER * other);
}

tm_status tm_matcher_run_slice(tm_matcher *m, tm_job *slice)
{
    tm_work work;
    tm_plan plan = {.algorithm = TM_ALGORITHM_DIRECT};
    const tm_status status = match_on_cpu(m, slice, &plan, 1, &work);

    m->times.kernel += work.times.kernel;
    return status;
}

/* On TM_DEVICE_AUTO the CPU works until, with the next work, it would have spent about as long
 * as opening a CUDA device takes; then the device is opened, if there is one. Whatever work
 * comes, that takes at most twice as long as the better choice, as far as the estimates are
 * right. */
bool tm_matcher_turns_to_cuda(tm_matcher *m, double ms)
{
    if (!m->pool && !m->refusal.text[0] && m->cpu_ms + ms >= TM_CUDA_START_MS && tm_matcher_open_cuda(m) != TM_OK) {
        m->refusal = m->message;
        m->message.text[0] = '\0'; /* the CPU goes on: nothing has failed */
    }
    return m->pool != NULL;
}

/* The jobs are estimated only while that can still change the answer. */
bool tm_matcher_uses_cuda(tm_matcher *m, const tm_job *jobs, size_t count)
{
    const tm_settings *s = &m->settings;
    if (jobs->on_device)
        return true;
    if (s->device != TM_DEVICE_AUTO || s->algorithm == TM_ALGORITHM_REFERENCE || s->strategy == TM_STRATEGY_PYRAMID)
        return s->device == TM_DEVICE_CUDA;
    if (m->pool && tm_pool_is_inherited(m->pool)) {
        tm_pool_destroy(&m->pool);
        snprintf(m->refusal.text, sizeof m->refusal.text,
                 "the devices were opened before this process was forked");
    }
    return tm_matcher_turns_to_cuda(m, m->pool || m->refusal.text[0] ? 0 : estimate_ms(m, jobs, count));
}

tm_status tm_matcher_run(tm_matcher *m, tm_job *jobs, size_t count)
{
    if (tm_matcher_uses_cuda(m, jobs, count))
        return run_cuda(m, jobs, count);
    tm_together_note together;
    tm_status status = tm_matcher_run_together(m, jobs, count, &together);
    for (size_t i = 0; i < count && status == TM_OK;) {
        size_t end = i;
        while (end < count && !(together.done && together.done[end]))
            end++;
        i += end > i ? run_cpu(m, jobs + i, end - i, &status) : 1;
    }
    tm_matcher_say_together(m, &together);
    if (status != TM_OK)
        return status;
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
