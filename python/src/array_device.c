/* SPDX-License-Identifier: MIT */
/* Arrays in the memory of a CUDA device, for CuPy, PyTorch and others. */
#include "dlpack.h"
#include "tmpy.h"

static PyObject *get_interface(PyObject *self, void *unused)
{
    (void)unused;
    return tmpy_array_interface(self, true);
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("cuda:%d", ((const tmpy_array *)self)->device);
}

static PyObject *dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("ii", DL_CUDA, ((const tmpy_array *)self)->device);
}

/* NumPy would make an array of one object of it. */
static PyObject *refuse_numpy(PyObject *self, PyObject *args, PyObject *keywords)
{
    (void)args;
    (void)keywords;
    PyErr_Format(PyExc_TypeError,
                 "the array lies in the memory of cuda:%d: cupy.asarray(array).get() or "
                 "torch.from_dlpack(array).cpu() copies it to the host",
                 ((const tmpy_array *)self)->device);
    return NULL;
}

static PyMethodDef methods[] = {
    {"__array__", (PyCFunction)(void (*)(void))refuse_numpy, METH_VARARGS | METH_KEYWORDS,
     "Refuses: the array is not in the host's memory."},
    {"__dlpack__", (PyCFunction)(void (*)(void))tmpy_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule on the array's memory, without a copy. The array is filled already, so that "
     "no stream has to wait."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "(2, i): the memory of CUDA device i."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"shape", tmpy_array_shape, NULL, "(height, width)", NULL},
    {"dtype", tmpy_array_dtype, NULL, "'float32' or 'int64'", NULL},
    {"device", get_device, NULL, "'cuda:0'", NULL},
    {"__cuda_array_interface__", get_interface, NULL, "the CUDA array interface, version 3", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Memory of a score map on a CUDA device; cupy.asarray(array) or "
                "torch.from_dlpack(array) makes an array of it without a copy."},
    {Py_tp_dealloc, tmpy_array_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

PyType_Spec tmpy_device_array_spec = {
    .name = "tmatch._tmatch.DeviceArray",
    .basicsize = sizeof(tmpy_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
