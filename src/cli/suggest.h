/* SPDX-License-Identifier: MIT */
/* "did you mean": what was probably meant by a word that is no option or no choice. */
#ifndef TMATCH_CLI_SUGGEST_H
#define TMATCH_CLI_SUGGEST_H

#include <stddef.h>

#include "option_table.h"

/* Writes what to say after an unknown option, "--treshold=0.9" or "-format", such as
 * "; did you mean '--min-score'?", or "" where nothing is near. */
void suggest_option(const char *given, char *text, size_t size);

/* The same for an unknown letter. */
void suggest_letter(int letter, char *text, size_t size);

/* The same for a word that is not among an option's choices. */
void suggest_choice(const choice *choices, const char *given, char *text, size_t size);

#endif
