/* SPDX-License-Identifier: MIT */
/* A test runner that needs no library: TAP on standard output, one line a test.
 *
 *     static void adds(void) { CHECK(1 + 1 == 2); CHECK_EQ(1 + 1, 2); }
 *     int main(int argc, char **argv)
 *     {
 *         static const check_test tests[] = {TEST(adds)};
 *         return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
 *     }
 *
 * A failed check ends its test. Random tests draw from check_random(), whose
 * seed is printed and comes from TMATCH_TEST_SEED or the clock. */
#ifndef TMATCH_TESTS_CHECK_H
#define TMATCH_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct check_test {
    const char *name;
    void (*run)(void);
} check_test;

#define TEST(function) {#function, function}

/* Runs all tests, or those whose names contain one of the words in argv[1], which commas part. Fails if none ran. Without
 * TMATCH_PLUGIN_DIR the CUDA backend is that of the build tree around the program. */
int check_main(const check_test *tests, size_t count, int argc, char **argv);

_Noreturn void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void check_skip(const char *reason);

/* Uniform over 64 bits, and over [low, high]. */
uint64_t check_random(void);
int64_t check_random_in(int64_t low, int64_t high);

/* Number of random cases: the given default, or TMATCH_TEST_CASES, which is a number or, as in 5%, a share of each
 * test's default; a share is never fewer than 20 cases, or 10 where it is less than 5%, or the default if that is less. */
int64_t check_cases(int64_t fallback);

/* Whether so few of them are wanted, less than a twentieth, that tests whose work is none of these do less of it, too:
 * under sanitizers and in an emulator. */
bool check_is_slow(void);

/* As check_cases, but never fewer than that: for what is so on average, or now and then, and is checked after all cases. */
int64_t check_cases_least(int64_t fallback, int64_t least);

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition))                                          \
            check_fail(__FILE__, __LINE__, "%s", #condition);      \
    } while (0)

#define CHECK_EQ(a, b)                                                                       \
    do {                                                                                     \
        int64_t check_a = (int64_t)(a), check_b = (int64_t)(b);                              \
        if (check_a != check_b)                                                              \
            check_fail(__FILE__, __LINE__, "%s == %s: %" PRId64 " and %" PRId64, #a, #b, check_a, check_b); \
    } while (0)

#define CHECK_STR(a, b)                                                                      \
    do {                                                                                     \
        const char *check_a = (a), *check_b = (b);                                           \
        if (strcmp(check_a, check_b) != 0)                                                   \
            check_fail(__FILE__, __LINE__, "%s: \"%s\", expected \"%s\"", #a, check_a, check_b); \
    } while (0)

#endif
