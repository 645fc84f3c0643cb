/* SPDX-License-Identifier: MIT */
/* Devices that share frames, with the tests' own plugin or the real one: the same
 * bits as the oracle, whatever fails. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "pictures.h"
#include "pool_jobs.h"

/* Memory for few rows at a time, or for none: then the CPU helps. */
static void little_memory(void)
{
    tm_pool *first = open_pool(1, 0); /* loads the plugin, or skips */
    tm_pool_destroy(&first);
    for (int64_t i = check_cases(400) / 4; i > 0; i--) {
        char warned[300] = "";
        pool_job t;
        tm_pool_call call;
        int rescues = 0;
        /* a real device's handle has a megabyte of its own, and frames margins */
        tm_pool *pool = open_pool((int)check_random_in(1, 3), is_fake()
                                                                  ? check_random_in(50, 30000)
                                                                  : check_random_in(1300000, 3000000));
        if (pool_job_draw(pool, &t, check_random() % 2)) {
            pool_job_match(pool, &t, &call, &rescues);
            snprintf(warned, sizeof warned, "%s", call.warning.text);
            CHECK_EQ(rescues > 0, strstr(warned, "out of memory") != NULL);
        }
        pool_job_free(&t);
        tm_pool_destroy(&pool);
    }
}

/* Skips where the backend's calls cannot be made to fail. */
static void require_faults(void)
{
    const int index = 0;
    const tm_pool_settings settings = {&index, 1, 0, 0, TM_ALGORITHM_AUTO, 0, NULL, NULL};
    tm_message message;
    tm_pool *pool = open_pool(1, 0);

    tm_pool_destroy(&pool);
    set_variable("TMATCH_FAULT", "0:1:214");
    const tm_status status = tm_pool_create(&pool, library.plugin, &settings, &message);
    set_variable("TMATCH_FAULT", NULL);
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
            set_variable("TMATCH_FAULT", fault);
            tm_pool *pool = open_pool(devices, 0);
            for (int frame = 0; frame < 4 && pool; frame++) {
                pool_job t;
                tm_pool_call call;
                int rescues = 0;
                if (pool_job_draw(pool, &t, check_random() % 2)) {
                    pool_job_match(pool, &t, &call, &rescues);
                    warned += call.warning.text[0] != '\0';
                    rescued += rescues > 0;
                    if (rescues)
                        CHECK(strstr(call.warning.text, ": the CPU took over"));
                    if (call.warning.text[0] && !strstr(call.warning.text, "no CUDA device"))
                        CHECK(strstr(call.warning.text, "cuda:"));
                }
                pool_job_free(&t);
            }
            tm_pool_destroy(&pool);
        }
    }
    set_variable("TMATCH_FAULT", NULL);
    printf("# %d matches with a warning, %d with the CPU's help\n", warned, rescued);
    CHECK(warned > 20 && rescued > 10 && (rescued < warned || !is_fake()));
}

static void opening_fails(void)
{
    const int indices[] = {0, 0, 0};
    const tm_pool_settings settings = {indices, 3, 0, 0, TM_ALGORITHM_AUTO, 0, NULL, NULL};
    tm_message message;
    tm_pool *pool = NULL;

    require_faults();
    set_variable("TMATCH_FAULT", "0:1:214");
    CHECK_EQ(tm_pool_create(&pool, library.plugin, &settings, &message), TM_ERR_DEVICE);
    CHECK(strstr(message.text, "cuda:0"));
    CHECK(pool == NULL);
    set_variable("TMATCH_FAULT", NULL);
}

/* Each call of a device hangs in turn: the results are right, and it is not used again. */
static void every_call_hangs(void)
{
    enum { CALLS = 45 };
    const double limit_ms = 100;
    int hung = 0;

    require_faults();
    for (int call_number = 1 + (int)(check_random() % 2); call_number < CALLS; call_number += 2) {
        char fault[40];
        const int devices = (int)check_random_in(1, 3), which = (int)check_random_in(0, devices - 1);
        int given_up = 0;
        snprintf(fault, sizeof fault, "%d:%d:-1", which, call_number);
        set_variable("TMATCH_FAULT", fault);
        tm_pool *pool = open_pool_within(devices, 0, limit_ms, &given_up);
        CHECK(pool || given_up > 0); /* handles of one device hang together */
        for (int frame = 0; frame < 8 && pool; frame++) {
            const int before = given_up;
            pool_job t;
            tm_pool_call call;
            int rescues = 0;
            if (pool_job_draw(pool, &t, check_random() % 2)) {
                pool_job_match(pool, &t, &call, &rescues);
                if (given_up > before)
                    CHECK(strstr(call.warning.text, " did not answer within 0.1 s"));
                if (rescues)
                    CHECK(strstr(call.warning.text, ": the CPU took over"));
            }
            pool_job_free(&t);
        }
        hung += given_up;
        tm_pool_destroy(&pool);
    }
    set_variable("TMATCH_FAULT", NULL);
    printf("# %d devices were given up\n", hung);
    CHECK(hung >= 10);
}

/* The same small match again and again. */
typedef struct repeated {
    uint8_t samples[400 * 64];
    tm_template *tmpl;
    tm_pool *pool;
    double limit_ms; /* of time for a call; 0: none */
    int given_up;
    tm_pool_call call; /* the last one */
    tm_device_report reports[MOST];
    size_t reported;
} repeated;

/* Skips where devices are real. */
static void repeated_open(repeated *r, int devices)
{
    const tm_image crop = {.samples = r->samples + 70, .width = 8, .height = 8, .stride = 64};

    r->pool = open_pool_within(devices, 0, r->limit_ms, &r->given_up);
    if (!is_fake()) {
        tm_pool_destroy(&r->pool);
        check_skip("needs devices that do as they are told");
    }
    picture_noise(r->samples, sizeof r->samples);
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
    repeated r = {0};

    set_variable("TMATCH_FAKE_SLOW", "1:1000");
    repeated_open(&r, 2);
    for (int i = 0; i < 8; i++) {
        repeated_match(&r);
        CHECK_EQ(r.reported, 2);
        if (i == 0)
            CHECK(r.reports[0].rows >= 196 && r.reports[1].rows >= 196);
    }
    CHECK(r.reports[0].rows > 2 * r.reports[1].rows);
    set_variable("TMATCH_FAKE_SLOW", NULL);
    repeated_close(&r);
}

/* Memory that ran out once: the pieces are halved, and in time whole again. */
static void pieces_grow_again(void)
{
    enum { WHOLE = 400 * 64 };
    repeated r = {0};
    int halved = 0;

    set_variable("TMATCH_FAULT", "0:3:2");
    repeated_open(&r, 1);
    set_variable("TMATCH_FAULT", NULL);
    repeated_match(&r);
    CHECK_STR(r.call.warning.text, "");
    for (; r.reports[0].bytes_to_device > WHOLE && halved < 100; halved++)
        repeated_match(&r);
    CHECK(halved > 1 && halved < 100);
    repeated_close(&r);
}

static const tm_backend *counted;
static int without_room;

static tm_status counting_match(tm_device *device, tm_job *jobs, size_t count, tm_work *work,
                                tm_message *message)
{
    const tm_status status = counted->match(device, jobs, count, work, message);
    without_room += status == TM_ERR_DEVICE_MEMORY;
    return status;
}

/* Where no more memory comes, it is asked for ever less often. */
static void trials_become_rare(void)
{
    repeated r = {0};
    tm_backend counting;

    set_variable("TMATCH_FAKE_MEMORY", "16000"); /* for more than half of the frame, not for all */
    repeated_open(&r, 1);
    repeated_close(&r);
    counted = library.plugin;
    counting = *counted;
    counting.match = counting_match;
    library.plugin = &counting;
    repeated_open(&r, 1);
    library.plugin = counted;
    set_variable("TMATCH_FAKE_MEMORY", NULL);
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
    repeated r = {0};

    set_variable("TMATCH_FAULT", "0:2:1-");
    repeated_open(&r, 2);
    set_variable("TMATCH_FAULT", NULL);
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
    repeated r = {0};
    tm_message message;

    set_variable("TMATCH_FAULT", "0:2:719");
    repeated_open(&r, 2);
    set_variable("TMATCH_FAULT", NULL);
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

static double ms_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* A device that hangs is given up for good, and may come back whenever it likes. */
static void devices_that_hang_stay_away(void)
{
    for (int devices = 1; devices <= 2; devices++) {
        repeated r = {.limit_ms = 60};
        set_variable("TMATCH_FAULT", "0:3:-1");
        set_variable("TMATCH_FAULT_HANG_MS", "1500"); /* so much longer that a busy machine is told from a wait */
        repeated_open(&r, devices);
        set_variable("TMATCH_FAULT", NULL);
        const double start = ms_now();
        repeated_match(&r);
        const double took = ms_now() - start;
        CHECK(took >= 60 && took < 1490);
        CHECK_STR(r.call.warning.text, devices == 1
                                           ? "cuda:0 did not answer within 0.06 s: the CPU took over"
                                           : "cuda:0 did not answer within 0.06 s: other devices took over");
        CHECK_EQ(r.given_up, 1);
        for (double left = 0; left < 1600; left = ms_now() - start) /* it comes back meanwhile */
            repeated_match(&r);
        CHECK_EQ(r.call.warning.text[0] != '\0', devices == 1);
        CHECK_EQ(r.given_up, 1);
        if (devices == 2)
            CHECK_EQ(r.reports[r.reported - 1].rows, 393);
        repeated_close(&r);
    }
    set_variable("TMATCH_FAULT_HANG_MS", NULL);
}

/* What takes long altogether, and does not hang in one call, is not given up. */
static void slow_devices_are_left_alone(void)
{
    repeated r = {.limit_ms = 60};

    set_variable("TMATCH_FAKE_SLOW", "0:500");
    repeated_open(&r, 1);
    set_variable("TMATCH_FAKE_SLOW", NULL);
    repeated_match(&r);
    CHECK_STR(r.call.warning.text, "");
    CHECK_EQ(r.given_up, 0);
    repeated_close(&r);
}

static void opening_hangs(void)
{
    const int index = 0;
    int given_up = 0;
    const tm_pool_settings settings = {&index, 1, 0, 0, TM_ALGORITHM_AUTO, 50, &given_up, NULL};
    tm_message message;
    tm_pool *pool = NULL;

    require_faults();
    set_variable("TMATCH_FAULT", "0:1:-1");
    CHECK_EQ(tm_pool_create(&pool, library.plugin, &settings, &message), TM_ERR_DEVICE);
    set_variable("TMATCH_FAULT", NULL);
    CHECK_STR(message.text, "cuda:0 did not answer within 0.05 s");
    CHECK(pool == NULL);
    CHECK_EQ(given_up, 1);
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
    picture_noise(samples, WIDTH * WIDTH);
    const tm_image frame = {
        .samples = samples, .width = WIDTH, .height = WIDTH, .stride = WIDTH};
    const tm_image crop = {.samples = samples, .width = SIZE, .height = SIZE, .stride = WIDTH};

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CUDA;
    settings.device_mask = 3;
    tm_search_default(&search, sizeof search);
    search.most = 20; /* more than have room beside each other */
    search.overlap = 0;
    set_variable("TMATCH_FAULT", "0:2:719");
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    set_variable("TMATCH_FAULT", NULL);
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

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(little_memory), TEST(every_fault), TEST(opening_fails), TEST(slow_devices_get_less),
        TEST(warnings_last), TEST(pieces_grow_again), TEST(trials_become_rare),
        TEST(failed_devices_come_back), TEST(lost_devices_stay_away), TEST(every_call_hangs),
        TEST(devices_that_hang_stay_away), TEST(slow_devices_are_left_alone), TEST(opening_hangs),
    };
    alarm(250); /* a hang is a failure */
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
