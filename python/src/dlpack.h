/* SPDX-License-Identifier: MIT */
/* The structures of DLPack, by which libraries hand arrays to each other:
 * https://dmlc.github.io/dlpack */
#ifndef TMATCH_PYTHON_DLPACK_H
#define TMATCH_PYTHON_DLPACK_H

#include <stdint.h>

enum {
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_CUDA_HOST = 3,
    DL_ROCM = 10,
    DL_ROCM_HOST = 11,
    DL_CUDA_MANAGED = 13
};
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_COMPLEX = 5, DL_BOOL = 6 };

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides; /* elements; NULL: rows are packed */
    uint64_t byte_offset;
} dl_tensor;

/* In a capsule "dltensor". */
typedef struct dl_managed {
    dl_tensor tensor;
    void *owner;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

/* In a capsule "dltensor_versioned", of DLPack 1.0 and later. */
typedef struct dl_managed_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *owner;
    void (*deleter)(struct dl_managed_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_managed_versioned;

#endif
