/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "emitters.h"

int short_help_length(const option_row *row)
{
    const char *end = strpbrk(row->help, ";(");
    size_t length = end ? (size_t)(end - row->help) : strlen(row->help);
    while (length > 0 && row->help[length - 1] == ' ')
        length--;
    return (int)length;
}

/* Writes text inside the single quotes of bash and zsh, with a backslash before each of the special
 * characters. */
static void put_quoted(FILE *out, const char *text, int length, const char *special)
{
    for (int i = 0; i < length; i++) {
        if (text[i] == '\'')
            fputs("'\\''", out);
        else if (strchr(special, text[i]))
            fprintf(out, "\\%c", text[i]);
        else
            putc(text[i], out);
    }
}

static void put_words(FILE *out, const choice *choices)
{
    for (const choice *c = choices; c->name; c++)
        if (!c->pattern)
            fprintf(out, "%s%s", c == choices ? "" : " ", c->name);
}

/* Completions offer files with these endings where a picture is to be given. */
void emit_endings(FILE *out)
{
#define FORMAT(id, endings) "|" endings
    static const char all[] =
#include "io/formats.def"
        ;
#undef FORMAT
    fputs(all + 1, out);
}

void emit_bash_options(FILE *out)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (option_table[i].letter)
            fprintf(out, "-%c ", option_table[i].letter);
        fprintf(out, "--%s\n", option_table[i].name);
    }
}

void emit_bash_arguments(FILE *out)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        if (row->takes == TAKES_NOTHING)
            continue;
        fputs("    ", out);
        if (row->letter)
            fprintf(out, "-%c | ", row->letter);
        fprintf(out, "--%s) ", row->name);
        if (row->choices) {
            fputs("_tmatch_words '", out);
            put_words(out, row->choices);
            fputs("' ;;\n", out);
            continue;
        }
        switch (row->takes) {
        case TAKES_PICTURE:
            fputs("_tmatch_files \"$_tmatch_pictures\" ;;\n", out);
            break;
        case TAKES_FILE:
            fprintf(out, "_tmatch_files %s ;;\n", row->ending ? row->ending + 1 : "''");
            break;
        case TAKES_FOLDER:
            fputs("_tmatch_files -d ;;\n", out);
            break;
        default:
            fputs(";;\n", out);
        }
    }
}

/* ((json\:'an object ...' ...)), itself within single quotes. */
static void put_zsh_choices(FILE *out, const choice *choices)
{
    fputs("((", out);
    for (const choice *c = choices; c->name; c++) {
        if (c->pattern)
            continue;
        fprintf(out, "%s%s", c == choices ? "" : " ", c->name);
        if (c->meaning) {
            fputs("\\:\"", out);
            put_quoted(out, c->meaning, (int)strlen(c->meaning), "\"$`\\:");
            putc('"', out);
        }
    }
    fputs("))", out);
}

static void put_zsh_argument(FILE *out, const option_row *row)
{
    fputs(":", out);
    if (row->argument)
        put_quoted(out, row->argument, (int)strlen(row->argument), ":\\");
    else
        fputs(row->name, out);
    fputs(":", out);
    if (row->choices)
        put_zsh_choices(out, row->choices);
    else if (row->takes == TAKES_PICTURE)
        fputs("_tmatch_pictures", out);
    else if (row->takes == TAKES_FOLDER)
        fputs("_files -/", out);
    else if (row->takes == TAKES_FILE && row->ending)
        fprintf(out, "_files -g \"*%s\"", row->ending);
    else if (row->takes == TAKES_FILE)
        fputs("_files", out);
    else
        putc(' ', out);
}

void emit_zsh_options(FILE *out)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        const bool takes = row->takes != TAKES_NOTHING;
        fputs("    ", out);
        if (row->repeats)
            fputs("'*'", out);
        else if (row->letter)
            fprintf(out, "'(-%c --%s)'", row->letter, row->name);
        if (row->letter)
            fprintf(out, "{-%c%s,--%s%s}'[", row->letter, takes ? "+" : "", row->name,
                    takes ? "=" : "");
        else
            fprintf(out, "'--%s%s[", row->name, takes ? "=" : "");
        put_quoted(out, row->help, short_help_length(row), "[]\\");
        putc(']', out);
        if (takes)
            put_zsh_argument(out, row);
        fputs("'\n", out);
    }
}

/* Writes text inside fish's single quotes. */
static void put_fish_quoted(FILE *out, const char *text, int length)
{
    for (int i = 0; i < length; i++)
        fprintf(out, text[i] == '\'' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
}

static void put_fish_choices(FILE *out, const choice *choices)
{
    for (const choice *c = choices; c->name; c++) {
        if (c->pattern)
            continue;
        fprintf(out, "%s%s", c == choices ? "" : " ", c->name);
        if (c->meaning) {
            fputs("\\t\"", out);
            put_fish_quoted(out, c->meaning, (int)strlen(c->meaning));
            putc('"', out);
        }
    }
}

void emit_fish_options(FILE *out)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        fputs("complete -c tmatch", out);
        if (row->letter)
            fprintf(out, " -s %c", row->letter);
        fprintf(out, " -l %s", row->name);
        if (row->choices) {
            fputs(" -x -a '", out);
            put_fish_choices(out, row->choices);
            putc('\'', out);
        } else if (row->takes == TAKES_PICTURE) {
            fputs(" -x -a '(__tmatch_pictures)'", out);
        } else if (row->takes == TAKES_FOLDER) {
            fputs(" -x -a '(__fish_complete_directories)'", out);
        } else if (row->takes == TAKES_FILE && row->ending) {
            fprintf(out, " -k -x -a '(__fish_complete_suffix %s)'", row->ending);
        } else if (row->takes == TAKES_FILE) {
            fputs(" -r -F", out);
        } else if (row->takes == TAKES_TEXT) {
            fputs(" -x", out);
        }
        fputs(" -d '", out);
        put_fish_quoted(out, row->help, short_help_length(row));
        fputs("'\n", out);
    }
}
