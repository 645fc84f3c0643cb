/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Landlock by its numbers, which are the same on every architecture: headers may be older than the
 * kernel. Each version of its ABI knows further rights, and refuses those that it does not know. */
enum { LANDLOCK_CREATE_RULESET = 444, LANDLOCK_RESTRICT_SELF = 446, LANDLOCK_VERSION = 1 };

typedef struct landlock_rights {
    uint64_t files, net, scoped;
} landlock_rights;

static landlock_rights known_rights(long version)
{
    const int files = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return (landlock_rights){(UINT64_C(1) << files) - 1, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
}

/* No rule allows anything of what the ruleset handles. */
static int confine_by_landlock(io_error *error)
{
    const long version = syscall(LANDLOCK_CREATE_RULESET, NULL, (size_t)0, LANDLOCK_VERSION);
    if (version <= 0)
        return 0;
    const landlock_rights rights = known_rights(version);
    const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    const int rules = (int)syscall(LANDLOCK_CREATE_RULESET, &rights, size, 0);
    const bool good = rules >= 0 && syscall(LANDLOCK_RESTRICT_SELF, rules, 0) == 0;
    if (!good)
        io_fail(error, "Landlock: %s", strerror(errno));
    if (rules >= 0)
        close(rules);
    return good ? (int)version : -1;
}

static bool limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return false;
    if (most > now.rlim_max)
        most = now.rlim_max;
    return setrlimit(resource, &(struct rlimit){most, most}) == 0;
}

int confine_zygote(io_error *error)
{
    if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_NOFILE, SANDBOX_MOST_FILES) || !limit(RLIMIT_FSIZE, 0) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
        io_fail(error, "%s", strerror(errno));
        return -1;
    }
    return confine_by_landlock(error);
}

/* A process with one thread has its thread's number. */
static void fill_in_itself(const confine_filter *filter)
{
    for (size_t i = 0; i < filter->program.len; i++) {
        struct sock_filter *code = &filter->program.filter[i];
        if (code->code == (BPF_JMP | BPF_JEQ | BPF_K) && code->k == CONFINE_ITSELF)
            code->k = (uint32_t)getpid();
    }
}

bool confine_decoder(const confine_filter *filter, size_t memory, unsigned seconds)
{
    if (CONFINE_LIMITS_MEMORY && !limit(RLIMIT_AS, memory))
        return false;
    /* The limit's first second ends the process by SIGXCPU, the next by SIGKILL. */
    const struct rlimit cpu = {seconds, (rlim_t)seconds + 1};
    if (seconds && setrlimit(RLIMIT_CPU, &cpu) != 0)
        return false;
    fill_in_itself(filter);
    return limit(RLIMIT_NPROC, 0) &&
           prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &filter->program, 0, 0) == 0;
}
