/* SPDX-License-Identifier: MIT */
/* Restrained colour, on terminals only: never in files and pipes, and not where NO_COLOR
 * is set (https://no-color.org) or TERM is dumb. */
#ifndef TMATCH_CLI_STYLE_H
#define TMATCH_CLI_STYLE_H

#include <stdbool.h>

typedef enum cli_style {
    STYLE_PLAIN,
    STYLE_ERROR,
    STYLE_NOTE, /* of what may be wrong */
    STYLE_SCORE,
    STYLE_DIM
} cli_style;

/* Before any other thread starts; nothing has a style before it. */
void style_init(void);

/* What to print before and after the text on standard output (1) or error (2): "" where
 * there are no styles. */
const char *style_on(int fd, cli_style style);
const char *style_off(int fd, cli_style style);

/* Whether standard error is a terminal whose cursor can be moved. */
bool style_moves_cursor(void);

#endif
