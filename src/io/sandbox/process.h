/* SPDX-License-Identifier: MIT */
/* Zygotes, as the program sees them. */
#ifndef TMATCH_IO_SANDBOX_PROCESS_H
#define TMATCH_IO_SANDBOX_PROCESS_H

#include "wire.h"

typedef struct sandbox_process {
    pid_t pid;
    int control;       /* the socket to the zygote */
    int input, output; /* memory that it shares with us */
    bool ending;       /* of its last decoder the end has not been received yet */
    struct sandbox_process *next;
} sandbox_process;

/* Starts the program as a zygote, and waits for its hello. Fails with the reason. */
bool sandbox_process_start(sandbox_process **process, const char *program, sandbox_hello *hello,
                           io_error *error);

/* Kills it with its decoder, and frees it; NULL is left alone. */
void sandbox_process_kill(sandbox_process *process);

/* Has it fork a decoder for a source; the answer will come from *job, which is to be closed. room: as in
 * the request. False where the zygote is gone, or with errno set. */
bool sandbox_process_ask(sandbox_process *process, const sandbox_request *request,
                         const io_source *source, int *job);

/* Gives the shared memory back, so that the next file's decoder does not see it. */
bool sandbox_process_clear(sandbox_process *process);

/* Waits a moment for the decoder to be dead, if one has been asked for; false where it is not, or the
 * zygote is gone. */
bool sandbox_process_finish(sandbox_process *process, sandbox_end *end);

#endif
