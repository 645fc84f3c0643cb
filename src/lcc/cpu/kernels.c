/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/kernels.h"

#include "lcc/cpu/plain.h"
#include "lcc/cpu/sums.h"
#include "tmatch/tmatch.h"

/* Enough for every form: see the pack functions. */
size_t tm_panel_size(int w, int h)
{
    size_t size = ((size_t)w + 3) * ((size_t)h + 3) * sizeof(int32_t);
#if TM_HAVE_AMX
    size_t tiles = ((size_t)w + 78) / 64 * (size_t)h * 1024;
    size = tiles > size ? tiles : size;
#endif
    return size;
}

void tm_cpu_kernels_init(tm_cpu_kernels *kernels, uint32_t features)
{
    *kernels = (tm_cpu_kernels){.name = "c",
                                .pack = tm_pack_c,
                                .correlate = tm_correlate_c,
                                .enter = tm_enter_c,
                                .slide = tm_slide_c,
                                .score_best = tm_score_best_c,
                                .score_map = tm_score_map_c,
                                .score_peaks = tm_score_peaks_c,
                                .reject = tm_reject_c,
                                .f32 = tm_f32_block_c};
    assign_sums(kernels);
    features &= tm_cpu_features();
#if TM_HAVE_X86
    if (!(features & TM_CPU_SSE41))
        return;
    tm_cpu_kernels_init_sse41(kernels);
    if (!(features & TM_CPU_AVX2))
        return;
    tm_cpu_kernels_init_avx2(kernels);
#if TM_HAVE_AVXVNNI
    if (features & TM_CPU_AVXVNNI)
        tm_cpu_kernels_init_avxvnni(kernels);
#endif
    if (!(features & TM_CPU_AVX512BW))
        return;
    tm_cpu_kernels_init_avx512bw(kernels);
    if (!(features & TM_CPU_AVX512VNNI))
        return;
    tm_cpu_kernels_init_avx512vnni(kernels);
#if TM_HAVE_AMX
    if (features & TM_CPU_AMX_INT8)
        tm_cpu_kernels_init_amx(kernels);
#endif
#endif
#if TM_HAVE_DOTPROD
    if (features & TM_CPU_DOTPROD)
        tm_cpu_kernels_init_dotprod(kernels);
#endif
}
