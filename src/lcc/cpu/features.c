/* SPDX-License-Identifier: MIT */
/* What the processor and the operating system offer, and the names for it. */
#include "lcc/cpu/instruction_sets.h"

#include <stdbool.h>
#include <string.h>

#include "tmatch/tmatch.h"

/* What the table's last column is made of, 0 on other processors. */
#if defined(__x86_64__)
#include <cpuid.h>
enum { EAX, EBX, ECX, EDX };

static bool cpuid_7(unsigned subleaf, int reg, int bit)
{
    unsigned regs[4];
    return __get_cpuid_count(7, subleaf, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]) &&
           (regs[reg] >> bit & 1);
}

#define X86(name) (__builtin_cpu_init(), __builtin_cpu_supports(name))
#define CPUID_7(subleaf, reg, bit) cpuid_7(subleaf, reg, bit)
#else
#define X86(name) 0
#define CPUID_7(subleaf, reg, bit) 0
#endif

#if TM_HAVE_AMX
#include <sys/syscall.h>
#include <unistd.h>

/* Tiles are 8 KiB of state a thread: Linux enables them for a process that asks. */
static bool amx_permitted(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

#define AMX_PERMITTED() amx_permitted()
#else
#define AMX_PERMITTED() 0
#endif

#if defined(__aarch64__)
#include <sys/auxv.h>
#define HWCAP(bit) (getauxval(AT_HWCAP) >> (bit) & 1)
#else
#define HWCAP(bit) 0
#endif

uint32_t tm_cpu_features(void)
{
    uint32_t features = 0;

#define DETECT(HAVE, file, name, bit, needed, detected)                                            \
    if (TM_HAVE_##HAVE && !((needed) & ~features) && (detected))                                   \
        features |= (bit);
    TM_EACH_INSTRUCTION_SET(DETECT)
#undef DETECT
    return features;
}

/* A set with those that it builds on directly. */
static const struct {
    const char *name;
    uint32_t bit, needed;
} sets[] = {
#define SET(HAVE, file, name, bit, needed, detected) {name, bit, needed},
    TM_EACH_INSTRUCTION_SET(SET)
#undef SET
};
enum { SETS = sizeof sets / sizeof *sets };

/* A name stands for its set and for all that it builds on. */
static bool features_of(const char *name, size_t length, uint32_t *features)
{
    bool known = length == 4 && memcmp(name, "none", 4) == 0;

    *features = 0;
    if (length == 3 && memcmp(name, "all", 3) == 0) {
        *features = UINT32_MAX;
        return true;
    }
    for (int i = SETS - 1; i >= 0; i--) {
        if (strlen(sets[i].name) == length && memcmp(sets[i].name, name, length) == 0) {
            *features |= sets[i].bit;
            known = true;
        }
        if (*features & sets[i].bit)
            *features |= sets[i].needed;
    }
    return known;
}

tm_status tm_cpu_features_parse(const char *text, uint32_t *features)
{
    uint32_t result = 0;

    if (!text || !features)
        return TM_ERR_INVALID;
    for (;;) {
        const size_t length = strcspn(text, ",");
        uint32_t one;
        if (!features_of(text, length, &one))
            return TM_ERR_INVALID;
        result |= one;
        if (!text[length])
            break;
        text += length + 1;
    }
    *features = result;
    return TM_OK;
}

const char *tm_cpu_feature_name(uint32_t feature)
{
    for (int i = 0; i < SETS; i++) {
        if (sets[i].bit == feature)
            return sets[i].name;
    }
    return NULL;
}
