/* SPDX-License-Identifier: MIT */
#include "match/stream.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "integers.h"
#include "lcc/threads.h"

/* So many bytes of new rows are enough work for all devices and threads, and few enough that the
 * first band is read, and the last one matched, soon. */
#define BAND_BYTES ((int64_t)128 << 20)

enum { BANDS = 2 };

/* Rows [first, end) of the frame. */
typedef struct band {
    uint8_t *rows;
    bool pinned;
    int64_t first, end;
    bool full; /* read, and not yet matched */
} band;

typedef struct run {
    tm_stream *stream;
    int64_t width, height, step;
    band bands[BANDS];
    pthread_mutex_t lock;
    pthread_cond_t changed; /* with the lock: a band's full, or quit, or failed */
    bool quit, failed;
    tm_job *jobs; /* a band's; room for all */
    void *map;    /* a band's rows of the widest map */
} run;

/* How many rows of the job's map can be made of so many rows of the frame. */
static int64_t rows_done(const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    if (rows == g->frame_height)
        return g->map_height;
    return clamp(rows - g->template_height + g->pad_y + 1, 0, g->map_height);
}

/* The first row of the frame that is still needed when so many have been matched. */
static int64_t first_needed(const tm_stream *s, int64_t rows)
{
    int64_t first = rows;
    for (size_t i = 0; i < s->count; i++) {
        const int64_t top = rows_done(&s->jobs[i], rows) - s->jobs[i].geometry.pad_y;
        first = clamp(top, 0, first);
    }
    return first;
}

/* Fills the band that follows the one before. It begins with those last rows of that one which
 * are still needed. */
static bool read_band(run *r, band *b, const band *before)
{
    const tm_row_source *source = r->stream->source;
    const int64_t known = before ? before->end : 0;

    b->first = before ? first_needed(r->stream, known) : 0;
    b->end = clamp(known + r->step, 0, r->height);
    if (known > b->first)
        memcpy(b->rows, before->rows + (b->first - before->first) * r->width,
               (size_t)((known - b->first) * r->width));
    return source->read(source->context, known, b->end - known,
                        b->rows + (known - b->first) * r->width, (ptrdiff_t)r->width) == 0;
}

/* Waits until the band is full, or is not. False where it never will be. */
static bool await(run *r, const band *b, bool full)
{
    while (b->full != full && !r->quit && !r->failed)
        pthread_cond_wait(&r->changed, &r->lock);
    return b->full == full && !r->quit;
}

static void *read_bands(void *argument)
{
    run *r = argument;
    const band *before = NULL;

    pthread_mutex_lock(&r->lock);
    for (int64_t i = 0; !before || before->end < r->height; i++) {
        band *b = &r->bands[i % BANDS];
        if (!await(r, b, false))
            break;
        pthread_mutex_unlock(&r->lock);
        const bool good = read_band(r, b, before);
        pthread_mutex_lock(&r->lock);
        b->full = good;
        r->failed |= !good;
        pthread_cond_broadcast(&r->changed);
        if (!good)
            break;
        before = b;
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static bool has_sink(const tm_stream *s, size_t job)
{
    return s->sinks && s->sinks[job].write;
}

/* Makes the job for those rows of a whole job's map that the band completes; false if there are
 * none. before: rows of the frame that the bands before it had. */
static bool make_job(const run *r, const band *b, int64_t before, size_t index, tm_job *made,
                     tm_rows *rows)
{
    tm_job job = r->stream->jobs[index];
    *rows = (tm_rows){rows_done(&job, before), rows_done(&job, b->end)};
    if (rows->first == rows->end)
        return false;
    job.frame.samples = b->rows;
    job.frame.stride = (ptrdiff_t)r->width;
    *made = tm_job_rows(&job, *rows, b->first);
    made->known = &r->stream->jobs[index].best;
    if (has_sink(r->stream, index))
        made->map = (tm_map){r->map, (ptrdiff_t)(job.geometry.map_width *
                                                  (int64_t)tm_map_element_size(job.metric))};
    return true;
}

/* Matches all jobs without sinks, in one call. */
static tm_status match_bests(run *r, const band *b, int64_t before)
{
    tm_stream *s = r->stream;
    tm_rows rows;
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        count += !has_sink(s, i) && make_job(r, b, before, i, &r->jobs[count], &rows);
    tm_status status = count ? s->match(s->context, r->jobs, count) : TM_OK;
    count = 0;
    for (size_t i = 0; i < s->count && status == TM_OK; i++) {
        tm_job job;
        if (!has_sink(s, i) && make_job(r, b, before, i, &job, &rows))
            tm_job_merge(&s->jobs[i], &r->jobs[count++], rows);
    }
    return status;
}

/* Matches one job with a sink: there is room for the rows of one map. */
static tm_status match_map(run *r, const band *b, int64_t before, size_t index)
{
    tm_stream *s = r->stream;
    const tm_row_sink *sink = &s->sinks[index];
    tm_job job;
    tm_rows rows;

    if (!make_job(r, b, before, index, &job, &rows))
        return TM_OK;
    tm_status status = s->match(s->context, &job, 1);
    if (status != TM_OK)
        return status;
    tm_job_merge(&s->jobs[index], &job, rows);
    if (sink->write(sink->context, rows.first, rows.end - rows.first, r->map) == 0)
        return TM_OK;
    snprintf(s->fault, sizeof s->fault, "the score map's rows were not taken");
    return TM_ERR_ROWS;
}

static tm_status match_band(run *r, const band *b, int64_t before)
{
    tm_status status = match_bests(r, b, before);
    for (size_t i = 0; i < r->stream->count && status == TM_OK; i++) {
        if (has_sink(r->stream, i))
            status = match_map(r, b, before, i);
    }
    return status;
}

static tm_status match_bands(run *r)
{
    tm_stream *s = r->stream;
    tm_status status = TM_OK;
    int64_t done = 0;

    for (int64_t i = 0; done < r->height && status == TM_OK; i++) {
        band *b = &r->bands[i % BANDS];
        const double start = clock_ms();
        pthread_mutex_lock(&r->lock);
        const bool good = await(r, b, true);
        pthread_mutex_unlock(&r->lock);
        s->waited_ms += clock_ms() - start;
        if (!good) {
            snprintf(s->fault, sizeof s->fault, "the frame's rows were not delivered");
            return TM_ERR_ROWS;
        }
        status = match_band(r, b, done);
        done = b->end;
        s->bands++;
        pthread_mutex_lock(&r->lock);
        b->full = false;
        r->quit = status != TM_OK;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
    }
    return status;
}

/* How many new rows a band has, so that the bands and the rows of one map fill the memory. */
static tm_status plan_bands(run *r, size_t *map_bytes, int64_t *halo)
{
    tm_stream *s = r->stream;
    int64_t map_row = 0;

    *halo = 0;
    for (size_t i = 0; i < s->count; i++) {
        const tm_geometry *g = &s->jobs[i].geometry;
        if (g->template_height - 1 > *halo)
            *halo = g->template_height - 1;
        if (has_sink(s, i)) {
            const int64_t row = g->map_width * (int64_t)tm_map_element_size(s->jobs[i].metric);
            map_row = row > map_row ? row : map_row;
        }
    }
    /* the last rows of a map may need no new rows of the frame */
    const int64_t row = BANDS * r->width + map_row, fixed = *halo * row;
    if (s->memory < fixed + row) {
        snprintf(s->fault, sizeof s->fault,
                 "a band of rows takes %" PRId64 " bytes, and the limit leaves %" PRId64 " for it",
                 fixed + row, s->memory);
        s->needed = fixed + row;
        return TM_ERR_MEMORY;
    }
    r->step = (s->memory - fixed) / row;
    const int64_t enough = BAND_BYTES / r->width > 8 * *halo ? BAND_BYTES / r->width : 8 * *halo;
    r->step = clamp(r->step, 1, enough > 1 ? enough : 1);
    r->step = clamp(r->step, 1, r->height);
    s->band_rows = r->step;
    *map_bytes = (size_t)((r->step + *halo) * map_row);
    return TM_OK;
}

static tm_status allocate(run *r)
{
    tm_stream *s = r->stream;
    size_t map_bytes;
    int64_t halo;

    tm_status status = plan_bands(r, &map_bytes, &halo);
    if (status != TM_OK)
        return status;
    const size_t size = (size_t)((r->step + halo) * r->width);
    r->jobs = malloc(s->count * sizeof *r->jobs);
    r->map = malloc(map_bytes ? map_bytes : 1);
    if (!r->jobs || !r->map) {
        snprintf(s->fault, sizeof s->fault, "out of memory for %zu bytes of the score map", map_bytes);
        return TM_ERR_MEMORY;
    }
    for (int i = 0; i < BANDS && status == TM_OK; i++)
        status = s->allocate(s->context, size, &r->bands[i].rows, &r->bands[i].pinned);
    return status;
}

tm_status tm_stream_match(tm_stream *s)
{
    run r = {.stream = s, .width = s->source->width, .height = s->source->height};
    pthread_t reader;

    for (size_t i = 0; i < s->count; i++)
        s->jobs[i].best = (tm_candidate)TM_NO_CANDIDATE;
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    tm_status status = allocate(&r);
    if (status == TM_OK && pthread_create(&reader, NULL, read_bands, &r) != 0) {
        snprintf(s->fault, sizeof s->fault, TM_NO_THREAD);
        status = TM_ERR_MEMORY;
    } else if (status == TM_OK) {
        status = match_bands(&r);
        pthread_join(reader, NULL);
    }
    for (int i = 0; i < BANDS; i++) {
        if (r.bands[i].rows)
            s->release(s->context, r.bands[i].rows, r.bands[i].pinned);
    }
    free(r.jobs);
    free(r.map);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    return status;
}
