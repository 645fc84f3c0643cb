/* SPDX-License-Identifier: MIT */
#include "dlpack.h"
#include "samples.h"

static bool is_host(int type)
{
    return type == DL_CPU || type == DL_CUDA_HOST || type == DL_ROCM_HOST;
}

static bool is_cuda(int type)
{
    return type == DL_CUDA || type == DL_CUDA_MANAGED;
}

static bool take_tensor(tmpy_samples *s, const dl_tensor *t, const char *name)
{
    static const char kinds[] = {
        [DL_INT] = 'i', [DL_UINT] = 'u', [DL_FLOAT] = 'f', [DL_COMPLEX] = 'c', [DL_BOOL] = 'b'};
    const int bytes = t->dtype.lanes == 1 ? t->dtype.bits / 8 : 0;
    const tmpy_description d = {
        .ndim = t->ndim,
        .shape = t->shape,
        .strides = t->strides,
        .unit = bytes,
        .bytes = bytes,
        .kind = t->dtype.code < sizeof kinds && kinds[t->dtype.code] ? kinds[t->dtype.code] : '?'};
    if (is_cuda(t->device.type) && tmpy_takes_devices(s)) {
        s->on_device = true;
        s->device = t->device.id;
    } else if (!is_host(t->device.type)) {
        return tmpy_refuse_device(name);
    }
    return tmpy_describe(s, (char *)t->data + t->byte_offset, &d, name);
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
        PyErr_Format(PyExc_TypeError, "%s comes by DLPack %u, and version 1 is understood", name,
                     m->version.major);
        return false;
    }
    dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
    if (!m || PyCapsule_SetName(capsule, "used_dltensor") != 0)
        return false;
    s->managed = m;
    s->give_back = give_back;
    return take_tensor(s, &m->tensor, name);
}

/* Calls __dlpack__ as DLPack 1.0 does, or as before it where the array does not know that. The samples of
 * a device are to be ready for its default stream. */
static PyObject *ask_for_capsule(PyObject *array, bool on_device)
{
    PyObject *capsule = NULL;
    PyObject *method = PyObject_GetAttrString(array, "__dlpack__");
    PyObject *nothing = PyTuple_New(0);
    for (int old = 0; old < 2 && method && nothing && !capsule; old++) {
        if (old && !PyErr_ExceptionMatches(PyExc_TypeError))
            break;
        PyErr_Clear();
        PyObject *keywords = old ? PyDict_New() : Py_BuildValue("{s(ii)}", "max_version", 1, 0);
        PyObject *stream = PyLong_FromLong(1);
        if (keywords && stream &&
            (!on_device || PyDict_SetItemString(keywords, "stream", stream) == 0))
            capsule = PyObject_Call(method, nothing, keywords);
        Py_XDECREF(keywords);
        Py_XDECREF(stream);
    }
    Py_XDECREF(nothing);
    Py_XDECREF(method);
    return capsule;
}

static bool read_device(PyObject *array, int *type, int *id)
{
    PyObject *device = PyObject_CallMethod(array, "__dlpack_device__", NULL);
    const bool known = device && PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", type, id);
    Py_XDECREF(device);
    return known;
}

int tmpy_cuda_device_of(PyObject *array)
{
    int type = 0, id = -1;
    if (!PyObject_HasAttrString(array, "__dlpack_device__"))
        return -1;
    const bool known = read_device(array, &type, &id);
    PyErr_Clear();
    return known && is_cuda(type) ? id : -1;
}

bool tmpy_take_dlpack(tmpy_samples *s, PyObject *array, const char *name)
{
    int type = 0, id = 0;
    if (!read_device(array, &type, &id)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "__dlpack_device__ of %s does not return a tuple", name);
        return false;
    }
    const bool on_device = is_cuda(type) && tmpy_takes_devices(s);
    if (!is_host(type) && !on_device)
        return tmpy_refuse_device(name);
    PyObject *capsule = ask_for_capsule(array, on_device);
    const bool taken = capsule && take_capsule(s, capsule, name);
    Py_XDECREF(capsule);
    return taken;
}
