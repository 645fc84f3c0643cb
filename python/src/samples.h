/* SPDX-License-Identifier: MIT */
/* How the arrays of other libraries are taken: a file for each protocol. */
#ifndef TMATCH_PYTHON_SAMPLES_H
#define TMATCH_PYTHON_SAMPLES_H

#include "tmpy.h"

/* An array as its library describes it, of any number of dimensions. */
typedef struct tmpy_description {
    int ndim;
    const int64_t *shape;
    const int64_t *strides; /* in units; NULL: packed */
    int64_t unit;
    char kind; /* as in __array_interface__ */
    int bytes;
    bool swapped;
} tmpy_description;

/* Takes over what is described, if it can be a picture or a mask. name: as messages name the array.
 * These return false with an exception set. */
bool tmpy_describe(tmpy_samples *samples, void *data, const tmpy_description *d, const char *name);
bool tmpy_refuse_device(const char *name);
bool tmpy_take_dlpack(tmpy_samples *samples, PyObject *array, const char *name);
bool tmpy_take_interface(tmpy_samples *samples, PyObject *array, const char *name);
bool tmpy_take_cuda_interface(tmpy_samples *samples, PyObject *array, const char *name);

/* Whether memory of a device will do. */
bool tmpy_takes_devices(const tmpy_samples *samples);

/* The CUDA device that an array says it lies on by __dlpack_device__; -1 where it does not say. */
int tmpy_cuda_device_of(PyObject *array);

/* Whether a __cuda_array_interface__ says which stream its samples are ready for. */
bool tmpy_has_stream(PyObject *array);

/* Whether numbers of so many bytes in the order '<', '>', '!', or another, are not this machine's.
 */
bool tmpy_is_swapped(char order, int bytes);

#endif
