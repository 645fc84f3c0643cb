/* SPDX-License-Identifier: MIT */
#include "misbehave.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "io/sandbox/wire.h"

const char *const misbehave_forbidden[] = {
    "socket", "connect", "exec", "fork", "vfork", "ptrace", "execute-memory", "execute-more", "kill", "abort-parent",
    "stop-itself", "write", "write-elsewhere", "send-elsewhere", "pass-descriptors", "duplicate", "make-file", "more-rights",
    "more-memory", "no-signals", "read-others", "io-uring", "namespaces", "unlink", "sleep", NULL};

const char *const misbehave_lies[] = {
    "lie-empty", "lie-negative", "lie-huge", "lie-wide", "lie-format", "lie-many-formats", "lie-channels",
    "lie-bits", "lie-deep", "lie-mask", "lie-orientation", "lie-bytes", "lie-short", "lie-long", NULL};

const char *const misbehave_rows_lies[] = {
    "rows-more", "rows-fewer", "rows-negative", "rows-huge", "rows-short", "rows-long", "rows-gone",
    "rows-crash", "rows-failed", NULL};

static void forbidden(const char *deed)
{
    char *const arguments[] = {(char[]){"true"}, NULL};
    char byte = 0;
    struct iovec whole = {&byte, 1};
    struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1};
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    void *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#define DEED(name, call)             \
    if (strcmp(deed, name) == 0) { \
        (void)!(call);               \
        return;                      \
    }
    DEED("socket", socket(AF_INET, SOCK_STREAM, 0))
    DEED("connect", connect(SANDBOX_SOCKET, (const struct sockaddr *)page, 16))
    DEED("exec", execv("/bin/true", arguments))
    DEED("fork", fork())
    DEED("vfork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
    DEED("ptrace", ptrace(PTRACE_ATTACH, getppid(), 0, 0))
    DEED("execute-memory", mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == NULL)
    DEED("execute-more", mprotect(page, 4096, PROT_READ | PROT_EXEC))
    DEED("kill", syscall(SYS_kill, 1, 0))
    DEED("abort-parent", syscall(SYS_tgkill, getppid(), getppid(), SIGABRT))
    DEED("stop-itself", syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP))
    DEED("write", write(SANDBOX_SOCKET, &byte, 1) == 0)
    DEED("write-elsewhere", write(STDOUT_FILENO, &byte, 1) == 0)
    DEED("send-elsewhere", send(STDERR_FILENO, &byte, 1, 0) == 0)
    DEED("pass-descriptors", sendmsg(SANDBOX_SOCKET, &message, 0) == 0)
    DEED("duplicate", dup(SANDBOX_SOCKET))
    DEED("make-file", memfd_create("a", 0))
    DEED("more-rights", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
    DEED("more-memory", syscall(SYS_setrlimit, RLIMIT_AS, &all))
    DEED("no-signals", signal(SIGXCPU, SIG_IGN) == SIG_ERR)
    DEED("read-others", syscall(SYS_process_vm_readv, getppid(), &whole, 1, &whole, 1, 0))
    DEED("io-uring", syscall(425 /* io_uring_setup */, 1, page))
    DEED("namespaces", syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */))
    DEED("unlink", syscall(SYS_unlinkat, AT_FDCWD, "x", 0))
    DEED("sleep", nanosleep(&(struct timespec){0, 1}, NULL))
#undef DEED
}

/* An answer that is right but for one thing; false where it is not a lie that was asked for. */
static bool lie(const char *deed, io_request request)
{
    sandbox_answer answer;
    memset(&answer, 0, sizeof answer);
    answer.good = 1;
    answer.channels = (int32_t)request.color;
    answer.bits = 8;
    answer.width = answer.height = 4;
    memset(answer.text, 'x', sizeof answer.text);
    const char *what = deed + strlen("lie-");
    size_t size = sizeof answer;
    if (strncmp(deed, "lie-", 4) != 0)
        return false;
    answer.width = strcmp(what, "empty") == 0      ? 0
                   : strcmp(what, "negative") == 0 ? -4
                   : strcmp(what, "huge") == 0     ? INT64_MAX / 2
                   : strcmp(what, "wide") == 0     ? (int64_t)1 << 27
                                                   : 4;
    answer.format = strcmp(what, "format") == 0 ? -1 : strcmp(what, "many-formats") == 0 ? 1000 : 0;
    answer.channels += strcmp(what, "channels") == 0;
    answer.bits = strcmp(what, "bits") == 0 ? 7 : strcmp(what, "deep") == 0 ? 16 : 8;
    answer.masked = strcmp(what, "mask") == 0 ? 255 : 0;
    answer.orientation = strcmp(what, "orientation") == 0 ? 9 : 0;
    answer.decoder_bytes = strcmp(what, "bytes") == 0 ? -1 : 0;
    size -= strcmp(what, "short") == 0;
    char longer[sizeof answer + 1] = {0};
    memcpy(longer, &answer, sizeof answer);
    sandbox_send(SANDBOX_SOCKET, longer, size + (strcmp(what, "long") == 0));
    return true;
}

/* What is asked for, answered with one thing that is wrong. */
static void lie_about_rows(const char *what)
{
    sandbox_rows_wanted wanted;
    while (sandbox_receive(SANDBOX_SOCKET, &wanted, sizeof wanted, 0) == SANDBOX_RECEIVED) {
        sandbox_rows_answer answer;
        memset(&answer, 0, sizeof answer);
        memset(answer.text, '\r', sizeof answer.text);
        answer.good = strcmp(what, "failed") != 0;
        answer.count = strcmp(what, "more") == 0       ? wanted.count + 1
                       : strcmp(what, "fewer") == 0    ? wanted.count - 1
                       : strcmp(what, "negative") == 0 ? -1
                       : strcmp(what, "huge") == 0     ? INT64_MAX
                       : strcmp(what, "failed") == 0   ? 0
                                                       : wanted.count;
        if (strcmp(what, "gone") == 0)
            return;
        if (strcmp(what, "crash") == 0)
            abort();
        char longer[sizeof answer + 1] = {0};
        memcpy(longer, &answer, sizeof answer);
        sandbox_send(SANDBOX_SOCKET, longer,
                     sizeof answer - (strcmp(what, "short") == 0) + (strcmp(what, "long") == 0));
    }
}

bool misbehave_by_rows(io_rows **rows, io_source *source, const io_request *request, const io_limits *limits,
                       io_error *error)
{
    char deed[32] = "";
    if (source->size < 3 || memcmp(source->data, "do ", 3) != 0)
        return io_rows_open_as(rows, source, request, limits, error);
    memcpy(deed, source->data + 3, source->size - 3 < sizeof deed - 1 ? source->size - 3 : sizeof deed - 1);
    const bool of_rows = strncmp(deed, "rows-", 5) == 0;
    if (lie(of_rows ? "lie-nothing" : deed, *request))
        lie_about_rows(of_rows ? deed + 5 : "nothing");
    _exit(0);
}

static void compute(double ms)
{
    const double until = ms + clock_ms();
    while (clock_ms() < until || ms <= 0)
        ;
}

static bool fail(io_error *error, const char *reason)
{
    strcpy(error->reason, reason);
    return false;
}

/* Takes memory until there is none. */
static bool eat(io_error *error)
{
    enum { PIECE = 8 << 20 };
    size_t count = 0;
    for (char *piece; (piece = malloc(PIECE)); count++)
        memset(piece, 1, PIECE);
    snprintf(error->reason, sizeof error->reason, "%zu MiB", count * PIECE >> 20);
    return false;
}

/* More of the stack than there is. */
static int overflow(int depth, volatile char *before)
{
    volatile char here[4096];
    here[0] = *before;
    return depth > 0 ? overflow(depth - 1, here) + here[0] : 0;
}

bool misbehave(const io_source *source, const io_request *request, const io_limits *limits,
               io_picture *picture, io_error *error)
{
    char deed[32] = "";
    if (source->size < 3 || memcmp(source->data, "do ", 3) != 0)
        return io_decode_as(source, request, limits, picture, error);
    memcpy(deed, source->data + 3, source->size - 3 < sizeof deed - 1 ? source->size - 3 : sizeof deed - 1);
    if (lie(deed, *request)) {
        char byte;
        while (recv(SANDBOX_SOCKET, &byte, 1, 0) > 0) /* not to end before the lie is found out */
            ;
        _exit(0);
    }
    if (strcmp(deed, "open") == 0)
        return fail(error, open("/", O_RDONLY) >= 0 ? "opened" : strerror(errno));
    if (strcmp(deed, "eat") == 0)
        return eat(error);
    if (strcmp(deed, "compute") == 0)
        compute(0);
    if (strcmp(deed, "wait") == 0)
        (void)!recv(SANDBOX_SOCKET, &(char){0}, 1, 0);
    if (strcmp(deed, "linger") == 0) {
        sandbox_answer answer;
        memset(&answer, 0, sizeof answer);
        strcpy(answer.text, "\x1b[2J lingers");
        sandbox_send(SANDBOX_SOCKET, &answer, sizeof answer);
        sandbox_send(SANDBOX_SOCKET, &answer, sizeof answer);
        compute(0);
    }
    if (strcmp(deed, "leave") == 0)
        _exit(0);
    if (strcmp(deed, "crash") == 0)
        *(volatile char *)source->page = 1;
    if (strcmp(deed, "abort") == 0)
        abort();
    if (strcmp(deed, "complain") == 0)
        return fail(error, write(STDERR_FILENO, deed, 1) == 1 ? "written" : strerror(errno));
    if (strcmp(deed, "overflow") == 0)
        overflow(1 << 20, (char[]){0});
    if (strcmp(deed, "slow") == 0) {
        static const char pixels[] = "P2 2 1 9 3 4";
        compute(1000);
        const io_source other = {.data = (const uint8_t *)pixels, .size = strlen(pixels)};
        return io_decode_as(&other, request, limits, picture, error);
    }
    forbidden(deed);
    return fail(error, "still here");
}
