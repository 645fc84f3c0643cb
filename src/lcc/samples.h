/* SPDX-License-Identifier: MIT */
/* The types of samples: a table, and what follows from it. Integers of more than one byte are
 * matched as planes of their bytes, see planes.h, of which there are two at most; floats have
 * sums of their own, see f32.h. */
#ifndef TMATCH_LCC_SAMPLES_H
#define TMATCH_LCC_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "tmatch/tmatch.h"

/* X(TYPE, c_type, name): TM_SAMPLE_TYPE's samples are c_types, called so in messages. */
#define TM_EACH_SAMPLE_TYPE(X) \
    X(U8, uint8_t, "8-bit")    \
    X(U16, uint16_t, "16-bit") \
    X(F32, float, "float")

/* Returns a type's name, or NULL where there is no such type. */
static inline const char *tm_sample_type_name(tm_sample_type type)
{
#define CASE(TYPE, c_type, name) \
    case TM_SAMPLE_##TYPE:       \
        return name;
    switch (type) {
        TM_EACH_SAMPLE_TYPE(CASE)
    }
#undef CASE
    return 0;
}

/* How many bytes a sample has. */
static inline int64_t tm_sample_size(tm_sample_type type)
{
#define CASE(TYPE, c_type, name) \
    case TM_SAMPLE_##TYPE:       \
        return sizeof(c_type);
    switch (type) {
        TM_EACH_SAMPLE_TYPE(CASE)
    }
#undef CASE
    return 0;
}

static inline bool tm_sample_is_float(tm_sample_type type)
{
#define CASE(TYPE, c_type, name) \
    case TM_SAMPLE_##TYPE:       \
        return (c_type)0.5 != 0;
    switch (type) {
        TM_EACH_SAMPLE_TYPE(CASE)
    }
#undef CASE
    return false;
}

/* Returns the greatest value of an integer type. */
static inline int64_t tm_sample_most(tm_sample_type type)
{
    return (INT64_C(1) << 8 * tm_sample_size(type)) - 1;
}

/* Returns sample number i of a row of integers. */
static inline int64_t tm_sample_at(const void *row, int64_t i, tm_sample_type type)
{
#define CASE(TYPE, c_type, name) \
    case TM_SAMPLE_##TYPE:       \
        return (int64_t)((const c_type *)row)[i];
    switch (type) {
        TM_EACH_SAMPLE_TYPE(CASE)
    }
#undef CASE
    return 0;
}

#endif
