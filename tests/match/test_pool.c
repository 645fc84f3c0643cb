/* SPDX-License-Identifier: MIT */
/* Devices that share frames, with the tests' own plugin or the real one: the same
 * bits as the oracle, whatever fails. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends.h"
#include "check.h"
#include "lcc/cpu/direct.h"
#include "cuda/schedule.h"
#include "match/cuda_loader.h"
#include "match/pool/device.h"
#include "lcc/slices.h"

enum { MOST = 5 };

static tm_cuda_library library;

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Handles on the devices that there are, one after the other. NULL where a fault
 * was injected into that. */
static tm_pool *open_pool(int count, int64_t memory)
{
    static tm_message message;
    int indices[MOST];
    tm_pool *pool = NULL;

    if (tm_cuda_load(&library, &message) != TM_OK || library.plugin->count(&message) == 0)
        check_skip(message.text);
    const int devices = library.plugin->count(&message);
    for (int i = 0; i < count; i++)
        indices[i] = i % devices;
    const tm_pool_settings settings = {indices, count, memory, 0};
    if (tm_pool_create(&pool, library.plugin, &settings, &message) != TM_OK &&
        !(getenv("TMATCH_FAULT") && strstr(message.text, "cuda:")))
        check_fail(__FILE__, __LINE__, "no pool: %s", message.text);
    return pool;
}

static tm_status on_cpu(void *context, tm_job *jobs, size_t count, tm_message *message)
{
    int *calls = context;
    (void)message;
    ++*calls;
    for (size_t i = 0; i < count; i++)
        tm_reference_match(&jobs[i]);
    return TM_OK;
}

typedef struct test_job {
    problem problem;
    tm_template *tmpl;
    tm_job job;
    void *pinned; /* the frame, and the map behind it; or NULL */
    void *map, *oracle_map;
    size_t map_size;
    tm_peak_list peaks, oracle_peaks; /* where job.peaks is not NULL */
} test_job;

static void draw_search(test_job *t, tm_job *oracle)
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

static void compare_peaks(test_job *t)
{
    tm_peak_list *a = &t->peaks, *b = &t->oracle_peaks;
    CHECK(tm_peak_list_finish(a) && tm_peak_list_finish(b));
    CHECK_EQ(tm_peak_list_is_whole(a), tm_peak_list_is_whole(b));
    if (a->above.count != b->above.count ||
        (a->above.count &&
         memcmp(a->above.items, b->above.items, a->above.count * sizeof *a->above.items) != 0))
        check_fail(__FILE__, __LINE__, "%s: the peaks differ", t->problem.text);
}

static bool is_fake(void)
{
    tm_device_info info;
    tm_message message;
    CHECK_EQ(library.plugin->describe(0, &info, &message), TM_OK);
    return strcmp(info.name, "fake") == 0;
}

/* Copies frame and map to where devices copy from directly. */
static void pin(tm_pool *pool, test_job *t)
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

/* False where the template is flat. */
static bool draw(tm_pool *pool, test_job *t, bool with_map)
{
    const tm_metric metric = check_random() % 4 ? TM_METRIC_LCC : TM_METRIC_CCORR;
    *t = (test_job){0};
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
        pin(pool, t);
    return true;
}

static void release(test_job *t)
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

/* Matches what draw drew; fails where a bit differs from the oracle's. */
static void match(tm_pool *pool, test_job *t, tm_pool_call *call, int *rescues)
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

/* All rows are somebody's, once. */
static void check_reports(const tm_pool *pool, const test_job *t)
{
    tm_device_report reports[MOST];
    const size_t count = tm_pool_reports(pool, reports, MOST);
    int64_t rows = 0;
    CHECK(count >= 1 && count <= MOST);
    for (size_t i = 0; i < count; i++) {
        rows += reports[i].rows;
        CHECK(reports[i].start_ms >= 0 && reports[i].busy_ms >= 0 && reports[i].wait_ms >= 0);
    }
    CHECK_EQ(rows, t->job.geometry.map_height);
}

/* Frames of few rows too: problem_random draws maps of one row. */
static void random_devices(void)
{
    const int64_t cases = check_cases(4000);
    int64_t elements = 0;
    set("TMATCH_FAULT", NULL);
    for (int devices = 1; devices <= 4; devices++) {
        tm_pool *pool = open_pool(devices, 0);
        for (int64_t i = 0; i < cases / 4; i++) {
            test_job t;
            tm_pool_call call;
            int rescues = 0;
            if (draw(pool, &t, check_random() % 2)) {
                match(pool, &t, &call, &rescues);
                CHECK_STR(call.warning.text, "");
                check_reports(pool, &t);
                elements += t.job.geometry.map_width * t.job.geometry.map_height;
            }
            release(&t);
        }
        tm_pool_destroy(&pool);
    }
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
}

/* Frames that are copied and matched chunk by chunk, against the CPU's kernels. */
static void large_frames(void)
{
    for (int devices = 1; devices <= 3; devices++) {
        tm_pool *pool = open_pool(devices, 0);
        tm_cpu cpu = {0};
        CHECK_EQ(tm_cpu_init(&cpu, 1, UINT32_MAX), TM_OK); /* the thread sanitizer knows no OpenMP */
        for (int i = 0; i < (check_cases(4000) < 1000 ? 1 : 4); i++) {
            test_job t = {0};
            tm_pool_call call;
            int rescues = 0;
            problem_make(&t.problem, check_random_in(2200, 2600), check_random_in(2000, 2400),
                         check_random_in(2, 12), check_random_in(2, 12));
            CHECK_EQ(tm_template_prepare(&t.tmpl, &t.problem.tmpl), TM_OK);
            t.job = (tm_job){.metric = t.tmpl->flat ? TM_METRIC_CCORR : TM_METRIC_LCC,
                             .frame = t.problem.frame,
                             .tmpl = t.tmpl};
            tm_geometry *g = &t.job.geometry;
            CHECK_EQ(tm_geometry_init(g, (tm_domain)(check_random() % 3), t.problem.frame.width,
                                      t.problem.frame.height, t.tmpl->width, t.tmpl->height),
                     TM_OK);
            t.job.last_row = g->map_height;
            const size_t row = (size_t)g->map_width * tm_map_element_size(t.job.metric);
            t.map_size = row * (size_t)g->map_height;
            CHECK((t.map = malloc(t.map_size)) && (t.oracle_map = malloc(t.map_size)));
            t.job.map = (tm_map){t.oracle_map, (ptrdiff_t)row};
            CHECK_EQ(tm_cpu_match(&cpu, &t.job), TM_OK);
            t.job.map.data = i % 2 ? t.map : NULL;
            if (i / 2)
                pin(pool, &t);
            match(pool, &t, &call, &rescues);
            release(&t);
        }
        tm_cpu_free(&cpu);
        tm_pool_destroy(&pool);
    }
}

/* Memory for few rows at a time, or for none: then the CPU helps. */
static void little_memory(void)
{
    tm_pool *first = open_pool(1, 0); /* loads the plugin, or skips */
    tm_pool_destroy(&first);
    for (int64_t i = check_cases(400) / 4; i > 0; i--) {
        char warned[300] = "";
        test_job t;
        tm_pool_call call;
        int rescues = 0;
        /* a real device's handle has a megabyte of its own, and frames margins */
        tm_pool *pool = open_pool((int)check_random_in(1, 3), is_fake()
                                                                  ? check_random_in(50, 30000)
                                                                  : check_random_in(1300000, 3000000));
        if (draw(pool, &t, check_random() % 2)) {
            match(pool, &t, &call, &rescues);
            snprintf(warned, sizeof warned, "%s", call.warning.text);
            CHECK_EQ(rescues > 0, strstr(warned, "out of memory") != NULL);
        }
        release(&t);
        tm_pool_destroy(&pool);
    }
}

/* Skips where the backend's calls cannot be made to fail. */
static void require_faults(void)
{
    const int index = 0;
    const tm_pool_settings settings = {&index, 1, 0, 0};
    tm_message message;
    tm_pool *pool = open_pool(1, 0);

    tm_pool_destroy(&pool);
    set("TMATCH_FAULT", "0:1:214");
    const tm_status status = tm_pool_create(&pool, library.plugin, &settings, &message);
    set("TMATCH_FAULT", NULL);
    if (status == TM_OK) {
        tm_pool_destroy(&pool);
        check_skip("the CUDA backend was built without -Dfault_injection=true");
    }
}

/* Every call of a device fails in turn, in every way. */
static void every_fault(void)
{
    static const char *const errors[] = {"2", "2+", "1-", "214", "719"};
    enum { CALLS = 60 };
    int warned = 0, rescued = 0;

    require_faults();
    const int step = check_cases(4000) < 1000 ? 3 : 1;
    for (int call_number = 2; call_number < CALLS; call_number += step) {
        for (size_t kind = 0; kind < sizeof errors / sizeof *errors; kind++) {
            char fault[100];
            const int devices = (int)check_random_in(1, 3);
            int used = snprintf(fault, sizeof fault, "%d:%d:%s", (int)check_random_in(0, devices - 1),
                                call_number, errors[kind]);
            if (check_random() % 3 == 0) /* all at once */
                for (int i = 0; i < devices; i++)
                    used += snprintf(fault + used, sizeof fault - (size_t)used, ",%d:%d:%s", i,
                                     call_number + i, errors[kind]);
            set("TMATCH_FAULT", fault);
            tm_pool *pool = open_pool(devices, 0);
            for (int frame = 0; frame < 4 && pool; frame++) {
                test_job t;
                tm_pool_call call;
                int rescues = 0;
                if (draw(pool, &t, check_random() % 2)) {
                    match(pool, &t, &call, &rescues);
                    warned += call.warning.text[0] != '\0';
                    rescued += rescues > 0;
                    if (rescues)
                        CHECK(strstr(call.warning.text, ": the CPU took over"));
                    if (call.warning.text[0] && !strstr(call.warning.text, "no CUDA device"))
                        CHECK(strstr(call.warning.text, "cuda:"));
                }
                release(&t);
            }
            tm_pool_destroy(&pool);
        }
    }
    set("TMATCH_FAULT", NULL);
    printf("# %d matches with a warning, %d with the CPU's help\n", warned, rescued);
    CHECK(warned > 20 && rescued > 10 && (rescued < warned || !is_fake()));
}

static void opening_fails(void)
{
    const int indices[] = {0, 0, 0};
    const tm_pool_settings settings = {indices, 3, 0, 0};
    tm_message message;
    tm_pool *pool = NULL;

    require_faults();
    set("TMATCH_FAULT", "0:1:214");
    CHECK_EQ(tm_pool_create(&pool, library.plugin, &settings, &message), TM_ERR_DEVICE);
    CHECK(strstr(message.text, "cuda:0"));
    CHECK(pool == NULL);
    set("TMATCH_FAULT", NULL);
}

/* The same small match again and again. */
typedef struct repeated {
    uint8_t samples[400 * 64];
    tm_template *tmpl;
    tm_pool *pool;
    tm_pool_call call; /* the last one */
    tm_device_report reports[MOST];
    size_t reported;
} repeated;

/* Skips where devices are real. */
static void repeated_open(repeated *r, int devices)
{
    const tm_image crop = {.samples = r->samples + 70, .width = 8, .height = 8, .stride = 64};

    r->pool = open_pool(devices, 0);
    if (!is_fake()) {
        tm_pool_destroy(&r->pool);
        check_skip("needs devices that do as they are told");
    }
    for (size_t i = 0; i < sizeof r->samples; i++)
        r->samples[i] = (uint8_t)check_random();
    CHECK_EQ(tm_template_prepare(&r->tmpl, &crop), TM_OK);
}

static void repeated_match(repeated *r)
{
    const tm_image frame = {.samples = r->samples, .width = 64, .height = 400, .stride = 64};
    tm_job job = {.metric = TM_METRIC_LCC, .frame = frame, .tmpl = r->tmpl};
    int rescues = 0;

    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 64, 400, 8, 8), TM_OK);
    r->call = (tm_pool_call){.jobs = &job, .count = 1, .rescue = on_cpu, .context = &rescues};
    CHECK_EQ(tm_pool_match(r->pool, &r->call), TM_OK);
    CHECK_EQ(job.best.position, 57 + 6);
    r->reported = tm_pool_reports(r->pool, r->reports, MOST);
}

static void repeated_close(repeated *r)
{
    tm_pool_destroy(&r->pool);
    tm_template_destroy(&r->tmpl);
}

/* A device that is slower gets fewer rows once that is known. */
static void slow_devices_get_less(void)
{
    repeated r;

    set("TMATCH_FAKE_SLOW", "1:1000");
    repeated_open(&r, 2);
    for (int i = 0; i < 8; i++) {
        repeated_match(&r);
        CHECK_EQ(r.reported, 2);
        if (i == 0)
            CHECK(r.reports[0].rows >= 196 && r.reports[1].rows >= 196);
    }
    CHECK(r.reports[0].rows > 2 * r.reports[1].rows);
    set("TMATCH_FAKE_SLOW", NULL);
    repeated_close(&r);
}

/* Memory that ran out once: the pieces are halved, and in time whole again. */
static void pieces_grow_again(void)
{
    enum { WHOLE = 400 * 64 };
    repeated r;
    int halved = 0;

    set("TMATCH_FAULT", "0:3:2");
    repeated_open(&r, 1);
    set("TMATCH_FAULT", NULL);
    repeated_match(&r);
    CHECK_STR(r.call.warning.text, "");
    for (; r.reports[0].bytes_to_device > WHOLE && halved < 100; halved++)
        repeated_match(&r);
    CHECK(halved > 1 && halved < 100);
    repeated_close(&r);
}

static const tm_cuda_plugin *counted;
static int without_room;

static tm_status counting_match(tm_cuda *cuda, tm_job *jobs, size_t count, tm_cuda_work *work,
                                tm_message *message)
{
    const tm_status status = counted->match(cuda, jobs, count, work, message);
    without_room += status == TM_ERR_DEVICE_MEMORY;
    return status;
}

/* Where no more memory comes, it is asked for ever less often. */
static void trials_become_rare(void)
{
    repeated r;
    tm_cuda_plugin counting;

    set("TMATCH_FAKE_MEMORY", "16000"); /* for more than half of the frame, not for all */
    repeated_open(&r, 1);
    repeated_close(&r);
    counted = library.plugin;
    counting = *counted;
    counting.match = counting_match;
    library.plugin = &counting;
    repeated_open(&r, 1);
    library.plugin = counted;
    set("TMATCH_FAKE_MEMORY", NULL);
    without_room = 0;
    for (int i = 0; i < 500; i++) { /* of two pieces and a rest */
        repeated_match(&r);
        CHECK_STR(r.call.warning.text, "");
    }
    CHECK_EQ(without_room, 1 + 5); /* after 16, 32, 64, 128, 256 pieces */
    repeated_close(&r);
}

/* A failure that has not lost the device: the next call has it again. */
static void failed_devices_come_back(void)
{
    repeated r;

    set("TMATCH_FAULT", "0:2:1-");
    repeated_open(&r, 2);
    set("TMATCH_FAULT", NULL);
    repeated_match(&r);
    CHECK_STR(r.call.warning.text, "cuda:0, fake: injected error 1: other devices took over");
    for (int i = 0; i < 3; i++) {
        repeated_match(&r);
        CHECK_STR(r.call.warning.text, "");
        CHECK_EQ(r.reported, 2);
        CHECK(r.reports[0].rows > 0);
    }
    repeated_close(&r);
}

/* One that is lost is left alone, until it is well. */
static void lost_devices_stay_away(void)
{
    repeated r;
    tm_message message;

    set("TMATCH_FAULT", "0:2:719");
    repeated_open(&r, 2);
    set("TMATCH_FAULT", NULL);
    for (int i = 0; i < 20; i++) {
        repeated_match(&r);
        CHECK_EQ(r.call.warning.text[0] != '\0', i == 0);
        CHECK_EQ(r.reports[r.reported - 1].index, 1);
        CHECK_EQ(r.reports[r.reported - 1].rows, 393);
    }
    CHECK(library.plugin->count(&message) > 0); /* heals them */
    for (int i = 0; i < 40; i++)
        repeated_match(&r);
    CHECK_EQ(r.reported, 2);
    CHECK(r.reports[0].rows > 0);
    repeated_close(&r);
}

/* Templates of several heights, whose maps' rows are shared out together. */
static void several_templates(void)
{
    enum { COUNT = 3, POOLS = 4 };
    tm_pool *pools[POOLS];
    for (int i = 0; i < POOLS; i++)
        pools[i] = open_pool(i + 1, 0);
    for (int64_t i = check_cases(400); i > 0; i--) {
        problem p;
        tm_job jobs[COUNT], expected[COUNT];
        tm_template *tmpls[COUNT];
        int rescues = 0;
        const tm_domain domain = (tm_domain)(check_random() % 3);
        tm_pool *pool = pools[check_random_in(0, POOLS - 1)];
        problem_make(&p, check_random_in(8, 60), check_random_in(8, 40), 2, 2);
        for (int k = 0; k < COUNT; k++) {
            const tm_image crop = {.samples = p.frame.samples,
                                   .width = check_random_in(1, 8),
                                   .height = check_random_in(1, 8),
                                   .stride = p.frame.stride};
            CHECK_EQ(tm_template_prepare(&tmpls[k], &crop), TM_OK);
            jobs[k] = (tm_job){.metric = TM_METRIC_CCORR, .frame = p.frame, .tmpl = tmpls[k]};
            CHECK_EQ(tm_geometry_init(&jobs[k].geometry, domain, p.frame.width, p.frame.height,
                                      crop.width, crop.height),
                     TM_OK);
            expected[k] = jobs[k];
            tm_reference_match(&expected[k]);
        }
        tm_pool_call call = {.jobs = jobs, .count = COUNT, .rescue = on_cpu, .context = &rescues};
        CHECK_EQ(tm_pool_match(pool, &call), TM_OK);
        for (int k = 0; k < COUNT; k++) {
            CHECK_EQ(jobs[k].best.value, expected[k].best.value);
            CHECK_EQ(jobs[k].best.position, expected[k].best.position);
            tm_template_destroy(&tmpls[k]);
        }
        problem_free(&p);
    }
    for (int i = 0; i < POOLS; i++)
        tm_pool_destroy(&pools[i]);
}

/* A match that is run again for more peaks says all the same which device it lost
 * in the first run, and what both runs did. */
static void warnings_last(void)
{
    enum { WIDTH = 200, SIZE = 60 };
    tm_settings settings;
    tm_search search;
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_hits hits;
    tm_device_report reports[MOST];

    require_faults();
    if (!is_fake())
        check_skip("only the tests' own plugin says which run a call is in");
    uint8_t *samples = malloc((size_t)WIDTH * WIDTH);
    for (int i = 0; i < WIDTH * WIDTH; i++)
        samples[i] = (uint8_t)check_random();
    const tm_image frame = {
        .samples = samples, .width = WIDTH, .height = WIDTH, .stride = WIDTH};
    const tm_image crop = {.samples = samples, .width = SIZE, .height = SIZE, .stride = WIDTH};

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CUDA;
    settings.device_mask = 3;
    tm_search_default(&search, sizeof search);
    search.most = 20; /* more than have room beside each other */
    search.overlap = 0;
    set("TMATCH_FAULT", "0:2:719");
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    set("TMATCH_FAULT", NULL);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    const tm_template *one = tmpl;
    CHECK_EQ(tm_match_peaks(matcher, &frame, &one, 1, &search, &hits, NULL), TM_OK);
    CHECK(hits.count > 0 && hits.count < 20 && !hits.cut_off);
    CHECK_STR(tm_matcher_warning(matcher),
              "cuda:0, fake: injected error 719: other devices took over");
    CHECK_EQ(tm_matcher_reports(matcher, reports, MOST), 2);
    CHECK_EQ(reports[0].rows, 0);
    CHECK(reports[1].rows >= 2 * (WIDTH - SIZE + 1));
    tm_hits_free(&hits);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    free(samples);
}

/* Parts that meet, none lost, in the given proportions. */
static void shares_meet(void)
{
    for (int i = 0; i < 2000; i++) {
        const int count = (int)check_random_in(1, 6);
        const tm_rows rows = {check_random_in(0, 9), check_random_in(9, INT32_MAX)};
        const int64_t other = check_random_in(1, INT32_MAX);
        double weights[6];
        tm_rows before = {0, rows.first};
        for (int k = 0; k < count; k++)
            weights[k] = (double)check_random_in(1, 1000);
        for (int k = 0; k < count; k++) {
            const tm_rows share = tm_rows_divide(rows, weights, count, k);
            CHECK_EQ(share.first, before.end);
            CHECK(share.end >= share.first);
            CHECK_EQ(tm_rows_scale(share, INT32_MAX, other).first,
                     tm_rows_scale(before, INT32_MAX, other).end);
            before = share;
        }
        CHECK_EQ(before.end, rows.end);
    }
}

/* All of a frame's bytes count, once for all templates, and those of each map. */
static void costs_what_is_copied(void)
{
    static const struct {
        tm_image frame;
        int64_t bytes; /* of a pixel */
    } kinds[] = {
        {{.type = TM_SAMPLE_U8, .channels = 1}, 1},
        {{.type = TM_SAMPLE_U8, .channels = 3}, 3},
        {{.type = TM_SAMPLE_U16, .channels = 3, .mask = (const uint8_t *)""}, 7},
    };
    const tm_template tmpl = {.width = 1, .height = 1}; /* n = 0: no products */

    for (int i = 0; i < 3; i++) {
        tm_job jobs[2] = {{.tmpl = &tmpl, .frame = kinds[i].frame}};
        const tm_pool_call call = {.jobs = jobs, .count = 2};
        CHECK_EQ(tm_geometry_init(&jobs->geometry, TM_DOMAIN_VALID, 1000, 90, 1, 1), TM_OK);
        jobs[1] = jobs[0];
        jobs[1].map.data = jobs;
        const double bytes =
            tm_pool_cost(&call, (tm_rows){20, 30}, 90) / TM_BYTE_MS / (10 * 1000);
        CHECK_EQ((int64_t)(bytes + 0.5), kinds[i].bytes + 4);
    }
}

/* What a forked process can do with its parent's devices: 0 if that is nothing, and all
 * of it ends. */
static int use_inherited(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl)
{
    tm_host_memory memory;
    tm_peak best;

    if (tm_match(matcher, frame, tmpl, &best, NULL) != TM_ERR_DEVICE ||
        !strstr(tm_matcher_message(matcher), "before this process was forked"))
        return 1;
    if (tm_host_alloc(matcher, 100, &memory) != TM_OK || memory.pinned)
        return 2;
    tm_host_free(matcher, &memory);
    tm_matcher_destroy(&matcher);
    return matcher ? 3 : 0;
}

static void a_fork_has_no_devices(void)
{
    static uint8_t samples[40 * 50];
    const tm_image frame = {.samples = samples, .width = 50, .height = 40, .stride = 50};
    const tm_image crop = {.samples = samples, .width = 9, .height = 7, .stride = 50};
    tm_settings settings;
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak best;
    int status = -1;

    if (getenv("MESON_EXE_WRAPPER"))
        check_skip("emulators fork a process of several threads in their own way");
    tm_pool *pool = open_pool(1, 0); /* or it is skipped */
    tm_pool_destroy(&pool);
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)check_random_in(0, 255);
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CUDA;
    settings.device_mask = TM_ALL_DEVICES;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(use_inherited(matcher, &frame, tmpl));
    }
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(a_fork_has_no_devices),
        TEST(random_devices), TEST(large_frames),  TEST(several_templates), TEST(little_memory),
        TEST(every_fault),    TEST(opening_fails), TEST(slow_devices_get_less), TEST(shares_meet),
        TEST(warnings_last),  TEST(pieces_grow_again), TEST(trials_become_rare),
        TEST(failed_devices_come_back), TEST(lost_devices_stay_away), TEST(costs_what_is_copied),
    };
    alarm(250); /* a hang is a failure */
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
