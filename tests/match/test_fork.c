/* SPDX-License-Identifier: MIT */
/* A matcher goes on in a process that was forked. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pictures.h"
#include "tmatch/tmatch.h"

/* Matches and looks for peaks, once more with a matcher made anew. 0 if all is well. */
static int match_forked(tm_matcher *matcher, const tm_image *image, const tm_template *tmpl)
{
    tm_settings settings;
    tm_search search;
    tm_matcher *own = NULL;
    tm_hits hits;
    tm_peak best = {0};

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.threads = 2;
    tm_search_default(&search, sizeof search);
    if (tm_match(matcher, image, tmpl, &best, NULL) != TM_OK || best.x != 131 || best.y != 120)
        return 1;
    if (tm_match_peaks(matcher, image, &tmpl, 1, &search, &hits, NULL) != TM_OK)
        return 2;
    tm_hits_free(&hits);
    if (tm_matcher_create(&own, &settings) != TM_OK ||
        tm_match(own, image, tmpl, &best, NULL) != TM_OK || best.score != 1)
        return 3;
    tm_matcher_destroy(&own);
    tm_matcher_destroy(&matcher);
    return 0;
}

/* The status of a child that does it, and of a child of the child. */
static int fork_and_match(tm_matcher *matcher, const tm_image *image, const tm_template *tmpl,
                          int depth)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60); /* a child that hangs is killed */
        int result = depth > 1 ? fork_and_match(matcher, image, tmpl, depth - 1) : 0;
        _exit(result ? result : match_forked(matcher, image, tmpl));
    }
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status;
}

/* Two threads match, directly and by FFT: a team of OpenMP's does not survive a fork. */
static void matches_in_a_forked_process(void)
{
    enum { SIDE = 400 };
    static uint8_t samples[SIDE * SIDE];
    const tm_algorithm algorithms[] = {TM_ALGORITHM_DIRECT, TM_ALGORITHM_AUTO, TM_ALGORITHM_FFT};
    tm_image image = {.samples = samples, .width = SIDE, .height = SIDE, .stride = SIDE};
    tm_image crop = {.samples = samples + 120 * SIDE + 131, .width = 90, .height = 70, .stride = SIDE};

    if (getenv("MESON_EXE_WRAPPER"))
        check_skip("emulators fork a process of several threads in their own way");
    picture_noise(samples, sizeof samples);
    for (int i = 0; i < 3; i++) {
        tm_settings settings;
        tm_matcher *matcher;
        tm_settings_default(&settings, sizeof settings);
        settings.device = TM_DEVICE_CPU;
        settings.threads = 2;
        settings.algorithm = algorithms[i];
        tm_template *tmpl;
        tm_peak best;
        CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
        CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
        CHECK_EQ(tm_match(matcher, &image, tmpl, &best, NULL), TM_OK);
        CHECK_EQ(fork_and_match(matcher, &image, tmpl, 2), 0);
        CHECK_EQ(tm_match(matcher, &image, tmpl, &best, NULL), TM_OK);
        tm_template_destroy(&tmpl);
        tm_matcher_destroy(&matcher);
    }
}

/* A matcher of two threads in the calling thread, for the first time. 0 if all is well. */
static int match_small(void)
{
    enum { SIDE = 300 };
    static const uint8_t samples[SIDE * SIDE] = {[SIDE + 1] = 7, [SIDE + 2] = 200, [2 * SIDE + 1] = 90};
    const tm_image image = {.samples = samples, .width = SIDE, .height = SIDE, .stride = SIDE};
    const tm_image crop = {.samples = samples + SIDE + 1, .width = 2, .height = 2, .stride = SIDE};
    tm_settings settings;
    tm_matcher *matcher;
    tm_template *tmpl = NULL;
    tm_peak best;

    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.threads = 2;
    settings.algorithm = TM_ALGORITHM_DIRECT;
    const bool good = tm_matcher_create(&matcher, &settings) == TM_OK &&
                      tm_template_create(&tmpl, matcher, &crop) == TM_OK &&
                      tm_match(matcher, &image, tmpl, &best, NULL) == TM_OK && best.x == 1 &&
                      best.y == 1;
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
    return !good;
}

static void *match_once(void *failed)
{
    atomic_fetch_or((atomic_int *)failed, match_small());
    return NULL;
}

typedef struct other_thread {
    atomic_bool stop;
    atomic_int failed;
} other_thread;

static void *start_teams(void *argument)
{
    other_thread *other = argument;
    while (!atomic_load(&other->stop)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, match_once, &other->failed) == 0)
            pthread_join(thread, NULL);
    }
    return NULL;
}

/* No lock may stay closed in a child that another thread held when the process was forked. */
static void forks_while_another_thread_matches(void)
{
    other_thread other = {.stop = false};
    pthread_t thread;

    if (getenv("MESON_EXE_WRAPPER"))
        check_skip("emulators fork a process of several threads in their own way");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    check_skip("the sanitizer's own allocator may be locked where another thread allocates");
#endif
    CHECK_EQ(pthread_create(&thread, NULL, start_teams, &other), 0);
    int failures = 0;
    for (int i = 0; i < 200 && !failures; i++) {
        int status = -1;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            _exit(match_small());
        }
        failures += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    atomic_store(&other.stop, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(failures, 0);
    CHECK_EQ(atomic_load(&other.failed), 0);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(matches_in_a_forked_process),
        TEST(forks_while_another_thread_matches),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
