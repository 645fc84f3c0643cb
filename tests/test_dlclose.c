/* SPDX-License-Identifier: MIT */
/* The library as a plugin of a program that knows nothing of it. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tmatch/tmatch.h>

#include "check.h"
#include "pictures.h"

enum { WIDTH = 1000, HEIGHT = 600, SIZE = 24, X = 111, Y = 77 };

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (!address)
        check_fail(__FILE__, __LINE__, "%s: %s", name, dlerror());
    return address;
}

typedef struct api {
    void (*settings_default)(tm_settings *settings, size_t size);
    tm_status (*matcher_create)(tm_matcher **matcher, const tm_settings *settings);
    void (*matcher_destroy)(tm_matcher **matcher);
    tm_status (*template_create)(tm_template **tmpl, tm_matcher *matcher, const tm_image *image);
    void (*template_destroy)(tm_template **tmpl);
    tm_status (*match)(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl, tm_peak *best,
                       const tm_map *map);
} api;

/* POSIX lets a pointer to void be one to a function; ISO C does not. */
#define LOAD(library, table, name)                          \
    do {                                                    \
        void *address = symbol(library, "tm_" #name);       \
        memcpy(&(table).name, &address, sizeof (table).name); \
    } while (0)

static void match_with(void *library, tm_algorithm algorithm)
{
    api tm;
    static uint8_t pixels[WIDTH * HEIGHT];
    tm_image frame = {.samples = pixels, .width = WIDTH, .height = HEIGHT, .stride = WIDTH};
    tm_image crop = {.samples = pixels + Y * WIDTH + X, .width = SIZE, .height = SIZE, .stride = WIDTH};
    tm_settings settings;
    tm_matcher *matcher = NULL;
    tm_template *tmpl = NULL;
    tm_peak best;

    LOAD(library, tm, settings_default);
    LOAD(library, tm, matcher_create);
    LOAD(library, tm, matcher_destroy);
    LOAD(library, tm, template_create);
    LOAD(library, tm, template_destroy);
    LOAD(library, tm, match);
    picture_noise(pixels, sizeof pixels);
    tm.settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.algorithm = algorithm;
    settings.threads = 2;
    CHECK_EQ(tm.matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm.template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm.match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    CHECK_EQ(best.x, X);
    CHECK_EQ(best.y, Y);
    tm.template_destroy(&tmpl);
    tm.matcher_destroy(&matcher);
}

static void matches_and_is_closed(tm_algorithm algorithm)
{
    const char *path = getenv("TMATCH_LIBRARY");

    if (!path)
        check_skip("TMATCH_LIBRARY is not set");
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            check_fail(__FILE__, __LINE__, "%s", dlerror());
        match_with(library, algorithm);
        CHECK_EQ(dlclose(library), 0);
        /* Threads that are left over wake up when they tire of spinning. */
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

static void direct(void)
{
    matches_and_is_closed(TM_ALGORITHM_DIRECT);
}

static void fft(void)
{
    matches_and_is_closed(TM_ALGORITHM_FFT);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(direct), TEST(fft)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
