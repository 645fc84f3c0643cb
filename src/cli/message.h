/* SPDX-License-Identifier: MIT */
/* What goes to standard error: "tmatch: FILE: reason", always one line. */
#ifndef TMATCH_CLI_MESSAGE_H
#define TMATCH_CLI_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>

/* Prints an error. file NULL: no file is named. Control characters are escaped. */
void message(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a warning, and for information. They differ in colour. */
void message_note(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_info(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error in the usage, followed by where that is explained. */
void message_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints that a thread could not be started. */
void message_no_thread(void);

/* This thread's messages go to the file from now on, NULL: to standard error.
 * Returns where they went. */
FILE *message_redirect(FILE *file);

/* Has make_room(data) called before each line on standard error, which is locked meanwhile; NULL:
 * no longer. To be called before any other thread starts or after all have ended. */
void message_make_room(void (*make_room)(void *data), void *data);

/* Restrained colour, on terminals only: never in files and pipes, and not where NO_COLOR
 * is set (https://no-color.org) or TERM is dumb. */
typedef enum cli_style {
    STYLE_PLAIN,
    STYLE_ERROR,
    STYLE_NOTE, /* for warnings */
    STYLE_SCORE,
    STYLE_DIM
} cli_style;

/* Looks at the terminal; nothing has a style before. To be called before any other thread starts. */
void style_init(void);

/* What to print before and after the text on standard output (1) or error (2): "" where
 * there are no styles. */
const char *style_on(int fd, cli_style style);
const char *style_off(int fd, cli_style style);

/* Whether standard error is a terminal whose cursor can be moved. */
bool style_moves_cursor(void);

#endif
