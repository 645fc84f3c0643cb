/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <stdarg.h>
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

static void print(const char *file, const char *format, va_list arguments, const char *hint)
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
    fputs(hint, out);
    putc('\n', out);
    funlockfile(out);
    free(text);
}

void message(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(file, format, arguments, "");
    va_end(arguments);
}

void message_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(NULL, format, arguments, ". Try 'tmatch --help'.");
    va_end(arguments);
}
