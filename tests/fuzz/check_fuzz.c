/* SPDX-License-Identifier: MIT */
/* tests/check.h for a fuzz target: what is random comes from the input, and a failed check ends the
 * process. */
#include "check_fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fuzz.h"

static const uint8_t *input;
static size_t left;
static uint64_t state;

void check_fuzz_input(const uint8_t *data, size_t size)
{
    input = data;
    left = size;
    state = size;
}

/* A byte of the input, as the lowest, which most callers use alone; above it, and after the input's
 * end, what splitmix64 makes of all bytes so far. */
uint64_t check_random(void)
{
    const uint64_t byte = left ? *input : 0;
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15) * (byte + 1));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    if (!left)
        return z;
    input++;
    left--;
    return (z & ~UINT64_C(255)) | byte;
}

int64_t check_random_in(int64_t low, int64_t high)
{
    return low + (int64_t)(check_random() % (uint64_t)(high - low + 1));
}

int64_t check_cases(int64_t fallback)
{
    return fallback;
}

void check_fail(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fuzz_fail(file, line, "%s", text);
}

void check_skip(const char *reason)
{
    fuzz_fail(__FILE__, __LINE__, "nothing is skipped here: %s", reason);
}
