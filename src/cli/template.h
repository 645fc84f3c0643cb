/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLI_TEMPLATE_H
#define TMATCH_CLI_TEMPLATE_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "input.h"

/* A template, read and prepared once for all frames. One that could not be
 * keeps the reason and fails with every frame. */
typedef struct cli_template {
    cli_operand operand;
    int64_t width, height;
    tm_template *prepared;
    tm_template *truth; /* for --verify, else NULL */
    io_error error;
} cli_template;

/* oracle may be NULL. On failure template->error has the reason. */
bool cli_template_load(cli_template *tmpl, tm_matcher *matcher, tm_matcher *oracle,
                       const io_limits *limits, bool verbose);
void cli_template_free(cli_template *tmpl);

/* The matcher's own words for its failure, or the status's. */
const char *library_reason(const tm_matcher *matcher, tm_status status);

#endif
