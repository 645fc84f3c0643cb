/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

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

static _Thread_local FILE *redirected;
static void (*make_room)(void *data);
static void *room_data;

void message_make_room(void (*make)(void *data), void *data)
{
    make_room = make;
    room_data = data;
}

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

static void print(cli_style style, const char *file, const char *format, va_list arguments,
                  bool usage)
{
    FILE *out = redirected ? redirected : stderr;
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;

    /* Standard error has no buffer; it is locked so that a line comes out whole. */
    flockfile(out);
    if (out == stderr && make_room)
        make_room(room_data);
    /* Redirected messages come to standard error in the end, so they have its style. */
    fprintf(out, "%stmatch:%s ", style_on(STDERR_FILENO, style), style_off(STDERR_FILENO, style));
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
    print(STYLE_ERROR, file, format, arguments, false);
    va_end(arguments);
}

void message_no_thread(void)
{
    message(NULL, "cannot start a thread; a limit, such as 'ulimit -u', allows no more");
}

void message_note(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(STYLE_NOTE, file, format, arguments, false);
    va_end(arguments);
}

void message_info(const char *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(STYLE_PLAIN, file, format, arguments, false);
    va_end(arguments);
}

void message_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(STYLE_ERROR, NULL, format, arguments, true);
    va_end(arguments);
}
