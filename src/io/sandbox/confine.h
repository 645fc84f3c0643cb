/* SPDX-License-Identifier: MIT */
/* Taking away from the own process what a decoder does not need. */
#ifndef TMATCH_IO_SANDBOX_CONFINE_H
#define TMATCH_IO_SANDBOX_CONFINE_H

#include <linux/filter.h>

#include "wire.h"

/* A seccomp filter; its code is malloc'ed. */
typedef struct confine_filter {
    struct sock_fprog program;
    int system_calls; /* how many it allows */
} confine_filter;

/* Stands in it for the number of the process, until that is known. */
#define CONFINE_ITSELF 0x746d6174

/* Makes the filter for confine_decoder. */
bool confine_make_filter(confine_filter *filter, io_error *error);

/* For a zygote and all that it forks: no new privileges, no core file, no tracing by others, few
 * descriptors, files of no size; under Landlock no file, no TCP, no signal and no abstract socket
 * outside. Returns Landlock's version, or 0 where the kernel does not have it; -1 with an error. */
int confine_zygote(io_error *error);

/* For a decoder: as many bytes of address space, so many seconds of computing unless they are 0, no
 * process, and of system calls those that computing in memory and talking on SANDBOX_SOCKET need. Opening
 * files fails, and of signals it may only send itself that of abort; whatever else is asked for ends the
 * process by SIGSYS. The filter becomes that of this process alone. False where that cannot be had. */
bool confine_decoder(const confine_filter *filter, size_t memory, unsigned seconds);

/* Whether memory is limited: not under the address sanitizer, which takes terabytes for itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINE_LIMITS_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CONFINE_LIMITS_MEMORY false
#endif
#endif
#ifndef CONFINE_LIMITS_MEMORY
#define CONFINE_LIMITS_MEMORY true
#endif

#endif
