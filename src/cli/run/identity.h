/* SPDX-License-Identifier: MIT */
/* Which file a path names, whatever the path. */
#ifndef TMATCH_CLI_IDENTITY_H
#define TMATCH_CLI_IDENTITY_H

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct cli_identity {
    dev_t device;
    ino_t inode;
} cli_identity;

/* "-" is standard input. False if there is no such file, or the path is NULL. The whole
 * of *id is set, so that memcmp compares it. */
static inline bool identify(const char *path, cli_identity *id)
{
    struct stat status;
    memset(id, 0, sizeof *id);
    if (!path || (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0)
        return false;
    id->device = status.st_dev;
    id->inode = status.st_ino;
    return true;
}

#endif
