/* SPDX-License-Identifier: MIT */
/* Rows of a frame's score map, and the matches of several such parts. */
#include "tmpy.h"

#include <math.h>
#include <stdlib.h>

/* What one call of match_part holds. */
typedef struct part_call {
    tmpy_engine *engine;
    tmpy_picture rows;
    tm_part part;
    size_t count;
    const tm_template **templates;
    tm_search search;
    tm_part_hits *hits;
    tmpy_said said;
} part_call;

static void run(part_call *c)
{
    pthread_mutex_lock(&c->engine->lock);
    const tm_status status = tm_match_part(c->engine->matcher, &c->rows.image, &c->part,
                                           c->templates, c->count, &c->search, c->hits);
    tmpy_engine_said(c->engine, status, &c->said);
    pthread_mutex_unlock(&c->engine->lock);
}

static bool take_templates(part_call *c, tmpy_state *state, PyObject *tuple)
{
    c->count = (size_t)PyTuple_Size(tuple);
    c->templates = calloc(c->count + 1, sizeof *c->templates);
    c->hits = calloc(c->count + 1, sizeof *c->hits);
    if (!c->templates || !c->hits) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < c->count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, (Py_ssize_t)i);
        const tmpy_template *t = (tmpy_template *)item;
        if (!PyObject_TypeCheck(item, state->tmpl) || t->engine != c->engine || !t->plain) {
            PyErr_SetString(PyExc_ValueError, "templates in poses are not matched by parts");
            return false;
        }
        c->templates[i] = t->plain;
    }
    return true;
}

/* (x, y, score, rank, dx, dy) */
static PyObject *position_of(const tm_part_hit *p)
{
    return Py_BuildValue("LLdLdd", (long long)p->hit.peak.x, (long long)p->hit.peak.y,
                         p->hit.peak.score, (long long)p->rank, p->hit.dx, p->hit.dy);
}

/* (metric, width, height, map_height, first, end, cut_off, best or None, positions) */
static PyObject *part_of(const tm_part_hits *hits)
{
    PyObject *list = PyList_New((Py_ssize_t)hits->count);
    for (size_t i = 0; i < hits->count && list; i++) {
        PyObject *position = position_of(&hits->items[i]);
        if (!position || PyList_SetItem(list, (Py_ssize_t)i, position) != 0)
            Py_CLEAR(list);
    }
    PyObject *best = hits->has_best ? position_of(&hits->best) : Py_NewRef(Py_None);
    if (list && best)
        return Py_BuildValue("iLLLLLONN", (int)hits->metric, (long long)hits->template_width,
                             (long long)hits->template_height, (long long)hits->map_height,
                             (long long)hits->first, (long long)hits->end,
                             hits->cut_off ? Py_True : Py_False, best, list);
    Py_XDECREF(list);
    Py_XDECREF(best);
    return NULL;
}

static PyObject *parts_of(const part_call *c)
{
    PyObject *list = PyList_New((Py_ssize_t)c->count);
    for (size_t i = 0; i < c->count && list; i++) {
        PyObject *part = part_of(&c->hits[i]);
        if (!part || PyList_SetItem(list, (Py_ssize_t)i, part) != 0)
            Py_CLEAR(list);
    }
    return list ? Py_BuildValue("Ns", list, c->said.text) : NULL;
}

/* match_part(engine, templates, rows, mask, frame_height, frame_first, first, end, most, min_score,
 * overlap, peaks, margin, subpixel) -> ([part of the first template, ...], warning) */
PyObject *tmpy_match_part(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    part_call c = {.part = {.size = sizeof c.part}};
    PyObject *templates, *rows, *mask, *result = NULL;
    long long height, frame_first, first, end, most, peaks;

    tm_search_default(&c.search, sizeof c.search);
    if (!PyArg_ParseTuple(args, "O!O!OOLLLLLddLpp", state->engine, &c.engine, &PyTuple_Type,
                          &templates, &rows, &mask, &height, &frame_first, &first, &end, &most,
                          &c.search.min_score, &c.search.overlap, &peaks, &c.search.margin,
                          &c.search.subpixel))
        return NULL;
    c.part.frame_height = height;
    c.part.frame_first = frame_first;
    c.part.first = first;
    c.part.end = end;
    c.search.most = most;
    c.search.peaks = peaks;
    if (take_templates(&c, state, templates) &&
        tmpy_picture_take(&c.rows, rows, mask, Py_None, "the part of the frame")) {
        PyThreadState *gil = PyEval_SaveThread();
        run(&c);
        PyEval_RestoreThread(gil);
        result =
            c.said.status == TM_OK ? parts_of(&c) : tmpy_fail(state, c.said.status, c.said.text);
    }
    for (size_t i = 0; i < c.count && c.hits; i++)
        tm_part_hits_free(&c.hits[i]);
    free(c.templates);
    free(c.hits);
    tmpy_picture_drop(&c.rows);
    return result;
}

/* part_rows(engine, template, frame_height, first, end) -> (first, end) of the frame */
PyObject *tmpy_part_rows(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    tmpy_engine *engine;
    tmpy_template *tmpl;
    tm_part part = {.size = sizeof part};
    long long height, first, end;
    int64_t from, to;

    if (!PyArg_ParseTuple(args, "O!O!LLL", state->engine, &engine, state->tmpl, &tmpl, &height,
                          &first, &end))
        return NULL;
    part.frame_height = height;
    part.first = first;
    part.end = end;
    const tm_status status =
        tm_part_rows(engine->settings.domain, tmpl->height, &part, &from, &to);
    if (status == TM_OK)
        return Py_BuildValue("LL", (long long)from, (long long)to);
    return tmpy_fail(state, status,
                     status == TM_ERR_INVALID ? "rows must be (first, end), of which first is a row "
                                                "of the map, and end is more"
                                              : tm_strerror(status));
}

static bool read_position(PyObject *tuple, tm_part_hit *to)
{
    long long x, y, rank;

    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a part's position is no tuple");
        return false;
    }
    *to = (tm_part_hit){.hit = {.margin = NAN}};
    if (!PyArg_ParseTuple(tuple, "LLdLdd", &x, &y, &to->hit.peak.score, &rank, &to->hit.dx,
                          &to->hit.dy))
        return false;
    to->hit.peak.x = x;
    to->hit.peak.y = y;
    to->rank = rank;
    return true;
}

static bool read_part(PyObject *tuple, tm_part_hits *to)
{
    long long width, height, map_height, first, end;
    PyObject *best, *list;
    int metric;

    *to = (tm_part_hits){.size = sizeof *to};
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a part is no tuple");
        return false;
    }
    if (!PyArg_ParseTuple(tuple, "iLLLLLpOO!", &metric, &width, &height, &map_height, &first, &end,
                          &to->cut_off, &best, &PyList_Type, &list))
        return false;
    to->metric = (tm_metric)metric;
    to->template_width = width;
    to->template_height = height;
    to->map_height = map_height;
    to->first = first;
    to->end = end;
    to->has_best = best != Py_None;
    if (to->has_best && !read_position(best, &to->best))
        return false;
    const Py_ssize_t count = PyList_Size(list);
    to->items = calloc((size_t)count + 1, sizeof *to->items);
    if (!to->items) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++, to->count++)
        if (!read_position(PyList_GetItem(list, i), &to->items[i]))
            return false;
    return true;
}

/* ([(x, y, width, height, score, margin, dx, dy), ...], whether there may be more) */
static PyObject *hits_of(const tm_hits *hits, const tm_part_hits *part, const tm_search *search)
{
    PyObject *list = PyList_New((Py_ssize_t)hits->count);
    for (size_t i = 0; i < hits->count && list; i++) {
        const tm_hit *h = &hits->items[i];
        PyObject *margin = isnan(h->margin) ? Py_NewRef(Py_None) : PyFloat_FromDouble(h->margin);
        PyObject *dx = search->subpixel ? PyFloat_FromDouble(h->dx) : Py_NewRef(Py_None);
        PyObject *dy = search->subpixel ? PyFloat_FromDouble(h->dy) : Py_NewRef(Py_None);
        PyObject *hit = Py_BuildValue("LLLLdNNN", (long long)h->peak.x, (long long)h->peak.y,
                                      (long long)part->template_width,
                                      (long long)part->template_height, h->peak.score, margin, dx, dy);
        if (!hit || PyList_SetItem(list, (Py_ssize_t)i, hit) != 0)
            Py_CLEAR(list);
    }
    return list ? Py_BuildValue("NO", list, hits->cut_off ? Py_True : Py_False) : NULL;
}

/* merge_parts(parts, most, min_score, overlap, margin, subpixel, peaks) -> as hits_of says; each part
 * is a tuple as match_part's, and together they are the whole map. */
PyObject *tmpy_merge_parts(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *tuple, *result = NULL;
    tm_search search;
    long long most, peaks;
    tm_hits hits = {0};

    tm_search_default(&search, sizeof search);
    if (!PyArg_ParseTuple(args, "O!LddppL", &PyTuple_Type, &tuple, &most, &search.min_score,
                          &search.overlap, &search.margin, &search.subpixel, &peaks))
        return NULL;
    search.most = most;
    search.peaks = peaks;
    const size_t count = (size_t)PyTuple_Size(tuple);
    tm_part_hits *parts = calloc(count + 1, sizeof *parts);
    const tm_part_hits **pointers = calloc(count + 1, sizeof *pointers);
    bool good = parts && pointers;
    if (!good)
        PyErr_NoMemory();
    for (size_t i = 0; i < count && good; i++) {
        good = read_part(PyTuple_GetItem(tuple, (Py_ssize_t)i), &parts[i]);
        pointers[i] = &parts[i];
    }
    if (good) {
        const tm_status status = tm_merge_parts(pointers, count, &search, 1, &hits);
        result = status == TM_OK          ? hits_of(&hits, &parts[0], &search)
                 : status != TM_ERR_INVALID ? tmpy_fail(state, status, tm_strerror(status))
                                          : tmpy_fail(state, status,
                                                      "the parts are not those of one map");
    }
    tm_hits_free(&hits);
    for (size_t i = 0; i < count && parts; i++)
        tm_part_hits_free(&parts[i]);
    free(parts);
    free(pointers);
    return result;
}
