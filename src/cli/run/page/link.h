/* SPDX-License-Identifier: MIT */
/* Relative links from a page to the frames that it shows, so that both can be moved together. */
#ifndef TMATCH_CLI_LINK_H
#define TMATCH_CLI_LINK_H

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_link {
    char *from;            /* the page's folder, without links */
    char *last, *resolved; /* a frame's folder, and the same without links */
} cli_link;

/* False if the page's folder cannot be resolved. */
bool link_init(cli_link *link, const char *page);
void link_free(cli_link *link);

/* Writes the link; nothing for standard input and where the folder is gone. */
void link_put(cli_link *link, FILE *out, const char *path);

#endif
