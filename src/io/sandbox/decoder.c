/* SPDX-License-Identifier: MIT */
#include "zygote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the program itself and the libraries have mapped, and what small pictures need. */
enum { BASE_MEMORY = 256 << 20 };

/* Linux 5.14; a small file that only says that its picture is large does not get all of that at once. */
enum { MADVISE_POPULATE_WRITE = 23, POPULATED = 32 << 20 };

/* The shared memory, as decoders take it for samples. */
typedef struct output {
    io_memory memory;
    uint8_t *data;
    size_t size;
    bool taken;
} output;

static void *take(io_memory *memory, size_t size)
{
    output *o = (output *)memory;
    if (o->taken || size > o->size)
        return NULL;
    o->taken = true;
    /* One call is quicker than a page fault for each page; where the kernel cannot, these come. */
    madvise(o->data, size < POPULATED ? size : POPULATED, MADVISE_POPULATE_WRITE);
    return o->data;
}

static void give_back(io_memory *memory, void *data)
{
    (void)data;
    ((output *)memory)->taken = false;
}

static bool map_input(const sandbox_request *request, int file, io_source *source)
{
    if (file >= 0)
        return io_map(source, file, request->size);
    void *data = request->size ? mmap(NULL, request->size, PROT_READ, MAP_PRIVATE, SANDBOX_INPUT, 0) : NULL;
    *source = (io_source){.data = data, .size = request->size};
    return data != MAP_FAILED;
}

static int index_of(const char *format)
{
    int i = 0;
    while (io_formats[i] && (!format || strcmp(io_formats[i]->name, format) != 0))
        i++;
    return i;
}

/* Puts samples and mask to where the program looks for them. */
static bool hand_out(const io_picture *picture, output *o, io_error *error)
{
    const size_t pixels = (size_t)(picture->width * picture->height);
    const size_t samples = pixels * (size_t)(picture->channels * io_sample_size(picture));
    const size_t end = picture->mask ? sandbox_mask_at(samples) + pixels : samples;
    if (end > o->size)
        return io_fail(error, "not enough memory");
    if (picture->samples != o->data)
        memcpy(o->data, picture->samples, samples);
    if (picture->mask)
        memcpy(o->data + sandbox_mask_at(samples), picture->mask, pixels);
    return true;
}

static void decode_whole(const sandbox_request *request, const io_source *source, output *o,
                         const sandbox_calls *calls)
{
    io_request as = request->as;
    io_picture picture;
    io_error error = {.reason = ""};
    sandbox_answer answer;

    as.memory = &o->memory;
    memset(&answer, 0, sizeof answer);
    answer.good = calls->decode(source, &as, &request->limits, &picture, &error) && hand_out(&picture, o, &error);
    answer.lost = io_source_lost(source);
    if (answer.good) {
        answer.alpha_ignored = picture.alpha_ignored;
        answer.colored = picture.colored;
        answer.masked = picture.mask != NULL;
        answer.format = index_of(picture.format);
        answer.channels = picture.channels;
        answer.bits = 8 * io_sample_size(&picture);
        answer.orientation = picture.orientation;
        answer.width = picture.width;
        answer.height = picture.height;
    }
    snprintf(answer.text, sizeof answer.text, "%s", error.reason);
    sandbox_send(SANDBOX_SOCKET, &answer, sizeof answer);
}

static io_rows *open_rows(const sandbox_request *request, io_source *source, const sandbox_calls *calls)
{
    io_rows *rows = NULL;
    io_error error = {.reason = ""};
    sandbox_answer answer;

    memset(&answer, 0, sizeof answer);
    answer.good = calls->rows_open(&rows, source, &request->as, &request->limits, &error);
    answer.lost = io_source_lost(source);
    if (answer.good) {
        answer.alpha_ignored = rows->alpha_ignored;
        answer.colored = rows->colored;
        answer.deep = rows->deep;
        answer.floats = rows->floats;
        answer.whole = rows->whole != NULL;
        answer.format = index_of(rows->format->name);
        answer.channels = (int)rows->color;
        answer.orientation = rows->orientation;
        answer.decoder_bytes = rows->decoder_bytes;
        answer.width = rows->width;
        answer.height = rows->height;
    }
    const char *text = !answer.good ? error.reason : rows->whole ? rows->whole : "";
    snprintf(answer.text, sizeof answer.text, "%s", text);
    sandbox_send(SANDBOX_SOCKET, &answer, sizeof answer);
    return rows;
}

static void read_rows(io_rows *rows, const sandbox_rows_wanted *wanted, const output *o)
{
    const size_t row = (size_t)(rows->width * (int64_t)rows->color);
    io_error error = {.reason = ""};
    sandbox_rows_answer answer;

    memset(&answer, 0, sizeof answer);
    rows->source->deadline = wanted->deadline;
    answer.good = wanted->count > 0 && (size_t)wanted->count <= o->size / row;
    if (!answer.good)
        io_fail(&error, "not enough memory");
    else if (wanted->first > rows->next)
        answer.good = io_rows_skip(rows, wanted->first - rows->next, o->data, &error);
    while (answer.good && answer.count < wanted->count) {
        answer.good = io_rows_read(rows, o->data + (size_t)answer.count * row, &error);
        answer.count += answer.good;
    }
    answer.lost = io_source_lost(rows->source);
    snprintf(answer.text, sizeof answer.text, "%s", error.reason);
    sandbox_send(SANDBOX_SOCKET, &answer, sizeof answer);
}

static _Noreturn void refuse(const char *reason)
{
    sandbox_answer answer = {.good = false};
    snprintf(answer.text, sizeof answer.text, "%s", reason);
    sandbox_send(SANDBOX_SOCKET, &answer, sizeof answer);
    _exit(0);
}

_Noreturn void sandbox_decoder(const sandbox_request *request, int file, const confine_filter *filter,
                               const sandbox_calls *calls)
{
    output o = {.memory = {take, give_back}, .size = request->room};
    io_source source = {0};
    sandbox_rows_wanted wanted;

    o.data = mmap(NULL, o.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, SANDBOX_OUTPUT, 0);
    if (o.data == MAP_FAILED || !map_input(request, file, &source))
        refuse("not enough memory");
    for (int fd = SANDBOX_SOCKET + 1; fd < SANDBOX_MOST_FILES; fd++)
        close(fd);
    source.page = request->page;
    source.deadline = request->deadline;
    const size_t memory = BASE_MEMORY + source.size + o.size + request->memory;
    if (!confine_decoder(filter, memory, request->seconds))
        _exit(1);
    io_rows *rows = request->rows ? open_rows(request, &source, calls) : NULL;
    if (!request->rows)
        decode_whole(request, &source, &o, calls);
    while (rows && !rows->whole &&
           sandbox_receive(SANDBOX_SOCKET, &wanted, sizeof wanted, 0) == SANDBOX_RECEIVED)
        read_rows(rows, &wanted, &o);
    _exit(0);
}
