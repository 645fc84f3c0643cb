/* SPDX-License-Identifier: MIT */
/* Preloaded into a program, makes its kernel one without seccomp filters, or (VAIN) one where they are
 * accepted and do nothing, as under some emulators. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int prctl(int option, ...)
{
    va_list list;
    unsigned long arguments[4];
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option != PR_SET_SECCOMP)
        return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
    if (VAIN)
        return 0;
    errno = EINVAL;
    return -1;
}

/* libseccomp asks for what the kernel can do by the other system call. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
    long (*next)(long, ...), arguments[6];
    void *address = dlsym(RTLD_NEXT, "syscall");
    va_list list;

    memcpy(&next, &address, sizeof next);
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number != SYS_seccomp || VAIN)
        return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    errno = ENOSYS;
    return -1;
}
