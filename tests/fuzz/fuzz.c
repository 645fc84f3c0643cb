/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint32_t fuzz_control(const uint8_t *data, size_t *size)
{
    uint32_t control = 0;
    for (int i = 0; i < FUZZ_CONTROL && *size > 0; i++)
        control = control << 8 | data[--*size];
    return control;
}

uint8_t *fuzz_copy(const uint8_t *data, size_t size, bool zero)
{
    uint8_t *copy = malloc(size + zero + !size);
    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    if (zero)
        copy[size] = 0;
    return copy;
}

void fuzz_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

void fuzz_forget_options(void)
{
    char name[] = "tmatch", *argv[] = {name, NULL};
    const struct option none = {0};
    optind = 0;
    getopt_long(1, argv, "-:", &none, NULL);
    optind = 1;
}
