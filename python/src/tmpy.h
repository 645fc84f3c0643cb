/* SPDX-License-Identifier: MIT */
/* The extension tmatch._tmatch. It takes arrays apart, calls the library and makes tuples of what
 * comes back; names, defaults and classes are in python/tmatch, which alone calls it. */
#ifndef TMATCH_PYTHON_TMPY_H
#define TMATCH_PYTHON_TMPY_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#ifdef Py_GIL_DISABLED
#error "tmatch is built for the stable ABI, which Python without the GIL does not have"
#endif

#include <pthread.h>
#include <stdbool.h>

#include <tmatch/tmatch.h>

typedef struct tmpy_state {
    PyObject *error, *input_error;
    PyTypeObject *array, *device_array, *engine, *tmpl, *pending;
} tmpy_state;

static inline tmpy_state *tmpy_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

/* Sets tmatch.Error, or tmatch.InputError where the arguments are to blame, with its status's
 * name. Returns NULL. */
PyObject *tmpy_fail(tmpy_state *state, tm_status status, const char *message);
PyObject *tmpy_fail_picture(tmpy_state *state, const char *reason);
PyObject *tmpy_fail_sandbox(tmpy_state *state, const char *reason);

/* Memory that Python sees: rows packed, one type of elements. The host's is seen by the buffer protocol,
 * __array_interface__ and DLPack, a device's by __cuda_array_interface__ and DLPack. */
typedef struct tmpy_array {
    PyObject_HEAD void *data; /* malloc's, or the engine's */
    int ndim;
    char kind; /* 'u', 'i' or 'f', as in __array_interface__ */
    int itemsize;
    Py_ssize_t shape[3], strides[3];
    struct tmpy_engine *engine; /* of memory of a CUDA device; NULL: the host's */
    int device;
} tmpy_array;

extern PyType_Spec tmpy_array_spec, tmpy_device_array_spec;

/* Makes an array of a subclass of _tmatch.Array. data is malloc's, and the array's from then on,
 * after a failure too. */
PyObject *tmpy_array_new(tmpy_state *state, PyObject *subclass, void *data, char kind, int itemsize,
                         int ndim, const Py_ssize_t *shape);

/* Makes such an array of a picture's samples, which are the array's from then on. */
struct io_picture;
PyObject *tmpy_array_of(tmpy_state *state, PyObject *subclass, struct io_picture *picture);

/* Makes an array of a subclass of _tmatch.DeviceArray in the memory of a device of the engine, which is
 * the array's from then on, after a failure too. */
PyObject *tmpy_device_array_new(tmpy_state *state, PyObject *subclass, struct tmpy_engine *engine,
                                int device, void *data, char kind, int itemsize, int ndim,
                                const Py_ssize_t *shape);

/* What both kinds of arrays have. */
PyObject *tmpy_array_shape(PyObject *self, void *unused);
PyObject *tmpy_array_dtype(PyObject *self, void *unused);
PyObject *tmpy_array_interface(PyObject *self, bool with_stream);
PyObject *tmpy_array_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
void tmpy_array_dealloc(PyObject *self);

/* Samples of somebody's array while a call uses them. */
typedef struct tmpy_samples {
    char *data;
    int ndim;
    int64_t shape[3];
    ptrdiff_t strides[3]; /* bytes */
    char kind;            /* 'u', 'f' or 'b' for bool */
    int itemsize;
    struct tmpy_engine *engine; /* set before it is taken: memory of its CUDA devices will do; or NULL */
    bool is_mask;               /* set before it is taken: bool or uint8 will do, else pictures' types */
    bool on_device;             /* it is such memory, in the order of the stream: */
    int device;                 /* -1: nobody said of which */
    void *stream;
    Py_buffer view; /* view.obj is NULL where there is none */
    PyObject *owner;
    void (*give_back)(void *managed); /* DLPack's */
    void *managed;
    void *copy;
} tmpy_samples;

/* A picture of the library's on Python's arrays. Dropped with tmpy_picture_drop, also where taking
 * it failed, and where it is all zero. */
typedef struct tmpy_picture {
    tm_device_image there; /* where samples.on_device, */
    tm_image image;        /* else */
    tmpy_samples samples, mask;
    int64_t x, y; /* where the region begins */
} tmpy_picture;

/* Takes an array, and a mask of the same size or None. Where picture->samples.engine is set, both may lie
 * in the memory of a CUDA device; they are not copied then. region: None, or (x, y, width, height) in
 * the picture. name: as messages name it, "the frame". Samples are copied only where the library
 * cannot step over them. False: an exception is set. */
bool tmpy_picture_take(tmpy_picture *picture, PyObject *array, PyObject *mask, PyObject *region,
                       const char *name);
void tmpy_picture_drop(tmpy_picture *picture);

/* The steps of it, in samples.c: finds out what lies where. */
bool tmpy_samples_take(tmpy_samples *samples, PyObject *array, const char *name);
void tmpy_samples_drop(tmpy_samples *samples);

/* A matcher, which calls use one after the other. */
typedef struct tmpy_engine {
    PyObject_HEAD tm_matcher *matcher;
    tm_settings settings;
    pthread_mutex_t lock; /* never waited for with the GIL held */
    int has_cuda;         /* 1 or -1 once it is known */
    struct tmpy_slot *slots; /* free ones */
} tmpy_engine;

typedef struct tmpy_template {
    PyObject_HEAD tmpy_engine *engine;
    tm_template *plain; /* or */
    tm_posed_template *posed;
    int64_t width, height;
} tmpy_template;

extern PyType_Spec tmpy_engine_spec, tmpy_template_spec, tmpy_pending_spec;

/* Frees what matches that nobody waited for have left. */
void tmpy_engine_free_slots(tmpy_engine *engine);

/* What a call said, copied while the lock is held. */
typedef struct tmpy_said {
    tm_status status;
    char text[512];
} tmpy_said;

/* Whether the engine has CUDA devices, or would find one. To look for one takes as long as to start CUDA, so
 * it is asked only where an array lies on a device. */
bool tmpy_engine_has_cuda(tmpy_engine *engine);

/* The device on which a picture lies, or, where nobody said so, the engine's first. */
int tmpy_engine_device(const tmpy_engine *engine, const tmpy_picture *picture);

void tmpy_engine_said(tmpy_engine *engine, tm_status status, tmpy_said *said);

/* Who decodes in the sandbox that open_sandbox has opened. */
struct io_decoder *tmpy_sandbox_decoder(void);

/* The functions of the module. */
PyObject *tmpy_engine_new(PyObject *module, PyObject *args);
PyObject *tmpy_engine_report(PyObject *module, PyObject *args);
PyObject *tmpy_calibrate(PyObject *module, PyObject *args);
PyObject *tmpy_template_new(PyObject *module, PyObject *args);
PyObject *tmpy_template_grid(PyObject *module, PyObject *args);
PyObject *tmpy_match(PyObject *module, PyObject *args);
PyObject *tmpy_match_async(PyObject *module, PyObject *args);
PyObject *tmpy_finished(PyObject *module, PyObject *args);
PyObject *tmpy_score_map(PyObject *module, PyObject *args);
PyObject *tmpy_match_part(PyObject *module, PyObject *args);
PyObject *tmpy_part_rows(PyObject *module, PyObject *args);
PyObject *tmpy_merge_parts(PyObject *module, PyObject *args);
PyObject *tmpy_devices(PyObject *module, PyObject *args);
PyObject *tmpy_open_sandbox(PyObject *module, PyObject *args);
PyObject *tmpy_decode(PyObject *module, PyObject *args);
PyObject *tmpy_find_pages(PyObject *module, PyObject *args);
PyObject *tmpy_read_page(PyObject *module, PyObject *args);
PyObject *tmpy_read_rows(PyObject *module, PyObject *args);
PyObject *tmpy_picture_size(PyObject *module, PyObject *args);
PyObject *tmpy_draw(PyObject *module, PyObject *args);
PyObject *tmpy_write(PyObject *module, PyObject *args);
PyObject *tmpy_is_picture_name(PyObject *module, PyObject *args);

#endif
