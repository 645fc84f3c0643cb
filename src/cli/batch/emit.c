/* SPDX-License-Identifier: MIT */
#include "batch/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "message.h"

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

bool emitter_begin(cli_emitter *e, const cli_plan *plan)
{
    *e = (cli_emitter){.plan = plan, .start_ms = now_ms()};
    return report_begin(&e->report, plan->options, plan->templates->count > 1, stdout);
}

static bool emit_pair(cli_emitter *e, const cli_pair *pair)
{
    if (!pair->done)
        return report_failure(&e->report, pair->result.frame, pair->result.tmpl,
                              pair->error.reason);
    e->matches += (int64_t)pair->result.match_count;
    e->pairs_without += pair->result.match_count == 0;
    return report_result(&e->report, &pair->result);
}

bool emitter_take(void *data, cli_job *job)
{
    cli_emitter *e = data;
    bool broken = false, printed = true;

    if (fflush(job->messages) == 0)
        fwrite(job->text, 1, job->text_size, stderr);
    for (size_t i = 0; i < e->plan->templates->count && printed; i++) {
        broken |= !job->pairs[i].done;
        printed = emit_pair(e, &job->pairs[i]);
    }
    e->failed |= broken || job->failed;
    e->frames++;
    e->broken_frames += broken;
    e->bytes += job->bytes;
    return printed;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

void emitter_summarize(const cli_emitter *e)
{
    const double seconds = (now_ms() - e->start_ms) * 1e-3;
    message(NULL,
            "%" PRId64 " frame%s: %" PRId64 " match%s, %" PRId64 " without a match, %" PRId64
            " failed; %.2f s, %.1f frames/s, %.1f MB/s",
            e->frames, plural(e->frames), e->matches, e->matches == 1 ? "" : "es",
            e->pairs_without, e->broken_frames, seconds, (double)e->frames / seconds,
            (double)e->bytes * 1e-6 / seconds);
}
