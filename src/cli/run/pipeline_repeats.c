/* SPDX-License-Identifier: MIT */
#include "run/pipeline_repeats.h"

#include <stdlib.h>
#include <string.h>

/* All of a result but whose it is and what it took. False if memory ran out. */
static bool copy_pair(cli_pair *to, const cli_pair *from)
{
    const cli_result own = to->result;
    cli_result *r = &to->result;
    cli_match *matches = own.matches;

    if (from->result.match_count > own.match_capacity) {
        matches = realloc(own.matches, from->result.match_count * sizeof *matches);
        if (!matches)
            return false;
    }
    *r = from->result;
    r->frame = own.frame;
    r->tmpl = own.tmpl;
    r->index = own.index;
    r->timed = own.timed;
    r->time = own.time;
    r->read_ms = own.read_ms;
    r->times = (tm_times){0};
    r->matches = matches;
    r->match_capacity = from->result.match_count > own.match_capacity ? from->result.match_count : own.match_capacity;
    if (r->match_count > 0)
        memcpy(matches, from->result.matches, r->match_count * sizeof *matches);
    to->lasting = from->lasting;
    to->searched = from->searched;
    to->search = from->search;
    return true;
}

static bool take_results(cli_job *job, const cli_job *before, const cli_plan *plan)
{
    if (!before->repeatable || !job->loaded)
        return false;
    for (size_t i = 0; i < plan->templates->count; i++)
        if (!copy_pair(&job->pairs[i], &before->pairs[i]))
            return false;
    for (size_t i = 0; i < plan->templates->count; i++)
        job->pairs[i].done = true;
    job->repeatable = true;
    return true;
}

static void hand_on(cli_pipeline *p, cli_job *job)
{
    p->matched++;
    pipeline_push(&p->to_write, p->window, job);
    pthread_cond_signal(&p->work);
}

cli_job *pipeline_settle(cli_pipeline *p, cli_job *job)
{
    cli_job *next;

    job->settled = true;
    while ((next = job->follower)) {
        job->follower = NULL;
        p->waiting--;
        if (!take_results(next, job, p->s.plan))
            return next;
        next->settled = true;
        hand_on(p, next);
        job = next;
    }
    return NULL;
}

cli_job *pipeline_repeat(cli_pipeline *p, cli_job *job)
{
    cli_job *before = job == p->jobs ? &p->jobs[p->window - 1] : job - 1;

    /* The job of the frame before may be another frame's by now. */
    if (!job->loaded || !job->frame.part || !job->frame.part->repeats || before->serial + 1 != job->serial)
        return job;
    if (!before->settled) {
        before->follower = job;
        p->waiting++;
        pthread_cond_signal(&p->work); /* another one may be read meanwhile */
        return NULL;
    }
    if (!take_results(job, before, p->s.plan))
        return job;
    hand_on(p, job);
    return pipeline_settle(p, job);
}
