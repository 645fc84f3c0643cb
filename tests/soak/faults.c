/* SPDX-License-Identifier: MIT */
/* Preloaded, makes calls of the program fail as bad disks make them: TMATCH_SOAK_FAULT is
 * CALL:NUMBER:ERROR, so that call number NUMBER (from 1 on) of open for writing, write, rename, mkdir,
 * fdatasync or fsync fails with errno ERROR; with "+" behind it so does every later one. With
 * TMATCH_SOAK_CLOCK the time of day goes back by an hour each time that somebody asks. The names of what
 * fsync is called for are added to the file that TMATCH_SOAK_SYNCED names. */
#undef _FILE_OFFSET_BITS /* which makes another name of open */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static bool fails(const char *call)
{
    static atomic_int calls;
    const char *fault = getenv("TMATCH_SOAK_FAULT");
    char name[16], mark = '\0';
    int number, error;

    if (!fault || sscanf(fault, "%15[a-z]:%d:%d%c", name, &number, &error, &mark) < 3 || strcmp(name, call) != 0)
        return false;
    const int count = atomic_fetch_add(&calls, 1) + 1;
    if (count != number && !(mark == '+' && count > number))
        return false;
    errno = error;
    return true;
}

#define OPEN(name)                                                             \
    EXPORT int name(const char *path, int flags, ...)                          \
    {                                                                          \
        va_list arguments;                                                     \
        va_start(arguments, flags);                                            \
        const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;   \
        va_end(arguments);                                                     \
        return (flags & O_CREAT) != 0 && fails("open") ? -1 : NEXT(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    return fd > STDERR_FILENO && fails("write") ? -1 : NEXT(write)(fd, data, size);
}

EXPORT int rename(const char *from, const char *to)
{
    return fails("rename") ? -1 : NEXT(rename)(from, to);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir") ? -1 : NEXT(mkdir)(path, mode);
}

EXPORT int fdatasync(int fd)
{
    return fails("fdatasync") ? -1 : NEXT(fdatasync)(fd);
}

static void note_synced(int fd)
{
    char link[32], path[4096];
    const char *list = getenv("TMATCH_SOAK_SYNCED");
    FILE *file = list ? fopen(list, "a") : NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = file ? readlink(link, path, sizeof path) : -1;
    if (length > 0)
        fprintf(file, "%.*s\n", (int)length, path);
    if (file)
        fclose(file);
}

EXPORT int fsync(int fd)
{
    note_synced(fd);
    return fails("fsync") ? -1 : NEXT(fsync)(fd);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
    static atomic_long back;
    const int result = NEXT(clock_gettime)(clock, now);
    if (clock == CLOCK_REALTIME && getenv("TMATCH_SOAK_CLOCK"))
        now->tv_sec -= 3600 * (atomic_fetch_add(&back, 1) + 1);
    return result;
}

EXPORT time_t time(time_t *now)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
