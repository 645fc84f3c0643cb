/* SPDX-License-Identifier: MIT */
/* What goes to standard error: "tmatch: FILE: reason", always one line. */
#ifndef TMATCH_CLI_MESSAGE_H
#define TMATCH_CLI_MESSAGE_H

#include <stdio.h>

/* file NULL: no file is named. Control characters are escaped. */
void message(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, followed by where the usage is explained. */
void message_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* This thread's messages go to the file from now on, NULL: to standard error.
 * Returns where they went. */
FILE *message_redirect(FILE *file);

#endif
