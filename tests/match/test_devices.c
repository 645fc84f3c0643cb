/* SPDX-License-Identifier: MIT */
/* Every kind of picture, shared by several devices, with the tests' own plugin or the
 * real one: the same bits as the oracle. And devices that nobody asked for. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "kinds.h"
#include "match/cuda_loader.h"
#include "match/pool/pool.h"
#include "pictures.h"

enum { MOST = 4, SIZE = 500, PART = 30, TEMPLATES = 3 };

static tm_cuda_library library;

/* Skips where there are fewer. */
static int require_devices(int least)
{
    tm_message message;
    if (tm_cuda_load(&library, &message) != TM_OK)
        check_skip(message.text);
    const int count = library.plugin->count(&message);
    if (count == 0)
        check_skip(message.text);
    if (count < least)
        check_skip("needs two devices");
    return count;
}

/* Whether the driver has a context for what shares devices in this process; below 0
 * where it has no such call. */
static int is_open(int index)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int (*get)(int *device, int ordinal) = NULL;
    int (*state)(int device, unsigned *flags, int *active) = NULL;
    unsigned flags;
    int device, active = -1;

    if (driver) {
        *(void **)&get = dlsym(driver, "cuDeviceGet");
        *(void **)&state = dlsym(driver, "cuDevicePrimaryCtxGetState");
    }
    if (!get || !state || get(&device, index) != 0 || state(device, &flags, &active) != 0)
        return -1;
    return active;
}

/* A match on cuda:1 takes nothing of cuda:0: no context, and so no memory. To be run
 * before anything else opens that. */
static void other_devices_stay_closed(void)
{
    tm_settings settings;
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_host_memory memory;
    tm_peak best;

    require_devices(2);
    if (is_open(1) < 0)
        check_skip("these devices have no driver that says what is open");
    CHECK_EQ(is_open(0), 0);
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CUDA;
    settings.device_mask = 2;
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_host_alloc(matcher, SIZE * SIZE, &memory), TM_OK);
    uint8_t *samples = memory.data;
    picture_noise(samples, SIZE * SIZE);
    const tm_image frame = {.samples = samples, .width = SIZE, .height = SIZE, .stride = SIZE};
    const tm_image crop = {
        .samples = samples + 70 * SIZE + 90, .width = PART, .height = PART, .stride = SIZE};
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    for (int turn = 0; turn < 2; turn++)
        CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    CHECK(best.x == 90 && best.y == 70 && best.score == 1);
    CHECK_EQ(is_open(1), 1);
    CHECK_EQ(is_open(0), 0);
    tm_template_destroy(&tmpl);
    tm_host_free(matcher, &memory);
    tm_matcher_destroy(&matcher);
    CHECK_EQ(is_open(0), 0);
}

static bool has_cufft;

/* With cuFFT where that is there. */
static tm_pool *open_pool(int count, int devices)
{
    int indices[MOST];
    tm_message message;
    tm_pool *pool;

    for (int i = 0; i < count; i++)
        indices[i] = i % devices;
    tm_pool_settings settings = {indices, count, 0, 0, TM_ALGORITHM_CUFFT, 0, NULL, NULL};
    has_cufft = tm_pool_create(&pool, library.plugin, &settings, &message) == TM_OK;
    if (has_cufft)
        return pool;
    settings.algorithm = TM_ALGORITHM_AUTO;
    if (tm_pool_create(&pool, library.plugin, &settings, &message) != TM_OK)
        check_fail(__FILE__, __LINE__, "no pool: %s", message.text);
    return pool;
}

static tm_status no_rescue(void *context, tm_job *jobs, size_t count, tm_message *message)
{
    (void)context, (void)jobs, (void)count;
    snprintf(message->text, sizeof message->text, "the CPU was asked for help");
    return TM_ERR_INVALID;
}

/* One problem of three by FFT, half of those by cuFFT if it is there. */
static tm_algorithm draw_algorithm(void)
{
    if (check_random() % 3)
        return TM_ALGORITHM_DIRECT;
    return has_cufft && check_random() % 2 ? TM_ALGORITHM_CUFFT : TM_ALGORITHM_FFT;
}

/* By FFT where that is asked for and can be. */
static void run(tm_pool *pool, const kind_problem *p, tm_job *jobs, size_t count,
                tm_algorithm algorithm)
{
    tm_pool_call call = {.jobs = jobs,
                         .count = count,
                         .algorithm = algorithm,
                         .rescue = no_rescue};
    tm_status status = tm_pool_match(pool, &call);
    if (status == TM_ERR_INVALID && strncmp(call.message.text, "no FFT: ", 8) == 0) {
        call.algorithm = TM_ALGORITHM_DIRECT;
        status = tm_pool_match(pool, &call);
    }
    if (status != TM_OK || call.warning.text[0])
        check_fail(__FILE__, __LINE__, "%s: %s%s", p->text, call.message.text, call.warning.text);
}

/* A job of the template's upper rows, and its oracle. False where it cannot be matched. */
static bool make_job(tm_job *job, tm_job *oracle, const kind_problem *p, int64_t rows, bool with_map)
{
    tm_geometry *g = &job->geometry;
    tm_image part = p->tmpl;
    tm_template *tmpl;

    part.height = rows;
    CHECK_EQ(tm_template_prepare(&tmpl, &part), TM_OK);
    if (tmpl->count == 0 || (tmpl->flat && tm_needs_s_f(p->metric))) {
        tm_template_destroy(&tmpl);
        return false;
    }
    *job = (tm_job){.metric = p->metric, .frame = p->frame, .tmpl = tmpl};
    CHECK_EQ(tm_geometry_init(g, p->domain, p->frame.width, p->frame.height, tmpl->width,
                              tmpl->height),
             TM_OK);
    job->last_row = g->map_height;
    const size_t row = (size_t)g->map_width * tm_map_element_size(p->metric);
    *oracle = *job;
    oracle->map = (tm_map){malloc(row * (size_t)g->map_height), (ptrdiff_t)row};
    job->map = (tm_map){with_map ? malloc(row * (size_t)g->map_height) : NULL, (ptrdiff_t)row};
    CHECK(oracle->map.data && (job->map.data || !with_map));
    CHECK_EQ(tm_reference_match(oracle), TM_OK);
    return true;
}

/* Returns the number of the map's elements. */
static int64_t check_job(tm_job *job, tm_job *oracle, const kind_problem *p)
{
    const tm_geometry *g = &job->geometry;
    tm_template *tmpl = (tm_template *)job->tmpl;

    if (job->best.value != oracle->best.value || job->best.position != oracle->best.position)
        check_fail(__FILE__, __LINE__, "%s: best %lld at %lld, expected %lld at %lld", p->text,
                   (long long)job->best.value, (long long)job->best.position,
                   (long long)oracle->best.value, (long long)oracle->best.position);
    if (job->map.data && memcmp(job->map.data, oracle->map.data,
                                (size_t)g->map_height * (size_t)job->map.stride) != 0)
        check_fail(__FILE__, __LINE__, "%s: the maps differ", p->text);
    free(job->map.data);
    free(oracle->map.data);
    tm_template_destroy(&tmpl);
    return g->map_width * g->map_height;
}

/* Templates of several heights: devices get other slices of the frame for each. */
static int64_t compare(tm_pool *pool, const kind_problem *p, tm_algorithm algorithm, bool with_map)
{
    tm_job jobs[TEMPLATES], oracles[TEMPLATES];
    size_t count = 0;
    int64_t elements = 0;

    for (int64_t rows = p->tmpl.height; rows > 0 && count < TEMPLATES; rows /= 2)
        count += make_job(&jobs[count], &oracles[count], p, rows, with_map);
    if (count)
        run(pool, p, jobs, count, algorithm);
    for (size_t i = 0; i < count; i++)
        elements += check_job(&jobs[i], &oracles[i], p);
    return elements;
}

static void random_kinds(void)
{
    const int64_t cases = check_cases(2000);
    const int devices = require_devices(1);
    int64_t elements = 0;

    for (int count = 2; count <= MOST; count++) {
        tm_pool *pool = open_pool(count, devices);
        for (int64_t i = 0; i < cases / (MOST - 1); i++) {
            kind_problem p;
            kind_random(&p, 3e5);
            elements += compare(pool, &p, draw_algorithm(), check_random() % 2);
            kind_free(&p);
        }
        tm_pool_destroy(&pool);
    }
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(other_devices_stay_closed), TEST(random_kinds)};
    alarm(250); /* a hang is a failure */
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
