/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

#include "../format.h"
#include "libraries.h"

typedef struct block {
    struct block *next;
    unsigned long long address;
    size_t size;
} block;

struct io_device_memory {
    const io_cuda_driver *driver;
    void *context;
    int index, device; /* as CUDA counts it, and the driver's own */
    pthread_mutex_t lock; /* guards all below */
    block *unused, *lent;
    bool closed;
};

static bool fail(const io_device_memory *m, int status, io_error *error)
{
    const char *text = NULL;
    m->driver->error_text(status, &text);
    return io_fail(error, "cuda:%d: %s", m->index, text ? text : "CUDA failed");
}

bool io_device_memory_open(io_device_memory **memory, int device, io_error *error)
{
    const io_cuda_driver *driver = io_cuda_driver_open(error);
    io_device_memory *m = driver ? calloc(1, sizeof *m) : NULL;

    *memory = NULL;
    if (!m)
        return driver ? io_fail(error, "not enough memory") : false;
    m->driver = driver;
    m->index = device;
    const int status = io_cuda_retain(driver, device, &m->device, &m->context);
    if (status) {
        fail(m, status, error);
        free(m);
        return false;
    }
    pthread_mutex_init(&m->lock, NULL);
    *memory = m;
    return true;
}

static void drop(const io_device_memory *m, block *list)
{
    while (list) {
        block *next = list->next;
        m->driver->free(list->address);
        free(list);
        list = next;
    }
}

/* With the lock, which is given up. */
static void leave(io_device_memory *m)
{
    const bool over = m->closed && !m->lent;
    pthread_mutex_unlock(&m->lock);
    if (!over)
        return;
    m->driver->set_context(m->context);
    drop(m, m->unused);
    m->driver->release_context(m->device);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void io_device_memory_close(io_device_memory **memory)
{
    io_device_memory *m = *memory;
    *memory = NULL;
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->closed = true;
    leave(m);
}

void *io_device_memory_context(const io_device_memory *m)
{
    return m->context;
}

int io_device_memory_device(const io_device_memory *m)
{
    return m->index;
}

/* Takes an unused block of the size; others are given back to the device. */
static block *reuse(io_device_memory *m, size_t size)
{
    pthread_mutex_lock(&m->lock);
    block *found = m->unused, *stale = NULL;
    if (found && found->size != size) {
        stale = found;
        found = m->unused = NULL;
    }
    if (found) {
        m->unused = found->next;
        found->next = m->lent;
        m->lent = found;
    }
    pthread_mutex_unlock(&m->lock);
    drop(m, stale);
    return found;
}

void *io_device_memory_take(io_device_memory *m, size_t size, io_error *error)
{
    int status = m->driver->set_context(m->context);
    block *b = status ? NULL : reuse(m, size);

    if (!b && !status) {
        b = calloc(1, sizeof *b);
        if (!b) {
            io_fail(error, "not enough memory");
            return NULL;
        }
        b->size = size;
        status = m->driver->malloc(&b->address, size);
        if (!status) {
            pthread_mutex_lock(&m->lock);
            b->next = m->lent;
            m->lent = b;
            pthread_mutex_unlock(&m->lock);
        }
    }
    if (!status)
        return (void *)(uintptr_t)b->address;
    free(b);
    fail(m, status, error);
    return NULL;
}

void io_device_memory_give_back(io_device_memory *m, void *data)
{
    pthread_mutex_lock(&m->lock);
    block **place = &m->lent;
    while ((*place)->address != (uintptr_t)data)
        place = &(*place)->next;
    block *b = *place;
    *place = b->next;
    b->next = m->unused;
    m->unused = b;
    leave(m);
}

bool io_device_memory_copy(io_device_memory *m, const io_device_copy *copies, int count, io_error *error)
{
    int status = m->driver->set_context(m->context);

    for (int i = 0; i < count && !status; i++) {
        const io_device_copy *c = &copies[i];
        io_cuda_copy copy = {.from_type = IO_CU_MEMORY_DEVICE,
                             .from = (uintptr_t)c->from,
                             .from_pitch = c->from_pitch,
                             .to_type = c->to_host ? IO_CU_MEMORY_HOST : IO_CU_MEMORY_DEVICE,
                             .to_pitch = c->to_pitch,
                             .width = c->width,
                             .height = c->height};
        if (c->to_host)
            copy.to_host = c->to;
        else
            copy.to = (uintptr_t)c->to;
        status = m->driver->copy(&copy, NULL);
    }
    if (!status)
        status = m->driver->synchronize(NULL);
    return !status || fail(m, status, error);
}
