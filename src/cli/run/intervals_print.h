/* SPDX-License-Identifier: MIT */
/* Appearances on standard output, a line each, in the format that was asked for. */
#ifndef TMATCH_CLI_INTERVALS_PRINT_H
#define TMATCH_CLI_INTERVALS_PRINT_H

#include "run/intervals.h"

/* The header of CSV. */
void intervals_print_head(const cli_options *options, FILE *out);

/* With 0 frames there is none: best is then what came nearest. */
void intervals_print(const cli_options *options, FILE *out, bool several_templates, const cli_appearance *appearance);

/* The same as JSON, whatever the format, without a newline. */
void intervals_print_json(const cli_options *options, FILE *out, const cli_appearance *appearance);

#endif
