/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 256, ATTEMPTS = 100, MAX_LINKS = 40 };

/* Names of open temporary files, for the signal handler. Whoever exchanges a
 * name for NULL owns it: the handler unlinks and never frees, so neither sees
 * memory that the other gave back. */
static _Atomic(char *) temporaries[SLOTS];
static atomic_uint_fast64_t serial;

static bool fail_errno(io_error *error)
{
    return io_fail(error, "%s", strerror(errno));
}

static int register_temporary(char *name)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        char *expected = NULL;
        if (atomic_compare_exchange_strong(&temporaries[slot], &expected, name))
            return slot;
    }
    return -1;
}

static void release_temporary(io_output *output)
{
    if (atomic_exchange(&temporaries[output->slot], NULL))
        free(output->temporary);
    output->temporary = NULL;
}

void io_output_abort_all(void)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        char *name = atomic_exchange(&temporaries[slot], NULL);
        if (name)
            unlink(name);
    }
}

/* Of "folder/", or 0. */
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

/* Devices and pipes cannot be replaced. Nor can the file that standard output
 * or error already go to: the shell's other writers would keep the old one. */
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

/* A name that no other process or thread makes; the target's own is cut, because
 * a file name has at most 255 bytes. */
static char *temporary_name(const char *path)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mix = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15) +
                   (uint64_t)now.tv_nsec * UINT64_C(0xbf58476d1ce4e5b9) +
                   atomic_fetch_add(&serial, 1) * UINT64_C(0x94d049bb133111eb);
    char random[7] = "";
    for (int i = 0; i < 6; i++, mix /= 36)
        random[i] = digits[(mix ^ mix >> 32) % 36];
    char *name;
    int folder = folder_length(path);
    return asprintf(&name, "%.*s.%.200s.%s.tmp", folder, path, path + folder, random) < 0 ? NULL
                                                                                          : name;
}

/* Registered before it exists: no signal finds it unlisted. */
static int create_temporary(io_output *output, io_error *error)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        output->temporary = temporary_name(output->path);
        output->slot = output->temporary ? register_temporary(output->temporary) : -1;
        if (output->slot < 0) {
            io_fail(error, output->temporary ? "too many files are being written"
                                             : "not enough memory");
            free(output->temporary);
            return -1;
        }
        int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        int number = errno;
        release_temporary(output);
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
    io_output opened = {.path = strdup(path), .slot = -1};
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

void io_output_abort(io_output *output)
{
    if (output->file)
        fclose(output->file);
    if (output->temporary) {
        unlink(output->temporary);
        release_temporary(output);
    }
    free(output->path);
    *output = (io_output){.slot = -1};
}

bool io_output_commit(io_output *output, io_error *error)
{
    bool failed = ferror(output->file) != 0;
    errno = failed ? EIO : 0; /* an earlier write's own number is lost */
    bool closed = fclose(output->file) == 0;
    output->file = NULL;
    bool ok = !failed && closed &&
              (!output->temporary || rename(output->temporary, output->path) == 0);
    if (!ok) {
        fail_errno(error);
        io_output_abort(output);
        return false;
    }
    if (output->temporary)
        release_temporary(output);
    free(output->path);
    *output = (io_output){.slot = -1};
    return true;
}
