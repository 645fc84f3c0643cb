/* SPDX-License-Identifier: MIT */
/* The processes inside. */
#ifndef TMATCH_IO_SANDBOX_ZYGOTE_H
#define TMATCH_IO_SANDBOX_ZYGOTE_H

#include "confine.h"

/* As io_decode_as. */
typedef bool sandbox_decode(const io_source *source, const io_request *request, const io_limits *limits,
                        io_picture *picture, io_error *error);

/* io_sandbox_main with this for io_decode_as. */
int sandbox_zygote(sandbox_decode *decode);

/* What a decoder does, on SANDBOX_SOCKET: it confines itself before it looks at a byte of the file, which
 * is SANDBOX_INPUT where file is -1. Does not return. */
_Noreturn void sandbox_decoder(const sandbox_request *request, int file, const confine_filter *filter,
                               sandbox_decode *decode);

#endif
