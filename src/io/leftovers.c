/* SPDX-License-Identifier: MIT */
#include "leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool io_leftovers_hold(int fd)
{
    struct stat status;
    const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    /* Some file systems have no locks: then nobody can take this one for a leftover. */
    return (locked || errno != EWOULDBLOCK) && fstat(fd, &status) == 0 && status.st_nlink > 0;
}

static bool is_temporary(const char *name)
{
    static const char ending[] = IO_TEMPORARY_ENDING;
    const size_t length = strlen(name), tail = IO_TEMPORARY_RANDOM + strlen(ending);
    return length > tail + 2 && name[0] == '.' && name[length - tail - 1] == '.' &&
           strspn(name + length - tail, "0123456789abcdefghijklmnopqrstuvwxyz") == IO_TEMPORARY_RANDOM &&
           strcmp(name + length - strlen(ending), ending) == 0;
}

/* Removes the file while it is locked, so that nobody else can have taken the name in between. */
static void remove_leftover(int folder, const char *name)
{
    struct stat status;
    const int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Whether the folder comes for the first time. Also true if memory ran out, as looking again does
 * no harm. */
static bool is_new(char *folder)
{
    static void *swept; /* a tree of names, for as long as the process lives */
    char **known = tsearch(folder, &swept, compare);
    if (known && *known != folder) {
        free(folder);
        return false;
    }
    return true;
}

void io_leftovers_sweep(const char *path, int folder_length)
{
    char *name = folder_length ? strndup(path, (size_t)folder_length) : strdup(".");
    if (!name || !is_new(name))
        return;
    DIR *folder = opendir(name);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (is_temporary(entry->d_name))
            remove_leftover(dirfd(folder), entry->d_name);
    closedir(folder);
}
