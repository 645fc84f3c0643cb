/* SPDX-License-Identifier: MIT */
#include "tmpy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one call of match holds. */
typedef struct call {
    tmpy_engine *engine;
    tmpy_picture frame;
    size_t count;
    tmpy_template **templates;
    const tm_template **plain;
    tm_search search;
    bool posed, searches; /* else the best match alone is wanted */
    tm_peak *best;
    tm_hits *hits;
    tm_posed_hits *posed_hits;
    tmpy_said said;
} call;

static PyObject *number_or_none(double value, bool wanted)
{
    return wanted && !isnan(value) ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

/* (x, y, width, height, score[, margin, dx, dy]) */
static PyObject *plain_hit(const call *c, const tmpy_template *t, const tm_hit *hit)
{
    const long long x = hit->peak.x + c->frame.x, y = hit->peak.y + c->frame.y;
    if (!c->search.margin && !c->search.subpixel)
        return Py_BuildValue("LLLLd", x, y, (long long)t->width, (long long)t->height,
                             hit->peak.score);
    return Py_BuildValue("LLLLdNNN", x, y, (long long)t->width, (long long)t->height,
                         hit->peak.score, number_or_none(hit->margin, c->search.margin),
                         number_or_none(hit->dx, c->search.subpixel),
                         number_or_none(hit->dy, c->search.subpixel));
}

/* The corners of the fitted pose, as the program has them. */
static void turn_corners(const tmpy_template *t, const tm_posed_hit *hit, double corners[4][2])
{
    const double angle = hit->fine_angle * acos(-1) / 180;
    const double c = cos(angle) * hit->fine_scale, s = sin(angle) * hit->fine_scale;
    for (int i = 0; i < 4; i++) {
        const double right = (double)(i == 1 || i == 2 ? t->width : -t->width) / 2;
        const double down = (double)(i >= 2 ? t->height : -t->height) / 2;
        corners[i][0] = hit->fine_x + right * c + down * s;
        corners[i][1] = hit->fine_y + down * c - right * s;
    }
}

/* (x, y, width, height, score, margin, dx, dy, angle, scale, center, corners, margin_below) */
static PyObject *posed_hit(const call *c, const tmpy_template *t, const tm_posed_hit *hit)
{
    const double x = (double)c->frame.x, y = (double)c->frame.y;
    const double dx = hit->fine_x - hit->center_x, dy = hit->fine_y - hit->center_y;
    double k[4][2];
    if (dx == 0 && dy == 0 && hit->fine_angle == hit->angle && hit->fine_scale == hit->scale)
        memcpy(k, hit->corners, sizeof k);
    else
        turn_corners(t, hit, k);
    return Py_BuildValue(
        "LLLLdNNNdd(dd)((dd)(dd)(dd)(dd))N", (long long)(hit->x + c->frame.x),
        (long long)(hit->y + c->frame.y), (long long)hit->width, (long long)hit->height, hit->score,
        number_or_none(hit->margin, c->search.margin), number_or_none(dx, c->search.subpixel),
        number_or_none(dy, c->search.subpixel), hit->fine_angle, hit->fine_scale, hit->fine_x + x,
        hit->fine_y + y, k[0][0] + x, k[0][1] + y, k[1][0] + x, k[1][1] + y, k[2][0] + x,
        k[2][1] + y, k[3][0] + x, k[3][1] + y,
        number_or_none(hit->margin_below, c->search.margin));
}

static PyObject *hits_of(const call *c, size_t i)
{
    const tmpy_template *t = c->templates[i];
    const size_t count = c->posed ? c->posed_hits[i].count : c->searches ? c->hits[i].count : 1;
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t k = 0; k < count && list; k++) {
        const tm_hit best = {.peak = c->searches ? (tm_peak){0} : c->best[i]};
        PyObject *hit = c->posed ? posed_hit(c, t, &c->posed_hits[i].items[k])
                                 : plain_hit(c, t, c->searches ? &c->hits[i].items[k] : &best);
        if (!hit || PyList_SetItem(list, (Py_ssize_t)k, hit) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ([hits of the first template, ...], whether there may be more, warning) */
static PyObject *results_of(const call *c)
{
    bool cut_off = false;
    PyObject *lists = PyList_New((Py_ssize_t)c->count);
    for (size_t i = 0; i < c->count && lists; i++) {
        PyObject *list = hits_of(c, i);
        if (!list || PyList_SetItem(lists, (Py_ssize_t)i, list) != 0)
            Py_CLEAR(lists);
        cut_off |= c->posed ? c->posed_hits[i].cut_off : c->searches && c->hits[i].cut_off;
    }
    return lists ? Py_BuildValue("NOs", lists, cut_off ? Py_True : Py_False, c->said.text) : NULL;
}

/* A frame in a device's memory: the best matches, or those that a search finds. */
static tm_status run_there(call *c)
{
    tm_matcher *m = c->engine->matcher;
    c->frame.there.device = tmpy_engine_device(c->engine, &c->frame);
    return c->searches ? tm_match_device_peaks(m, &c->frame.there, c->plain, c->count, &c->search,
                                               c->hits, NULL)
                       : tm_match_device(m, &c->frame.there, c->plain, c->count, c->best, NULL);
}

static void run(call *c)
{
    tm_matcher *m = c->engine->matcher;
    tm_status status = TM_OK;
    pthread_mutex_lock(&c->engine->lock);
    for (size_t i = 0; i < c->count && c->posed && status == TM_OK; i++)
        status = tm_match_posed(m, &c->frame.image, c->templates[i]->posed, &c->search,
                                &c->posed_hits[i]);
    if (c->frame.samples.on_device)
        status = run_there(c);
    else if (!c->posed)
        status = c->searches ? tm_match_peaks(m, &c->frame.image, c->plain, c->count, &c->search,
                                              c->hits, NULL)
                             : tm_match_many(m, &c->frame.image, c->plain, c->count, c->best, NULL);
    tmpy_engine_said(c->engine, status, &c->said);
    pthread_mutex_unlock(&c->engine->lock);
}

/* Templates that are prepared for this engine, all of them posed, or none. */
static bool take_templates(call *c, tmpy_state *state, PyObject *tuple)
{
    c->count = (size_t)PyTuple_Size(tuple);
    c->templates = calloc(c->count + 1, sizeof *c->templates);
    c->plain = calloc(c->count + 1, sizeof *c->plain);
    c->best = calloc(c->count + 1, sizeof *c->best);
    c->hits = calloc(c->count + 1, sizeof *c->hits);
    c->posed_hits = calloc(c->count + 1, sizeof *c->posed_hits);
    if (!c->templates || !c->plain || !c->best || !c->hits || !c->posed_hits) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < c->count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, (Py_ssize_t)i);
        c->templates[i] = (tmpy_template *)item;
        const bool known =
            PyObject_TypeCheck(item, state->tmpl) && c->templates[i]->engine == c->engine;
        if (known && i == 0)
            c->posed = c->templates[0]->posed != NULL;
        if (!known || c->posed != (c->templates[i]->posed != NULL)) {
            PyErr_SetString(PyExc_TypeError, "no templates of this engine, or of two kinds");
            return false;
        }
        c->plain[i] = c->templates[i]->plain;
    }
    return true;
}

static void drop(call *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->hits)
            tm_hits_free(&c->hits[i]);
        if (c->posed_hits)
            tm_posed_hits_free(&c->posed_hits[i]);
    }
    free(c->templates);
    free(c->plain);
    free(c->best);
    free(c->hits);
    free(c->posed_hits);
    tmpy_picture_drop(&c->frame);
}

/* match(engine, templates, frame, mask, region, most, min_score, overlap, peaks, margin, subpixel)
 */
PyObject *tmpy_match(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    call c = {0};
    PyObject *templates, *frame, *mask, *region, *results = NULL;
    long long most, peaks;
    double min_score, overlap;
    int margin, subpixel;

    if (!PyArg_ParseTuple(args, "O!O!OOOLddLpp", state->engine, &c.engine, &PyTuple_Type,
                          &templates, &frame, &mask, &region, &most, &min_score, &overlap, &peaks,
                          &margin, &subpixel))
        return NULL;
    tm_search_default(&c.search, sizeof c.search);
    c.search.most = most;
    c.search.min_score = min_score;
    c.search.overlap = overlap;
    c.search.peaks = peaks;
    c.search.margin = margin;
    c.search.subpixel = subpixel;
    /* A search also says what is wrong with these. */
    c.searches = most != 1 || !isnan(min_score) || margin || subpixel ||
                 !(overlap >= 0 && overlap <= 1) || peaks < 1;
    const bool good = take_templates(&c, state, templates);
    c.search.margin_ratio = c.posed ? TM_MARGIN_RATIO : 0; /* as the program asks: docs/poses.md */
    c.search.only_matches = c.posed; /* the best that is none is returned nowhere */
    c.frame.samples.engine = c.posed ? NULL : c.engine;
    if (good && tmpy_picture_take(&c.frame, frame, mask, region, "the frame")) {
        PyThreadState *gil = PyEval_SaveThread();
        run(&c);
        PyEval_RestoreThread(gil);
        results =
            c.said.status == TM_OK ? results_of(&c) : tmpy_fail(state, c.said.status, c.said.text);
    }
    drop(&c);
    return results;
}

typedef struct map_call {
    tmpy_engine *engine;
    tmpy_template *tmpl;
    tmpy_picture frame;
    Py_ssize_t shape[2];
    size_t element;
    void *data;
    tm_peak best;
    tmpy_said said;
} map_call;

/* Beside a frame in a device's memory. */
static tm_status make_map_there(map_call *c)
{
    tm_matcher *m = c->engine->matcher;
    tm_map map = {NULL, c->shape[1] * (ptrdiff_t)c->element};
    const tm_template *tmpl = c->tmpl->plain;

    c->frame.there.device = tmpy_engine_device(c->engine, &c->frame);
    tm_status status = tm_device_memory_alloc(m, c->frame.there.device,
                                              (size_t)(c->shape[0] * map.stride), &map.data);
    if (status != TM_OK)
        return status;
    status = tm_match_device(m, &c->frame.there, &tmpl, 1, &c->best, &map);
    if (status == TM_OK)
        c->data = map.data;
    else
        tm_device_memory_free(m, c->frame.there.device, map.data);
    return status;
}

static void make_map(map_call *c)
{
    const tm_map map = {c->data, c->shape[1] * (ptrdiff_t)c->element};
    pthread_mutex_lock(&c->engine->lock);
    const tm_status status =
        c->frame.samples.on_device
            ? make_map_there(c)
            : tm_match(c->engine->matcher, &c->frame.image, c->tmpl->plain, &c->best, &map);
    tmpy_engine_said(c->engine, status, &c->said);
    pthread_mutex_unlock(&c->engine->lock);
}

static tm_status map_memory(map_call *c)
{
    int64_t width, height;
    const tm_settings *s = &c->engine->settings;
    const tm_status status = tm_map_size(s->domain, c->frame.image.width, c->frame.image.height,
                                         c->tmpl->width, c->tmpl->height, &width, &height);
    if (status != TM_OK)
        return status;
    c->element =
        c->frame.image.type == TM_SAMPLE_F32 ? sizeof(float) : tm_map_element_size(s->metric);
    c->shape[0] = (Py_ssize_t)height;
    c->shape[1] = (Py_ssize_t)width;
    if (c->frame.samples.on_device)
        return TM_OK;
    c->data = malloc((size_t)(width * height) * c->element);
    return c->data ? TM_OK : TM_ERR_MEMORY;
}

/* Hands the map over to Python. */
static PyObject *map_array(map_call *c, tmpy_state *state, PyObject *subclass, PyObject *device_subclass)
{
    const char kind = c->element == sizeof(float) ? 'f' : 'i';
    void *data = c->data;
    c->data = NULL;
    return c->frame.samples.on_device
               ? tmpy_device_array_new(state, device_subclass, c->engine, c->frame.there.device, data,
                                       kind, (int)c->element, 2, c->shape)
               : tmpy_array_new(state, subclass, data, kind, (int)c->element, 2, c->shape);
}

/* score_map(engine, template, frame, mask, region, subclass, device_subclass) -> (array, best, warning),
 * best as of match */
PyObject *tmpy_score_map(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    map_call c = {0};
    PyObject *frame, *mask, *region, *subclass, *device_subclass, *result = NULL;

    if (!PyArg_ParseTuple(args, "O!O!OOOOO", state->engine, &c.engine, state->tmpl, &c.tmpl, &frame,
                          &mask, &region, &subclass, &device_subclass))
        return NULL;
    if (!c.tmpl->plain || c.tmpl->engine != c.engine) {
        PyErr_SetString(PyExc_TypeError, c.tmpl->plain ? "no template of this engine"
                                                       : "templates in poses have no score map");
        return NULL;
    }
    c.frame.samples.engine = c.engine;
    if (tmpy_picture_take(&c.frame, frame, mask, region, "the frame")) {
        c.said.status = map_memory(&c);
        PyOS_snprintf(c.said.text, sizeof c.said.text, "%s", tm_strerror(c.said.status));
        if (c.said.status == TM_OK) {
            PyThreadState *gil = PyEval_SaveThread();
            make_map(&c);
            PyEval_RestoreThread(gil);
        }
        if (c.said.status == TM_OK) {
            PyObject *map = map_array(&c, state, subclass, device_subclass);
            result =
                map ? Py_BuildValue("N(LLLLd)s", map, (long long)(c.best.x + c.frame.x),
                                    (long long)(c.best.y + c.frame.y), (long long)c.tmpl->width,
                                    (long long)c.tmpl->height, c.best.score, c.said.text)
                    : NULL;
        } else {
            tmpy_fail(state, c.said.status, c.said.text);
        }
    }
    free(c.data);
    tmpy_picture_drop(&c.frame);
    return result;
}
