/* SPDX-License-Identifier: MIT */
/* The public API: frames that come by rows. */
#include <stdlib.h>

#include "clock.h"
#include "integers.h"
#include "match/forked.h"
#include "match/matcher.h"
#include "match/stream.h"

/* Pinned memory where there are CUDA devices: they copy from it directly. */
static tm_status allocate_band(void *context, size_t size, uint8_t **memory, bool *pinned)
{
    tm_matcher *m = context;
    void *made = NULL;
    const tm_status status = m->pool ? tm_pool_host_alloc(m->pool, size, &made, &m->message) : TM_OK;
    if (status != TM_OK)
        return status;
    *pinned = made != NULL;
    *memory = made ? made : malloc(size);
    return *memory ? TM_OK : tm_matcher_fail(m, TM_ERR_MEMORY, "out of memory for bands of %zu bytes", size);
}

static void release_band(void *context, uint8_t *memory, bool pinned)
{
    tm_matcher *m = context;
    if (pinned)
        tm_pool_host_free(m->pool, memory);
    else
        free(memory);
}

static tm_status match_band(void *context, tm_job *jobs, size_t count)
{
    return tm_matcher_run_more(context, jobs, count);
}

/* A quarter of the limit is for FFT's tiles, an eighth for the spectra of templates. */
static int64_t for_bands(int64_t limit)
{
    return limit / 8 * 5;
}

/* The least limit that leaves so much. */
static int64_t limit_for(int64_t bands)
{
    return ceil_div(bands, 5) * 8;
}

/* What the stream says, and what would do. */
static tm_status fail(tm_matcher *m, tm_status status, const tm_stream *stream)
{
    if (stream->needed)
        return tm_matcher_fail(m, status, "%s; %lld bytes for each frame in memory would do", stream->fault,
                               (long long)limit_for(stream->needed));
    return stream->fault[0] ? tm_matcher_fail(m, status, "%s", stream->fault) : status;
}

static tm_status match_rows(tm_matcher *m, tm_stream *stream)
{
    const int64_t memory = m->settings.host_memory ? m->settings.host_memory : TM_STREAM_MEMORY;

    for (size_t i = 0; i < stream->count; i++) {
        if (!tm_job_is_plain(&stream->jobs[i]))
            return tm_matcher_fail(m, TM_ERR_INVALID,
                                   "templates for a frame that comes by rows must be 8-bit gray "
                                   "without a mask, and the metric must be lcc or ccorr");
    }
    m->fft_bytes = memory / 4;
    stream->memory = for_bands(memory);
    tm_status status = tm_stream_match(stream);
    if (status != TM_OK)
        return fail(m, status, stream);
    tm_matcher_say(m, "; in %lld band%s of %lld row%s, %.0f ms waited for rows",
                   (long long)stream->bands, stream->bands == 1 ? "" : "s", (long long)stream->band_rows,
                   stream->band_rows == 1 ? "" : "s", stream->waited_ms);
    return TM_OK;
}

typedef struct rows_call {
    tm_matcher *matcher;
    const tm_row_source *frame;
    const tm_template *const *tmpls;
    size_t count;
    tm_peak *best;
    const tm_row_sink *maps;
} rows_call;

static tm_status match_all_rows(void *context)
{
    const rows_call *c = context;
    tm_matcher *matcher = c->matcher;
    const tm_row_source *frame = c->frame;
    const size_t count = c->count;
    const double start = clock_ms();

    /* no row has been read yet; what is not NULL passes the check */
    const tm_image image = {.samples = (const uint8_t *)"",
                            .width = frame->width,
                            .height = frame->height,
                            .stride = (ptrdiff_t)frame->width};
    tm_job *jobs;
    tm_status status = tm_matcher_prepare(matcher, &image, c->tmpls, count, NULL, &jobs);
    if (status != TM_OK)
        return status;
    tm_stream stream = {.source = frame,
                        .sinks = c->maps,
                        .jobs = jobs,
                        .count = count,
                        .allocate = allocate_band,
                        .release = release_band,
                        .match = match_band,
                        .context = matcher};
    status = match_rows(matcher, &stream);
    for (size_t i = 0; i < count && status == TM_OK; i++)
        c->best[i] = tm_peak_of_job(&jobs[i]);
    matcher->times.total = clock_ms() - start;
    return status;
}

tm_status tm_match_rows(tm_matcher *matcher, const tm_row_source *frame,
                        const tm_template *const *tmpls, size_t count, tm_peak *best,
                        const tm_row_sink *maps)
{
    if (!matcher)
        return TM_ERR_INVALID;
    if (!best || !frame || !frame->read)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    rows_call c = {matcher, frame, tmpls, count, best, maps};
    return tm_run_forked(matcher, match_all_rows, &c);
}
