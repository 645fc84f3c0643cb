/* SPDX-License-Identifier: MIT */
/* Matches on a CUDA device that the caller does not wait for. */
#include "tmpy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Memory for what such a match finds. The engine keeps those that are free, as to allocate waits for the device. */
typedef struct tmpy_slot {
    struct tmpy_slot *next;
    int device;
    size_t count;
    void *bests; /* on the device */
    tm_device_read *read;
} tmpy_slot;

typedef struct pending {
    PyObject_HEAD tmpy_engine *engine;
    PyObject *templates; /* a tuple */
    PyObject *arrays;    /* the frame and its mask, which the device reads until it is done */
    tmpy_picture frame;
    tmpy_slot *slot;     /* until it is done */
} pending;

static void free_slot(tmpy_engine *engine, tmpy_slot *slot)
{
    tm_device_read_free(&slot->read);
    tm_device_memory_free(engine->matcher, slot->device, slot->bests);
    free(slot);
}

void tmpy_engine_free_slots(tmpy_engine *engine)
{
    while (engine->slots) {
        tmpy_slot *slot = engine->slots;
        engine->slots = slot->next;
        free_slot(engine, slot);
    }
}

/* With the engine's lock. */
static tm_status take_slot(tmpy_engine *engine, int device, size_t count, tmpy_slot **taken)
{
    for (tmpy_slot **at = &engine->slots; *at; at = &(*at)->next) {
        tmpy_slot *slot = *at;
        if (slot->device == device && slot->count == count) {
            *at = slot->next;
            *taken = slot;
            return TM_OK;
        }
    }
    tmpy_slot *slot = calloc(1, sizeof *slot);
    if (!slot)
        return TM_ERR_MEMORY;
    *slot = (tmpy_slot){.device = device, .count = count};
    const tm_status status = tm_device_memory_alloc(engine->matcher, device, count * sizeof(tm_peak), &slot->bests);
    if (status == TM_OK)
        *taken = slot;
    else
        free(slot);
    return status;
}

/* With the engine's lock. *taken is NULL after an error, and nothing reads the frame any more. */
static tm_status launch(tmpy_engine *engine, tm_device_image *frame, const tm_template *const *templates, size_t count,
                        tmpy_slot **taken, tmpy_said *said)
{
    tm_status status = take_slot(engine, frame->device, count, taken);
    if (status == TM_OK)
        status = tm_match_device_async(engine->matcher, frame, templates, count, (*taken)->bests, NULL);
    if (status == TM_OK)
        status = tm_device_read_start(&(*taken)->read, engine->matcher, frame->device, frame->stream, (*taken)->bests,
                                      count * sizeof(tm_peak));
    tmpy_engine_said(engine, status, said);
    if (status != TM_OK && *taken) { /* what was launched is waited for as its memory is freed */
        free_slot(engine, *taken);
        *taken = NULL;
    }
    return status;
}

static bool start(pending *p, tmpy_state *state)
{
    const size_t count = (size_t)PyTuple_Size(p->templates);
    const tm_template **templates = calloc(count + 1, sizeof *templates);
    tmpy_said said = {0};

    if (!templates) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(p->templates, (Py_ssize_t)i);
        const tmpy_template *t = (const tmpy_template *)item;
        if (!PyObject_TypeCheck(item, state->tmpl) || t->engine != p->engine || !t->plain) {
            PyErr_SetString(PyExc_ValueError, "templates in poses are matched on the host: there is no match_async of them");
            free(templates);
            return false;
        }
        templates[i] = t->plain;
    }
    PyThreadState *gil = PyEval_SaveThread();
    pthread_mutex_lock(&p->engine->lock);
    p->frame.there.device = tmpy_engine_device(p->engine, &p->frame);
    launch(p->engine, &p->frame.there, templates, count, &p->slot, &said);
    pthread_mutex_unlock(&p->engine->lock);
    PyEval_RestoreThread(gil);
    free(templates);
    if (said.status != TM_OK)
        tmpy_fail(state, said.status, said.text);
    return said.status == TM_OK;
}

/* match_async(engine, templates, frame, mask, region) -> Pending */
PyObject *tmpy_match_async(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *templates, *frame, *mask, *region;
    tmpy_engine *engine;

    if (!PyArg_ParseTuple(args, "O!O!OOO", state->engine, &engine, &PyTuple_Type, &templates, &frame, &mask, &region))
        return NULL;
    pending *p = (pending *)PyType_GenericAlloc(state->pending, 0);
    if (!p)
        return NULL;
    p->engine = (tmpy_engine *)Py_NewRef((PyObject *)engine);
    p->templates = Py_NewRef(templates);
    p->arrays = PyTuple_Pack(2, frame, mask);
    p->frame.samples.engine = engine;
    bool good = p->arrays && tmpy_picture_take(&p->frame, frame, mask, region, "the frame");
    if (good && !p->frame.samples.on_device) {
        PyErr_SetString(PyExc_TypeError, "the frame lies in the host's memory: match_async is for those on a GPU; a thread may "
                                         "wait for match");
        good = false;
    }
    if (good && start(p, state))
        return (PyObject *)p;
    Py_DECREF((PyObject *)p);
    return NULL;
}

/* [(x, y, width, height, score) of the first template, ...] */
static PyObject *list_bests(const pending *p, tmpy_state *state, const tm_peak *bests)
{
    const Py_ssize_t count = PyTuple_Size(p->templates);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; i < count && list; i++) {
        const tmpy_template *t = (const tmpy_template *)PyTuple_GetItem(p->templates, i);
        const tm_peak *best = &bests[i];
        PyObject *hit = isnan(best->score)
                            ? tmpy_fail(state, TM_ERR_NO_POSITION, "no position can be scored, or a sample is not finite")
                            : Py_BuildValue("LLLLd", (long long)(best->x + p->frame.x), (long long)(best->y + p->frame.y),
                                            (long long)t->width, (long long)t->height, best->score);
        if (!hit || PyList_SetItem(list, i, hit) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Gives the frame back, and what the match took: its memory to the engine, or after an error to the device. */
static void finish(pending *p, bool good)
{
    tmpy_slot *slot = p->slot;
    p->slot = NULL;
    tmpy_picture_drop(&p->frame);
    Py_CLEAR(p->arrays);
    p->frame = (tmpy_picture){0};
    if (!slot)
        return;
    PyThreadState *gil = PyEval_SaveThread();
    pthread_mutex_lock(&p->engine->lock);
    if (good) {
        slot->next = p->engine->slots;
        p->engine->slots = slot;
    } else {
        free_slot(p->engine, slot);
    }
    pthread_mutex_unlock(&p->engine->lock);
    PyEval_RestoreThread(gil);
}

/* finished(pending, wait) -> [(x, y, width, height, score) of the first template, ...], or None where it is not there yet.
 * One thread at a time may call it. */
PyObject *tmpy_finished(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    const void *bytes = NULL;
    pending *p;
    int wait;

    if (!PyArg_ParseTuple(args, "O!p", state->pending, &p, &wait))
        return NULL;
    if (!p->slot) {
        PyErr_SetString(PyExc_ValueError, "the match is finished already");
        return NULL;
    }
    PyThreadState *gil = PyEval_SaveThread();
    const tm_status status = tm_device_read_bytes(p->slot->read, wait, &bytes);
    PyEval_RestoreThread(gil);
    if (status == TM_OK && !bytes)
        Py_RETURN_NONE;
    PyObject *list = status == TM_OK ? list_bests(p, state, bytes)
                                     : tmpy_fail(state, status, tm_device_read_message(p->slot->read));
    finish(p, status == TM_OK);
    return list;
}

/* The device reads the frame until it is done. */
static void pending_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    pending *p = (pending *)self;
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    tm_status status = TM_OK;
    const void *bytes;
    if (p->slot) {
        PyThreadState *gil = PyEval_SaveThread();
        status = tm_device_read_bytes(p->slot->read, 1, &bytes);
        PyEval_RestoreThread(gil);
    }
    finish(p, status == TM_OK);
    Py_XDECREF(p->templates);
    Py_XDECREF((PyObject *)p->engine);
    release(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {{Py_tp_dealloc, pending_dealloc}, {0, NULL}};

PyType_Spec tmpy_pending_spec = {
    .name = "tmatch._tmatch.Pending",
    .basicsize = sizeof(pending),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
