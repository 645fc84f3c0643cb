/* SPDX-License-Identifier: MIT */
/* What fuzz targets share. A target is a program with the entry of libFuzzer, which AFL++ takes as
 * well; replay.c is a main that hands it files. An input's last bytes say how the rest is used, so
 * that a file of a format with some bytes behind it is an input. */
#ifndef TMATCH_TESTS_FUZZ_H
#define TMATCH_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_CONTROL = 4 };

/* Takes FUZZ_CONTROL bytes off the end; bytes that are not there are 0. */
uint32_t fuzz_control(const uint8_t *data, size_t *size);

/* A copy whose end is the end of its allocation, with a 0 after it where that is asked for. */
uint8_t *fuzz_copy(const uint8_t *data, size_t size, bool zero);

/* Ends the process, so that the fuzzer keeps the input. */
_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define FUZZ_CHECK(condition)                                    \
    do {                                                         \
        if (!(condition))                                        \
            fuzz_fail(__FILE__, __LINE__, "%s", #condition);     \
    } while (0)

/* A file in memory that holds the data, until it is closed; path has room for its name. */
enum { FUZZ_PATH = 64 };
int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH]);

/* getopt keeps where it was in a command line that is gone; here it forgets that. */
void fuzz_forget_options(void);

/* What the next allocations come to: the number-th fails, counted from 1; 0: none. Where own is
 * true only those of this program's own code, not those of libraries, are counted. Without the C
 * library's malloc under its other name nothing fails. */
void fuzz_fail_allocation(unsigned number, bool own);

/* Lets all succeed again. Whether one has failed. */
bool fuzz_allocations_succeed(void);

/* Reads of files give so many bytes at most, and the number-th, counted from 1, fails with EIO; 0:
 * all of them, and none does. */
void fuzz_shorten_reads(size_t most, unsigned failing);

#endif
