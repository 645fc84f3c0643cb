/* SPDX-License-Identifier: MIT */
#include "sandbox.h"
#include "zygote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The caller may itself have been started with files that are nobody's business. */
static void close_others(void)
{
    enum { CLOSE_RANGE = 436, MANY = 4096 };
    if (syscall(CLOSE_RANGE, SANDBOX_FIRST_FREE, ~0U, 0) == 0)
        return;
    for (int fd = SANDBOX_FIRST_FREE; fd < MANY; fd++)
        close(fd);
}

static void wake(int number)
{
    (void)number;
}

/* Waits for a child; if the program goes away meanwhile, the child has to go too. */
static int wait_for(pid_t child)
{
    int status;
    sigset_t none;
    sigemptyset(&none);
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct pollfd program = {.fd = SANDBOX_SOCKET};
        if (ppoll(&program, 1, NULL, &none) > 0) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            _exit(1);
        }
    }
    return status;
}

/* Whether a filtered process is refused what it should be: nothing is taken on trust here. */
static bool try_filter(const confine_filter *filter, io_error *error)
{
    const pid_t child = fork();
    if (child == 0) {
        if (!confine_decoder(filter, SIZE_MAX / 4, 0))
            _exit(errno == EINVAL || errno == ENOSYS ? 2 : 3);
        syscall(SYS_getppid); /* Landlock, too, would refuse to open a file */
        _exit(4);
    }
    if (child < 0)
        return io_fail(error, "%s", strerror(errno));
    const int status = wait_for(child);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return true;
    return io_fail(error, "%s", code == 2   ? "this kernel has no seccomp filters"
                                : code == 4 ? "seccomp filters have no effect here"
                                            : "a seccomp filter cannot be set here");
}

static bool set_up(confine_filter *filter)
{
    struct sigaction action = {.sa_handler = wake};
    sigset_t child;
    io_error error = {.reason = ""};
    sandbox_hello hello;

    memset(&hello, 0, sizeof hello);
    sigemptyset(&action.sa_mask);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    close_others();
    hello.landlock = -1;
    if (sigaction(SIGCHLD, &action, NULL) == 0 && sigprocmask(SIG_BLOCK, &child, NULL) == 0 &&
        confine_make_filter(filter, &error))
        hello.landlock = confine_zygote(&error);
    hello.good = hello.landlock >= 0 && try_filter(filter, &error);
    hello.system_calls = filter->system_calls;
    hello.memory_limited = CONFINE_LIMITS_MEMORY;
    snprintf(hello.reason, sizeof hello.reason, "%s", error.reason);
    return sandbox_send(SANDBOX_SOCKET, &hello, sizeof hello) && hello.good;
}

/* fds: the decoder's socket, and a file or -1. False where the program is gone. */
static bool receive(sandbox_request *request, int fds[2])
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec whole = {request, sizeof *request};
    struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t got;
    while ((got = recvmsg(SANDBOX_SOCKET, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    const struct cmsghdr *sent = got == sizeof *request ? CMSG_FIRSTHDR(&message) : NULL;
    if (!sent || sent->cmsg_type != SCM_RIGHTS)
        return false;
    fds[1] = -1;
    memcpy(fds, CMSG_DATA(sent), sent->cmsg_len - CMSG_LEN(0));
    return true;
}

int io_sandbox_main(void)
{
    return sandbox_zygote(&(sandbox_calls){io_decode_as, io_rows_open_as});
}

int sandbox_zygote(const sandbox_calls *calls)
{
    confine_filter filter = {0};
    sandbox_request request;
    int fds[2], kind;
    socklen_t size = sizeof kind;

    if (getsockopt(SANDBOX_SOCKET, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_SEQPACKET) {
        fputs("This is started by tmatch --sandbox alone.\n", stderr);
        return 2;
    }
    prctl(PR_SET_NAME, "tmatch-decoder");
    if (!set_up(&filter))
        return 2;
    const pid_t self = getpid();
    while (receive(&request, fds)) {
        const pid_t child = fork();
        if (child == 0) {
            if (dup2(fds[0], SANDBOX_SOCKET) < 0 || close(fds[0]) != 0 ||
                prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != self)
                _exit(1);
            sandbox_decoder(&request, fds[1], &filter, calls);
        }
        sandbox_end end = {.start_errno = child < 0 ? errno : 0};
        close(fds[0]);
        if (fds[1] >= 0)
            close(fds[1]);
        if (child >= 0)
            end.status = wait_for(child);
        if (!sandbox_send(SANDBOX_SOCKET, &end, sizeof end))
            break;
    }
    free(filter.program.filter);
    return 0;
}

bool io_sandbox_is_zygote(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], IO_SANDBOX_ARGUMENT) == 0;
}
