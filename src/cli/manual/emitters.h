/* SPDX-License-Identifier: MIT */
/* What the manual page, the completions and the documents get from the table of options. */
#ifndef TMATCH_CLI_MANUAL_EMITTERS_H
#define TMATCH_CLI_MANUAL_EMITTERS_H

#include <stdio.h>

#include "option_table.h"

/* Sections of an mdoc(7) manual. */
void emit_mdoc_options(FILE *out);

/* The names of all options, as words of a shell. */
void emit_bash_options(FILE *out);
/* The cases of a case command over options that take an argument. */
void emit_bash_arguments(FILE *out);
/* Specs of _arguments. */
void emit_zsh_options(FILE *out);
/* Complete commands. */
void emit_fish_options(FILE *out);
/* The endings of pictures' names, with bars between. */
void emit_endings(FILE *out);

/* A table in Markdown, for a file in docs/reference/. */
void emit_markdown_table(FILE *out);

/* The length of the first clause of an option's help, which fits into a menu. */
int short_help_length(const option_row *row);

#endif
