/* SPDX-License-Identifier: MIT */
/* Frames, templates, maps and best matches in a device's memory, in the order of the caller's stream:
 * the bits that the CPU finds in the host's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "device_frames.h"
#include "f32_problem.h"
#include "lcc/metrics.h"

static tm_settings on_cuda(void)
{
    const tm_algorithm algorithm = check_random() % 3 ? TM_ALGORITHM_AUTO : TM_ALGORITHM_DIRECT;
    return settings_of(TM_DEVICE_CUDA, algorithm, 1);
}

static tm_matcher *random_matcher(kind_problem *p)
{
    const tm_settings settings = on_cuda();
    p->metric = (tm_metric)check_random_in(0, TM_METRICS - 1);
    p->domain = (tm_domain)(check_random() % 2 ? 0 : check_random_in(1, 2));
    return kept_matcher(p, &settings);
}

/* The frame is launched on the stream before the call, and is overwritten after it. */
static void run_random(int device, void *stream, tm_matcher *m, const kind_problem *p)
{
    const int where = (int)check_random_in(0, 2); /* no map, on the device, on the host */
    device_case c;

    if (device_case_draw(&c, p->metric, p->domain, m, device, stream)) {
        const tm_map maps[] = {{0}, device_case_map(&c), {c.got_map, c.stride}};
        const tm_template *t = c.prepared;
        tm_peak best = {0};
        put_picture(&c.frame);
        const tm_status status = tm_match_device(m, &c.frame.image, &t, 1, &best, where ? &maps[where] : NULL);
        if (status != c.matched)
            check_fail(__FILE__, __LINE__, "%s: %s", c.problem.text, tm_matcher_message(m));
        spoil_picture(&c.frame);
        if (where == 1) {
            device_case_get(&c, stream, false);
            device_stream_wait(stream);
        }
        if (where)
            device_case_check_map(&c);
        if (status == TM_OK) {
            device_case_check_best(&c, &best);
            check_device_report(m, device);
        }
        device_stream_wait(stream);
    }
    device_case_free(&c);
}

static void random_kinds(void)
{
    require_device_memory();
    void *stream = device_stream(0);
    for (int64_t i = check_cases(400); i > 0; i--) {
        kind_problem p;
        tm_matcher *m = random_matcher(&p);
        run_random(0, check_random() % 8 ? stream : NULL, m, &p);
    }
    device_stream_free(stream);
}

/* Several calls, and what is done with their results, before anything is waited for. */
static void without_waiting(void)
{
    enum { MOST = 4 };
    require_device_memory();
    void *streams[] = {device_stream(0), device_stream(0), NULL};
    for (int64_t i = check_cases(400) / 3; i > 0; i--) {
        kind_problem p;
        tm_matcher *m = random_matcher(&p);
        device_case cases[MOST];
        bool good[MOST];
        void *stream[MOST];
        const int count = (int)check_random_in(1, MOST);
        for (int k = 0; k < count; k++) {
            stream[k] = streams[check_random_in(0, 2)];
            good[k] = device_case_draw(&cases[k], p.metric, p.domain, m, 0, stream[k]);
        }
        for (int k = 0; k < count; k++) {
            device_case *c = &cases[k];
            const tm_template *t = c->prepared;
            const tm_map map = device_case_map(c);
            const bool best = check_random() % 4;
            if (!good[k])
                continue;
            put_picture(&c->frame);
            if (tm_match_device_async(m, &c->frame.image, &t, 1, best ? c->device_best : NULL, &map) != TM_OK)
                check_fail(__FILE__, __LINE__, "%s: %s", c->problem.text, tm_matcher_message(m));
            device_case_get(c, stream[k], best);
            spoil_picture(&c->frame);
            if (!best)
                *c->got_best = c->matched == TM_OK ? c->best : (tm_peak){-1, -1, NAN};
        }
        for (int k = 0; k < 3; k++)
            device_stream_wait(streams[k]);
        for (int k = 0; k < count; k++) {
            if (good[k]) {
                device_case_check_map(&cases[k]);
                device_case_check_best(&cases[k], cases[k].got_best);
            }
            device_case_free(&cases[k]);
        }
    }
    device_stream_free(streams[0]);
    device_stream_free(streams[1]);
}

/* After the first calls nothing is waited for, by whichever algorithm. */
static void waits_for_nothing(void)
{
    require_device_memory();
    if (!device_is_emulated())
        check_skip("only the emulated device counts its steps");
    void *stream = device_stream(0);
    for (int64_t i = check_cases(400) / 20; i > 0; i--) {
        kind_problem p;
        tm_matcher *m = random_matcher(&p);
        device_case c;
        if (device_case_draw(&c, p.metric, p.domain, m, 0, stream)) {
            const tm_template *t = c.prepared;
            const tm_map map = device_case_map(&c);
            put_picture(&c.frame);
            for (int k = 0; k < 4; k++) {
                const int64_t before = device_steps();
                CHECK_EQ(tm_match_device_async(m, &c.frame.image, &t, 1, c.device_best, &map), TM_OK);
                CHECK(k < 1 || device_steps() == before);
            }
            device_case_get(&c, stream, true);
            device_stream_wait(stream);
            device_case_check_map(&c);
        }
        device_case_free(&c);
    }
    device_stream_free(stream);
}

/* Floats: the bits of the same device with the frame on the host, and samples that are not finite. */
static void floats(void)
{
    require_device_memory();
    void *stream = device_stream(0);
    tm_peak *there = device_alloc(0, sizeof *there), *back = device_alloc_host(sizeof *back);
    for (int64_t i = check_cases(400) / 8; i > 0; i--) {
        int64_t size[4];
        f32_problem f;
        placed_picture placed;
        tm_template *t = NULL;
        tm_peak expected, got;
        kind_problem p;
        const tm_settings settings = settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 1);
        p.metric = (tm_metric)check_random_in(0, TM_METRICS - 1);
        p.domain = (tm_domain)check_random_in(0, 2);
        tm_matcher *m = kept_matcher(&p, &settings);
        f32_random_size(size);
        f32_problem_make(&f, size);
        if (tm_template_create(&t, m, &f.tmpl) == TM_OK) {
            place_picture(&placed, &f.frame, 0, stream);
            put_picture(&placed);
            const tm_template *list = t;
            const tm_status status = tm_match(m, &f.frame, t, &expected, NULL);
            CHECK_EQ(tm_match_device(m, &placed.image, &list, 1, &got, NULL), status);
            CHECK_EQ(tm_match_device_async(m, &placed.image, &list, 1, there, NULL), TM_OK);
            device_get(back, there, sizeof *back, stream);
            device_stream_wait(stream);
            if (status == TM_OK) {
                CHECK(memcmp(&got, &expected, sizeof got) == 0);
                CHECK(memcmp(back, &expected, sizeof got) == 0);
            } else {
                CHECK(back->x == -1 && isnan(back->score));
            }
            placed_picture_free(&placed);
        }
        tm_template_destroy(&t);
        f32_problem_free(&f);
    }
    device_free(there);
    device_free_host(back);
    device_stream_free(stream);
}

/* The frame in less and less memory, by bands at last, whose rows are counted from the frame's first. Says
 * in how many limits it was found wanting. */
static int in_little_memory(const tm_device_image *frame, const tm_image *tmpl, const char *text)
{
    tm_settings settings = settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_DIRECT, 1);
    int found = 0;

    for (settings.device_memory = 3000000; settings.device_memory > 0; settings.device_memory -= 50000) {
        tm_matcher *m;
        tm_template *t = NULL;
        tm_peak best;
        tm_status status = tm_matcher_create(&m, &settings);
        if (status == TM_OK) {
            CHECK_EQ(tm_template_create(&t, m, tmpl), TM_OK);
            const tm_template *list = t;
            status = tm_match_device(m, frame, &list, 1, &best, NULL);
            CHECK(status == TM_ERR_INVALID || status == TM_ERR_DEVICE_MEMORY);
            if (status == TM_ERR_INVALID)
                CHECK(strstr(tm_matcher_message(m), text));
            found += status == TM_ERR_INVALID;
            tm_template_destroy(&t);
        }
        tm_matcher_destroy(&m);
        if (status == TM_ERR_DEVICE_MEMORY)
            break;
    }
    return found;
}

static void floats_that_are_not_finite(void)
{
    enum { W = 40, H = 300, CHANNELS = 2 };
    static const struct {
        float value;
        const char *text;
    } bad[] = {{NAN, "sample nan at x=7 y=251"}, {INFINITY, "sample inf at x=7 y=251"}, {-INFINITY, "sample -inf at x=7 y=251"}};
    static float samples[H * W * CHANNELS];
    require_device_memory();
    const tm_image frame = {.samples = (const uint8_t *)samples, .width = W, .height = H,
                            .stride = W * CHANNELS * sizeof(float), .type = TM_SAMPLE_F32, .channels = CHANNELS};
    tm_image crop = frame;
    crop.width = crop.height = 9;
    void *stream = device_stream(0);
    tm_peak *there = device_alloc(0, sizeof *there), *back = device_alloc_host(sizeof *back);
    for (int i = 0; i < H * W * CHANNELS; i++)
        samples[i] = (float)check_random_in(0, 255) / 255;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tm_settings settings = settings_of(TM_DEVICE_CUDA, i % 2 ? TM_ALGORITHM_AUTO : TM_ALGORITHM_FFT, 1);
        tm_matcher *m;
        tm_template *t;
        tm_peak best;
        placed_picture placed;
        CHECK_EQ(tm_matcher_create(&m, &settings), TM_OK);
        CHECK_EQ(tm_template_create(&t, m, &crop), TM_OK);
        const tm_template *list = t;
        float *sample = &samples[(251 * W + 7) * CHANNELS + 1];
        const float before = *sample;
        *sample = bad[i].value;
        place_picture(&placed, &frame, 0, stream);
        *sample = before;
        put_picture(&placed);
        CHECK_EQ(tm_match_device(m, &placed.image, &list, 1, &best, NULL), TM_ERR_INVALID);
        if (!strstr(tm_matcher_message(m), bad[i].text))
            check_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", tm_matcher_message(m), bad[i].text);
        CHECK_EQ(tm_match_device_async(m, &placed.image, &list, 1, there, NULL), TM_OK);
        device_get(back, there, sizeof *back, stream);
        device_stream_wait(stream);
        CHECK(back->x == -1 && back->y == -1 && isnan(back->score));
        CHECK_EQ(tm_match(m, &frame, t, &best, NULL), TM_OK);
        tm_template_destroy(&t);
        tm_matcher_destroy(&m);
        printf("# in bands of %d limits of memory\n", in_little_memory(&placed.image, &crop, bad[i].text));
        placed_picture_free(&placed);
    }
    device_free(there);
    device_free_host(back);
    device_stream_free(stream);
}

/* A matcher with a limit of time works in a thread of its own. */
static void limited_time(void)
{
    require_device_memory();
    tm_settings settings = settings_of(TM_DEVICE_CUDA, TM_ALGORITHM_AUTO, 1);
    kind_problem p = {.metric = TM_METRIC_LCC};
    void *stream = device_stream(0);
    settings.device_timeout = 600;
    for (int64_t i = check_cases(400) / 20; i > 0; i--)
        run_random(0, check_random() % 2 ? stream : NULL, kept_matcher(&p, &settings), &p);
    device_stream_free(stream);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(random_kinds), TEST(without_waiting),           TEST(waits_for_nothing),
        TEST(floats),       TEST(floats_that_are_not_finite), TEST(limited_time),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
