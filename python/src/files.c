/* SPDX-License-Identifier: MIT */
/* Drawings, and pictures to files: what the program has in src/io. */
#include "tmpy.h"

#include <stdlib.h>
#include <string.h>

#include "io/io.h"

PyObject *tmpy_array_of(tmpy_state *state, PyObject *subclass, io_picture *picture)
{
    const Py_ssize_t shape[] = {(Py_ssize_t)picture->height, (Py_ssize_t)picture->width,
                                picture->channels};
    void *samples = picture->samples;
    picture->samples = NULL;
    return tmpy_array_new(state, subclass, samples, picture->bits == 32 ? 'f' : 'u',
                          io_sample_size(picture), picture->channels == 1 ? 2 : 3, shape);
}

/* Copies samples to packed rows, of gray or of RGB. */
static bool copy_picture(const tm_image *image, int channels, io_picture *to)
{
    const size_t size = image->type == TM_SAMPLE_F32 ? 4 : image->type == TM_SAMPLE_U16 ? 2 : 1;
    *to = (io_picture){.width = image->width,
                       .height = image->height,
                       .channels = channels,
                       .bits = 8 * (int)size};
    uint8_t *out = to->samples = malloc((size_t)(image->width * image->height * channels) * size);
    for (int64_t y = 0; out && y < image->height; y++)
        for (int64_t x = 0; x < image->width; x++)
            for (int c = 0; c < channels; c++, out += size)
                memcpy(out,
                       image->samples + y * image->stride +
                           (size_t)(x * image->channels + (image->channels >= 3 ? c : 0)) * size,
                       size);
    return to->samples != NULL;
}

static bool takes_channels(const tm_image *image)
{
    if (image->channels != 2)
        return true;
    PyErr_SetString(PyExc_ValueError, "the picture has two channels, not one, three or four");
    return false;
}

typedef struct drawn {
    io_box *boxes;
    io_corners *corners;
    const char **names;
    io_drawing drawing;
} drawn;

/* Each box is (x, y, width, height, color, weak, label, corners); corners are eight numbers. */
static bool read_boxes(drawn *d, PyObject *boxes, PyObject *names, bool turned)
{
    const Py_ssize_t count = PyTuple_Size(boxes), name_count = PyTuple_Size(names);
    d->boxes = calloc((size_t)count + 1, sizeof *d->boxes);
    d->corners = calloc((size_t)count + 1, sizeof *d->corners);
    d->names = calloc((size_t)name_count + 1, sizeof *d->names);
    if (!d->boxes || !d->corners || !d->names) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        long long x, y, w, h;
        io_box *b = &d->boxes[i];
        double(*at)[2] = d->corners[i].at;
        int weak;
        const char *label;
        PyObject *box = PyTuple_GetItem(boxes, i);
        if (!PyTuple_Check(box) ||
            !PyArg_ParseTuple(box, "LLLLips(dddddddd)", &x, &y, &w, &h, &b->color, &weak, &label,
                              &at[0][0], &at[0][1], &at[1][0], &at[1][1], &at[2][0], &at[2][1],
                              &at[3][0], &at[3][1]))
            return false;
        b->x = x, b->y = y, b->w = w, b->h = h;
        b->weak = weak;
        PyOS_snprintf(b->label, sizeof b->label, "%s", label);
    }
    for (Py_ssize_t i = 0; i < name_count; i++)
        if (!(d->names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL)))
            return false;
    d->drawing = (io_drawing){.boxes = d->boxes,
                              .count = (size_t)count,
                              .turned = turned ? d->corners : NULL,
                              .names = d->names,
                              .name_count = (size_t)name_count};
    return true;
}

/* draw(frame, boxes, names, turned, subclass) -> RGB array of 8 bits */
PyObject *tmpy_draw(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *frame, *boxes, *names, *subclass, *result = NULL;
    int turned;
    drawn d = {0};
    tmpy_picture picture = {0};
    io_picture canvas = {0};
    io_error error = {.reason = ""};
    bool good = false;

    if (!PyArg_ParseTuple(args, "OO!O!pO", &frame, &PyTuple_Type, &boxes, &PyTuple_Type, &names,
                          &turned, &subclass))
        return NULL;
    if (read_boxes(&d, boxes, names, turned) &&
        tmpy_picture_take(&picture, frame, Py_None, Py_None, "the frame") &&
        takes_channels(&picture.image)) {
        PyThreadState *gil = PyEval_SaveThread();
        PyOS_snprintf(error.reason, sizeof error.reason, "%s", tm_strerror(TM_ERR_MEMORY));
        good = copy_picture(&picture.image, 3, &canvas);
        if (good) {
            io_show(&canvas);
            good = io_draw_matches(&canvas, &d.drawing, &error);
        }
        PyEval_RestoreThread(gil);
        result = good ? tmpy_array_of(state, subclass, &canvas) : tmpy_fail_picture(state, error.reason);
    }
    io_picture_free(&canvas);
    tmpy_picture_drop(&picture);
    free(d.boxes);
    free(d.corners);
    free(d.names);
    return result;
}

/* write(path, array): as PNG or JPEG, by the path's ending */
PyObject *tmpy_write(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *path, *array;
    tmpy_picture picture = {0};
    io_picture copy = {0};
    io_error error = {.reason = ""};
    bool good = false;

    if (!PyArg_ParseTuple(args, "O&O", PyUnicode_FSConverter, &path, &array))
        return NULL;
    const char *name = PyBytes_AsString(path);
    if (tmpy_picture_take(&picture, array, Py_None, Py_None, "the picture") &&
        takes_channels(&picture.image)) {
        PyThreadState *gil = PyEval_SaveThread();
        PyOS_snprintf(error.reason, sizeof error.reason, "%s", tm_strerror(TM_ERR_MEMORY));
        good = io_can_write(name, &error) &&
               copy_picture(&picture.image, picture.image.channels == 1 ? 1 : 3, &copy);
        if (good && copy.bits == 32)
            io_show(&copy);
        good = good && io_write_picture(name, &copy, &error);
        PyEval_RestoreThread(gil);
        if (!good)
            tmpy_fail_picture(state, error.reason);
    }
    io_picture_free(&copy);
    tmpy_picture_drop(&picture);
    Py_DECREF(path);
    return good ? Py_NewRef(Py_None) : NULL;
}

PyObject *tmpy_is_picture_name(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    return PyArg_ParseTuple(args, "s", &name) ? PyBool_FromLong(io_is_picture_name(name)) : NULL;
}
