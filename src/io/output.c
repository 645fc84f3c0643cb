/* SPDX-License-Identifier: MIT */
#include "format.h"
#include "leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ATTEMPTS = 100, MAX_LINKS = 40 };

/* A temporary file; all of them are in a list. */
struct io_temporary {
    struct io_temporary *previous, *next;
    char name[];
};

/* Guards the list. It is held while a file appears or disappears, so that io_output_abort_all finds
 * all there are. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct io_temporary *temporaries;

static bool lasting; /* commits wait for the disk */

static bool fail_errno(io_error *error)
{
    return io_fail(error, "%s", strerror(errno));
}

static void enlist(struct io_temporary *temporary)
{
    temporary->previous = NULL;
    temporary->next = temporaries;
    if (temporaries)
        temporaries->previous = temporary;
    temporaries = temporary;
}

static void delist(struct io_temporary *temporary)
{
    if (temporary->previous)
        temporary->previous->next = temporary->next;
    else
        temporaries = temporary->next;
    if (temporary->next)
        temporary->next->previous = temporary->previous;
}

void io_output_abort_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct io_temporary *t = temporaries; t; t = t->next)
        unlink(t->name);
}

/* The length of the path's folder with the slash behind it; 0 where there is none. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* Follows symbolic links, dangling ones too, as opening for writing would. */
static char *resolve_links(const char *path)
{
    char *name = strdup(path), target[PATH_MAX];
    for (int links = 0; name; links++) {
        ssize_t length = readlink(name, target, sizeof target - 1);
        if (length < 0)
            return name;
        target[length] = '\0';
        char *next = NULL;
        if (links == MAX_LINKS)
            errno = ELOOP;
        else if (asprintf(&next, "%.*s%s", target[0] == '/' ? 0 : folder_length(name), name,
                          target) < 0)
            next = NULL;
        free(name);
        name = next;
    }
    return NULL;
}

/* Devices and pipes cannot be replaced. Nor can the file that standard output or error already goes
 * to: whoever else writes to it would keep the old one. */
static bool must_write_directly(const struct stat *status)
{
    if (!S_ISREG(status->st_mode))
        return true;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat standard;
        if (fstat(fd, &standard) == 0 && standard.st_dev == status->st_dev &&
            standard.st_ino == status->st_ino)
            return true;
    }
    return false;
}

/* Makes a name that no other process or thread makes. The target's name in it is cut, because a
 * file name has at most 255 bytes. */
static struct io_temporary *name_temporary(const char *path)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static atomic_uint_fast64_t serial;
    const size_t size = sizeof(struct io_temporary) + strlen(path) + sizeof ".." +
                        IO_TEMPORARY_RANDOM + sizeof IO_TEMPORARY_ENDING;
    struct io_temporary *temporary = malloc(size);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mix = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15) +
                   (uint64_t)now.tv_nsec * UINT64_C(0xbf58476d1ce4e5b9) +
                   atomic_fetch_add(&serial, 1) * UINT64_C(0x94d049bb133111eb);
    char random[IO_TEMPORARY_RANDOM + 1] = "";
    for (int i = 0; i < IO_TEMPORARY_RANDOM; i++, mix /= 36)
        random[i] = digits[(mix ^ mix >> 32) % 36];
    int folder = folder_length(path);
    if (temporary)
        sprintf(temporary->name, "%.*s.%.200s.%s" IO_TEMPORARY_ENDING, folder, path, path + folder, random);
    return temporary;
}

static int create_temporary(io_output *output, io_error *error)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct io_temporary *temporary = name_temporary(output->path);
        if (!temporary) {
            io_fail(error, "not enough memory");
            return -1;
        }
        pthread_mutex_lock(&lock);
        io_leftovers_sweep(output->path, folder_length(output->path));
        int fd = open(temporary->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && !io_leftovers_hold(fd)) {
            close(fd);
            fd = -1;
            errno = EEXIST;
        }
        if (fd >= 0)
            enlist(temporary);
        pthread_mutex_unlock(&lock);
        output->temporary = temporary;
        if (fd >= 0)
            return fd;
        int number = errno;
        free(temporary);
        output->temporary = NULL;
        errno = number;
        if (number != EEXIST)
            break;
    }
    fail_errno(error);
    return -1;
}

static int open_existing(const char *path, io_error *error)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        fail_errno(error);
    return fd;
}

/* Leaves the resolved target in output->path. */
static int open_beside(io_output *output, io_error *error)
{
    char *target = resolve_links(output->path);
    if (!target) {
        fail_errno(error);
        return -1;
    }
    free(output->path);
    output->path = target;
    return create_temporary(output, error);
}

static int open_descriptor(io_output *output, io_error *error)
{
    struct stat status;
    size_t length = strlen(output->path);
    bool exists = stat(output->path, &status) == 0;
    if (exists ? S_ISDIR(status.st_mode) : length > 0 && output->path[length - 1] == '/') {
        io_fail(error, "is a directory");
        return -1;
    }
    if (exists && must_write_directly(&status))
        return open_existing(output->path, error);
    /* A rename would replace even a file that may not be written. */
    if (length == 0 || (exists && access(output->path, W_OK) != 0)) {
        fail_errno(error);
        return -1;
    }
    int fd = open_beside(output, error);
    if (fd >= 0 && exists)
        fchmod(fd, status.st_mode & 0777);
    return fd;
}

bool io_output_open(io_output *output, const char *path, io_error *error)
{
    io_output opened = {.path = strdup(path)};
    if (!opened.path)
        return io_fail(error, "not enough memory");
    int fd = open_descriptor(&opened, error);
    opened.file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (opened.file) {
        *output = opened;
        return true;
    }
    if (fd >= 0) {
        fail_errno(error);
        close(fd);
        io_output_abort(&opened);
    }
    free(opened.path);
    return false;
}

/* True if the temporary file is gone under its own name: renamed to the target,
 * or removed where target is NULL. */
static bool end_temporary(io_output *output, const char *target)
{
    pthread_mutex_lock(&lock);
    int result = target ? rename(output->temporary->name, target) : -1;
    int number = errno;
    if (result != 0)
        unlink(output->temporary->name);
    delist(output->temporary);
    pthread_mutex_unlock(&lock);
    free(output->temporary);
    output->temporary = NULL;
    errno = number;
    return result == 0;
}

bool io_sync_folder_of(const char *path)
{
    char *name = strndup(path, (size_t)folder_length(path));
    const int fd = name ? open(*name ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    /* Folders that may not be read, and file systems that do not sync any, are left as they are. */
    const bool good = fd < 0 || fsync(fd) == 0 || errno != EIO;
    if (fd >= 0)
        close(fd);
    free(name);
    return good;
}

void io_output_make_lasting(void)
{
    lasting = true;
}

void io_output_abort(io_output *output)
{
    if (output->file)
        fclose(output->file);
    if (output->temporary)
        end_temporary(output, NULL);
    free(output->path);
    *output = (io_output){0};
}

bool io_output_commit(io_output *output, io_error *error)
{
    bool failed = ferror(output->file) != 0;
    errno = failed ? EIO : 0; /* the errno of an earlier write is lost */
    const bool wait = lasting && output->temporary;
    bool ok = fflush(output->file) == 0 && (!wait || fdatasync(fileno(output->file)) == 0) && !failed;
    const int number = errno;
    if (fclose(output->file) != 0)
        ok = false;
    else if (!ok)
        errno = number;
    output->file = NULL;
    if (ok && output->temporary)
        ok = end_temporary(output, output->path) && (!wait || io_sync_folder_of(output->path));
    if (!ok)
        fail_errno(error);
    io_output_abort(output);
    return ok;
}
