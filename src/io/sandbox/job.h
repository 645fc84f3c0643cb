/* SPDX-License-Identifier: MIT */
/* A decoder at work, as the program sees it. */
#ifndef TMATCH_IO_SANDBOX_JOB_H
#define TMATCH_IO_SANDBOX_JOB_H

#include "sandbox.h"
#include "process.h"

typedef struct sandbox_job {
    io_sandbox *sandbox;
    sandbox_process *process; /* NULL: there is none any more */
    int socket;
    const io_source *source;
} sandbox_job;

/* Has a decoder begin, and waits for its answer, which is checked as far as it does not depend on the
 * request. A decoder that is killed from outside is started once more. False with the reason; then the
 * job has ended. */
bool sandbox_job_begin(sandbox_job *job, io_sandbox *sandbox, const io_source *source,
                       sandbox_request *request, sandbox_answer *answer, io_error *error);

/* Waits for a message of the job's decoder. False with the reason; then the job has ended. *again: the
 * decoder was killed from outside. */
bool sandbox_job_receive(sandbox_job *job, void *message, size_t size, bool *again, io_error *error);

/* Zygotes that are idle, or new, which fresh says. NULL with the reason. */
sandbox_process *sandbox_take(io_sandbox *sandbox, bool *fresh, io_error *error);
void sandbox_give_back(io_sandbox *sandbox, sandbox_process *process);

/* Copies samples; false with the reason. */
bool sandbox_job_copy(const sandbox_job *job, void *to, size_t size, size_t from, io_error *error);

/* Ends a job whose decoder ends by itself, or with its socket; or one that talked nonsense, which is the
 * error. */
void sandbox_job_end(sandbox_job *job);
bool sandbox_job_reject(sandbox_job *job, io_error *error);

/* Copies the reason that a decoder gave: one line of ASCII. Always false. */
bool sandbox_fail(io_error *error, const char *reason, size_t size);

/* For io_decoder. */
bool sandbox_open_rows(io_decoder *decoder, io_rows **rows, io_source *source,
                       const io_request *request, const io_limits *limits, io_error *error);

/* The request for a source. */
sandbox_request sandbox_request_for(const io_sandbox *sandbox, const io_source *source,
                                    const io_request *as, const io_limits *limits, bool rows);

#endif
