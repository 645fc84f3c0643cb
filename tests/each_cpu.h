/* SPDX-License-Identifier: MIT */
/* Tests that are run with plain C alone and with each instruction set's kernels. The program defines
 * functions that take the bits of a set, and says which:
 *
 *     static void finds_all(uint32_t features) { ... }
 *     #define CPU_TEST(X, ...) X(__VA_ARGS__, finds_all)
 *     DEFINE_CPU_TESTS
 *     static const check_test tests[] = {CPU_TESTS TEST(others)};
 *
 * cpu_c_finds_all, cpu_avx2_finds_all and so on are skipped where they would run another set's. */
#ifndef TMATCH_TESTS_EACH_CPU_H
#define TMATCH_TESTS_EACH_CPU_H

#include "backends.h"
#include "check.h"
#include "lcc/cpu/instruction_sets.h"

#define DEFINE_CPU_TEST(isa, name, run)     \
    static void cpu_##isa##_##run(void)     \
    {                                       \
        run(require_features(name));        \
    }
#define DEFINE_SET(HAVE, isa, name, bit, needed, detected) CPU_TEST(DEFINE_CPU_TEST, isa, name)
#define DEFINE_CPU_TESTS DEFINE_SET(, c, "none", , , ) TM_EACH_INSTRUCTION_SET(DEFINE_SET)

#define LIST_CPU_TEST(isa, name, run) TEST(cpu_##isa##_##run),
#define LIST_SET(HAVE, isa, name, bit, needed, detected) CPU_TEST(LIST_CPU_TEST, isa, name)
#define CPU_TESTS LIST_SET(, c, "none", , , ) TM_EACH_INSTRUCTION_SET(LIST_SET)

#endif
