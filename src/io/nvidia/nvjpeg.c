/* SPDX-License-Identifier: MIT */
#include "nvjpeg.h"

#include <stdlib.h>
#include <string.h>

#include "../format.h"
#include "libraries.h"

enum { PITCH = 256, MOST_BATCH = 64 };

struct io_nvjpeg {
    const io_cuda_driver *driver;
    const io_nvjpeg_library *library;
    int device; /* the driver's */
    void *context, *stream;
    void *reached; /* an event, by which a thread waits without spinning */
    void *engines, *engines_state, *header; /* by hardware; NULL: there is none */
    void *handle, *state; /* by kernels and the CPU; NULL until there is a file that the engines do not decode */
    int batch; /* of how many files the engines' last batch was */
    unsigned long long memory;
    size_t size;
    char name[64];
};

bool io_nvjpeg_is_there(io_error *error)
{
    return io_cuda_driver_open(error) && io_nvjpeg_library_open(error);
}

static bool fail_cuda(const io_nvjpeg *d, int status, io_error *error)
{
    const char *text = NULL;
    d->driver->error_text(status, &text);
    return io_fail(error, "nvJPEG: %s", text ? text : "CUDA failed");
}

/* In the primary context, so that the matcher's kernels read what is decoded here. */
static bool open_device(io_nvjpeg *d, int index, io_error *error)
{
    int status = io_cuda_retain(d->driver, index, &d->device, &d->context);
    if (!status)
        status = d->driver->set_context(d->context);
    if (!status)
        status = d->driver->create_stream(&d->stream, IO_CU_STREAM_NON_BLOCKING);
    if (!status)
        status = d->driver->create_event(&d->reached, IO_CU_EVENT_BLOCKING_SYNC | IO_CU_EVENT_DISABLE_TIMING);
    return !status || fail_cuda(d, status, error);
}

/* Not every GPU has engines for JPEG, and not every virtual machine shows them. */
static void open_engines(io_nvjpeg *d)
{
    const io_nvjpeg_library *l = d->library;
    if (l->create(IO_NVJPEG_HARDWARE, NULL, NULL, 0, &d->engines) != 0)
        d->engines = NULL;
    if (d->engines && l->create_state(d->engines, &d->engines_state) == 0 && l->create_header(d->engines, &d->header) == 0)
        return;
    if (d->engines_state)
        l->destroy_state(d->engines_state);
    if (d->engines)
        l->destroy(d->engines);
    d->engines = d->engines_state = NULL;
}

/* The status of what failed. */
static int open_kernels(io_nvjpeg *d)
{
    int status = d->handle ? 0 : d->library->create(IO_NVJPEG_DEFAULT, NULL, NULL, 0, &d->handle);
    if (!status && !d->state)
        status = d->library->create_state(d->handle, &d->state);
    return status;
}

bool io_nvjpeg_open(io_nvjpeg **decoder, int device, io_error *error)
{
    int version[3] = {0};

    *decoder = NULL;
    if (!io_nvjpeg_is_there(error))
        return false;
    io_nvjpeg *d = calloc(1, sizeof *d);
    if (!d)
        return io_fail(error, "not enough memory");
    *decoder = d;
    d->driver = io_cuda_driver_open(NULL);
    d->library = io_nvjpeg_library_open(NULL);
    if (!open_device(d, device, error))
        return false;
    open_engines(d);
    const int status = d->engines ? 0 : open_kernels(d);
    if (status)
        return io_fail(error, "nvJPEG cannot be started on cuda:%d (its error %d)", device, status);
    for (int i = 0; i < 3; i++)
        d->library->get_property(i, &version[i]);
    snprintf(d->name, sizeof d->name, "nvJPEG %d.%d.%d%s", version[0], version[1], version[2],
             d->engines ? ", by its hardware" : "");
    return true;
}

void io_nvjpeg_close(io_nvjpeg **decoder)
{
    io_nvjpeg *d = *decoder;
    *decoder = NULL;
    if (!d)
        return;
    if (d->context)
        d->driver->set_context(d->context);
    if (d->header)
        d->library->destroy_header(d->header);
    if (d->engines_state)
        d->library->destroy_state(d->engines_state);
    if (d->engines)
        d->library->destroy(d->engines);
    if (d->state)
        d->library->destroy_state(d->state);
    if (d->handle)
        d->library->destroy(d->handle);
    if (d->memory)
        d->driver->free(d->memory);
    if (d->reached)
        d->driver->destroy_event(d->reached);
    if (d->stream)
        d->driver->destroy_stream(d->stream);
    if (d->context)
        d->driver->release_context(d->device);
    free(d);
}

const char *io_nvjpeg_name(const io_nvjpeg *d)
{
    return d->name;
}

void *io_nvjpeg_stream(const io_nvjpeg *d)
{
    return d->stream;
}

static int64_t pitch_of(const io_nvjpeg_frame *f)
{
    return (f->width + PITCH - 1) / PITCH * PITCH;
}

size_t io_nvjpeg_bytes(const io_nvjpeg_frame *f)
{
    return (size_t)(pitch_of(f) * f->height);
}

/* Gives each frame its place. */
static bool place(io_nvjpeg *d, io_nvjpeg_frame *frames, size_t count, io_error *error)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += io_nvjpeg_bytes(&frames[i]);
    if (size > d->size) {
        d->driver->free(d->memory);
        d->memory = d->size = 0;
        const int status = d->driver->malloc(&d->memory, size);
        if (status)
            return fail_cuda(d, status, error);
        d->size = size;
    }
    uint8_t *memory = (uint8_t *)(uintptr_t)d->memory;
    for (size_t i = 0; i < count; i++) {
        frames[i].memory = memory;
        frames[i].pitch = pitch_of(&frames[i]);
        memory += io_nvjpeg_bytes(&frames[i]);
    }
    return true;
}

static io_nvjpeg_image image_of(const io_nvjpeg_frame *f)
{
    return (io_nvjpeg_image){.channel = {f->memory}, .pitch = {(size_t)f->pitch}};
}

static void note(io_nvjpeg_frame *f, int status)
{
    f->decoded = status == 0;
    f->declined = status == IO_NVJPEG_BAD || status == IO_NVJPEG_INCOMPLETE || status == IO_NVJPEG_NOT_SUPPORTED ||
                  status == IO_NVJPEG_NOT_IMPLEMENTED;
    if (status == IO_NVJPEG_BAD || status == IO_NVJPEG_INCOMPLETE)
        io_fail(&f->error, "damaged JPEG, says nvJPEG");
    else if (f->declined)
        io_fail(&f->error, "nvJPEG does not decode it");
    else if (status == IO_NVJPEG_NO_MEMORY)
        io_fail(&f->error, "nvJPEG: not enough memory");
    else if (status)
        io_fail(&f->error, "nvJPEG failed (its error %d)", status);
}

/* Waits for what the stream has to do. */
static int await(io_nvjpeg *d)
{
    const int status = d->driver->record_event(d->reached, d->stream);
    return status ? status : d->driver->await_event(d->reached);
}

/* A state's memory is used again for the next file, so this one is waited for. */
static void decode_one(io_nvjpeg *d, io_nvjpeg_frame *f)
{
    io_nvjpeg_image image = image_of(f);
    int status = open_kernels(d);
    if (!status)
        status = d->library->decode(d->handle, d->state, f->data, f->size, IO_NVJPEG_LUMA, &image, d->stream);
    note(f, status);
    await(d);
}

static bool suits_engines(io_nvjpeg *d, const io_nvjpeg_frame *f)
{
    int refused = 1;
    return d->engines && d->library->parse_header(d->engines, f->data, f->size, d->header) == 0 &&
           d->library->is_supported(d->engines, d->header, &refused) == 0 && !refused;
}

/* Where one of them, which is not named, has failed, none counts as decoded. */
static void decode_batch(io_nvjpeg *d, io_nvjpeg_frame *const *frames, int count)
{
    const unsigned char *data[MOST_BATCH];
    size_t sizes[MOST_BATCH];
    io_nvjpeg_image images[MOST_BATCH];

    for (int i = 0; i < count; i++) {
        data[i] = frames[i]->data;
        sizes[i] = frames[i]->size;
        images[i] = image_of(frames[i]);
    }
    const bool good =
        (d->batch == count ||
         d->library->begin_batches(d->engines, d->engines_state, count, 1, IO_NVJPEG_LUMA) == 0) &&
        d->library->decode_batch(d->engines, d->engines_state, data, sizes, images, d->stream) == 0 &&
        await(d) == 0;
    d->batch = good ? count : 0;
    for (int i = 0; i < count; i++)
        frames[i]->decoded = good;
}

static void decode_batches(io_nvjpeg *d, io_nvjpeg_frame *frames, size_t count)
{
    io_nvjpeg_frame *batch[MOST_BATCH];
    int filled = 0;

    for (size_t i = 0; i < count; i++) {
        if (suits_engines(d, &frames[i]))
            batch[filled++] = &frames[i];
        if (filled && (filled == MOST_BATCH || i == count - 1)) {
            decode_batch(d, batch, filled);
            filled = 0;
        }
    }
}

void io_nvjpeg_decode(io_nvjpeg *d, io_nvjpeg_frame *frames, size_t count)
{
    io_error error;
    int status = d->driver->set_context(d->context);
    bool good = !status ? place(d, frames, count, &error) : fail_cuda(d, status, &error);

    for (size_t i = 0; i < count; i++)
        frames[i].decoded = frames[i].declined = false;
    if (good)
        decode_batches(d, frames, count);
    for (size_t i = 0; i < count && good; i++)
        if (!frames[i].decoded)
            decode_one(d, &frames[i]);
    status = good ? await(d) : 0;
    if (status)
        good = fail_cuda(d, status, &error);
    for (size_t i = 0; i < count && !good; i++) {
        frames[i].decoded = frames[i].declined = false;
        frames[i].error = error;
    }
}
