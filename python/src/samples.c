/* SPDX-License-Identifier: MIT */
/* Arrays of other libraries: by the buffer protocol, DLPack or __array_interface__. */
#include "tmpy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlpack.h"

/* An array as its library describes it, of any number of dimensions. */
typedef struct description {
    int ndim;
    const int64_t *shape;
    const int64_t *strides; /* in units; NULL: packed */
    int64_t unit;
    char kind; /* as in __array_interface__ */
    int bytes;
    bool swapped;
} description;

static void name_type(const description *d, char text[48])
{
    static const struct {
        char kind;
        const char *name;
    } names[] = {{'u', "uint"}, {'i', "int"}, {'f', "float"}, {'c', "complex"}};
    snprintf(text, 48, d->kind == 'b' ? "bool" : "an unknown type");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == d->kind)
            snprintf(text, 48, "%s%s%d", d->swapped ? "byte-swapped " : "", names[i].name, 8 * d->bytes);
}

static bool refuse_shape(const description *d, const char *name)
{
    char text[128];
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < d->ndim && length < sizeof text - 24; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%lld", i ? ", " : "",
                                   (long long)d->shape[i]);
    PyErr_Format(PyExc_ValueError,
                 "%s has the shape (%s%s), not (height, width) or (height, width, channels) with 1 to 4 channels "
                 "and at least one pixel",
                 name, text, d->ndim == 1 ? "," : "");
    return false;
}

static bool refuse_type(const description *d, const char *name)
{
    char type[48];
    name_type(d, type);
    PyErr_Format(PyExc_TypeError, "%s has samples of %s, not uint8, uint16 or float32%s", name, type,
                 d->kind == 'b'   ? "; .astype('uint8') makes it a picture"
                 : d->kind == 'f' ? "; .astype('float32') converts them"
                                  : "");
    return false;
}

static bool describe(tmpy_samples *s, void *data, const description *d, const char *name)
{
    if (d->ndim < 2 || d->ndim > 3)
        return refuse_shape(d, name);
    int64_t packed = d->bytes;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->shape[i] < 1 || d->shape[i] > INT32_MAX)
            return refuse_shape(d, name);
        s->shape[i] = d->shape[i];
        s->strides[i] = d->strides ? (ptrdiff_t)(d->strides[i] * d->unit) : (ptrdiff_t)packed;
        packed *= d->shape[i];
    }
    const bool known = (d->kind == 'u' && (d->bytes == 1 || d->bytes == 2)) || (d->kind == 'f' && d->bytes == 4) ||
                       (d->kind == 'b' && d->bytes == 1);
    if (!known || d->swapped)
        return refuse_type(d, name);
    if (d->ndim == 3 && d->shape[2] > TM_MAX_CHANNELS)
        return refuse_shape(d, name);
    s->data = data;
    s->ndim = d->ndim;
    s->kind = d->kind;
    s->itemsize = d->bytes;
    return true;
}

static bool is_swapped(char order, int bytes)
{
    const uint16_t one = 1;
    const bool little = *(const char *)&one == 1;
    return bytes > 1 && ((order == '<' && !little) || ((order == '>' || order == '!') && little));
}

/* The type that a format of struct.unpack means. */
static void read_format(const char *format, description *d)
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
    d->swapped = is_swapped(order, d->bytes);
}

static bool take_buffer(tmpy_samples *s, PyObject *array, const char *name)
{
    if (PyObject_GetBuffer(array, &s->view, PyBUF_RECORDS_RO) != 0)
        return false;
    int64_t shape[PyBUF_MAX_NDIM], strides[PyBUF_MAX_NDIM];
    for (int i = 0; i < s->view.ndim; i++) {
        shape[i] = s->view.shape[i];
        strides[i] = s->view.strides[i];
    }
    description d = {.ndim = s->view.ndim, .shape = shape, .strides = strides, .unit = 1,
                     .bytes = (int)s->view.itemsize};
    read_format(s->view.format ? s->view.format : "B", &d);
    return describe(s, s->view.buf, &d, name);
}

static bool refuse_device(const char *name)
{
    PyErr_Format(PyExc_TypeError,
                 "%s lies in a GPU's memory, and arrays are taken from the host's: copy it there first, by .cpu() "
                 "(PyTorch) or .get() (CuPy)",
                 name);
    return false;
}

static bool take_tensor(tmpy_samples *s, const dl_tensor *t, const char *name)
{
    static const char kinds[] = {[DL_INT] = 'i', [DL_UINT] = 'u', [DL_FLOAT] = 'f', [DL_COMPLEX] = 'c', [DL_BOOL] = 'b'};
    const int bytes = t->dtype.lanes == 1 ? t->dtype.bits / 8 : 0;
    const description d = {
        .ndim = t->ndim, .shape = t->shape, .strides = t->strides, .unit = bytes, .bytes = bytes,
        .kind = t->dtype.code < sizeof kinds && kinds[t->dtype.code] ? kinds[t->dtype.code] : '?'};
    if (t->device.type != DL_CPU && t->device.type != DL_CUDA_HOST && t->device.type != DL_ROCM_HOST)
        return refuse_device(name);
    return describe(s, (char *)t->data + t->byte_offset, &d, name);
}

static void give_back(void *managed)
{
    dl_managed *m = managed;
    if (m->deleter)
        m->deleter(m);
}

static void give_back_versioned(void *managed)
{
    dl_managed_versioned *m = managed;
    if (m->deleter)
        m->deleter(m);
}

/* A capsule under another name is one whose tensor has been taken over. */
static bool take_capsule(tmpy_samples *s, PyObject *capsule, const char *name)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_managed_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (PyCapsule_SetName(capsule, "used_dltensor_versioned") != 0)
            return false;
        s->managed = m;
        s->give_back = give_back_versioned;
        if (m->version.major == 1)
            return take_tensor(s, &m->tensor, name);
        PyErr_Format(PyExc_TypeError, "%s comes by DLPack %u, and version 1 is understood", name, m->version.major);
        return false;
    }
    dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
    if (!m || PyCapsule_SetName(capsule, "used_dltensor") != 0)
        return false;
    s->managed = m;
    s->give_back = give_back;
    return take_tensor(s, &m->tensor, name);
}

/* Calls __dlpack__ as DLPack 1.0 does, or as before it where the array does not know that. */
static PyObject *ask_for_capsule(PyObject *array)
{
    PyObject *capsule = NULL;
    PyObject *method = PyObject_GetAttrString(array, "__dlpack__");
    PyObject *nothing = PyTuple_New(0), *keywords = Py_BuildValue("{s(ii)}", "max_version", 1, 0);
    if (method && nothing && keywords)
        capsule = PyObject_Call(method, nothing, keywords);
    if (!capsule && method && nothing && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    Py_XDECREF(keywords);
    Py_XDECREF(nothing);
    Py_XDECREF(method);
    return capsule;
}

static bool take_dlpack(tmpy_samples *s, PyObject *array, const char *name)
{
    PyObject *device = PyObject_CallMethod(array, "__dlpack_device__", NULL);
    int type = 0, id = 0;
    const bool known = device && PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", &type, &id);
    Py_XDECREF(device);
    if (!known) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "__dlpack_device__ of %s does not return a tuple", name);
        return false;
    }
    if (type != DL_CPU && type != DL_CUDA_HOST && type != DL_ROCM_HOST)
        return refuse_device(name);
    PyObject *capsule = ask_for_capsule(array);
    const bool taken = capsule && take_capsule(s, capsule, name);
    Py_XDECREF(capsule);
    return taken;
}

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

/* The interface's data are a buffer, or a tuple of an address and whether it is read-only. */
static void *find_data(tmpy_samples *s, PyObject *interface)
{
    PyObject *data = PyDict_GetItemString(interface, "data");
    if (data && PyTuple_Check(data) && PyTuple_Size(data) == 2) {
        void *address = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
        if (PyErr_Occurred())
            return NULL;
        return address;
    }
    if (!data || PyObject_GetBuffer(data, &s->view, PyBUF_SIMPLE) != 0)
        return NULL;
    return s->view.buf;
}

/* Whether packed samples lie in the buffer. */
static bool is_enough(const tmpy_samples *s, const description *d)
{
    int64_t size = d->bytes;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] > 0 && size <= INT64_MAX / d->shape[i])
            size *= d->shape[i];
    return !s->view.obj || (!d->strides && size <= s->view.len);
}

static bool take_interface(tmpy_samples *s, PyObject *interface, const char *name)
{
    int64_t shape[PyBUF_MAX_NDIM], strides[PyBUF_MAX_NDIM];
    description d = {.shape = shape, .unit = 1, .kind = '?'};
    PyObject *type = NULL, *steps = NULL;
    const char *text = NULL;
    void *data = NULL;

    Py_INCREF(interface);
    s->owner = interface; /* may hold the samples; the array outlives the call in any case */
    if (PyDict_Check(interface)) {
        type = PyDict_GetItemString(interface, "typestr");
        steps = PyDict_GetItemString(interface, "strides");
        d.ndim = read_integers(PyDict_GetItemString(interface, "shape"), shape);
        data = find_data(s, interface);
        text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    }
    if (data && text && strlen(text) > 2 && d.ndim >= 0 &&
        (!steps || steps == Py_None || read_integers(steps, strides) == d.ndim)) {
        d.strides = steps && steps != Py_None ? strides : NULL;
        d.kind = text[1];
        d.bytes = atoi(text + 2);
        d.swapped = is_swapped(text[0], d.bytes);
        if (is_enough(s, &d))
            return describe(s, data, &d, name);
    }
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "the __array_interface__ of %s is damaged", name);
    return false;
}

/* Pillow's pictures with a palette hand out its indices, which are no brightness. */
static bool has_palette(PyObject *array)
{
    PyObject *mode = PyObject_GetAttrString(array, "mode");
    const char *text = mode && PyUnicode_Check(mode) ? PyUnicode_AsUTF8AndSize(mode, NULL) : NULL;
    const bool palette = text && text[0] == 'P';
    PyErr_Clear();
    Py_XDECREF(mode);
    return palette;
}

static bool refuse(PyObject *array, const char *name)
{
    PyObject *type = PyType_GetName(Py_TYPE(array));
    if (!type)
        return false;
    if (PyUnicode_Check(array))
        PyErr_Format(PyExc_TypeError, "%s is a str, not an array: tmatch.read(%R) reads a file", name, array);
    else
        PyErr_Format(PyExc_TypeError,
                     "%s is of type %S, not an array: it has neither the buffer protocol (NumPy), nor __dlpack__ "
                     "(PyTorch), nor __array_interface__ (Pillow)",
                     name, type);
    Py_DECREF(type);
    return false;
}

bool tmpy_samples_take(tmpy_samples *s, PyObject *array, const char *name)
{
    if (PyObject_CheckBuffer(array))
        return take_buffer(s, array, name);
    if (PyObject_HasAttrString(array, "__dlpack_device__"))
        return take_dlpack(s, array, name);
    if (PyObject_HasAttrString(array, "__cuda_array_interface__"))
        return refuse_device(name);
    if (!PyObject_HasAttrString(array, "__array_interface__"))
        return refuse(array, name);
    if (has_palette(array)) {
        PyErr_Format(PyExc_ValueError, "%s has a palette: .convert('L') or .convert('RGB') makes it a picture", name);
        return false;
    }
    PyObject *interface = PyObject_GetAttrString(array, "__array_interface__");
    const bool taken = interface && take_interface(s, interface, name);
    Py_XDECREF(interface);
    return taken;
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
