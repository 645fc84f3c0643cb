/* SPDX-License-Identifier: MIT */
#include "run/log_table.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 1024 };

static log_line *slot_of(log_line *lines, size_t capacity, uint64_t id)
{
    size_t i = (size_t)id & (capacity - 1);
    while (lines[i].id != 0 && lines[i].id != id)
        i = (i + 1) & (capacity - 1);
    return &lines[i];
}

static bool grow(log_table *t)
{
    const size_t capacity = t->capacity ? 2 * t->capacity : FIRST_CAPACITY;
    log_line *lines = calloc(capacity, sizeof *lines);
    if (!lines)
        return false;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->lines[i].id != 0)
            *slot_of(lines, capacity, t->lines[i].id) = t->lines[i];
    free(t->lines);
    t->lines = lines;
    t->capacity = capacity;
    return true;
}

bool log_table_put(log_table *t, const log_line *line)
{
    if (2 * t->count >= t->capacity && !grow(t))
        return false;
    log_line *slot = slot_of(t->lines, t->capacity, line->id);
    t->count += slot->id == 0;
    *slot = *line;
    return true;
}

const log_line *log_table_find(const log_table *t, uint64_t id)
{
    if (t->capacity == 0 || id == 0)
        return NULL;
    const log_line *slot = slot_of(t->lines, t->capacity, id);
    return slot->id ? slot : NULL;
}

void log_table_free(log_table *t)
{
    free(t->lines);
    *t = (log_table){0};
}
