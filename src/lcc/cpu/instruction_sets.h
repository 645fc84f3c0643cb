/* SPDX-License-Identifier: MIT */
/* The instruction sets that there are kernels for. */
#ifndef TMATCH_LCC_CPU_INSTRUCTION_SETS_H
#define TMATCH_LCC_CPU_INSTRUCTION_SETS_H

/* X(HAVE, file, name, bit, needed, detected): TM_HAVE_HAVE is 1 where this build has
 * simd/file.c, whose tm_cpu_kernels_init_file assigns what it does better than those above it;
 * needed are bits of others, all above it, that it builds on; detected is evaluated where the
 * processor has those, by the macros of features.c. */
#define TM_EACH_INSTRUCTION_SET(X)                                                                 \
    X(SSE41, sse41, "sse4.1", TM_CPU_SSE41, 0, X86("sse4.1"))                                      \
    X(AVX2, avx2, "avx2", TM_CPU_AVX2, TM_CPU_SSE41, X86("avx2") && X86("fma"))                    \
    X(AVXVNNI, avxvnni, "avxvnni", TM_CPU_AVXVNNI, TM_CPU_AVX2, CPUID_7(1, EAX, 4))                \
    X(AVX512BW, avx512bw, "avx512bw", TM_CPU_AVX512BW, TM_CPU_AVX2,                                \
      X86("avx512f") && X86("avx512bw") && X86("avx512dq") && X86("avx512vl"))                     \
    X(AVX512VNNI, avx512vnni, "avx512vnni", TM_CPU_AVX512VNNI, TM_CPU_AVX512BW, X86("avx512vnni")) \
    X(AMX, amx, "amx", TM_CPU_AMX_INT8, TM_CPU_AVX512VNNI,                                         \
      CPUID_7(0, EDX, 24) && CPUID_7(0, EDX, 25) && AMX_PERMITTED())                               \
    X(DOTPROD, dotprod, "dotprod", TM_CPU_DOTPROD, 0, HWCAP(20))

#endif
