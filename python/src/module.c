/* SPDX-License-Identifier: MIT */
#include "tmpy.h"

#include <string.h>

static const struct {
    tm_status status;
    const char *name;
    bool of_arguments;
} statuses[] = {
    {TM_ERR_INVALID, "INVALID", true},
    {TM_ERR_MEMORY, "MEMORY", false},
    {TM_ERR_FLAT_TEMPLATE, "FLAT_TEMPLATE", true},
    {TM_ERR_TEMPLATE_TOO_LARGE, "TEMPLATE_TOO_LARGE", true},
    {TM_ERR_FRAME_TOO_SMALL, "FRAME_TOO_SMALL", true},
    {TM_ERR_NO_DEVICE, "NO_DEVICE", false},
    {TM_ERR_DEVICE_MEMORY, "DEVICE_MEMORY", false},
    {TM_ERR_DEVICE, "DEVICE", false},
    {TM_ERR_NO_POSITION, "NO_POSITION", true},
    {TM_ERR_ROWS, "ROWS", false},
};

static PyObject *raise(PyObject *type, const char *name, const char *message)
{
    PyObject *error = PyObject_CallFunction(type, "s", message);
    PyObject *status = PyUnicode_FromString(name);
    if (error && status && PyObject_SetAttrString(error, "status", status) == 0)
        PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(status);
    return NULL;
}

PyObject *tmpy_fail(tmpy_state *state, tm_status status, const char *message)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return raise(statuses[i].of_arguments ? state->input_error : state->error,
                         statuses[i].name, message);
    return raise(state->error, "UNKNOWN", message);
}

PyObject *tmpy_fail_picture(tmpy_state *state, const char *reason)
{
    return raise(state->input_error, "PICTURE", reason);
}

PyObject *tmpy_fail_sandbox(tmpy_state *state, const char *reason)
{
    return raise(state->error, "SANDBOX", reason);
}

/* devices() -> ([(kind, index, units, memory, name, detail), ...], why there is no CUDA device) */
PyObject *tmpy_devices(PyObject *module, PyObject *args)
{
    enum { MOST = 65 };
    tmpy_state *state = tmpy_state_of(module);
    tm_device_info *devices = PyMem_Calloc(MOST, sizeof *devices);
    size_t count = 0;
    char why[512] = "";
    tm_status status;

    (void)args;
    if (!devices)
        return PyErr_NoMemory();
    PyThreadState *gil = PyEval_SaveThread();
    status = tm_list_devices(devices, MOST, &count, why, sizeof why);
    PyEval_RestoreThread(gil);
    PyObject *list =
        status == TM_OK ? PyList_New(0) : tmpy_fail(state, status, tm_strerror(status));
    for (size_t i = 0; i < count && i < MOST && list; i++) {
        const tm_device_info *d = &devices[i];
        PyObject *one = Py_BuildValue("siiLss", d->kind == TM_DEVICE_CPU ? "cpu" : "cuda", d->index,
                                      d->units, (long long)d->memory_bytes, d->name, d->detail);
        if (!one || PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    PyMem_Free(devices);
    return list ? Py_BuildValue("Ns", list, why) : NULL;
}

/* cuda_backend() -> the path of the CUDA backend's file, or None */
static PyObject *cuda_backend(PyObject *module, PyObject *args)
{
    char path[4096];
    (void)module;
    (void)args;
    tm_cuda_backend_path(path, sizeof path);
    return *path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"engine", tmpy_engine_new, METH_VARARGS, NULL},
    {"report", tmpy_engine_report, METH_VARARGS, NULL},
    {"calibrate", tmpy_calibrate, METH_VARARGS, NULL},
    {"template", tmpy_template_new, METH_VARARGS, NULL},
    {"grid", tmpy_template_grid, METH_VARARGS, NULL},
    {"match", tmpy_match, METH_VARARGS, NULL},
    {"match_async", tmpy_match_async, METH_VARARGS, NULL},
    {"finished", tmpy_finished, METH_VARARGS, NULL},
    {"score_map", tmpy_score_map, METH_VARARGS, NULL},
    {"match_part", tmpy_match_part, METH_VARARGS, NULL},
    {"part_rows", tmpy_part_rows, METH_VARARGS, NULL},
    {"merge_parts", tmpy_merge_parts, METH_VARARGS, NULL},
    {"devices", tmpy_devices, METH_NOARGS, NULL},
    {"cuda_backend", cuda_backend, METH_NOARGS, NULL},
    {"open_sandbox", tmpy_open_sandbox, METH_VARARGS, NULL},
    {"decode", tmpy_decode, METH_VARARGS, NULL},
    {"find_pages", tmpy_find_pages, METH_VARARGS, NULL},
    {"read_page", tmpy_read_page, METH_VARARGS, NULL},
    {"read_rows", tmpy_read_rows, METH_VARARGS, NULL},
    {"picture_size", tmpy_picture_size, METH_VARARGS, NULL},
    {"draw", tmpy_draw, METH_VARARGS, NULL},
    {"write", tmpy_write, METH_VARARGS, NULL},
    {"is_picture_name", tmpy_is_picture_name, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static bool add_errors(PyObject *module, tmpy_state *state)
{
    PyObject *status = Py_BuildValue("{ss}", "status", "");
    state->error =
        status ? PyErr_NewExceptionWithDoc("tmatch.Error",
                                           "What tmatch raises. status is the name of the "
                                           "library's status: 'NO_DEVICE', 'DEVICE', "
                                           "'DEVICE_MEMORY', 'MEMORY', 'SANDBOX', or of an InputError.",
                                           NULL, status)
               : NULL;
    Py_XDECREF(status);
    PyObject *bases = state->error ? PyTuple_Pack(2, state->error, PyExc_ValueError) : NULL;
    state->input_error =
        bases ? PyErr_NewExceptionWithDoc("tmatch.InputError",
                                          "An argument is to blame: status is 'INVALID', "
                                          "'FLAT_TEMPLATE', 'TEMPLATE_TOO_LARGE', "
                                          "'FRAME_TOO_SMALL', 'NO_POSITION', or 'PICTURE' for a "
                                          "file that cannot be read or written.",
                                          bases, NULL)
              : NULL;
    Py_XDECREF(bases);
    return state->input_error && PyModule_AddObjectRef(module, "Error", state->error) == 0 &&
           PyModule_AddObjectRef(module, "InputError", state->input_error) == 0;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) != 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int execute(PyObject *module)
{
    tmpy_state *state = tmpy_state_of(module);
    const bool good = add_errors(module, state) &&
                      (state->array = add_type(module, &tmpy_array_spec)) &&
                      (state->device_array = add_type(module, &tmpy_device_array_spec)) &&
                      (state->engine = add_type(module, &tmpy_engine_spec)) &&
                      (state->tmpl = add_type(module, &tmpy_template_spec)) &&
                      (state->pending = add_type(module, &tmpy_pending_spec)) &&
                      PyModule_AddStringConstant(module, "version", tm_version()) == 0;
    return good ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    tmpy_state *state = tmpy_state_of(module);
    Py_VISIT(state->error);
    Py_VISIT(state->input_error);
    Py_VISIT(state->array);
    Py_VISIT(state->device_array);
    Py_VISIT(state->engine);
    Py_VISIT(state->tmpl);
    Py_VISIT(state->pending);
    return 0;
}

static int clear(PyObject *module)
{
    tmpy_state *state = tmpy_state_of(module);
    Py_CLEAR(state->error);
    Py_CLEAR(state->input_error);
    Py_CLEAR(state->array);
    Py_CLEAR(state->device_array);
    Py_CLEAR(state->engine);
    Py_CLEAR(state->tmpl);
    Py_CLEAR(state->pending);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tmatch._tmatch",
    .m_size = sizeof(tmpy_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__tmatch(void);
PyMODINIT_FUNC PyInit__tmatch(void)
{
    return PyModuleDef_Init(&definition);
}
