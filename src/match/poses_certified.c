/* SPDX-License-Identifier: MIT */
/* By certified search, on the CPU or a CUDA device: what the exhaustive search finds, of positions that matter. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "cpu/cpu.h"
#include "hash.h"
#include "match/poses.h"

#define TOO_MANY "too few positions would be left out"

const char *tm_poses_certified_fault(const tm_matcher *m, const tm_image *frame, const tm_posed_template *t)
{
    if (m->settings.metric != TM_METRIC_LCC)
        return "its bound is for LCC alone";
    if (t->image.type != TM_SAMPLE_U8 || t->image.channels != 1)
        return "its bound is for 8-bit gray alone";
    if (frame->mask)
        return "the frame has a mask";
    return m->pool ? tm_pool_poses_fault(m->pool, tm_poses_are_for_cpu(m, t)) : NULL;
}

/* The same picture in the same poses has the same. */
static uint64_t hash_of(const tm_posed_template *t)
{
    if (t->kept->hash)
        return t->kept->hash;
    const size_t bytes = (size_t)(tm_image_row_bytes(&t->image) * t->image.height);
    uint64_t hash = hash_bytes(0, &t->poses.angles, sizeof t->poses.angles);
    hash = hash_bytes(hash, &t->poses.scales, sizeof t->poses.scales);
    return t->kept->hash = hash_bytes(hash, t->samples, bytes);
}

tm_status tm_poses_make_families(const tm_posed_template *t, bool narrow, bool large)
{
    if (t->kept->families[narrow])
        return TM_OK;
    tm_pose_families *families = malloc(sizeof *families);
    if (!families)
        return TM_ERR_MEMORY;
    const tm_status status = tm_pose_families_make(families, &t->image, &t->poses, narrow, large, t->threads);
    if (status == TM_OK)
        t->kept->families[narrow] = families;
    else
        free(families);
    return status;
}

/* On the pool's device. */
static tm_status match_on_pool(tm_matcher *m, tm_pose_search *s)
{
    tm_message message;
    tm_work work;

    const tm_status status = tm_pool_match_poses(m->pool, s, &work, &message);
    if (status != TM_OK)
        return status;
    m->on_pool = true;
    m->times.to_device += work.times.to_device;
    m->times.kernel += work.times.kernel;
    m->times.from_device += work.times.from_device;
    if (s->declined || tm_pose_keep_peaks(s))
        return TM_OK;
    free(s->items);
    return TM_ERR_MEMORY;
}

/* Searches by families of all angles or narrow ones; *fault: why that cannot be, else NULL. */
static tm_status search_by(tm_matcher *m, const tm_posed_template *t, bool narrow, tm_pose_search *s,
                           const char **fault)
{
    const tm_status status = tm_poses_make_families(t, narrow, !m->pool || tm_pool_looks_at_large(m->pool));

    if (status != TM_OK)
        return status;
    s->families = t->kept->families[narrow];
    s->narrow = narrow;
    *fault = s->families->fault;
    if (*fault)
        return TM_OK;
    return m->pool && !s->families->large ? match_on_pool(m, s) : tm_poses_match_on_cpu(m, s);
}

static void say(tm_matcher *m, const tm_posed_template *t, const tm_pose_search *s)
{
    m->algorithm = "direct";
    m->plan[0] = '\0';
    if (m->on_pool)
        tm_pool_name(m->pool, m->device, sizeof m->device);
    else
        snprintf(m->device, sizeof m->device, "cpu");
    tm_matcher_say(m, "%zu pose%s certified (%.3g %% of positions scored exactly), direct on %s", t->count,
                   t->count == 1 ? "" : "s", 100 * tm_matcher_scored(m), m->device);
    if (m->on_pool && !s->families->large)
        return;
    if (m->on_pool)
        tm_matcher_say(m, " and cpu");
    const tm_device_traits traits = tm_cpu_backend()->traits(m->cpu);
    tm_matcher_say(m, ", %s kernels, up to %d thread%s", traits.kernels, traits.threads,
                   traits.threads == 1 ? "" : "s");
    if (m->on_pool && m->settings.device == TM_DEVICE_AUTO)
        tm_matcher_say(m, ": the work outweighs the device's start-up");
}

static double exhaustive_of(const tm_matcher *m, const tm_image *frame, const tm_posed_template *t, bool best_alone)
{
    const tm_device_traits cuda = m->pool ? tm_pool_poses_traits(m->pool) : (tm_device_traits){0};
    return tm_poses_exhaustive_ns(frame, t, m->pool ? &cuda : NULL, best_alone);
}

bool tm_poses_certify(tm_matcher *m, const tm_image *frame, const tm_posed_template *t,
                      tm_certified_poses *wanted, tm_pose_peaks *found, tm_status *status)
{
    const double start = clock_ms();

    *status = TM_OK;
    m->pose_fault = NULL;
    if (!tm_matcher_wants_certified(m))
        return false;
    m->pose_fault = tm_poses_certified_fault(m, frame, t);
    if (m->pose_fault)
        return false;
    const bool wished = m->settings.strategy == TM_STRATEGY_CERTIFIED;
    const double exhaustive_ns = exhaustive_of(m, frame, t, wanted->floor == INT64_MAX && !wished);
    if (!wished && !tm_poses_pay(frame, t, m->pool != NULL, exhaustive_ns))
        return false;
    const uint64_t hash = hash_of(t);
    if (tm_pause_skips(&m->pose_pauses, hash)) {
        m->pose_fault = TOO_MANY;
        return false;
    }
    if (tm_poses_turn_to_cuda(m, frame, t) && (m->pose_fault = tm_poses_certified_fault(m, frame, t)) != NULL)
        return false;
    tm_pose_search s = {.image = &t->image,
                        .frame = frame,
                        .domain = m->settings.domain,
                        .floor = wanted->floor,
                        .ceiling = wanted->ceiling,
                        .wanted = wanted->wanted,
                        .ratio = wanted->ratio,
                        .has_least = wanted->has_least,
                        .least = wanted->least,
                        .most = wanted->most,
                        .exhaustive_ns = exhaustive_ns};
    *status = search_by(m, t, !m->pool || tm_pose_families_too_large(&t->image, &t->poses), &s, &m->pose_fault);
    if (*status == TM_OK && m->pool && s.families->narrower && (m->pose_fault || s.narrower || s.declined)) {
        s.floor = wanted->floor;
        m->scored += s.scored;
        *status = search_by(m, t, true, &s, &m->pose_fault);
    }
    if (*status != TM_OK && m->pool && !(s.families && s.families->large)) { /* the exhaustive search after it makes that good, or fails as well */
        *status = TM_OK;
        m->pose_fault = "the CUDA device failed, or has too little memory";
        return false;
    }
    if (*status != TM_OK) {
        tm_matcher_fail_plain(m, *status);
        return true;
    }
    if (m->pose_fault)
        return false;
    tm_pause_note(&m->pose_pauses, hash, !s.declined);
    if (s.declined)
        m->pose_fault = TOO_MANY;
    if (s.declined || !s.pairs)
        return false;
    wanted->floor = s.floor;
    *found = (tm_pose_peaks){.best = s.best, .items = s.items, .count = s.count};
    m->certified = true;
    m->windows = s.pairs; /* of each pass the same */
    m->scored += s.scored;
    if (!m->pool || s.families->large) /* a device alone says how long it took */
        m->times.kernel += clock_ms() - start;
    if (!m->on_pool && s.families->large)
        m->cpu_ms += clock_ms() - start;
    say(m, t, &s);
    return true;
}
