/* SPDX-License-Identifier: MIT */
/* --help, from the table of options. */
#ifndef TMATCH_CLI_HELP_H
#define TMATCH_CLI_HELP_H

/* What --help prints, on standard output, in at most 80 columns. */
void help_print(void);

#endif
