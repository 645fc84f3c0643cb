/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <stdlib.h>
#include <string.h>

/* Reads a tuple of integers into to. Returns how many, or -1. */
static int read_integers(PyObject *tuple, int64_t to[PyBUF_MAX_NDIM])
{
    const Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (count > PyBUF_MAX_NDIM)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        to[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (to[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return (int)count;
}

/* The interface's data are a buffer, from an offset on, or a tuple of an address and whether it is
 * read-only. */
static char *find_data(tmpy_samples *s, PyObject *interface, int64_t *offset)
{
    PyObject *data = PyDict_GetItemString(interface, "data");
    if (data && PyTuple_Check(data) && PyTuple_Size(data) == 2) {
        void *address = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
        if (PyErr_Occurred())
            return NULL;
        return address;
    }
    PyObject *begin = PyDict_GetItemString(interface, "offset");
    *offset = begin ? PyLong_AsLongLong(begin) : 0;
    if (!data || PyErr_Occurred() || PyObject_GetBuffer(data, &s->view, PyBUF_SIMPLE) != 0)
        return NULL;
    return s->view.buf;
}

/* Whether packed samples lie in the buffer from the offset on, where the data are one. */
static bool is_enough(const tmpy_samples *s, const tmpy_description *d, int64_t offset)
{
    int64_t size = d->bytes;
    if (!s->view.obj)
        return true;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] < 0 || __builtin_mul_overflow(size, d->shape[i], &size))
            return false;
    return !d->strides && offset >= 0 && offset <= s->view.len && size <= s->view.len - offset;
}

static bool take_dictionary(tmpy_samples *s, PyObject *interface, const char *attribute,
                            const char *name)
{
    int64_t shape[PyBUF_MAX_NDIM], strides[PyBUF_MAX_NDIM];
    tmpy_description d = {.shape = shape, .unit = 1, .kind = '?'};
    PyObject *type = NULL, *steps = NULL, *mask = NULL;
    const char *text = NULL;
    char *data = NULL;
    int64_t offset = 0;

    Py_INCREF(interface);
    s->owner = interface; /* may hold the samples; the array outlives the call in any case */
    if (PyDict_Check(interface)) {
        type = PyDict_GetItemString(interface, "typestr");
        steps = PyDict_GetItemString(interface, "strides");
        mask = PyDict_GetItemString(interface, "mask");
        d.ndim = read_integers(PyDict_GetItemString(interface, "shape"), shape);
        data = d.ndim >= 0 ? find_data(s, interface, &offset) : NULL;
        text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    }
    if (mask && mask != Py_None) {
        PyErr_Format(PyExc_TypeError,
                     "the %s of %s has a mask, which would not count: hand over the mask by itself",
                     attribute, name);
        return false;
    }
    if (data && text && strlen(text) > 2 && d.ndim >= 0 &&
        (!steps || steps == Py_None || read_integers(steps, strides) == d.ndim)) {
        d.strides = steps && steps != Py_None ? strides : NULL;
        d.kind = text[1];
        d.bytes = atoi(text + 2);
        d.swapped = tmpy_is_swapped(text[0], d.bytes);
        if (is_enough(s, &d, offset))
            return tmpy_describe(s, data + offset, &d, name);
    }
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "the %s of %s is damaged", attribute, name);
    return false;
}

/* Pillow's pictures have a method of their own to convert them, and those with a palette hand out its
 * indices, which are no brightness. */
static bool refuse_mode(const tmpy_samples *s, PyObject *array, const char *name)
{
    PyObject *mode = PyObject_GetAttrString(array, "mode");
    const char *text = mode && PyUnicode_Check(mode) ? PyUnicode_AsUTF8AndSize(mode, NULL) : NULL;
    const char *remedy = !text || s->is_mask          ? NULL
                         : strcmp(text, "1") == 0     ? ".convert('L')"
                         : strcmp(text, "I") == 0     ? ".convert('F')"
                         : strcmp(text, "I;16B") == 0 ? ".convert('I').convert('F')"
                                                      : NULL;
    const bool palette = text && text[0] == 'P';
    PyErr_Clear();
    if (palette)
        PyErr_Format(PyExc_ValueError,
                     "%s has a palette: .convert('L') or .convert('RGB') makes it a picture", name);
    else if (remedy)
        PyErr_Format(PyExc_TypeError, "%s is a Pillow image of mode '%s': %s makes it a picture",
                     name, text, remedy);
    Py_XDECREF(mode);
    return palette || remedy;
}

bool tmpy_take_interface(tmpy_samples *s, PyObject *array, const char *name)
{
    if (refuse_mode(s, array, name))
        return false;
    PyObject *interface = PyObject_GetAttrString(array, "__array_interface__");
    const bool taken = interface && take_dictionary(s, interface, "__array_interface__", name);
    Py_XDECREF(interface);
    return taken;
}

static PyObject *stream_of(PyObject *interface)
{
    PyObject *stream = PyDict_Check(interface) ? PyDict_GetItemString(interface, "stream") : NULL;
    return stream && stream != Py_None ? stream : NULL;
}

bool tmpy_has_stream(PyObject *array)
{
    PyObject *interface = PyObject_HasAttrString(array, "__cuda_array_interface__")
                              ? PyObject_GetAttrString(array, "__cuda_array_interface__")
                              : NULL;
    const bool has = interface && stream_of(interface);
    PyErr_Clear();
    Py_XDECREF(interface);
    return has;
}

/* The stream's number: 1 is the default stream, 2 the thread's own; 0 is not allowed, as it may mean
 * either. */
static bool read_stream(tmpy_samples *s, PyObject *interface, const char *name)
{
    PyObject *stream = stream_of(interface);
    s->stream = stream ? PyLong_AsVoidPtr(stream) : NULL;
    if (stream && !s->stream && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "the __cuda_array_interface__ of %s has the stream 0, which may be either default stream",
                     name);
    return !PyErr_Occurred();
}

bool tmpy_take_cuda_interface(tmpy_samples *s, PyObject *array, const char *name)
{
    PyObject *interface = PyObject_GetAttrString(array, "__cuda_array_interface__");
    bool taken = interface && take_dictionary(s, interface, "__cuda_array_interface__", name);
    if (taken && s->view.obj) {
        PyErr_Format(PyExc_TypeError, "the __cuda_array_interface__ of %s is damaged", name);
        taken = false;
    }
    taken = taken && read_stream(s, interface, name);
    s->on_device = true;
    s->device = taken ? tmpy_cuda_device_of(array) : -1;
    Py_XDECREF(interface);
    return taken && !PyErr_Occurred();
}
