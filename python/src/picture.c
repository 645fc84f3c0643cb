/* SPDX-License-Identifier: MIT */
#include "tmpy.h"

#include <stdlib.h>
#include <string.h>

/* Whether the library can step over the samples as they lie: a pixel's side by side, pixels too,
 * rows apart by any aligned distance. */
static bool lies_well(const tmpy_samples *s)
{
    const int64_t channels = s->ndim == 3 ? s->shape[2] : 1;
    const int64_t row = s->shape[1] * channels * s->itemsize;
    const ptrdiff_t stride = s->strides[0] < 0 ? -s->strides[0] : s->strides[0];
    return (s->ndim == 2 || channels == 1 || s->strides[2] == s->itemsize) &&
           (s->shape[1] == 1 || s->strides[1] == channels * s->itemsize) &&
           (s->shape[0] == 1 || (stride >= row && stride % s->itemsize == 0)) &&
           (uintptr_t)s->data % (uintptr_t)s->itemsize == 0;
}

/* Copies count samples of size bytes, which lie so many bytes apart; memcpy of a known size is a
 * move. */
static void gather(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                   int64_t count, size_t size)
{
    for (int64_t i = 0; size == 1 && i < count; i++)
        to[i * to_step] = from[i * from_step];
    for (int64_t i = 0; size == 2 && i < count; i++)
        memcpy(to + i * to_step, from + i * from_step, 2);
    for (int64_t i = 0; size == 4 && i < count; i++)
        memcpy(to + i * to_step, from + i * from_step, 4);
}

static bool pack(tmpy_samples *s)
{
    const int64_t channels = s->ndim == 3 ? s->shape[2] : 1;
    const size_t size = (size_t)s->itemsize;
    size_t row, whole; /* broadcast arrays may be larger than all memory */
    if (__builtin_mul_overflow((size_t)(s->shape[1] * channels), size, &row) ||
        __builtin_mul_overflow(row, (size_t)s->shape[0], &whole) || !(s->copy = malloc(whole))) {
        PyErr_NoMemory();
        return false;
    }
    PyThreadState *gil = PyEval_SaveThread();
    for (int64_t y = 0; y < s->shape[0]; y++)
        for (int64_t c = 0; c < channels; c++)
            gather((char *)s->copy + (size_t)y * row + (size_t)c * size,
                   (ptrdiff_t)(size * (size_t)channels),
                   s->data + y * s->strides[0] + (s->ndim == 3 ? c * s->strides[2] : 0),
                   s->strides[1], s->shape[1], size);
    PyEval_RestoreThread(gil);
    s->data = s->copy;
    s->strides[0] = (ptrdiff_t)row;
    return true;
}

/* The library's stride: of a single row the array may say anything. */
static ptrdiff_t stride_of(const tmpy_samples *s)
{
    const int64_t channels = s->ndim == 3 ? s->shape[2] : 1;
    return s->shape[0] > 1 ? s->strides[0] : (ptrdiff_t)(s->shape[1] * channels * s->itemsize);
}

static void crop(tmpy_samples *s, const long long at[4])
{
    s->data += at[1] * s->strides[0] + at[0] * s->strides[1];
    s->shape[0] = at[3];
    s->shape[1] = at[2];
}

static bool read_region(PyObject *region, const tmpy_samples *s, const char *name, long long at[4])
{
    if (!PyTuple_Check(region) ||
        !PyArg_ParseTuple(region, "LLLL", &at[0], &at[1], &at[2], &at[3])) {
        PyErr_SetString(PyExc_TypeError, "region must be four integers: x, y, width, height");
        return false;
    }
    const bool inside = at[0] >= 0 && at[1] >= 0 && at[2] > 0 && at[3] > 0 &&
                        at[2] <= s->shape[1] - at[0] && at[3] <= s->shape[0] - at[1];
    if (!inside)
        PyErr_Format(
            PyExc_ValueError,
            "region (%lld, %lld, %lld, %lld) is not inside %s, which has %lld x %lld pixels", at[0],
            at[1], at[2], at[3], name, (long long)s->shape[1], (long long)s->shape[0]);
    return inside;
}

/* Of a picture in a device's memory, whose samples are not copied. */
static bool describe_there(tmpy_picture *p, const char *name)
{
    const tmpy_samples *s = &p->samples, *mask = &p->mask;
    for (int i = 0; i < s->ndim; i++) {
        if (s->shape[i] > 1 && s->strides[i] == 0) {
            PyErr_Format(PyExc_ValueError,
                         "%s repeats its samples in a GPU's memory (a stride is 0): .copy() (CuPy) or "
                         ".contiguous() (PyTorch) writes them out",
                         name);
            return false;
        }
    }
    if (mask->data && (!mask->on_device || (mask->shape[1] > 1 && mask->strides[1] != 1))) {
        PyErr_Format(PyExc_ValueError,
                     "the mask of %s must lie beside it, in the GPU's memory, and have whole rows", name);
        return false;
    }
    p->there = (tm_device_image){.size = sizeof p->there,
                                 .image = p->image,
                                 .pixel_stride = s->shape[1] > 1 ? s->strides[1] : 0,
                                 .channel_stride = s->ndim == 3 && s->shape[2] > 1 ? s->strides[2] : 0,
                                 .device = s->device,
                                 .stream = s->stream};
    return true;
}

static bool take_mask(tmpy_picture *p, PyObject *mask, const char *name)
{
    char of[96];
    PyOS_snprintf(of, sizeof of, "the mask of %s", name);
    p->mask.engine = p->samples.on_device ? p->samples.engine : NULL;
    p->mask.is_mask = true;
    if (!tmpy_samples_take(&p->mask, mask, of))
        return false;
    if (p->mask.ndim != 2 || p->mask.shape[0] != p->samples.shape[0] ||
        p->mask.shape[1] != p->samples.shape[1]) {
        PyErr_Format(PyExc_ValueError, "%s must have its shape, (%lld, %lld)", of,
                     (long long)p->samples.shape[0], (long long)p->samples.shape[1]);
        return false;
    }
    return true;
}

bool tmpy_picture_take(tmpy_picture *p, PyObject *array, PyObject *mask, PyObject *region,
                       const char *name)
{
    long long at[4];
    tmpy_samples *s = &p->samples;

    if (!tmpy_samples_take(s, array, name))
        return false;
    if (mask != Py_None && !take_mask(p, mask, name))
        return false;
    if (region != Py_None) {
        if (!read_region(region, s, name, at))
            return false;
        p->x = at[0];
        p->y = at[1];
        crop(s, at);
        if (mask != Py_None)
            crop(&p->mask, at);
    }
    if (!s->on_device &&
        ((!lies_well(s) && !pack(s)) || (mask != Py_None && !lies_well(&p->mask) && !pack(&p->mask))))
        return false;
    p->image = (tm_image){.samples = (const uint8_t *)s->data,
                          .width = s->shape[1],
                          .height = s->shape[0],
                          .stride = stride_of(s),
                          .type = s->kind == 'f'     ? TM_SAMPLE_F32
                                  : s->itemsize == 2 ? TM_SAMPLE_U16
                                                     : TM_SAMPLE_U8,
                          .channels = s->ndim == 3 ? (int)s->shape[2] : 1,
                          .mask = (const uint8_t *)p->mask.data,
                          .mask_stride = p->mask.data ? stride_of(&p->mask) : 0};
    return !s->on_device || describe_there(p, name);
}

void tmpy_picture_drop(tmpy_picture *p)
{
    tmpy_samples_drop(&p->samples);
    tmpy_samples_drop(&p->mask);
}
