/* SPDX-License-Identifier: MIT */
/* Writes on standard output what is made from the table of options:
 *
 *   generate fill TEMPLATE    the file, with each "@name@" replaced by what has that name
 *   generate table DOCUMENT   the file, with the table between the markers made anew */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitters.h"

static const char table_begins[] = "<!-- options, written by ninja option-table -->\n";
static const char table_ends[] = "<!-- end of the options -->\n";

static const struct {
    const char *name;
    void (*emit)(FILE *out);
    bool lines; /* it ends with a newline, and stands on a line of its own */
} placeholders[] = {
    {"@picture-endings@", emit_endings, false},      {"@mdoc-options@", emit_mdoc_options, true},
    {"@bash-options@", emit_bash_options, true},     {"@zsh-options@", emit_zsh_options, true},
    {"@bash-arguments@", emit_bash_arguments, true}, {"@fish-options@", emit_fish_options, true},
};

/* The length of "@name@" at the beginning of the text, or 0. */
static size_t placeholder_length(const char *text)
{
    const size_t name = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz-");
    return name > 0 && text[name + 1] == '@' ? name + 2 : 0;
}

/* Emits what the text begins with; false where nothing has that name. */
static bool emit_placeholder(const char **text, size_t length)
{
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++) {
        if (strlen(placeholders[i].name) != length ||
            strncmp(*text, placeholders[i].name, length) != 0)
            continue;
        placeholders[i].emit(stdout);
        *text += length;
        *text += placeholders[i].lines && **text == '\n';
        return true;
    }
    fprintf(stderr, "generate: nothing is called %.*s\n", (int)length, *text);
    return false;
}

static bool fill(FILE *in)
{
    char *line = NULL;
    size_t capacity = 0;
    bool known = true;

    while (known && getline(&line, &capacity, in) > 0) {
        for (const char *text = line; known && *text;) {
            const size_t length = *text == '@' ? placeholder_length(text) : 0;
            if (length > 0)
                known = emit_placeholder(&text, length);
            else
                putchar(*text++);
        }
    }
    free(line);
    return known;
}

static bool replace_table(FILE *in)
{
    char *line = NULL;
    size_t capacity = 0;
    int begun = 0, ended = 0;

    while (getline(&line, &capacity, in) > 0) {
        ended += strcmp(line, table_ends) == 0;
        if (begun == ended)
            fputs(line, stdout);
        if (strcmp(line, table_begins) == 0) {
            begun++;
            emit_markdown_table(stdout);
        }
    }
    free(line);
    if (begun != 1 || ended != 1)
        fprintf(stderr, "generate: not one table between the markers\n");
    return begun == 1 && ended == 1;
}

int main(int argc, char **argv)
{
    FILE *in = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (!in) {
        fprintf(stderr, "Usage: generate fill|table FILE, which is there\n");
        return 1;
    }
    const bool table = strcmp(argv[1], "table") == 0;
    bool good = table ? replace_table(in) : fill(in);
    good &= !ferror(in) && fclose(in) == 0 && fclose(stdout) == 0;
    return good ? 0 : 1;
}
