/* SPDX-License-Identifier: MIT */
/* Temporary files of processes that were killed. Whoever writes one holds a lock on it,
 * which ends with the process. */
#ifndef TMATCH_IO_LEFTOVERS_H
#define TMATCH_IO_LEFTOVERS_H

#include <stdbool.h>

/* What a temporary file's name ends with, after ".NAME.xxxxxx"; no other program uses it. */
#define IO_TEMPORARY_ENDING ".tmatch.tmp"
enum { IO_TEMPORARY_RANDOM = 6 };

/* Locks a temporary file that was made just now. False if another process took it for a leftover
 * and removed it in between. */
bool io_leftovers_hold(int fd);

/* Removes leftovers in the folder of a path, the first time that the folder comes. For one thread
 * at a time. */
void io_leftovers_sweep(const char *path, int folder_length);

#endif
