/* SPDX-License-Identifier: MIT */
/* The public API: copies of a CUDA device's memory to the host that nobody waits for. */
#include <stdlib.h>

#include "match/matcher.h"

struct tm_device_read {
    tm_pool *pool;
    tm_reader *reader;
    int device;
    size_t size;
    int started;    /* successfully, the last time */
    tm_message message;
};

static tm_status make(tm_device_read **read, tm_matcher *m, int device, size_t size)
{
    tm_device_read *r = calloc(1, sizeof *r);
    if (!r)
        return tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    *r = (tm_device_read){.pool = m->pool, .device = device, .size = size};
    *read = r;
    return TM_OK;
}

tm_status tm_device_read_start(tm_device_read **read, tm_matcher *matcher, int device, void *stream,
                               const void *memory, size_t size)
{
    if (!read || !matcher)
        return TM_ERR_INVALID;
    if (!memory || !size)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    tm_status status = tm_matcher_open_devices(matcher);
    if (status == TM_OK && !*read)
        status = make(read, matcher, device, size);
    if (status != TM_OK)
        return status;
    tm_device_read *r = *read;
    if (r->pool != matcher->pool || r->device != device || r->size < size)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "what reads is another matcher's or device's, or too small");
    status = tm_pool_read_start(r->pool, device, &r->reader, stream, memory, r->size, size, &matcher->message);
    r->started = status == TM_OK;
    return status;
}

tm_status tm_device_read_bytes(tm_device_read *read, int wait, const void **bytes)
{
    if (!bytes)
        return TM_ERR_INVALID;
    *bytes = NULL;
    if (!read || !read->started)
        return TM_ERR_INVALID;
    return tm_pool_read_bytes(read->pool, read->reader, wait != 0, bytes, &read->message);
}

const char *tm_device_read_message(const tm_device_read *read)
{
    return read ? read->message.text : "";
}

void tm_device_read_free(tm_device_read **read)
{
    if (!read || !*read)
        return;
    if ((*read)->reader)
        tm_pool_read_free((*read)->pool, (*read)->reader);
    free(*read);
    *read = NULL;
}
