/* SPDX-License-Identifier: MIT */
/* Files in an empty folder, which the tests of a program have for themselves. */
#ifndef TMATCH_TESTS_IO_FILES_H
#define TMATCH_TESTS_IO_FILES_H

#include "check.h"
#include "samples.h"

/* As check_main, in a new folder that is removed afterwards. */
int check_main_in_folder(const check_test *tests, size_t count, int argc, char **argv);

void write_file(const char *path, const void *data, size_t size);
/* With a 0 after what it holds; the caller frees data. */
bytes read_file(const char *path);
void check_content(const char *path, const char *expected);
/* Names in the folder, temporary files too. */
int count_files(void);
void remove_all(void);

/* A picture whose samples differ from their neighbours. */
io_picture numbered_picture(int64_t width, int64_t height, int channels);
io_picture read_picture(const char *path, io_color color);

#endif
