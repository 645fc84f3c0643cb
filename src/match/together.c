/* SPDX-License-Identifier: MIT */
/* Many templates of one size on the CPU: matched together where they are nearly sums of a few others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "cpu/cpu.h"
#include "match/matcher.h"

/* A search for all that reaches a score leaves few windows out: it mostly takes so much of the time of an exhaustive
 * one. */
#define PEAKS_SHARE 0.75

/* Jobs of one size, and where they are in the call. */
typedef struct set {
    tm_job **jobs;
    size_t *indices, count;
    double *other_ms;
} set;

static bool is_eligible(const tm_job *job)
{
    return !tm_certified_fault(job) && job->first_row == 0 && job->last_row == job->geometry.map_height;
}

static bool goes_with(const tm_job *job, const tm_job *first)
{
    return job->tmpl->width == first->tmpl->width && job->tmpl->height == first->tmpl->height &&
           !job->peaks == !first->peaks && is_eligible(job);
}

static bool open_set(set *s, size_t count)
{
    s->jobs = malloc(count * sizeof *s->jobs);
    s->indices = malloc(count * sizeof *s->indices);
    s->other_ms = malloc(count * sizeof *s->other_ms);
    return s->jobs && s->indices && s->other_ms;
}

static void close_set(set *s)
{
    free(s->jobs);
    free(s->indices);
    free(s->other_ms);
}

/* Plans the set's jobs each by itself; false where one cannot leave windows out. */
static bool plan_set(const tm_matcher *m, const set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const tm_plan plan = tm_matcher_plan_cpu(m, s->jobs[i], m->settings.strategy);
        if (plan.estimate.certified_fault)
            return false;
        s->jobs[i]->other_ms = tm_matcher_other_ms(m, &plan.estimate);
        s->other_ms[i] = s->jobs[i]->peaks ? fmax(plan.ms, PEAKS_SHARE * s->jobs[i]->other_ms) : plan.ms;
    }
    return true;
}

static tm_status run_set(tm_matcher *m, const set *s, tm_together_note *note)
{
    tm_cpu_together call = {.jobs = s->jobs, .other_ms = s->other_ms, .count = s->count, .known = note->known + note->used};

    const double start = clock_ms();

    note->used += s->count;
    if (!plan_set(m, s))
        return TM_OK;
    const tm_status status = tm_cpu_match_templates(m->cpu, &call);
    m->times.kernel += clock_ms() - start;
    for (size_t i = 0; i < s->count && status == TM_OK; i++) {
        tm_job *job = s->jobs[i];
        if (job->declined)
            continue;
        job->certified = m->certified = true;
        job->tiling = NULL;
        m->scored += job->scored;
        note->scored += (double)job->scored / (double)(job->geometry.map_width * job->geometry.map_height);
        note->done[s->indices[i]] = true;
        note->basis = call.basis;
        note->count++;
    }
    return status == TM_OK ? TM_OK : tm_matcher_fail_plain(m, status);
}

/* Collects the jobs that go with the first one. */
static void collect(set *s, tm_job *jobs, size_t count, size_t first, const bool *seen)
{
    s->count = 0;
    for (size_t i = first; i < count; i++) {
        if (seen[i] || !goes_with(&jobs[i], &jobs[first]))
            continue;
        s->jobs[s->count] = &jobs[i];
        s->indices[s->count++] = i;
    }
}

tm_status tm_matcher_run_together(tm_matcher *m, tm_job *jobs, size_t count, tm_together_note *note)
{
    tm_status status = TM_OK;
    set s = {.count = 0};

    *note = (tm_together_note){.jobs = jobs, .all = count};
    if (count < TM_TOGETHER_LEAST || !tm_matcher_wants_certified(m))
        return TM_OK;
    bool *seen = calloc(count, sizeof *seen);
    note->done = calloc(count, sizeof *note->done);
    note->known = malloc(count * sizeof *note->known);
    if (!seen || !note->done || !note->known || !open_set(&s, count))
        status = tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    for (size_t i = 0; i + TM_TOGETHER_LEAST <= count && status == TM_OK; i++) {
        if (seen[i] || !is_eligible(&jobs[i]))
            continue;
        collect(&s, jobs, count, i, seen);
        for (size_t k = 0; k < s.count; k++)
            seen[s.indices[k]] = true;
        if (s.count >= TM_TOGETHER_LEAST)
            status = run_set(m, &s, note);
    }
    close_set(&s);
    free(seen);
    return status;
}

void tm_matcher_say_together(tm_matcher *m, tm_together_note *note)
{
    const size_t count = note->count;
    char others[sizeof m->plan];
    bool some = false;

    for (size_t i = 0; note->done && i < note->all; i++) {
        tm_job *job = &note->jobs[i];
        some |= !note->done[i];
        if (note->known && job->known >= note->known && job->known < note->known + note->all)
            job->known = NULL;
    }
    free(note->done);
    free(note->known);
    if (!count)
        return;
    const tm_device_traits traits = tm_cpu_backend()->traits(m->cpu);
    snprintf(m->device, sizeof m->device, "cpu");
    m->algorithm = "direct";
    snprintf(others, sizeof others, "%s", some ? m->plan : "");
    m->plan[0] = '\0';
    tm_matcher_say(m, "%zu templates together by a basis of %d, certified (%.3g %% of windows scored exactly), "
                      "direct on %s, %s kernels, up to %d thread%s",
                   count, note->basis, 100 * note->scored / (double)count, m->device, traits.kernels, traits.threads,
                   traits.threads == 1 ? "" : "s");
    if (others[0])
        tm_matcher_say(m, "; others: %s", others);
}
