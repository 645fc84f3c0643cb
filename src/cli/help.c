/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "io/io.h"
#include "option_table.h"

enum { WIDTH = 80, TEXT_COLUMN = 29 };

static const char introduction[] =
    "Usage: tmatch [OPTION]... FRAME TEMPLATE\n"
    "       tmatch [OPTION]... -t TEMPLATE [-t TEMPLATE]... FRAME|FOLDER...\n"
    "Find where a small picture (the template) lies in a larger one (the frame).\n"
    "\n";
static const char operands[] =
    "A crop may follow a name: 'scene.png[21x21+220+90]' (width x height + x + y).\n"
    "A folder stands for the pictures in it, in the order of their names.\n";

/* Breaks text between words. column is where the line stands, indent where the next begin. */
static void print_wrapped(const char *text, int column, int indent)
{
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putchar('\n');
}

static void print_option(const option_row *row)
{
    const char *argument = option_argument(row);
    int column = row->letter ? printf("  -%c, --%s", row->letter, row->name)
                             : printf("      --%s", row->name);
    if (*argument)
        column += printf(" %s", argument);
    if (column > TEXT_COLUMN - 2)
        column = printf("\n") - 1;
    printf("%*s", TEXT_COLUMN - column, "");
    print_wrapped(row->help, TEXT_COLUMN, TEXT_COLUMN);
}

void help_print(void)
{
    char formats[128], pictures[320];
    io_format_names(formats, sizeof formats);
    snprintf(pictures, sizeof pictures,
             "Pictures may be %s; '-' is standard input, where one may come after the other.",
             formats);
    fputs(introduction, stdout);
    print_wrapped(pictures, 0, 0);
    fputs(operands, stdout);
    for (int group = 0; group < GROUP_COUNT; group++) {
        const option_heading *about = &option_groups[group];
        char heading[256];
        snprintf(heading, sizeof heading, about->note ? "%s (%s):" : "%s:", about->title,
                 about->note);
        putchar('\n');
        print_wrapped(heading, 0, 0);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (option_table[i].group == (option_group)group)
                print_option(&option_table[i]);
    }
    fputs("\nExit status: 0 found, 1 nothing reached --min-score, 2 an error.\n'man tmatch' says "
          "more.\n",
          stdout);
}
