/* SPDX-License-Identifier: MIT */
#include "tmpy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlpack.h"

static void free_data(tmpy_engine *engine, int device, void *data)
{
    if (!engine) {
        free(data);
        return;
    }
    PyThreadState *gil = PyEval_SaveThread();
    pthread_mutex_lock(&engine->lock);
    tm_device_memory_free(engine->matcher, device, data);
    pthread_mutex_unlock(&engine->lock);
    PyEval_RestoreThread(gil);
}

/* data is the array's in any case. */
static PyObject *make(PyTypeObject *type, PyObject *subclass, tmpy_engine *engine, int device,
                      void *data, char kind, int itemsize, int ndim, const Py_ssize_t *shape)
{
    PyObject *self = NULL;
    if (!PyType_Check(subclass) || !PyType_IsSubtype((PyTypeObject *)subclass, type))
        PyErr_SetString(PyExc_TypeError, "no subclass of Array");
    else
        self = PyType_GenericAlloc((PyTypeObject *)subclass, 0);
    if (!self) {
        free_data(engine, device, data);
        return NULL;
    }
    tmpy_array *a = (tmpy_array *)self;
    a->engine = engine ? (tmpy_engine *)Py_NewRef((PyObject *)engine) : NULL;
    a->device = device;
    a->data = data;
    a->kind = kind;
    a->itemsize = itemsize;
    a->ndim = ndim;
    Py_ssize_t stride = itemsize;
    for (int i = ndim - 1; i >= 0; i--) {
        a->shape[i] = shape[i];
        a->strides[i] = stride;
        stride *= shape[i];
    }
    return self;
}

PyObject *tmpy_array_new(tmpy_state *state, PyObject *subclass, void *data, char kind, int itemsize,
                         int ndim, const Py_ssize_t *shape)
{
    return make(state->array, subclass, NULL, 0, data, kind, itemsize, ndim, shape);
}

PyObject *tmpy_device_array_new(tmpy_state *state, PyObject *subclass, tmpy_engine *engine,
                                int device, void *data, char kind, int itemsize, int ndim,
                                const Py_ssize_t *shape)
{
    return make(state->device_array, subclass, engine, device, data, kind, itemsize, ndim, shape);
}

void tmpy_array_dealloc(PyObject *self)
{
    tmpy_array *a = (tmpy_array *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_data(a->engine, a->device, a->data);
    Py_XDECREF((PyObject *)a->engine);
    release(self);
    Py_DECREF(type);
}

static Py_ssize_t byte_count(const tmpy_array *a)
{
    return a->shape[0] * a->strides[0];
}

/* Of one byte of two kinds, and two sizes of the others, that are there. */
static char *format_of(const tmpy_array *a)
{
    return a->kind == 'i' ? "q" : a->kind == 'f' ? "f" : a->itemsize == 2 ? "H" : "B";
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    tmpy_array *a = (tmpy_array *)self;
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the array is packed by rows, not by columns");
        return -1;
    }
    *view = (Py_buffer){.buf = a->data,
                        .obj = Py_NewRef(self),
                        .len = byte_count(a),
                        .itemsize = a->itemsize,
                        .ndim = a->ndim,
                        .format = flags & PyBUF_FORMAT ? format_of(a) : NULL,
                        .shape = flags & PyBUF_ND ? a->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL};
    return 0;
}

PyObject *tmpy_array_shape(PyObject *self, void *unused)
{
    (void)unused;
    const tmpy_array *a = (const tmpy_array *)self;
    return a->ndim == 2 ? Py_BuildValue("nn", a->shape[0], a->shape[1])
                        : Py_BuildValue("nnn", a->shape[0], a->shape[1], a->shape[2]);
}

PyObject *tmpy_array_dtype(PyObject *self, void *unused)
{
    (void)unused;
    const tmpy_array *a = (const tmpy_array *)self;
    return PyUnicode_FromFormat("%s%d",
                                a->kind == 'i'   ? "int"
                                : a->kind == 'f' ? "float"
                                                 : "uint",
                                8 * a->itemsize);
}

/* The memory is filled when Python sees it: there is no stream to wait for. */
PyObject *tmpy_array_interface(PyObject *self, bool with_stream)
{
    const tmpy_array *a = (const tmpy_array *)self;
    const uint16_t one = 1;
    char type[8];
    snprintf(type, sizeof type, "%c%c%d",
             a->itemsize == 1      ? '|'
             : *(const char *)&one ? '<'
                                   : '>',
             a->kind, a->itemsize);
    PyObject *shape = tmpy_array_shape(self, NULL), *address = PyLong_FromVoidPtr(a->data),
             *interface = NULL;
    if (shape && address)
        interface = Py_BuildValue("{s:i,s:O,s:s,s:(OO),s:O}", "version", 3, "shape", shape,
                                  "typestr", type, "data", address, Py_False, "strides", Py_None);
    if (interface && with_stream && PyDict_SetItemString(interface, "stream", Py_None) != 0)
        Py_CLEAR(interface);
    Py_XDECREF(shape);
    Py_XDECREF(address);
    return interface;
}

static PyObject *get_interface(PyObject *self, void *unused)
{
    (void)unused;
    return tmpy_array_interface(self, false);
}

/* What a capsule owns: its tensor's shape and a reference to the array. */
typedef struct lent {
    union {
        dl_managed plain;
        dl_managed_versioned versioned;
    } managed;
    int64_t shape[3], strides[3];
    PyObject *array;
} lent;

static void end_loan(lent *l)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(l->array);
    PyGILState_Release(gil);
    free(l);
}

static void delete_plain(dl_managed *m)
{
    end_loan(m->owner);
}

static void delete_versioned(dl_managed_versioned *m)
{
    end_loan(m->owner);
}

/* A capsule whose tensor nobody took ends the loan itself. */
static void delete_capsule(PyObject *capsule)
{
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "dltensor_versioned" : "dltensor";
        if (PyCapsule_IsValid(capsule, name))
            end_loan(PyCapsule_GetContext(capsule));
    }
}

static PyObject *lend(PyObject *self, bool versioned)
{
    tmpy_array *a = (tmpy_array *)self;
    lent *l = calloc(1, sizeof *l);
    if (!l)
        return PyErr_NoMemory();
    const uint8_t code = a->kind == 'i' ? DL_INT : a->kind == 'f' ? DL_FLOAT : DL_UINT;
    dl_tensor tensor = {.data = a->data,
                        .device = {a->engine ? DL_CUDA : DL_CPU, a->device},
                        .ndim = a->ndim,
                        .dtype = {code, (uint8_t)(8 * a->itemsize), 1},
                        .shape = l->shape,
                        .strides = l->strides};
    for (int i = 0; i < a->ndim; i++) {
        l->shape[i] = a->shape[i];
        l->strides[i] = a->strides[i] / a->itemsize;
    }
    if (versioned)
        l->managed.versioned = (dl_managed_versioned){
            .version = {1, 0}, .owner = l, .deleter = delete_versioned, .tensor = tensor};
    else
        l->managed.plain = (dl_managed){.tensor = tensor, .owner = l, .deleter = delete_plain};
    PyObject *capsule =
        PyCapsule_New(&l->managed, versioned ? "dltensor_versioned" : "dltensor", NULL);
    if (!capsule) {
        free(l);
        return NULL;
    }
    l->array = Py_NewRef(self);
    PyCapsule_SetContext(capsule, l);
    PyCapsule_SetDestructor(capsule, delete_capsule);
    return capsule;
}

/* Whether the array lies where it is wanted. */
static bool is_there(const tmpy_array *a, PyObject *device)
{
    int type = 0, id = 0;
    if (device == Py_None)
        return true;
    return PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", &type, &id) &&
           type == (a->engine ? DL_CUDA : DL_CPU) && (!a->engine || id == a->device);
}

PyObject *tmpy_array_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    int major = 0, minor = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &version,
                                     &device, &copy))
        return NULL;
    if (version != Py_None &&
        !(PyTuple_Check(version) && PyArg_ParseTuple(version, "ii", &major, &minor))) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "max_version must be a tuple of two integers");
        return NULL;
    }
    if (!is_there((const tmpy_array *)self, device) || copy == Py_True) {
        PyErr_Clear();
        PyErr_Format(PyExc_BufferError, "the array lies in the memory of %s, and is handed out as it is",
                     ((const tmpy_array *)self)->engine ? "a CUDA device" : "the host");
        return NULL;
    }
    return lend(self, major >= 1);
}

static PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("ii", DL_CPU, 0);
}

static PyMethodDef methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))tmpy_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule on the array's memory, without a copy."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "(1, 0): the host's memory."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"shape", tmpy_array_shape, NULL, "(height, width) or (height, width, channels)", NULL},
    {"dtype", tmpy_array_dtype, NULL, "'uint8', 'uint16', 'float32' or 'int64'", NULL},
    {"__array_interface__", get_interface, NULL, "NumPy's array interface, version 3", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Memory of a picture or a score map; numpy.asarray(array) makes an array of it "
                "without a copy."},
    {Py_tp_dealloc, tmpy_array_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_bf_getbuffer, get_buffer},
    {0, NULL},
};

PyType_Spec tmpy_array_spec = {
    .name = "tmatch._tmatch.Array",
    .basicsize = sizeof(tmpy_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
