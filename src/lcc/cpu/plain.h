/* SPDX-License-Identifier: MIT */
/* The kernels in plain C: what runs where no instruction set is known, and what
 * the others are compared with. */
#ifndef TMATCH_LCC_CPU_PLAIN_H
#define TMATCH_LCC_CPU_PLAIN_H

#include "lcc/cpu/kernels.h"

tm_pack_fn tm_pack_c;
tm_correlate_fn tm_correlate_c;
tm_enter_columns_fn tm_enter_c;
tm_slide_columns_fn tm_slide_c;
tm_score_best_fn tm_score_best_c;
tm_score_map_fn tm_score_map_c;
tm_score_peaks_fn tm_score_peaks_c;
tm_reject_fn tm_reject_c;
tm_move_columns_fn tm_move_columns_c;
tm_make_blocks_fn tm_make_blocks_c;
tm_move_level_fn tm_move_level_c;
tm_pass_windows_fn tm_pass_windows_c;
tm_family_row_fn tm_family_row_c;
tm_limit_row_fn tm_limit_row_c;
tm_list_members_fn tm_list_members_c;
tm_window_product_fn tm_window_product_c;
tm_sum_window_fn tm_sum_window_c;

#endif
