/* SPDX-License-Identifier: MIT */
/* What an option sets. */
#ifndef TMATCH_CLI_OPTIONS_SET_H
#define TMATCH_CLI_OPTIONS_SET_H

#include <limits.h>
#include <stdbool.h>

#include "options.h"

/* Codes of the options without a letter. */
enum {
    OPERAND = 1, /* getopt_long's own code, in the mode that keeps the order */
    OPT_MAP = UCHAR_MAX + 1,
    OPT_HEATMAP,
    OPT_DOMAIN,
    OPT_METRIC,
    OPT_DEVICE,
    OPT_THREADS,
    OPT_CPU_FEATURES,
    OPT_ALGORITHM,
    OPT_MIN_SCORE,
    OPT_OVERLAP,
    OPT_SUBPIXEL,
    OPT_ROI,
    OPT_FORMAT,
    OPT_LIST_DEVICES,
    OPT_BENCH,
    OPT_VERIFY,
    OPT_TIME,
    OPT_DUMP_TEMPLATE,
    OPT_MAX_PIXELS,
    OPT_MAX_MEMORY,
    OPT_MAX_GPU_MEMORY,
    OPT_COLOR,
    OPT_DEPTH,
    OPT_MASK,
    OPT_FRAME_MASK,
    OPT_FILES_FROM,
    OPT_IN_FLIGHT,
    OPT_CROPS,
    OPT_RESUME,
    OPT_WATCH,
    OPT_REPORT,
    OPT_VERSION,
    OPT_LAST = OPT_VERSION
};

/* Of an option with an argument. False after a message. */
bool cli_options_set(cli_options *options, int option, const char *text);

/* Of one without. */
void cli_options_set_flag(cli_options *options, int option);

#endif
