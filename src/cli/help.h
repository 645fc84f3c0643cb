/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLI_HELP_H
#define TMATCH_CLI_HELP_H

/* What --help prints, on standard output, in at most 80 columns. */
void help_print(void);

#endif
