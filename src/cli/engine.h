/* SPDX-License-Identifier: MIT */
/* A matcher with the templates prepared for it; each is used by one thread. */
#ifndef TMATCH_CLI_ENGINE_H
#define TMATCH_CLI_ENGINE_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "input.h"
#include "map.h"
#include "options.h"
#include "report.h"
#include "template.h"

typedef struct cli_engine {
    const cli_options *options;
    tm_settings settings;
    tm_matcher *matcher;
    tm_matcher *oracle; /* for --verify, else NULL */
    size_t count;
    /* Of each template, its gray form and, where colours are wanted and it has some,
     * its colour one; else NULL, also where it is not usable. */
    tm_template **prepared[2], **truths[2];
    /* Room for one frame's templates. */
    const tm_template **chosen;
    tm_peak *peaks;
    tm_hits *hits;
    size_t *order;
    bool searches; /* for more than the best match */
    tm_search search;
    bool *doubtful; /* of each template, whether its last score did not decide if it is weak */
    bool alone;     /* its frame is the only one */
} cli_engine;

/* False after a message. To be closed in either case. */
bool cli_engine_open(cli_engine *engine, const cli_options *options, const tm_settings *settings,
                     size_t template_count);
void cli_engine_close(cli_engine *engine);

/* For a run's first engine: prepares the templates; one that cannot be is no longer
 * usable. */
void cli_engine_judge(cli_engine *engine, cli_templates *templates);

/* For the others. False after a message: memory ran out. */
bool cli_engine_prepare(cli_engine *engine, const cli_templates *templates);

/* What came of one template and one frame. */
typedef struct cli_pair {
    cli_result result;
    score_map map; /* for --map, else empty; to be freed */
    bool done;     /* else error says why not */
    bool lasting;  /* it would come to the same another time: no file, device or
                      memory has failed */
    io_error error;
    bool searched; /* by this search; else for the best match alone */
    tm_search search;
} cli_pair;

/* Matches all templates, and verifies if that is asked for. The pairs, one for each
 * template, have their names and may have room for matches. */
void cli_engine_match(const cli_engine *engine, const cli_input *frame, const io_crop *crop,
                      const cli_templates *templates, cli_pair *pairs);

/* What a match came to, for the result; the hits are those of the frame's part that
 * was matched. False where memory ran out. */
bool cli_engine_take(const cli_engine *engine, cli_pair *pair, const tm_hits *hits,
                     const io_crop *crop);

/* The matcher's own words for its failure, or the status's. */
const char *library_reason(const tm_matcher *matcher, tm_status status);

/* Says so in error, and returns false. */
bool library_fail(io_error *error, const tm_matcher *matcher, tm_status status);

#endif
