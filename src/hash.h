/* SPDX-License-Identifier: MIT */
/* One hash for everything that has to be recognised: options, files, templates, lines of logs. */
#ifndef TMATCH_HASH_H
#define TMATCH_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), continued from the hash of
 * earlier fields, or from 0. The bits are mixed after each field so that fields do not run
 * together. The log of --resume holds these hashes: they must not change. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    hash ^= UINT64_C(0xcbf29ce484222325) + size;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

#endif
