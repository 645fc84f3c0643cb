/* SPDX-License-Identifier: MIT */
/* The processes inside. */
#ifndef TMATCH_IO_SANDBOX_ZYGOTE_H
#define TMATCH_IO_SANDBOX_ZYGOTE_H

#include "confine.h"

/* What a decoder calls: as io_decode_as and io_rows_open_as, which tests replace. */
typedef struct sandbox_calls {
    bool (*decode)(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error);
    bool (*rows_open)(io_rows **rows, io_source *source, const io_request *request, const io_limits *limits,
                      io_error *error);
} sandbox_calls;

/* io_sandbox_main with these calls. */
int sandbox_zygote(const sandbox_calls *calls);

/* What a decoder does, on SANDBOX_SOCKET: it confines itself before it looks at a byte of the file, which
 * is SANDBOX_INPUT where file is -1. Does not return. */
_Noreturn void sandbox_decoder(const sandbox_request *request, int file, const confine_filter *filter,
                               const sandbox_calls *calls);

#endif
