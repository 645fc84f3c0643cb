/* SPDX-License-Identifier: MIT */
#include "sandbox.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* A zygote that does not say hello by then never will; a decoder that has answered ends at once. In
 * milliseconds, for machines that have much else to do. */
enum { HELLO_MS = 20000, END_MS = 500 };

/* What a zygote is told of its starter's environment: where libraries are, and what sanitizers do. */
static bool is_passed_on(const char *variable)
{
    static const char *const names[] = {"LD_LIBRARY_PATH=", "LD_PRELOAD=", "GLIBC_TUNABLES=", "ASAN_OPTIONS=",
                                        "UBSAN_OPTIONS=", "TSAN_OPTIONS="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Moves a descriptor to where the zygote's own numbers do not overwrite it. */
static int move_up(int fd)
{
    if (fd < 0 || fd >= SANDBOX_FIRST_FREE)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, SANDBOX_FIRST_FREE);
    const int cause = errno == EINVAL ? EMFILE : errno; /* the limit is below the first that it may be */
    close(fd);
    errno = cause;
    return moved;
}

/* It gets a session of its own, so that Ctrl-C does not reach it, and of signals and files only what is
 * said here. */
static int spawn(sandbox_process *p, const char *program, int theirs)
{
    char name[] = "tmatch", argument[] = IO_SANDBOX_ARGUMENT, *arguments[] = {name, argument, NULL};
    char *passed[16] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    size_t count = 0;

    for (char **variable = environ; variable && *variable && count < 15; variable++)
        if (is_passed_on(*variable))
            passed[count++] = *variable;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    int failed = 0;
    for (int fd = 0; fd <= STDERR_FILENO && !failed; fd++)
        failed = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, theirs, SANDBOX_SOCKET);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, p->input, SANDBOX_INPUT);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, p->output, SANDBOX_OUTPUT);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (!failed)
        failed = posix_spawn(&p->pid, program, &files, &how, arguments, passed);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static bool fail_start(sandbox_process *p, int cause, io_error *error)
{
    sandbox_process_kill(p);
    return io_fail(error, "the process that decodes cannot be started: %s", strerror(cause));
}

bool sandbox_process_start(sandbox_process **process, const char *program, sandbox_hello *hello,
                           io_error *error)
{
    sandbox_process *p = malloc(sizeof *p);
    int pair[2];
    if (!p)
        return io_fail(error, "not enough memory");
    *p = (sandbox_process){.pid = -1, .control = -1, .input = -1, .output = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return fail_start(p, errno, error);
    p->control = pair[0];
    const int theirs = move_up(pair[1]);
    p->input = move_up(memfd_create("tmatch-file", MFD_CLOEXEC));
    p->output = move_up(memfd_create("tmatch-samples", MFD_CLOEXEC));
    int failed = theirs < 0 || p->input < 0 || p->output < 0 ? errno : spawn(p, program, theirs);
    if (theirs >= 0)
        close(theirs);
    if (failed == ENOENT) {
        sandbox_process_kill(p);
        return io_fail(error, "there is no %s, from which the process that decodes is started", program);
    }
    if (failed)
        return fail_start(p, failed, error);
    const sandbox_received received =
        sandbox_receive(p->control, hello, sizeof *hello, clock_ms() + HELLO_MS);
    if (received == SANDBOX_RECEIVED && hello->good) {
        *process = p;
        return true;
    }
    sandbox_process_kill(p);
    return io_fail(error, "%s", received == SANDBOX_RECEIVED ? hello->reason
                                                         : "the process that decodes does not answer");
}

/* A zygote that sees that nobody listens ends its decoder and itself: of one that is killed at once the
 * decoder would be left to whoever is the first process, which may be us and may wait for nobody. */
static bool ends_by_itself(sandbox_process *p)
{
    const double until = clock_ms() + END_MS;
    pid_t ended;
    shutdown(p->control, SHUT_RDWR);
    while ((ended = waitpid(p->pid, NULL, WNOHANG)) == 0 && clock_ms() < until)
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    return ended == p->pid;
}

void sandbox_process_kill(sandbox_process *p)
{
    if (!p)
        return;
    if (p->pid > 0 && !(p->ending && ends_by_itself(p))) {
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    const int fds[] = {p->control, p->input, p->output};
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(p);
}

static bool write_input(int to, const io_source *source)
{
    for (size_t at = 0; at < source->size;) {
        const ssize_t written = pwrite(to, source->data + at, source->size - at, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += (size_t)written;
    }
    return true;
}

/* With the decoder's socket, and perhaps a file. */
static bool send_request(int to, const sandbox_request *request, int socket, int file)
{
    const int fds[] = {socket, file};
    const size_t size = (file >= 0 ? 2 : 1) * sizeof *fds;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec whole = {(void *)(uintptr_t)request, sizeof *request};
    struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(size)};
    ssize_t sent;

    memset(&control, 0, sizeof control);
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(size), .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), fds, size);
    while ((sent = sendmsg(to, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return sent == (ssize_t)sizeof *request;
}

bool sandbox_process_ask(sandbox_process *p, const sandbox_request *request, const io_source *source,
                         int *job)
{
    const int file = io_mapped_file(source);
    int pair[2];
    if ((file < 0 && !write_input(p->input, source)) || ftruncate(p->output, (off_t)request->room) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    const bool sent = send_request(p->control, request, pair[1], file);
    const int cause = errno;
    close(pair[1]);
    p->ending = sent;
    if (sent)
        *job = pair[0];
    else
        close(pair[0]);
    errno = cause;
    return sent;
}

bool sandbox_process_clear(sandbox_process *p)
{
    return ftruncate(p->input, 0) == 0 && ftruncate(p->output, 0) == 0;
}

bool sandbox_process_finish(sandbox_process *p, sandbox_end *end)
{
    if (p->ending && sandbox_receive(p->control, end, sizeof *end, clock_ms() + END_MS) != SANDBOX_RECEIVED)
        return false;
    p->ending = false;
    return true;
}
