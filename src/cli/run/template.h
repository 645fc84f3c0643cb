/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLI_TEMPLATE_H
#define TMATCH_CLI_TEMPLATE_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "run/frames.h"
#include "run/input.h"

/* A template, read once for all frames and all engines. One that could not be
 * keeps the reason and fails with every frame. */
typedef struct cli_template {
    cli_operand operand;
    cli_input input; /* without its source */
    int64_t width, height;
    int64_t pixels; /* that count */
    io_picture shown; /* for a report: colours, no larger than need be; or without samples */
    bool usable;
    io_error error;
} cli_template;

typedef struct cli_templates {
    cli_template *list;
    size_t count;
    size_t usable; /* how many */
} cli_templates;

/* Makes an unread template of each; false if memory ran out. To be freed in either
 * case, before the names. */
bool cli_templates_init(cli_templates *templates, const cli_frames *names);
void cli_templates_free(cli_templates *templates);

/* Reads them, with a message for each that fails. show: they are to be shown, too. */
void cli_templates_load(cli_templates *templates, const input_settings *settings, bool show, bool verbose);

/* After a failure that has no message yet. */
void cli_template_fail(cli_templates *templates, cli_template *tmpl);

#endif
