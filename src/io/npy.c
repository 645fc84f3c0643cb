/* SPDX-License-Identifier: MIT */
/* NumPy's .npy, read: arrays of rows x columns, or rows x columns x 3 for RGB, of
 * unsigned samples of 8 or 16 bits, or floats of 32. */
#include "format.h"
#include "split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADER = 4096 };

typedef struct npy {
    const uint8_t *samples;
    size_t size;
    int64_t rows, columns;
    int channels, bytes;
    bool big_endian;
    int64_t next; /* row, where they are read one by one */
} npy;

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0;
}

/* What follows a key of the header's dictionary, or NULL. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    return at ? at + strlen(key) + strspn(at + strlen(key), "': ") : NULL;
}

static bool parse_type(npy *file, const char *header, io_error *error)
{
    const char *type = value_of(header, "'descr'");
    if (type && (strncmp(type, "|u1'", 4) == 0 || strncmp(type, "<u1'", 4) == 0))
        file->bytes = 1;
    else if (type && (strncmp(type, "<u2'", 4) == 0 || strncmp(type, ">u2'", 4) == 0))
        file->bytes = 2;
    else if (type && (strncmp(type, "<f4'", 4) == 0 || strncmp(type, ">f4'", 4) == 0))
        file->bytes = 4;
    else
        return io_fail(error, "an array of type %.*s; only uint8, uint16 and float32 are read",
                       type ? (int)strcspn(type, "',") : 1, type ? type : "?");
    file->big_endian = *type == '>';
    return true;
}

/* Takes a shape's next side, and the comma behind it; false at the end, and where there is no comma. */
static bool next_side(const char **shape, int64_t *side)
{
    int end;
    if (sscanf(*shape, " %18" SCNd64 " %n", side, &end) != 1)
        return false;
    *shape += end;
    const bool more = **shape == ',';
    *shape += more;
    return more || **shape == ')';
}

static bool is_shape_end(const char *shape)
{
    return shape[strspn(shape, " ")] == ')';
}

static bool parse_shape(npy *file, const char *header, io_error *error)
{
    const char *shape = value_of(header, "'shape'"), *order = value_of(header, "'fortran_order'");
    int64_t sides[] = {0, 0, 1};
    int count = 0;
    if (order && strncmp(order, "True", 4) == 0)
        return io_fail(error, "an array in Fortran's order; numpy.ascontiguousarray makes one that is read");
    if (!shape || !order || strncmp(order, "False", 5) != 0)
        return io_fail(error, "damaged NPY: an array without a shape or an order");
    if (*shape++ == '(')
        while (count < 3 && next_side(&shape, &sides[count]))
            count++;
    if (count < 2 || !is_shape_end(shape))
        return io_fail(error, "an array that is not of rows and columns, nor of RGB pixels");
    if (sides[2] != 1 && sides[2] != 3)
        return io_fail(error, "an array of %" PRId64 " channels; 1 or 3 are read", sides[2]);
    file->rows = sides[0], file->columns = sides[1], file->channels = (int)sides[2];
    return true;
}

/* The length of what stands before the dictionary, 0 where the data end before, and of the dictionary. */
static size_t find_dictionary(const uint8_t *d, size_t size, size_t *length)
{
    const size_t prefix = size > 6 && d[6] == 1 ? 10 : 12;
    if (size < prefix)
        return 0;
    *length = (size_t)d[8] | (size_t)d[9] << 8;
    if (prefix == 12)
        *length |= (size_t)d[10] << 16 | (size_t)d[11] << 24;
    return prefix;
}

static bool parse_header(npy *file, const io_source *source, io_error *error)
{
    char header[MOST_HEADER + 1];
    size_t length = 0;
    const size_t prefix = find_dictionary(source->data, source->size, &length);
    if (!prefix)
        return io_fail(error, "damaged NPY: the file is truncated");
    if (length > MOST_HEADER || length > source->size - prefix)
        return io_fail(error, "damaged NPY: its header is too long");
    memcpy(header, source->data + prefix, length);
    header[length] = '\0';
    file->samples = source->data + prefix + length;
    file->size = source->size - prefix - length;
    return parse_type(file, header, error) && parse_shape(file, header, error);
}

/* Arrays that are not read have a length, too. */
static bool parse_length(const char *header, uint64_t *bytes)
{
    const char *type = value_of(header, "'descr'"), *shape = value_of(header, "'shape'");
    char kind;
    int end = 0;
    if (!type || !shape || sscanf(type, "%*1[<>|=]%c%4" SCNu64 "%n", &kind, bytes, &end) != 2 || type[end] != '\'' ||
        !strchr("biufc", kind) || *shape++ != '(')
        return false;
    for (int64_t side; next_side(&shape, &side);)
        if (__builtin_mul_overflow(*bytes, side, bytes))
            return false;
    return is_shape_end(shape);
}

bool io_npy_measure(const uint8_t *data, size_t size, uint64_t *needed, bool *whole)
{
    char header[MOST_HEADER + 1];
    size_t length = 0;
    const size_t prefix = find_dictionary(data, size, &length);
    *needed = prefix ? prefix + length : 12;
    *whole = false;
    if (length > MOST_HEADER)
        return false;
    if (size < *needed)
        return true;
    memcpy(header, data + prefix, length);
    header[length] = '\0';
    uint64_t bytes;
    *whole = true;
    return parse_length(header, &bytes) && !__builtin_add_overflow(*needed, bytes, needed);
}

static bool open_array(npy *file, const io_source *source, const io_limits *limits, io_error *error)
{
    size_t needed;
    *file = (npy){0};
    if (!parse_header(file, source, error) ||
        !io_check_size(file->columns, file->rows, limits, error))
        return false;
    if (__builtin_mul_overflow((size_t)(file->rows * file->columns),
                               (size_t)(file->channels * file->bytes), &needed) ||
        needed > file->size)
        return io_fail(error, "damaged NPY: the file is truncated");
    return true;
}

static uint16_t deep_sample(const npy *file, size_t i)
{
    const uint8_t *at = file->samples + 2 * i;
    return (uint16_t)(file->big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0]);
}

static void read_float_row(const npy *file, int64_t y, float *to)
{
    const size_t count = (size_t)(file->columns * file->channels);
    const uint8_t *from = file->samples + (size_t)y * count * 4;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, from + 4 * i, 4);
        if (file->big_endian)
            bits = __builtin_bswap32(bits);
        memcpy(&to[i], &bits, 4);
    }
}

/* Reads a row, in the file's channels, as 16 bits or 8. */
static void read_row(const npy *file, int64_t y, bool deep, void *to)
{
    const size_t count = (size_t)(file->columns * file->channels), first = (size_t)y * count;
    uint16_t *wide = to;
    uint8_t *narrow = to;
    for (size_t i = 0; i < count; i++) {
        if (deep)
            wide[i] = deep_sample(file, first + i);
        else
            narrow[i] = file->bytes == 1
                            ? file->samples[first + i]
                            : (uint8_t)((deep_sample(file, first + i) * 255U + 32895) >> 16);
    }
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    npy file;
    if (!open_array(&file, source, limits, error))
        return false;
    const bool deep = request->deep && file.bytes == 2;
    const bool floats = file.bytes == 4;
    if (!io_picture_allocate(picture, file.columns, file.rows, request->color,
                             floats ? 32 : deep ? 16 : 8, limits, error))
        return false;
    picture->colored = file.channels == 3;
    void *row = malloc((size_t)(file.columns * file.channels * 4));
    if (!row)
        return io_fail(error, "not enough memory");
    const size_t stride = (size_t)(file.columns * picture->channels * io_sample_size(picture));
    for (int64_t y = 0; y < file.rows; y++) {
        uint8_t *to = picture->samples + (size_t)y * stride;
        if (floats) {
            read_float_row(&file, y, row);
            io_put_float_row((float *)(void *)to, picture->channels, row, file.channels,
                             file.columns);
            continue;
        }
        read_row(&file, y, deep, row);
        if (deep)
            io_put_deep_row((uint16_t *)(void *)to, picture->channels, row, file.channels,
                            file.columns);
        else
            io_put_row(to, picture->channels, row, file.channels, file.columns);
    }
    free(row);
    return !floats || io_finish_floats(picture, request, error);
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    npy *file = rows->state;
    if (!open_array(file, rows->source, limits, error))
        return false;
    rows->width = file->columns;
    rows->height = file->rows;
    rows->colored = file->channels == 3;
    rows->deep = file->bytes == 2;
    rows->floats = file->bytes == 4;
    rows->whole = rows->floats ? "a NumPy array of floats" : rows->deep ? "a NumPy array of 16-bit samples" : NULL;
    return true;
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    npy *file = rows->state;
    const int64_t bytes = file->columns * file->channels;
    (void)error; /* the file is long enough, as open_array has seen */
    io_put_row(to, rows->color, file->samples + file->next * bytes, file->channels, rows->width);
    file->next++;
    rows->used = (size_t)(file->samples - rows->source->data + file->next * bytes);
    return true;
}

static int64_t rows_skip(io_rows *rows, int64_t count)
{
    npy *file = rows->state;
    file->next += count;
    return count;
}

const io_format io_format_npy = {
    .name = "NPY",
    .not_in_folders = true, /* they may be score maps */
    .probe = probe,
    .decode = decode,
    .rows_state = sizeof(npy),
    .rows_open = rows_open,
    .rows_read = rows_read,
    .rows_skip = rows_skip,
};
