/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void name_type(const tmpy_description *d, char text[48])
{
    static const struct {
        char kind;
        const char *name;
    } names[] = {{'u', "uint"}, {'i', "int"}, {'f', "float"}, {'c', "complex"}, {'M', "datetime"}, {'m', "timedelta"}};
    snprintf(text, 48, d->kind == 'b' ? "bool" : "an unknown type");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == d->kind)
            snprintf(text, 48, "%s%s%d", d->swapped ? "byte-swapped " : "", names[i].name,
                     8 * d->bytes);
}

static bool refuse_shape(const tmpy_description *d, const char *name)
{
    char text[128];
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < d->ndim && length < sizeof text - 24; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%lld", i ? ", " : "",
                                   (long long)d->shape[i]);
    PyErr_Format(PyExc_ValueError,
                 "%s has the shape (%s%s), not (height, width) or (height, width, channels) with 1 "
                 "to 4 channels "
                 "and at least one pixel",
                 name, text, d->ndim == 1 ? "," : "");
    return false;
}

/* What makes a type that is taken of another one, and wraps no value around. */
static const char *remedy_of(const tmpy_description *d)
{
    const bool whole = d->kind == 'u' || d->kind == 'i';
    return d->kind == 'b'                    ? "; .astype('uint8') makes it a picture"
           : d->kind == 'f'                  ? "; .astype('float32') converts them"
           : d->kind == 'u' && d->bytes == 2 ? "; .astype('uint16') converts them"
           : whole && d->bytes <= 2          ? "; .astype('float32') keeps their values"
           : whole                           ? "; .astype('float32') keeps their values up to 16777216"
                                             : "";
}

static bool refuse_type(const tmpy_description *d, bool is_mask, const char *name)
{
    char type[48];
    name_type(d, type);
    if (is_mask)
        PyErr_Format(PyExc_TypeError, "%s has samples of %s, not bool or uint8", name, type);
    else
        PyErr_Format(PyExc_TypeError, "%s has samples of %s, not uint8, uint16 or float32%s", name,
                     type, remedy_of(d));
    return false;
}

bool tmpy_describe(tmpy_samples *s, void *data, const tmpy_description *d, const char *name)
{
    if (d->ndim < 2 || d->ndim > 3)
        return refuse_shape(d, name);
    const bool byte = d->bytes == 1 && (d->kind == 'u' || (s->is_mask && d->kind == 'b'));
    const bool longer = (d->kind == 'u' && d->bytes == 2) || (d->kind == 'f' && d->bytes == 4);
    if (!(byte || (longer && !s->is_mask)) || d->swapped)
        return refuse_type(d, s->is_mask, name);
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] < 1 || d->shape[i] > (i == 2 ? TM_MAX_CHANNELS : INT32_MAX))
            return refuse_shape(d, name);
    int64_t packed = d->bytes;
    for (int i = d->ndim - 1; i >= 0; i--) {
        s->shape[i] = d->shape[i];
        s->strides[i] = d->strides ? (ptrdiff_t)(d->strides[i] * d->unit) : (ptrdiff_t)packed;
        packed *= i > 0 ? d->shape[i] : 1;
    }
    s->data = data;
    s->ndim = d->ndim;
    s->kind = d->kind;
    s->itemsize = d->bytes;
    return true;
}

bool tmpy_is_swapped(char order, int bytes)
{
    const uint16_t one = 1;
    const bool little = *(const char *)&one == 1;
    return bytes > 1 && ((order == '<' && !little) || ((order == '>' || order == '!') && little));
}

/* The type that a format of struct.unpack means. */
static void read_format(const char *format, tmpy_description *d)
{
    const char order = *format && strchr("@=<>!", *format) ? *format++ : '@';
    d->kind = '?';
    if (format[0] && !format[1]) {
        d->kind = strchr("BHILQN", *format)   ? 'u'
                  : strchr("bhilqn", *format) ? 'i'
                  : strchr("efd", *format)    ? 'f'
                  : *format == '?'            ? 'b'
                                              : '?';
    } else if (format[0] == 'Z') {
        d->kind = 'c';
    }
    d->swapped = tmpy_is_swapped(order, d->bytes);
}

/* Whether an array that refused its buffer has another protocol; then the exception is gone. */
static bool has_instead(PyObject *array, const char *protocol)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!PyObject_HasAttrString(array, protocol)) {
        PyErr_Restore(type, value, traceback);
        return false;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return true;
}

static bool take_buffer(tmpy_samples *s, const char *name)
{
    int64_t shape[PyBUF_MAX_NDIM], strides[PyBUF_MAX_NDIM];
    for (int i = 0; i < s->view.ndim; i++) {
        shape[i] = s->view.shape[i];
        strides[i] = s->view.strides ? s->view.strides[i] : 0;
    }
    tmpy_description d = {.ndim = s->view.ndim,
                          .shape = shape,
                          .strides = s->view.strides ? strides : NULL, /* ctypes has none */
                          .unit = 1,
                          .bytes = (int)s->view.itemsize};
    read_format(s->view.format ? s->view.format : "B", &d);
    return tmpy_describe(s, s->view.buf, &d, name);
}

bool tmpy_refuse_device(const char *name)
{
    PyErr_Format(PyExc_TypeError,
                 "%s lies in a GPU's memory, and arrays are taken from the host's: copy it there "
                 "first, by .cpu() "
                 "(PyTorch) or .get() (CuPy)",
                 name);
    return false;
}

static bool refuse(PyObject *array, const char *name)
{
    PyObject *type = PyType_GetName(Py_TYPE(array));
    if (!type)
        return false;
    if (PyUnicode_Check(array) || PyObject_HasAttrString(array, "__fspath__"))
        PyErr_Format(PyExc_TypeError, "%s is a %S, not an array: tmatch.read(%R) reads a file",
                     name, type, array);
    else
        PyErr_Format(PyExc_TypeError,
                     "%s is of type %S, not an array: it has neither the buffer protocol (NumPy), "
                     "nor __dlpack__ "
                     "(PyTorch), nor __array_interface__ (Pillow)",
                     name, type);
    Py_DECREF(type);
    return false;
}

/* Where nobody has imported numpy.ma there is no masked array, and what derives from object alone, as
 * NumPy's arrays do, is none: most calls end there. */
static bool is_masked_array(PyObject *array)
{
    if (PyType_GetSlot(Py_TYPE(array), Py_tp_base) == (void *)&PyBaseObject_Type)
        return false;
    PyObject *name = PyUnicode_FromString("numpy.ma");
    PyObject *module = name ? PyImport_GetModule(name) : NULL;
    PyObject *type = module ? PyObject_GetAttrString(module, "MaskedArray") : NULL;
    const bool is = type && PyObject_IsInstance(array, type) == 1;
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(module);
    Py_XDECREF(name);
    return is;
}

bool tmpy_takes_devices(const tmpy_samples *s)
{
    return s->engine && tmpy_engine_has_cuda(s->engine);
}

bool tmpy_samples_take(tmpy_samples *s, PyObject *array, const char *name)
{
    if (is_masked_array(array)) {
        PyErr_Format(PyExc_TypeError,
                     "%s is a masked array, whose mask would not count: hand over its .data, and "
                     "~numpy.ma.getmaskarray(array) as the mask",
                     name);
        return false;
    }
    if (PyObject_CheckBuffer(array)) {
        if (PyObject_GetBuffer(array, &s->view, PyBUF_RECORDS_RO) == 0)
            return take_buffer(s, name);
        /* CuPy's arrays refuse where their memory is the device's alone, NumPy's where the protocol has no
         * name for the type, which their interface names. */
        if (!has_instead(array, "__cuda_array_interface__"))
            return PyErr_ExceptionMatches(PyExc_ValueError) &&
                   has_instead(array, "__array_interface__") && tmpy_take_interface(s, array, name);
    }
    if (s->engine && tmpy_has_stream(array) && tmpy_takes_devices(s))
        return tmpy_take_cuda_interface(s, array, name);
    if (PyObject_HasAttrString(array, "__dlpack_device__"))
        return tmpy_take_dlpack(s, array, name);
    if (PyObject_HasAttrString(array, "__cuda_array_interface__"))
        return tmpy_takes_devices(s) ? tmpy_take_cuda_interface(s, array, name) : tmpy_refuse_device(name);
    if (!PyObject_HasAttrString(array, "__array_interface__"))
        return refuse(array, name);
    return tmpy_take_interface(s, array, name);
}

void tmpy_samples_drop(tmpy_samples *s)
{
    if (s->view.obj)
        PyBuffer_Release(&s->view);
    if (s->give_back)
        s->give_back(s->managed);
    Py_XDECREF(s->owner);
    free(s->copy);
    *s = (tmpy_samples){0};
}
