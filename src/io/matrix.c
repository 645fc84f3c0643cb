/* SPDX-License-Identifier: MIT */
/* Matrices written as .npy or as text: score maps and templates. */
#include "format.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy headers say little endian"
#endif

enum { NPY_PREFIX = 10, NPY_HEADER = 128 };

/* Magic, version and the length of the rest, a dictionary padded with blanks to
 * a multiple of 64 and ended by a newline. */
static void make_npy_header(char header[NPY_HEADER], const char *type, int64_t rows,
                            int64_t columns)
{
    memset(header, ' ', NPY_HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = NPY_HEADER - NPY_PREFIX;
    header[9] = 0;
    int used = snprintf(header + NPY_PREFIX, NPY_HEADER - NPY_PREFIX,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64
                        "), }",
                        type, rows, columns);
    header[NPY_PREFIX + used] = ' ';
    header[NPY_HEADER - 1] = '\n';
}

static bool finish(io_output *output, bool ok, io_error *error)
{
    if (ok)
        return io_output_commit(output, error);
    io_fail(error, "%s", strerror(errno));
    io_output_abort(output);
    return false;
}

bool io_npy_open(io_npy *npy, const char *path, io_npy_type type, int64_t rows, int64_t columns,
                 io_error *error)
{
    char header[NPY_HEADER];
    make_npy_header(header, type == IO_NPY_FLOAT32 ? "<f4" : "<i8", rows, columns);
    *npy = (io_npy){.row_bytes = (size_t)columns * (type == IO_NPY_FLOAT32 ? 4 : 8), .rows = rows};
    if (!io_output_open(&npy->output, path, error))
        return false;
    if (fwrite(header, sizeof header, 1, npy->output.file) == 1)
        return true;
    return finish(&npy->output, false, error);
}

bool io_npy_write(io_npy *npy, int64_t count, const void *rows, io_error *error)
{
    for (int64_t y = 0; y < count; y++)
        if (fwrite((const char *)rows + (size_t)y * npy->row_bytes, 1, npy->row_bytes,
                   npy->output.file) != npy->row_bytes)
            return io_fail(error, "%s", strerror(errno));
    npy->rows -= count;
    return true;
}

bool io_npy_commit(io_npy *npy, io_error *error)
{
    if (npy->rows == 0)
        return io_output_commit(&npy->output, error);
    io_npy_abort(npy);
    return io_fail(error, "rows are missing");
}

void io_npy_abort(io_npy *npy)
{
    io_output_abort(&npy->output);
}

bool io_write_npy(const char *path, io_npy_type type, int64_t rows, int64_t columns,
                  const void *data, io_error *error)
{
    io_npy npy;
    if (!io_npy_open(&npy, path, type, rows, columns, error))
        return false;
    if (io_npy_write(&npy, rows, data, error))
        return io_npy_commit(&npy, error);
    io_npy_abort(&npy);
    return false;
}

bool io_write_text(const char *path, int64_t rows, int64_t columns, const float *data,
                   io_error *error)
{
    io_output output;
    if (!io_output_open(&output, path, error))
        return false;
    bool ok = true;
    for (int64_t y = 0; ok && y < rows; y++)
        for (int64_t x = 0; ok && x < columns; x++)
            ok = fprintf(output.file, "%.9g%c", (double)data[y * columns + x],
                         x + 1 < columns ? ' ' : '\n') > 0;
    return finish(&output, ok, error);
}
