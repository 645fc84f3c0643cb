/* SPDX-License-Identifier: MIT */
/* Allocations and reads that fail. malloc and its like are defined here, in front of the C library's
 * or the sanitizer's, which have them under other names as well; read is wrapped by the linker. */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned allocations_left, reads_left;
static bool own_only, failed;
static size_t read_most;

/* Where this program's own code is; set by the linker. */
extern const char __executable_start[], etext[];

void fuzz_fail_allocation(unsigned number, bool own)
{
    failed = false;
    own_only = own;
    __atomic_store_n(&allocations_left, number, __ATOMIC_SEQ_CST);
}

bool fuzz_allocations_succeed(void)
{
    __atomic_store_n(&allocations_left, 0, __ATOMIC_SEQ_CST);
    return failed;
}

#if FUZZ_HAVE_MALLOC_NAMES
#define DECLARE(type, name, ...)                                     \
    extern type __interceptor_##name(__VA_ARGS__) __attribute__((weak)); \
    extern type __libc_##name(__VA_ARGS__)

DECLARE(void *, malloc, size_t);
DECLARE(void *, calloc, size_t, size_t);
DECLARE(void *, realloc, void *, size_t);

#define REAL(name) (__interceptor_##name ? __interceptor_##name : __libc_##name)

static bool fails(const void *caller)
{
    unsigned left = __atomic_load_n(&allocations_left, __ATOMIC_RELAXED);
    if (left == 0 || (own_only && ((const char *)caller < __executable_start || (const char *)caller >= etext)))
        return false;
    if (__atomic_sub_fetch(&allocations_left, 1, __ATOMIC_SEQ_CST) != 0)
        return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

#define EXPORT __attribute__((visibility("default"), no_sanitize("address", "undefined")))

EXPORT void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : REAL(malloc)(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : REAL(calloc)(count, size);
}

EXPORT void *realloc(void *data, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : REAL(realloc)(data, size);
}
#endif

void fuzz_shorten_reads(size_t most, unsigned failing)
{
    read_most = most;
    reads_left = failing;
}

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (reads_left > 0 && --reads_left == 0) {
        errno = EIO;
        return -1;
    }
    return __real_read(fd, to, read_most && read_most < size ? read_most : size);
}
