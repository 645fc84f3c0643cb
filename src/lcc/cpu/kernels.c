/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/kernels.h"

#include "lcc/cpu/instruction_sets.h"
#include "lcc/cpu/plain.h"
#include "lcc/cpu/sums.h"
#include "tmatch/tmatch.h"

/* Enough for every form: see the pack functions. */
size_t tm_packed_taps_size(int w, int h)
{
    size_t size = ((size_t)w + 3) * ((size_t)h + 3) * sizeof(int32_t);
    const size_t pairs = ((size_t)w + 1) / 2 * ((size_t)h + 1) / 2 * 3 * sizeof(int32_t);
    size = pairs > size ? pairs : size;
#if TM_HAVE_AMX
    size_t tiles = ((size_t)w + 78) / 64 * (size_t)h * 1024;
    size = tiles > size ? tiles : size;
#endif
    return size;
}

/* A set that this build has not got is never named. */
#define INIT_1(file) tm_cpu_kernels_init_##file(kernels)
#define INIT_0(file) (void)0
#define INIT_IF(have, file) INIT_IF_(have, file)
#define INIT_IF_(have, file) INIT_##have(file)
#define INIT(HAVE, file, set, bit, needed, detected)                                               \
    if (!(features & (bit)) || ((needed) & ~features)) {                                           \
        features &= ~(uint32_t)(bit);                                                              \
    } else {                                                                                       \
        INIT_IF(TM_HAVE_##HAVE, file);                                                             \
        kernels->name = set;                                                                       \
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
                                .f32 = tm_f32_block_c,
                                .move_columns = tm_move_columns_c,
                                .make_blocks = tm_make_blocks_c,
                                .move_level = tm_move_level_c,
                                .pass_windows = tm_pass_windows_c,
                                .window_product = tm_window_product_c,
                                .sum_window = tm_sum_window_c,
                                .family_row = tm_family_row_c,
                                .limit_row = tm_limit_row_c,
                                .list_members = tm_list_members_c};
    assign_sums(kernels);
    features &= tm_cpu_features();
    TM_EACH_INSTRUCTION_SET(INIT)
}
