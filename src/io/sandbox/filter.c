/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What C libraries and decoders need to compute, to have memory and to end. */
static const int always[] = {
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_gettime64), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom),
#if !CONFINE_LIMITS_MEMORY /* sanitizers ask for their stack before each longjmp */
    SCMP_SYS(sigaltstack),
#endif
    SCMP_SYS(sched_yield), SCMP_SYS(getpid), SCMP_SYS(gettid)};

/* On SANDBOX_SOCKET alone. */
static const int on_socket[] = {SCMP_SYS(send), SCMP_SYS(sendto), SCMP_SYS(recv), SCMP_SYS(recvfrom)};

/* abort, which C libraries call where they find memory damaged, and assertions: a signal to itself. */
static const int on_itself[] = {SCMP_SYS(tgkill), SCMP_SYS(tkill)};

/* Before that they say why, where in a decoder nobody reads it. */
static const int on_stderr[] = {SCMP_SYS(write), SCMP_SYS(writev)};

/* With pages that are not to be executed. */
static const int not_executed[] = {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)};

/* C libraries look for files and for the machine's size on their own, and do without. */
static const int refused[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(stat), SCMP_SYS(lstat),
    SCMP_SYS(fstat), SCMP_SYS(stat64), SCMP_SYS(fstat64), SCMP_SYS(fstatat64), SCMP_SYS(newfstatat),
    SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(sysinfo), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getrlimit), SCMP_SYS(prlimit64), SCMP_SYS(ioctl)};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int add_rules(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp socket = SCMP_A0_64(SCMP_CMP_MASKED_EQ, UINT32_MAX, SANDBOX_SOCKET);
    const struct scmp_arg_cmp itself = SCMP_A0_64(SCMP_CMP_MASKED_EQ, UINT32_MAX, CONFINE_ITSELF);
    const struct scmp_arg_cmp errors = SCMP_A0_64(SCMP_CMP_MASKED_EQ, UINT32_MAX, STDERR_FILENO);
    const struct scmp_arg_cmp data = SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    for (size_t i = 0; i < COUNT(always) && result == 0; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, always[i], 0, NULL);
    for (size_t i = 0; i < COUNT(on_socket) && result == 0; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, on_socket[i], 1, &socket);
    for (size_t i = 0; i < COUNT(on_itself) && result == 0; i++) {
        const struct scmp_arg_cmp abort_it[] = {
            itself, {on_itself[i] == SCMP_SYS(tgkill) ? 2 : 1, SCMP_CMP_MASKED_EQ, UINT32_MAX, SIGABRT}};
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, on_itself[i], 2, abort_it);
    }
    for (size_t i = 0; i < COUNT(on_stderr) && result == 0; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), on_stderr[i], 1, &errors);
    for (size_t i = 0; i < COUNT(not_executed) && result == 0; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, not_executed[i], 1, &data);
    for (size_t i = 0; i < COUNT(refused) && result == 0; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0, NULL);
    return result;
}

/* libseccomp writes a filter only to a file. */
static int read_program(scmp_filter_ctx filter, struct sock_fprog *program)
{
    const int file = memfd_create("filter", MFD_CLOEXEC);
    int result = file < 0 ? -errno : seccomp_export_bpf(filter, file);
    const off_t size = result == 0 ? lseek(file, 0, SEEK_END) : 0;
    struct sock_filter *code = size > 0 ? malloc((size_t)size) : NULL;
    if (result == 0 && (!code || pread(file, code, (size_t)size, 0) != (ssize_t)size))
        result = -ENOMEM;
    if (file >= 0)
        close(file);
    if (result != 0)
        free(code);
    else
        *program = (struct sock_fprog){(unsigned short)((size_t)size / sizeof *code), code};
    return result;
}

bool confine_make_filter(confine_filter *filter, io_error *error)
{
    const scmp_filter_ctx rules = seccomp_init(SCMP_ACT_KILL_PROCESS);
    *filter = (confine_filter){.system_calls = (int)(COUNT(always) + COUNT(on_socket) + COUNT(on_itself) + COUNT(not_executed))};
    if (!rules) /* libseccomp has found none that end a process */
        return io_fail(error, "this kernel has no seccomp filters");
    int result = add_rules(rules);
    if (result == 0)
        result = read_program(rules, &filter->program);
    seccomp_release(rules);
    return result == 0 || io_fail(error, "libseccomp: %s", strerror(-result));
}
