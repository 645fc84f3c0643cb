/* SPDX-License-Identifier: MIT */
/* The public API: matchers, and what runs a match. */
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fft/cpu.h"
#include "lcc/cpu/direct.h"
#include "lcc/cpu/real.h"
#include "match/cuda_loader.h"
#include "match/parts.h"
#include "match/plan.h"
#include "match/pool.h"
#include "match/search.h"
#include "match/settings.h"
#include "match/stream.h"

struct tm_matcher {
    tm_settings settings;
    tm_message message;
    tm_message warning; /* of the last match */
    tm_cpu cpu;         /* without threads: not initialised */
    tm_fft_cpu *fft;    /* NULL until needed */
    tm_parts_memory parts;
    tm_cuda_library library;
    tm_pool *pool;      /* NULL until opened */
    bool on_pool;       /* the last match, so far */
    bool pinned_bands;  /* its memory */
    tm_message refusal; /* why AUTO has no device; "" while it has not looked */
    tm_job *jobs;       /* of the running call */
    size_t job_capacity;
    double cpu_ms;      /* spent so far */
    double missed_ms;   /* what FFT would have saved, had it been started */
    int64_t fft_bytes;  /* that it may use on the CPU; 0: no limit */
    tm_times times;
    char device[160];
    const char *algorithm;
    char plan[512];
};

/* Records a failure on the handle. */
__attribute__((format(printf, 3, 4))) static tm_status
fail(tm_matcher *matcher, tm_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(matcher->message.text, sizeof matcher->message.text, format, arguments);
    va_end(arguments);
    return status;
}

static tm_status fail_plain(tm_matcher *matcher, tm_status status)
{
    return fail(matcher, status, "%s", tm_strerror(status));
}

static tm_status open_cpu(tm_matcher *m)
{
    int threads = m->settings.threads ? m->settings.threads : omp_get_num_procs();
    if (m->cpu.threads)
        return TM_OK;
    tm_status status = tm_cpu_init(&m->cpu, threads, m->settings.cpu_features);
    return status == TM_OK ? TM_OK : fail_plain(m, status);
}

static tm_status open_cuda(tm_matcher *m)
{
    const uint64_t mask = m->settings.device_mask;
    int indices[64], listed = 0;

    tm_status status = tm_cuda_load(&m->library, &m->message);
    if (status != TM_OK)
        return status;
    int count = m->library.plugin->count(&m->message);
    if (count == 0)
        return TM_ERR_NO_DEVICE;
    for (int i = 0; i < 64; i++) {
        if (mask == TM_ALL_DEVICES ? i < count : mask >> i & 1)
            indices[listed++] = i;
    }
    if (!listed)
        indices[listed++] = m->settings.device_index;
    if (indices[listed - 1] >= count)
        return fail(m, TM_ERR_NO_DEVICE, "there is no device cuda:%d, only %d CUDA device%s",
                    indices[listed - 1], count, count == 1 ? "" : "s");
    const tm_pool_settings pool = {indices, listed, m->settings.device_memory, TM_POOL_LEAST_MS};
    return tm_pool_create(&m->pool, m->library.plugin, &pool, &m->message);
}

tm_status tm_matcher_create(tm_matcher **matcher, const tm_settings *settings)
{
    if (!matcher)
        return TM_ERR_INVALID;
    tm_matcher *m = *matcher = calloc(1, sizeof **matcher);
    if (!m)
        return TM_ERR_MEMORY;
    m->algorithm = "";
    if (!settings || settings->size < sizeof settings->size)
        return fail(m, TM_ERR_INVALID, "the settings lack their size");

    /* A caller built against an older header has a shorter struct. */
    tm_settings_default(&m->settings, sizeof m->settings);
    size_t known = settings->size < sizeof m->settings ? settings->size : sizeof m->settings;
    memcpy(&m->settings, settings, known);
    const char *fault = tm_settings_fault(&m->settings);
    if (fault)
        return fail(m, TM_ERR_INVALID, "%s", fault);

    m->fft_bytes = m->settings.host_memory / 4;
    return m->settings.device == TM_DEVICE_CUDA ? open_cuda(m) : open_cpu(m);
}

void tm_matcher_destroy(tm_matcher **matcher)
{
    if (!matcher || !*matcher)
        return;
    tm_matcher *m = *matcher;
    tm_cpu_free(&m->cpu);
    tm_parts_free(&m->parts);
#if TM_HAVE_FFTW
    tm_fft_cpu_destroy(&m->fft);
#endif
    tm_pool_destroy(&m->pool);
    tm_cuda_unload(&m->library);
    free(m->jobs);
    free(m);
    *matcher = NULL;
}

const char *tm_matcher_message(const tm_matcher *matcher)
{
    return matcher ? matcher->message.text : tm_strerror(TM_ERR_MEMORY);
}

tm_status tm_host_alloc(tm_matcher *matcher, size_t size, tm_host_memory *memory)
{
    tm_host_memory made = {.size = size};

    if (!matcher)
        return TM_ERR_INVALID;
    if (!memory || !size)
        return fail_plain(matcher, TM_ERR_INVALID);
    if (matcher->pool &&
        tm_pool_host_alloc(matcher->pool, size, &made.data, &matcher->message) != TM_OK)
        return TM_ERR_MEMORY;
    made.pinned = made.data != NULL;
    if (!made.data && !(made.data = malloc(size)))
        return fail_plain(matcher, TM_ERR_MEMORY);
    *memory = made;
    return TM_OK;
}

void tm_host_free(tm_matcher *matcher, tm_host_memory *memory)
{
    if (!matcher || !memory)
        return;
    if (memory->pinned)
        matcher->library.plugin->host_free(memory->data);
    else
        free(memory->data);
    *memory = (tm_host_memory){0};
}

/* Whether the metric has nothing to compare. */
static bool is_flat(const tm_template *t, tm_metric metric)
{
    return t->count == 0 || (t->flat && tm_needs_s_f(metric));
}

/* Values that the scores of floats are not defined for. */
static tm_status check_finite(tm_matcher *m, const tm_image *image, const char *name)
{
    int64_t x, y;
    float sample;
    if (image->type != TM_SAMPLE_F32 || !tm_real_find_bad(image, &x, &y, &sample))
        return TM_OK;
    return fail(m, TM_ERR_INVALID, "the %s has the sample %s at x=%lld y=%lld, and only finite "
                "ones have a score", name, isnan(sample) ? "nan" : sample > 0 ? "inf" : "-inf",
                (long long)x, (long long)y);
}

tm_status tm_template_create(tm_template **tmpl, tm_matcher *matcher, const tm_image *image)
{
    if (!tmpl || !matcher)
        return TM_ERR_INVALID;
    const char *fault = tm_image_fault(image);
    if (fault)
        return fail(matcher, TM_ERR_INVALID, "%s", fault);
    if (image->width * image->height > TM_MAX_TEMPLATE_PIXELS)
        return fail(matcher, TM_ERR_TEMPLATE_TOO_LARGE,
                    "the template has %lld x %lld pixels, and exact 64-bit sums allow %lld in all",
                    (long long)image->width, (long long)image->height,
                    (long long)TM_MAX_TEMPLATE_PIXELS);

    tm_template *t;
    tm_status status = check_finite(matcher, image, "template");
    if (status != TM_OK)
        return status;
    status = tm_template_prepare(&t, image);
    if (status == TM_OK && is_flat(t, matcher->settings.metric)) {
        tm_template_destroy(&t);
        status = TM_ERR_FLAT_TEMPLATE;
    }
    if (status != TM_OK)
        return fail_plain(matcher, status);
    *tmpl = t;
    return TM_OK;
}

/* Appends to the sentence about what was chosen. */
__attribute__((format(printf, 2, 3))) static void say(tm_matcher *m, const char *format, ...)
{
    size_t used = strlen(m->plan);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->plan + used, sizeof m->plan - used, format, arguments);
    va_end(arguments);
}

static void say_estimates(tm_matcher *m, const tm_plan *plan)
{
    if (isnan(plan->direct_ms)) /* floats: there is nothing to choose */
        return;
    say(m, "; estimates: direct %.3g ms", plan->direct_ms);
    if (plan->fault)
        say(m, ", no fft: %s", plan->fault);
    else if (plan->tiling.length_x)
        say(m, ", fft %.3g ms", plan->fft_ms);
}

static void say_fft(tm_matcher *m, const tm_fft_tiling *t)
{
    m->algorithm = "fft";
    say(m, "fft on %s, %lld x %lld pairs of tiles, transforms of %d x %d", m->device,
        (long long)t->across, (long long)t->down, t->length_x, t->length_y);
}

/* A job that it takes by the planned algorithm. */
typedef struct plain_run {
    tm_matcher *matcher;
    const tm_plan *plan;
} plain_run;

static tm_status run_plain(void *context, tm_job *job)
{
    const plain_run *run = context;
    tm_matcher *m = run->matcher;

    if (run->plan->algorithm != TM_ALGORITHM_FFT)
        return tm_cpu_match(&m->cpu, job);
#if TM_HAVE_FFTW
    tm_status status = m->fft ? TM_OK : tm_fft_cpu_create(&m->fft, m->cpu.threads);
    if (status == TM_OK)
        status = tm_fft_cpu_match(m->fft, job, &run->plan->tiling);
    return status;
#else
    return TM_ERR_INVALID;
#endif
}

static tm_status run_job(tm_matcher *m, tm_job *job, const tm_plan *plan)
{
    plain_run run = {m, plan};
    if (tm_job_is_real(job))
        return tm_real_match(m->cpu.kernels.real, job, m->cpu.threads);
    if (tm_job_is_plain(job) ||
        (plan->algorithm != TM_ALGORITHM_FFT && tm_cpu_takes(job)))
        return run_plain(&run, job);
    return tm_parts_match(&m->parts, job, m->cpu.threads, run_plain, &run);
}

static tm_status run_cpu(tm_matcher *m, tm_job *job, const tm_plan *plan)
{
    double start = clock_ms();
    tm_status status = TM_OK;

    snprintf(m->device, sizeof m->device, "cpu");
    m->plan[0] = '\0';
    if (m->settings.algorithm == TM_ALGORITHM_REFERENCE) {
        m->algorithm = "reference";
        say(m, "reference on cpu, 1 thread: as asked");
        status = tm_reference_match(job);
        if (status != TM_OK)
            return fail_plain(m, status);
    } else if (plan->algorithm == TM_ALGORITHM_FFT && plan->fault) {
        return fail(m, TM_ERR_INVALID, "no FFT: %s", plan->fault);
    } else {
        const char *why = m->settings.device == TM_DEVICE_CPU ? "as asked"
                          : tm_job_is_real(job) ? "floats are matched on the CPU"
                          : m->refusal.text[0]                ? m->refusal.text
                          : "not enough work yet to start a CUDA device";
        if (plan->algorithm == TM_ALGORITHM_FFT) {
            say_fft(m, &plan->tiling);
        } else {
            m->algorithm = "direct";
            say(m, "direct on cpu, %s%s kernels", tm_job_is_real(job) ? "float, " : "",
                m->cpu.kernels.name);
        }
        status = run_job(m, job, plan);
        say(m, ", up to %d thread%s: %s", m->cpu.threads, m->cpu.threads == 1 ? "" : "s", why);
        say_estimates(m, plan);
        if (status != TM_OK)
            return fail_plain(m, status);
    }
    m->times.kernel += clock_ms() - start;
    return status;
}

static tm_plan plan_cpu(const tm_matcher *m, const tm_job *job)
{
    tm_plan plan = {0};
    tm_site site = {.kernels = m->cpu.kernels.name,
                    .threads = m->cpu.threads,
                    .started = m->fft != NULL,
                    .missed_ms = m->missed_ms,
                    .fft_bytes = m->fft_bytes};
    if (tm_job_is_real(job))
        return (tm_plan){.algorithm = m->settings.algorithm == TM_ALGORITHM_FFT
                                          ? TM_ALGORITHM_FFT
                                          : TM_ALGORITHM_DIRECT,
                         .direct_ms = NAN,
                         .fault = "float samples are matched directly"};
    if (m->settings.algorithm != TM_ALGORITHM_REFERENCE)
        tm_plan_make(&plan, &site, job, m->settings.algorithm);
    return plan;
}

/* What no device could do. */
static tm_status rescue(void *context, tm_job *jobs, size_t count, tm_message *message)
{
    tm_matcher *m = context;
    tm_status status = open_cpu(m);
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        const tm_plan plan = plan_cpu(m, &jobs[i]);
        status = run_job(m, &jobs[i], &plan);
    }
    if (status != TM_OK)
        snprintf(message->text, sizeof message->text, "%s", tm_strerror(status));
    return status;
}

static tm_status run_cuda(tm_matcher *m, size_t count)
{
    tm_pool_call call = {.jobs = m->jobs,
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
        say(m, "direct on %s", m->device);
    }
    say(m, m->settings.device == TM_DEVICE_AUTO ? ": the work outweighs the device's start-up"
                                                : ": as asked");
    say_estimates(m, &call.plan);
    m->warning = call.warning;
    m->times = call.times;
    return status == TM_OK ? TM_OK : fail(m, status, "%s", call.message.text);
}

static double estimate_ms(const tm_matcher *m, size_t count)
{
    double ms = 0;
    for (size_t i = 0; i < count; i++)
        ms += plan_cpu(m, &m->jobs[i]).ms;
    return ms;
}

/* On TM_DEVICE_AUTO the CPU works until, with the next jobs, it would have spent
 * about as long as opening a CUDA device takes; then the device is opened if there
 * is one. Whatever comes, that costs at most twice the better choice, as far as the
 * estimates are right. The jobs are planned for it only while that can still change
 * the answer. */
static bool use_cuda(tm_matcher *m, size_t count)
{
    const tm_settings *s = &m->settings;
    if (tm_job_is_real(m->jobs)) /* as all of them are then */
        return false;
    if (s->device != TM_DEVICE_AUTO || s->algorithm == TM_ALGORITHM_REFERENCE)
        return s->device == TM_DEVICE_CUDA;
    if (!m->pool && !m->refusal.text[0] &&
        m->cpu_ms + estimate_ms(m, count) >= tm_plan_cuda_start_ms() &&
        open_cuda(m) != TM_OK) {
        m->refusal = m->message;
        m->message.text[0] = '\0'; /* the CPU goes on: nothing has failed */
    }
    return m->pool != NULL;
}

static tm_status run(tm_matcher *m, size_t count)
{
    if (use_cuda(m, count))
        return run_cuda(m, count);
    for (size_t i = 0; i < count; i++) {
        tm_plan plan = plan_cpu(m, &m->jobs[i]);
        m->missed_ms += plan.missed_ms;
        tm_status status = run_cpu(m, &m->jobs[i], &plan);
        if (status != TM_OK)
            return status;
    }
    m->cpu_ms += m->times.kernel;
    return TM_OK;
}

/* More of the same match: its times and its warning go on. */
static tm_status run_more(tm_matcher *m, size_t count)
{
    const tm_times before = m->times;
    const tm_message warning = m->warning;

    m->times = (tm_times){0};
    tm_status status = run(m, count);
    m->times.to_device += before.to_device;
    m->times.kernel += before.kernel;
    m->times.from_device += before.from_device;
    if (!m->warning.text[0])
        m->warning = warning;
    return status;
}

static const char *type_name(tm_sample_type type)
{
    return type == TM_SAMPLE_F32 ? "float" : type == TM_SAMPLE_U16 ? "16-bit" : "8-bit";
}

static tm_metric job_metric(tm_metric metric, const tm_template *tmpl)
{
    if (tmpl->real && metric == TM_METRIC_CCORR)
        return TM_METRIC_CCORR_REAL;
    return tmpl->real && metric == TM_METRIC_SQDIFF ? TM_METRIC_SQDIFF_REAL : metric;
}

static tm_status prepare_job(tm_matcher *m, tm_job *job, const tm_image *frame,
                             const tm_template *tmpl, const tm_map *map)
{
    if (!tmpl)
        return fail_plain(m, TM_ERR_INVALID);
    if (is_flat(tmpl, m->settings.metric))
        return fail_plain(m, TM_ERR_FLAT_TEMPLATE);
    if (frame->type != tmpl->type || tm_image_channels(frame) != tmpl->channels)
        return fail(m, TM_ERR_INVALID,
                    "the frame has %s samples and %d channel%s, the template %s and %d",
                    type_name(frame->type), tm_image_channels(frame),
                    tm_image_channels(frame) == 1 ? "" : "s", type_name(tmpl->type),
                    tmpl->channels);
    if (tmpl->real && m->settings.device == TM_DEVICE_CUDA)
        return fail(m, TM_ERR_INVALID, "float samples are matched on the CPU only");
    *job = (tm_job){.metric = job_metric(m->settings.metric, tmpl), .frame = *frame, .tmpl = tmpl};
    if (map)
        job->map = *map;
    tm_status status = tm_geometry_init(&job->geometry, m->settings.domain, frame->width,
                                        frame->height, tmpl->width, tmpl->height);
    job->last_row = job->geometry.map_height;
    if (status != TM_OK)
        return fail(m, status, "the template, %lld x %lld, is larger than the frame, %lld x %lld",
                    (long long)tmpl->width, (long long)tmpl->height, (long long)frame->width,
                    (long long)frame->height);
    return TM_OK;
}

static tm_peak peak_of(const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    return (tm_peak){.x = job->best.position % g->map_width - g->pad_x,
                     .y = job->best.position / g->map_width - g->pad_y,
                     .score = tm_score_of_rank(job->metric, job->best.value)};
}

static tm_status prepare(tm_matcher *matcher, const tm_image *frame,
                         const tm_template *const *tmpls, size_t count, const tm_map *maps)
{
    if (!tmpls || count == 0 || count > SIZE_MAX / sizeof *matcher->jobs)
        return fail_plain(matcher, TM_ERR_INVALID);
    const char *fault = tm_image_fault(frame);
    if (fault)
        return fail(matcher, TM_ERR_INVALID, "%s", fault);
    if (check_finite(matcher, frame, "frame") != TM_OK)
        return TM_ERR_INVALID;
    if (matcher->job_capacity < count) {
        tm_job *jobs = realloc(matcher->jobs, count * sizeof *jobs);
        if (!jobs)
            return fail_plain(matcher, TM_ERR_MEMORY);
        matcher->jobs = jobs;
        matcher->job_capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        tm_status status =
            prepare_job(matcher, &matcher->jobs[i], frame, tmpls[i], maps ? &maps[i] : NULL);
        if (status != TM_OK)
            return status;
    }

    matcher->times = (tm_times){0};
    matcher->warning.text[0] = '\0';
    matcher->on_pool = false;
    return TM_OK;
}

tm_status tm_match_many(tm_matcher *matcher, const tm_image *frame,
                        const tm_template *const *tmpls, size_t count, tm_peak *best,
                        const tm_map *maps)
{
    const double start = clock_ms();

    if (!matcher)
        return TM_ERR_INVALID;
    if (!best)
        return fail_plain(matcher, TM_ERR_INVALID);
    tm_status status = prepare(matcher, frame, tmpls, count, maps);
    if (status == TM_OK)
        status = run(matcher, count);
    if (status != TM_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (matcher->jobs[i].best.position == INT64_MAX)
            return fail_plain(matcher, TM_ERR_NO_POSITION);
        best[i] = peak_of(&matcher->jobs[i]);
    }
    matcher->times.total = clock_ms() - start;
    return TM_OK;
}

/* Runs a job of the last call again, without its map, for more peaks. */
static tm_status run_again(tm_matcher *m, size_t index)
{
    tm_job first = m->jobs[0];
    m->jobs[0] = m->jobs[index];
    m->jobs[0].map.data = NULL;
    tm_status status = run_more(m, 1);
    m->jobs[index] = m->jobs[0];
    if (index != 0)
        m->jobs[0] = first;
    return status;
}

static tm_status take_hits(tm_matcher *m, const tm_search *search, size_t count, tm_hits *hits)
{
    const int threads = m->settings.threads ? m->settings.threads : omp_get_num_procs();
    for (size_t i = 0; i < count; i++) {
        bool enough = false;
        if (m->jobs[i].best.position == INT64_MAX)
            return fail_plain(m, TM_ERR_NO_POSITION);
        while (!enough) {
            tm_status status = tm_search_take(&hits[i], search, &m->jobs[i], threads, &enough);
            if (status != TM_OK)
                return fail_plain(m, status);
            if (!enough && (status = run_again(m, i)) != TM_OK)
                return status;
        }
    }
    return TM_OK;
}

tm_status tm_match_peaks(tm_matcher *matcher, const tm_image *frame,
                         const tm_template *const *tmpls, size_t count, const tm_search *search,
                         tm_hits *hits, const tm_map *maps)
{
    const double start = clock_ms();
    tm_search own;

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits || !search || search->size < sizeof search->size)
        return fail_plain(matcher, TM_ERR_INVALID);
    tm_search_default(&own, sizeof own);
    memcpy(&own, search, search->size < sizeof own ? search->size : sizeof own);
    const char *fault = tm_search_fault(&own);
    if (fault)
        return fail(matcher, TM_ERR_INVALID, "%s", fault);
    tm_status status = prepare(matcher, frame, tmpls, count, maps);
    if (status != TM_OK)
        return status;
    tm_peak_list *lists = malloc(count * sizeof *lists);
    if (!lists)
        return fail_plain(matcher, TM_ERR_MEMORY);
    const tm_peak_search first = tm_search_start(&own, matcher->jobs[0].metric);
    for (size_t i = 0; i < count; i++) {
        hits[i] = (tm_hits){0};
        tm_peak_list_init(&lists[i], &first);
        matcher->jobs[i].peaks = &lists[i];
    }
    status = run(matcher, count);
    if (status == TM_OK)
        status = take_hits(matcher, &own, count, hits);
    for (size_t i = 0; i < count; i++) {
        tm_peak_list_free(&lists[i]);
        if (status != TM_OK)
            tm_hits_free(&hits[i]);
    }
    free(lists);
    matcher->times.total = clock_ms() - start;
    return status;
}

/* The bands of a frame that comes by rows. */
static bool allocate_band(void *context, size_t size, uint8_t **memory)
{
    tm_matcher *m = context;
    void *made = NULL;
    if (m->pool && tm_pool_host_alloc(m->pool, size, &made, &m->message) != TM_OK)
        return false;
    m->pinned_bands = made != NULL;
    *memory = made ? made : malloc(size);
    return *memory != NULL;
}

static void release_band(void *context, uint8_t *memory)
{
    tm_matcher *m = context;
    if (m->pinned_bands)
        m->library.plugin->host_free(memory);
    else
        free(memory);
}

static tm_status match_band(void *context, tm_job *slices, size_t count)
{
    tm_matcher *m = context;

    memcpy(m->jobs, slices, count * sizeof *slices);
    tm_status status = run_more(m, count);
    memcpy(slices, m->jobs, count * sizeof *slices);
    return status;
}

static tm_status match_rows(tm_matcher *m, tm_stream *stream)
{
    const int64_t memory = m->settings.host_memory ? m->settings.host_memory : TM_STREAM_MEMORY;

    for (size_t i = 0; i < stream->count; i++) {
        if (!tm_job_is_plain(&stream->jobs[i]))
            return fail(m, TM_ERR_INVALID, "by rows come only 8-bit gray frames, for lcc or ccorr");
    }
    /* The FFT has its part of the limit, and what it keeps of templates. */
    m->fft_bytes = memory / 4;
    stream->memory = memory - memory / 4 - memory / 8;
    tm_status status = tm_stream_match(stream);
    m->fft_bytes = m->settings.host_memory / 4;
    if (status != TM_OK)
        return stream->fault[0] ? fail(m, status, "%s", stream->fault) : status;
    say(m, "; in %lld bands of %lld rows, %.0f ms waited for rows", (long long)stream->bands,
        (long long)stream->band_rows, stream->waited_ms);
    return TM_OK;
}

tm_status tm_match_rows(tm_matcher *matcher, const tm_row_source *frame,
                        const tm_template *const *tmpls, size_t count, tm_peak *best,
                        const tm_row_sink *maps)
{
    const double start = clock_ms();

    if (!matcher)
        return TM_ERR_INVALID;
    if (!best || !frame || !frame->read)
        return fail_plain(matcher, TM_ERR_INVALID);
    /* there is no sample to look at yet */
    const tm_image image = {.samples = (const uint8_t *)"",
                            .width = frame->width,
                            .height = frame->height,
                            .stride = (ptrdiff_t)frame->width};
    tm_status status = prepare(matcher, &image, tmpls, count, NULL);
    if (status != TM_OK)
        return status;
    tm_job *jobs = malloc(count * sizeof *jobs);
    if (!jobs)
        return fail_plain(matcher, TM_ERR_MEMORY);
    memcpy(jobs, matcher->jobs, count * sizeof *jobs);
    tm_stream stream = {.source = frame,
                        .sinks = maps,
                        .jobs = jobs,
                        .count = count,
                        .allocate = allocate_band,
                        .release = release_band,
                        .match = match_band,
                        .context = matcher};
    status = match_rows(matcher, &stream);
    for (size_t i = 0; i < count && status == TM_OK; i++)
        best[i] = peak_of(&jobs[i]);
    free(jobs);
    matcher->times.total = clock_ms() - start;
    return status;
}

tm_status tm_match(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl,
                   tm_peak *best, const tm_map *map)
{
    return tm_match_many(matcher, frame, &tmpl, 1, best, map);
}

tm_times tm_matcher_times(const tm_matcher *matcher)
{
    return matcher ? matcher->times : (tm_times){0};
}

const char *tm_matcher_warning(const tm_matcher *matcher)
{
    return matcher ? matcher->warning.text : "";
}

size_t tm_matcher_reports(const tm_matcher *matcher, tm_device_report *reports, size_t capacity)
{
    return matcher && matcher->on_pool ? tm_pool_reports(matcher->pool, reports, capacity) : 0;
}

const char *tm_matcher_device(const tm_matcher *matcher)
{
    return matcher ? matcher->device : "";
}

const char *tm_matcher_algorithm(const tm_matcher *matcher)
{
    return matcher ? matcher->algorithm : "";
}

const char *tm_matcher_plan(const tm_matcher *matcher)
{
    return matcher ? matcher->plan : "";
}
