/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static jmp_buf escape;
static char diagnosis[1024];
static uint64_t state;

enum { FAILED = 1, SKIPPED = 2 };

void check_fail(const char *file, int line, const char *format, ...)
{
    int used = snprintf(diagnosis, sizeof diagnosis, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnosis + used, sizeof diagnosis - (size_t)used, format, arguments);
    va_end(arguments);
    longjmp(escape, FAILED);
}

void check_skip(const char *reason)
{
    snprintf(diagnosis, sizeof diagnosis, "%s", reason);
    longjmp(escape, SKIPPED);
}

/* splitmix64, https://prng.di.unimi.it/splitmix64.c (public domain) */
uint64_t check_random(void)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t check_random_in(int64_t low, int64_t high)
{
    return low + (int64_t)(check_random() % (uint64_t)(high - low + 1));
}

int64_t check_cases(int64_t fallback)
{
    const char *text = getenv("TMATCH_TEST_CASES");
    char *end;

    if (!text)
        return fallback;
    const int64_t number = strtoll(text, &end, 10);
    if (*end != '%')
        return number;
    const int64_t floor = number < 5 ? 10 : 20; /* slow builds have small shares */
    const int64_t share = fallback * number / 100, least = fallback < floor ? fallback : floor;
    return share > least ? share : least;
}

bool check_is_slow(void)
{
    return check_cases(1000) < 50;
}

int64_t check_cases_least(int64_t fallback, int64_t least)
{
    const int64_t cases = check_cases(fallback);
    return cases > least ? cases : least;
}

/* A test that is run by hand takes the CUDA backend of its own build tree: the nearest in
 * a folder above the program's. Meson's tests are told where it is. */
static void find_cuda_backend(void)
{
    char folder[4096], plugin[sizeof folder + 32];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);

    if (length < 0 || getenv("TMATCH_PLUGIN_DIR"))
        return;
    folder[length] = '\0';
    for (char *slash; (slash = strrchr(folder, '/'));) {
        *slash = '\0';
        snprintf(plugin, sizeof plugin, "%s/libtmatch-cuda.so", folder);
        if (access(plugin, R_OK) == 0) {
            setenv("TMATCH_PLUGIN_DIR", folder, 1);
            return;
        }
    }
}

/* Whether the name contains one of the filter's words, which commas part. */
static bool is_wanted(const char *name, const char *filter)
{
    char word[64];
    for (;;) {
        const size_t length = strcspn(filter, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, filter);
        if (strstr(name, word))
            return true;
        if (!filter[length])
            return false;
        filter += length + 1;
    }
}

int check_main(const check_test *tests, size_t count, int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : "";
    const char *seed_text = getenv("TMATCH_TEST_SEED");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10)
                              : (uint64_t)time(NULL) * 1000003u + (uint64_t)clock();
    static int failed;
    int ran = 0;

    find_cuda_backend();
    for (size_t i = 0; i < count; i++)
        ran += is_wanted(tests[i].name, filter);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("1..%d\n# TMATCH_TEST_SEED=%" PRIu64 "\n", ran, seed);
    if (!ran) {
        printf("Bail out! no test is named *%s*\n", filter);
        return EXIT_FAILURE;
    }

    volatile int number = 0;
    for (volatile size_t i = 0; i < count; i++) {
        if (!is_wanted(tests[i].name, filter))
            continue;
        number = number + 1;
        state = seed;
        switch (setjmp(escape)) {
        case 0:
            tests[i].run();
            printf("ok %d %s\n", number, tests[i].name);
            break;
        case SKIPPED:
            printf("ok %d %s # SKIP %s\n", number, tests[i].name, diagnosis);
            break;
        default:
            printf("not ok %d %s\n# %s\n", number, tests[i].name, diagnosis);
            /* what runs the tests may show no more than this */
            fprintf(stderr, "%s: %s (TMATCH_TEST_SEED=%" PRIu64 ")\n", tests[i].name, diagnosis,
                    seed);
            failed++;
        }
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
