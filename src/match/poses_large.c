/* SPDX-License-Identifier: MIT */
/* Certified search for templates so large that their posed pictures are not kept: by the CPU, which a CUDA device helps. */
#include <stdio.h>

#include "cpu/cpu.h"
#include "lcc/pose_large_device.h"
#include "match/plan.h"
#include "match/poses.h"

/* The device's part of a search. */
typedef struct device_part {
    tm_pool *pool;
    tm_message message;
    bool asked, failed;
} device_part;

static tm_status note(device_part *part, tm_status status)
{
    part->asked = true;
    part->failed = part->failed || status != TM_OK;
    return status;
}

static tm_status look(void *context, const tm_large_look *what)
{
    device_part *part = context;
    return note(part, tm_pool_look_at_large(part->pool, what, &part->message));
}

static tm_status list(void *context, tm_large_list *what)
{
    device_part *part = context;
    return note(part, tm_pool_list_large(part->pool, what, &part->message));
}

static tm_status sum(void *context, const tm_large_batch *what)
{
    device_part *part = context;
    return note(part, tm_pool_sum_large(part->pool, what, &part->message));
}

bool tm_poses_are_for_cpu(const tm_matcher *m, const tm_posed_template *t)
{
    return tm_pose_families_too_large(&t->image, &t->poses) && (!m->pool || tm_pool_looks_at_large(m->pool));
}

tm_status tm_poses_match_on_cpu(tm_matcher *m, tm_pose_search *s)
{
    const tm_pose_search asked = *s;
    device_part part = {.pool = m->pool};
    const tm_large_device device = {.context = &part, .look = look, .list = list, .sum = sum};

    tm_status status = tm_matcher_open_cpu(m);
    if (status != TM_OK)
        return status;
    s->device = m->pool && tm_pool_looks_at_large(m->pool) ? &device : NULL;
    status = tm_cpu_match_poses(m->cpu, s);
    if (part.failed) {
        snprintf(m->warning.text, sizeof m->warning.text, "%.200s: the CPU took over", part.message.text);
        *s = asked;
        status = tm_cpu_match_poses(m->cpu, s);
    }
    s->device = NULL;
    m->on_pool = status == TM_OK && part.asked && !part.failed;
    return status;
}

bool tm_poses_turn_to_cuda(tm_matcher *m, const tm_image *frame, const tm_posed_template *t)
{
    const tm_settings *s = &m->settings;
    const double ms = tm_poses_large_ms(frame, tm_matcher_threads(m));
    int indices[TM_MATCHER_DEVICES], count;

    if (s->device != TM_DEVICE_AUTO || s->device_timeout > 0 || m->pool || m->refusal.text[0] ||
        m->cpu_ms + ms < TM_CUDA_START_MS || !tm_pose_families_too_large(&t->image, &t->poses))
        return false;
    if (tm_matcher_list_cuda(m, indices, &count) == TM_OK && count > 1)
        return false;
    return tm_matcher_turns_to_cuda(m, ms);
}
