/* SPDX-License-Identifier: MIT */
/* Mapped files. Where one is cut short while it is read, or its disk goes away, the kernel
 * sends SIGBUS to whoever reads on, which would end the whole program: zeros take the place
 * of what is gone, and the picture fails once it is decoded. */
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* So many files can be mapped at a time; further ones are read instead. */
enum { SLOTS = 256 };

static struct slot {
    atomic_uintptr_t start; /* 0: the slot is free; set last */
    atomic_size_t size;
    atomic_bool lost;
    int file; /* to map it elsewhere; or -1 */
} slots[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uintptr_t page_size;
static struct sigaction before; /* of SIGBUS */

/* Handles SIGBUS in the thread that reads the file, so that the file's slot does not change
 * meanwhile. */
static void replace(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    const uintptr_t at = (uintptr_t)info->si_addr, page = at / page_size * page_size;
    (void)context;

    for (int i = 0; i < SLOTS && info->si_code > 0; i++) {
        const uintptr_t start = slots[i].start, end = start + slots[i].size;
        if (start == 0 || at < start || at >= end)
            continue;
        if (mmap((void *)page, end - page, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0) == MAP_FAILED)
            break;
        slots[i].lost = true;
        errno = saved;
        return;
    }
    sigaction(number, &before, NULL); /* who handled it before is to */
    raise(number); /* takes effect when this returns */
}

static void catch(void)
{
    struct sigaction action = {.sa_sigaction = replace, .sa_flags = SA_SIGINFO};
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

static int take_slot(const void *data, size_t size, int fd)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < SLOTS && slots[i].start != 0)
        i++;
    if (i < SLOTS) {
        slots[i].lost = false;
        slots[i].size = size;
        slots[i].file = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        slots[i].start = (uintptr_t)data;
    }
    pthread_mutex_unlock(&lock);
    return i < SLOTS ? i : -1;
}

bool io_map(io_source *source, int fd, size_t size)
{
    pthread_once(&once, catch);
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    const int slot = take_slot(data, size, fd);
    if (slot < 0) {
        munmap(data, size);
        return false;
    }
    *source = (io_source){.data = data, .size = size, .mapped = true, .slot = slot};
    return true;
}

void io_unmap(const io_source *source)
{
    if (slots[source->slot].file >= 0)
        close(slots[source->slot].file);
    slots[source->slot].start = 0;
    munmap((void *)(uintptr_t)source->data, source->size);
}

bool io_source_lost(const io_source *source)
{
    return source->mapped && slots[source->slot].lost;
}

int io_mapped_file(const io_source *source)
{
    return source->mapped ? slots[source->slot].file : -1;
}

void io_source_lose(const io_source *source)
{
    if (source->mapped)
        slots[source->slot].lost = true;
}
