/* SPDX-License-Identifier: MIT */
/* Decoding files that nobody vouches for in processes that can do nothing else. Each file has a
 * process of its own, the decoder, under a seccomp filter, Landlock and limits of memory and time:
 * it sees the file's bytes and memory for samples, and no other file, no network, no process, no
 * descriptor. What it answers is not trusted either. Decoders are forked by a zygote, this program
 * started anew, which has nothing of the caller's memory; several threads at a time have one each. */
#ifndef TMATCH_IO_SANDBOX_H
#define TMATCH_IO_SANDBOX_H

#include "io/io.h"

typedef struct io_sandbox io_sandbox;

/* How long a decoder may compute for a file, or wait, where the source has no deadline; in seconds.
 * By rows, each MiB of them may take as long. */
#define IO_SANDBOX_CPU_SECONDS 120
#define IO_SANDBOX_WALL_SECONDS 600

/* Starts the first zygote, which tries whether the kernel boxes it in. Fails with the reason where it
 * does not, or where this build cannot. The process needs io_sandbox_main at the beginning of its main.
 * max_memory: the most bytes that a decoder may take, or 0: as many as the limit of pixels suggests. */
bool io_sandbox_open(io_sandbox **sandbox, int64_t max_memory, io_error *error);

/* The same for processes whose own program does not have io_sandbox_main: zygotes are started from this
 * one, which is of the same build. program is copied. */
bool io_sandbox_open_from(io_sandbox **sandbox, const char *program, int64_t max_memory, io_error *error);

/* Ends its processes; no source may be in use with it any more. *sandbox becomes NULL; it may be so
 * before. */
void io_sandbox_close(io_sandbox **sandbox);

/* To be put into sources, whose pictures and rows are then decoded by it. Used by any thread. */
io_decoder *io_sandbox_decoder(io_sandbox *sandbox);

/* What it consists of on this machine: "seccomp, 42 system calls; Landlock ABI 7 ...". */
const char *io_sandbox_describe(const io_sandbox *sandbox);

/* The argument, the only one, by which a zygote is started. */
#define IO_SANDBOX_ARGUMENT "--sandboxed-decoder"

/* Whether this process was started as a zygote; io_sandbox_main is then what it does, and returns its exit
 * status when its starter is gone. */
bool io_sandbox_is_zygote(int argc, char **argv);
int io_sandbox_main(void);

#endif
