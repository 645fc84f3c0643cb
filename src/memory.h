/* SPDX-License-Identifier: MIT */
/* Memory that is kept from call to call, and grows. */
#ifndef TMATCH_MEMORY_H
#define TMATCH_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

#include "integers.h"

enum { TM_MEMORY_ALIGNMENT = 128 };

/* Zero-initialise. data is malloc's. */
typedef struct tm_memory {
    void *data;
    size_t size;
} tm_memory;

/* Makes room for so many bytes; where there was less, what was there is lost. False, and no memory
 * is left, if it ran out. */
static inline bool tm_memory_fit(tm_memory *memory, size_t needed)
{
    if (memory->size >= needed)
        return true;
    free(memory->data);
    memory->data = aligned_alloc(TM_MEMORY_ALIGNMENT,
                                 (size_t)round_up((int64_t)needed, TM_MEMORY_ALIGNMENT));
    memory->size = memory->data ? needed : 0;
    return memory->data != NULL;
}

static inline void tm_memory_free(tm_memory *memory)
{
    free(memory->data);
    *memory = (tm_memory){0};
}

#endif
