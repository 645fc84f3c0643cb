/* SPDX-License-Identifier: MIT */
/* Rows that a decoder hands out: it is asked for a MiB of them at a time. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct handed_rows {
    io_format format; /* of the file, but that rows come from the decoder */
    sandbox_job job;
    int64_t first, count; /* those that the decoder handed out last */
    bool failed;          /* behind them it could read no more, */
    io_error error;       /* for this reason */
    char whole[64];
} handed_rows;

enum { AT_ONCE = 1 << 20 };

static size_t row_bytes(const io_rows *rows)
{
    return (size_t)(rows->width * (int64_t)rows->color);
}

/* Asks for the next rows. */
static bool fetch(io_rows *rows, handed_rows *b, io_error *error)
{
    const int64_t left = rows->height - rows->next, most = (int64_t)(AT_ONCE / row_bytes(rows));
    const sandbox_rows_wanted wanted = {.first = rows->next,
                                    .count = left < most ? left : most > 0 ? most : 1,
                                    .deadline = rows->source->deadline};
    sandbox_rows_answer answer;
    bool again;

    if (!b->job.process)
        return io_fail(error, "the process that decodes it is gone");
    /* Where that fails, so does receiving, which says why. */
    sandbox_send(b->job.socket, &wanted, sizeof wanted);
    if (!sandbox_job_receive(&b->job, &answer, sizeof answer, &again, error))
        return false;
    if (answer.lost)
        io_source_lose(rows->source);
    if (answer.count < 0 || answer.count > wanted.count || (answer.good && answer.count < wanted.count))
        return sandbox_job_reject(&b->job, error);
    b->first = rows->next;
    b->count = answer.count;
    b->failed = !answer.good;
    if (b->failed)
        sandbox_fail(&b->error, answer.text, sizeof answer.text);
    return true;
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    handed_rows *b = rows->state;
    if (rows->next >= b->first + b->count && !b->failed && !fetch(rows, b, error))
        return false;
    if (rows->next < b->first + b->count)
        return sandbox_job_copy(&b->job, to, row_bytes(rows),
                                (size_t)(rows->next - b->first) * row_bytes(rows), error);
    *error = b->error;
    return false;
}

/* The decoder passes over them when it is asked for those after them. */
static int64_t rows_skip(io_rows *rows, int64_t count)
{
    (void)rows;
    return count;
}

static void rows_close(io_rows *rows)
{
    handed_rows *b = rows->state;
    sandbox_job_end(&b->job);
}

static io_rows *make_rows(io_source *source, const io_request *request, const sandbox_job *job,
                          const sandbox_answer *a)
{
    io_rows *rows = calloc(1, sizeof *rows);
    handed_rows *b = calloc(1, sizeof *b);
    if (!rows || !b) {
        free(rows);
        free(b);
        return NULL;
    }
    b->format = *io_formats[a->format];
    b->format.rows_read = rows_read;
    b->format.rows_close = rows_close;
    b->format.rows_skip = rows_skip;
    b->job = *job;
    for (size_t i = 0; i < sizeof b->whole - 1 && a->text[i]; i++)
        b->whole[i] = (char)(a->text[i] >= ' ' && a->text[i] < 0x7f ? a->text[i] : '?');
    *rows = (io_rows){.format = &b->format,
                      .source = source,
                      .color = request->color,
                      .width = a->width,
                      .height = a->height,
                      .alpha_ignored = a->alpha_ignored != 0,
                      .colored = a->colored != 0,
                      .deep = a->deep != 0,
                      .floats = a->floats != 0,
                      .whole = a->whole ? b->whole : NULL,
                      .orientation = a->orientation,
                      .as_stored = request->stored_orientation,
                      .decoder_bytes = a->decoder_bytes,
                      .state = b};
    return rows;
}

bool sandbox_open_rows(io_decoder *decoder, io_rows **rows, io_source *source, const io_request *as,
                   const io_limits *limits, io_error *error)
{
    io_sandbox *sandbox = (io_sandbox *)decoder;
    sandbox_request request = sandbox_request_for(sandbox, source, as, limits, true);
    const io_limits its = io_limits_of(source, limits);
    sandbox_answer answer;
    sandbox_job job;

    if (!sandbox_job_begin(&job, sandbox, source, &request, &answer, error))
        return false;
    if (answer.channels != (int32_t)as->color || !io_check_size(answer.width, answer.height, &its, error))
        return sandbox_job_reject(&job, error);
    *rows = make_rows(source, as, &job, &answer);
    if (*rows)
        return true;
    sandbox_job_end(&job);
    return io_fail(error, "not enough memory");
}
