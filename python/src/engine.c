/* SPDX-License-Identifier: MIT */
/* Matchers and their templates. */
#include "tmpy.h"

#include <string.h>

bool tmpy_engine_has_cuda(tmpy_engine *engine)
{
    size_t count = 0;
    if (engine->settings.device == TM_DEVICE_CPU || engine->settings.algorithm == TM_ALGORITHM_REFERENCE)
        return false;
    if (engine->settings.device == TM_DEVICE_CUDA)
        return true;
    if (!engine->has_cuda) {
        PyThreadState *gil = PyEval_SaveThread();
        const tm_status status = tm_list_devices(NULL, 0, &count, NULL, 0);
        PyEval_RestoreThread(gil);
        engine->has_cuda = status == TM_OK && count > 1 ? 1 : -1;
    }
    return engine->has_cuda > 0;
}

int tmpy_engine_device(const tmpy_engine *engine, const tmpy_picture *picture)
{
    const uint64_t mask = engine->settings.device_mask;
    if (picture->samples.device >= 0)
        return picture->samples.device;
    return mask && mask != TM_ALL_DEVICES ? __builtin_ctzll(mask) : 0;
}

void tmpy_engine_said(tmpy_engine *engine, tm_status status, tmpy_said *said)
{
    const char *text = status == TM_OK   ? tm_matcher_warning(engine->matcher)
                       : engine->matcher ? tm_matcher_message(engine->matcher)
                                         : "";
    said->status = status;
    PyOS_snprintf(said->text, sizeof said->text, "%s",
                  *text || status == TM_OK ? text : tm_strerror(status));
}

/* Engine(metric, domain, algorithm, strategy, device, device_mask, threads, features,
 * device_memory, host_memory, device_timeout, costs) */
PyObject *tmpy_engine_new(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    int metric, domain, algorithm, strategy, device, threads;
    unsigned long long mask;
    const char *features, *costs;
    long long device_memory, host_memory;
    double device_timeout;
    tmpy_said said;

    if (!PyArg_ParseTuple(args, "iiiiiKisLLds", &metric, &domain, &algorithm, &strategy, &device,
                          &mask, &threads, &features, &device_memory, &host_memory, &device_timeout,
                          &costs))
        return NULL;
    tmpy_engine *engine = (tmpy_engine *)PyType_GenericAlloc(state->engine, 0);
    if (!engine)
        return NULL;
    pthread_mutex_init(&engine->lock, NULL);
    tm_settings *s = &engine->settings;
    tm_settings_default(s, sizeof *s);
    s->metric = (tm_metric)metric;
    s->domain = (tm_domain)domain;
    s->algorithm = (tm_algorithm)algorithm;
    s->strategy = (tm_strategy)strategy;
    s->device = (tm_device_kind)device;
    s->device_mask = mask;
    s->threads = threads;
    s->device_memory = device_memory;
    s->host_memory = host_memory;
    s->device_timeout = device_timeout;
    tm_status status = tm_cpu_features_parse(features, &s->cpu_features);
    if (status != TM_OK) {
        tmpy_fail(state, status,
                  "cpu_features must be 'all', 'none' or names such as 'avx2' with commas between");
        Py_DECREF((PyObject *)engine);
        return NULL;
    }
    s->costs = costs;
    PyThreadState *gil = PyEval_SaveThread();
    status = tm_matcher_create(&engine->matcher, s);
    PyEval_RestoreThread(gil);
    s->costs = NULL; /* the argument's, which does not last */
    if (status == TM_OK)
        return (PyObject *)engine;
    tmpy_engine_said(engine, status, &said);
    Py_DECREF((PyObject *)engine);
    return tmpy_fail(state, said.status, said.text);
}

static void engine_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tmpy_engine *engine = (tmpy_engine *)self;
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    PyThreadState *gil = PyEval_SaveThread();
    tmpy_engine_free_slots(engine);
    tm_matcher_destroy(&engine->matcher);
    PyEval_RestoreThread(gil);
    pthread_mutex_destroy(&engine->lock);
    release(self);
    Py_DECREF(type);
}

/* calibrate(engine) -> what was measured of its devices, for the costs of others */
PyObject *tmpy_calibrate(PyObject *module, PyObject *args)
{
    enum { BYTES = 64 << 10 };
    tmpy_state *state = tmpy_state_of(module);
    tmpy_engine *engine;
    tmpy_said said;
    if (!PyArg_ParseTuple(args, "O!", state->engine, &engine))
        return NULL;
    char *text = PyMem_Malloc(BYTES);
    if (!text)
        return PyErr_NoMemory();
    PyThreadState *gil = PyEval_SaveThread();
    pthread_mutex_lock(&engine->lock);
    const tm_status status = tm_matcher_calibrate(engine->matcher, text, BYTES);
    tmpy_engine_said(engine, status, &said);
    pthread_mutex_unlock(&engine->lock);
    PyEval_RestoreThread(gil);
    PyObject *made = status == TM_OK ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                                     : tmpy_fail(state, said.status, said.text);
    PyMem_Free(text);
    return made;
}

/* report(engine) -> (device, algorithm, strategy, plan, scored, milliseconds) of the last match */
PyObject *tmpy_engine_report(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    tmpy_engine *engine;
    char device[256], algorithm[64], strategy[64], plan[2048];
    if (!PyArg_ParseTuple(args, "O!", state->engine, &engine))
        return NULL;
    double scored = 0;
    tm_times times = {0};
    PyThreadState *gil = PyEval_SaveThread();
    pthread_mutex_lock(&engine->lock);
    PyOS_snprintf(device, sizeof device, "%s", tm_matcher_device(engine->matcher));
    PyOS_snprintf(algorithm, sizeof algorithm, "%s", tm_matcher_algorithm(engine->matcher));
    PyOS_snprintf(strategy, sizeof strategy, "%s", tm_matcher_strategy(engine->matcher));
    PyOS_snprintf(plan, sizeof plan, "%s", tm_matcher_plan(engine->matcher));
    scored = tm_matcher_scored(engine->matcher);
    times = tm_matcher_times(engine->matcher);
    pthread_mutex_unlock(&engine->lock);
    PyEval_RestoreThread(gil);
    return Py_BuildValue("ssssdd", device, algorithm, strategy, plan, scored, times.total);
}

/* Reads an axis into its grid, of which all else is right. */
static bool read_axis(PyObject *axis, const char *name, const tm_pose_grid *grid, double *from, double *to, double *step)
{
    if (!PyArg_ParseTuple(axis, "ddd", from, to, step)) {
        PyErr_Format(PyExc_TypeError, "%s must be two or three numbers: from, to and perhaps a step",
                     name);
        return false;
    }
    const char *fault = tm_pose_grid_fault(grid);
    if (fault)
        PyErr_Format(PyExc_ValueError, "%s=%R is (from, to, step), and %s", name, axis, fault);
    return !fault;
}

/* Template(engine, image, mask, name[, angles, scales, support]), both axes (from, to, step) */
PyObject *tmpy_template_new(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *image, *mask, *angles = NULL, *scales = NULL;
    tmpy_engine *engine;
    const char *name;
    int support = 0;
    tm_pose_grid grid;
    tmpy_picture picture = {0};
    tmpy_said said = {0};

    if (!PyArg_ParseTuple(args, "O!OOs|O!O!i", state->engine, &engine, &image, &mask, &name,
                          &PyTuple_Type, &angles, &PyTuple_Type, &scales, &support))
        return NULL;
    tm_pose_grid_default(&grid, sizeof grid);
    grid.support = (tm_support)support;
    if (angles &&
        (!read_axis(angles, "angle", &grid, &grid.angle_from, &grid.angle_to, &grid.angle_step) ||
         !scales ||
         !read_axis(scales, "scale", &grid, &grid.scale_from, &grid.scale_to, &grid.scale_step)))
        return NULL;
    tmpy_template *tmpl = (tmpy_template *)PyType_GenericAlloc(state->tmpl, 0);
    picture.samples.engine = angles ? NULL : engine;
    if (tmpl && tmpy_picture_take(&picture, image, mask, Py_None, name)) {
        tmpl->engine = (tmpy_engine *)Py_NewRef((PyObject *)engine);
        tmpl->width = picture.image.width;
        tmpl->height = picture.image.height;
        PyThreadState *gil = PyEval_SaveThread();
        pthread_mutex_lock(&engine->lock);
        picture.there.device = tmpy_engine_device(engine, &picture);
        const tm_status status =
            picture.samples.on_device
                ? tm_template_create_device(&tmpl->plain, engine->matcher, &picture.there)
            : angles ? tm_posed_template_create(&tmpl->posed, engine->matcher, &picture.image, &grid)
                   : tm_template_create(&tmpl->plain, engine->matcher, &picture.image);
        if (status != TM_OK)
            tmpy_engine_said(engine, status, &said);
        pthread_mutex_unlock(&engine->lock);
        PyEval_RestoreThread(gil);
        if (said.status != TM_OK)
            tmpy_fail(state, said.status, said.text);
    }
    tmpy_picture_drop(&picture);
    if (!PyErr_Occurred())
        return (PyObject *)tmpl;
    Py_XDECREF((PyObject *)tmpl);
    return NULL;
}

/* grid(template) -> (from, to, step) of angles and of scales, support, poses */
PyObject *tmpy_template_grid(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    tmpy_template *tmpl;
    tm_pose_grid grid = {.size = sizeof grid};
    if (!PyArg_ParseTuple(args, "O!", state->tmpl, &tmpl))
        return NULL;
    const tm_status status = tm_posed_template_grid(tmpl->posed, &grid);
    if (status != TM_OK)
        return tmpy_fail(state, status, tm_strerror(status));
    return Py_BuildValue("(ddd)(ddd)in", grid.angle_from, grid.angle_to, grid.angle_step,
                         grid.scale_from, grid.scale_to, grid.scale_step, (int)grid.support,
                         (Py_ssize_t)tm_posed_template_count(tmpl->posed));
}

static void template_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    tmpy_template *tmpl = (tmpy_template *)self;
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (tmpl->engine) {
        PyThreadState *gil = PyEval_SaveThread();
        pthread_mutex_lock(&tmpl->engine->lock);
        tm_template_destroy(&tmpl->plain);
        tm_posed_template_destroy(&tmpl->posed);
        pthread_mutex_unlock(&tmpl->engine->lock);
        PyEval_RestoreThread(gil);
    }
    Py_XDECREF((PyObject *)tmpl->engine);
    release(self);
    Py_DECREF(type);
}

static PyType_Slot engine_slots[] = {{Py_tp_dealloc, engine_dealloc}, {0, NULL}};
static PyType_Slot template_slots[] = {{Py_tp_dealloc, template_dealloc}, {0, NULL}};

PyType_Spec tmpy_engine_spec = {
    .name = "tmatch._tmatch.Engine",
    .basicsize = sizeof(tmpy_engine),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = engine_slots,
};
PyType_Spec tmpy_template_spec = {
    .name = "tmatch._tmatch.Template",
    .basicsize = sizeof(tmpy_template),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = template_slots,
};
