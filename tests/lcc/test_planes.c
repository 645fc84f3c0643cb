/* SPDX-License-Identifier: MIT */
/* Pictures that are taken apart, in a memory for few rows at a time: the same bits as
 * the oracle's, also of slices, as devices leave them to the CPU. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kinds.h"
#include "lcc/cpu/direct.h"
#include "cpu/planes.h"
#include "lcc/slices.h"

/* A job's outcome. */
typedef struct outcome {
    void *map;
    tm_peak_list peaks;
    tm_candidate best;
} outcome;

typedef struct bands {
    tm_cpu cpu;
    tm_planes_memory memory;
    int64_t most; /* in one call */
} bands;

static tm_status run_direct(void *cpu, tm_job *job)
{
    return tm_cpu_match(cpu, job, NULL);
}

/* In a memory for one row, or for some. */
static void match_in_bands(bands *b, tm_job *job)
{
    tm_planes_call call = {.threads = b->cpu.threads, .match_product = run_direct, .context = &b->cpu};

    CHECK_EQ(tm_planes_match(&b->memory, job, &call), TM_ERR_MEMORY);
    CHECK(call.refused > 0);
    call.limit = call.refused * check_random_in(4, 20) / 4;
    CHECK_EQ(tm_planes_match(&b->memory, job, &call), TM_OK);
    CHECK_EQ(call.refused, 0);
    CHECK((int64_t)(b->memory.planes.size + b->memory.maps.size + b->memory.rows.size) <=
          call.limit);
    tm_planes_free(&b->memory);
    b->most = call.bands > b->most ? call.bands : b->most;
}

/* Two slices, as two devices have them. */
static void match_slices(bands *b, tm_job *job)
{
    const int64_t height = job->geometry.map_height, cut = check_random_in(0, height);
    const tm_rows parts[] = {{0, cut}, {cut, height}};

    job->best = (tm_candidate)TM_NO_CANDIDATE;
    for (int i = 0; i < 2; i++) {
        if (parts[i].first == parts[i].end)
            continue;
        tm_job slice = tm_job_rows(job, parts[i], 0);
        tm_peak_list own;
        tm_peak_list_init(&own, &job->peaks->search);
        slice.peaks = &own;
        match_in_bands(b, &slice);
        tm_job_merge(job, &slice, parts[i]);
        tm_peak_list_free(&own);
    }
}

static outcome match(const tm_job *job, size_t size, const tm_peak_search *search, bands *b)
{
    outcome o = {.map = malloc(size)};
    tm_job own = *job;

    CHECK(o.map);
    memset(o.map, 0xcd, size);
    tm_peak_list_init(&o.peaks, search);
    own.peaks = &o.peaks;
    own.map.data = o.map;
    if (!b)
        CHECK_EQ(tm_reference_match(&own), TM_OK);
    else if (check_random() % 2)
        match_in_bands(b, &own);
    else
        match_slices(b, &own);
    CHECK(tm_peak_list_finish(&o.peaks));
    o.best = own.best;
    return o;
}

static void compare(const kind_problem *p, const tm_job *job, bands *b)
{
    const tm_geometry *g = &job->geometry;
    const tm_peak_search search = {INT64_MIN, (size_t)check_random_in(1, 60), 0};
    const size_t size = (size_t)(g->map_height * job->map.stride);
    outcome truth = match(job, size, &search, NULL), tested = match(job, size, &search, b);
    const tm_peak_set *peaks = &truth.peaks.above;

    if (memcmp(truth.map, tested.map, size) != 0)
        check_fail(__FILE__, __LINE__, "%s: the maps differ", p->text);
    if (truth.best.value != tested.best.value || truth.best.position != tested.best.position)
        check_fail(__FILE__, __LINE__, "%s: the best matches differ", p->text);
    if (peaks->count != tested.peaks.above.count ||
        (peaks->count &&
         memcmp(peaks->items, tested.peaks.above.items, peaks->count * sizeof *peaks->items) != 0))
        check_fail(__FILE__, __LINE__, "%s: the peaks differ", p->text);
    free(truth.map);
    free(tested.map);
    tm_peak_list_free(&truth.peaks);
    tm_peak_list_free(&tested.peaks);
}

static void in_bands(void)
{
    bands b = {0};
    CHECK_EQ(tm_cpu_init(&b.cpu, 2, UINT32_MAX), TM_OK);
    for (int64_t i = check_cases_least(1000, 150); i > 0; i--) {
        kind_problem p;
        tm_template *tmpl;
        kind_of_size(&p, check_random_in(1, 40), check_random_in(1, 30), check_random_in(1, 9),
                     check_random_in(1, 9));
        CHECK_EQ(tm_template_prepare(&tmpl, &p.tmpl), TM_OK);
        tm_job job = {.metric = p.metric, .frame = p.frame, .tmpl = tmpl};
        CHECK_EQ(tm_geometry_init(&job.geometry, p.domain, p.frame.width, p.frame.height,
                                  tmpl->width, tmpl->height),
                 TM_OK);
        job.last_row = job.geometry.map_height;
        job.map.stride = (ptrdiff_t)(job.geometry.map_width * (int64_t)tm_job_element(&job));
        if (tmpl->count > 0 && !(tmpl->flat && tm_needs_s_f(p.metric)))
            compare(&p, &job, &b);
        tm_template_destroy(&tmpl);
        kind_free(&p);
    }
    printf("# at most %" PRId64 " bands\n", b.most);
    CHECK(b.most > 5);
    tm_cpu_free(&b.cpu);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(in_bands)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
