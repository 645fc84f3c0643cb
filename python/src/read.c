/* SPDX-License-Identifier: MIT */
/* Pictures from files, whole or some of their rows. */
#include "tmpy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/format.h"

/* (array, mask or None, format); frees the picture. */
static PyObject *result_of(tmpy_state *state, PyObject *subclass, io_picture *picture)
{
    const Py_ssize_t shape[] = {(Py_ssize_t)picture->height, (Py_ssize_t)picture->width};
    uint8_t *samples = picture->mask;
    PyObject *array = tmpy_array_of(state, subclass, picture), *mask = NULL, *result = NULL;

    if (array) {
        picture->mask = NULL;
        mask = samples ? tmpy_array_new(state, subclass, samples, 'u', 1, 2, shape)
                       : Py_NewRef(Py_None);
    }
    if (mask)
        result = Py_BuildValue("OOs", array, mask, picture->format);
    Py_XDECREF(array);
    Py_XDECREF(mask);
    io_picture_free(picture);
    return result;
}

static io_request request_of(bool color, bool stored_orientation)
{
    return (io_request){.color = color ? IO_RGB : IO_GRAY,
                        .deep = true,
                        .alpha = true,
                        .floats = IO_FLOATS_KEPT,
                        .stored_orientation = stored_orientation};
}

/* Says of a movie that could not be read what it is, in place of the formats that are none of its. */
static void explain_movie(const io_source *source, io_error *error)
{
    if (io_foreign_kind(source->data, source->size) == IO_FOREIGN_MOVIE &&
        !io_find_format(source->data, source->size))
        strcpy(error->reason, "a movie, which the module does not read; "
                              "the program matches movies: python -m tmatch");
}

static bool has_page(const io_source *source, io_error *error)
{
    const int64_t page = source->page, pages = page == 0 ? 1 : io_count_pages(source);
    if (page >= 0 && page < pages)
        return true;
    snprintf(error->reason, sizeof error->reason,
             "the file has %" PRId64 " page%s, not page %" PRId64 " (counted from 0)", pages,
             pages == 1 ? "" : "s", page);
    return false;
}

/* decode(bytes, color, page, stored_orientation, sandboxed, subclass) -> (array, mask or None, format) */
PyObject *tmpy_decode(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    Py_buffer bytes;
    int color, stored, sandboxed;
    long long page;
    PyObject *subclass;
    io_picture picture = {0};
    io_error error = {.reason = ""};

    if (!PyArg_ParseTuple(args, "y*pLppO", &bytes, &color, &page, &stored, &sandboxed, &subclass))
        return NULL;
    const io_source source = {.data = bytes.buf,
                              .size = (size_t)bytes.len,
                              .page = page,
                              .decoder = sandboxed ? tmpy_sandbox_decoder() : NULL};
    const io_request request = request_of(color, stored);
    PyThreadState *gil = PyEval_SaveThread();
    const bool good = has_page(&source, &error) &&
                      io_decode_as(&source, &request, &(io_limits){0}, &picture, &error);
    if (!good)
        explain_movie(&source, &error);
    PyEval_RestoreThread(gil);
    PyBuffer_Release(&bytes);
    return good ? result_of(state, subclass, &picture) : tmpy_fail_picture(state, error.reason);
}

typedef struct page_list {
    PyObject *list;
    PyThreadState *gil; /* while it is not held */
} page_list;

/* For io_find_parts. */
static bool add_page(void *data, const io_part *part, const char *reason)
{
    page_list *pages = data;
    PyEval_RestoreThread(pages->gil);
    PyObject *page = Py_BuildValue("((LLnLn)z)", (long long)part->page, (long long)part->offset,
                                   (Py_ssize_t)part->size, (long long)part->header,
                                   (Py_ssize_t)part->header_size, reason);
    const bool good = page && PyList_Append(pages->list, page) == 0;
    Py_XDECREF(page);
    pages->gil = PyEval_SaveThread();
    return good;
}

/* find_pages(path) -> [(part, why it cannot be read or None), ...]: the pictures of a file of several; [] for other
 * files. */
PyObject *tmpy_find_pages(PyObject *module, PyObject *args)
{
    PyObject *path;
    (void)module;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    page_list pages = {.list = PyList_New(0)};
    if (pages.list && io_may_have_pages(name, false)) {
        pages.gil = PyEval_SaveThread();
        const int64_t count = io_find_parts(name, 0, add_page, &pages);
        PyEval_RestoreThread(pages.gil);
        if (count < 0)
            Py_CLEAR(pages.list);
    }
    Py_DECREF(path);
    return pages.list;
}

/* read_page(path, part, color, sandboxed, subclass) -> as decode, of a part that find_pages found. A file that has to
 * be there as a whole for each of its pages is mapped, not read for each. */
PyObject *tmpy_read_page(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *path, *subclass;
    int color, sandboxed;
    long long page, offset, header;
    Py_ssize_t size, header_size;
    io_source source = {0};
    io_picture picture = {0};
    io_error error = {.reason = ""};

    if (!PyArg_ParseTuple(args, "O&(LLnLn)ppO", PyUnicode_FSConverter, &path, &page, &offset, &size,
                          &header, &header_size, &color, &sandboxed, &subclass))
        return NULL;
    const io_part part = {.page = page, .offset = offset, .size = (size_t)size,
                          .header = header, .header_size = (size_t)header_size};
    const io_request request = request_of(color, false);
    const char *name = PyBytes_AsString(path);
    PyThreadState *gil = PyEval_SaveThread();
    bool good = size ? io_source_open_part(&source, name, &part, &error)
                     : io_source_map(&source, name, &error);
    if (good) {
        source.page = page;
        source.decoder = sandboxed ? tmpy_sandbox_decoder() : NULL;
        good = io_decode_as(&source, &request, &(io_limits){0}, &picture, &error);
        io_source_close(&source);
    }
    PyEval_RestoreThread(gil);
    Py_DECREF(path);
    return good ? result_of(state, subclass, &picture) : tmpy_fail_picture(state, error.reason);
}

static bool has_rows(int64_t first, int64_t end, int64_t height, io_error *error)
{
    if (first >= 0 && first < end && end <= height)
        return true;
    snprintf(error->reason, sizeof error->reason,
             "rows must be (first, end) of the picture's %" PRId64 " rows, not (%" PRId64
             ", %" PRId64 ")",
             height, first, end);
    return false;
}

/* Keeps some rows of a picture that was decoded whole. */
static void cut(io_picture *picture, int64_t first, int64_t end)
{
    const size_t row = (size_t)(picture->width * picture->channels * io_sample_size(picture));
    const size_t width = (size_t)picture->width, count = (size_t)(end - first);
    uint8_t *less;

    memmove(picture->samples, picture->samples + (size_t)first * row, count * row);
    if ((less = realloc(picture->samples, count * row)))
        picture->samples = less;
    if (picture->mask) {
        memmove(picture->mask, picture->mask + (size_t)first * width, count * width);
        if ((less = realloc(picture->mask, count * width)))
            picture->mask = less;
    }
    picture->height = end - first;
}

static bool read_by_rows(io_rows *rows, int color, int64_t first, int64_t end, io_picture *picture,
                         io_error *error)
{
    const size_t row = (size_t)(io_rows_width(rows) * color);

    *picture = (io_picture){.width = io_rows_width(rows),
                            .height = end - first,
                            .channels = color,
                            .bits = 8,
                            .samples = malloc(row * (size_t)(end - first)),
                            .format = io_rows_format(rows)};
    if (!picture->samples) {
        strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    bool good = io_rows_skip(rows, first, picture->samples, error);
    for (int64_t y = 0; good && y < end - first; y++)
        good = io_rows_read(rows, picture->samples + row * (size_t)y, error);
    return good;
}

/* Decodes the whole picture only where it cannot be read by rows of 8 bits, or a mask is wanted that it may
 * have. */
static bool read_rows(io_source *source, const io_request *request, int64_t first, int64_t end,
                      io_picture *picture, io_error *error)
{
    io_rows *rows;
    if (!io_rows_open_as(&rows, source, request, &(io_limits){0}, error))
        return false;
    const bool whole = io_rows_whole(rows) || (request->alpha && io_rows_alpha_ignored(rows));
    bool good = has_rows(first, end, io_rows_height(rows), error) &&
                (whole || read_by_rows(rows, (int)request->color, first, end, picture, error));
    io_rows_close(&rows);
    if (good && whole) {
        good = io_decode_as(source, request, &(io_limits){0}, picture, error);
        if (good)
            cut(picture, first, end);
    }
    return good;
}

/* read_rows(path, color, page, stored_orientation, sandboxed, masked, first, end, subclass) -> as decode.
 * masked: with the mask of a transparent picture, which is decoded whole for it. */
PyObject *tmpy_read_rows(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *path, *subclass;
    int color, stored, sandboxed, masked;
    long long page, first, end;
    io_source source = {0};
    io_picture picture = {0};
    io_error error = {.reason = ""};

    if (!PyArg_ParseTuple(args, "O&pLpppLLO", PyUnicode_FSConverter, &path, &color, &page, &stored,
                          &sandboxed, &masked, &first, &end, &subclass))
        return NULL;
    io_request request = request_of(color, stored);
    request.alpha = masked;
    const char *name = PyBytes_AsString(path);
    PyThreadState *gil = PyEval_SaveThread();
    bool good = io_source_map(&source, name, &error);
    if (good) {
        source.page = page;
        source.decoder = sandboxed ? tmpy_sandbox_decoder() : NULL;
        good = has_page(&source, &error) &&
               read_rows(&source, &request, first, end, &picture, &error);
        if (!good)
            explain_movie(&source, &error);
        io_source_close(&source);
    }
    PyEval_RestoreThread(gil);
    Py_DECREF(path);
    if (good)
        return result_of(state, subclass, &picture);
    io_picture_free(&picture);
    return tmpy_fail_picture(state, error.reason);
}

/* picture_size(path) -> (width, height, seeks): of the upright picture; seeks: read_rows without a mask
 * goes to the rows without decoding those before them. */
PyObject *tmpy_picture_size(PyObject *module, PyObject *args)
{
    tmpy_state *state = tmpy_state_of(module);
    PyObject *path, *result = NULL;
    io_source source = {0};
    io_rows *rows = NULL;
    io_error error = {.reason = ""};

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    PyThreadState *gil = PyEval_SaveThread();
    const bool good = io_source_map(&source, name, &error) &&
                      io_rows_open(&rows, &source, IO_GRAY, &(io_limits){0}, &error);
    PyEval_RestoreThread(gil);
    if (good) {
        result = Py_BuildValue("LLO", (long long)io_rows_width(rows),
                               (long long)io_rows_height(rows),
                               io_rows_seeks(rows) ? Py_True : Py_False);
    } else {
        explain_movie(&source, &error);
        tmpy_fail_picture(state, error.reason);
    }
    io_rows_close(&rows);
    io_source_close(&source);
    Py_DECREF(path);
    return result;
}
