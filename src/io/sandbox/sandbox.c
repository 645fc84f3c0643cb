/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct io_sandbox {
    io_decoder decoder;
    int64_t max_memory;
    char *program;
    char description[192];
    pthread_mutex_t lock;
    sandbox_process *idle;
};

static sandbox_process *pop(io_sandbox *sandbox)
{
    pthread_mutex_lock(&sandbox->lock);
    sandbox_process *process = sandbox->idle;
    if (process)
        sandbox->idle = process->next;
    pthread_mutex_unlock(&sandbox->lock);
    return process;
}

sandbox_process *sandbox_take(io_sandbox *sandbox, bool *fresh, io_error *error)
{
    sandbox_process *process;
    sandbox_hello hello;
    sandbox_end end;
    *fresh = false;
    while ((process = pop(sandbox))) {
        if (sandbox_process_finish(process, &end))
            return process;
        sandbox_process_kill(process);
    }
    *fresh = true;
    return sandbox_process_start(&process, sandbox->program, &hello, error) ? process : NULL;
}

void sandbox_give_back(io_sandbox *sandbox, sandbox_process *process)
{
    if (!sandbox_process_clear(process)) {
        sandbox_process_kill(process);
        return;
    }
    pthread_mutex_lock(&sandbox->lock);
    process->next = sandbox->idle;
    sandbox->idle = process;
    pthread_mutex_unlock(&sandbox->lock);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t limit_of(int resource)
{
    struct rlimit limit;
    const bool limited = getrlimit(resource, &limit) == 0 && limit.rlim_cur < INT64_MAX / 4;
    return limited ? (int64_t)limit.rlim_cur : INT64_MAX / 4;
}

/* A picture at the limit of pixels may take 16 bytes for each: samples of 12 bytes, or the
 * coefficients of a progressive JPEG beside its samples; but not more than the machine has. A limit of
 * address space (ulimit -v) is for these, as many bytes of output, the file and what is mapped before. */
static size_t most_memory(const io_sandbox *sandbox, const io_source *source, const io_limits *limits)
{
    enum { PIXEL_BYTES = 16, SMALL_PICTURE = 64 << 20, MAPPED_BEFORE = 64 << 20 };
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const int64_t machine = pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX / 4;
    const int64_t most = sandbox->max_memory ? least(sandbox->max_memory, machine) : machine;
    const int64_t pixels = io_limits_of(source, limits).max_pixels;
    const int64_t memory = SMALL_PICTURE + (pixels < most / PIXEL_BYTES ? pixels * PIXEL_BYTES : most);
    const int64_t space = (limit_of(RLIMIT_AS) - MAPPED_BEFORE - (int64_t)source->size) / 2;
    return (size_t)least(memory, space > page ? space : page);
}

sandbox_request sandbox_request_for(const io_sandbox *sandbox, const io_source *source,
                                    const io_request *as, const io_limits *limits, bool rows)
{
    sandbox_request request;
    memset(&request, 0, sizeof request);
    request.rows = rows;
    request.as = *as;
    request.as.memory = NULL;
    request.limits = *limits;
    request.page = source->page;
    request.deadline = source->deadline;
    request.size = source->size;
    request.memory = most_memory(sandbox, source, limits);
    /* Shared memory counts as a file. */
    request.room = (size_t)least((int64_t)request.memory, limit_of(RLIMIT_FSIZE));
    request.seconds = rows ? 0 : IO_SANDBOX_CPU_SECONDS;
    return request;
}

/* What the decoder was allowed for samples is also the most that its answer may make us take, whatever it
 * said of the picture's size before. */
static bool fits(const sandbox_answer *a, size_t room)
{
    const size_t pixel = (size_t)(a->channels * a->bits / 8 + (a->masked != 0));
    return a->width <= 0 || a->height <= 0 || (size_t)a->width <= room / pixel / (size_t)a->height;
}

static bool is_sensible(const sandbox_answer *a, const io_request *request)
{
    return a->channels == (int32_t)request->color && (!a->masked || request->alpha) &&
           (a->bits == 8 || (a->bits == 16 && request->deep) ||
            (a->bits == 32 && request->floats == IO_FLOATS_KEPT));
}

static bool copy_picture(const sandbox_job *job, const sandbox_answer *a, const io_limits *limits,
                         io_picture *picture, io_error *error)
{
    const io_limits its = io_limits_of(job->source, limits);
    if (!io_picture_allocate(picture, a->width, a->height, (io_color)a->channels, a->bits, &its, error))
        return false;
    const size_t pixels = (size_t)(a->width * a->height);
    const size_t samples = pixels * (size_t)(a->channels * a->bits / 8);
    picture->mask = a->masked ? malloc(pixels) : NULL;
    if (a->masked && !picture->mask)
        return io_fail(error, "not enough memory");
    return sandbox_job_copy(job, picture->samples, samples, 0, error) &&
           (!a->masked || sandbox_job_copy(job, picture->mask, pixels, sandbox_mask_at(samples), error));
}

/* For io_decoder. */
static bool decode(io_decoder *decoder, const io_source *source, const io_request *as,
                   const io_limits *limits, io_picture *picture, io_error *error)
{
    io_sandbox *sandbox = (io_sandbox *)decoder;
    sandbox_request request = sandbox_request_for(sandbox, source, as, limits, false);
    sandbox_answer answer;
    sandbox_job job;

    if (!sandbox_job_begin(&job, sandbox, source, &request, &answer, error))
        return false;
    if (!is_sensible(&answer, as) || !fits(&answer, request.room))
        return sandbox_job_reject(&job, error);
    io_picture decoded = {.memory = as->memory,
                          .format = io_formats[answer.format]->name,
                          .alpha_ignored = answer.alpha_ignored != 0,
                          .colored = answer.colored != 0,
                          .orientation = answer.orientation,
                          .as_stored = as->stored_orientation};
    const bool good = copy_picture(&job, &answer, limits, &decoded, error);
    sandbox_job_end(&job);
    if (good)
        *picture = decoded;
    else
        io_picture_free(&decoded);
    return good;
}

bool io_sandbox_open(io_sandbox **opened, int64_t max_memory, io_error *error)
{
    return io_sandbox_open_from(opened, "/proc/self/exe", max_memory, error);
}

bool io_sandbox_open_from(io_sandbox **opened, const char *program, int64_t max_memory, io_error *error)
{
    io_sandbox *sandbox = calloc(1, sizeof *sandbox);
    char *copy = strdup(program);
    sandbox_process *process;
    sandbox_hello hello;
    struct sigaction children;
    char landlock[40] = "no Landlock in this kernel";

    if (!sandbox || !copy) {
        free(sandbox);
        free(copy);
        return io_fail(error, "not enough memory");
    }
    /* Where children are ignored the kernel forgets them, and gives their numbers to others. */
    if (sigaction(SIGCHLD, NULL, &children) == 0 && children.sa_handler == SIG_IGN)
        signal(SIGCHLD, SIG_DFL);
    if (!sandbox_process_start(&process, program, &hello, error)) {
        free(sandbox);
        free(copy);
        return false;
    }
    *sandbox = (io_sandbox){
        .decoder = {decode, sandbox_open_rows}, .max_memory = max_memory, .program = copy, .idle = process};
    pthread_mutex_init(&sandbox->lock, NULL);
    if (hello.landlock)
        snprintf(landlock, sizeof landlock, "Landlock ABI %d", hello.landlock);
    snprintf(sandbox->description, sizeof sandbox->description,
             "a process for each file; seccomp allows %d system calls; %s; limits of %stime",
             hello.system_calls, landlock, hello.memory_limited ? "memory and " : "");
    *opened = sandbox;
    return true;
}

void io_sandbox_close(io_sandbox **sandbox)
{
    if (!*sandbox)
        return;
    for (sandbox_process *process; (process = pop(*sandbox));)
        sandbox_process_kill(process);
    pthread_mutex_destroy(&(*sandbox)->lock);
    free((*sandbox)->program);
    free(*sandbox);
    *sandbox = NULL;
}

io_decoder *io_sandbox_decoder(io_sandbox *sandbox)
{
    return &sandbox->decoder;
}

const char *io_sandbox_describe(const io_sandbox *sandbox)
{
    return sandbox->description;
}
