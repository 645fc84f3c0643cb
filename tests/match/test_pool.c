/* SPDX-License-Identifier: MIT */
/* Devices that share frames, with the tests' own plugin or the real one: the same
 * bits as the oracle. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cuda/schedule.h"
#include "lcc/cpu/direct.h"
#include "lcc/slices.h"
#include "match/pool/device.h"
#include "pool_jobs.h"

/* All rows are somebody's, once. */
static void check_reports(const tm_pool *pool, const pool_job *t)
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
    set_variable("TMATCH_FAULT", NULL);
    for (int devices = 1; devices <= 4; devices++) {
        tm_pool *pool = open_pool(devices, 0);
        for (int64_t i = 0; i < cases / 4; i++) {
            pool_job t;
            tm_pool_call call;
            int rescues = 0;
            if (pool_job_draw(pool, &t, check_random() % 2)) {
                pool_job_match(pool, &t, &call, &rescues);
                CHECK_STR(call.warning.text, "");
                check_reports(pool, &t);
                elements += t.job.geometry.map_width * t.job.geometry.map_height;
            }
            pool_job_free(&t);
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
            pool_job t = {0};
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
            CHECK_EQ(tm_cpu_match(&cpu, &t.job, NULL), TM_OK);
            t.job.map.data = i % 2 ? t.map : NULL;
            if (i / 2)
                pool_job_pin(pool, &t);
            pool_job_match(pool, &t, &call, &rescues);
            pool_job_free(&t);
        }
        tm_cpu_free(&cpu);
        tm_pool_destroy(&pool);
    }
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
    const tm_backend backend = {.row_ms = tm_row_ms};

    for (int i = 0; i < 3; i++) {
        tm_job jobs[2] = {{.tmpl = &tmpl, .frame = kinds[i].frame}};
        const tm_pool_call call = {.jobs = jobs, .count = 2};
        CHECK_EQ(tm_geometry_init(&jobs->geometry, TM_DOMAIN_VALID, 1000, 90, 1, 1), TM_OK);
        jobs[1] = jobs[0];
        jobs[1].map.data = jobs;
        const double bytes =
            tm_pool_cost(&backend, &call, (tm_rows){20, 30}, 90) / TM_BYTE_MS / (10 * 1000);
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
        TEST(a_fork_has_no_devices), TEST(random_devices), TEST(large_frames),
        TEST(several_templates), TEST(shares_meet), TEST(costs_what_is_copied),
    };
    alarm(250); /* a hang is a failure */
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
