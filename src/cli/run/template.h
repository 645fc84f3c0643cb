/* SPDX-License-Identifier: MIT */
/* The templates of a run. */
#ifndef TMATCH_CLI_TEMPLATE_H
#define TMATCH_CLI_TEMPLATE_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "options.h"
#include "run/frames.h"
#include "run/input.h"

/* A template, read once for all frames and all engines. One that could not be read keeps the reason
 * and fails with every frame. */
typedef struct cli_template {
    cli_operand operand;
    cli_input input; /* without its source */
    int64_t width, height;
    int64_t pixels; /* how many pixels the mask leaves */
    io_picture shown; /* for a report, in colour and shrunk; or without samples */
    bool usable;
    io_error error;
} cli_template;

typedef struct cli_templates {
    cli_template *list;
    size_t count;
    size_t usable; /* how many of them are usable */
} cli_templates;

/* Makes an unread template of each; false if memory ran out. To be freed in either
 * case, before the names. */
bool cli_templates_init(cli_templates *templates, const cli_frames *names);
void cli_templates_free(cli_templates *templates);

/* Reads the templates, with a message for each that fails, and makes their pictures for a report. */
void cli_templates_load(cli_templates *templates, const input_settings *settings, const cli_options *options);

/* Marks a template as not usable, and prints its error. */
void cli_template_fail(cli_templates *templates, cli_template *tmpl);

#endif
