/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "emitters.h"

/* A bar would end the cell; links are written from the documents' own folder. */
static void put_cell(FILE *out, const char *text, bool in_docs)
{
    static const char folder[] = "](docs/";
    for (; *text; text++) {
        if (*text == '|') {
            fputs("\\|", out);
        } else if (in_docs && strncmp(text, folder, strlen(folder)) == 0) {
            fputs("](", out);
            text += strlen(folder) - 1;
        } else {
            putc(*text, out);
        }
    }
}

static void put_row(FILE *out, const option_row *row, bool in_docs)
{
    const char *argument = option_argument(row);
    fputs("| ", out);
    if (row->letter)
        fprintf(out, "`-%c`, ", row->letter);
    fprintf(out, "`--%s%s", row->name, *argument ? " " : "");
    put_cell(out, argument, in_docs);
    fputs("` | ", out);
    put_cell(out, row->manual ? row->manual : row->help, in_docs);
    fputs(" |\n", out);
}

void emit_markdown_table(FILE *out, bool in_docs)
{
    fputs("| option | meaning |\n|---|---|\n", out);
    for (int i = 0; i < OPTION_COUNT; i++)
        put_row(out, &option_table[i], in_docs);
}
