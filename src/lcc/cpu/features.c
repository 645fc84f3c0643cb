/* SPDX-License-Identifier: MIT */
/* What the processor and the operating system offer, and the names for it. */
#include <stdbool.h>
#include <string.h>

#include "tmatch/tmatch.h"

#if TM_HAVE_X86
#include <cpuid.h>
#if TM_HAVE_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif TM_HAVE_DOTPROD
#include <sys/auxv.h>
#endif

#if TM_HAVE_X86
#if TM_HAVE_AMX
/* Tiles are 8 KiB of state a thread: Linux enables them for a process that asks. */
static bool tiles_permitted(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#endif

static uint32_t detect(void)
{
    unsigned eax, ebx, ecx, edx;
    uint32_t features = 0;

    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.1"))
        features |= TM_CPU_SSE41;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return features;
    features |= TM_CPU_AVX2;
#if TM_HAVE_AVXVNNI
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & (1u << 4)))
        features |= TM_CPU_AVXVNNI;
#endif
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return features;
    features |= TM_CPU_AVX512BW;
    if (!__builtin_cpu_supports("avx512vnni"))
        return features;
    features |= TM_CPU_AVX512VNNI;
#if TM_HAVE_AMX
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & (1u << 24)) &&
        (edx & (1u << 25)) && tiles_permitted())
        features |= TM_CPU_AMX_INT8;
#endif
    (void)eax, (void)ebx, (void)ecx, (void)edx;
    return features;
}
#elif TM_HAVE_DOTPROD
static uint32_t detect(void)
{
    enum { HWCAP_DOTPROD = 1 << 20 };
    return getauxval(AT_HWCAP) & HWCAP_DOTPROD ? TM_CPU_DOTPROD : 0;
}
#else
static uint32_t detect(void)
{
    return 0;
}
#endif

uint32_t tm_cpu_features(void)
{
    return detect();
}

/* A name stands for its set and for those that it builds on. */
static const struct {
    const char *name;
    uint32_t set, features;
} names[] = {
    {"none", 0, 0},
    {"sse4.1", TM_CPU_SSE41, TM_CPU_SSE41},
    {"avx2", TM_CPU_AVX2, TM_CPU_SSE41 | TM_CPU_AVX2},
    {"avxvnni", TM_CPU_AVXVNNI, TM_CPU_SSE41 | TM_CPU_AVX2 | TM_CPU_AVXVNNI},
    {"avx512bw", TM_CPU_AVX512BW, TM_CPU_SSE41 | TM_CPU_AVX2 | TM_CPU_AVX512BW},
    {"avx512vnni", TM_CPU_AVX512VNNI,
     TM_CPU_SSE41 | TM_CPU_AVX2 | TM_CPU_AVX512BW | TM_CPU_AVX512VNNI},
    {"amx", TM_CPU_AMX_INT8,
     TM_CPU_SSE41 | TM_CPU_AVX2 | TM_CPU_AVX512BW | TM_CPU_AVX512VNNI | TM_CPU_AMX_INT8},
    {"dotprod", TM_CPU_DOTPROD, TM_CPU_DOTPROD},
    {"all", UINT32_MAX, UINT32_MAX},
};
enum { NAMES = sizeof names / sizeof *names };

tm_status tm_cpu_features_parse(const char *text, uint32_t *features)
{
    uint32_t result = 0;

    if (!text || !features)
        return TM_ERR_INVALID;
    for (;;) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < NAMES && (strlen(names[i].name) != length ||
                             memcmp(names[i].name, text, length) != 0))
            i++;
        if (i == NAMES)
            return TM_ERR_INVALID;
        result |= names[i].features;
        if (!text[length])
            break;
        text += length + 1;
    }
    *features = result;
    return TM_OK;
}

const char *tm_cpu_feature_name(uint32_t feature)
{
    for (int i = 1; i < NAMES - 1; i++) {
        if (names[i].set == feature)
            return names[i].name;
    }
    return NULL;
}
