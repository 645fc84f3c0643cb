/* SPDX-License-Identifier: MIT */
/* The commonest PNG files decoded at once: libdeflate inflates all samples together. libpng reads, and
 * judges, all other chunks. */
#include "png_state.h"
#include "unfilter.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* So many bytes of samples, deflated and inflated together; a picture with more goes through libpng by rows. */
enum { MOST_BYTES = 128 << 20 };

/* What a thread keeps for its next picture at most: to have so much memory anew takes as long as to inflate it. */
enum { MOST_KEPT = 48 << 20 };

enum { FRAME = 12, HEAD = 8 }; /* bytes of a chunk beside its data, and before it */

/* The samples as they are in the file. */
typedef struct packed_rows {
    size_t height, row_bytes;
    int pixel; /* bytes of it */
    uint8_t *rows; /* each after a byte that names its filter */
} packed_rows;

/* Memory of a thread. */
typedef struct scratch {
    size_t size;
    uint8_t *data;
} scratch;

static pthread_key_t scratch_key;
static bool scratch_works;

static void free_scratch(void *kept)
{
    free(((scratch *)kept)->data);
    free(kept);
}

static void make_key(void)
{
    scratch_works = pthread_key_create(&scratch_key, free_scratch) == 0;
}

/* At least so many bytes, until the next call or the thread's end; or NULL. */
static uint8_t *take_scratch(size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    scratch *kept = scratch_works ? pthread_getspecific(scratch_key) : NULL;
    if (scratch_works && !kept && (kept = calloc(1, sizeof *kept)) && pthread_setspecific(scratch_key, kept) != 0) {
        free(kept);
        kept = NULL;
    }
    if (!kept)
        return NULL;
    if (kept->size < size) {
        free(kept->data);
        kept->data = malloc(size);
        kept->size = kept->data ? size : 0;
    }
    return kept->data;
}

static void give_scratch_back(void)
{
    scratch *kept = scratch_works ? pthread_getspecific(scratch_key) : NULL;
    if (kept && kept->size > MOST_KEPT) {
        free(kept->data);
        *kept = (scratch){0};
    }
}

/* The chunks of samples: from begin to end of the file, and how many bytes they hold. */
typedef struct data_chunks {
    size_t begin, end, size;
} data_chunks;

static bool is_data(const uint8_t *chunk)
{
    return memcmp(chunk + 4, "IDAT", 4) == 0;
}

static bool find_data(const io_source *source, data_chunks *found)
{
    size_t at = 8;
    *found = (data_chunks){0};
    while (at <= source->size && source->size - at >= FRAME) {
        const uint8_t *chunk = source->data + at;
        const size_t size = png_get_uint_32(chunk);
        if (size > source->size - at - FRAME || (found->end && !is_data(chunk)))
            break;
        if (is_data(chunk)) {
            found->begin = found->end ? found->begin : at;
            found->end = at + FRAME + size;
            found->size += size;
        }
        at += FRAME + size;
    }
    return found->size > 0;
}

/* Copies the data of the chunks, whose checksums have to be right; a mapped file may have changed since
 * they were found. libpng refuses chunks that are larger than samples can become. */
static bool gather(const io_source *source, const data_chunks *chunks, size_t inflated, uint8_t *to)
{
    enum { LIBPNG_CHUNK = 8000000 };
    size_t left = chunks->size;
    for (size_t at = chunks->begin; at < chunks->end;) {
        const uint8_t *chunk = source->data + at;
        const size_t most = chunks->end - at, size = most < FRAME ? SIZE_MAX : png_get_uint_32(chunk);
        if (size > left || size > most - FRAME || (size > LIBPNG_CHUNK && size > inflated) ||
            libdeflate_crc32(0, chunk + 4, size + 4) != png_get_uint_32(chunk + HEAD + size))
            return false;
        memcpy(to, chunk + HEAD, size);
        to += size;
        left -= size;
        at += FRAME + size;
    }
    return left == 0;
}

/* zlib refuses what reaches back beyond the window that the stream announces; libdeflate does not look. */
static bool window_is_large(const uint8_t *stream, size_t inflated)
{
    const size_t window = (size_t)1 << (8 + (stream[0] >> 4));
    return window >= 32768 || window >= inflated;
}

static bool inflate_stream(const uint8_t *stream, size_t size, uint8_t *to, size_t inflated)
{
    size_t used, made;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    const bool good = decompressor && window_is_large(stream, inflated) &&
                      libdeflate_zlib_decompress_ex(decompressor, stream, size, to, inflated, &used, &made) ==
                          LIBDEFLATE_SUCCESS &&
                      used == size && made == inflated;
    libdeflate_free_decompressor(decompressor);
    return good;
}

/* Inflates the samples, if all is right with them. */
static bool inflate_rows(const io_source *source, const data_chunks *chunks, packed_rows *rows)
{
    enum { MOST_RATIO = 1032 }; /* deflate makes no more of a byte */
    size_t inflated;
    if (__builtin_mul_overflow(rows->row_bytes + 1, rows->height, &inflated) || inflated > MOST_BYTES ||
        chunks->size > MOST_BYTES - inflated || inflated / MOST_RATIO > chunks->size ||
        chunks->size > inflated + inflated / 1024 + 1024)
        return false;
    rows->rows = take_scratch(inflated + UNFILTER_SLACK + chunks->size);
    if (!rows->rows)
        return false;
    uint8_t *stream = rows->rows + inflated + UNFILTER_SLACK;
    memset(rows->rows + inflated, 0, UNFILTER_SLACK);
    return gather(source, chunks, inflated, stream) && inflate_stream(stream, chunks->size, rows->rows, inflated);
}

/* Makes of a row of the file one of gray or RGB. */
typedef struct flattener {
    int64_t width;
    int pixel, plain; /* bytes of a pixel in the file, and without alpha */
    bool indexed, deep;
    uint8_t colors[256 * 3]; /* a palette; what it lacks is black */
    uint8_t *row;            /* malloc'ed */
} flattener;

static bool flattener_init(flattener *f, const png_state *state, const packed_rows *rows)
{
    const png_samples *l = &state->samples;
    const int alpha = l->type & PNG_COLOR_MASK_ALPHA ? l->deep_file ? 2 : 1 : 0;
    png_colorp palette;
    int count;
    *f = (flattener){.width = (int64_t)(rows->row_bytes / (size_t)rows->pixel),
                     .pixel = rows->pixel,
                     .plain = rows->pixel - alpha,
                     .indexed = l->type == PNG_COLOR_TYPE_PALETTE,
                     .deep = l->deep_file};
    if (f->indexed && png_get_PLTE(state->png, state->info, &palette, &count))
        for (int i = 0; i < count; i++) {
            f->colors[3 * i] = palette[i].red;
            f->colors[3 * i + 1] = palette[i].green;
            f->colors[3 * i + 2] = palette[i].blue;
        }
    f->row = malloc((size_t)f->width * (size_t)(f->indexed ? 3 : f->plain));
    return f->row;
}

static inline void drop_alpha(uint8_t *restrict to, const uint8_t *restrict from, int64_t width, int pixel,
                              int plain)
{
    for (int64_t x = 0; x < width; x++)
        memcpy(to + x * plain, from + x * pixel, (size_t)plain);
}

static const uint8_t *flatten(flattener *f, const uint8_t *row)
{
    if (f->indexed)
        for (int64_t x = 0; x < f->width; x++)
            memcpy(f->row + 3 * x, f->colors + 3 * row[x], 3);
    else if (f->plain == f->pixel && !f->deep)
        return row;
    else if (f->plain == f->pixel)
        memcpy(f->row, row, (size_t)f->width * (size_t)f->plain);
    else if (f->plain == 1)
        drop_alpha(f->row, row, f->width, 2, 1);
    else if (f->plain == 2)
        drop_alpha(f->row, row, f->width, 4, 2);
    else if (f->plain == 3)
        drop_alpha(f->row, row, f->width, 4, 3);
    else
        drop_alpha(f->row, row, f->width, 8, 6);
    for (int64_t i = 0; f->deep && i < f->width * f->plain; i += 2) {
        const uint16_t sample = (uint16_t)(f->row[i] << 8 | f->row[i + 1]);
        memcpy(f->row + i, &sample, sizeof sample);
    }
    return f->row;
}

/* A chunk with a stream of no samples, which libpng gets instead of theirs. */
static const uint8_t no_data[] = {0, 0, 0, 11, 'I', 'D', 'A', 'T', 0x78, 1, 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1,
                                  0x89, 0xd6, 0xae, 0x5f};

static void put_row(flattener *f, const uint8_t *from, int channels, uint8_t *to, int to_channels)
{
    const uint8_t *row = flatten(f, from);
    if (f->deep)
        io_put_deep_row((uint16_t *)(void *)to, to_channels, (const uint16_t *)(const void *)row, channels, f->width);
    else
        io_put_row(to, to_channels, row, channels, f->width);
}

/* Makes samples of some rows at a time, while they are in the cache. */
static bool put_rows(const png_state *state, const packed_rows *rows, io_picture *picture)
{
    enum { AT_ONCE = 16 };
    const size_t stride = (size_t)(picture->width * picture->channels * io_sample_size(picture));
    const size_t step = rows->row_bytes + 1;
    const int channels = state->samples.colored ? IO_RGB : IO_GRAY;
    flattener f = {0};
    uint8_t *zeros = calloc(1, rows->row_bytes + UNFILTER_SLACK);
    const uint8_t *above = zeros;
    bool good = zeros && flattener_init(&f, state, rows);
    for (size_t y = 0; good && y < rows->height; y += AT_ONCE) {
        const size_t count = rows->height - y < AT_ONCE ? rows->height - y : AT_ONCE;
        uint8_t *row = rows->rows + y * step;
        good = !io_source_late(state->source, NULL) && io_unfilter(row, count, rows->row_bytes, rows->pixel, above);
        for (size_t k = 0; good && k < count; k++)
            put_row(&f, row + k * step + 1, channels, picture->samples + (y + k) * stride, picture->channels);
        above = row + (count - 1) * step + 1;
    }
    free(zeros);
    free(f.row);
    return good;
}

static bool decode(png_state *state, const io_request *request, const io_limits *limits, const data_chunks *chunks,
                   packed_rows *rows, io_picture *picture)
{
    const png_samples *l = &state->samples;
    if (setjmp(state->escape) || !io_png_begin(state, request, limits))
        return false;
    const int64_t width = png_get_image_width(state->png, state->info);
    rows->height = png_get_image_height(state->png, state->info);
    rows->row_bytes = png_get_rowbytes(state->png, state->info);
    rows->pixel = png_get_channels(state->png, state->info) * (l->deep_file ? 2 : 1);
    if (l->interlaced || l->alpha || png_get_bit_depth(state->png, state->info) < 8 ||
        !inflate_rows(state->source, chunks, rows) ||
        !io_picture_allocate(picture, width, (int64_t)rows->height, request->color, l->deep_file ? 16 : 8, limits,
                             state->error) ||
        !put_rows(state, rows, picture))
        return false;
    io_png_describe(state, request, picture);
    png_start_read_image(state->png);
    png_read_end(state->png, NULL);
    return request->deep || io_set_bits(picture, 8, state->error);
}

bool io_png_decode_at_once(const io_source *source, const io_request *request, const io_limits *limits,
                           io_picture *picture)
{
    io_memory *memory = picture->memory;
    io_error unsaid;
    data_chunks chunks;
    png_state state;
    packed_rows rows = {0};
    if (!find_data(source, &chunks))
        return false;
    const png_bytes after[] = {{no_data, sizeof no_data},
                               {source->data + chunks.end, source->size - chunks.end},
                               {NULL, 0}};
    const bool created = io_png_create(&state, source, &unsaid);
    state.left.size = chunks.begin;
    state.next = after;
    const bool good = created && decode(&state, request, limits, &chunks, &rows, picture);
    io_png_close(&state);
    give_scratch_back();
    if (!good)
        io_replace_samples(picture, NULL);
    picture->memory = good ? picture->memory : memory;
    return good;
}
