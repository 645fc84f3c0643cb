/* SPDX-License-Identifier: MIT */
/* Costs that are measured, kept as text, and planned by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "clock.h"
#include "match/costs.h"
#include "pictures.h"

static const tm_device_info gpu = {.kind = TM_DEVICE_CUDA, .units = 46, .name = "Some GPU", .detail = "capability, driver"};
static const tm_rates some = {1.5, 0.25, 3, 20, 1, 0.9, 1.1};

static void text_comes_back(void)
{
    char text[2048] = "";
    tm_device_info other = gpu;
    tm_rates rates;

    CHECK(!tm_costs_find(NULL, &gpu, &rates) && !tm_costs_find("", &gpu, &rates));
    CHECK(tm_costs_add(text, sizeof text, &gpu, &some) && tm_costs_find(text, &gpu, &rates));
    CHECK(memcmp(&rates, &some, sizeof rates) == 0);
    CHECK(tm_costs_have(text, &gpu) == 1 && tm_costs_have(text, NULL) == 0);
    strcpy(other.detail, "another driver");
    CHECK(!tm_costs_find(text, &other, &rates));
    other = gpu;
    other.units++;
    CHECK(!tm_costs_find(text, &other, &rates));
    other = gpu;
    other.index = 3; /* the second card of a kind is as quick as the first */
    CHECK(tm_costs_find(text, &other, &rates));
    strcpy(other.name, "a\tb\nc"); /* no name breaks the lines */
    CHECK(!tm_costs_add(text, sizeof text, &other, &some) && strchr(text, '\n') == strrchr(text, '\n'));
    CHECK(!tm_costs_add(text, strlen(text) + 5, &gpu, &some));
}

static void last_whole_line_counts(void)
{
    char text[4096] = "", cut[4096];
    const tm_rates second = {2, 2, 2, 2, 2, 2, 2};
    tm_rates rates;

    CHECK(tm_costs_add(text, sizeof text, &gpu, &some) && tm_costs_add(text, sizeof text, &gpu, &second));
    CHECK(tm_costs_find(text, &gpu, &rates) && rates.fft == 2);
    for (size_t length = strlen(text); length-- > 0;) { /* wherever it is cut short */
        memcpy(cut, text, length);
        cut[length] = '\0';
        const bool found = tm_costs_find(cut, &gpu, &rates);
        CHECK(found == (strchr(cut, '\n') != NULL) && (!found || rates.fft == 20));
    }
    for (size_t i = 0; i < strlen(text); i++) { /* whatever is changed, nothing unreasonable is read */
        strcpy(cut, text);
        cut[i] = "-9 =\n\tz"[i % 8];
        if (tm_costs_find(cut, &gpu, &rates))
            CHECK(rates.windows > 0 && rates.products > 0 && rates.fft > 0 && rates.fft <= 1000);
    }
}

static tm_settings settings_for(tm_device_kind device, const char *costs)
{
    tm_settings s;
    tm_settings_default(&s, sizeof s);
    s.device = device;
    s.costs = costs;
    return s;
}

static bool plans_by_them(tm_device_kind device, const char *costs)
{
    static uint8_t samples[200 * 200];
    const tm_image frame = {.samples = samples, .width = 200, .height = 200, .stride = 200};
    const tm_image part = {.samples = samples, .width = 20, .height = 20, .stride = 200};
    const tm_settings s = settings_for(device, costs);
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak best;

    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i * i >> 3);
    CHECK_EQ(tm_matcher_create(&matcher, &s), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &part), TM_OK);
    CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    const bool said = strstr(tm_matcher_plan(matcher), "by what was measured here") != NULL;
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return said;
}

/* The fake devices take as long as TMATCH_FAKE_TIMES says, four of one name. */
static void measures(void)
{
    if (check_is_slow())
        check_skip("few cases were asked for"); /* in an emulator no time says anything */
    char text[8192], all[16384] = "";
    tm_device_info cpu, fake = {.kind = TM_DEVICE_CUDA, .units = 1, .name = "fake"};
    tm_matcher *matcher;
    tm_rates rates;

    setenv("TMATCH_FAKE_TIMES", "2.5", 1);
    for (int device = TM_DEVICE_CPU; device <= TM_DEVICE_CUDA; device++) {
        const tm_settings s = settings_for((tm_device_kind)device, NULL);
        CHECK_EQ(tm_matcher_create(&matcher, &s), TM_OK);
        CHECK_EQ(tm_matcher_calibrate(matcher, text, 50), TM_ERR_INVALID);
        CHECK_EQ(tm_matcher_calibrate(matcher, text, sizeof text), TM_OK);
        CHECK_EQ(tm_matcher_calibrate(matcher, NULL, 0), TM_ERR_INVALID);
        strcat(all, text);
        tm_matcher_destroy(&matcher);
    }
    tm_costs_cpu(&cpu, UINT32_MAX);
    CHECK(tm_costs_find(all, &cpu, &rates) && rates.products > 0.05 && rates.products < 100);
    CHECK(tm_costs_find(all, &fake, &rates));
    printf("# rates of the fake device %.3f and %.3f\n", rates.plain, rates.floats);
    CHECK(rates.plain > 2.4 && rates.plain < 2.7 && rates.floats > 2.4 && rates.floats < 2.7);
    CHECK(rates.fft == 1 && rates.windows == 1 && rates.products == 1); /* it has no FFT and no tensor cores */
    CHECK(plans_by_them(TM_DEVICE_CPU, all) && plans_by_them(TM_DEVICE_CUDA, all));
    CHECK(!plans_by_them(TM_DEVICE_CPU, NULL) && !plans_by_them(TM_DEVICE_CUDA, "no line of ours"));

    const tm_settings s = settings_for(TM_DEVICE_CUDA, NULL);
    setenv("TMATCH_FAKE_TIMES", "80", 1); /* a device that others keep busy */
    CHECK_EQ(tm_matcher_create(&matcher, &s), TM_OK);
    CHECK_EQ(tm_matcher_calibrate(matcher, text, sizeof text), TM_ERR_DEVICE);
    CHECK(strstr(tm_matcher_message(matcher), "cuda:0 took ") != NULL);
    tm_matcher_destroy(&matcher);
    setenv("TMATCH_FAKE_TIMES", "2.5", 1);

    setenv("TMATCH_FAULT", "0:9:214", 1); /* a device that fails while it is measured */
    CHECK_EQ(tm_matcher_create(&matcher, &s), TM_OK);
    CHECK_EQ(tm_matcher_calibrate(matcher, text, sizeof text), TM_ERR_DEVICE);
    CHECK(strstr(tm_matcher_message(matcher), "injected error 214") != NULL);
    tm_matcher_destroy(&matcher);
    unsetenv("TMATCH_FAULT");
}

/* A device of the machine, whose times nobody knows: what is measured is reasonable, and choices by it
 * find what others find. */
static void cuda_measures(void)
{
    static uint8_t samples[700 * 700];
    const tm_image frame = {.samples = samples, .width = 700, .height = 700, .stride = 700};
    tm_settings s = settings_for(TM_DEVICE_CUDA, NULL);
    tm_device_info devices[2];
    char text[8192], why[256];
    tm_matcher *matcher;
    size_t count;
    tm_rates r;

    setenv("TMATCH_FAKE_TIMES", "1", 1);
    CHECK_EQ(tm_list_devices(devices, 2, &count, why, sizeof why), TM_OK);
    if (count < 2)
        check_skip(why);
    CHECK_EQ(tm_matcher_create(&matcher, &s), TM_OK);
    const double begun = clock_ms();
    CHECK_EQ(tm_matcher_calibrate(matcher, text, sizeof text), TM_OK);
    tm_matcher_destroy(&matcher);
    CHECK(tm_costs_find(text, &devices[1], &r));
    printf("# %s: %.1f s; windows %.3f, products %.3f, plain %.3f, fft %.3f, floats %.3f, pinned %.3f, pageable %.3f\n",
           devices[1].name, (clock_ms() - begun) * 1e-3, r.windows, r.products, r.plain, r.fft, r.floats, r.pinned,
           r.pageable);
    const double rates[] = {r.windows, r.products, r.plain, r.fft, r.floats, r.pinned, r.pageable};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        CHECK(rates[i] > 0.02 && rates[i] < 50);

    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(check_random() >> 24);
    for (int size = 8; size <= 256; size *= 4) {
        const tm_image part = {.samples = samples + 90 * 700 + 120, .width = size, .height = size, .stride = 700};
        tm_peak found[2];
        for (int measured = 0; measured < 2; measured++) {
            tm_template *tmpl;
            s.costs = measured ? text : NULL;
            CHECK_EQ(tm_matcher_create(&matcher, &s), TM_OK);
            CHECK_EQ(tm_template_create(&tmpl, matcher, &part), TM_OK);
            CHECK_EQ(tm_match(matcher, &frame, tmpl, &found[measured], NULL), TM_OK);
            tm_template_destroy(&tmpl);
            tm_matcher_destroy(&matcher);
        }
        CHECK(found[0].x == 120 && found[0].y == 90 && memcmp(&found[0], &found[1], sizeof *found) == 0);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(text_comes_back), TEST(last_whole_line_counts), TEST(measures), TEST(cuda_measures)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
