/* SPDX-License-Identifier: MIT */
#include "pool_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

tm_cuda_library library;
const tm_rates *pool_rates;

void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

tm_pool *open_pool(int count, int64_t memory)
{
    return open_pool_within(count, memory, 0, NULL);
}

tm_pool *open_pool_within(int count, int64_t memory, double timeout_ms, int *given_up)
{
    static tm_message message;
    int indices[MOST];
    tm_pool *pool = NULL;

    if (tm_cuda_load(&library, &message) != TM_OK || library.plugin->count(&message) == 0)
        check_skip(message.text);
    const int devices = library.plugin->count(&message);
    for (int i = 0; i < count; i++)
        indices[i] = i % devices;
    const tm_pool_settings settings = {indices, count, memory, 0, TM_ALGORITHM_AUTO, timeout_ms, given_up, pool_rates};
    if (tm_pool_create(&pool, library.plugin, &settings, &message) != TM_OK &&
        !(getenv("TMATCH_FAULT") && strstr(message.text, "cuda:")))
        check_fail(__FILE__, __LINE__, "no pool: %s", message.text);
    return pool;
}

bool is_fake(void)
{
    tm_device_info info;
    tm_message message;
    CHECK_EQ(library.plugin->describe(0, &info, &message), TM_OK);
    return strcmp(info.name, "fake") == 0;
}

tm_status on_cpu(void *context, tm_job *jobs, size_t count, tm_message *message)
{
    int *calls = context;
    (void)message;
    ++*calls;
    for (size_t i = 0; i < count; i++)
        tm_reference_match(&jobs[i]);
    return TM_OK;
}

static void draw_search(pool_job *t, tm_job *oracle)
{
    const tm_peak_search search = {
        check_random() % 2 ? INT64_MIN : tm_score_order((float)check_random_in(-8, 8) / 10),
        (size_t)check_random_in(1, 60), check_random() % 2 ? 0 : (size_t)check_random_in(1, 60)};
    tm_peak_list_init(&t->peaks, &search);
    tm_peak_list_init(&t->oracle_peaks, &search);
    t->job.peaks = &t->peaks;
    oracle->peaks = &t->oracle_peaks;
    t->job.last_row = oracle->last_row = t->job.geometry.map_height;
}

static void compare_peaks(pool_job *t)
{
    tm_peak_list *a = &t->peaks, *b = &t->oracle_peaks;
    CHECK(tm_peak_list_finish(a) && tm_peak_list_finish(b));
    CHECK_EQ(tm_peak_list_is_whole(a), tm_peak_list_is_whole(b));
    if (a->above.count != b->above.count ||
        (a->above.count &&
         memcmp(a->above.items, b->above.items, a->above.count * sizeof *a->above.items) != 0))
        check_fail(__FILE__, __LINE__, "%s: the peaks differ", t->problem.text);
}

void pool_job_pin(tm_pool *pool, pool_job *t)
{
    const tm_image *frame = &t->problem.frame;
    const int64_t apart = frame->width + check_random_in(0, 9);
    const size_t size = (size_t)(frame->height * apart + 15) / 16 * 16;
    tm_message message;

    if (tm_pool_host_alloc(pool, size + t->map_size, &t->pinned, &message) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s", message.text);
    if (!t->pinned)
        return;
    for (int64_t y = 0; y < frame->height; y++)
        memcpy((char *)t->pinned + y * apart, frame->samples + y * frame->stride,
               (size_t)frame->width);
    t->job.frame.samples = t->pinned;
    t->job.frame.stride = (ptrdiff_t)apart;
    free(t->map);
    t->map = (char *)t->pinned + size;
    memset(t->map, 0xcd, t->map_size);
    if (t->job.map.data)
        t->job.map.data = t->map;
}

bool pool_job_draw(tm_pool *pool, pool_job *t, bool with_map)
{
    const tm_metric metric = check_random() % 4 ? TM_METRIC_LCC : TM_METRIC_CCORR;
    *t = (pool_job){0};
    problem_random(&t->problem);
    CHECK_EQ(tm_template_prepare(&t->tmpl, &t->problem.tmpl), TM_OK);
    t->job = (tm_job){.metric = metric, .frame = t->problem.frame, .tmpl = t->tmpl};
    CHECK_EQ(tm_geometry_init(&t->job.geometry, (tm_domain)(check_random() % 3),
                              t->problem.frame.width, t->problem.frame.height, t->tmpl->width,
                              t->tmpl->height),
             TM_OK);
    const size_t row = (size_t)t->job.geometry.map_width * tm_map_element_size(metric);
    t->map_size = row * (size_t)t->job.geometry.map_height;
    t->map = malloc(t->map_size);
    t->oracle_map = malloc(t->map_size);
    CHECK(t->map && t->oracle_map);
    memset(t->map, 0xcd, t->map_size);
    t->peaks = t->oracle_peaks = (tm_peak_list){0};
    tm_job oracle = t->job;
    oracle.map = (tm_map){t->oracle_map, (ptrdiff_t)row};
    if (with_map)
        t->job.map = (tm_map){t->map, (ptrdiff_t)row};
    if (metric == TM_METRIC_LCC && t->tmpl->flat)
        return false;
    if (check_random() % 2)
        draw_search(t, &oracle);
    tm_reference_match(&oracle);
    t->job.best = oracle.best;
    if (check_random() % 3 == 0)
        pool_job_pin(pool, t);
    return true;
}

void pool_job_free(pool_job *t)
{
    problem_free(&t->problem);
    tm_template_destroy(&t->tmpl);
    if (t->pinned)
        library.plugin->host_free(0, t->pinned);
    else
        free(t->map);
    free(t->oracle_map);
    tm_peak_list_free(&t->peaks);
    tm_peak_list_free(&t->oracle_peaks);
}

void pool_job_match(tm_pool *pool, pool_job *t, tm_pool_call *call, int *rescues)
{
    const tm_candidate expected = t->job.best;
    *call = (tm_pool_call){.jobs = &t->job, .count = 1, .rescue = on_cpu, .context = rescues};
    if (tm_pool_match(pool, call) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s: %s", t->problem.text, call->message.text);
    if (t->job.best.value != expected.value || t->job.best.position != expected.position)
        check_fail(__FILE__, __LINE__, "%s: best %lld at %lld, expected %lld at %lld; %s",
                   t->problem.text, (long long)t->job.best.value,
                   (long long)t->job.best.position, (long long)expected.value,
                   (long long)expected.position, call->warning.text);
    if (t->job.map.data && memcmp(t->map, t->oracle_map, t->map_size) != 0)
        check_fail(__FILE__, __LINE__, "%s: the maps differ; %s", t->problem.text,
                   call->warning.text);
    if (t->job.peaks)
        compare_peaks(t);
}
