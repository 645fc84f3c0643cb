/* SPDX-License-Identifier: MIT */
/* Decoders as whoever has taken one over would have them. */
#ifndef TMATCH_TESTS_IO_MISBEHAVE_H
#define TMATCH_TESTS_IO_MISBEHAVE_H

#include "io/io.h"

/* For sandbox_calls: a file that begins with "do " and a deed's name makes the decoder do that, and fail
 * with "still here" where it is not stopped; others are decoded. */
bool misbehave(const io_source *source, const io_request *request, const io_limits *limits,
               io_picture *picture, io_error *error);

/* Such a file by rows: the decoder tells lies about the picture, or about its rows. */
bool misbehave_by_rows(io_rows **rows, io_source *source, const io_request *request, const io_limits *limits,
                       io_error *error);

/* The names of what has to end a decoder as a forbidden system call, and of answers that are lies,
 * of rows too; NULL at their ends. */
extern const char *const misbehave_forbidden[];
extern const char *const misbehave_lies[];
extern const char *const misbehave_rows_lies[];

#endif
