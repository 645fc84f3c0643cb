/* SPDX-License-Identifier: MIT */
/* The matchers of a run. */
#ifndef TMATCH_CLI_ENGINE_H
#define TMATCH_CLI_ENGINE_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "input.h"
#include "map.h"
#include "options.h"
#include "report.h"
#include "template.h"
#include "verify.h"

typedef struct cli_engine {
    const cli_options *options;
    tm_matcher *matcher;
    tm_matcher *oracle; /* for --verify, else NULL */
} cli_engine;

/* False after a message. To be closed in either case. */
bool cli_engine_open(cli_engine *engine, const cli_options *options);
void cli_engine_close(cli_engine *engine);

/* Matches, and verifies if that is asked for. Fills the result's peak (in the
 * cropped frame), times, names and verification, and the map where one was
 * needed; the caller frees the map in either case. */
bool cli_engine_match(const cli_engine *engine, const cli_input *frame, const cli_template *tmpl,
                      cli_result *result, score_map *map, verification *outcome,
                      io_error *error);

#endif
