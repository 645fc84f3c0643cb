/* SPDX-License-Identifier: MIT */
#include "style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool coloured[STDERR_FILENO + 1], moves;

void style_init(void)
{
    const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
    const bool able = term && *term && strcmp(term, "dumb") != 0;

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        coloured[fd] = able && !(none && *none) && isatty(fd);
    moves = able && isatty(STDERR_FILENO);
}

const char *style_on(int fd, cli_style style)
{
    static const char *const codes[] = {"", "\x1b[1;31m", "\x1b[33m", "\x1b[1m", "\x1b[2m"};
    return coloured[fd] ? codes[style] : "";
}

const char *style_off(int fd, cli_style style)
{
    return coloured[fd] && style != STYLE_PLAIN ? "\x1b[0m" : "";
}

bool style_moves_cursor(void)
{
    return moves;
}
