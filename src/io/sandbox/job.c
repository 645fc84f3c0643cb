/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

/* A decoder looks at the deadline itself; one that is in the middle of a library's work does not. */
enum { GRACE_MS = 100 };

static void close_socket(sandbox_job *job)
{
    if (job->socket >= 0)
        close(job->socket);
    job->socket = -1;
}

static void kill_process(sandbox_job *job)
{
    close_socket(job);
    sandbox_process_kill(job->process);
    job->process = NULL;
}

void sandbox_job_end(sandbox_job *job)
{
    close_socket(job);
    if (job->process)
        sandbox_give_back(job->sandbox, job->process);
    job->process = NULL;
}

bool sandbox_job_reject(sandbox_job *job, io_error *error)
{
    kill_process(job);
    return io_fail(error, "the process that decodes it gave an answer that makes no sense");
}

bool sandbox_fail(io_error *error, const char *reason, size_t size)
{
    size_t i = 0;
    for (; i < size && i < sizeof error->reason - 1 && reason[i]; i++)
        error->reason[i] = (char)(reason[i] >= ' ' && reason[i] < 0x7f ? reason[i] : '?');
    error->reason[i] = '\0';
    return false;
}

/* Says why there is no answer. */
static bool fail_end(const sandbox_end *end, int number, const io_source *source, io_error *error)
{
    error->passing = end->start_errno || number == SIGKILL || number == SIGXCPU;
    if (end->start_errno)
        return io_fail(error, "the process that decodes cannot be started: %s", strerror(end->start_errno));
    if (number == SIGXCPU && !io_source_late(source, error))
        return io_fail(error, "takes more than %d seconds to decode, which is what --sandbox allows",
                       IO_SANDBOX_CPU_SECONDS);
    if (number == SIGXCPU)
        return false;
    if (number == SIGSYS)
        return io_fail(error, "the process that decodes it was killed: it wanted a forbidden system call");
    if (number)
        return io_fail(error, "the process that decodes it was killed by signal %d (%s)", number,
                       strsignal(number));
    return io_fail(error, "the process that decodes it ended without an answer");
}

/* The decoder is dead, or about to be. */
static bool fail_closed(sandbox_job *job, bool *again, io_error *error)
{
    sandbox_end end;
    close_socket(job);
    if (!sandbox_process_finish(job->process, &end)) {
        kill_process(job);
        *again = error->passing = true;
        return io_fail(error, "the process that decodes it was killed");
    }
    const int number = end.start_errno || !WIFSIGNALED(end.status) ? 0 : WTERMSIG(end.status);
    *again = number == SIGKILL;
    if (number) /* another zygote has its memory elsewhere: who guesses does not get a second guess */
        kill_process(job);
    else
        sandbox_job_end(job);
    return fail_end(&end, number, job->source, error);
}

bool sandbox_job_receive(sandbox_job *job, void *message, size_t size, bool *again, io_error *error)
{
    const double most = clock_ms() + IO_SANDBOX_WALL_SECONDS * 1e3, deadline = job->source->deadline;
    const double until = deadline > 0 && deadline + GRACE_MS < most ? deadline + GRACE_MS : most;
    *again = false;
    switch (sandbox_receive(job->socket, message, size, until)) {
    case SANDBOX_RECEIVED: return true;
    case SANDBOX_CLOSED: return fail_closed(job, again, error);
    case SANDBOX_NONSENSE: return sandbox_job_reject(job, error);
    case SANDBOX_LATE: break;
    }
    kill_process(job);
    error->passing = true;
    if (!io_source_late(job->source, error))
        io_fail(error, "takes more than %d seconds to decode, which is what --sandbox allows",
                IO_SANDBOX_WALL_SECONDS);
    return false;
}

/* One that was idle may be gone; a new one should not be. */
static bool begin(sandbox_job *job, const sandbox_request *request, io_error *error)
{
    bool fresh = false;
    error->passing = true;
    while (!fresh) {
        job->process = sandbox_take(job->sandbox, &fresh, error);
        if (!job->process)
            return false;
        if (sandbox_process_ask(job->process, request, job->source, &job->socket))
            return true;
        io_fail(error, "the process that decodes cannot be asked: %s", strerror(errno));
        sandbox_process_kill(job->process);
        job->process = NULL;
    }
    return false;
}

static int count_formats(void)
{
    int count = 0;
    while (io_formats[count])
        count++;
    return count;
}

static bool is_sensible(const sandbox_answer *a)
{
    enum { MOST_DECODER_BYTES = 256 };
    static const int64_t longest = (int64_t)1 << 40; /* of what no format has, that nothing overflows */
    return a->width <= longest && a->height <= longest && a->format >= 0 && a->format < count_formats() &&
           a->orientation >= 0 && a->orientation <= 8 && a->orientation != 1 &&
           a->decoder_bytes >= 0 && a->decoder_bytes <= MOST_DECODER_BYTES;
}

bool sandbox_job_begin(sandbox_job *job, io_sandbox *sandbox, const io_source *source,
                       sandbox_request *request, sandbox_answer *answer, io_error *error)
{
    bool good = false, again = true;
    if (source->deadline > 0 && request->seconds)
        request->seconds = 0; /* a deadline of the caller's goes before ours */
    for (int attempt = 0; attempt < 2 && !good && again; attempt++) {
        *job = (sandbox_job){.sandbox = sandbox, .source = source, .socket = -1};
        again = false;
        good = begin(job, request, error) &&
               sandbox_job_receive(job, answer, sizeof *answer, &again, error);
    }
    if (!good)
        return false;
    error->passing = false;
    if (answer->lost)
        io_source_lose(source);
    if (!answer->good) {
        sandbox_job_end(job);
        return sandbox_fail(error, answer->text, sizeof answer->text);
    }
    return is_sensible(answer) || sandbox_job_reject(job, error);
}

bool sandbox_job_copy(const sandbox_job *job, void *to, size_t size, size_t from, io_error *error)
{
    for (size_t at = 0; at < size;) {
        const ssize_t got = pread(job->process->output, (uint8_t *)to + at, size - at, (off_t)(from + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return io_fail(error, "the process that decodes it gave an answer that makes no sense");
        at += (size_t)got;
    }
    return true;
}
