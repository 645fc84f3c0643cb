/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static _Thread_local FILE *redirected;

FILE *message_redirect(FILE *file)
{
    FILE *before = redirected;
    redirected = file;
    return before;
}

static const char *display_name(const char *file)
{
    if (strcmp(file, "-") == 0)
        return "standard input";
    return *file ? file : "''";
}

static bool ends_sentence(const char *text)
{
    return text && *text && text[strlen(text) - 1] == '?';
}

static void print(const char *file, const char *format, va_list arguments, bool usage)
{
    FILE *out = redirected ? redirected : stderr;
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;

    /* Standard error has no buffer: locked, so that a line comes out whole. */
    flockfile(out);
    fputs("tmatch: ", out);
    if (file) {
        text_line(out, display_name(file));
        fputs(": ", out);
    }
    text_line(out, text ? text : "out of memory");
    if (usage)
        fprintf(out, "%s Try 'tmatch --help'.", ends_sentence(text) ? "" : ".");
    putc('\n', out);
    funlockfile(out);
    free(text);
}

void message(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(file, format, arguments, false);
    va_end(arguments);
}

void message_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(NULL, format, arguments, true);
    va_end(arguments);
}
