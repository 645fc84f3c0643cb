/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "emitters.h"

/* Escapes bars, which would end the cell, and makes links relative to docs/reference/. */
static void put_cell(FILE *out, const char *text)
{
    static const char folder[] = "](docs/";
    for (; *text; text++) {
        if (*text == '|') {
            fputs("\\|", out);
        } else if (strncmp(text, folder, strlen(folder)) == 0) {
            fputs("](../", out);
            text += strlen(folder) - 1;
        } else {
            putc(*text, out);
        }
    }
}

static void put_row(FILE *out, const option_row *row)
{
    const char *argument = option_argument(row);
    fputs("| ", out);
    if (row->letter)
        fprintf(out, "`-%c`, ", row->letter);
    fprintf(out, "`--%s%s", row->name, *argument ? " " : "");
    put_cell(out, argument);
    fputs("` | ", out);
    put_cell(out, row->manual ? row->manual : row->help);
    fputs(" |\n", out);
}

void emit_markdown_table(FILE *out)
{
    fputs("| option | meaning |\n|---|---|\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        put_row(out, &option_table[i]);
}
