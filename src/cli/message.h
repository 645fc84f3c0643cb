/* SPDX-License-Identifier: MIT */
/* What goes to standard error: "tmatch: FILE: reason", always one line. */
#ifndef TMATCH_CLI_MESSAGE_H
#define TMATCH_CLI_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>

/* An error. file NULL: no file is named. Control characters are escaped. */
void message(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what may be wrong, and for what is only told. They differ in colour. */
void message_note(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_info(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, followed by where the usage is explained. */
void message_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* This thread's messages go to the file from now on, NULL: to standard error.
 * Returns where they went. */
FILE *message_redirect(FILE *file);

/* Before any other thread starts or after all have ended: make_room(data) is called before a
 * line goes to standard error, which is locked then; NULL: nothing is. */
void message_make_room(void (*make_room)(void *data), void *data);

/* Restrained colour, on terminals only: never in files and pipes, and not where NO_COLOR
 * is set (https://no-color.org) or TERM is dumb. */
typedef enum cli_style {
    STYLE_PLAIN,
    STYLE_ERROR,
    STYLE_NOTE, /* what may be wrong */
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
